"""Ask and change one database through SQL*Plus, for the steps of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from exacell.care.sqltext import query_script, sent_script
from exacell.plan.model import DATABASE
from exacell.session.dbsql import OWNER, database_request, home_of, problem_in, rows_of
from exacell.transport.base import Ours, Reply, Role

if TYPE_CHECKING:
    from exacell.session.asm import AsmClient
    from exacell.session.services import Services
    from exacell.session.state import Session

_TRACES = """\
select 'trace' kind, trace_type a, nvl(primary_id, '-') b, nvl(qualifier_id1, '-') c, nvl(qualifier_id2, '-') d, \
waits e, nvl(instance_name, '-') f from dba_enabled_traces \
union all select 'session', to_char(sid), to_char(serial#), sql_trace, '-', sql_trace_waits, nvl(module, '-') \
from v$session where type = 'USER'"""
"""What is traced. Source: Oracle Database Reference, DBA_ENABLED_TRACES, V$SESSION."""


def sql_targets(session: Session, services: Services, names: Iterable[str]) -> dict[str, AsmClient | DatabaseClient]:
    """Return what the SQL steps of a plan are for, by the names that they have: ASM clusters, and databases.

    Raises:
        ConfigError: there is no ASM cluster of that name.
    """
    found: dict[str, AsmClient | DatabaseClient] = {}
    for name in names:
        if name.startswith(DATABASE):
            found[name] = DatabaseClient(session, services, name.removeprefix(DATABASE))
        else:
            found[name] = services.asm(name)
    return found


class DatabaseClient:
    """One database, reached through the node that a step names."""

    pairs = False
    """No statement for a database goes upon a look by the same SQL*Plus."""

    def __init__(self, session: Session, services: Services, database: str, *, user: str = OWNER) -> None:
        self._session, self._services, self.database, self._user = session, services, database, user

    def home(self) -> str:
        """Return the first node that answers and has an instance of the database; see :func:`home_of`."""
        return home_of(self._session, self._services, self.database, user=self._user)

    def records(self, node: str) -> dict[str, list[dict[str, Any]]]:
        """Return what an instance tells: ``db.trace``, what is switched on, and ``db.session``, its users' sessions.

        Raises:
            ReplyError: the instance says ``ORA-``, or can't be asked.
        """
        request = database_request(self._session, self.database, node, query_script(_TRACES), user=self._user)
        rows = rows_of(self._services.transport.run([request]).replies[node])
        traces, sessions = [], []
        for kind, *texts in rows.rows:
            a, b, c, d, e, f = (str(text) for text in texts)
            if kind == "trace":
                name = " ".join(part for part in (a, b, c, d) if part != "-")
                trace = {"type": a, "service": b, "module": c, "action": d, "waits": e, "instance": f}
                traces.append({"name": name, **trace, "trace": "ENABLED"})
            else:
                sessions.append({"name": f"{a},{b}", "sid": a, "serial": b, "trace": c, "waits": e, "module": f})
        return {"db.trace": traces, "db.session": sessions}

    def send(
        self, statements: Mapping[str, str], *, timeout: float, ours: Ours | None = None
    ) -> dict[str, tuple[Reply, str]]:
        """Run one statement on the instance of each node and return the replies with what is wrong, empty when all passed.

        Raises:
            RefusedError: the transport is read-only.
        """
        requests = [
            database_request(
                self._session,
                self.database,
                node,
                sent_script(sql),
                user=self._user,
                role=Role.ASM_WRITE,
                timeout=timeout,
                ours=ours,
            )
            for node, sql in statements.items()
        ]
        replies = self._services.transport.run(requests).replies
        return {node: (reply, problem_in(reply)) for node, reply in replies.items()}
