"""Compare two sets of trace files: the difference, how sure it is, and the error of the simple test. Pure.

Single waits are not independent values: commits that share a log write wait for the same one. So the test over all waits is
shown together with one whose unit is a log write, and one whose unit is a file (a session). None of the tests accounts for the
variation between runs. Source: reference measurement.md 2.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from exacell.core.units import counted
from exacell.measure.histogram import THRESHOLDS_US, Histogram, cut_at, just_under, merged
from exacell.measure.logwrites import LogWrites, difference
from exacell.measure.twosets import (
    Welch,
    above_mean,
    cohens_d,
    heavy,
    hodges_lehmann,
    mann_whitney,
    moments,
    size_of,
    welch,
)

QUANTILES = (0.5, 0.9, 0.99, 0.999)
"""Quantiles whose difference is shown: the middle and the tail."""

SHARED = 1.05
"""Waits per log write above which sessions are no longer independent of each other."""

FEWEST_FILES = 3
"""Minimum number of files in each set for a test whose unit is a file."""


BURSTS = (
    "This assumes that log writes are independent of each other. In a burst, a log switch or a checkpoint slow writes follow "
    "each other: then the true interval is wider still."
)
"""The assumption that must follow a sentence about log writes. Source: reference measurement.md 2.4."""

Writes = tuple[LogWrites, LogWrites] | None
"""The log writes that several waits share, of a and of b; None if the files of one of them don't show them."""


def sentences(event: str, a: Sequence[Histogram], b: Sequence[Histogram], writes: Writes = None) -> Iterator[str]:
    """Yield sentences about the waits for one event in two sets of files; each set must have at least one wait.

    Args:
        a: the set that b is compared with, one histogram per file.
        b: the other set, in the same form.
        writes: the log writes, for the test whose unit is a log write.
    """
    first, second = merged(a), merged(b)
    away = second.mean - first.mean
    less = "less" if away < 0 else "more"
    share = f" ({abs(100 * away / first.mean):.1f} % of a's mean)" if first.mean else ""
    d = cohens_d(moments(second), moments(first))
    effect = f" The effect is {size_of(d)} (d {d:.3f})." if d is not None else ""
    if d is not None and (heavy(first) or heavy(second)):
        effect = f" d is {d:.3f}, but a heavy tail makes the standard deviation, so it says little about the size."
    yield (
        f"{event}: {first.n:,} waits of {first.mean:,.2f} µs on average in a, {second.n:,} of {second.mean:,.2f} µs in b: "
        f"b takes {abs(away):,.2f} µs {less}{share}.{effect}"
    )
    for name, whole in (("a", first), ("b", second)):
        if (limit := cut_at(whole)) is not None:
            yield (
                f"The tail of {name} was cut just under {limit:,} µs: outliers that flash logging prevents can't be seen in it."
            )
        elif (limit := just_under(whole)) is not None:
            yield (
                f"The longest wait of {name} is {whole.values[-1]:,} µs, just under {limit:,}: were longer ones left out? Then "
                "the outliers that flash logging prevents can't be seen in it."
            )
    naive, by_file = welch(moments(second), moments(first)), welch_of_files(a, b)
    if naive is not None:
        yield (
            f"With each wait counted alone t is {naive.t:,.2f}, {naive.low:+,.2f} to {naive.high:+,.2f} µs: naive, since "
            "waits for the same log write are not independent."
        )
    yield from _by_write(naive, writes)
    if by_file is not None and writes is not None and max(own.waits / own.writes for own in writes) > SHARED:
        yield (
            f"With a file as the unit ({counted(len(a), 'file')} and {counted(len(b), 'file')}) it is {by_file.low:+,.2f} to "
            f"{by_file.high:+,.2f} µs: not a verdict, since sessions that work at the same time share log writes."
        )
    elif by_file is not None:
        sure = (
            "differ by more than chance" if by_file.low > 0 or by_file.high < 0 else "do not differ by more than chance"
        )
        yield (
            f"With a file as the unit ({counted(len(a), 'file')} and {counted(len(b), 'file')}) the means {sure}: "
            f"{by_file.low:+,.2f} to {by_file.high:+,.2f} µs."
        )
    else:
        yield f"For a test whose unit is a file (a session) each set needs {FEWEST_FILES} files."
    yield "This compares one run with one other: only several runs of each, in turn, show whether the difference repeats."


def _by_write(naive: Welch | None, writes: Writes) -> Iterator[str]:
    """Yield the error of the simple test: the interval from resampling whole log writes, and how much wider that one is."""
    by_write = difference(*writes) if writes is not None else None
    if writes is None or by_write is None:
        yield (
            "The files do not show which waits share a log write (sync scn): the true interval is wider, by an unknown amount."
        )
        return
    _, low, high = by_write
    a, b = writes
    wider = f", {(high - low) / (naive.high - naive.low):.1f} times as wide" if naive is not None else ""
    sure = "differ by more than chance" if low > 0 or high < 0 else "do not differ by more than chance"
    yield (
        f"With a log write as the unit ({a.writes:,} and {b.writes:,} of them, shared by {a.waits / a.writes:.1f} and "
        f"{b.waits / b.writes:.1f} waits on average) the means {sure}: {low:+,.2f} to {high:+,.2f} µs{wider}. {BURSTS}"
    )


def about_shared(writes: LogWrites) -> Iterator[str]:
    """Yield how many log writes the waits of a set share, and how this affects the error of their mean."""
    if writes.writes < 2:
        return
    mean, error = writes.mean_of_waits()
    yield (
        f"{writes.waits:,} waits share {writes.writes:,} log writes, {writes.waits / writes.writes:.1f} on average: their mean "
        f"is {mean:,.2f} µs, give or take {1.96 * error:,.2f} when whole log writes are drawn. {BURSTS}"
    )


def welch_of_files(a: Sequence[Histogram], b: Sequence[Histogram]) -> Welch | None:
    """Return the test of the difference between the files' means, b minus a; None if a set has too few files or the means
    don't vary.
    """
    if min(len(a), len(b)) < FEWEST_FILES:
        return None
    return welch(_means(b), _means(a))


def _means(files: Sequence[Histogram]) -> tuple[float, float, int]:
    means = [file.mean for file in files]
    middle = sum(means) / len(means)
    return middle, sum((mean - middle) ** 2 for mean in means) / (len(means) - 1), len(means)


Interval = tuple[float, float]


def intervals(a: Sequence[Histogram], b: Sequence[Histogram]) -> dict[float, Interval] | None:
    """Return the 95 % interval of each quantile's difference, from resampling whole files; empty if there are few files, None
    without numpy.
    """
    if min(len(a), len(b)) < FEWEST_FILES:
        return {}
    try:
        from exacell.measure.resampling import quantile_shifts  # numpy is slow to load, and only needed here.
    except ImportError:
        return None
    return {shift.p: (shift.low, shift.high) for shift in quantile_shifts(b, a, QUANTILES)}


def rows(
    a: Sequence[Histogram],
    b: Sequence[Histogram],
    sure: Mapping[float, Interval] | None = None,
    writes: Writes = None,
) -> list[dict[str, Any]]:
    """Return one record per figure, in microseconds: the difference b minus a, or the counts of both sides in one phrase.

    Args:
        sure: the 95 % intervals of the quantiles' differences, if known.
        writes: the log writes, for the test whose unit is a log write.
    """
    first, second = merged(a), merged(b)
    naive, by_file = welch(moments(second), moments(first)), welch_of_files(a, b)
    ranks = mann_whitney(second, first)
    found = [_row("meanByWait", second.mean - first.mean, "µs", "naive: each wait counted alone", _ends(naive))]
    if writes is not None and (by_write := difference(*writes)) is not None:
        found.append(_row("meanByWrite", by_write[0], "µs", "whole log writes are drawn", by_write[1:]))
    if by_file is not None:
        found.append(_row("meanByFile", by_file.difference, "µs", "a file's mean is one value", _ends(by_file)))
    found.append(_row("shift", hodges_lehmann(second, first), "µs", "the median of all differences (Hodges-Lehmann)"))
    if ranks is not None:
        found.append(
            _row("bLarger", 100 * ranks.greater, "%", "of all pairs, those in which b's wait is longer; ties half")
        )
    if naive is not None:
        found.append(_row("log10p", naive.log10_p, "", "of the naive test"))
    found += [
        _row(
            f"p{100 * p:g}",
            second.quantile(p) - first.quantile(p),
            "µs",
            f"{first.quantile(p):,.0f} in a",
            (sure or {}).get(p),
        )
        for p in QUANTILES
    ]
    counts = zip(THRESHOLDS_US, above_mean(first, THRESHOLDS_US), above_mean(second, THRESHOLDS_US), strict=True)
    found += [
        _row(f"meanPlus{limit // 1000}ms", later, "waits", f"in b, longer than its mean by more; {before:,} in a")
        for limit, before, later in counts
    ]
    return found


def _ends(test: Welch | None) -> Interval | None:
    return None if test is None else (test.low, test.high)


def _row(figure: str, value: float, unit: str, means: str, sure: Interval | None = None) -> dict[str, Any]:
    return {
        "cell": None,
        "figure": figure,
        "value": round(value, 3),
        "unit": unit,
        "low": None if sure is None else round(sure[0], 3),
        "high": None if sure is None else round(sure[1], 3),
        "means": means,
    }
