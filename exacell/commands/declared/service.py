"""Declarations of the commands that :mod:`exacell.commands.service` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

GROUP = "cell care"

_CELL = Param(name="cell", kind=Kind.CELL, positional=True, required=True, help="one cell of the rack")

COMMANDS = (
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
        handler="exacell.commands.service:offline",
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
        handler="exacell.commands.service:online",
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
        handler="exacell.commands.service:restart",
    ),
)
