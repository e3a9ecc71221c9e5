"""Collect trace files of a database from its nodes: reduced on the node, or copied if a node has no awk."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from exacell.care.sqltext import query_script
from exacell.core.errors import RefusedError, ReplyError, TransportError
from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.measure.collected import Collected
from exacell.measure.logwrites import LogWrites, together as together_writes
from exacell.measure.reducer import Reduced, lacks_awk, read_reduced, script
from exacell.measure.trace10046 import Traced, filling, summarize, together
from exacell.plan.dbchange import OWNER
from exacell.session.answers import problem_of
from exacell.session.dbsql import cluster_of, database_request, rows_of, runs_elsewhere
from exacell.transport.base import Reply, Request, Role, State

if TYPE_CHECKING:
    from exacell.session.services import Services
    from exacell.session.state import Session

_DIRECTORY = "select value from v$diag_info where name = 'Diag Trace'"
_LIMIT_S = 3600.0
"""Seconds that the reduction on a node may take: gawk reads about 200 MB of a trace per second."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What to collect.

    Attributes:
        tag: TRACEFILE_IDENTIFIER of the sessions; empty for files of any session.
        minutes: only files written to in the last so many minutes; None for all.
        node: only this node; empty for all nodes on which the database runs.
        user: the owner of the database's software.
        fetch: copy the files and read them here.
    """

    database: str
    event: str
    tag: str = ""
    minutes: int | None = None
    node: str = ""
    user: str = OWNER
    fetch: bool = False

    @property
    def pattern(self) -> str:
        """Return the pattern of the files' names."""
        return f"*_ora_*_{self.tag}.trc" if self.tag else "*_ora_*.trc"


def collect(session: Session, services: Services, asked: Asked, name: str) -> tuple[Collected, list[str]]:
    """Return the collected traces, and notes on how they came.

    Raises:
        TransportError: a node does not answer, so its files would be missing.
        ReplyError: a node's answer is an error.
        RefusedError: no file has a wait for the event.
    """
    directories = _directories(session, services, asked)
    found, notes = {}, []
    if not asked.fetch:
        scripts = {
            node: script(path, asked.pattern, asked.event, minutes=asked.minutes) for node, path in directories.items()
        }
        replies = _run(session, services, asked, scripts)
        for node, reply in replies.items():
            if lacks_awk(reply.stdout):
                notes.append(f"{node} has no awk, so whole files are copied")
                continue
            found[node] = _checked(node, reply, directories[node])
        came = sum(len(reply.stdout) for reply in replies.values())
        notes.append(f"{came:,} bytes were copied from {counted(len(replies), 'node')}")
    for node in directories:
        if node not in found:
            found[node] = _fetched(session, services, asked, node, directories[node])
    files = [_of_node(node, file) for node, its in found.items() for file in its.files]
    own = [file for file in files if file.events or file.broken]
    if not any(file.events for file in own):
        raise RefusedError(
            f"no wait for '{asked.event}' in {counted(len(files), 'trace file')} {asked.pattern} of "
            f"{asked.database.upper()} on "
            f"{', '.join(found)}",
            hint="type `trace on db=…` before the sessions work, or use `drive commits db=…`; tag= and "
            "last= choose the files",
        )
    return (
        Collected(
            name=name,
            database=asked.database.upper(),
            event=asked.event,
            taken=datetime.now(UTC).isoformat(timespec="seconds"),
            files=own,
            others=len(files) - len(own),
            size=sum(file.size for file in files),
            writes=together_writes(its.writes for its in found.values()),
        ),
        notes,
    )


def _directories(session: Session, services: Services, asked: Asked) -> dict[str, str]:
    """Return node → the directory into which the database's instance writes its traces."""
    nodes = [asked.node] if asked.node else list(cluster_of(session, asked.database).nodes)
    text = query_script(_DIRECTORY)
    requests = [database_request(session, asked.database, node, text, user=asked.user) for node in nodes]
    found = {}
    for node, reply in services.transport.run(requests).replies.items():
        if runs_elsewhere(reply):
            continue
        if reply.state not in (State.OK, State.FAILED):
            raise TransportError(
                f"{node} has no traces of {asked.database}: {problem_of(reply)}",
                hint="node=NAME collects from one node; the traces of the other nodes are then missing",
            )
        found[node] = str(rows_of(reply).rows[0][0])
    if not found:
        raise ReplyError(
            f"{asked.database} runs on none of {', '.join(nodes)}",
            hint="node=NAME chooses a node; `crsctl status resource` shows where the database runs",
        )
    return found


def _run(session: Session, services: Services, asked: Asked, scripts: Mapping[str, str]) -> Mapping[str, Reply]:
    """Run a script on each node as the owner of the database's software."""
    sudo = cluster_of(session, asked.database).sudo
    command = f"sudo -n -u {shlex.quote(asked.user)} /bin/sh -s" if sudo else "/bin/sh -s"
    requests = [
        Request(
            target=node,
            command=command,
            role=Role.ASM_READ,
            stdin=text,
            timeout=_LIMIT_S,
            login=None if sudo else asked.user,
        )
        for node, text in scripts.items()
    ]
    return services.transport.run(requests).replies


def _checked(node: str, reply: Reply, directory: str) -> Reduced:
    try:
        return read_reduced(reply.stdout, directory)
    except ReplyError as error:
        said = reply.stderr.strip().splitlines()
        why = f"{error.message}; {said[-1][:200]}" if said else error.message
        raise ReplyError(
            f"{node}: {why if reply.state is not State.TIMED_OUT else problem_of(reply)}",
            hint="node=NAME collects from one node",
        ) from error


def _fetched(session: Session, services: Services, asked: Asked, node: str, directory: str) -> Reduced:
    """Return the content of a node's trace files, copied one after another and reduced here."""
    age = "" if asked.minutes is None else f" -mmin -{asked.minutes}"
    listing = (
        f"cd {shlex.quote(directory)} && find . -maxdepth 1 -type f -name {shlex.quote(asked.pattern)}{age} | sort\n"
    )
    reply = _run(session, services, asked, {node: listing})[node]
    if reply.state is not State.OK:
        raise ReplyError(f"{node}: {problem_of(reply)}", hint="node=NAME collects from one node")
    files = [_read(session, services, asked, node, f"{directory}/{name[2:]}") for name in reply.stdout.splitlines()]
    writes = [LogWrites.of(own.values()) for own in together(files).writes.values()]
    return Reduced([replace(file, writes={}) for file in files], together_writes(writes))


def _read(session: Session, services: Services, asked: Asked, node: str, path: str) -> Traced:
    reply = _run(session, services, asked, {node: f"cat {shlex.quote(path)}\n"})[node]
    if reply.state is not State.OK:
        raise ReplyError(f"{node}: {path}: {problem_of(reply)}", hint="node=NAME collects from one node")
    text = reply.stdout.encode("utf-8", "surrogateescape")
    return summarize(filling([text]), asked.event, path, grouped=True)


def _of_node(node: str, file: Traced) -> Traced:
    """Return a file's traces with the node in front of its paths."""
    return replace(
        file,
        broken={f"{node}:{path}": why for path, why in file.broken.items()},
        headers={f"{node}:{path}": head for path, head in file.headers.items()},
    )
