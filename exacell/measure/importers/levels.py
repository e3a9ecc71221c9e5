"""Group the points of one import by load: the values, their certainty, and the peak and knee of a curve. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from math import exp, log
from typing import Any

from exacell.core.values import dataclass
from exacell.measure.importers.model import How, Point, Run, deviation, mean, unit_of, whole
from exacell.measure.twosets import welch

RATES = ("donePerS", "iops", "executes", "mbPerS", "mibPerS", "readsPerS", "writesPerS", "perSecond")
"""Figures that show how much was done; the first one that a series has is its rate."""

TIMES = ("latencyUs", "averageUs", "readUs", "writeUs", "logWriteUs", "deviceUs")
"""Figures that show how long it took; the first one that a series has is its time."""


@dataclass(frozen=True, kw_only=True)
class Level:
    """One series at one load, over all runs of an import.

    Attributes:
        values: figure → its values: one per run, or one per sample if ``samples``.
        totals: figure → its value for all runs or samples together.
        spread: figure → standard deviation and number of samples that the program took during its only run.
        samples: whether the values are samples of a single run.
        sampled: figure → all samples in order; empty if the program took none.
        apart: figure → values of passes that are not counted together with the others.
        why: why they are not counted.
    """

    series: str
    load: float | None
    values: Mapping[str, tuple[float, ...]]
    totals: Mapping[str, float]
    spread: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    samples: bool = False
    sampled: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    apart: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    why: str = ""

    @property
    def key(self) -> tuple[str, float | None]:
        """Return the key under which the levels of two imports match: series and load."""
        return self.series, self.load

    def figure(self, name: str) -> float | None:
        """Return a figure of all runs or samples together; None if it is missing."""
        return self.totals.get(name)

    def rate(self) -> str:
        """Return the name of the figure that shows how much was done; empty for none."""
        return next((name for name in RATES if name in self.values), "")

    def time(self) -> str:
        """Return the name of the figure that shows how long it took; empty for none."""
        return next((name for name in TIMES if name in self.values), "")

    def main(self) -> str:
        """Return the name of the most important figure."""
        return self.rate() or self.time() or next(iter(self.values), "")

    def runs(self) -> int:
        """Return the number of runs at this level."""
        return 1 if self.samples else max(map(len, self.values.values()), default=0)


def levels(runs: Sequence[Run]) -> list[Level]:
    """Return the levels of one import: series in the order of the files, and loads ascending within each.

    Runs on different files or disks at the same load are separate series, not repetitions.
    """
    passes: dict[tuple[str, float | None], list[list[Point]]] = {}
    things: dict[tuple[str, float | None], set[str]] = {}
    for point in (point for run in runs for point in run.points):
        things.setdefault((point.series, point.load), set()).add(point.on)
    several = {series for (series, _), on in things.items() if len(on) > 1 and "" not in on}
    for run in runs:
        sampled: dict[tuple[Any, ...], list[Point]] = {}
        for point in run.points:
            key = f"{point.series} on {point.on}" if point.series in several else point.series, point.load
            own = sampled.setdefault((*key, point.run), []) if run.samples else []
            if not own:
                passes.setdefault(key, []).append(own)
            own.append(point)
    order = {series: place for place, series in enumerate(dict.fromkeys(series for series, _ in passes))}
    samples = any(run.samples for run in runs)
    return [
        _level(key, passes[key], samples=samples)
        for key in sorted(passes, key=lambda key: (order[key[0]], key[1] or 0.0))
    ]


def _level(key: tuple[str, float | None], passes: Sequence[Sequence[Point]], *, samples: bool) -> Level:
    """Return the level of several runs, each given as a list of points."""
    flat = [point for one in passes for point in one]
    counted = [point for point in flat if not point.apart]
    sampled = _values(point.figures for point in counted) if samples else {}
    single = samples and len(passes) == 1
    runs = [whole([point for point in one if not point.apart]) for one in passes] if not single else []
    return Level(
        series=key[0],
        load=key[1],
        values=sampled if single else _values(runs),
        totals=whole(counted),
        spread={name: found for point in flat for name, found in point.spread.items()},
        samples=single,
        sampled=sampled,
        apart=_values(point.figures for point in flat if point.apart),
        why=next((point.apart for point in flat if point.apart), ""),
    )


def _values(figures: Iterable[Mapping[str, float]]) -> dict[str, tuple[float, ...]]:
    found: dict[str, list[float]] = {}
    for one in figures:
        for name, value in one.items():
            found.setdefault(name, []).append(value)
    return {name: tuple(values) for name, values in found.items()}


def curves(found: Sequence[Level]) -> dict[str, list[Level]]:
    """Return name → levels of the series that were measured at three or more loads."""
    series: dict[str, list[Level]] = {}
    for level in found:
        if level.load is not None and level.rate():
            series.setdefault(level.series, []).append(level)
    return {name: line for name, line in series.items() if len(line) >= 3}


def peak(line: Sequence[Level]) -> Level:
    """Return the level of a curve with the highest rate."""
    return max(line, key=lambda level: level.figure(level.rate()) or 0.0)


def knee(line: Sequence[Level]) -> Level:
    """Return the level of a curve after which more load costs more than it brings: the one with the largest rate per latency.

    Latency comes from Little's law, load over rate, so that the knee does not depend on what a program includes in its
    latency. Source: L. Kleinrock, ICC 1979, 43.1 (power, and why its maximum is the knee).
    """
    return max(line, key=lambda level: (level.figure(level.rate()) or 0.0) ** 2 / (level.load or 1.0))


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """The ratio of a figure in two imports.

    Attributes:
        low, high: its 95 % interval; None if the variation is not known.
        basis: the source of the variation behind the interval; empty without an interval.
    """

    value: float
    low: float | None = None
    high: float | None = None
    basis: str = ""

    @property
    def differs(self) -> bool:
        """Return whether the interval does not contain 1."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


def ratio(a: Level, b: Level, figure: str) -> Ratio | None:
    """Return ``b``'s figure divided by ``a``'s, with Welch's interval of the logarithms; None if one of them is not above 0.

    The largest and the smallest of several runs have no interval.
    """
    first, second = a.totals[figure], b.totals[figure]
    if first <= 0 or second <= 0:
        return None
    value = second / first
    sides = _logs(a, figure), _logs(b, figure)
    if sides[0] is None or sides[1] is None or unit_of(figure).how in (How.LARGEST, How.SMALLEST):
        return Ratio(value=value)
    test = welch(sides[1], sides[0])
    if test is None:
        return Ratio(value=value)
    counts = [0 if one.samples else len(one.values[figure]) for one in (a, b)]
    within = [count < 2 for count in counts]
    basis = f"{counts[0]} and {counts[1]} runs"
    if all(within):
        basis = "samples within a run each"
    elif any(within):
        basis = f"{max(counts)} runs and the samples within one"
    centre = test.difference
    try:
        low, high = value * exp(test.low - centre), value * exp(test.high - centre)
    except OverflowError:  # The interval is wider than any number can be.
        return Ratio(value=value)
    return Ratio(value=value, low=low, high=high, basis=basis)


def _logs(level: Level, figure: str) -> tuple[float, float, int] | None:
    """Return mean, variance and effective number of the logarithms of a figure; None if its variation is not known."""
    values = level.values[figure]
    if len(values) == 1:
        if figure not in level.spread or level.spread[figure][1] < 2:
            return None
        sd, n = level.spread[figure]
        return log(values[0]), (sd / values[0]) ** 2, n
    if min(values) <= 0:
        return None
    logs = [log(value) for value in values]
    n = effective(logs) if level.samples else len(logs)
    return (mean(logs), deviation(logs) ** 2, n) if n >= 2 else None


def effective(values: Sequence[float]) -> int:
    """Return the number of independent values that are worth as much as these successive samples: n (1 - r) / (1 + r), r between
    neighbours.

    Source: reference measurement.md 2.4.
    """
    middle, n = mean(values), len(values)
    around = sum((value - middle) ** 2 for value in values)
    if not around:
        return n
    pairs = pairwise(values)
    r = max(0.0, min(0.99, sum((one - middle) * (two - middle) for one, two in pairs) / around))
    return int(n * (1 - r) / (1 + r))
