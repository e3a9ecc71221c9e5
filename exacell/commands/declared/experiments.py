"""Declarations of the commands that :mod:`exacell.commands.experiments` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "metrics"

FACTORS, ORDERS, MEASURES = ("flashlog",), ("abba", "random"), ("commits", "redo", "flashlog")

COMMANDS = (
    Command(
        name="experiment",
        group=GROUP,
        effect=Effect.WRITE,
        runs=True,
        summary="compare two levels of a factor, run after run in blocks, and say what holds",
        details="A block is one run at each level; the order within blocks is drawn by seed=, so that drift falls on both "
        "levels alike (abba: blocks in twos, AB BA or BA AB). First come pairs of runs at the level as it is (A/A): they show "
        "what no difference looks like. The whole schedule is shown before the question, with the difference that so many "
        "blocks can detect and with what would make it unfair. A run's value is the mean wait for log file sync (commits), "
        "for log file parallel write (redo), or of a redo request on the cells (flashlog). The verdict has an interval, a "
        "sign-flip test, and says whether a difference as large as matters= is ruled out; fewer than 6 blocks are never "
        "enough. Each run is kept: after Ctrl-C, a kill or a lost link resume goes on, and the factor is given back whatever "
        "happens. On an emulated rack without workload= each run drives emulator load. help docs measuring tells more.",
        example="experiment factor=flashlog levels=on,off db=SPOT blocks=6 for=60s",
        params=(
            Param(name="factor", kind=Kind.CHOICE, choices=FACTORS, required=True, help="what is switched"),
            Param(
                name="levels",
                kind=Kind.NAMES,
                choices=("on", "off"),
                default="on,off",
                help="the one that is tried first",
            ),
            Param(name="db", kind=Kind.DB, required=True, help="the database for which it is switched and measured"),
            Param(name="blocks", kind=Kind.INT, default="6", help="blocks of two runs; 6 at least for a verdict"),
            Param(
                name="order", kind=Kind.CHOICE, choices=ORDERS, default="abba", help="how the order in blocks is drawn"
            ),
            Param(name="seed", kind=Kind.INT, default="1", help="of the order: the same seed, the same schedule"),
            Param(name="aa", kind=Kind.INT, default="3", help="pairs of runs at the same level that come first"),
            Param(
                name="measure",
                kind=Kind.CHOICE,
                choices=MEASURES,
                default="commits",
                help="whose mean time is compared",
            ),
            Param(
                name="matters", kind=Kind.NUMBER, default="2", help="percent; a smaller difference is of no interest"
            ),
            Param(
                name="workload",
                kind=Kind.TEXT,
                help="a statement in quotes that each run carries out while it is measured",
            ),
            Param(
                name="load",
                kind=Kind.TEXT,
                words=("none",),
                help="a command of this machine that drives the load of each run: workload='host …' in short",
            ),
            Param(name="for", kind=Kind.DURATION, default="60s", help="length of a run, where there is no workload"),
            Param(name="settle", kind=Kind.DURATION, default="0s", help="waited before each run is measured"),
            Param(name="reset", kind=Kind.TEXT, help="a statement before each run, such as @reset_cold"),
            Param(name="as", kind=Kind.NAME, help="its name (e1, e2, …)"),
        ),
        flags=(
            Flag(name="anyway", help="also where it can't show anything on these cells"),
            Flag(name="accept-opaque", help="let host commands of workload= and reset= run"),
        ),
        handler="exacell.commands.experiments:experiment",
    ),
    Command(
        name="results",
        group=GROUP,
        effect=Effect.READ,
        summary="what an experiment found: the verdict, how sure it is, and its blocks",
        details="Without a name the newest one's. --all lists the experiments of this rack.",
        example="results e1",
        params=(Param(name="name", kind=Kind.NAME, positional=True, help="the experiment"),),
        flags=(Flag(name="all", help="list them, oldest first"),),
        handler="exacell.commands.experiments:results",
    ),
)
