"""Declarations of the commands that :mod:`exacell.commands.griddisk` carries out."""

from __future__ import annotations

from exacell.core.values import replace
from exacell.language.registry import Command, Effect, Kind, Param

GROUP = "grid disks"

_PREFIX = Param(
    name="prefix",
    kind=Kind.PREFIX,
    required=True,
    help="the disks prefix_<celldisk>, such as DATA_CD_00_exa1cel01 for DATA",
)

COMMANDS = (
    Command(
        name="show griddisk",
        group=GROUP,
        effect=Effect.READ,
        summary="grid disks per cell and prefix: how many, how big, on which media, in which disk group",
        details="LIST GRIDDISK shows each grid disk.",
        example="show griddisk",
        params=(Param(name="prefix", kind=Kind.PREFIX, help="only these"),),
        handler="exacell.commands.griddisk:show",
    ),
    Command(
        name="show celldisk",
        group=GROUP,
        effect=Effect.READ,
        summary="cell disks per cell and media: how many, how big, and the space that is free on them",
        details="diskSize is that of one disk, free the space on all together, leastFree that on the fullest: carve "
        "griddisk without size= takes as much of each. LIST CELLDISK shows each cell disk.",
        example="show celldisk",
        handler="exacell.commands.griddisk:show_celldisk",
    ),
    Command(
        name="carve griddisk",
        group=GROUP,
        effect=Effect.WRITE,
        summary="create one grid disk of equal size on every flash (or hard) cell disk",
        details="Without size= each grid disk gets as much as the cell disk with the least free space has, rounded "
        "down to 16M. If the flash cache uses the space, you see the statement that makes room. usable= takes into "
        "account the copies, ASM's own space and the space kept free for the mirrors. Refused if a disk is not "
        "normal, or if grid disks on another kind of disk have this prefix.",
        example="carve griddisk prefix=ssddisk -y",
        params=(
            _PREFIX,
            Param(name="size", kind=Kind.SIZE, help="of each grid disk"),
            Param(name="free", kind=Kind.CHOICE, choices=("all",), help="all: take what is free (the default)"),
            Param(
                name="usable",
                kind=Kind.SIZE,
                help="usable_file_mb of an empty disk group on them, with redundancy=",
            ),
            Param(
                name="redundancy",
                kind=Kind.CHOICE,
                choices=("external", "normal", "high"),
                default="normal",
                help="for usable=",
            ),
            Param(name="au_size", kind=Kind.SIZE, default="4m", help="for usable=: the disk group's allocation unit"),
            Param(
                name="media",
                kind=Kind.CHOICE,
                choices=("flash", "performance", "capacity", "hard"),
                default="flash",
                help="which cell disks; performance and capacity from release 24.1",
            ),
            Param(name="asm", kind=Kind.ASM, help="which ASM cluster may use them, if the rack has several"),
            Param(
                name="availableTo",
                kind=Kind.TEXT,
                help="the ASM clients that may use them (default: as for the rack's others)",
            ),
        ),
        handler="exacell.commands.griddisk:carve",
    ),
    Command(
        name="release griddisk",
        group=GROUP,
        effect=Effect.WRITE,
        summary="deactivate and drop grid disks that no disk group uses",
        details="Refused while ASM uses one of them, whatever you type. regrow=yes then flushes the flash cache and "
        "re-creates it over all free flash.",
        example="release griddisk prefix=ssddisk regrow=yes -y",
        params=(
            replace(_PREFIX, required=False),
            Param(name="name", kind=Kind.GRIDDISK, help="these disks instead (one or more, with commas)"),
            Param(name="media", kind=Kind.CHOICE, choices=("flash", "hard"), help="only those on such disks"),
            Param(name="regrow", kind=Kind.BOOL, default="no", help="give the space to the flash cache"),
        ),
        handler="exacell.commands.griddisk:release",
    ),
    Command(
        name="resize griddisk",
        group=GROUP,
        effect=Effect.WRITE,
        summary="give all grid disks of a prefix another size, with the disk group that uses them",
        details="To shrink: ASM first, wait for its rebalance, then the cells. To grow: the cells first. Sizes are "
        "multiples of 16M. Refused when the disk group's files would not fit, a cell disk has no room, a disk is "
        "not ONLINE, another rebalance of the group runs, or only some of its disks are selected.",
        example="resize griddisk prefix=RECO size=96g -y",
        params=(
            _PREFIX,
            Param(name="size", kind=Kind.SIZE, required=True, help="of each grid disk"),
            Param(name="asm", kind=Kind.ASM, help="which ASM cluster, if the rack has several"),
        ),
        handler="exacell.commands.griddisk:resize",
    ),
)
