"""Declarations of the commands that :mod:`exacell.commands.experiments` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "metrics"

# The work has the same words; to import it here, help and completion would load it. A test compares them.
FACTORS = ("flashlog", "cell_flash_cache:", "iorm:", "setting:", "parameter:")
ORDERS, MEASURES = ("abba", "random"), ("commits", "redo", "reads", "flashlog", "fio")

COMMANDS = (
    Command(
        name="experiment",
        group=GROUP,
        effect=Effect.WRITE,
        runs=True,
        summary="compare levels of a factor, run after run in blocks, and give a verdict",
        details="A block is one run at each level, in drawn order; pairs of runs at the present level (A/A) come "
        "first. You are asked once, for the whole schedule, which shows what it can detect and what would be "
        "unfair. The factor is always set back; after a kill, resume continues. What can be switched and measured: "
        "help docs measuring.",
        example="experiment factor=flashlog levels=on,off db=SPOT blocks=7 for=60s",
        params=(
            Param(name="factor", kind=Kind.CHOICE, choices=FACTORS, required=True, help="what is switched"),
            Param(name="levels", kind=Kind.NAMES, help="two, the new one first; or base,a,b…"),
            Param(name="db", kind=Kind.DB, help="the database"),
            Param(name="on", kind=Kind.TEXT, help="hosts of a setting: @initiators"),
            Param(name="blocks", kind=Kind.INT, default="7", help="a verdict needs 6"),
            Param(
                name="order",
                kind=Kind.CHOICE,
                choices=ORDERS,
                default="random",
                help="drawn per block, or per two",
            ),
            Param(name="seed", kind=Kind.INT, help="repeats a drawn order"),
            Param(name="aa", kind=Kind.INT, default="3", help="pairs at one level first"),
            Param(
                name="measure",
                kind=Kind.CHOICE,
                choices=MEASURES,
                help="which waits (as usual for the factor)",
            ),
            Param(name="matters", kind=Kind.NUMBER, default="2", help="smallest percent that matters"),
            Param(
                name="workload",
                kind=Kind.TEXT,
                help="a statement that each run carries out",
            ),
            Param(
                name="load",
                kind=Kind.TEXT,
                words=("none",),
                help="or a command on this machine",
            ),
            Param(name="for", kind=Kind.DURATION, default="60s", help="length without a workload"),
            Param(name="settle", kind=Kind.DURATION, default="0s", help="wait before each run"),
            Param(name="yield", kind=Kind.DURATION, help="wait while redo takes longer"),
            Param(name="reset", kind=Kind.TEXT, help="before each run, such as @reset_cold"),
            Param(name="warm", kind=Kind.INT, help="at most so many warm-up passes before a run"),
            Param(name="as", kind=Kind.NAME, help="its name (e1, e2, …)"),
        ),
        flags=(
            Flag(name="anyway", help="run it although it can't show anything"),
            Flag(name="accept-opaque", help="let its host commands run"),
        ),
        handler="exacell.commands.experiments:experiment",
    ),
    Command(
        name="results",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="the result of an experiment: verdict, how sure it is, blocks; or what a recipe's run has kept",
        details="Without a name: the newest experiment. --all lists this rack's experiments and the runs of recipes "
        "that kept something (keep). For such a run each file is listed with host, size and SHA-256, and read "
        "again; exit code 1 when one is missing or was changed.",
        example="results e1",
        params=(Param(name="name", kind=Kind.NAME, positional=True, help="the experiment, or the run"),),
        flags=(Flag(name="all", help="list them, oldest first"),),
        handler="exacell.commands.experiments:results",
    ),
)
