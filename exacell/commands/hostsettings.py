"""Show kernel settings of hosts, and plan changes of them. Allowed paths and values: :mod:`exacell.plan.hostsettings`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from exacell.commands.hosts import hosts_of
from exacell.core.cellset import grouped
from exacell.core.errors import ExitCode, RefusedError, StatementError
from exacell.language.words import split_words
from exacell.output.result import HOST, Column, Result
from exacell.output.tables import table_lines
from exacell.plan.hostsettings import companions, fold_devices, no_file, read_path, read_value, settings_plan
from exacell.plan.model import Planned
from exacell.session.hostfiles import read_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from exacell.language.registry import Call
    from exacell.plan.hostsettings import Found, Wanted
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session

_COLUMNS = (HOST, Column("device"), Column("setting"), Column("value"), Column("allowed"))


def show_setting(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per host and file: path, device, setting, value, and the values that the kernel offers.

    Raises:
        StatementError: a path is not that of a setting, or the statement names no hosts.
    """
    hosts = hosts_of(session, call)
    patterns = [read_path(word.value) for word in split_words(call.text_arg("path"))]
    answers = read_files(
        services.fleet, dict.fromkeys(hosts, patterns), timeout=request.read_timeout, cancel=session.interrupted
    )
    problems = [f"{host}: {files.problem}" for host, files in answers.items() if files.problem]
    records = []
    for host, files in answers.items():
        shown = {file.path: file for listed in files.found.values() for file in listed}
        records += [_record(host, file) for file in shown.values()]
        empty = [] if files.problem else [pattern for pattern in patterns if not files.found[pattern]]
        problems += [f"{host}: {no_file(pattern)}" for pattern in empty]
    code = ExitCode.FAILED if problems and records else ExitCode.NOT_EXECUTED if problems else ExitCode.DONE
    return Result(
        records=records,
        columns=_COLUMNS,
        fold=True,
        data=True,
        draw=partial(_drawn, records),
        problems=problems,
        exit_code=code,
    )


def _record(host: str, file: Found) -> dict[str, object]:
    return {
        "cell": host,
        "path": file.path,
        "device": file.device,
        "setting": file.setting,
        "value": file.value if file.readable else None,
        "allowed": file.choices,
        "problem": "" if file.readable else file.text,
    }


def _drawn(records: Sequence[Mapping[str, object]], width: int | None, color: bool, header: bool) -> Iterator[str]:
    """Yield the table; hosts and devices with the same value share a row."""
    alike = grouped(
        ((row["cell"], row["setting"], row["value"] or row["problem"], row["allowed"]), str(row["device"]))
        for row in records
    )
    rows = [
        {
            "cell": cell,
            "device": fold_devices(devices),
            "setting": setting,
            "value": value,
            "allowed": words,
        }
        for (cell, setting, value, words), devices in alike.items()
    ]
    columns = [column for column in _COLUMNS if column is HOST or any(row.get(column.name) for row in rows)]
    yield from table_lines(rows, columns, folded=True, width=width, color=color, header=header)


def set_setting(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan that changes the settings on the hosts from their current values.

    Raises:
        StatementError: a path or a value is not allowed, or the statement names no hosts.
        RefusedError: a host does not answer, or a file can't be set to the value.
    """
    hosts = hosts_of(session, call)
    wanted = [_pair(word.value) for word in split_words(call.text_arg("setting"))]
    patterns = [each for path, _ in wanted for each in (path, *companions(path))]
    answers = read_files(
        services.fleet, dict.fromkeys(hosts, patterns), timeout=request.read_timeout, cancel=session.interrupted
    )
    silent = [f"{host}: {files.problem}" for host, files in answers.items() if files.problem]
    if silent:
        raise RefusedError(f"{call.text}: {silent[0]}; nothing was sent", hint="leave it out: on HOST …")
    rack = session.need_rack().name
    return Planned(settings_plan(rack, call.text, wanted, {host: files.found for host, files in answers.items()}))


def _pair(word: str) -> Wanted:
    path, equals, value = word.partition("=")
    if not equals:
        raise StatementError(f"'{word[:60]}' has no =", hint="set setting PATH=VALUE")
    if (
        len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    ):  # Quotes around the value alone are allowed, too.
        value = value[1:-1]
    return read_path(path), read_value(value)
