"""Judge the health of cells: facts in, findings out, each with what to do next. Pure.

The rules come from Oracle's own values: services run, disks and caches are normal, all grid disks are ONLINE in ASM, there are
no alerts, and what should be equal on all cells (release, IORM plan) is equal. Source: reference cellcli.md 3.3, 6.2, 6.5 and
7.2 (plans are per cell, keep them identical).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Any

from exacell.care.alerts import ALERTS, alerts_of, headline
from exacell.cellcli import iorm
from exacell.core.errors import ExacellError
from exacell.core.units import and_more, counted, human_size
from exacell.core.values import dataclass, field
from exacell.plan import facts as f, gate

Record = Mapping[str, Any]

CELL = (
    "list cell attributes name, status, releaseVersion, flashCacheMode, makeModel, cellsrvStatus, msStatus, rsStatus, "
    "fanStatus, powerStatus, temperatureStatus"
)
PHYSICAL = "list physicaldisk attributes name, diskType, status"
FLASHLOG = "list flashlog attributes name, size, status, degradedCelldisks"
QUARANTINES = "list quarantine attributes name"

PLAIN = (CELL, PHYSICAL, f.CELLDISK, ALERTS)
"""Statements that a cell with a stopped CELLSRV can answer. Source: reference cellcli.md 3.3, asm* attributes come through
CELLSRV.
"""

FULL = (*PLAIN, f.FLASHCACHE, FLASHLOG, f.GRIDDISK, f.IORMPLAN, f.FLASH_METRICS, QUARANTINES)
"""Statements from whose answers health is judged."""

TITLES = {
    "services": "services",
    "hw": "fans, power",
    "disks": "hard disks",
    "flash": "flash disks",
    "cache": "flash cache",
    "log": "flash log",
    "asm": "disks in ASM",
    "iorm": "IORM plan",
    "image": "release",
    "alerts": "alerts",
}
"""Area that is checked → its name for a DBA; alerts include quarantines."""

AREAS = tuple(TITLES)
"""The columns of the matrix."""


class Level(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    UNKNOWN = "unknown"
    WARN = "warn"
    BAD = "bad"

    @property
    def rank(self) -> int:
        """Return a number from 0 for OK to 3 for BAD."""
        return list(Level).index(self)


@dataclass(frozen=True)
class Finding:
    """One finding: something that is not as it should be.

    Attributes:
        word: a few characters for the matrix.
        text: the object, the attribute and its value.
        way: the statement or the work that comes next.
        figures: numbers that may change every day; a finding with other figures is still the same finding.
    """

    area: str
    level: Level
    word: str
    text: str
    way: str
    figures: str = ""

    @property
    def said(self) -> str:
        """Return the text with its figures, for display."""
        return f"{self.text}: {self.figures}" if self.figures else self.text


@dataclass(frozen=True, kw_only=True)
class Observed:
    """One cell's answers, by LIST statement; a statement without an entry was not answered."""

    cell: str
    tables: Mapping[str, Sequence[Record]] = field(default_factory=dict)

    def rows(self, statement: str) -> Sequence[Record] | None:
        """Return the records of one statement; None if it was not answered."""
        return self.tables.get(statement)

    def facts(self, statement: str) -> f.CellFacts | None:
        """Return the answer to one statement as facts of the cell; None if it was not answered."""
        rows = self.tables.get(statement)
        return None if rows is None else f.build(self.cell, [statement], [rows])


def examine(observed: Mapping[str, Observed]) -> dict[str, tuple[Finding, ...]]:
    """Return the findings of each cell, the worst first; empty for a healthy cell."""
    usual = {"image": _usual(_release(seen) for seen in observed.values())}
    usual["iorm"] = _usual(_plan_text(seen) for seen in observed.values())
    return {
        cell: tuple(sorted(_examine(seen, usual), key=lambda finding: -finding.level.rank))
        for cell, seen in observed.items()
    }


def words(findings: Sequence[Finding], well: str | None = "ok") -> dict[str, str | None]:
    """Return the row of the matrix: the word of the worst finding for each area, or ``well`` for an area without findings.

    ``well`` must be None for a cell that did not answer, because its other areas are unknown.
    """
    row: dict[str, str | None] = dict.fromkeys(AREAS, well)
    row |= {finding.area: finding.word for finding in reversed(findings)}
    return row


NO_ANSWER = "no answer"
"""The word for a cell that did not answer."""


def silent(problem: str) -> Finding:
    """Return the finding of a cell that did not answer because of ``problem``."""
    return Finding(area="services", level=Level.UNKNOWN, word=NO_ANSWER, text=problem, way="")


def worst(findings: Iterable[Finding]) -> Level:
    """Return the worst level of the findings; OK if there are none."""
    return max((finding.level for finding in findings), key=lambda level: level.rank, default=Level.OK)


def _examine(seen: Observed, usual: Mapping[str, str]) -> list[Finding]:
    parts: tuple[Callable[[Observed], Iterable[Finding]], ...] = (
        _services,
        _hardware,
        _disks,
        _cache,
        _log,
        _asm,
        _alerts,
    )
    found = [finding for part in parts for finding in part(seen)]
    release, plan = _release(seen), _plan_text(seen)
    if release and release != usual["image"]:
        text = f"releaseVersion is {release}, {usual['image']} on most cells"
        found.append(Finding("image", Level.WARN, release.rsplit(".", 1)[0], text, "show versions; check patch"))
    if plan is not None and plan != usual["iorm"]:
        text = "the IORM plan differs from the one on most cells"
        found.append(
            Finding("iorm", Level.WARN, "differs", text, "show iorm; the `drift` statement shows the directives")
        )
    areas = {"cache": f.FLASHCACHE, "log": FLASHLOG, "asm": f.GRIDDISK, "iorm": f.IORMPLAN}
    found += [
        Finding(area, Level.UNKNOWN, "?", f"{area}: not answered while CELLSRV is not running", "")
        for area, statement in areas.items()
        if seen.rows(statement) is None
    ]
    return found


def _usual(values: Iterable[str | None]) -> str:
    counted = Counter(value for value in values if value is not None)
    return counted.most_common(1)[0][0] if counted else ""


def _first(seen: Observed) -> Record:
    rows = seen.rows(CELL) or ()
    return rows[0] if rows else {}


def _release(seen: Observed) -> str:
    return f.text_of(_first(seen), "releaseVersion")


def _plan_text(seen: Observed) -> str | None:
    """Return the dbplan and the objective in one spelling; the cell's own text if the plan can't be read."""
    rows = seen.rows(f.IORMPLAN)
    if rows is None:
        return None
    text, objective = f.dbplan_of(rows), f.text_of(rows[0], "objective") if rows else ""
    with suppress(ExacellError):
        text = iorm.render(iorm.parse(text))
    return f"{text} {objective.lower()}"


def _services(seen: Observed) -> Iterator[Finding]:
    row = _first(seen)
    for service in ("cellsrv", "ms", "rs"):
        status = f.text_of(row, f"{service}Status").lower()
        if status and status != "running":
            way = f"online cell {seen.cell}" if service == "cellsrv" else f"on {seen.cell} restart service {service}"
            text = f"{service}Status is {status}"
            yield Finding("services", Level.BAD, f"{service} {status}", text, way)
    unknown = [service for service in ("cellsrv", "ms", "rs") if not f.text_of(row, f"{service}Status")]
    if row and unknown:
        text = f"this transport does not give the status of {', '.join(unknown)}"
        yield Finding("services", Level.UNKNOWN, "?", text, "set transport ssh, if that is allowed; show services")
    status = f.text_of(row, "status").lower()
    if status and status != "online":
        way = "show services; list cell detail"
        yield Finding("services", Level.BAD, status, f"status of the cell is {status}", way)


def _hardware(seen: Observed) -> Iterable[Finding]:
    row = _first(seen)
    return [
        Finding(
            "hw",
            Level.WARN,
            name.removesuffix("Status"),
            f"{name} is {f.text_of(row, name)}",
            f"on {seen.cell} show alerts; list cell detail",
        )
        for name in ("fanStatus", "powerStatus", "temperatureStatus")
        if f.text_of(row, name).lower() not in ("", "normal")
    ]


def _disks(seen: Observed) -> Iterator[Finding]:
    for row in seen.rows(PHYSICAL) or ():
        status, name = f.text_of(row, "status").lower(), f.text_of(row, "name")
        if status == "normal":
            continue
        area = "flash" if "flash" in f.text_of(row, "diskType").lower() else "disks"
        level = Level.WARN if status.startswith("warning") else Level.BAD
        word = "warning" if status.startswith("warning") else status
        way = f"on {seen.cell} locate disk {name}"
        yield Finding(area, level, word, f"physical disk {name}: status is {status}", way)
    fact = seen.facts(f.CELLDISK)
    for disk in fact.cell_disks if fact is not None else ():
        if disk.status != "normal":
            way = f"on {seen.cell} list celldisk {disk.name} detail"
            text = f"cell disk {disk.name}: status is {disk.status}"
            yield Finding("flash" if disk.flash else "disks", Level.BAD, disk.status, text, way)


def _cache(seen: Observed) -> Iterator[Finding]:
    fact, metrics = seen.facts(f.FLASHCACHE), seen.facts(f.FLASH_METRICS)
    if fact is None:
        return
    cache = fact.flash_cache
    if cache is None:
        flash = seen.facts(f.CELLDISK)
        if flash is None or not flash.flash_disks:
            return
        way = "list celldisk attributes name, freeSpace where diskType=flashdisk; create flashcache all"
        yield Finding("cache", Level.WARN, "none", "there is no flash cache", way, _free_flash(flash))
        return
    if cache.caching == "off":
        way = "wait for the flush, or: alter flashcache all cancel flush (pending shows who left it like this)"
        yield Finding("cache", Level.BAD, "off", f"flash cache status is {cache.status}: it does not cache", way)
    elif not cache.healthy:
        degraded = f", degraded on {', '.join(cache.degraded)}" if cache.degraded else ""
        text = f"flash cache status is {cache.status}{degraded}"
        way = f"on {seen.cell} list physicaldisk attributes name, status where diskType=flashdisk"
        word = cache.status.split(" - ")[0]
        yield Finding("cache", Level.BAD, "degraded" if word == "normal" else word, text, way)
    stale = metrics.metric_bytes("FC_BY_STALE_DIRTY") if metrics is not None else None
    if stale:
        text = f"FC_BY_STALE_DIRTY is {human_size(stale)}: dirty data that can't be written to its disks"
        way = "bring its grid disks back online; never drop the cache"
        yield Finding("cache", Level.BAD, "stale", text, way)


def _log(seen: Observed) -> Iterator[Finding]:
    rows = seen.rows(FLASHLOG)
    for row in rows or ():
        status = f.text_of(row, "status").lower()
        degraded = f.text_of(row, "degradedCelldisks")
        if status != "normal" or degraded:
            text = f"flash log status is {status}" + (f", degraded on {degraded}" if degraded else "")
            way = f"on {seen.cell} list flashlog detail"
            yield Finding("log", Level.WARN, "degraded" if degraded else status.split(" - ")[0], text, way)
    flash = seen.facts(f.CELLDISK)
    if rows is not None and not rows and flash is not None and flash.flash_disks:
        way = "create flashlog all (the cache must leave room: resize flashcache)"
        yield Finding("log", Level.WARN, "none", "there is no flash log", way, _free_flash(flash))


def _free_flash(fact: f.CellFacts) -> str:
    disks = fact.flash_disks
    return f"{human_size(sum(disk.free for disk in disks))} free on {counted(len(disks), 'flash cell disk')}"


def all_online(seen: Observed) -> bool:
    """Return whether all grid disks of a cell that ASM uses are ONLINE; False if the cell does not show it."""
    fact = seen.facts(f.GRIDDISK)
    return fact is not None and gate.all_online(fact.grid_disks)


def _asm(seen: Observed) -> Iterator[Finding]:
    fact = seen.facts(f.GRIDDISK)
    by_mode: dict[str, list[f.GridDisk]] = {}
    for grid in fact.grid_disks if fact is not None else ():
        if gate.in_use(grid) and grid.asm_mode != "ONLINE":
            by_mode.setdefault(grid.asm_mode or "unknown", []).append(grid)
        elif grid.status not in ("active", "inactive") or (gate.in_use(grid) and grid.status == "inactive"):
            text = f"grid disk {grid.name}: status is {grid.status}"
            way = f"on {seen.cell} list griddisk {grid.name} detail"
            yield Finding("asm", Level.BAD, grid.status, text, way)
    for mode, grids in by_mode.items():
        more = f" and {len(grids) - 1} more" if len(grids) > 1 else ""
        level = Level.WARN if mode == "SYNCING" else Level.BAD
        way = (
            "show rebalance shows how long"
            if mode == "SYNCING"
            else f"online cell {seen.cell}; can offline {seen.cell}"
        )
        text = f"grid disk {grids[0].name}{more}: asmModeStatus is {mode}"
        yield Finding("asm", level, f"{len(grids)} {mode.lower()}", text, way)


def _alerts(seen: Observed) -> Iterator[Finding]:
    still = [alert for alert in alerts_of(seen.rows(ALERTS) or ()) if alert.open]
    quarantines = len(seen.rows(QUARANTINES) or ())
    if quarantines:
        # The quarantine is a separate finding, with what to do about it.
        still = [alert for alert in still if "quarantine" not in alert.message.lower()]
    waiting = [alert for alert in still if not alert.examined_by]
    known = [alert for alert in still if alert.examined_by]
    if waiting:
        critical = [alert for alert in waiting if alert.critical]
        level = Level.BAD if critical else Level.WARN
        text = f"alert {waiting[0].name}, {waiting[0].severity}: {headline(waiting[0].message)}"
        more = and_more(len(waiting))
        word = f"{len(critical)} critical" if critical else f"{len(waiting)} open"
        way = f"on {seen.cell} show alerts; on {seen.cell} ack alert {waiting[0].name}"
        yield Finding("alerts", level, word, text + more, way)
    if quarantines:
        text = f"{counted(quarantines, 'quarantine')}: smart scan or more is off for some SQL"
        yield Finding("alerts", Level.WARN, f"{quarantines} quarant.", text, "show quarantine")
    if known:
        text = f"alert {known[0].name}, {known[0].severity}, acknowledged by {known[0].examined_by}"
        # One line without the message: whoever acknowledged it knows it, and the broken parts have to fit on the screen.
        yield Finding("alerts", Level.OK, "ok", text + and_more(len(known)), f"on {seen.cell} show alerts")
