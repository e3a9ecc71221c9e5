"""Describe a summary of trace files: the distribution of each event, and the gaps of the sample. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from exacell.core.units import counted, human_size
from exacell.measure.histogram import TAIL, THRESHOLDS_US, Histogram, as_r_prints, cut_at, just_under, summary
from exacell.measure.trace10046 import Traced

NOT_WHOLE = "Not a whole sample"
"""Beginning of the sentence about an incomplete sample."""

_MOST = 5
"""Maximum number of files that are named for one problem; of more, only the number is shown."""


def sentences(found: Traced, event: str = "") -> Iterator[str]:
    """Yield the sentences to read before the figures: how much was read, and its problems."""
    waits = sum(histogram.n for histogram in found.events.values())
    what = f"waits for {event}" if event else f"waits for {counted(len(found.events), 'event')}"
    yield f"{waits:,} {what} in {counted(found.files, 'file')} ({human_size(found.size)})."
    yield from doubts(found)
    if found.lookalikes:
        yield (
            f"{counted(found.lookalikes, 'text')} inside of statements or bind values look like waits; they were not counted."
        )
    for name, histogram in found.events.items():
        if (limit := cut_at(histogram)) is not None:
            yield (
                f"The tail of {name} was cut: the longest wait is {histogram.values[-1]:,} µs, just under {limit:,}, with others "
                "close to it. Such a sample can't show outliers."
            )
        elif (limit := just_under(histogram)) is not None:
            yield (
                f"The longest wait of {name} is {histogram.values[-1]:,} µs, just under {limit:,}: were longer ones left out? "
                "Then this sample can't show outliers."
            )
    if "log file sync" in found.events:
        yield (
            "One wait is a session's, not a commit and not a log write: commits that share a write are not independent of each "
            "other, and a test that takes them so finds differences where there are none. Nor are log writes that come in a "
            "burst: what slows one slows the next."
        )


def doubts(found: Traced) -> Iterator[str]:
    """Yield the problems of a sample: incomplete files, and impossible times."""
    for why in dict.fromkeys(found.broken.values()):
        files = [file for file, its in found.broken.items() if its == why]
        names = ", ".join(files[:_MOST]) + (f" and {len(files) - _MOST} more" if len(files) > _MOST else "")
        yield f"{NOT_WHOLE}: {names}: {why}."
    for name, count in found.odd.items():
        yield (
            f"{counted(count, 'wait')} for {name} {'has' if count == 1 else 'have'} a time that can't be, below 0 or more than a "
            "day; not counted."
        )


def rows(found: Traced) -> list[dict[str, Any]]:
    """Return one record per event, the event with the most time first; times in microseconds."""
    ordered = sorted(found.events.items(), key=lambda item: -item[1].total)
    return [{"cell": None, "event": name, **figures(histogram)} for name, histogram in ordered]


def figures(found: Histogram) -> Mapping[str, Any]:
    """Return the figures of one distribution: number, sum, R's summary, quantiles of the tail, waits above 1 to 500 ms."""
    told = summary(found)
    tail = {f"p{100 * p:g}": round(found.quantile(p), 1) for p in TAIL[1:]}
    return {
        "waits": found.n,
        "totalMs": round(found.total / 1000, 1),
        "min": int(told["Min."]),
        "q1": told["1st Qu."],
        "median": told["Median"],
        "mean": round(told["Mean"], 4),
        "q3": told["3rd Qu."],
        "max": int(told["Max."]),
        "sd": round(found.sd, 4) if found.n > 1 else None,
        **tail,
        **{f"over{limit // 1000}ms": found.above(limit) for limit in THRESHOLDS_US},
        "summary": " ".join(as_r_prints(told.values())),
    }
