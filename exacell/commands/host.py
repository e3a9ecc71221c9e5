"""Run a command on this machine, such as the load that is measured between two snapshots."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

from exacell.change.clocks import refuse_absences
from exacell.change.door import Work, current_rack, door_of, refuse_unread
from exacell.change.here import held, pass_programs, refuse_replacing
from exacell.change.running import REPLY_KEPT
from exacell.core.errors import (
    BrokenOffError,
    ExitCode,
    JournalError,
    RefusedError,
)
from exacell.core.localshell import need_shell
from exacell.core.paths import at_home
from exacell.core.values import replace
from exacell.journal.actor import actor
from exacell.journal.reading import HERE
from exacell.journal.record import Row
from exacell.language.line import with_call_flags
from exacell.language.registry import Call, Value
from exacell.language.shellwords import command_given
from exacell.opaque.findings import Findings
from exacell.opaque.here import is_device
from exacell.opaque.lexing import patterns_quoted
from exacell.opaque.scan import command_findings, filter_findings
from exacell.output.result import Result
from exacell.session.recording import since, told_while_waiting

if TYPE_CHECKING:
    from exacell.language.line import Line
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session

_SHOWN = 60
"""Maximum number of characters of the command in messages."""


def host(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Run the command, show its output, and return its exit status as the exit code.

    Raises:
        RefusedError: it contains a change, or can't be read and was not accepted, or this machine has no shell.
        JournalError: the journal can't be written; nothing was run.
    """
    text, flags = command_given(call, session.options.over(call.flags))
    text = patterns_quoted(text)
    findings = judged(session, services, request, text, flags, statement=call.text)
    if flags.get("dry-run"):
        return Result(notes=[f"-n: host {text[:_SHOWN]} was not run"])
    need_shell(f"host {text[:_SHOWN]}")
    changing = nullcontext() if findings.harmless else services.while_changing()
    with told_while_waiting(since(f"running {text[:_SHOWN]}"), services.console.waiting), changing:
        return (
            _shown(services, text, _run(text))
            if findings.harmless
            else _journalled(session, services, request, text, findings, flags)
        )


def judged(
    session: Session, services: Services, request: Request, text: str, flags: Mapping[str, Value], *, statement: str
) -> Findings:
    """Return the findings about a command for this machine, which may then be run.

    Args:
        statement: the statement that the journal records with a refusal.

    Raises:
        RefusedError: the command contains a change, or can't be read and was not accepted.
    """
    current_rack(session, services)  # A command line finds its rack only when it first needs it.
    findings = command_findings(text)
    _refuse_changes(text, findings)
    accept = "`run … --accept-opaque` allows it" if request.origin else "host --accept-opaque … runs it without a guard"
    work = Work(
        statement=statement, flags=flags, accept=accept, undone="nothing was run", instead=findings.instead,
        named=text in request.loads,
    )  # fmt: skip
    refuse_unread(session, services, request, findings.unread, work)
    refuse_absences(session, services, request, findings.absences, statement=f"host {text}", beside=True)
    return findings


def pass_here(session: Session, services: Services, request: Request, line: Line, text: str) -> Line:
    """Return a line with ``!``, ``|`` or ``>``, after the same checks as for ``host``.

    With -n, a command that exacell can't read and that needs acceptance is only shown, even if it was accepted.

    Raises:
        RefusedError: its command contains a change, or can't be read and was not accepted, or a file would be replaced.
        JournalError: the command was accepted, but the journal can't be written; nothing was run.
    """
    flags = session.options.over(line.flags)
    findings = command_findings(line.shell) if line.shell else filter_findings(line.pipe) if line.pipe else Findings()
    if findings.harmless and not line.redirect:
        return line
    current_rack(session, services)  # A command line finds its rack only when it first needs it.
    closed = held(session, request)
    if closed:
        _refuse_changes(line.shell or line.pipe, findings)
    unread = findings.unseen
    if line.redirect:
        refuse_replacing(session, ">", line.redirect)
        if not request.typed and at_home(line.redirect).exists() and not is_device(line.redirect):
            unread = [f"> {line.redirect}, which exists", *unread]
    if line.shell and closed:
        judged(session, services, request, line.shell, flags, statement=text)
        return with_call_flags(f"host -- {line.shell}", flags)
    work = Work(
        statement=text, flags=flags, accept="--accept-opaque before the file allows it", undone="nothing was run",
        instead=_ELSEWHERE if closed and door_of(session).production else "",
    )  # fmt: skip
    pass_programs(session, services, request, unread, work)
    if flags.get("dry-run") and ((unread and closed) or (line.redirect and not request.typed)):
        services.console.say(f"-n: {f'| {line.pipe}' if line.pipe else f'> {line.redirect}'} was not run")
        return replace(line, pipe="", redirect="")
    return line


_ELSEWHERE = "> FILE keeps the answer here; then run the program in another shell"


def _refuse_changes(text: str, findings: Findings) -> None:
    """Raise RefusedError if a command for this machine contains a change of cells or disk groups.

    Raises:
        RefusedError: names the change; it is not known which cells it would reach.
    """
    found = [change.text for change in findings.changes] + [f"{name}: {what}" for name, what in findings.losses.items()]
    if found:
        raise RefusedError(
            f"host {text[:_SHOWN]}: it contains '{found[0]}', which exacell can't guard in a command on this "
            f"machine; nothing was run",
            hint="type that statement itself, or `sh` to run a guarded command on the cells",
        )


def _journalled(
    session: Session, services: Services, request: Request, text: str, findings: Findings, flags: Mapping[str, Value]
) -> Result:
    """Run a command that exacell can't read, with a journal row before and after it.

    The rack is not locked: a load may run for hours, and it is not a change of the rack.

    Raises:
        JournalError: the journal can't be written; nothing was run.
        BrokenOffError: the journal can't be written any more; the command has ended.
    """
    rack, who, statement = "" if session.rack is None else session.rack.name, actor(), f"host {text}"
    change = services.journal.begin(
        rack,
        {
            "statement": statement,
            "reason": str(flags.get("reason") or ""),
            "ticket": str(flags.get("ticket") or ""),
            "origin": request.origin,
            **request.part,
            **who,
            "risk": "unknown",
            "opaque": list(findings.unread),
            "on": HERE,
        },
    )
    target = str(who["host"])
    body = {
        "what": "host",
        "statement": text,
        "undo": "impossible",
        "inverse": "what host ran is not undone by exacell",
    }
    services.journal.append(rack, change, [Row(kind="intent", target=target, body=body)])
    state, reason, reply, code = "unknown", "it was broken off", "", int(ExitCode.INTERRUPTED)
    try:
        done = _run(text)
        state, reason = ("failed", f"exit status {done.returncode}") if done.returncode else ("done", "")
        reply = (done.stdout + done.stderr)[:REPLY_KEPT]
        code = int(ExitCode.FAILED if done.returncode else ExitCode.DONE)
    finally:
        outcome = Row(kind="outcome", target=target, body=body | {"state": state, "reason": reason, "reply": reply})
        try:
            services.journal.append(rack, change, [outcome, Row(kind="end", body={"exitCode": code})])
        except JournalError as error:
            raise BrokenOffError(change, statement, error, "check what it did: exacell can't know") from error
    return _shown(services, text, done)


def _run(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        text,
        shell=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",
        check=False,
    )


def _shown(services: Services, text: str, done: subprocess.CompletedProcess[str]) -> Result:
    """Show the command's output and return its status."""
    for part in (done.stdout, done.stderr):
        if part.strip():
            services.console.say(part.rstrip("\n"))
    if done.returncode:
        return Result(problems=[f"host {text[:_SHOWN]}: status {done.returncode}"], exit_code=ExitCode.FAILED)
    return Result()
