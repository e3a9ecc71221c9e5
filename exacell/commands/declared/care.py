"""Declarations of the commands that :mod:`exacell.commands.care` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "cell care"

COMMANDS = (
    Command(
        name="show health",
        group=GROUP,
        effect=Effect.READ,
        summary="one line per kind of cell: services, disks, flash, cache, log, ASM, IORM, release, alerts; and what to do",
        details="ok, or what is wrong in a word; below the matrix each finding with the statement that comes next. "
        "image and iorm compare a cell with most others. Where the rack's file names database nodes, ASM tells how long it "
        "waits before it drops offline disks for good (disk_repair_time), and which disk group is nearly full (less than "
        "10% free; less than 3% counts as broken). Cells do not tell how worn flash is: look at the status of a flash disk "
        "(warning - predictive failure, warning - poor performance). Exit code 1 when something is broken or a cell gave no "
        "answer, 0 with mere warnings. --since=yesterday tells only what changed since the last look before today: a line for "
        "each finding that is new or gone; exit code 0 when nothing changed, 5 when something did, 1 when something new is "
        "broken or a cell gives no answer. Each look is kept, those of cron too, wherever it was asked for.",
        example="show health --since=yesterday",
        flags=(Flag(name="since", value=Kind.TEXT, help="only what changed: yesterday, 24h, 7d, '2026-11-24 18:00'"),),
        handler="exacell.commands.care:show_health",
    ),
    Command(
        name="show alerts",
        group=GROUP,
        effect=Effect.READ,
        summary="alerts that are open: one line for each sequence, the worst first",
        details="A stateful alert (3_1, 3_2 ...) is open until its condition clears, a stateless one until it is "
        "examined. critical: only those; all: also what is over. Numbers count per cell: 3_1 on two cells are two "
        "alerts.",
        example="show alerts critical",
        params=(
            Param(
                name="which",
                kind=Kind.CHOICE,
                choices=("open", "critical", "all"),
                positional=True,
                default="open",
                help="which ones",
            ),
        ),
        handler="exacell.commands.care:show_alerts",
    ),
    Command(
        name="show services",
        group=GROUP,
        effect=Effect.READ,
        summary="CELLSRV, MS and RS on every cell",
        details="CELLSRV stopped: online cell NAME starts it and brings the disks back. MS or RS stopped: restart service ms, "
        "or rs.",
        example="show services",
        handler="exacell.commands.care:show_services",
    ),
    Command(
        name="show versions",
        group=GROUP,
        effect=Effect.READ,
        summary="release, image status, the release to roll back to, kernel and model of every cell; ASM's version",
        details="Cells that are alike are one line. More than one release: finish the patch, or check patch.",
        example="show versions",
        handler="exacell.commands.care:show_versions",
    ),
    Command(
        name="show quarantine",
        group=GROUP,
        effect=Effect.READ,
        summary="what cells have put in quarantine: type, reason, database, SQL",
        details="A cell that crashed on a statement, a disk region or a plan keeps it from offloading. drop "
        "quarantine lifts it, after the cause is patched.",
        example="show quarantine",
        handler="exacell.commands.care:show_quarantine",
    ),
    Command(
        name="can offline",
        group=GROUP,
        effect=Effect.READ,
        summary="whether a cell can go offline now, and if not, why and what would change that",
        details="Each cell is judged alone, as if the others stay: several at a time is never possible, each is a "
        "failure group. Yes needs asmDeactivationOutcome Yes for every grid disk in use, the other cells' disks "
        "ONLINE and caches normal, and no rebalance. Without a cell all selected ones are judged. Exit code 1 when "
        "the answer is no for any.",
        example="can offline exa1cel02",
        params=(
            Param(name="cell", kind=Kind.CELLSET, positional=True, help="one cell, or several to be judged each alone"),
        ),
        handler="exacell.commands.care:can_offline",
    ),
    Command(
        name="check patch",
        group=GROUP,
        effect=Effect.READ,
        summary="whether the cells are ready to be patched one after the other, check by check",
        details="Health of every cell, alerts, one release, asmDeactivationOutcome of every grid disk, a quiet ASM, "
        "and room in the disk groups to mirror again what a lost cell held. What the patch itself needs, patchmgr "
        "checks. Exit code 1 when it is not ready.",
        example="check patch",
        handler="exacell.commands.care:check_patch",
    ),
)
