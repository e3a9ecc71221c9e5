"""Run SQL on a database node, on an ASM or a database instance, and find where a database's instance runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from exacell.care.sqltext import ROWS, Rows, query_script, read_rows, sent_script
from exacell.core.errors import ConfigError, ReplyError, StatementError, TransportError
from exacell.core.meant import ask_for
from exacell.language.registry import Kind
from exacell.plan.asmfacts import END, sql_errors
from exacell.plan.dbchange import OWNER
from exacell.session.answers import problem_of
from exacell.transport.base import Reply, Request, Role, State

if TYPE_CHECKING:
    from exacell.core.config import AsmConfig
    from exacell.session.services import Services
    from exacell.session.state import Session

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_$#]{0,29}")
_NOT_HERE = "__EXACELL_NO_INSTANCE__"

_FIND = """\
sid=$(ps -eo args= | sed -n 's/^ora_pmon_//p' | grep -ix '{name}_\\{{0,1\\}}[0-9]*' | head -n 1)
[ -n "$sid" ] || {{ echo {mark}; exit 3; }}
ORAENV_ASK=NO; ORACLE_SID={name}; PATH=$PATH:/usr/local/bin; export ORAENV_ASK ORACLE_SID PATH
. oraenv >/dev/null 2>&1
ORACLE_SID=$sid; PATH=$ORACLE_HOME/bin:$PATH; export ORACLE_HOME ORACLE_SID PATH
"""
"""Finds the instance by its process, and its home by oraenv. Source: reference asm.md section 1, environment."""


SQLPLUS = "exec sqlplus -S -L '/ as sysdba'\n"
"""The default command to run with the instance's environment."""


def instance_command(name: str, then: str = SQLPLUS) -> str:
    """Return the command that opens SQL*Plus on a database's instance on the node.

    Args:
        then: shell lines to run instead of SQL*Plus, with the instance's environment.

    Raises:
        StatementError: a database can't have this name.
    """
    if not _NAME.fullmatch(name):
        raise StatementError(
            f"db={name} can't be a database's name",
            hint="use a letter, then letters, digits and _ $ #; Tab shows the databases",
        )
    script = _FIND.format(name=name, mark=_NOT_HERE) + then
    return f"/bin/sh -c '{script.replace(chr(39), chr(39) + chr(92) + chr(39) + chr(39))}'"


def runs_elsewhere(reply: Reply) -> bool:
    """Return whether a node has answered that no instance of the database runs there."""
    return _NOT_HERE in reply.stdout


def cluster_of(session: Session, database: str) -> AsmConfig:
    """Return the ASM cluster on whose nodes a database runs.

    Raises:
        ConfigError: the rack has no database nodes, or has several clusters and none names the database.
    """
    rack = session.need_rack()
    clusters = list(rack.asm.values())
    for cluster in clusters:
        if database.lower() in (name.lower() for name in cluster.databases):
            return cluster
    if len(clusters) == 1:
        return clusters[0]
    if not clusters:
        raise ConfigError(
            f"rack {rack.name} has no database nodes, so {database} can't be queried",
            hint=f"name them in the rack's file: [asm.main] nodes=…, home=… ({rack.source or rack.name})",
        )
    raise ConfigError(
        f"no ASM cluster ({', '.join(rack.asm)}) has {database} in its databases=",
        hint=f'add it in the configuration: [racks.{rack.name}.asm.NAME] databases = ["{database}"]',
    )


def database_request(
    session: Session,
    database: str,
    node: str,
    script: str,
    *,
    user: str = OWNER,
    then: str = SQLPLUS,
) -> Request:
    """Return the request that runs a SQL*Plus script, or shell lines, on the database's instance on one node.

    Its role is a read, and it has the usual time limit.
    """
    cluster = cluster_of(session, database)
    command = instance_command(database, then)
    if cluster.sudo:
        command, login = f"sudo -n -u {user} {command}", None
    else:
        login = user
    return Request(target=node, command=command, role=Role.ASM_READ, stdin=script, login=login)


def node_of(session: Session, services: Services, database: str, *, user: str = OWNER) -> str:
    """Return the first node that answers and has an instance of the database.

    Raises:
        TransportError: no node answers.
        ReplyError: nodes answer, but none runs the database.
    """
    problems = []
    for node in cluster_of(session, database).nodes:
        reply = services.transport.run([database_request(session, database, node, "exit\n", user=user)]).replies[node]
        if runs_elsewhere(reply):
            problems.append(f"{node}: no instance of {database} runs there")
        elif reply.state in (State.OK, State.FAILED):
            return node
        else:
            problems.append(f"{node}: {problem_of(reply)}")
    kind = ReplyError if any("no instance" in line for line in problems) else TransportError
    asked = ask_for(database, services.learned.get(Kind.DB))
    raise kind(f"database {database} did not answer: {'; '.join(problems)}", hint=asked)


def query_database(
    session: Session, services: Services, database: str, sql: str, *, user: str = OWNER
) -> tuple[str, Rows]:
    """Return the node that was asked and the rows of a query on a database.

    Raises:
        TransportError: no node answers.
        ReplyError: no node runs the database, or the instance answers ``ORA-``.
    """
    node = node_of(session, services, database, user=user)
    request = database_request(session, database, node, query_script(sql), user=user)
    return node, rows_of(services.transport.run([request]).replies[node])


def query_asm(services: Services, name: str, sql: str) -> tuple[str, Rows]:
    """Return the first node that answers and the rows of a query on an ASM cluster.

    Raises:
        TransportError: no node answers.
        ReplyError: the instance answers ``ORA-``.
    """
    client = services.asm(name)
    problems = []
    for node in client.config.nodes:
        request = Request(target=node, command=client.command(node), role=Role.ASM_READ, stdin=query_script(sql))
        reply = services.transport.run([request]).replies[node]
        if reply.state in (State.OK, State.FAILED) and reply.stdout.strip():
            return node, rows_of(reply)
        problems.append(f"{node}: {problem_of(reply)}")
    raise TransportError(
        f"no node of the ASM cluster {client.config.name} answered: {'; '.join(problems)}",
        hint="`on @db facts` shows whether the nodes answer",
    )


def change_request(
    session: Session, services: Services, *, asm: str = "", database: str = "", sql: str, user: str = OWNER
) -> Request:
    """Return the request that runs one changing statement on one instance."""
    script = sent_script(sql)
    if database:
        node = node_of(session, services, database, user=user)
        return replace(database_request(session, database, node, script, user=user), role=Role.ASM_WRITE)
    client = services.asm(asm)
    node = client.facts().node
    return Request(target=node, command=client.command(node), role=Role.ASM_WRITE, stdin=script)


def problem_in(reply: Reply) -> str:
    """Return the problem in the reply to a changing statement; empty if it passed."""
    errors = sql_errors(reply.stdout)
    if errors:
        return " / ".join(errors[:4])
    warned = _WARNED.search(reply.stdout)
    if warned is not None:
        return f"{warned[0]}; dba_errors shows the errors"
    return "" if END in reply.stdout else _ended_early(reply)


_WARNED = re.compile(r"Warning: .*compilation errors", re.IGNORECASE)
"""The message of SQL*Plus after it has stored code that can't run.

Source: Oracle SQL*Plus User's Guide, Creating Stored Procedures."""


def _ended_early(reply: Reply) -> str:
    """Return the problem of a SQL*Plus script that did not run to its end."""
    if reply.problem or reply.state is not State.OK:
        return problem_of(reply)
    last = next((line.strip() for line in reversed(reply.stdout.splitlines()) if line.strip()), "nothing")
    return f"SQL*Plus ended early; its last output: {last[:200]}"


def rows_of(reply: Reply) -> Rows:
    """Return the rows that a script with one query printed; see :func:`tables_of`."""
    return tables_of(reply, 1)[0]


def tables_of(reply: Reply, queries: int) -> list[Rows]:
    """Return the rows that a script with ``queries`` queries printed, one item per query.

    Raises:
        ReplyError: the instance answers ``ORA-``, the script did not run to its end, or a query has no answer.
    """
    behind = reply.stdout.partition(ROWS)[2] or reply.stdout
    errors = sql_errors(behind)
    if errors:
        raise ReplyError(f"{reply.target}: " + " / ".join(errors[:4]))
    if END not in reply.stdout:
        raise ReplyError(f"{reply.target}: {_ended_early(reply)}", hint="type the `sql` statement again")
    found = [read_rows(ROWS + table) for table in reply.stdout.split(ROWS)[1:]]
    if len(found) != queries:
        raise ReplyError(f"{reply.target}: SQL*Plus gave only {len(found)} of {queries} answers", hint="run it again")
    return found


def records_of(rows: Rows) -> list[Mapping[str, str | int | float | None]]:
    """Return the rows as records: column → value."""
    return [dict(zip(rows.columns, row, strict=True)) for row in rows.rows]
