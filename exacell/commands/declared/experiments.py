"""Declarations of the commands that :mod:`exacell.commands.experiments` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "metrics"

FACTORS = ("flashlog", "cell_flash_cache:", "iorm:", "setting:", "parameter:")
ORDERS, MEASURES = ("abba", "random"), ("commits", "redo", "reads", "flashlog", "fio")

COMMANDS = (
    Command(
        name="experiment",
        group=GROUP,
        effect=Effect.WRITE,
        runs=True,
        summary="compare two levels of a factor, run after run in blocks, and say what holds",
        details="A block is one run at each level, in drawn order; pairs of runs at the level as it is come first (A/A). One "
        "question for the whole schedule, with what it can detect and what would be unfair; the factor is given back whatever "
        "happens, and resume goes on after a kill. What can be switched, what each measure is, and blocks in recipes: help docs "
        "measuring.",
        example="experiment factor=flashlog levels=on,off db=SPOT blocks=7 for=60s",
        params=(
            Param(name="factor", kind=Kind.CHOICE, choices=FACTORS, required=True, help="what is switched"),
            Param(name="levels", kind=Kind.NAMES, help="two, the tried one first"),
            Param(name="db", kind=Kind.DB, help="whose it is, and whose waits are measured"),
            Param(name="on", kind=Kind.TEXT, help="whose setting it is: @initiators"),
            Param(name="blocks", kind=Kind.INT, default="7", help="of two runs; 6 for a verdict"),
            Param(name="order", kind=Kind.CHOICE, choices=ORDERS, default="random", help="a coin a block, or for two"),
            Param(name="seed", kind=Kind.INT, help="repeats a drawn order"),
            Param(name="aa", kind=Kind.INT, default="3", help="pairs at one level first"),
            Param(
                name="measure",
                kind=Kind.CHOICE,
                choices=MEASURES,
                help="what waits count (the factor's usual)",
            ),
            Param(name="matters", kind=Kind.NUMBER, default="2", help="smallest percent of interest"),
            Param(
                name="workload",
                kind=Kind.TEXT,
                help="a statement that each run carries out",
            ),
            Param(
                name="load",
                kind=Kind.TEXT,
                words=("none",),
                help="in its place, a command of this machine",
            ),
            Param(name="for", kind=Kind.DURATION, default="60s", help="of a run without workload"),
            Param(name="settle", kind=Kind.DURATION, default="0s", help="wait before each run"),
            Param(name="yield", kind=Kind.DURATION, help="give way while redo takes longer"),
            Param(name="reset", kind=Kind.TEXT, help="before each run, such as @reset_cold"),
            Param(name="as", kind=Kind.NAME, help="its name (e1, e2, …)"),
        ),
        flags=(
            Flag(name="anyway", help="also where it can't show anything here"),
            Flag(name="accept-opaque", help="let host commands of it run"),
        ),
        handler="exacell.commands.experiments:experiment",
    ),
    Command(
        name="results",
        group=GROUP,
        effect=Effect.READ,
        summary="what an experiment found: the verdict, how sure it is, and its blocks; or what a recipe's run has kept",
        details="Without a name the newest one's. --all lists the experiments of this rack, and the runs of recipes that kept "
        "something (keep); of such a run each file is listed with its host, size and SHA-256, and read again: exit 1 where one "
        "is gone or was changed.",
        example="results e1",
        params=(Param(name="name", kind=Kind.NAME, positional=True, help="the experiment, or the run"),),
        flags=(Flag(name="all", help="list them, oldest first"),),
        handler="exacell.commands.experiments:results",
    ),
)
