"""Import ORION's files: summary, iops, mbps and lat matrices, histograms.

Keys differ in wording and case by release. Source: reference measurement.md 4. The kind of a matrix is in its header from 11.2
on, otherwise in the file's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from exacell.measure.histogram import Histogram
from exacell.measure.importers.model import (
    Binned,
    Point,
    Run,
    UnreadableError,
    first_of,
    lines_of,
    named,
    number,
    printed,
    told,
)
from exacell.measure.importers.parts import alone, host_of, joined

KIND = "orion"
RAW = "latency"
"""Name of a latency whose unit is not in the file; :func:`settle` determines the unit or leaves the name."""

_MAXIMUM = re.compile(
    r"^(Maximum|Minimum) (Small|Large) (IOPS|MBPS|Latency)\s*=\s*([\d.,]+)\s*(usecs?|us|msecs?|ms)?\s*"
    r"@ Small=(\d+) and Large=(\d+)",
    re.IGNORECASE | re.MULTILINE,
)
_LATENCY = re.compile(
    r"^(Small|Large) (Read|Write) Latency:\s*(.*?)\s*@ Small=(\d+) and Large=(\d+)", re.IGNORECASE | re.MULTILINE
)
_BIN = re.compile(r"^\s*(\d+)\s*-\s*(\d+)\s*us:\s*(\d+)\s*\(\s*[\d.]+%\)(?:\s*(\d+)\s*\(\s*[\d.]+%\))?", re.IGNORECASE)
_HEAD = re.compile(r"^\s*Latency:\s*# of IOs", re.IGNORECASE)
_DISK = re.compile(r"^Name: *(\S.*?)\s+Size: *\d", re.MULTILINE)
_HIST_OF = re.compile(r"Latency Histogram.*@ Small=(\d+) and Large=(\d+)", re.IGNORECASE)


def claims(text: str) -> bool:
    """Return whether a text is one of ORION's files."""
    return bool(
        re.search(r"^\s*Large/Small\s*,", text, re.MULTILINE)
        or _MAXIMUM.search(text)
        or any(_HEAD.match(line) for line in text.splitlines())
    )


def read(text: str, source: str) -> Run:
    """Return the points of a file of ORION, each with the number of its run.

    A file may contain the summary and the matrices of one run, or of several runs. If it has two summaries, or two matrices of
    the same form, the second one belongs to the second run.

    Raises:
        UnreadableError: it has no figure, or the kind of a matrix is neither in its header nor in the file's name.
    """
    sections = [_section(part, source) for part in _sections("\n".join(lines_of(text)))]
    sections = [run for run in sections if run.points or run.distributions]
    if not sections:
        raise UnreadableError(f"{source}: it has no figure of ORION; the run may have ended early")
    forms = [run.form for run in sections]
    most = max(forms.count(form) for form in forms)
    points = [
        replace(point, on=run.told.get("disks", ""), run=forms[: place + 1].count(run.form) if most > 1 else 0)
        for place, run in enumerate(sections)
        for point in run.points
    ]
    notes = [f"{most} runs are in one file"] if most > 1 else []
    return replace(
        sections[0],
        form=", ".join(dict.fromkeys(forms)),
        points=_merged(points),
        distributions=tuple(one for run in sections for one in run.distributions),
        same=joined([run.same for run in sections]),
        told=joined([run.told for run in sections]),
        notes=(*notes, *dict.fromkeys(note for run in sections for note in run.notes)),
    )


_START = re.compile(r"^\s*(?:ORION VERSION|ORION: ORacle IO Numbers|Command ?line:)", re.IGNORECASE)
_MATRIX = re.compile(r"^\s*Large/Small\s*,")
_ROW = re.compile(r"^\s*\d+\s*(?:,.*)?$")


def _sections(text: str) -> Iterator[str]:
    """Yield the parts of a text with one summary, histogram or matrix each, and the lines before it."""
    lines: list[str] = []
    seen: set[tuple[str, ...]] = set()
    for line in text.splitlines():
        most, matrix = _MAXIMUM.match(line), _MATRIX.match(line)
        kind = tuple(part.lower() for part in most.groups()[:3]) if most else ("matrix",) if matrix else ()
        ended = ("matrix",) in seen and line.strip() and not _ROW.match(line)
        if kind in seen or ended or (seen and _START.match(line)):
            yield "\n".join(lines)
            lines, seen = [], set()
        lines.append(line)
        seen |= {kind} if kind else {("bins",)} if _BIN.match(line) else set()
    yield "\n".join(lines)


def _section(text: str, source: str) -> Run:
    odd: list[str] = []
    bins: tuple[Binned, ...] = ()
    if _has_matrix(text):
        form, points = _matrix(text, source, odd)
    else:
        form = "summary" if _MAXIMUM.search(text) else "histogram"
        points, bins = tuple(_maxima(text, source)), tuple(_bins(text))
    return Run(
        kind=KIND,
        form=form,
        source=source,
        load="I/Os outstanding",
        points=points,
        distributions=bins,
        notes=(f"cells left out, which no column is for or which are no number: {named(odd)}",) if odd else (),
        same=told(
            [
                ("small I/O", first_of(text, r"^Small IO size: *(.*)")),
                ("large I/O", first_of(text, r"^Large IO size: *(.*)")),
                ("I/O types", first_of(text, r"^IO types: *(.*)")),
                ("writes", first_of(text, r"^Writes?: *(.*)")),
            ]
        ),
        told=told(
            [
                ("version", first_of(text, r"^ORION (?:VERSION )?([\d.]+.*)", r"^ORION: .* Version (\S+)")),
                ("disks", ", ".join(_DISK.findall(text))),
                ("duration of a point", first_of(text, r"^Duration for each data point: *(.*)")),
                ("cache size", first_of(text, r"^Cache size: *(.*)")),
                ("pattern", first_of(text, r"^Sequential stream pattern: *(.*)")),
            ]
        ),
    )


def _has_matrix(text: str) -> bool:
    return any(_MATRIX.match(line) for line in text.splitlines())


def _series(small: int, large: int, size: str) -> tuple[str, float]:
    """Return the name of a series and the load in it: one size has a varying load, the other size a constant one."""
    if size.lower() == "small":
        return ("small" if not large else f"small beside {large} large", float(small))
    return ("large" if not small else f"large beside {small} small", float(large))


def _merged(points: Iterable[Point]) -> tuple[Point, ...]:
    """Return one point per series, load and run: a summary contains the latency of its fastest point twice, once rounded."""
    found: dict[tuple[str, float | None, int], dict[str, float]] = {}
    on: dict[int, str] = {}
    for point in points:
        own = found.setdefault((point.series, point.load, point.run), {})
        on[point.run] = on.get(point.run) or point.on
        for name, value in point.figures.items():
            ends = {"maxUs": max, "minUs": min}.get(name)
            own[name] = ends(value, own.get(name, value)) if ends else own.get(name, value)
    return tuple(
        Point(series=series, load=load, run=run, figures=figures, on=on[run])
        for (series, load, run), figures in found.items()
    )


def _maxima(text: str, source: str) -> Iterator[Point]:
    for match in _MAXIMUM.finditer(text):
        _, size, what, text_of, unit, small, large = match.groups()
        value = printed(text_of, source) or 0.0
        series, load = _series(int(small), int(large), size)
        if what.lower() == "latency":
            # 11.1 writes milliseconds without a unit, 11.2 and later usecs.
            factor = 1.0 if (unit or "").lower().startswith("us") else 1000.0
            yield Point(series=series, load=load, figures={"latencyUs": value * factor})
        else:
            yield Point(series=series, load=load, figures={"iops" if what.upper() == "IOPS" else "mbPerS": value})
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
    """Return the figure in a matrix, by its header or else by the file's name."""
    name = alone(source).lower()
    if "iops" in head.lower() or name.endswith("iops.csv"):
        return "iops"
    if "mbps" in head.lower() or name.endswith("mbps.csv"):
        return "mbPerS"
    if "latency" in head.lower() or name.endswith("lat.csv"):
        return "latencyUs" if re.search(r"microsec|usec", head, re.IGNORECASE) else RAW
    raise UnreadableError(
        f"{source}: a matrix of ORION, but it is not clear what it measured",
        hint="its name must end as ORION gives it: _iops.csv, _mbps.csv or _lat.csv",
    )


def _matrix(text: str, source: str, odd: list[str]) -> tuple[str, tuple[Point, ...]]:
    """Return the form of a matrix and its points; cells without a figure are added to ``odd``."""
    head, body = text.split("Large/Small", 1)
    figure = _held(head, source)
    size = "large" if figure == "mbPerS" else "small"
    first, *rows = body.splitlines()
    loads = [number(cell) for cell in first.split(",")[1:]]
    points = []
    for row in rows:
        label, *cells = row.split(",")
        large = number(label)
        for small, cell in zip_longest(loads, cells):
            value = number(cell) if cell is not None else None
            if large is not None and small is not None and value is not None:
                series, load = _series(int(small), int(large), size)
                points.append(Point(series=series, load=load, figures={figure: value}))
            elif isinstance(cell, str) and cell.strip():
                odd.append(cell.strip())
    return {"iops": "IOPS matrix", "mbPerS": "MBPS matrix"}.get(figure, "latency matrix"), tuple(points)


_FILE = re.compile(r"^(.*)_(?:summary\.txt|iops\.csv|mbps\.csv|lat\.csv|hist\.(?:csv|txt))(?:\.gz)?$", re.IGNORECASE)


def settle(runs: Sequence[Run]) -> list[Run]:
    """Return one run for all its files, with the unit of latencies determined by Little's law.

    Files with ORION's own names belong together by name; with other names, the second one of a form belongs to the second run.

    Old releases write a matrix of milliseconds, later ones of microseconds, and not all show which. The latency is the number
    of outstanding I/Os divided by the rate; a unit is accepted if that agrees within a factor of three at every point. Other
    matrices stay as they are, with a note. Source: J. D. C. Little, Operations Research 9 (1961) 383.
    """
    groups: dict[tuple[str, str, int], list[Run]] = {}
    forms: list[tuple[str, str]] = []
    for run in runs:
        name, host = _FILE.match(alone(run.source)), host_of(run)
        groups.setdefault((host, name[1] if name else "", 0 if name else forms.count((host, run.form))), []).append(run)
        forms += [] if name else [(host, run.form)]
    return [_of_files(group) for group in groups.values()]


def _of_files(files: Sequence[Run]) -> Run:
    """Return the run of several files."""
    rates = {
        (point.series, point.load): point.figures["iops"]
        for run in files
        for point in run.points
        if point.figures.get("iops")
    }
    settled = [_settled(run, rates) for run in files]
    if len(settled) == 1:
        return settled[0]
    return replace(
        settled[0],
        form=", ".join(dict.fromkeys(run.form for run in settled)),
        points=_merged(point for run in settled for point in run.points),
        distributions=tuple(one for run in settled for one in run.distributions),
        same=joined([run.same for run in settled]),
        told=joined([run.told for run in settled]),
        notes=tuple(dict.fromkeys(note for run in settled for note in run.notes)),
    )


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
                replace(
                    point,
                    figures={
                        "latencyUs" if name == RAW else name: value * factor if name == RAW else value
                        for name, value in point.figures.items()
                    },
                )
                for point in run.points
            )
            return replace(
                run, points=points, notes=(*run.notes, f"latencies are {unit}, by the IOPS at the same loads")
            )
    why = "the file does not tell the unit of its latencies; import it together with its _iops.csv"
    return replace(run, notes=(*run.notes, why))
