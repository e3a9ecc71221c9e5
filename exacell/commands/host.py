"""A command of this machine, such as the load that is measured between two snapshots."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from typing import TYPE_CHECKING

from exacell.commands.opaque import ACCEPT, command_given
from exacell.errors import BrokenOffError, ExitCode, JournalError, RefusedError
from exacell.language.registry import Call, Effect, Kind, Param, Value, command
from exacell.output.result import Result
from exacell.units import and_more

if TYPE_CHECKING:
    from exacell.context import Context
    from exacell.dcli.scan import Findings

_SHOWN = 60
"""Characters of the command in messages."""


@command(
    "host",
    group="recipes",
    effect=Effect.OPAQUE,
    summary="run a command on this machine, such as the load of a measurement",
    details="All words behind host are the command. What only shows something (date, ls ...) runs at once. A change by CellCLI "
    "or of a disk group that is found in it is always refused: typed as a statement it is guarded. What exacell can't "
    "read is refused on production and read-only racks; in a recipe, and on every rack that is not emulated, it "
    "needs --accept-opaque: host --accept-opaque ... or run ... --accept-opaque. It is journalled and not undone; -n "
    "runs nothing. A status other than 0 stops the recipe.",
    example="host 'date'",
    params=(Param(name="command", kind=Kind.COMMAND, positional=True, required=True, rest=True, help="for /bin/sh"),),
    flags=(ACCEPT,),
)
def host(ctx: Context, call: Call) -> Result:
    """Return its exit status as the exit code; its output is talk's neighbour on the terminal.

    Raises:
        RefusedError: a change is found in it, or it can't be read and was not accepted.
        JournalError: the journal can't be written; nothing was run.
    """
    from exacell.dcli.reach import current_rack
    from exacell.dcli.scan import scan_command

    text, flags = command_given(ctx, call)
    current_rack(ctx)  # On a command line the rack is found when it is needed first.
    findings = scan_command(text)
    _refuse_changes(text, findings)
    _refuse_unread(ctx, text, findings, flags)
    if flags.get("dry-run"):
        return Result(notes=[f"-n: host {text[:_SHOWN]} was not run"])
    if findings.harmless or ctx.rack is None:
        return _told(ctx, text, _run(text))
    with ctx.while_changing():
        return _journalled(ctx, text, findings, flags)


def _refuse_changes(text: str, findings: Findings) -> None:
    """Return when no change of cells or disk groups was found in a command for this machine.

    Raises:
        RefusedError: naming it: from here nobody can tell which cells it would reach.
    """
    found = [change.text for change in findings.changes] + [f"{name}: {what}" for name, what in findings.losses.items()]
    if found:
        raise RefusedError(
            f"host {text[:_SHOWN]}: it holds '{found[0]}', which exacell can't guard in a command of this machine; "
            "nothing was run",
            hint="type that statement itself; sh runs a command on the cells, guarded",
        )


def _refuse_unread(ctx: Context, text: str, findings: Findings, flags: Mapping[str, Value]) -> None:
    """Return when everything in the command was read, or what was not was accepted.

    Raises:
        RefusedError: the rack is production or read-only, or nobody accepted it.
    """
    if findings.harmless:
        return
    rack = ctx.rack
    if rack is not None and (rack.production or ctx.read_only):
        kind = "a production" if rack.production else "a read-only"
        raise RefusedError(
            f"host {text[:_SHOWN]}: refused on {kind} rack: '{findings.unread[0]}' is no read that exacell knows; nothing was run"
        )
    if (ctx.origin or (rack is not None and not rack.emulated)) and not flags.get("accept-opaque"):
        raise RefusedError(
            f"host {text[:_SHOWN]}: exacell can't tell what '{findings.unread[0]}'{and_more(len(findings.unread))} does; "
            "nothing was run",
            hint="run … --accept-opaque lets it"
            if ctx.origin
            else "host --accept-opaque … runs it; the guard ends there",
        )


def _journalled(ctx: Context, text: str, findings: Findings, flags: Mapping[str, Value]) -> Result:
    """Run a command that exacell can't read between two rows of the journal.

    The rack's lock is left alone: a load may run for hours, and what it does is nobody's change.

    Raises:
        JournalError: the journal can't be written; nothing was run.
        BrokenOffError: it can't be written any more; the command has ended.
    """
    from exacell.change.verdicts import REPLY_KEPT
    from exacell.journal.actor import actor
    from exacell.journal.reading import HERE
    from exacell.journal.record import Row

    rack, who, statement = ctx.need_rack().name, actor(), f"host {text}"
    change = ctx.journal.begin(
        rack,
        {
            "statement": statement,
            "reason": str(flags.get("reason") or ""),
            "ticket": str(flags.get("ticket") or ""),
            "origin": ctx.origin,
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
    ctx.journal.append(rack, change, [Row(kind="intent", target=target, body=body)])
    state, reason, reply, code = "unknown", "it was broken off", "", int(ExitCode.INTERRUPTED)
    try:
        done = _run(text)
        state, reason = ("failed", f"exit status {done.returncode}") if done.returncode else ("done", "")
        reply = (done.stdout + done.stderr)[:REPLY_KEPT]
        code = int(ExitCode.FAILED if done.returncode else ExitCode.DONE)
    finally:
        outcome = Row(kind="outcome", target=target, body=body | {"state": state, "reason": reason, "reply": reply})
        try:
            ctx.journal.append(rack, change, [outcome, Row(kind="end", body={"exitCode": code})])
        except JournalError as error:
            raise BrokenOffError(change, statement, error, "look what it did: exacell can't tell") from error
    return _told(ctx, text, done)


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


def _told(ctx: Context, text: str, done: subprocess.CompletedProcess[str]) -> Result:
    """Show what the command printed and return its status."""
    for part in (done.stdout, done.stderr):
        if part.strip():
            ctx.console.say(part.rstrip("\n"))
    if done.returncode:
        return Result(problems=[f"host {text[:_SHOWN]}: status {done.returncode}"], exit_code=ExitCode.FAILED)
    return Result()
