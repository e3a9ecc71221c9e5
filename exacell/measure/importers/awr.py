"""Import the load profile, the waits for storage and the Exadata sections of an AWR report: text, HTML, or text made from HTML.

Labels of 11.2 and of 12c and later get the same name. Source: reference measurement.md 8; of the Exadata sections, which only
HTML reports have: Oracle Exadata System Software User's Guide, Automatic Workload Repository.
"""

from __future__ import annotations

import re
from calendar import timegm
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from exacell.core.values import dataclass
from exacell.measure.importers.awrtables import TITLES, Table, tables
from exacell.measure.importers.model import Point, Run, UnreadableError, first_of, number, told
from exacell.measure.importers.parts import in_one

KIND = "awr"

_PROFILE = re.compile(
    r"^[ #*]*Load Profile\b(?:(?!\n *\n *\n)[\s\S]){0,200}?\bPer Second\b", re.IGNORECASE | re.MULTILINE
)
_REPORT = re.compile(
    r"WORKLOAD REPOSITORY (?:PDB )?(?:REPORT|COMPARE)|AWR (?:RAC|Compare Period) Report", re.IGNORECASE
)
_OTHERS = {
    r"WORKLOAD REPOSITORY REPORT \(RAC\)|AWR RAC Report": (
        "a report over all instances of a cluster (awrgrpt.sql)",
        "make one for each instance with awrrpt.sql, and import each",
    ),
    r"WORKLOAD REPOSITORY COMPARE PERIOD|AWR Compare Period": (
        "a report that compares two periods (awrddrpt.sql)",
        "make a report of each period with awrrpt.sql, and compare the two",
    ),
}
"""Pattern of a report of AWR that is not read → what it is, and which one to use instead."""

_SINGLE = "cell single block physical read"
_EVENTS = (
    *(_SINGLE + source for source in ("", ": RDMA", ": flash cache", ": pmem cache", ": xrmem cache")),
    *("cell multiblock physical read", "cell list of blocks physical read"),
    *("cell smart table scan", "cell smart index scan", "cell smart file creation", "cell smart incremental backup"),
    *(
        "cell smart restore from backup",
        "cell statistics gather",
        "cell manager opening cell",
        "cell external table smart scan",
    ),
    *("db file sequential read", "db file scattered read", "db file parallel read", "db file parallel write"),
    *(
        "db file single write",
        "db file async I/O submit",
        "direct path read",
        "direct path read temp",
        "direct path write",
    ),
    *(
        "direct path write temp",
        "direct path sync",
        "log file sync",
        "log file parallel write",
        "log file sequential read",
    ),
    *("log file single write", "log file switch completion", "log file switch (checkpoint incomplete)"),
    *("log file switch (archiving needed)", "log file switch (private strand flush incomplete)", "log file init write"),
    *(
        "control file sequential read",
        "control file parallel write",
        "control file single write",
        "control file heartbeat",
    ),
    *("flashback log file sync", "flashback log file write", "read by other session", "local write wait"),
    *("Data file init write", "Disk file operations I/O", "ASM IO for non-blocking poll"),
)
"""Full names of storage events, since text reports cut them. Source: Oracle Database Reference, wait events; SAGUG."""

_STORAGE = re.compile(r"(?:cell|db file|direct path|log file|control file|flashback log) ", re.IGNORECASE)
_CLASSES = ("user i/o", "system i/o", "commit")
_CUT = 25
"""Length from which a name may have been cut: text reports cut it to 26, 28 or 30 characters."""

_EXADATA = re.compile(r"flash (?:cache|log)|outlier|smart flash|cell server|pmem|xrmem", re.IGNORECASE)
_MUCH = 5.0
"""Percent of the DB time from which an unread event is mentioned."""

_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:E[-+]?\d+)?", re.IGNORECASE)


def claims(text: str) -> bool:
    """Return whether a text is an AWR report."""
    return (
        _PROFILE.search(text) is not None or _REPORT.search(text) is not None or "displays load profile" in text.lower()
    )


def read(text: str, source: str) -> Run:
    """Return one point per line of the load profile, one per storage event, and one per row of an Exadata section.

    Several reports in one file are several runs; reports of other instances over the same time are parts of a run.

    Raises:
        UnreadableError: it is another kind of AWR report, the load profile is empty, or the form of a number is not clear.
    """
    for sign, (what, instead) in _OTHERS.items():
        if re.search(sign, text, re.IGNORECASE):
            raise UnreadableError(f"{source} is {what}, which exacell can't read", hint=instead)
    return in_one([_report(part, source) for part in _reports(text)])


_BEGIN = re.compile(r"^.*WORKLOAD REPOSITORY (?:PDB )?report\b", re.IGNORECASE | re.MULTILINE)


def _reports(text: str) -> list[str]:
    """Return the reports in a file; a part without its own load profile belongs to the report before it."""
    starts = [match.start() for match in _BEGIN.finditer(text)][1:]
    found: list[str] = []
    for begin, end in pairwise([0, *starts, len(text)]):
        part = text[begin:end]
        if found and not (_PROFILE.search(part) or "displays load profile" in part.lower()):
            found[-1] += part
        else:
            found.append(part)
    return found


_SNAP = re.compile(r"^\s*(Begin|End) Snap: *\d+ +(\d\d?)-([A-Za-z]{3})-(\d\d) (\d\d):(\d\d):(\d\d)", re.MULTILINE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def _span(plain: str) -> tuple[float, ...]:
    """Return begin and end of a report, in seconds since 1970 as if its clock were UTC; empty if they are not known."""
    found: dict[str, float] = {}
    for which, day, month, year, *clock in _SNAP.findall(plain):
        if month.lower() not in _MONTHS:
            return ()
        at = (2000 + int(year), _MONTHS.index(month.lower()) + 1, int(day), *map(int, clock))
        found.setdefault(which.lower(), float(timegm((*at, 0, 0, 0))))
    return (found["begin"], found["end"]) if len(found) == 2 else ()


def _instance(found: Sequence[Table]) -> str:
    """Return the instance of a report; empty if it names none."""
    rows = (
        dict(zip(table.columns, row, strict=True))
        for table in found
        for row in table.rows
        if "Instance" in table.columns
    )
    return next((row["Instance"] for row in rows if re.fullmatch(r"[A-Za-z][\w$#]*", row["Instance"])), "")


def _report(text: str, source: str) -> Run:
    form, found = tables(text)
    plain = "\n".join(" ".join(row) for table in found for row in table.rows) if form != "text" else text
    profile = list(_profile(text, found, form, source))
    if not profile:
        raise UnreadableError(f"{source}: its load profile is empty")
    events = _Events(source, int(first_of(plain, r"\b(\d+)\.\d+\.\d+\.\d+\.\d+\b") or 0))
    for table in found:
        events.take(table)
    exadata = [point for table in found if _is_exadata(table) for point in _exadata(table, source)]
    notes = list(events.notes())
    if re.search(r"^ *Event\b.*\bWaits\b", text, re.MULTILINE) and not events.tables:
        notes.append("its waits are not read: the columns of their tables are not clear; the HTML report has them")
    span, instance = _span(plain), _instance(found)
    return Run(
        kind=KIND,
        form=form,
        source=source,
        points=_timed((*profile, *events.points(), *exadata), plain),
        notes=tuple(notes),
        # Without its time, it is not known whether the report of another instance is a part of the same run.
        host=instance if span else "",
        span=span,
        told=told(
            [
                ("instance", instance),
                ("release", first_of(plain, r"\b(\d+\.\d+\.\d+\.\d+\.\d+)\b")),
                ("elapsed", first_of(plain, r"^\s*Elapsed: *([\d.,]+ *\(mins\))")),
                ("DB time", first_of(plain, r"^\s*DB Time: *([\d.,]+ *\(mins\))")),
                ("snapshots", " to ".join(re.findall(r"^\s*(?:Begin|End) Snap: *(\d+)", plain, re.MULTILINE))),
            ]
        ),
    )


def _timed(points: Sequence[Point], plain: str) -> tuple[Point, ...]:
    """Return the points with their weights: rates by the report's time, rates per transaction by the number of transactions."""
    minutes = number(first_of(plain, r"^\s*Elapsed: *([\d.,]+) *\(mins\)"))
    if not minutes:
        return tuple(points)
    return tuple(replace(point, seconds=60 * minutes, weights=_transactions(point, 60 * minutes)) for point in points)


def _transactions(point: Point, seconds: float) -> dict[str, float]:
    each = point.figures.get("perTransaction")
    second = point.figures.get("perSecond")
    return {"perTransaction": second * seconds / each} if each and second is not None else {}


# -- the load profile --------------------------------------------------------------------------------------------------


def _profile(text: str, found: Sequence[Table], form: str, source: str) -> Iterator[Point]:
    if form == "text":
        rows: Iterator[Sequence[str]] = _profile_lines(text)
    else:
        rows = (
            row
            for table in found
            if any(column.lower().startswith("per second") for column in table.columns)
            and not any("read+write" in column.lower() for column in table.columns)
            for row in table.rows
        )
    for label, *cells in rows:
        if not label.rstrip().endswith(":"):
            continue
        name = re.sub(r"\s*\((?:bytes|blocks?|SQL|s|MB)\)", "", label.strip().rstrip(":")).lower()
        name = re.sub(r"^(logical read|physical read|physical write)s$", r"\1", name)
        values = zip(("perSecond", "perTransaction"), cells, strict=False)
        figures = {key: printed.value for key, cell in values if (printed := _printed(cell, source)) is not None}
        if figures:
            yield Point(series=name, figures=figures)


def _profile_lines(text: str) -> Iterator[Sequence[str]]:
    match = _PROFILE.search(text)
    begun = False
    for line in text[match.end() :].splitlines()[1:] if match is not None else ():
        label, colon, rest = line.partition(":")
        if colon and label.strip() and not set(label) <= set(" ~-"):
            begun = True
            yield label.strip() + ":", *(one for cell in re.split(r"\s{2,}", rest.strip()) for one in _apart(cell))
        elif begun or not set(line) <= set(" ~-"):
            return


def _apart(cell: str) -> list[str]:
    """Return the numbers that single blanks separate; one number if a blank may separate thousands, as in 15 000."""
    words = cell.split(" ")
    thousands = any(re.fullmatch(r"\d{1,3}", a) and re.match(r"\d{3}(?!\d)", b) for a, b in pairwise(words))
    return [cell] if thousands else words


# -- waits -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Printed:
    """A number as a report prints it.

    Attributes:
        half: half of its last digit, which is the largest rounding error.
        us: the microseconds of its unit; those of a millisecond if no unit is printed.
    """

    value: float
    half: float
    us: float


def _printed(cell: str, source: str) -> _Printed | None:
    """Return the number in a cell; None if it is empty, a word, or too wide to be printed (####).

    Raises:
        UnreadableError: its form is not clear, such as 1.234,5.
    """
    text = cell.strip()
    if not re.match(r"[-+.]*\d", text):
        return None
    match = re.fullmatch(rf"({_NUMBER.pattern})\s*(ns|us|ms|s|[KMGT])?\s*%?", text, re.IGNORECASE)
    if match is None:
        raise UnreadableError(
            f"{source}: it is not clear which number '{text[:30]}' is",
            hint="exacell reads numbers such as 1,234.5 and 31.4K: make the report with NLS_NUMERIC_CHARACTERS='.,'",
        )
    suffix = (match[2] or "").lower()
    times = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}.get(suffix, 1.0)
    digits, _, power = match[1].lower().partition("e")
    half = 0.5 * 10 ** (int(power or 0) - len(digits.partition(".")[2]))
    us = {"ns": 0.001, "us": 1.0, "s": 1e6}.get(suffix, 1000.0)
    return _Printed(float(match[1].replace(",", "")) * times, half * times, us)


def _agree(waits: _Printed, total: _Printed, average: _Printed) -> bool:
    """Return whether waits times the average is the total, within the rounding of their last digits."""
    low, high = ((average.value + sign * average.half) * average.us / 1e6 for sign in (-1, 1))
    return (waits.value - waits.half) * low <= total.value + total.half and (
        (waits.value + waits.half) * high >= total.value - total.half
    )


class _Events:
    """The storage events in the tables of a report."""

    def __init__(self, source: str, release: int) -> None:
        self._source, self._release = source, release
        self._found: dict[int, dict[str, Point]] = {}
        self._unread: dict[str, str] = {}
        self._notes: dict[str, None] = {}
        self.tables = 0

    def take(self, table: Table) -> None:
        """Take the rows of a table of events; other tables, such as histograms, are ignored."""
        heads = [column.lower() for column in table.columns]
        if heads[0] != "event" or any("<" in head or ">" in head for head in heads):
            return
        at = next((place for place, head in enumerate(heads) if re.search(r"\bwaits$", head)), 0)
        timed = any(re.search(r"time|avg|wait", head) for head in heads[at + 1 :])
        if not at or not timed:
            return
        self.tables += 1
        rank = 0 if "foreground wait event" in table.title.lower() else 1 if "background" in table.title.lower() else 2
        own = self._found.setdefault(rank, {})
        seen: set[str] = set()
        for row in table.rows:
            name, several = self._whole(row[0])
            share = self._share(heads, row)
            if not _is_storage(name, row, heads):
                if share >= _MUCH and name.upper() not in ("DB CPU", "CPU TIME"):
                    self._unread.setdefault(name, f"{share:g} %")
                continue
            point = self._point(name, heads, at, row)
            if point is None:
                continue
            if name in seen and several:
                point = _added(own[name], point)
                self._notes[f"{name}: several lines whose names were cut alike, put together"] = None
            elif name in seen:
                continue
            seen.add(name)
            own[name] = point

    def points(self) -> Iterator[Point]:
        """Yield each event once: first foreground events, then background events (marked if the foreground has them, too),
        then events that only the top list has.
        """
        front, back, top = (self._found.get(rank, {}) for rank in range(3))
        yield from front.values()
        for name, point in back.items():
            yield replace(point, series=f"{name} (background)") if name in front else point
        for name, point in top.items():
            if name not in front and name not in back:
                yield point

    def notes(self) -> Iterator[str]:
        """Yield notes on events: values that could not be read, and unread events that take much time."""
        yield from self._notes
        if self._unread:
            said = ", ".join(f"{name} ({share})" for name, share in self._unread.items())
            yield f"not read, with {_MUCH:g} % of the DB time or more: {said}"

    def _whole(self, name: str) -> tuple[str, bool]:
        """Return an event's full name, and whether it was cut so that it may mean several events."""
        plain = re.sub(r"\s+@\w+$", "", name.strip())
        lower = plain.lower()
        known = {event.lower(): event for event in _EVENTS}
        if lower in known or len(plain) < _CUT:
            return known.get(lower, plain), False
        fitting = [event for low, event in known.items() if low.startswith(lower)]
        if self._release and self._release < _SOURCES_SINCE:
            fitting = [event for event in fitting if ":" not in event] or fitting
        if len(fitting) == 1:
            return fitting[0], False
        if not fitting:
            return plain, False
        self._notes[f"{plain}…: the report cut its name, so it may be {' or '.join(fitting)}"] = None
        return f"{plain}…", True

    def _share(self, heads: Sequence[str], row: Sequence[str]) -> float:
        place = next((place for place, head in enumerate(heads) if re.search(r"% *(db|total)|%.*call", head)), 0)
        found = _printed(row[place], self._source) if place else None
        return found.value if found is not None else 0.0

    def _point(self, name: str, heads: Sequence[str], at: int, row: Sequence[str]) -> Point | None:
        """Return an event's waits, total and average; None if it has no waits.

        Since layouts differ, columns are identified by arithmetic if possible: waits times the average is the total. The
        average with more digits is used: 11.2 prints whole milliseconds.
        """
        cells = [
            None if place < at else self._cell(cell, head)
            for place, (cell, head) in enumerate(zip(row, heads, strict=True))
        ]
        waits = cells[at]
        if waits is None or not waits.value:
            if "#" in row[at]:
                self._notes[f"{name}: its waits were too wide to be printed ({row[at]}), so it is not read"] = None
            elif waits is None and row[at]:
                self._notes[f"{name}: its waits can't be read ({row[at]}), so it is not read"] = None
            return None
        places = [place for place in range(at + 1, len(cells)) if not _RATIO.search(heads[place])]
        pairs = [
            (total, average)
            for first in places
            for second in places
            if second > first and (total := cells[first]) is not None and (average := cells[second]) is not None
            if total.value and average.value and _agree(waits, total, average)
        ]
        total, average = pairs[0] if pairs else (_column(cells, heads, _TOTAL), _column(cells, heads, _AVERAGE))
        if not pairs and total is not None and average is not None and not _agree(waits, total, average):
            self._notes[f"{name}: waits times the average is not the total, so it is not read"] = None
            return None
        if total is None and average is None:
            self._notes[f"{name}: neither its total nor its average was printed, so it is not read"] = None
            return None
        if total is None or (
            average is not None and average.value and total.half * average.value > average.half * total.value
        ):
            assert average is not None
            each = average.value * average.us
            seconds = waits.value * each / 1e6
        else:
            seconds = total.value
            each = seconds / waits.value * 1e6
        figures = {"waits": waits.value, **({"totalS": seconds, "averageUs": each} if each else {})}
        return Point(series=name, figures=figures)

    def _cell(self, cell: str, head: str) -> _Printed | None:
        return None if "class" in head else _printed(cell, self._source)


_SOURCES_SINCE = 19
"""First release in which single block reads are distinguished by their source."""

_RATIO = re.compile(r"%|/ *t(?:xn|rans)|outs\b")
"""Columns that are neither a total nor an average; they must not replace one that was too wide to be printed."""

_TOTAL, _AVERAGE = re.compile(r"time *\(s|total.*time"), re.compile(r"avg|\(ms\)")


def _column(cells: Sequence[_Printed | None], heads: Sequence[str], sign: re.Pattern[str]) -> _Printed | None:
    return next((cell for cell, head in zip(cells, heads, strict=True) if sign.search(head)), None)


def _is_storage(name: str, row: Sequence[str], heads: Sequence[str]) -> bool:
    of_class = next((cell.lower() for cell, head in zip(row, heads, strict=True) if "class" in head), "")
    return bool(_STORAGE.match(name)) or name.rstrip("…") in _EVENTS or of_class in _CLASSES


def _added(one: Point, other: Point) -> Point:
    waits = one.figures["waits"] + other.figures["waits"]
    seconds = one.figures.get("totalS", 0.0) + other.figures.get("totalS", 0.0)
    return replace(one, figures={"waits": waits, "totalS": seconds, "averageUs": seconds / waits * 1e6})


# -- Exadata -----------------------------------------------------------------------------------------------------------


def _is_exadata(table: Table) -> bool:
    return bool(_EXADATA.search(table.title)) and len(table.columns) > 1 and "histogram" not in table.title.lower()


def _exadata(table: Table, source: str) -> Iterator[Point]:
    """Yield a point per row of a section: its figures are the columns with a number, named by the words in their headers."""
    title = next(part for part in table.title.split(TITLES) if _EXADATA.search(part))
    for row in table.rows:
        words = [cell for cell in row if cell.strip("#") and not _is_number(cell)]
        figures: dict[str, float] = {}
        for head, cell in zip(table.columns, row, strict=True):
            if head and _is_number(cell) and (printed := _printed(cell, source)) is not None:
                figures[head] = printed.value
        if figures and words:
            yield Point(series=f"{title}: {' '.join(words)}", figures=figures)


def _is_number(cell: str) -> bool:
    return bool(re.match(r"[-+]?[\d.,]*\d", cell)) and not re.search(r"[A-Za-z]{3}|:|/", cell)
