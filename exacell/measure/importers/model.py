"""The shape of all imports: points, each with its load and the figures measured there. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from itertools import pairwise
from math import fsum, isfinite, sqrt
from operator import mul
from typing import Any

from exacell.core.errors import RefusedError
from exacell.core.units import and_more
from exacell.core.values import dataclass
from exacell.measure.histogram import Histogram


class UnreadableError(RefusedError):
    """A file can't be read by the reader for its kind: it is incomplete, empty, or in an unknown form."""


MORE, LESS, NEITHER = "more is better", "less is better", ""


class How(StrEnum):
    """How figures of one name are combined, for parts that ran at the same time and for runs one after the other."""

    RATE = "rate"
    """An amount per time: parts are added; over time it is the mean, weighted by how long each was measured."""
    COUNT = "count"
    """A number of items: parts are added; over time it is their mean."""
    MEAN = "mean"
    """A mean of single values, weighted by their number."""
    LARGEST = "largest"
    SMALLEST = "smallest"
    EACH = "each"
    """A quantile: it can't be calculated from the quantiles of parts. Over several runs it is the mean of the runs."""


@dataclass(frozen=True)
class Unit:
    """The unit of a figure, whether more or less is better, and how several are combined.

    Attributes:
        of: figures that give the number of values behind a mean; the first one that a point has is the weight.
    """

    name: str
    better: str = NEITHER
    how: How = How.MEAN
    of: tuple[str, ...] = ()


def _us(*of: str, how: How = How.MEAN) -> Unit:
    return Unit("µs", LESS, how, of)


_READS, _WRITES = ("readsPerS",), ("writesPerS",)
UNITS: Mapping[str, Unit] = {
    "iops": Unit("I/Os per second", MORE, How.RATE),
    "readsPerS": Unit("per second", MORE, How.RATE),
    "writesPerS": Unit("per second", MORE, How.RATE),
    "discardsPerS": Unit("per second", NEITHER, How.RATE),
    "flushesPerS": Unit("per second", NEITHER, How.RATE),
    "mibPerS": Unit("MiB/s", MORE, How.RATE),
    "readMibPerS": Unit("MiB/s", MORE, How.RATE),
    "writeMibPerS": Unit("MiB/s", MORE, How.RATE),
    "mbPerS": Unit("MB/s", MORE, How.RATE),
    "kibPerIo": Unit("KiB", of=("ios", "iops")),
    "readKib": Unit("KiB", of=_READS),
    "writeKib": Unit("KiB", of=_WRITES),
    "latencyUs": _us("ios", "iops"),
    "readUs": _us(*_READS, "iops"),
    "writeUs": _us(*_WRITES, "iops"),
    "discardUs": _us("discardsPerS"),
    "flushUs": _us("flushesPerS"),
    "minUs": _us(how=How.SMALLEST),
    "p50Us": _us(how=How.EACH),
    "p99Us": _us(how=How.EACH),
    "p99.9Us": _us(how=How.EACH),
    "maxUs": _us(how=How.LARGEST),
    "deviceUs": _us("ios", "iops"),
    "kernelUs": _us("iops"),
    "queueUs": _us("iops"),
    "cacheUs": Unit("", of=("cacheIos",)),
    "queue": Unit("I/Os", how=How.RATE),
    "queued": Unit("I/Os", LESS, How.RATE),
    "maxKibPerIo": Unit("KiB", how=How.LARGEST),
    "utilPercent": Unit("%"),
    "hitPercent": Unit("%", MORE, of=("ios",)),
    **{f"{way}PacketsPerS": Unit("per second", MORE, How.RATE) for way in ("rx", "tx")},
    **{f"{way}MibPerS": Unit("MiB/s", MORE, How.RATE) for way in ("rx", "tx")},
    **{f"{way}{what}PerS": Unit("per second", LESS, How.RATE) for way in ("rx", "tx") for what in ("Errors", "Drops")},
    **{f"{what}Percent": Unit("%") for what in ("user", "system", "iowait", "steal", "idle")},
    "usedPercent": Unit("%"),
    "perSecond": Unit("per second", how=How.RATE),
    "donePerS": Unit("per second", MORE, How.RATE),
    "elapsedS": Unit("s", LESS),
    "perTransaction": Unit("per transaction"),
    "waits": Unit("waits", how=How.COUNT),
    "totalS": Unit("s", LESS, How.COUNT),
    "averageUs": _us("waits"),
    "bytes": Unit("bytes"),
    **{f"{what}Mib": Unit("MiB") for what in ("total", "free", "mirror", "usable")},
    "unitBytes": Unit("bytes"),
    "count": Unit("I/Os", how=How.COUNT),
    "ios": Unit("", how=How.COUNT),
    "cacheIos": Unit("", how=How.COUNT),
    "mean": Unit("", of=("count",)),
    "min": Unit("", how=How.SMALLEST),
    "max": Unit("", how=How.LARGEST),
    "maxIops": Unit("", how=How.LARGEST),
    "executes": Unit("", MORE, How.RATE),
    "logicalReads": Unit("", how=How.RATE),
    "physicalReads": Unit("", how=How.RATE),
    "physicalWrites": Unit("", how=How.RATE),
    "redoMibPerS": Unit("", how=How.RATE),
    "sequentialReadUs": _us("physicalReads"),
    "directReadUs": _us("physicalReads"),
    "parallelReadUs": _us("physicalReads"),
    "parallelWriteUs": _us("physicalWrites"),
    "logWriteUs": _us("redoMibPerS"),
}
"""Figure → its unit; a figure that is not here has no unit, and is combined as a mean."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """The figures at one load, or at one time.

    Attributes:
        series: what was measured: ``randread 8k read``, ``sda``, ``log file sync``.
        load: how much ran at the same time, counted in ``Run.load``; None if the program does not show it.
        at: the time or the pass, as the program writes it.
        spread: figure → standard deviation and number of samples that the program took during the run.
        apart: why it is not counted with the others; empty if it is.
        on: the files or disks that were used; a point with others is not a repetition. Empty if not known.
        run: number of its run, if the file contains several.
        seconds: how long it was measured; None if not known.
        weights: figure → number of values behind its mean, if no other figure shows it.
    """

    series: str
    figures: Mapping[str, float]
    load: float | None = None
    at: str = ""
    spread: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    apart: str = ""
    on: str = ""
    run: int = 0
    seconds: float | None = None
    weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Binned:
    """A distribution in the program's bins.

    Attributes:
        counts: upper end of a bin → number of values in it.
    """

    name: str
    what: str
    unit: str
    counts: Histogram


@dataclass(frozen=True, kw_only=True)
class Run:
    """One output as read.

    Attributes:
        kind: the program that wrote it: a name of :data:`exacell.measure.importers.kinds.KINDS`.
        form: the form of the output, a phrase.
        source: the file's name.
        load: the unit of its points' load, such as sessions; empty if they have no load.
        same: condition → its value, for conditions that must be equal in two runs that are compared.
        told: condition → its value, for other conditions in the output.
        samples: whether the points of one series follow each other in time, so that they are not independent.
        notes: doubtful parts, and parts that were left out.
        host: the host on which it ran; empty if not known.
        span: begin and end, seconds since 1970; empty if not known.
        warnings: problems of the run itself, a sentence each, which a reader must know before the figures.
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
    host: str = ""
    span: tuple[float, ...] = ()
    warnings: tuple[str, ...] = ()


_NUMBER = re.compile(r"[-+]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_SUFFIXES = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


def number(text: str) -> float | None:
    """Return the number in a text: ``1,234.5``, ``1.2E+10``, ``31.4K``; None for other texts, such as ``12,5``."""
    text = text.strip()
    match = _NUMBER.match(text)
    if match is None:
        return None
    rest = text[match.end() :].strip().lower()
    if rest and rest not in _SUFFIXES:
        return None
    value = float(match[0].replace(",", "")) * _SUFFIXES.get(rest, 1.0)
    return value if isfinite(value) else None


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines without their ends and without the ``cell: `` that dcli puts in front."""
    for line in text.splitlines():
        yield _DCLI.sub("", line.rstrip())


def printed(text: str, source: str) -> float | None:
    """Return the number in a cell; None if it is empty or a word.

    Raises:
        UnreadableError: it is a number whose form is not clear, such as 1.234,5.
    """
    value = number(text)
    if value is None and re.match(r"\s*[-+]?[.,]?\d[\d.,]*\s*$", text):
        raise UnreadableError(
            f"{source}: it is not clear which number '{text.strip()[:30]}' is",
            hint="exacell reads numbers such as 1,234.5, with a point before the decimals: LC_ALL=C or "
            "NLS_NUMERIC_CHARACTERS='.,'",
        )
    return value


_DCLI = re.compile(r"^[a-z][\w.-]*: (?=\S)")
_HOST = re.compile(r"([a-z][\w.-]*):(?: |$)")


def by_host(text: str) -> dict[str, str]:
    """Return host → its lines if each line begins with a host, as dcli writes it; empty if a line does not."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        match = _HOST.match(line)
        if match is not None:
            found.setdefault(match[1], []).append(line[match.end() :])
        elif line.strip():
            return {}
    return {host: "\n".join(lines) + "\n" for host, lines in found.items()}


def mean(values: Sequence[float]) -> float:
    """Return the mean; there must be at least one value."""
    return sum(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation (divisor n - 1); 0 for a single value."""
    if len(values) < 2:
        return 0.0
    middle = mean(values)
    return sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1))


def whole(points: Sequence[Point]) -> dict[str, float]:
    """Return the combined figures of points of one series that were measured one after the other.

    A figure that a point does not have was not measured there and is not counted.
    """
    if len(points) == 1:
        return dict(points[0].figures)
    known = all(point.seconds for point in points)
    return {
        name: _put(name, having, [(point.seconds or 0.0) if known else 1.0 for point in having], added=False)
        for name, having in _by_figure(points).items()
    }


def at_once(points: Sequence[Point]) -> dict[str, float]:
    """Return the combined figures of points that were measured at the same time: rates are added, means weighted.

    Quantiles of several parts are left out, because that of the whole is not known.
    """
    return {
        name: _put(name, having, [point.seconds or 1.0 for point in having], added=True)
        for name, having in _by_figure(points).items()
        if len(having) == 1 or unit_of(name).how is not How.EACH
    }


def unit_of(figure: str) -> Unit:
    """Return the unit of a figure; an empty unit if it has none."""
    return UNITS.get(figure, Unit(""))


def _by_figure(points: Sequence[Point]) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = {}
    for point in points:
        for name in point.figures:
            found.setdefault(name, []).append(point)
    return found


def _put(name: str, points: Sequence[Point], long: Sequence[float], *, added: bool) -> float:
    """Return one figure of several points; ``long``: how long each was measured; ``added``: whether they are parts of one run."""
    values, unit = [point.figures[name] for point in points], unit_of(name)
    if unit.how is How.LARGEST:
        return max(values)
    if unit.how is How.SMALLEST:
        return min(values)
    if added and unit.how in (How.RATE, How.COUNT):
        return fsum(values)
    weights: Sequence[float] = ()
    if unit.how is How.MEAN:
        weights = _how_many(name, points, long)
    if not weights and (unit.how is How.RATE or (unit.how is How.MEAN and not unit.of and not added)):
        weights = long
    total = fsum(weights)
    if not total:
        return mean(values)
    return fsum(map(mul, weights, values)) / total


def _how_many(name: str, points: Sequence[Point], long: Sequence[float]) -> list[float]:
    """Return the number of values behind each point's mean, up to a common factor; empty if it is not known for a point."""
    found: list[float] = []
    rates = {of: unit_of(of).how is How.RATE for of in unit_of(name).of}
    for point, seconds in zip(points, long, strict=True):
        if name in point.weights:
            found.append(point.weights[name])
            continue
        for of, rate in rates.items():
            if of in point.figures:
                found.append(point.figures[of] * seconds if rate else point.figures[of])
                break
        else:
            return []
    return found


def set_apart_cold(points: Sequence[Point], figure: str) -> tuple[Point, ...]:
    """Return the passes of one test; the first is set apart if it is lower by more than the others differ from each other.

    The first pass is cold: a cache has to read from disk. With fewer than three passes no pass is set apart, since the variation
    of the others is not known.
    """
    values = [point.figures[figure] for point in points if figure in point.figures]
    if len(values) < 3 or len(values) < len(points):
        return tuple(points)
    first, rest = values[0], values[1:]
    if first >= min(rest) - (max(rest) - min(rest)):
        return tuple(points)
    why = "the first pass, lower than the others by more than they differ: the cache was cold"
    return (replace(points[0], apart=why), *points[1:])


def first_of(text: str, *patterns: str) -> str:
    """Return the first group of the first pattern that matches, without blanks at its ends; empty if no pattern matches."""
    for pattern in patterns:
        match = re.search(pattern, text, re.IGNORECASE | re.MULTILINE)
        if match is not None:
            return match[1].strip()
    return ""


_TIME = re.compile(r"(?:^|\D)(\d\d?):(\d\d):(\d\d)(?:[.,]\d+)?(?:\s*([AP])\.?M\b)?", re.IGNORECASE)


def moment(text: str) -> float | None:
    """Return the second of the day in a time, with or without a date in any form; None if there is no time."""
    match = _TIME.search(text)
    if match is None:
        return None
    hour = int(match[1]) % 12 + (12 if match[4] in "Pp" else 0) if match[4] else int(match[1])
    return hour * 3600.0 + int(match[2]) * 60 + int(match[3])


def lengths(times: Sequence[str]) -> list[float | None]:
    """Return the seconds between each time and the one before; None for the first, and for unknown times."""
    moments = [moment(text) for text in times]
    pairs = pairwise(moments)
    return [None, *(None if a is None or b is None else (b - a) % 86400 or None for a, b in pairs)][: len(moments)]


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text} is not a number")
    return value


def _whole(text: str) -> int:
    _finite(text)
    return int(text)


_JSON = json.JSONDecoder(parse_float=_finite, parse_int=_whole, parse_constant=_finite)
_UNFIT = 200
"""Number of braces without an object after which a text counts as damaged."""


def json_texts(text: str, key: str, source: str) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return the JSON objects with a key in a text, in order, and notes on incomplete ones.

    Other text may be before, between and after them.

    Raises:
        UnreadableError: there is no complete one.
    """
    found: list[dict[str, Any]] = []
    end, unfit, why = 0, 0, ""
    for match in re.finditer(rf'^[ \t]*\{{|\{{\s*"{key}"', text, re.MULTILINE):
        if match.start() < end:
            continue
        start = text.index("{", match.start())
        try:
            one, end = _JSON.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            unfit += 1
            if re.match(r'\{\s*"', text[start : start + 200]):
                why = why or str(error)
            if unfit > _UNFIT:
                break
            continue
        if isinstance(one, dict) and key in one:
            found.append(one)
    if not found:
        raise UnreadableError(f"{source}: its JSON is cut or damaged ({why or 'it contains no complete object'})")
    return found, (f"a part of its JSON is cut or damaged and was left out ({why})",) if why else ()


def named(names: Sequence[str], most: int = 8) -> str:
    """Return the names as a list; only the number of names after the first ``most`` is shown."""
    return ", ".join(names[:most]) + and_more(len(names), most)


def told(pairs: Iterable[tuple[str, object]]) -> dict[str, str]:
    """Return name → value as text, without empty values."""
    return {name: str(value) for name, value in pairs if str(value)}
