"""What is read from another program's output: points, each at its load, with what was measured there. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from math import sqrt

from exacell.core.errors import RefusedError
from exacell.core.values import dataclass
from exacell.measure.histogram import Histogram


class UnreadableError(RefusedError):
    """A file is not what it seems: cut, empty, or of a form that the importer does not know."""


MORE, LESS, NEITHER = "more is better", "less is better", ""


@dataclass(frozen=True)
class Unit:
    """What a figure counts, and which direction is the better one."""

    name: str
    better: str = NEITHER


UNITS: Mapping[str, Unit] = {
    "iops": Unit("I/Os per second", MORE),
    "readsPerS": Unit("per second", MORE),
    "writesPerS": Unit("per second", MORE),
    "mibPerS": Unit("MiB/s", MORE),
    "readMibPerS": Unit("MiB/s", MORE),
    "writeMibPerS": Unit("MiB/s", MORE),
    "mbPerS": Unit("MB/s", MORE),
    "kibPerIo": Unit("KiB"),
    "readKib": Unit("KiB"),
    "writeKib": Unit("KiB"),
    "latencyUs": Unit("µs", LESS),
    "readUs": Unit("µs", LESS),
    "writeUs": Unit("µs", LESS),
    "minUs": Unit("µs", LESS),
    "p50Us": Unit("µs", LESS),
    "p99Us": Unit("µs", LESS),
    "p99.9Us": Unit("µs", LESS),
    "maxUs": Unit("µs", LESS),
    "deviceUs": Unit("µs", LESS),
    "kernelUs": Unit("µs", LESS),
    "queue": Unit("I/Os"),
    "utilPercent": Unit("%"),
    "hitPercent": Unit("%", MORE),
    "usedPercent": Unit("%"),
    "perSecond": Unit("per second"),
    "perTransaction": Unit("per transaction"),
    "waits": Unit("waits"),
    "totalS": Unit("s", LESS),
    "averageUs": Unit("µs", LESS),
    "bytes": Unit("bytes"),
    "count": Unit("I/Os"),
}
"""By name; a figure that is not here has no unit."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """What was measured at one load, or at one time.

    Attributes:
        series: what it was measured of: ``randread 8k read``, ``sda``, ``log file sync``.
        load: how much ran at the same time, in ``Run.load``; None where the program says nothing of it.
        at: when, or which pass, as the program writes it.
        spread: of figures that the program sampled on its way, the standard deviation and the number of samples.
        apart: why it is not counted with the others; empty where it is.
    """

    series: str
    figures: Mapping[str, float]
    load: float | None = None
    at: str = ""
    spread: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    apart: str = ""


@dataclass(frozen=True, kw_only=True)
class Binned:
    """A distribution as the program's bins give it.

    Attributes:
        counts: upper end of a bin → how many.
    """

    name: str
    what: str
    unit: str
    counts: Histogram


@dataclass(frozen=True, kw_only=True)
class Run:
    """One output as read.

    Attributes:
        kind: which program wrote it: a name of :data:`exacell.measure.importers.kinds.KINDS`.
        form: which of the program's forms it is, a phrase.
        source: the file's name.
        load: what the load of its points counts; empty where they have none.
        same: what must be the same in both of two runs that are compared, by name.
        told: what else the output says of its conditions.
        samples: points of one series follow each other in time, so that they are not independent.
        notes: what is doubtful, or was left out.
    """

    kind: str
    form: str
    source: str
    points: tuple[Point, ...]
    load: str = ""
    same: Mapping[str, str] = field(default_factory=dict)
    told: Mapping[str, str] = field(default_factory=dict)
    distributions: tuple[Binned, ...] = ()
    samples: bool = False
    notes: tuple[str, ...] = ()


_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_BEHIND = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


def number(text: str) -> float | None:
    """Return the number that a text is: ``1,234.5``, ``1.2E+10``, ``31.4K``; None where it is none."""
    text = text.strip()
    match = _NUMBER.match(text)
    if match is None:
        return None
    rest = text[match.end() :].strip().lower()
    if rest and rest not in _BEHIND:
        return None
    return float(match[0].replace(",", "")) * _BEHIND.get(rest, 1.0)


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines without their ends and without the ``cell: `` that dcli puts in front."""
    for line in text.splitlines():
        yield _DCLI.sub("", line.rstrip())


_DCLI = re.compile(r"^[a-z][\w.-]*: (?=\S)")


def mean(values: Sequence[float]) -> float:
    """Return the mean; there is one value at least."""
    return sum(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation with n - 1; 0 of a single value."""
    if len(values) < 2:
        return 0.0
    middle = mean(values)
    return sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1))


def set_apart_cold(points: Sequence[Point], figure: str) -> tuple[Point, ...]:
    """Return the passes of one test, the first set apart where it is lower than each other by more than those differ.

    A cache answers the first pass from disk: it is cold. With fewer than three passes nothing is set apart, since what the
    others differ by is not known.
    """
    values = [point.figures[figure] for point in points if figure in point.figures]
    if len(values) < 3 or len(values) < len(points):
        return tuple(points)
    first, rest = values[0], values[1:]
    if first >= min(rest) - (max(rest) - min(rest)):
        return tuple(points)
    cold = points[0]
    why = "the first pass, lower than the others by more than they differ: the cache was cold"
    return (
        Point(series=cold.series, figures=cold.figures, load=cold.load, at=cold.at, spread=cold.spread, apart=why),
        *points[1:],
    )


def first_of(text: str, *patterns: str) -> str:
    """Return what the first group of the first pattern that fits takes, without blanks at its ends; empty where none does."""
    for pattern in patterns:
        match = re.search(pattern, text, re.IGNORECASE | re.MULTILINE)
        if match is not None:
            return match[1].strip()
    return ""


def told(pairs: Iterable[tuple[str, object]]) -> dict[str, str]:
    """Return name → value of what is told, without what is empty."""
    return {name: str(value) for name, value in pairs if str(value)}
