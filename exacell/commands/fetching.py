"""Copy files from hosts to this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

from exacell.change.sending import Sending
from exacell.commands.hosts import hosts_of
from exacell.core.cellset import fold
from exacell.core.errors import ExitCode, StatementError, why_unreadable
from exacell.core.paths import at_home
from exacell.language.hostpath import read_remote_path
from exacell.language.registry import Call
from exacell.output.result import HOST, Column, Result
from exacell.session.fetching import There, fetch, is_here, look
from exacell.session.given import Request, Services, Session
from exacell.session.recording import since, told_while_waiting

DEADLINE = 3600.0
"""Seconds for one file of one host without --timeout."""


def copy_from(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per host and file: its path there, its bytes and checksum, and its path here.

    Raises:
        StatementError: the path is not that of a file, the statement names no hosts or names them twice, or a file would
            replace an
            existing one here.
    """
    hosts, _, path = call.text_arg("path").rpartition(":/")
    pattern = read_remote_path(f"/{path}" if hosts else call.text_arg("path"))
    if hosts and len(session.selection.hosts):
        raise StatementError(
            f"{call.text}: the hosts are given twice, by ON and before the path", hint="leave one of the two out"
        )
    with session.selection.on(hosts) if hosts else nullcontext():
        if session.need_rack().cells and not len(session.selection.hosts):
            raise _of_cells(session, pattern)
        return _copied(session, services, call, hosts_of(session, call), pattern)


def _of_cells(session: Session, pattern: str) -> StatementError:
    """Return the error of a statement that names cells; its hint has the statement that copies a file of a cell."""
    selected, groups = session.selected(), list(session.need_rack().host_groups)
    are = "is a cell" if len(selected) == 1 else "are cells"
    to_hosts = f"; of hosts: copy from @{groups[0]}:{pattern}" if groups else ""
    return StatementError(
        f"copy from is for hosts, not cells: {fold(selected)} {are}",
        hint=f"for the text of a cell's file, type `on {fold(selected)} sh cat {pattern} > FILE`{to_hosts}",
    )


def _copied(session: Session, services: Services, call: Call, hosts: tuple[str, ...], pattern: str) -> Result:
    seconds = call.flags.get("timeout")
    timeout = float(seconds) if isinstance(seconds, (int, float)) else DEADLINE
    folder = at_home(call.text_arg("to", "."))

    def place(host: str) -> Path:
        try:
            (folder / host).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StatementError(f"{folder} can't be written: {why_unreadable(error)}") from error
        return folder / host

    brought, problems = bring(session, services, hosts, pattern, place, f"copy from {pattern}", timeout)
    records = [_record(*each) for each in brought]
    code = ExitCode.DONE if not problems else ExitCode.FAILED if records else ExitCode.NOT_EXECUTED
    columns = (HOST, Column("file"), Column("bytes", "number"), Column("to"), Column("sha256"))
    return Result(records=records, columns=columns, data=True, problems=problems, exit_code=code)


def bring(
    session: Session,
    services: Services,
    hosts: Sequence[str],
    pattern: str,
    place: Callable[[str], Path],
    title: str,
    timeout: float,
) -> tuple[list[tuple[str, There, Path]], list[str]]:
    """Copy the files that match a pattern; return (host, file there, path here) for each, and the problems.

    Args:
        place: returns the folder for a host's files, and creates it.
        title: the text that is shown while it runs.
        timeout: seconds for each file of a host.

    Raises:
        StatementError: a file would replace an existing one here, or another one of the same host.
    """
    with told_while_waiting(since(f"looking at {pattern}"), services.console.waiting):
        found = look(services.fleet, hosts, pattern, timeout=timeout, cancel=session.interrupted)
    problems = [f"{host}: {problem}" for host, listed in found.items() for problem in listed.problems]
    files = {host: listed.files for host, listed in found.items() if listed.files}
    if any(len({file.name for file in listed}) < len(listed) for listed in files.values()):
        raise StatementError(
            f"{pattern}: two files of one host have the same name; nothing was copied",
            hint="copy them one by one, or to different folders with to=",
        )
    goals = {
        (host, file.path): folder / file.name for host in files for folder in [place(host)] for file in files[host]
    }
    # If the statement is repeated after a kill, a file that had arrived completely is no obstacle.
    here = {
        (host, file.path) for host, listed in files.items() for file in listed if is_here(file, goals[host, file.path])
    }
    there = next((goal for key, goal in goals.items() if key not in here and goal.exists()), None)
    if there is not None:
        raise StatementError(
            f"{there} already exists here with other content; nothing was copied",
            hint="name another folder, or remove it",
        )
    total = max((sum(file.size for file in listed) for listed in files.values()), default=0)
    sending = Sending(services.console, title, list(files), total)
    brought, ended_there = [], set()
    try:
        for number in range(max(map(len, files.values()), default=0)):
            turn = {host: listed[number] for host, listed in files.items() if number < len(listed)}
            wanted = {host: (file, goals[host, file.path]) for host, file in turn.items()}
            new = {host: each for host, each in wanted.items() if (host, each[0].path) not in here}
            ended = dict.fromkeys(wanted, "")
            ended |= fetch(services.fleet, new, timeout=timeout, cancel=session.interrupted, sent=sending.sent)
            ended_there |= {(host, file.path) for host, file in turn.items()}
            problems += [f"{host}: {why}" for host, why in ended.items() if why]
            brought += [(host, *wanted[host]) for host, why in ended.items() if not why]
            if session.interrupted.is_set():
                break
    finally:
        sending.over()
    for host, listed in files.items():
        missing = [file.path for file in listed if (host, file.path) not in ended_there]
        if missing:
            problems.append(f"{host}: interrupted before {missing[0]}")
    return brought, problems


def _record(host: str, file: There, goal: Path) -> dict[str, object]:
    return {"cell": host, "file": file.path, "bytes": file.size, "to": str(goal), "sha256": file.sha256}
