"""Declarations of the commands that :mod:`exacell.commands.measuring` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

GROUP = "metrics"

COMMANDS = (
    Command(
        name="trace summarize",
        group=GROUP,
        effect=Effect.READ,
        summary="the waits of 10046 trace files: an exact distribution of each event, its tail, and what is missing",
        details="Every wait counts, by event and microsecond; nothing is sampled. Times are in microseconds, quantiles are "
        "R's type 7. Texts of statements and bind values that look like waits are not counted, and said; so are files "
        "whose size was limited or whose last line is cut, and tails that end just under a round number. Files are read "
        "on all processors. Give the .trc files, not the .trm beside them.",
        example="trace summarize event='log file sync' /tmp/spot1_ora_*.trc",
        params=(
            Param(name="event", kind=Kind.TEXT, help="one event as the files write it; all of them without"),
            Param(name="files", kind=Kind.FILE, positional=True, rest=True, required=True, help="trace files"),
        ),
        handler="exacell.commands.measuring:summarize_traces",
    ),
)
