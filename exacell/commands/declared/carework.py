"""Declarations of the commands that :mod:`exacell.commands.carework` carries out."""

from __future__ import annotations

from exacell.commands.declared.care import GROUP
from exacell.language.registry import Command, Effect, Kind, Param

_CELL = Param(
    name="cell", kind=Kind.CELL, positional=True, help="one cell of the rack; without it the one that is selected"
)

COMMANDS = (
    Command(
        name="ack alert",
        group=GROUP,
        effect=Effect.WRITE,
        summary="mark an alert as seen: sets examinedBy, so that the others need not look",
        details="3 means the whole sequence 3_1, 3_2 ...; all means every open alert that nobody has examined. Each "
        "cell numbers its own alerts: with on exa1cel02 only that cell's alert is meant. A stateful alert stays "
        "open until its condition is over.",
        example="on exa1cel02 ack alert 3 -y",
        params=(
            Param(
                name="alert",
                kind=Kind.ALERT,
                positional=True,
                required=True,
                words=("all",),
                help="as show alerts names it",
            ),
            Param(name="by", kind=Kind.NAME, help="who has seen it (default: you)"),
        ),
        handler="exacell.commands.carework:ack_alert",
    ),
    Command(
        name="locate disk",
        group=GROUP,
        effect=Effect.READ,
        summary="where a disk is: cell, slot, serial number, and the cell disk and grid disks on it",
        details="Give any name of the disk: physical disk (20:3, FLASH_1_0), serial number, LUN, cell disk or grid "
        "disk. The LED of a single disk can't be lit (CELL-04591); alter cell led on lights the cell's.",
        example="locate disk FD_00_exa1cel02",
        params=(Param(name="disk", kind=Kind.PHYSICALDISK, positional=True, required=True, help="any of its names"),),
        handler="exacell.commands.carework:locate_disk",
    ),
    Command(
        name="diagpack",
        group=GROUP,
        effect=Effect.WRITE,
        summary="let cells pack logs and traces for support; list diagpack shows when the package is ready",
        details="Covers the last hours, the time around an alert, or only what type= names. It costs the cells some "
        "work and disk space, nothing else.",
        example="on exa1cel02 diagpack hours=2 -y",
        params=(
            Param(name="hours", kind=Kind.INT, default="1", help="how many hours until now: 1 to 6"),
            Param(name="alert", kind=Kind.NAME, help="instead: the time around this alert"),
            Param(
                name="type",
                kind=Kind.CHOICE,
                choices=("compact", "sundiag", "netdiag"),
                help="instead: only this kind of package",
            ),
        ),
        handler="exacell.commands.carework:diagpack",
    ),
    Command(
        name="offline cell",
        group=GROUP,
        effect=Effect.WRITE,
        summary="take all grid disks of one cell offline in ASM, for work on the cell",
        details="Refused unless asmDeactivationOutcome is Yes for every disk; the refusal names disk and reason. "
        "The gate must be open too: all disks of the other cells are ONLINE and no rebalance is running. online cell "
        "brings the disks back; after disk_repair_time ASM drops them for good.",
        example="offline cell exa1cel02 -y",
        params=(_CELL,),
        handler="exacell.commands.carework:offline",
    ),
    Command(
        name="online cell",
        group=GROUP,
        effect=Effect.WRITE,
        summary="bring the grid disks of one cell back and wait until ASM has all of them ONLINE",
        details="If CELLSRV is stopped, it is started first. ASM resyncs what was written while the cell was away; "
        "Ctrl-C ends the wait, not the resync.",
        example="online cell exa1cel02 -y",
        params=(_CELL,),
        handler="exacell.commands.carework:online",
    ),
    Command(
        name="restart service",
        group=GROUP,
        effect=Effect.WRITE,
        summary="restart CELLSRV, MS, RS or all services on every selected cell",
        details="Databases don't notice a restart of MS or RS. They do notice one of CELLSRV: each cell's grid "
        "disks go INACTIVE, the service restarts, the disks come back, and ASM resyncs them. The next cell begins "
        "only when all are ONLINE.",
        example="restart service ms -y",
        params=(
            Param(
                name="service",
                kind=Kind.CHOICE,
                choices=("cellsrv", "ms", "rs", "all"),
                positional=True,
                required=True,
                help="which one",
            ),
        ),
        handler="exacell.commands.carework:restart",
    ),
)
