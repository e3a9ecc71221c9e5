"""The statistics of a database's instances, V$SYSSTAT, read as snapshots keep counters."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from exacell.care.sqltext import query_script
from exacell.core.errors import ExacellError, ExitCode
from exacell.measure.snapshot import CellCounters
from exacell.session.dbsql import cluster_of, database_request, names_of, runs_elsewhere, tables_of

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
"""Ends of the names of statistics that go up and down. Source: Oracle Database Reference, statistics descriptions."""


def read_sysstat(
    session: Session, services: Services, request: Request, database: str
) -> tuple[dict[str, CellCounters], tuple[str, ...], ExitCode]:
    """Return the counters of each instance of a database that answers, the others' problems, and the exit code.

    Times are those of the instance's host.

    Raises:
        ConfigError: the rack has no database nodes, or several clusters of which none names the database.
        StatementError: the name is none that a database can have.
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
        (about,) = names_of(instance)
        values = {str(row["NAME"]): row["VALUE"] for row in names_of(statistics)}
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
    """Return a time of the instance's host as if it were UTC: it is compared with others of that host alone."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)
