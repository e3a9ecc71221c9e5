"""Read the statistics of a database's instances, V$SYSSTAT, as the counters of a snapshot."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from exacell.care.sqltext import query_script
from exacell.core.errors import ExacellError, ExitCode
from exacell.measure.snapshot import CellCounters
from exacell.session.dbsql import cluster_of, database_request, records_of, runs_elsewhere, tables_of

if TYPE_CHECKING:
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session

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
