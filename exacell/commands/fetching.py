"""Files of hosts brought here."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from exacell.change.sending import Sending
from exacell.commands.hosts import hosts_of
from exacell.core.errors import ExitCode, StatementError, why_unreadable
from exacell.output.result import HOST, Column, Result
from exacell.session.fetching import fetch, look, read_remote_path
from exacell.session.recording import since, told_while_waiting

if TYPE_CHECKING:
    from exacell.language.registry import Call
    from exacell.session.fetching import There
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session

_DEADLINE = 3600.0
"""Seconds for one file of one host where --timeout says nothing."""


def copy_from(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per host and file: its path there, its bytes and checksum, and where it is here.

    Raises:
        StatementError: the path is none of a file, the statement names no hosts or names them twice, or a file would replace
            one that is here.
    """
    hosts, _, path = call.text_arg("path").rpartition(":/")
    pattern = read_remote_path(f"/{path}" if hosts else call.text_arg("path"))
    if hosts and len(session.selection.hosts):
        raise StatementError(
            f"{call.text}: the hosts are named twice, by ON and before the path", hint="leave one of the two out"
        )
    with session.selection.on(hosts) if hosts else nullcontext():
        return _copied(session, services, request, call, hosts_of(session, call), pattern)


def _copied(
    session: Session, services: Services, request: Request, call: Call, hosts: tuple[str, ...], pattern: str
) -> Result:
    seconds = call.flags.get("timeout")
    timeout = float(seconds) if isinstance(seconds, (int, float)) else _DEADLINE
    folder = Path(call.text_arg("to", ".")).expanduser()
    with told_while_waiting(since(f"looking at {pattern}"), services.console.waiting):
        found = look(services.fleet, hosts, pattern, timeout=timeout, cancel=session.interrupted)
    problems = [f"{host}: {files}" for host, files in found.items() if isinstance(files, str)]
    files = {host: listed for host, listed in found.items() if not isinstance(listed, str)}
    goals = {(host, file.path): folder / host / file.name for host, listed in files.items() for file in listed}
    if len(set(goals.values())) != len(goals):
        raise StatementError(
            f"{pattern}: two files of one host have the same name; nothing was copied",
            hint="copy them one by one, or into folders of their own with to=",
        )
    there = next((goal for goal in goals.values() if goal.exists()), None)
    if there is not None:
        raise StatementError(f"{there} is here already; nothing was copied", hint="name another folder, or remove it")
    try:
        for goal in goals.values():
            goal.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StatementError(f"{folder} can't be written: {why_unreadable(error)}") from error
    total = max((sum(file.size for file in listed) for listed in files.values()), default=0)
    sending = Sending(services.console, f"copy from {pattern}", list(files), total)
    records = []
    try:
        for number in range(max(map(len, files.values()), default=0)):
            turn = {host: listed[number] for host, listed in files.items() if number < len(listed)}
            wanted = {host: (file, goals[host, file.path]) for host, file in turn.items()}
            ended = fetch(services.fleet, wanted, timeout=timeout, cancel=session.interrupted, sent=sending.sent)
            problems += [f"{host}: {why}" for host, why in ended.items() if why]
            records += [_record(host, *wanted[host]) for host, why in ended.items() if not why]
            if session.interrupted.is_set():
                break
    finally:
        sending.over()
    code = ExitCode.DONE if not problems else ExitCode.FAILED if records else ExitCode.NOT_EXECUTED
    columns = (HOST, Column("file"), Column("bytes", "number"), Column("to"), Column("sha256"))
    return Result(records=records, columns=columns, data=True, problems=problems, exit_code=code)


def _record(host: str, file: There, goal: Path) -> dict[str, object]:
    return {"cell": host, "file": file.path, "bytes": file.size, "to": str(goal), "sha256": file.sha256}
