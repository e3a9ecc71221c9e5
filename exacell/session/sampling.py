"""Read counters from all cells, and if asked, wait for a new collection by each cell's own clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, Any

from exacell.care.sqltext import query_script
from exacell.cellcli.schema import metrics as metric_table
from exacell.core.errors import ExacellError, ExitCode
from exacell.core.units import format_duration, size_text
from exacell.core.values import dataclass
from exacell.measure.delta import FIGURED
from exacell.measure.snapshot import CellCounters, Snapshot, fell_in_history, history_witness
from exacell.plan import facts as f
from exacell.session.dbsql import cluster_of, database_request, records_of, runs_elsewhere, tables_of

if TYPE_CHECKING:
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session

if TYPE_CHECKING:
    from exacell.session.answers import Answers
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session

Record = Mapping[str, Any]

COLLECTION_WAIT = 150.0
"""Seconds to wait for a new collection, which comes every minute."""


MARKS = "list metriccurrent where name like '(FL|SIO)_.*|CD_IO_RQ_[RW]_(SM|LG)'"
"""Counters that CELLSRV resets when it starts, some of them also with a new flash log; a flush does not reset them."""

_CELL = "list cell attributes name, releaseVersion, flashCacheMode, makeModel, cellsrvStatus, msStatus, rsStatus"
_CACHE = "list flashcache attributes name, creationTime, size, status"
_LOG = "list flashlog attributes name, creationTime, size, status"
_MEMORY_LOGS = (
    "list pmemlog attributes name, size, status",
    "list xrmemlog attributes name, size, status",
)
"""The log in persistent memory by its older and its newer name; each cell gets the name that its release has."""

_PLAN = "list iormplan attributes name, catPlan, clusterPlan, dbPlan, objective"
_PLANS = ("objective", "dbPlan", "catPlan", "clusterPlan")
_SERVICES = ("cellsrv", "ms", "rs")


def _statement(kind: str) -> str:
    return f"list metriccurrent where objectType = '{kind.upper()}'"


def read_counters(
    session: Session, services: Services, request: Request, kind: str
) -> tuple[dict[str, CellCounters], tuple[str, ...], ExitCode]:
    """Return cell → its counters for the cells that answered, the problems of the others, and the exit code."""
    answers = services.query(
        _statement(kind), MARKS, _CELL, _CACHE, _LOG, _PLAN, *_MEMORY_LOGS, timeout=request.read_timeout
    )
    found: dict[str, CellCounters] = {}
    for cell, answer in answers.good.items():
        metrics, marks, *conditions = answer.tables
        values = f.metric_values(metrics)
        found[cell] = CellCounters(
            collected=max((at for _, at in values.values()), default=0),
            values={name: value for name, (value, _) in values.items()} if kind in FIGURED else _marks(metrics),
            passport=_passport(kind, *(rows[0] if rows else {} for rows in conditions)),
            started=answer.cellsrv_start,
            marks=_marks(marks),
        )
    return found, answers.problems, answers.exit_code


def _marks(rows: Iterable[Record]) -> dict[str, float]:
    """Return ``metric object`` → value of the counters, which only grow while CELLSRV runs."""
    known = metric_table()
    found: dict[str, float] = {}
    for row in rows:
        name, value = str(row.get("name")), row.get("metricValue")
        definition = known.get(name)
        counts = definition is not None and definition.metric_type == "Cumulative" and definition.unit != "%"
        if counts and isinstance(value, (int, float)):
            found[f"{name} {row.get('metricObjectName') or ''}".rstrip()] = float(value)
    return found


def _passport(
    kind: str, cell: Record, cache: Record, log: Record, plan: Record, *memory_logs: Record
) -> dict[str, str]:
    """Return the conditions under which a cell's counters were read; see :mod:`exacell.measure.delta`.

    Conditions that the cell does not report are left out; a missing cache or log is ``none``.
    """
    size = cache.get("size")
    told = {
        "release": cell.get("releaseVersion"),
        "flashCacheMode": str(cell.get("flashCacheMode") or "").lower(),
        "cacheSize": str(int(size)) if isinstance(size, (int, float)) else "none",
        "flashLog": _log(log),
        "memoryLog": next((_log(found) for found in memory_logs if found), "none"),
        "model": cell.get("makeModel"),
        "services": ", ".join(f"{name} {state}" for name in _SERVICES if (state := cell.get(f"{name}Status") or "")),
        **({name: plan.get(name) or "" for name in _PLANS} if plan else {}),
        "created": (log if kind == "flashlog" else cache if kind == "flashcache" else {}).get("creationTime") or "",
        "logCreated": log.get("creationTime") or "",
    }
    plain = {name: _text(value) for name, value in told.items() if value is not None}
    return {name: text for name, text in plain.items() if text or name not in ("release", "model", "services")}


def _log(log: Record) -> str:
    size = log.get("size")
    shown = size_text(int(size)) if isinstance(size, (int, float)) else ""
    return " ".join(filter(None, (shown, str(log.get("status") or "")))) or "none"


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


HISTORY = "list metrichistory where name = '{name}' and ageInMinutes < {minutes}"


@dataclass(frozen=True, kw_only=True)
class History:
    """What the cells' metric history shows about the time between two snapshots.

    Attributes:
        fell: cell → when a counter fell, a clause.
        unread: cell → why its history does not cover the whole time.
    """

    fell: Mapping[str, str]
    unread: Mapping[str, str]


NO_HISTORY = History(fell={}, unread={})


def read_history(
    session: Session, services: Services, request: Request, before: Snapshot, after: Snapshot, names: Iterable[str]
) -> History:
    """Ask the cells of both snapshots whether a counter fell in between; their metric history has a value for each minute.

    The start is counted on each cell's own clock. A cell that no longer belongs to the rack is among the unread.
    """
    cells = [cell for cell in before.cells if cell in after.cells]
    witness = history_witness((before.cells[cell] for cell in cells), names)
    here = [cell for cell in session.need_rack().cells if cell in cells]
    unread = {cell: "it is not in the rack now" for cell in cells if cell not in here}
    if not witness or not here:
        return History(fell={}, unread=unread if witness else {})
    now = services.query(f"list metriccurrent where name = '{witness}'", cells=here, timeout=request.read_timeout)
    latest = {cell: _collected(answer.tables[0]) for cell, answer in now.good.items()}
    minutes = [(latest[cell] - before.cells[cell].collected) / 60_000 for cell in latest]
    if not latest:
        return History(fell={}, unread={**unread, **_problems(now)})
    # Two minutes more: only an earlier collection shows that the history reaches back far enough.
    asked = HISTORY.format(name=witness, minutes=ceil(max(minutes)) + 2)
    told = services.query(asked, cells=list(latest), timeout=request.read_timeout)
    unread |= {**_problems(now), **_problems(told)}
    fell: dict[str, str] = {}
    for cell, answer in told.good.items():
        rows = [(_collected([row]), float(row["metricValue"])) for row in answer.tables[0] if _counted(row)]
        first, second = before.cells[cell], after.cells[cell]
        if why := fell_in_history(witness, rows, first, second):
            fell[cell] = why
        elif min((at for at, _ in rows), default=second.collected) > first.collected + _MINUTES:
            unread[cell] = "its metric history does not reach back that far"
    return History(fell=fell, unread=unread)


_MINUTES = 120_000
"""The history must begin within so many milliseconds after the first collection; collections come once a minute."""


def _collected(rows: Iterable[Record]) -> int:
    return max((at for _, at in f.metric_values(rows).values()), default=0)


def _counted(row: Record) -> bool:
    return isinstance(row.get("metricValue"), (int, float))


def _problems(answers: Answers) -> dict[str, str]:
    return {cell: answer.problem for cell, answer in answers.answers.items() if answer.problem}


def wait_for_collection(
    session: Session, services: Services, request: Request, kind: str, *, clock: Callable[[], float] = monotonic
) -> tuple[dict[str, CellCounters], tuple[str, ...], ExitCode]:
    """Read until every cell that answers shows a later collection than at first.

    The last read is the first that begins after the time limit, no matter how long reads take.

    Args:
        clock: returns seconds.

    Returns:
        as :func:`read_counters`; cells without a new collection in time are among the problems and have no counters.
    """
    first, problems, code = read_counters(session, services, request, kind)
    rack = session.need_rack()
    # An emulated rack at the usual speed collects once a minute as well.
    limit = COLLECTION_WAIT / 2 if rack.emulated else COLLECTION_WAIT
    began = looked = clock()
    latest = first
    while first and any(latest[c].collected <= first[c].collected for c in first if c in latest):
        if looked - began >= limit or session.interrupted.wait(rack.poll):
            stuck = [c for c in first if c in latest and latest[c].collected <= first[c].collected]
            why = (
                "interrupted" if session.interrupted.is_set() else f"no new collection within {format_duration(limit)}"
            )
            return (
                {c: v for c, v in latest.items() if c not in stuck},
                (*problems, *(f"{c}: {why}" for c in stuck)),
                ExitCode.INTERRUPTED if session.interrupted.is_set() else ExitCode.FAILED,
            )
        looked = clock()
        latest, problems, code = read_counters(session, services, request, kind)
    return latest, problems, code


_INSTANCE = (
    "select instance_name, version, to_char(startup_time, 'YYYY-MM-DD HH24:MI:SS') started, "
    "to_char(sysdate, 'YYYY-MM-DD HH24:MI:SS') now from v$instance"
)
_STATISTICS = "select name, value from v$sysstat"

_LEVELS = ("current", "maximum", "memory", "memory max", "percent")
"""Ends of the names of statistics that are levels, not counters. Source: Oracle Database Reference, statistics descriptions."""


def read_sysstat(
    session: Session, services: Services, request: Request, database: str
) -> tuple[dict[str, CellCounters], tuple[str, ...], ExitCode]:
    """Return the counters of each instance of a database that answers, the problems of the others, and the exit code.

    Times are by the clock of the instance's host.

    Raises:
        ConfigError: the rack has no database nodes, or has several clusters and none names the database.
        StatementError: a database can't have this name.
    """
    script = query_script(_INSTANCE, _STATISTICS)
    requests = [
        replace(database_request(session, database, node, script), timeout=request.read_timeout)
        for node in cluster_of(session, database).nodes
    ]
    found: dict[str, CellCounters] = {}
    problems = []
    for node, reply in services.transport.run(requests).replies.items():
        if runs_elsewhere(reply):
            continue
        try:
            instance, statistics = tables_of(reply, 2)
        except ExacellError as error:
            problems.append(str(error))
            continue
        (about,) = records_of(instance)
        values = {str(row["NAME"]): row["VALUE"] for row in records_of(statistics)}
        found[str(about["INSTANCE_NAME"])] = CellCounters(
            collected=_epoch_ms(str(about["NOW"])),
            values={
                name: float(value)
                for name, value in values.items()
                if isinstance(value, (int, float)) and not name.endswith(_LEVELS)
            },
            passport={"release": str(about["VERSION"]), "server": f"the instance on {node}"},
            started=_epoch_ms(str(about["STARTED"])),
        )
    if not found and not problems:
        problems.append(f"no node runs an instance of {database}")
    code = ExitCode.DONE if not problems else ExitCode.FAILED if found else ExitCode.NOT_EXECUTED
    return found, tuple(problems), code


def _epoch_ms(text: str) -> int:
    """Return a local time of an instance's host in epoch ms, as if it were UTC; only comparable with times of that host."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)
