"""Import CellCLI's CALIBRATE and the database's CALIBRATE_IO. Source: reference measurement.md 5 and 6."""

from __future__ import annotations

import re
from collections.abc import Iterator

from exacell.measure.importers.model import Point, Run, UnreadableError, lines_of, printed, set_apart_cold

CELL_KIND, DATABASE_KIND = "calibrate", "calibrate_io"

_RATE = re.compile(
    r"Aggregate random read (throughput|IOs per second \(IOPS\)) across all (.*?) luns?: *([\d.,]+)", re.IGNORECASE
)
_LUN = re.compile(
    r"LUN (\S+) +on drive \[ *(\S+?) *\] random read throughput: *([\d.,]+) MBPS, and *([\d.,]+) IOPS", re.IGNORECASE
)
_CONTROLLER = re.compile(r"Controller read throughput: *([\d.,]+) MBPS", re.IGNORECASE)
_CELL = re.compile(r"^([a-z][\w.-]*): ")


def claims_cell(text: str) -> bool:
    """Return whether a text is the output of CALIBRATE on a cell."""
    return _RATE.search(text) is not None or _LUN.search(text) is not None


def read_cell(text: str, source: str) -> Run:
    """Return one point per kind of disk and per LUN; with dcli's names in front, also per cell.

    If a value occurs twice, it was measured twice.
    """
    points = [point for line in text.splitlines() for point in _cell_line(line, source)]
    if not points:
        raise UnreadableError(f"{source}: it has no throughput; CALIBRATE may have been refused")
    passes: dict[str, list[dict[str, float]]] = {}
    for point in points:
        own = passes.setdefault(point.series, [{}])
        if own[-1].keys() & point.figures.keys():
            own.append({})
        own[-1] |= point.figures
    bad = [line for line in lines_of(text) if re.search(r"(not|outside|below).*acceptable", line, re.IGNORECASE)]
    return Run(
        kind=CELL_KIND,
        form="CellCLI",
        source=source,
        points=tuple(Point(series=series, figures=figures) for series, own in passes.items() for figures in own),
        notes=tuple(bad),
    )


def _cell_line(line: str, source: str) -> Iterator[Point]:
    cell = _CELL.match(line)
    before = f"{cell[1]} " if cell else ""
    for match in _RATE.finditer(line):
        figure = "mbPerS" if match[1].lower() == "throughput" else "iops"
        yield Point(series=f"{before}all {match[2].lower()}s", figures=_figures(source, **{figure: match[3]}))
    for match in _LUN.finditer(line):
        series = f"{before}LUN {match[1]} on {match[2]}"
        yield Point(series=series, figures=_figures(source, mbPerS=match[3], iops=match[4]))
    for match in _CONTROLLER.finditer(line):
        yield Point(series=f"{before}controller", figures=_figures(source, mbPerS=match[1]))


def _figures(source: str, **texts: str) -> dict[str, float]:
    return {name: value for name, text in texts.items() if (value := printed(text, source)) is not None}


_PRINTED = re.compile(r"\b(max_iops|max_mbps|max_pmbps|(?:actual_)?latency)\s*[=:]\s*([\d.,]+)", re.IGNORECASE)
_NAMES = {
    "max_iops": ("iops", 1.0),
    "max_mbps": ("mbPerS", 1.0),
    "max_pmbps": ("oneProcessMbPerS", 1.0),
    "latency": ("latencyUs", 1000.0),
    "actual_latency": ("latencyUs", 1000.0),
}


def claims_database(text: str) -> bool:
    """Return whether a text is the output of CALIBRATE_IO or a query of dba_rsrc_io_calibrate."""
    return re.search(r"\bmax_iops\b", text, re.IGNORECASE) is not None


def read_database(text: str, source: str) -> Run:
    """Return one point per pass, in the order of the text; a cold first pass is set apart.

    Raises:
        UnreadableError: no pass has a number.
    """
    passes: list[dict[str, float]] = []
    for match in _PRINTED.finditer(text):
        name, factor = _NAMES[match[1].lower()]
        value = printed(match[2].rstrip(".,"), source)
        if value is None:
            continue
        if not passes or name in passes[-1]:
            passes.append({})
        passes[-1][name] = value * factor
    form = "printed"
    if not passes:
        passes, form = list(_queried(text, source)), "dba_rsrc_io_calibrate"
    if not passes:
        raise UnreadableError(f"{source}: it has no pass of CALIBRATE_IO")
    points = [Point(series="data files", at=f"pass {at}", figures=figures) for at, figures in enumerate(passes, 1)]
    return Run(kind=DATABASE_KIND, form=form, source=source, points=set_apart_cold(points, "iops"))


def _queried(text: str, source: str) -> Iterator[dict[str, float]]:
    """Yield the rows of a query by its column headers; times come before the first figure, and may contain blanks."""
    columns: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if any(word.lower() == "max_iops" for word in words):
            heads = [word.lower() for word in words]
            columns = heads[min(heads.index(name) for name in _NAMES if name in heads) :]
            continue
        row = dict(zip(columns, words[-len(columns) :], strict=False)) if columns and len(words) >= len(columns) else {}
        figures = {name: printed(word, source) for name, word in row.items() if name in _NAMES}
        if figures and None not in figures.values():
            yield {_NAMES[name][0]: value * _NAMES[name][1] for name, value in figures.items() if value is not None}
