"""Learn a rack's names and values for completion, by a read in the background and from the answers of statements."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exacell.care.alerts import short_message
from exacell.cellcli.rows import ByBlocks, Rows, TypedRows
from exacell.cellcli.schema import Kind as AttributeKind, find_object
from exacell.core.cellset import fold
from exacell.language.registry import Kind
from exacell.language.suggestion import NAMED

if TYPE_CHECKING:
    from exacell.language.line import Line
    from exacell.output.result import Result
    from exacell.session.completion.names import NameCache
    from exacell.session.fleet import Fleet

STALE = 3600.0
"""A rack read longer ago than so many seconds is read again when a prompt opens on it."""

STATEMENTS: Mapping[str, str] = {
    "GRIDDISK": "list griddisk attributes name, asmDiskGroupName, status, cachingPolicy",
    "CELLDISK": "list celldisk attributes name, diskType, status",
    "PHYSICALDISK": "list physicaldisk attributes name, diskType, status",
    "LUN": "list lun attributes name, status",
    "DATABASE": "list database attributes name",
    "ALERTHISTORY": "list alerthistory attributes name, severity, alertMessage",
}
"""The statements for every cell, in one round trip, without asmModeStatus and asmDeactivationOutcome, for which a cell asks
ASM."""

SHOWN: Mapping[str, str] = {"show alerts": "ALERTHISTORY"}
"""exacell's own statements whose records are objects with names to learn, and the type of these objects."""

DESCRIPTIONS = "list metricdefinition attributes name, description"
"""The statements for the first cell that answered: the definitions are the same on all cells of a release."""

_PREFIX = re.compile(r"(.+?)_(?:CD|FD|PM)_\d+_\w+", re.IGNORECASE)
_VALUED = (AttributeKind.ENUM, AttributeKind.STRING, AttributeKind.TEXT)
_LONGEST = 40

Records = Iterable[Mapping[str, Any]]


def stale(cache: NameCache) -> bool:
    """Return whether a rack should be read again."""
    at = cache.learned_at
    return at is None or time.time() - at > STALE


def learn_rack(
    fleet: Fleet, cells: Sequence[str], cache: NameCache, *, timeout: float | None = None, cancel: threading.Event
) -> None:
    """Read names, values, releases and metric descriptions from ``cells`` into ``cache``. Cells that don't answer are left
    out; if no cell answers, nothing is learned. The next statement will report such problems."""
    releases = fleet.releases(cells)
    if cancel.is_set():
        return
    answers = fleet.query(cells, tuple(STATEMENTS.values()), timeout=timeout, cancel=cancel)
    good = list(answers.good)
    if not good or cancel.is_set():
        return
    tables = {subject: answers.rows(place) for place, subject in enumerate(STATEMENTS)}
    found: dict[Kind, list[str]] = {NAMED[subject]: names_of(rows) for subject, rows in tables.items()}
    disks = tables["GRIDDISK"]
    found[Kind.DISKGROUP] = [str(row["asmDiskGroupName"]) for row in disks if row.get("asmDiskGroupName")]
    found[Kind.PREFIX] = [match[1] for name in found[Kind.GRIDDISK] if (match := _PREFIX.fullmatch(name))]
    values: dict[str, set[str]] = {}
    for subject, rows in tables.items():
        values.update(values_of(subject, rows))
    about = {Kind.ALERT: alerts_about(tables["ALERTHISTORY"])}
    cache.learn(found, about=about, values=values, releases=releases, whole=True)
    described = fleet.query(good[:1], (DESCRIPTIONS,), timeout=timeout, cancel=cancel).rows()
    said = {str(row["name"]): str(row["description"]) for row in described if row.get("description")}
    if said:
        cache.learn({Kind.METRIC: said}, about={Kind.METRIC: said})


def learn_answer(cache: NameCache, line: Line, result: Result) -> None:
    """Learn names and values from the answer to LIST, or to an exacell statement that shows objects."""
    subject = SHOWN.get(line.call.command.name) if line.call is not None else None
    if line.cellcli is not None and not line.cellcli.changes:
        subject = line.cellcli.object
    if subject is not None and result.records and not isinstance(result.records, ByBlocks):
        observe(cache, subject, result.records)


def observe(cache: NameCache, subject: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add the names of objects and the values of attributes in a LIST answer to the cache."""
    kind = NAMED.get(subject)
    found = {kind: {*cache.get(kind), *names_of(rows)}} if kind is not None and names_of(rows) else {}
    about: dict[Kind, Mapping[str, str]] = {}
    if kind is Kind.ALERT:
        about = {kind: {**cache.vocabulary(kind).about, **alerts_about(rows)}}
    cache.learn(found, about=about, values=values_of(subject, rows))


def names_of(rows: Records) -> list[str]:
    """Return the names in ``rows``."""
    if isinstance(rows, Rows):
        return [name for name in rows.column("name") if name]
    if isinstance(rows, TypedRows) and "name" in rows.keys:
        return sorted(rows.texts("name") - {""})
    return [str(row["name"]) for row in rows if row.get("name")]


def alerts_about(rows: Records) -> dict[str, str]:
    """Return name → a phrase about each alert whose rows hold a message: cells, severity and subject.

    Each cell numbers its alerts by itself: for a name on several cells, the phrase is about the first cell's alert.
    """
    told: dict[str, str] = {}
    cells: dict[str, list[str]] = {}
    for row in rows:
        name, message = str(row.get("name") or ""), str(row.get("alertMessage") or "")
        if name and message:
            told.setdefault(name, f"{row.get('severity') or 'alert'}: {short_message(message)}")
            cells.setdefault(name, []).append(str(row.get("cell") or ""))
    return {name: f"{fold(filter(None, cells[name]))} {phrase}".strip() for name, phrase in told.items()}


def values_of(subject: str, rows: Records) -> dict[str, set[str]]:
    """Return ``object.attribute`` → the values in ``rows``, for each attribute that holds words."""
    known = find_object(subject)
    columns: dict[str, set[Any]] = {}
    if isinstance(rows, Rows):
        columns = {name: set(rows.column(name)) for name in rows.names}
    elif isinstance(rows, TypedRows):
        columns = {name: rows.texts(name) for name in rows.keys}
    else:
        for row in rows:
            for name, value in row.items():
                columns.setdefault(name, set()).add(value if isinstance(value, str) else "")
    found: dict[str, set[str]] = {}
    for name, values in columns.items():
        attribute = known.attribute(name) if known is not None and name != "name" else None
        if attribute is None or attribute.kind not in _VALUED:
            continue
        words = {value for value in values if value and len(value) <= _LONGEST and "\n" not in value}
        if words:
            found[f"{subject}.{attribute.name}"] = words
    return found
