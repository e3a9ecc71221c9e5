"""Declarations of the commands that :mod:`exacell.commands.diskgroup` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

GROUP = "ASM"

_ASM = Param(name="asm", kind=Kind.ASM, help="which ASM cluster, if the rack has several")

COMMANDS = (
    Command(
        name="show diskgroup",
        group=GROUP,
        effect=Effect.READ,
        summary="disk groups: state, redundancy, allocation unit, disks, failure groups, space, files, clients",
        details="Sizes ending in Mb are raw megabytes as ASM counts them, auSize is bytes.",
        example="show diskgroup DATA",
        params=(Param(name="name", kind=Kind.DISKGROUP, positional=True, help="only this one"), _ASM),
        handler="exacell.commands.diskgroup:show",
    ),
    Command(
        name="show asmdisk",
        group=GROUP,
        effect=Effect.READ,
        summary="disks as ASM sees them: disk group, header, mode, size, failure group",
        example="show asmdisk",
        params=(Param(name="diskgroup", kind=Kind.DISKGROUP, help="only those of this disk group"), _ASM),
        handler="exacell.commands.diskgroup:show_disks",
    ),
    Command(
        name="create diskgroup",
        group=GROUP,
        effect=Effect.WRITE,
        summary="create a disk group on grid disks of one prefix, and mount it on all nodes",
        details="One failure group per cell. compatible.asm defaults to the ASM software's version, "
        "compatible.rdbms to that of the disk groups in use; both can only be raised later. Any other key=value "
        "becomes an ATTRIBUTE.",
        example="create diskgroup DATA_SSD prefix=ssddisk redundancy=normal au_size=4m -y",
        params=(
            Param(name="name", kind=Kind.DISKGROUP, positional=True, required=True, help="at most 30 characters"),
            Param(name="prefix", kind=Kind.PREFIX, required=True, help="grid disks prefix_<celldisk> of all cells"),
            Param(
                name="redundancy",
                kind=Kind.CHOICE,
                choices=("external", "normal", "high"),
                default="normal",
                help="can't be changed later",
            ),
            Param(name="au_size", kind=Kind.SIZE, default="4m", help="allocation unit: 1, 2, 4 … 64M"),
            _ASM,
        ),
        open_keys=True,
        handler="exacell.commands.diskgroup:create",
    ),
    Command(
        name="drop diskgroup",
        group=GROUP,
        effect=Effect.WRITE,
        summary="dismount a disk group on the other nodes and drop it",
        details="For a disk group without files -y is enough. With files you must type its name, or give it to "
        "--accept-data-loss. Refused while a database is connected to it, or when it holds voting files.",
        example="drop diskgroup DATA_SSD -y",
        params=(Param(name="name", kind=Kind.DISKGROUP, positional=True, required=True, help="the disk group"), _ASM),
        handler="exacell.commands.diskgroup:drop",
    ),
    Command(
        name="show rebalance",
        group=GROUP,
        effect=Effect.READ,
        summary="what ASM moves or resyncs now: disk group, power, percent, minutes left as ASM estimates",
        details="Only the instance that does the work knows how far it is; the others wait. An empty list means "
        "that ASM moves nothing.",
        example="show rebalance",
        params=(_ASM,),
        handler="exacell.commands.diskgroup:show_rebalance",
    ),
    Command(
        name="set rebalance",
        group=GROUP,
        effect=Effect.WRITE,
        summary="change the power of the rebalances that run; diskgroup=NAME starts one of that group",
        details="power=0 stops a rebalance for now. 1 to 4 leaves enough I/O for databases; use more in a "
        "maintenance window.",
        example="set rebalance power=4 -y",
        params=(
            Param(name="power", kind=Kind.INT, required=True, help="0 to 1024"),
            Param(name="diskgroup", kind=Kind.DISKGROUP, help="this one, whether it is being rebalanced or not"),
            _ASM,
        ),
        handler="exacell.commands.diskgroup:set_rebalance",
    ),
)
