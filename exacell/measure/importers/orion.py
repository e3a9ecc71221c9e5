"""ORION's files: summary, iops, mbps and lat matrices, histograms.

Keys differ in wording and case by release. Source: reference measurement.md 4; what a matrix holds says its header from 11.2
on, else the file's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from exacell.measure.histogram import Histogram
from exacell.measure.importers.model import Binned, Point, Run, UnreadableError, first_of, lines_of, number, told

KIND = "orion"
RAW = "latency"
"""A latency whose unit the file does not tell; :func:`settle` finds it out or leaves it."""

_MAXIMUM = re.compile(
    r"^(Maximum|Minimum) (Small|Large) (IOPS|MBPS|Latency)\s*=\s*([\d.]+)\s*(usecs?|us|msecs?|ms)?\s*"
    r"@ Small=(\d+) and Large=(\d+)",
    re.IGNORECASE | re.MULTILINE,
)
_LATENCY = re.compile(
    r"^(Small|Large) (Read|Write) Latency:\s*(.*?)\s*@ Small=(\d+) and Large=(\d+)", re.IGNORECASE | re.MULTILINE
)
_BIN = re.compile(r"^\s*(\d+)\s*-\s*(\d+)\s*us:\s*(\d+)\s*\(\s*[\d.]+%\)(?:\s*(\d+)\s*\(\s*[\d.]+%\))?", re.IGNORECASE)
_HEAD = re.compile(r"^\s*Latency:\s*# of IOs", re.IGNORECASE)
_HIST_OF = re.compile(r"Latency Histogram.*@ Small=(\d+) and Large=(\d+)", re.IGNORECASE)


def claims(text: str) -> bool:
    """Whether it is one of ORION's files."""
    return bool(
        re.search(r"^\s*Large/Small\s*,", text, re.MULTILINE)
        or _MAXIMUM.search(text)
        or any(_HEAD.match(line) for line in text.splitlines())
    )


def read(text: str, source: str) -> Run:
    """Return the points of one of ORION's files.

    Raises:
        UnreadableError: it has no figure, or is a matrix of which neither its header nor its name tells what it holds.
    """
    text = "\n".join(lines_of(text))
    matrix = re.search(r"^\s*Large/Small\s*,", text, re.MULTILINE)
    if matrix is not None:
        form, points = _matrix(text, source)
        bins: tuple[Binned, ...] = ()
    else:
        form, points, bins = (
            "summary" if _MAXIMUM.search(text) else "histogram",
            _merged(_maxima(text)),
            tuple(_bins(text)),
        )
    if not points and not bins:
        raise UnreadableError(f"{source}: no figure of ORION in it; the run may have ended early")
    return Run(
        kind=KIND,
        form=form,
        source=source,
        load="I/Os outstanding",
        points=points,
        distributions=bins,
        same=told(
            [
                ("small I/O", first_of(text, r"^Small IO size: *(.*)")),
                ("large I/O", first_of(text, r"^Large IO size: *(.*)")),
                ("I/O types", first_of(text, r"^IO types: *(.*)")),
                ("writes", first_of(text, r"^Writes: *(.*)")),
            ]
        ),
        told=told(
            [
                ("version", first_of(text, r"^ORION (?:VERSION )?([\d.]+.*)")),
                ("duration of a point", first_of(text, r"^Duration for each data point: *(.*)")),
                ("cache size", first_of(text, r"^Cache size: *(.*)")),
                ("pattern", first_of(text, r"^Sequential stream pattern: *(.*)")),
            ]
        ),
    )


def _series(small: int, large: int, size: str) -> tuple[str, float]:
    """Return the name of a series and the load within it: what varies with the other size held."""
    if size.lower() == "small":
        return ("small" if not large else f"small beside {large} large", float(small))
    return ("large" if not small else f"large beside {small} small", float(large))


def _merged(points: Iterable[Point]) -> tuple[Point, ...]:
    """Return one point per series and load: a summary tells the latency of its fastest point twice, once rounded."""
    found: dict[tuple[str, float | None], dict[str, float]] = {}
    for point in points:
        found.setdefault((point.series, point.load), {}).update(
            {
                name: value
                for name, value in point.figures.items()
                if name not in found.get((point.series, point.load), {})
            }
        )
    return tuple(Point(series=series, load=load, figures=figures) for (series, load), figures in found.items())


def _maxima(text: str) -> Iterator[Point]:
    for match in _MAXIMUM.finditer(text):
        _, size, what, value, unit, small, large = match.groups()
        series, load = _series(int(small), int(large), size)
        if what.lower() == "latency":
            # 11.1 writes milliseconds without a unit, 11.2 on usecs.
            factor = 1.0 if (unit or "").lower().startswith("us") else 1000.0
            yield Point(series=series, load=load, figures={"latencyUs": float(value) * factor})
        else:
            yield Point(
                series=series, load=load, figures={"iops" if what.upper() == "IOPS" else "mbPerS": float(value)}
            )
    for match in _LATENCY.finditer(text):
        size, way, body, small, large = match.groups()
        series, load = _series(int(small), int(large), size)
        parts = dict(re.findall(r"(avg|min|max)=\s*([\d.]+)\s*us", body))
        names = {"avg": "latencyUs" if way.lower() == "read" else "writeUs", "min": "minUs", "max": "maxUs"}
        found = {names[key]: float(value) for key, value in parts.items()}
        if found.get("latencyUs", found.get("writeUs", 0)) > 0:
            yield Point(series=series, load=load, figures=found)


def _bins(text: str) -> Iterator[Binned]:
    at, read_counts, write_counts = "", dict[int, int](), dict[int, int]()

    def made() -> Iterator[Binned]:
        for way, counts in (("reads", read_counts), ("writes", write_counts)):
            if any(counts.values()):
                yield Binned(name=f"{way}{at}", what="latency", unit="µs", counts=Histogram.of(counts))

    for line in text.splitlines():
        if (title := _HIST_OF.search(line)) is not None or _HEAD.match(line):
            yield from made()
            read_counts, write_counts = {}, {}
            if title is not None:
                at = f" at small={title[1]} large={title[2]}"
        elif (row := _BIN.match(line)) is not None:
            read_counts[int(row[2])] = int(row[3])
            write_counts[int(row[2])] = int(row[4] or 0)
    yield from made()


def _held(head: str, source: str) -> str:
    """Return which figure a matrix holds, by its header, else by the file's name."""
    name = source.lower()
    if "iops" in head.lower() or name.endswith("iops.csv"):
        return "iops"
    if "mbps" in head.lower() or name.endswith("mbps.csv"):
        return "mbPerS"
    if "latency" in head.lower() or name.endswith("lat.csv"):
        return "latencyUs" if re.search(r"microsec|usec", head, re.IGNORECASE) else RAW
    raise UnreadableError(
        f"{source}: a matrix of ORION, and nothing tells of what",
        hint="its name must end as ORION gives it: _iops.csv, _mbps.csv or _lat.csv",
    )


def _matrix(text: str, source: str) -> tuple[str, tuple[Point, ...]]:
    head, body = text.split("Large/Small", 1)
    figure = _held(head, source)
    size = "large" if figure == "mbPerS" else "small"
    first, *rows = body.splitlines()
    loads = [number(cell) for cell in first.split(",")[1:]]
    points = []
    for row in rows:
        label, *cells = row.split(",")
        large = number(label)
        for small, cell in zip(loads, cells, strict=False):
            value = number(cell)
            if large is not None and small is not None and value is not None:
                series, load = _series(int(small), int(large), size)
                points.append(Point(series=series, load=load, figures={figure: value}))
    return {"iops": "IOPS matrix", "mbPerS": "MBPS matrix"}.get(figure, "latency matrix"), tuple(points)


def settle(runs: Sequence[Run]) -> list[Run]:
    """Return the runs with the unit of latencies found out by Little's law, where the same points' IOPS are there.

    Old releases write a matrix of milliseconds, later ones of microseconds, and not all say which. So many I/Os outstanding
    over so many a second is the latency; a unit is taken when that agrees within a factor of three at every point. Others stay
    as they are, and it is said. Source: J. D. C. Little, Operations Research 9 (1961) 383.
    """
    rates = {
        (point.series, point.load): point.figures["iops"]
        for run in runs
        for point in run.points
        if point.figures.get("iops")
    }
    return [_settled(run, rates) for run in runs]


def _settled(run: Run, rates: dict[tuple[str, float | None], float]) -> Run:
    raw = [point for point in run.points if RAW in point.figures]
    if not raw:
        return run
    for unit, factor in (("µs", 1.0), ("ms", 1000.0)):
        ratios = [
            point.figures[RAW] * factor / (1e6 * point.load / rates[point.series, point.load])
            for point in raw
            if point.load and (point.series, point.load) in rates
        ]
        if ratios and all(1 / 3 < ratio < 3 for ratio in ratios):
            points = tuple(
                replace(point, figures={"latencyUs": point.figures[RAW] * factor}) if RAW in point.figures else point
                for point in run.points
            )
            return replace(
                run, points=points, notes=(*run.notes, f"latencies are {unit}, by the IOPS at the same loads")
            )
    why = "the file does not tell the unit of its latencies; import it together with its _iops.csv"
    return replace(run, notes=(*run.notes, why))
