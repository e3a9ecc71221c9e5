"""Read an experiment's measurement at one moment, and the conditions that decide whether a comparison is fair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exacell.core.errors import ConfigError, ExacellError, RefusedError, ReplyError
from exacell.core.values import dataclass, field
from exacell.measure.experiments import fairness
from exacell.measure.experiments.fairness import Around
from exacell.measure.experiments.said import MEASURES
from exacell.measure.importers import fio
from exacell.plan.facts import metric_values
from exacell.plan.watch import COMPLETE
from exacell.session.dbsql import query_database
from exacell.session.sampling import read_counters, wait_for_collection

if TYPE_CHECKING:
    from exacell.measure.experiments.record import Design
    from exacell.measure.snapshot import CellCounters
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session


@dataclass(frozen=True, kw_only=True)
class Waited:
    """The number of waits or requests so far, and the microseconds of all of them.

    Attributes:
        sizes: microseconds → how many were shorter than that but not shorter than the next smaller size; empty if unknown.
        instances: the number of instances and the sum of the seconds at which they started; None if no database is measured.
        reads: how many reads of the database the flash cache served, and how many there were; None if that was not asked.
    """

    count: int
    micros: float
    sizes: Mapping[int, int] = field(default_factory=dict)
    instances: tuple[int, float] | None = None
    reads: tuple[int, int] | None = None

    def since(self, before: Waited) -> Waited:
        """Return the difference to ``before``; negative if counters were reset in between."""
        sizes = {size: count - before.sizes.get(size, 0) for size, count in self.sizes.items()}
        if self.instances != before.instances:  # The restart of one of several can be hidden in a sum that still grew.
            return Waited(count=-1, micros=-1.0)
        reads = None
        if self.reads is not None and before.reads is not None:
            reads = self.reads[0] - before.reads[0], self.reads[1] - before.reads[1]
        return Waited(count=self.count - before.count, micros=self.micros - before.micros, sizes=sizes, reads=reads)


def waited(session: Session, services: Services, request: Request, *, measure: str, db: str) -> Waited:
    """Return the counts up to now: of the database on all its instances, or on all cells at their next collection.

    Raises:
        ExacellError: a part of it could not be read.
    """
    if measure == "flashlog":
        cells, problems, _ = wait_for_collection(session, services, request, "flashlog")
        if problems:
            raise RefusedError(
                f"not all cells answered with their counters: {problems[0]}",
                hint="`use` leaves out a cell that does not answer",
            )
        totals = [sum(c.values.get(name, 0.0) for c in cells.values()) for name in ("FL_RQ_W", "FL_RQ_TM_W")]
        return Waited(count=int(totals[0]), micros=totals[1])
    rows = _rows(session, services, db, MEASURES[measure], hits=measure == "reads")
    count, micros = next(((count, micros) for size, count, micros in rows if size == 0), (0, 0))
    sizes = {int(size): int(count) for size, count, _ in rows if size > 0}
    started = next(((int(count), float(seconds or 0)) for size, count, seconds in rows if size == _INSTANCES), None)
    reads = next(((int(hits or 0), int(count or 0)) for size, hits, count in rows if size == _READS), None)
    return Waited(count=int(count or 0), micros=float(micros or 0), sizes=sizes, instances=started, reads=reads)


_INSTANCES = -1
"""The value in the size column of the row about the instances themselves."""

_READS = -2
"""The value in the size column of the row with the reads that the flash cache served, and all reads."""

_HITS, _ALL_READS = "cell flash cache read hits", "physical read total IO requests"


def _rows(session: Session, services: Services, db: str, event: str, *, hits: bool) -> Sequence[Sequence[Any]]:
    """Return rows of size, waits and microseconds of an event, over all instances.

    Size 0 is the total, then comes each power of two. The row with size -1 has the number of instances and the sum of the seconds
    at which they started. With ``hits``, the row with size -2 has the reads that the flash cache served, and all reads.

    It is a single statement, so that all values are of the same moment. A release without the histogram view gives the total
    only. Source: Oracle Database Reference, V$EVENT_HISTOGRAM_MICRO, since 12.1.0.2.
    """
    total = f"select 0, sum(total_waits), sum(time_waited_micro) from gv$system_event where event = '{event}' "
    total += f"union all select {_INSTANCES}, count(*), sum(round((startup_time - date '2000-01-01') * 86400)) from gv$instance"
    if hits:
        total += (
            f" union all select {_READS}, sum(case when name = '{_HITS}' then value else 0 end), sum(case when name = "
            f"'{_ALL_READS}' then value else 0 end) from gv$sysstat where name in ('{_HITS}', '{_ALL_READS}')"
        )
    sizes = (
        f"select wait_time_micro, sum(wait_count), 0 from gv$event_histogram_micro where event = '{event}' "
        "group by wait_time_micro"
    )
    try:
        return query_database(session, services, db, f"{total} union all {sizes}")[1].rows
    except ReplyError as error:
        if "ORA-00942" not in error.message:
            raise
    return query_database(session, services, db, total)[1].rows


def fio_waited(texts: Sequence[str]) -> Waited:
    """Return the number of I/Os in fio's JSON output, and the microseconds of all of them.

    Args:
        texts: the output of statements; output of other programs is ignored.
    """
    found = [fio.waited(text) for text in texts if fio.claims(text)]
    return Waited(count=sum(count for count, _ in found), micros=sum(micros for _, micros in found))


def conditions(session: Session, services: Services, request: Request) -> dict[str, CellCounters]:
    """Return the flash log counters and the conditions of each cell; empty if the rack has no cells.

    Raises:
        RefusedError: a cell did not answer.
    """
    if not session.need_rack().cells:
        return {}
    cells, problems, _ = read_counters(session, services, request, "flashlog")
    if problems or not cells:
        raise RefusedError(
            f"not all cells answered with their settings: {problems[0] if problems else 'no cell answered'}",
            hint="`use` leaves out a cell that does not answer",
        )
    return cells


_USED = "list metriccurrent where name = 'FC_BY_USED'"
_SIZE = "list flashcache attributes name, size"
_REQUESTS = "list metriccurrent where name like 'DB_IO_RQ_(SM|LG)(_SEC)?'"
_ALERTS = "list alerthistory attributes name, severity, alertMessage where severity like 'critical|warning'"
_FLUSH = "list celldisk attributes name, flushStatus, flushError"
_MIB = 1 << 20


def around(session: Session, services: Services, request: Request) -> Around:
    """Return the other activity on the cells and in ASM now."""
    moving = tuple(dict.fromkeys(_rebalancing(session, services)))
    if not session.need_rack().cells:
        return Around(moving=moving)
    answers = services.query(_REQUESTS, _ALERTS, _FLUSH, _USED, timeout=request.read_timeout)
    requests: dict[str, dict[str, float]] = {}
    collected: dict[str, int] = {}
    rates: dict[str, float] = {}
    used: dict[str, float] = {}
    alerts: dict[tuple[str, str], str] = {}
    flushing = []
    for cell, answer in answers.good.items():
        busy, raised, disks, held = answer.tables
        if held:
            used[cell] = _in_use(held)
        for row in busy:
            name, value = str(row.get("metricObjectName")), float(row.get("metricValue") or 0)
            if str(row.get("name")).endswith("_SEC"):
                rates[name] = rates.get(name, 0.0) + value
            else:
                own = requests.setdefault(cell, {})
                own[name] = own.get(name, 0.0) + value
        collected[cell] = max((at for _, at in metric_values(busy).values()), default=0)
        alerts |= {(cell, str(row.get("name"))): str(row.get("alertMessage") or row.get("severity")) for row in raised}
        if any(str(row.get("flushStatus") or "").lower() not in ("", *COMPLETE) for row in disks):
            flushing.append(cell)
    return Around(
        requests=requests,
        collected=collected,
        rates=rates,
        used=used,
        flushing=tuple(flushing),
        alerts=alerts,
        moving=moving,
        unread=tuple(answers.problems),
    )


def _in_use(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the sum in bytes of the rows of FC_BY_USED."""
    return sum(float(row.get("metricValue") or 0) * _MIB for row in rows)


def unfair(
    session: Session, services: Services, request: Request, cells: Mapping[str, CellCounters], design: Design
) -> list[str]:
    """Return why a comparison that begins now would not be fair, one sentence per reason, without a full stop."""
    beside = around(session, services, request)
    if not cells:
        return beside.now(design.db)
    used: dict[str, tuple[float, float]] = {}
    for cell, answer in services.query(_USED, _SIZE, timeout=request.read_timeout).good.items():
        part, sizes = answer.tables
        used[cell] = (
            _in_use(part),
            sum(float(row.get("size") or 0) for row in sizes),
        )
    reset, levels = bool(design.reset), design.among or design.levels
    return [
        *fairness.unlike_cells(cells),
        *fairness.filling(used, reset=reset),
        *fairness.may_have_room(design.factor, levels, used, reset=reset),
        *beside.now(design.db),
    ]


def by_release(
    session: Session, services: Services, design: Design, cells: Mapping[str, CellCounters]
) -> tuple[str, ...]:
    """Return the notes on a comparison that begins now, from the cells' releases and, if it matters, the database's."""
    version = ""
    if design.db and design.factor == "cell_flash_cache":
        rows = query_database(session, services, design.db, "select version from v$instance")[1].rows
        version = str(rows[0][0]) if rows else ""
    return tuple(fairness.by_release(design.factor, design.of, design.measure, cells, version))


def _rebalancing(session: Session, services: Services) -> list[str]:
    found = []
    for name in session.need_rack().asm:
        try:
            running = services.asm(name).facts().running
        except (ConfigError, ExacellError) as error:
            found.append(f"exacell can't check whether the ASM cluster {name} rebalances ({error.message})")
            continue
        found += [f"disk group {each.diskgroup} is being rebalanced ({each.kind})" for each in running]
    return found
