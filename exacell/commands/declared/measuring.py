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
    Command(
        name="trace compare",
        group=GROUP,
        effect=Effect.READ,
        summary="what an event's waits differ by in two sets of 10046 trace files, and what such a test can't say",
        details="b is compared with a: means, effect size, shift, quantiles, and how many waits are longer than the mean by 1 "
        "to 500 ms. The test over all waits is naive, because commits that share a log write wait for the same one; beside it "
        "stands one whose unit is a file, which is a session. Intervals of quantiles are drawn from whole files (they need "
        "numpy: the extra analysis). None of it replaces several runs in turn. Times are in microseconds.",
        example="trace compare event='log file sync' a='/tmp/off/*.trc' b='/tmp/on/*.trc'",
        params=(
            Param(name="event", kind=Kind.TEXT, required=True, help="one event as the files write it"),
            Param(name="a", kind=Kind.FILE, required=True, help="trace files to compare with; several in quotes"),
            Param(name="b", kind=Kind.FILE, required=True, help="the trace files that are compared"),
        ),
        handler="exacell.commands.measuring:compare_traces",
    ),
)
