"""Declarations of the commands that :mod:`exacell.commands.watching` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

GROUP = "metrics"

# live/top.py has the same words; to import it here, help and completion would load it. A test compares them.
_ORDERS = ("worst", "hit", "reads", "dirty", "redo", "wins", "outliers", "load", "cell")

COMMANDS = (
    Command(
        name="watch",
        group=GROUP,
        effect=Effect.READ,
        summary="repeat a reading statement: what changed is highlighted, numbers get a line of bars",
        details="Give seconds, then the statement. On a terminal: one screen, on which q or Ctrl-C leaves, p "
        "pauses, and j and k scroll. Into a file or a pipe: one answer after the other; with -o json, jsonl or csv, "
        "records with the time in 'at'. count= ends it after that many answers.",
        example="watch 5 show flashcache",
        params=(
            Param(name="every", kind=Kind.DURATION, positional=True, required=True, help="seconds between two answers"),
            Param(name="count", kind=Kind.INT, help="how many answers"),
            Param(
                name="statement",
                kind=Kind.STATEMENT,
                positional=True,
                required=True,
                rest=True,
                help="a statement that only reads",
            ),
        ),
        recipe_ok=False,
        streams=True,
        endless=True,
        handler="exacell.commands.watching:watch",
    ),
    Command(
        name="top",
        group=GROUP,
        effect=Effect.READ,
        summary="the rack's load, live: per cell cache hits, dirty data, redo wins, outliers, CPU and disks",
        details="One row a cell, the worst first; a cell without an answer shows since when. Enter goes closer: to "
        "the cell, its disks, databases and alerts; Esc goes back. / filters, s sorts, a acknowledges an alert, l "
        "locates a disk, o asks whether the cell may go offline, ? lists the keys, q leaves. Figures cover the last "
        "two collections of each cell, one a minute. Into a file or a pipe it writes a table each time, or with -o "
        "jsonl or csv one record a cell.",
        example="top sort=dirty",
        params=(
            Param(name="every", kind=Kind.DURATION, positional=True, default="5", help="seconds between two looks"),
            Param(name="sort", kind=Kind.CHOICE, choices=_ORDERS, default="worst", help="which cells come first"),
            Param(name="count", kind=Kind.INT, help="how many tables; for files and pipes"),
        ),
        recipe_ok=False,
        streams=True,
        endless=True,
        handler="exacell.commands.watching:top",
    ),
)
