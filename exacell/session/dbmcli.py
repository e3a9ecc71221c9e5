"""Ask DBMCLI of database nodes, as root over SSH. Source: Oracle DBMMN, starting DBMCLI (``-e command``)."""

from __future__ import annotations

from shlex import quote

from exacell.session.answers import problem_of
from exacell.transport.base import Reply, Request, Role

_NOT_FOUND = 127
"""The shell's exit status for a program that it can't find. Source: POSIX, Shell Command Language, Exit Status for Commands."""


def dbmcli(host: str, text: str, *, timeout: float | None = None) -> Request:
    """Return the request that runs one reading statement in DBMCLI of a host."""
    return Request(target=host, command=f"dbmcli -e {quote(text)}", role=Role.HOST_READ, timeout=timeout)


def why_not(reply: Reply) -> str:
    """Return one line about a reply that is not good; exit status 127 means that the host has no dbmcli."""
    missing = reply.exit_status == _NOT_FOUND
    return "there is no dbmcli; only database nodes of an Exadata rack have it" if missing else problem_of(reply)
