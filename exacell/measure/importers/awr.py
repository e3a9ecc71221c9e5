"""The load profile and the waits of an AWR report, text or HTML.

Labels of 11.2 and of 12c on are put under one name. Source: reference measurement.md 8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html.parser import HTMLParser

from exacell.core.values import dataclass
from exacell.measure.importers.model import Point, Run, UnreadableError, first_of, number, told

KIND = "awr"

_PROFILE = re.compile(r"^\s*Load Profile\b.*Per Second", re.IGNORECASE | re.MULTILINE)
_EVENTS = ("log file sync", "log file parallel write", "db file sequential read", "db file parallel read",
           "direct path read", "cell single block physical read", "cell multiblock physical read", "cell smart table scan",
           "log file switch completion")  # fmt: skip
"""Events of storage, which are read where they stand with waits and an average."""


def claims(text: str) -> bool:
    """Whether it is an AWR report."""
    return _PROFILE.search(text) is not None or "displays load profile" in text.lower()


def read(text: str, source: str) -> Run:
    """Return one point per line of the load profile, and one per event of storage.

    Raises:
        UnreadableError: the load profile has no line.
    """
    html = "<table" in text.lower()
    tables = _tables(text) if html else []
    rows = (
        [row for title, table in tables if "load profile" in title for row in table] if html else list(_profile(text))
    )
    points = [point for row in rows for point in _line(row)]
    if not points:
        raise UnreadableError(f"{source}: its load profile has no line")
    events = (row for title, table in tables if "event" in title for row in table) if html else _event_rows(text)
    seen: dict[str, Point] = {}
    for row in events:
        for point in _event(row):
            seen.setdefault(point.series, point)
    plain = "\n".join(" ".join(row) for _, table in tables for row in table) if html else text
    return Run(
        kind=KIND,
        form="HTML" if html else "text",
        source=source,
        points=_timed((*points, *seen.values()), plain),
        told=told(
            [
                ("release", first_of(plain, r"\b(\d+\.\d+\.\d+\.\d+\.\d+)\b")),
                ("elapsed", first_of(plain, r"^\s*Elapsed: *([\d.,]+ *\(mins\))")),
                ("DB time", first_of(plain, r"^\s*DB Time: *([\d.,]+ *\(mins\))")),
                ("snapshots", " to ".join(re.findall(r"^\s*(?:Begin|End) Snap: *(\d+)", plain, re.MULTILINE))),
            ]
        ),
    )


def _timed(points: Sequence[Point], plain: str) -> tuple[Point, ...]:
    """Return the points with what weighs them: rates by the report's time, those of a transaction by the transactions in it."""
    minutes = number(first_of(plain, r"^\s*Elapsed: *([\d.,]+) *\(mins\)"))
    if not minutes:
        return tuple(points)
    return tuple(replace(point, seconds=60 * minutes, weights=_transactions(point, 60 * minutes)) for point in points)


def _transactions(point: Point, seconds: float) -> dict[str, float]:
    each = point.figures.get("perTransaction")
    return {"perTransaction": point.figures["perSecond"] * seconds / each} if each else {}


def _profile(text: str) -> Iterator[list[str]]:
    match = _PROFILE.search(text)
    assert match is not None
    for line in text[match.end() :].splitlines()[1:]:
        if re.match(r"\s*[~-]", line):
            continue
        label, colon, rest = line.partition(":")
        if not colon or not label.strip():
            if line.strip():
                return
            continue
        yield [label.strip() + ":", *rest.split()]


def _line(row: Sequence[str]) -> Iterator[Point]:
    if not row or not row[0].rstrip().endswith(":"):
        return
    name = re.sub(r"\s*\((?:bytes|blocks?|SQL|s|MB)\)", "", row[0].strip().rstrip(":"))
    name = {
        "logical reads": "logical read",
        "physical reads": "physical read",
        "physical writes": "physical write",
    }.get(name.lower(), name.lower())
    numbers = [value for value in map(number, row[1:]) if value is not None]
    if numbers:
        figures = dict(zip(("perSecond", "perTransaction"), numbers, strict=False))
        yield Point(series=name, figures=figures)


def _event_rows(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        name, _, rest = line.strip().partition("  ")
        event = _event_named(name)
        if event:
            yield [event, *rest.split()]


def _event_named(name: str) -> str:
    """Return the event of storage that a name is, which text reports cut to 28 or 30 characters; empty where it is none."""
    name = name.strip().lower()
    return next((event for event in _EVENTS if event == name or (len(name) >= 28 and event.startswith(name))), "")


def _event(row: Sequence[str]) -> Iterator[Point]:
    """Yield an event's waits, total and average.

    Which column is which is settled by arithmetic, since layouts differ: waits times the average is the total. The average is
    computed anew: 11.2 prints whole milliseconds.
    """
    event = _event_named(row[0]) if row else ""
    if not event:
        return
    cells = [cell for cell in map(_printed, row[1:]) if cell is not None]
    for place, total in enumerate(cells[1:], 1):
        for average in cells[place + 1 :]:
            if cells[0].value and total.value and _agree(cells[0], total, average):
                waits = cells[0].value
                figures = {"waits": waits, "totalS": total.value, "averageUs": total.value / waits * 1e6}
                yield Point(series=event, figures=figures)
                return


@dataclass(frozen=True)
class _Printed:
    """A number as a report prints it.

    Attributes:
        half: half of its last digit: what rounding may have taken.
        us: the microseconds of its unit, those of milliseconds where it has none.
    """

    value: float
    half: float
    us: float


def _agree(waits: _Printed, total: _Printed, average: _Printed) -> bool:
    """Whether waits times the average is the total, as far as their last digits tell."""
    low, high = ((average.value + sign * average.half) * average.us / 1e6 for sign in (-1, 1))
    return (waits.value - waits.half) * low <= total.value + total.half and (
        (waits.value + waits.half) * high >= total.value - total.half
    )


def _printed(cell: str) -> _Printed | None:
    """Return the number in a cell; None where there is none."""
    match = re.fullmatch(r"([\d.,]+(?:E[-+]?\d+)?)(ns|us|ms|s|[KMG])?", cell.strip(), re.IGNORECASE)
    value = number(match[1]) if match is not None else None
    if match is None or value is None:
        return None
    suffix = (match[2] or "").lower()
    times = {"k": 1e3, "m": 1e6, "g": 1e9}.get(suffix, 1.0)
    half = 0.5 * 10 ** -len(match[1].partition(".")[2])
    us = {"ns": 0.001, "us": 1.0, "s": 1e6}.get(suffix, 1000.0)
    return _Printed(value * times, half * times, us)


class _Tables(HTMLParser):
    """The tables of a page, each with its summary."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[list[str]]]] = []
        self._cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.found.append(((dict(attrs).get("summary") or "").lower(), []))
        elif tag == "tr" and self.found:
            self.found[-1][1].append([])
        elif tag in ("td", "th") and self.found and self.found[-1][1]:
            self.found[-1][1][-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        if self._cell:
            self.found[-1][1][-1][-1] += data


def _tables(text: str) -> list[tuple[str, list[list[str]]]]:
    parser = _Tables()
    parser.feed(text)
    return [
        (title, [[cell.replace("\xa0", " ").strip() for cell in row] for row in rows]) for title, rows in parser.found
    ]
