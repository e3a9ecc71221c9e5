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
        summary="say who has seen an alert: sets examinedBy, so that the others need not look",
        details="3 means the whole sequence 3_1, 3_2 ...; all means every open alert that nobody has examined. "
        "Numbers count per cell: with on exa1cel02 only that cell's alert is meant. A stateful alert stays open until "
        "its condition is over.",
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
            Param(name="by", kind=Kind.NAME, help="who has seen it; you, when it is left out"),
        ),
        handler="exacell.commands.carework:ack_alert",
    ),
    Command(
        name="locate disk",
        group=GROUP,
        effect=Effect.READ,
        summary="where a disk is: cell, slot, serial number, and the cell disk and grid disks on it",
        details="The disk by any of its names: physical disk (20:3, FLASH_1_0), serial number, LUN, cell disk or grid "
        "disk. The LED of a single disk can't be lit any more (CELL-04591); alter cell led on lights the cell's.",
        example="locate disk FD_00_exa1cel02",
        params=(Param(name="disk", kind=Kind.PHYSICALDISK, positional=True, required=True, help="any of its names"),),
        handler="exacell.commands.carework:locate_disk",
    ),
    Command(
        name="diagpack",
        group=GROUP,
        effect=Effect.WRITE,
        summary="have cells pack logs and traces for support; list diagpack tells when it is done",
        details="Around now, or around an alert, or only what type= says. It costs the cells some work and disk "
        "space, nothing else.",
        example="on exa1cel02 diagpack hours=2 -y",
        params=(
            Param(name="hours", kind=Kind.INT, default="1", help="so many, ending now: 1 to 6"),
            Param(name="alert", kind=Kind.NAME, help="around this alert instead"),
            Param(
                name="type", kind=Kind.CHOICE, choices=("compact", "sundiag", "netdiag"), help="only this kind instead"
            ),
        ),
        handler="exacell.commands.carework:diagpack",
    ),
    Command(
        name="offline cell",
        group=GROUP,
        effect=Effect.WRITE,
        summary="take all grid disks of one cell offline in ASM, for work on the cell",
        details="Refused unless asmDeactivationOutcome is Yes for every disk; disk and reason are named. The gate "
        "must be open too: all disks of the other cells ONLINE, no rebalance. online cell brings them back; ASM drops "
        "them for good after disk_repair_time.",
        example="offline cell exa1cel02 -y",
        params=(_CELL,),
        handler="exacell.commands.carework:offline",
    ),
    Command(
        name="online cell",
        group=GROUP,
        effect=Effect.WRITE,
        summary="bring the grid disks of one cell back and wait until ASM has all of them ONLINE",
        details="Starts CELLSRV first when it is stopped. ASM resyncs what was written while the cell was away; "
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
        details="MS and RS take nothing away from databases. CELLSRV does: each cell's grid disks go INACTIVE, the "
        "service restarts, the disks come back and ASM resyncs them, and only when all are ONLINE the next cell "
        "begins.",
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
