"""Declarations of the commands that :mod:`exacell.commands.care` carries out."""

from __future__ import annotations

from exacell.language.registry import TIMES, Command, Effect, Flag, Kind, Param

GROUP = "cell care"

COMMANDS = (
    Command(
        name="show health",
        group=GROUP,
        effect=Effect.READ,
        summary="one line per kind of cell: services, disks, flash, cache, log, ASM, IORM, release, alerts; and "
        "what to do",
        details="The matrix shows ok, or one word for the problem. Below it are the findings, each with the "
        "statement to type next. image and iorm compare a cell with most others. If the rack's file names database nodes, ASM "
        "is asked how long it waits before it drops offline disks for good (disk_repair_time), and which disk group "
        "is nearly full (less than 10% free; less than 3% counts as broken). Cells don't report how worn flash is: "
        "look at the status of a flash disk (warning - predictive failure, warning - poor performance). Exit code "
        "1: something is broken or a cell did not answer; 0: all well, or warnings only. --since=yesterday shows "
        "only what changed since the last look before today: one line for each finding that is new or gone. Its "
        "exit code is 0 when nothing changed, 5 when something did, 1 when something new is broken or a cell does "
        "not answer. Each look is kept, also those from cron.",
        example="show health --since=yesterday",
        flags=(
            Flag(
                name="since",
                value=Kind.TEXT,
                examples=TIMES,
                help="only what changed: yesterday, 24h, 7d, '2026-11-24 18:00'",
            ),
        ),
        handler="exacell.commands.care:show_health",
    ),
    Command(
        name="show alerts",
        group=GROUP,
        effect=Effect.READ,
        summary="alerts that are open: one line for each sequence, the worst first",
        details="A stateful alert (3_1, 3_2 ...) is open until its condition clears, a stateless one until somebody "
        "has examined it. critical shows only critical ones; all also shows closed ones. Each cell numbers its own "
        "alerts: 3_1 on two cells are two alerts.",
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
        details="CELLSRV stopped: online cell NAME starts it and brings the disks back. MS or RS stopped: "
        "restart service ms, "
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
        summary="what cells keep in quarantine: type, reason, database, SQL",
        details="After a crash a cell keeps the statement, disk region or plan that caused it from offloading. drop "
        "quarantine lifts that; patch the cause first.",
        example="show quarantine",
        handler="exacell.commands.care:show_quarantine",
    ),
    Command(
        name="can offline",
        group=GROUP,
        effect=Effect.READ,
        summary="whether a cell can go offline now, and if not, why and what would change that",
        details="Each cell is judged alone, as if all others stay: several at a time is never possible, because "
        "each cell is a failure group. Yes needs four things: asmDeactivationOutcome is Yes for every grid disk in "
        "use, the other cells' disks are ONLINE, their caches are normal, and no rebalance is running. Without "
        "a cell all "
        "selected cells are judged. Exit code 1 when the answer is no for one of them.",
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
        details="Checks the health of every cell, alerts, one release, asmDeactivationOutcome of every grid disk, "
        "that no rebalance is running, and that the disk groups have room to mirror again what a lost cell held. The "
        "patch's own needs are checked by patchmgr. Exit code 1 when the rack is not ready.",
        example="check patch",
        handler="exacell.commands.care:check_patch",
    ),
)
