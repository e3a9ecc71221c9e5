"""Ask and change one database through SQL*Plus, for the steps of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from exacell.care.sqltext import query_script, sent_script
from exacell.measure.importers.drive import SESSION, WAITS
from exacell.plan.dbchange import OWNER
from exacell.plan.planners import commits, reads
from exacell.plan.planners.commits import CommitLoad
from exacell.plan.planners.reads import ReadLoad
from exacell.session.answers import problem_of
from exacell.session.dbrecords import looks, read_look
from exacell.session.dbsql import SQLPLUS, database_request, node_of, problem_in, tables_of
from exacell.transport.base import Ours, Reply, Request, Role, State

if TYPE_CHECKING:
    from exacell.care.sqltext import Rows
    from exacell.plan.foreseen import Foreseen
    from exacell.plan.model import Check
    from exacell.session.services import Services
    from exacell.session.state import Session

_TABLE = "select table_name from dba_tables where owner = 'SYS' and table_name = '{}'"
_TABLES = {
    "db.commits": (commits.TABLE, f"select count(*), nvl(sum(n), 0) from {commits.TABLE}"),
    "db.keys": (reads.TABLE, f"select count(*), 0 from {reads.TABLE}"),
}
"""Check object → its load's table, and the query for the table's row count and the number of updates."""

_LOADED = "__EXACELL_LOADED__"
_LONGEST = 24 * 3600.0
"""The longest time that a load may take, in seconds."""

_STARTED = """awk 'BEGIN {{{{
    print "whenever sqlerror exit failure"; print "set feedback off heading off pagesize 0 linesize 200 trimout on define off"
    print "set serveroutput on"; print "set appinfo \\"{module}\\""
  }}}}'; sleep {{wait}}
"""
_ENDED = f"""\
    print "select \\047{WAITS} \\047 || total_waits || \\047 \\047 || time_waited_micro || \\047 \\047 || event"
    print "from v$session_event where sid = sys_context(\\047userenv\\047, \\047sid\\047)"
    print "and wait_class not in (\\047Idle\\047, \\047Network\\047);"; print "exit"
"""
"""The first and the last input of each session of a load, from awk: its name, and the query of its waits. All sessions are
connected before one begins.
"""

_COMMITS = f"""\
echo 'update {commits.TABLE} set n = 0;' | sqlplus -S -L '/ as sysdba' >/dev/null
i=0; all=
while [ $i -lt {{sessions}} ]; do
  i=$((i + 1))
  {{{{ {_STARTED.format(module=commits.MODULE)}\
  awk -v i=$i -v n={{times}} -v tag='{{tag}}' 'BEGIN {{{{
    if (tag != "") print "alter session set tracefile_identifier = \\047" tag "\\047;"
    print "variable t number"; print "execute :t := dbms_utility.get_time"
    while (n-- > 0) print "update {commits.TABLE} set n = n + 1 where id = " i ";\\ncommit;"
    print "execute dbms_output.put_line(\\047{SESSION} \\047 || (dbms_utility.get_time - :t))"
{_ENDED}\
  }}}}'; }}}} | sqlplus -S -L '/ as sysdba' &
  all="$all $!"
done
"""
_READS = f"""\
i=0; all=
while [ $i -lt {{sessions}} ]; do
  i=$((i + 1))
  {{{{ {_STARTED.format(module=reads.MODULE)}\
  awk 'BEGIN {{{{
    print "{{block}}"; print "/"
{_ENDED}\
  }}}}'; }}}} | sqlplus -S -L '/ as sysdba' &
  all="$all $!"
done
"""
_WAITED = f"""\
bad=0
for one in $all; do wait $one || bad=$((bad + 1)); done
echo {_LOADED} $bad
"""
"""One SQL*Plus per session. Its lines are short, so that the output of several sessions does not mix within a line."""


class DatabaseClient:
    """One database, reached through the node that a step names."""

    def __init__(
        self,
        session: Session,
        services: Services,
        database: str,
        *,
        user: str = OWNER,
        foreseen: Foreseen | None = None,
    ) -> None:
        self._session, self._services, self.database, self._user = session, services, database, user
        self._foreseen = foreseen

    def home(self) -> str:
        """Return the first node that answers and has an instance of the database; see :func:`node_of`."""
        return node_of(self._session, self._services, self.database, user=self._user)

    def records(self, node: str, checks: Sequence[Check]) -> dict[str, list[dict[str, Any]]]:
        """Return the records of the objects that checks name, by object: see :mod:`exacell.session.dbrecords`; ``db.commits`` and
        ``db.keys`` are the tables of loads.

        Raises:
            ReplyError: the instance answers ``ORA-``, or can't be asked.
        """
        wanted = {check.object for check in checks}
        found = {name: self._loaded(node, *_TABLES[name]) for name in _TABLES if name in wanted}
        asked = looks(checks)
        for look, table in zip(asked, self._query(node, *asked.values()) if asked else (), strict=True):
            found |= read_look(look, [tuple(row) for row in table.rows], checks)
        return found if self._foreseen is None else self._foreseen.of(self.database, found)

    def _loaded(self, node: str, table: str, asked: str) -> list[dict[str, Any]]:
        """Return one record with a load's table, its rows and how often they were updated; empty if there is no table."""
        if not self._query(node, _TABLE.format(table))[0].rows:
            return []
        ((rows, total),) = self._query(node, asked)[0].rows
        return [{"name": table, "rows": rows, "total": total}]

    def _query(self, node: str, *queries: str) -> list[Rows]:
        """Return the rows of each query; one SQL*Plus runs them all."""
        request = database_request(self._session, self.database, node, query_script(*queries), user=self._user)
        return tables_of(self._services.transport.run([request]).replies[node], len(queries))

    def send(
        self, statements: Mapping[str, str], *, timeout: float, ours: Ours | None = None
    ) -> dict[str, tuple[Reply, str]]:
        """Run one statement on the instance of each node and return the replies, each with its problem, empty if it passed.

        Raises:
            RefusedError: the transport is read-only.
        """
        requests = [self._request(node, sql, timeout, ours) for node, sql in statements.items()]
        replies = self._services.transport.run(requests).replies
        return {node: (reply, _problem(statements[node], reply)) for node, reply in replies.items()}

    def _request(self, node: str, sql: str, timeout: float, ours: Ours | None) -> Request:
        load = load_in(sql)
        request = database_request(
            self._session,
            self.database,
            node,
            "" if load is not None else sent_script(sql),
            user=self._user,
            then=SQLPLUS if load is None else _script(load),
        )
        return replace(request, role=Role.ASM_WRITE, timeout=timeout if load is None else _LONGEST, ours=ours)


def load_in(sql: str) -> CommitLoad | ReadLoad | None:
    """Return the load that a step's SQL holds; None if it holds another statement."""
    return CommitLoad.read(sql) or ReadLoad.read(sql)


def _script(load: CommitLoad | ReadLoad) -> str:
    if isinstance(load, CommitLoad):
        return _COMMITS.format(sessions=load.sessions, times=load.commits, tag=load.tag, wait=_gathered(load)) + _WAITED
    block = load.block.format(mark=SESSION).replace("'", "\\047")
    return _READS.format(sessions=load.sessions, block=block, wait=_gathered(load)) + _WAITED


def _gathered(load: CommitLoad | ReadLoad) -> int:
    """Return the seconds in which all sessions of a load will have connected; a single session waits for no other."""
    return 0 if load.sessions == 1 else 1 + load.sessions // 10


def _problem(sql: str, reply: Reply) -> str:
    """Return the problem in the reply to a statement or a load; empty if it passed."""
    if load_in(sql) is None:
        return problem_in(reply)
    failed = reply.stdout.partition(_LOADED)[2].split()
    if not failed:
        return problem_of(reply) if reply.state is not State.OK else "the load ended early"
    if failed[0] == "0":
        return ""
    told = next((line.strip() for line in reply.stdout.splitlines() if line.startswith("ORA-")), "")
    return f"{failed[0]} sessions of the load failed{f': {told}' if told else ''}"
