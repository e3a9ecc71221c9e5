"""DBMCLI of database nodes, asked and sent to as root over SSH. Source: Oracle DBMMN, starting DBMCLI (``-e command``)."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from functools import partial
from shlex import quote
from typing import Any

from exacell.cellcli.reply import cut_line, cut_off, errors, read_detail
from exacell.core.values import dataclass
from exacell.session.answers import problem_of
from exacell.session.fleet import Fleet
from exacell.transport.base import FleetResult, Ours, Reply, ReplyHandler, Request, Role, State

DETAIL = "list dbserver detail"

_NOT_FOUND = 127
"""Source: POSIX, Shell Command Language, Exit Status for Commands."""


def dbmcli(host: str, text: str, role: Role, *, timeout: float | None = None, ours: Ours | None = None) -> Request:
    """Return the request that has DBMCLI of a host carry out a statement."""
    return Request(target=host, command=f"dbmcli -e {quote(text)}", role=role, timeout=timeout, ours=ours)


@dataclass(frozen=True, kw_only=True)
class Server:
    """What one host tells of itself: attribute -> text; why it does not, one line, where ``problem`` is not empty."""

    row: Mapping[str, Any]
    problem: str = ""


def read_servers(
    fleet: Fleet, hosts: Iterable[str], *, timeout: float | None = None, cancel: threading.Event | None = None
) -> dict[str, Server]:
    """Return what LIST DBSERVER DETAIL says of each host."""
    asked = [dbmcli(host, DETAIL, Role.HOST_READ, timeout=timeout) for host in hosts]
    found = {}
    for host, reply in fleet.run(asked, cancel=cancel).replies.items():
        wrong = "; ".join(f"{e.code}: {e.message}" for e in (*errors(reply.stdout), *errors(reply.stderr))[:1])
        if reply.state is State.OK and not wrong and (cut := cut_line(reply.stdout)):
            wrong = cut_off(cut)
        rows = read_detail(reply.stdout, "DBSERVER") if reply.state is State.OK and not wrong else []
        problem = "" if len(rows) == 1 else wrong or why_not(reply)
        found[host] = Server(row=rows[0] if len(rows) == 1 else {}, problem=problem)
    return found


def why_not(reply: Reply) -> str:
    """Return one line about a reply of a host that is not good; 127 is the shell's word for a program that is not there."""
    missing = reply.exit_status == _NOT_FOUND
    return "there is no dbmcli; only database nodes of an Exadata rack have it" if missing else problem_of(reply)


def send_dbmcli(
    fleet: Fleet,
    statements: Mapping[str, str],
    *,
    timeout: float,
    ours: Ours | None = None,
    on_reply: ReplyHandler | None = None,
) -> FleetResult:
    """Have each host's DBMCLI carry out its statement and return the replies.

    Raises:
        RefusedError: the transport is read-only.
    """
    request = partial(dbmcli, role=Role.HOST_WRITE, timeout=timeout, ours=ours)
    return fleet.run([request(host, text) for host, text in statements.items()], on_reply=on_reply)
