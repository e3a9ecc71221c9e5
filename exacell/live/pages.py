"""Build the pages of ``top`` below the rack: a cell, and a disk, a database or an alert on it. Pure: answers in, rows out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from exacell.care.alerts import ALERTS, Alert, alerts_of, short_message
from exacell.cellcli.codes import metric_meaning
from exacell.core.units import counted, human_size
from exacell.core.values import dataclass
from exacell.live.listing import MARGIN, Listing, Place, Row
from exacell.live.silence import Silence
from exacell.output.style import hung, printable
from exacell.output.tables import number_text, padded_column, value_text
from exacell.session.answers import Answer

Record = Mapping[str, Any]
Tables = Mapping[str, Sequence[Record]]
"""A cell's answers, by statement; a statement without an answer has no table."""

_DISKS = "list physicaldisk attributes name, diskType, status, physicalSize, physicalSerial"
_LUNS = "list lun attributes name, cellDisk, physicalDrives"
_GRID_DISKS = "list griddisk attributes name, cellDisk, size, status, asmModeStatus"
_RATES = ("DB_IO_RQ_SM_SEC", "DB_IO_RQ_LG_SEC")
_FLASH_RATES = ("DB_FC_IO_RQ_SEC",)
_CACHED = "DB_FC_BY_ALLOCATED"
_METRICS = (
    "list metriccurrent attributes name, metricObjectName, metricValue "
    f"where name like '{'|'.join((*_RATES, *_FLASH_RATES, _CACHED, 'CD_IO_UTIL'))}'"
)

_ABOUT = 60
"""How many characters of an alert's message its row shows."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The content of a page: lines above its rows (place and titles), all its rows, and lines below, such as a sum."""

    above: Sequence[str]
    rows: Sequence[Row]
    below: Sequence[str] = ()


class Page(Protocol):
    """One screen of ``top``.

    Attributes:
        place: the place that it shows; None for the rack.
        listing: its rows.
        silence: knows which cells do not answer.
    """

    place: Place | None
    listing: Listing
    silence: Silence

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the cells to ask."""

    @property
    def statements(self) -> tuple[str, ...]:
        """Return the LIST statements to ask them, in one round trip."""

    def arrived(self, answers: Sequence[Answer]) -> object:
        """Add the next answers."""

    def press(self, key: str) -> bool:
        """Carry out the action of a key other than moving; return whether it has one."""

    def shown(self, width: int, height: int) -> Shown:
        """Return the page for a screen of this size."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How one kind of place is read and shown.

    Attributes:
        lists: gets the name of a place, returns the statements to ask its cell.
        plain: the same for a cell that answers those with an error, such as one whose CELLSRV is stopped.
        rows: gets the place, the answers and the width, returns the rows.
        titled: whether the first row holds the titles.
    """

    lists: Callable[[str], tuple[str, ...]]
    plain: Callable[[str], tuple[str, ...]]
    rows: Callable[[Place, Tables, int], list[Row]]
    titled: bool = False


class Detail:
    """A page below the rack."""

    def __init__(self, place: Place, silence: Silence) -> None:
        self.place: Place | None = place
        self.listing = Listing()
        self.silence = silence
        self._at, self._kind = place, KINDS[place.kind]
        self._lists = self._kind.lists
        self._tables: Tables | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the place's cell."""
        return (self._at.cell,)

    @property
    def statements(self) -> tuple[str, ...]:
        """Return the statements of its kind; fewer for a cell that has answered them with an error."""
        return self._lists(self._at.name)

    def arrived(self, answers: Sequence[Answer]) -> None:
        """Add the next answers."""
        for answer in answers:
            self.silence.arrived(answer)
            if not answer.problem:
                # The full list may have been asked before it was known that the cell needs the plain one.
                asked = next(lists for lists in (self._kind.lists, self._kind.plain) if self._fits(lists, answer))
                self._tables = dict(zip(asked(self._at.name), answer.tables, strict=True))
            elif answer.reply.stdout.strip():
                self._lists = self._kind.plain

    def _fits(self, lists: Callable[[str], tuple[str, ...]], answer: Answer) -> bool:
        return len(lists(self._at.name)) == len(answer.tables)

    def press(self, key: str) -> bool:
        """Return False: the page has no keys."""
        return False

    def shown(self, width: int, height: int) -> Shown:
        """Return a line with the place and whether the cell is silent, then the rows of the last answer."""
        at = self._at
        head = " > ".join(part for part in (at.cell, f"{at.kind} {at.name}" if at.name else "") if part)
        silent = self.silence.told().get(at.cell)
        if silent:
            head += f"  {silent}"
        elif self._tables is None:
            head += "  reading"
        elif at.kind == "cell":
            head += f"  {_counts(self._tables)}"
        rows = [] if self._tables is None else self._kind.rows(at, self._tables, width)
        titles = [rows.pop(0).text] if self._kind.titled and rows else []
        return Shown(above=(head, *(MARGIN + title for title in titles)), rows=rows)


def _counts(tables: Tables) -> str:
    disks = [disk for disk in tables.get(_DISKS, ()) if not _well(disk)]
    found = [alert for alert in alerts_of(tables.get(ALERTS, ())) if alert.open]
    well = counted(len(tables.get(_DISKS, ())), "disk") + (f", {len(disks)} not normal" if disks else "")
    return f"{well}, {counted(len(found), 'open alert') if found else 'no open alert'}"


def _well(disk: Record) -> bool:
    return str(disk.get("status", "")).lower() == "normal"


def _aligned(rows: Sequence[tuple[Row, tuple[str, ...]]], titles: tuple[str, ...] = ()) -> list[Row]:
    """Return rows made from columns of text, after a row with the titles if there are any."""
    if not rows:
        return []
    texts = [columns for _, columns in rows]
    padded = [
        padded_column(title, column, to_right=False)[0]
        for title, column in zip(titles or ("",) * len(texts[0]), zip(*texts, strict=True), strict=True)
    ]
    lines = ["  ".join(parts).rstrip() for parts in zip(*padded, strict=True)]
    head = [Row(key="titles", text=lines[0])] if titles else []
    return head + [
        Row(key=row.key, text=printable(line), meaning=row.meaning, place=row.place)
        for (row, _), line in zip(rows, lines[1:], strict=True)
    ]


_TITLES = ("what", "name", "state", "more")


def _alert_row(cell: str, alert: Alert) -> tuple[Row, tuple[str, ...]]:
    seen = f", seen by {alert.examined_by}" if alert.examined_by else ""
    meaning = "error" if alert.critical and not seen else "warning" if alert.open and not seen else "dim"
    row = Row(
        key=f"alert {alert.name}", text="", meaning=meaning, place=Place(kind="alert", cell=cell, name=alert.name)
    )
    return row, ("alert", alert.name, f"{alert.severity}{seen}", short_message(alert.message, _ABOUT))


def _alerts_on(cell: str, tables: Tables, names: Iterable[str] = ()) -> list[tuple[Row, tuple[str, ...]]]:
    """Return a cell's alerts: with ``names``, all whose message contains one of them; else the open ones."""
    names = [name for name in names if name]
    found = alerts_of(tables.get(ALERTS, ()))
    return [
        _alert_row(cell, alert)
        for alert in found
        if (any(name in alert.message.replace(",", " ").split() for name in names) if names else alert.open)
    ]


def _list(value: object) -> tuple[str, ...]:
    parts = value if isinstance(value, tuple) else str(value or "").split(",")
    return tuple(str(part).strip() for part in parts if str(part).strip())


def _cell_disks(tables: Tables, drive: object) -> list[str]:
    """Return the cell disks on a physical disk."""
    own = [lun for lun in tables.get(_LUNS, ()) if str(drive) in _list(lun.get("physicalDrives"))]
    return [name for lun in own for name in _list(lun.get("cellDisk"))]


def _cell_rows(place: Place, tables: Tables, width: int) -> list[Row]:
    """Return rows in order of urgency: alerts, disks that are not normal, databases (the busiest first), then the rest."""
    cell = place.cell
    metrics = {
        (row.get("name"), row.get("metricObjectName")): row.get("metricValue") for row in tables.get(_METRICS, ())
    }
    disks = []
    for disk in sorted(tables.get(_DISKS, ()), key=_well):
        name, made = str(disk.get("name")), _cell_disks(tables, disk.get("name"))
        busy = max((value for on in made if (value := metrics.get(("CD_IO_UTIL", on))) is not None), default=None)
        more = [value_text(disk.get("diskType")), value_text(disk.get("physicalSize"), "size"), *made]
        more += [f"{busy:.0f}% busy"] if busy is not None else []
        row = Row(
            key=f"disk {name}", text="", meaning="" if _well(disk) else "error",
            place=Place(kind="disk", cell=cell, name=name),
        )  # fmt: skip
        disks.append((row, ("disk", name, value_text(disk.get("status")), ", ".join(more))))
    sick = sum(not _well(disk) for disk in tables.get(_DISKS, ()))
    rows = [*_alerts_on(cell, tables), *disks[:sick], *_databases(cell, metrics), *disks[sick:]]
    return _aligned(rows, _TITLES)


def _databases(cell: str, metrics: Mapping[tuple[Any, Any], Any]) -> list[tuple[Row, tuple[str, ...]]]:
    def told(name: str, metric_names: Iterable[str]) -> float:
        return sum(float(metrics.get((metric, name)) or 0) for metric in metric_names)

    names = {name for metric, name in metrics if str(metric).startswith("DB_")}
    found: list[tuple[Row, tuple[str, ...]]] = []
    for name in sorted(names, key=lambda name: (-told(name, (*_RATES, *_FLASH_RATES)), str(name))):
        disk, flash, cached = told(name, _RATES), told(name, _FLASH_RATES), told(name, (_CACHED,))
        if not (disk or flash or cached) and name in ("ASM", "_OTHER_DATABASE_"):
            continue
        row = Row(key=f"database {name}", text="", place=Place(kind="database", cell=cell, name=str(name)))
        io = f"{number_text(round(flash))}/s flash, {number_text(round(disk))}/s hard disk"
        held = f", {human_size(cached * 2**20)} cached" if cached else ""
        found.append((row, ("database", str(name), "busy" if disk or flash else "quiet", io + held)))
    return found


def _facts(record: Record, first: Sequence[str] = ()) -> list[tuple[Row, tuple[str, ...]]]:
    """Return a row for each attribute, the most important ones first."""
    names = [*(name for name in first if name in record), *(name for name in record if name not in first)]
    return [
        (
            Row(key=name, text=""),
            (name, value_text(record[name], "size" if name in ("size", "physicalSize") else "text")),
        )
        for name in names
    ]


def _disk_rows(place: Place, tables: Tables, width: int) -> list[Row]:
    name = place.name
    disk = next((disk for disk in tables.get(_disk(name)[0], ())), {})
    made = _cell_disks(tables, name)
    alerts = _alerts_on(place.cell, tables, [str(disk.get("physicalSerial") or ""), *made])
    grids = [
        (
            Row(key=f"grid {grid['name']}", text=""),
            ("grid disk", str(grid["name"]), value_text(grid.get("status")),
             f"{value_text(grid.get('size'), 'size')}, ASM {value_text(grid.get('asmModeStatus'))}"),
        )
        for grid in tables.get(_GRID_DISKS, ())
        if grid.get("cellDisk") in made
    ]  # fmt: skip
    own = [(Row(key=f"made {on}", text=""), ("cell disk", on, "", "")) for on in made]
    return _aligned([*alerts, *own, *grids]) + _aligned(_facts(disk, ("status", "slotNumber", "physicalSerial")))


def _disk(name: str) -> tuple[str, ...]:
    return (f"list physicaldisk {name} detail", _LUNS, _GRID_DISKS, ALERTS)


def _database(name: str) -> tuple[str, ...]:
    quoted = name.replace("'", "")
    return (f"list metriccurrent attributes name, metricValue where metricObjectName = '{quoted}'", ALERTS)


def _database_rows(place: Place, tables: Tables, width: int) -> list[Row]:
    metrics = tables.get(_database(place.name)[0], ())
    told = [
        (
            Row(key=str(row.get("name")), text=""),
            (str(row.get("name")), f"{value_text(row.get('metricValue'), 'number')} {row.get('unit') or ''}".rstrip(),
             metric_meaning(str(row.get("name")))),
        )
        for row in sorted(metrics, key=lambda row: (not row.get("metricValue"), str(row.get("name"))))
    ]  # fmt: skip
    return _aligned(_alerts_on(place.cell, tables, (place.name,))) + _aligned(told)


def _alert(name: str) -> tuple[str, ...]:
    return (f"list alerthistory {name} detail",)


_LABELS = {"alertMessage": "message:", "alertAction": "what to do:"}
_FIRST = ("severity", "beginTime", "endTime", "examinedBy")


def _alert_rows(place: Place, tables: Tables, width: int) -> list[Row]:
    """Return the state of an alert, its message and what to do, wrapped between words, then its other attributes."""
    record = next((record for record in tables.get(_alert(place.name)[0], ())), {})
    facts = _aligned(_facts({name: record[name] for name in record if name not in _LABELS}, _FIRST))
    told: list[Row] = []
    for name, title in _LABELS.items():
        # Cells separate the pieces of a message by two blanks, and align the text after a colon.
        pieces = re.split(r"\s{2,}(?![\s:])", str(record.get(name) or "").strip())
        lines = [line for piece in pieces if piece for line in hung(re.sub(r"\s+:", ":", piece), width - 4, after="  ")]
        told += [Row(key=name, text=title, meaning="title")] if lines else []
        told += [Row(key=f"{name} {number}", text=f"  {printable(line)}") for number, line in enumerate(lines)]
    first = sum(name in record for name in _FIRST)
    return [*facts[:first], *told, *facts[first:]]


KINDS: Mapping[str, Kind] = {
    "cell": Kind(
        lists=lambda name: (_DISKS, _LUNS, _METRICS, ALERTS),
        plain=lambda name: (_DISKS, _LUNS, ALERTS),
        rows=_cell_rows,
        titled=True,
    ),
    "disk": Kind(lists=_disk, plain=lambda name: (*_disk(name)[:2], ALERTS), rows=_disk_rows),
    "database": Kind(lists=_database, plain=lambda name: (ALERTS,), rows=_database_rows),
    "alert": Kind(lists=_alert, plain=_alert, rows=_alert_rows),
}
