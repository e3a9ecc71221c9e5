"""Decide whether programs and files of the operator's own machine may be used; :mod:`exacell.opaque.here` lists them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from exacell.change.door import Work, door_of, journal_accepted, refuse_unread
from exacell.core.errors import JournalError
from exacell.core.paths import at_home
from exacell.language.line import with_call_flags
from exacell.language.registry import Call, Kind, Value
from exacell.language.shellwords import command_given
from exacell.language.words import split_words
from exacell.opaque.here import is_device, is_held, replaces, replacing
from exacell.session.given import Request, Services, Session

if TYPE_CHECKING:
    from exacell.recipes.parsing import Recipe


def held(session: Session, request: Request) -> bool:
    """Return whether the rules for programs of this machine apply to a line; see :mod:`exacell.opaque.here`."""
    door = door_of(session)
    return is_held(typed=request.typed, monitor=door.monitor, production=door.production)


def may_replace(session: Session) -> bool:
    """Return whether ``>`` and SPOOL may replace an existing file."""
    door = door_of(session)
    return replaces(monitor=door.monitor, production=door.production)


def pass_programs(
    session: Session,
    services: Services,
    request: Request,
    unread: Sequence[str],
    work: Work,
) -> None:
    """Raise RefusedError if unread programs of this machine may not be started; else journal them before they start.

    Args:
        unread: a phrase for each program; if empty, nothing is checked or journalled.

    Raises:
        RefusedError: they are refused because the line is in a file, -m was given, or the rack is a production rack.
        JournalError: they were allowed, but the journal can't be written; nothing was run.
    """
    if not unread:
        return
    stands = held(session, request)
    if stands:
        refuse_unread(session, services, request, unread, work)
    if work.flags.get("dry-run"):
        return
    try:
        journal_accepted(session, services, request, unread, statement=work.statement, flags=work.flags)
    except JournalError as error:
        if stands:
            raise
        # A typed program runs as it would without exacell.
        services.console.say(f"this could not be journalled: {error.message}")


def pass_pager(session: Session, services: Services, request: Request, call: Call) -> None:
    """Raise RefusedError if ``set pager`` may not set this command.

    On and off, and commands that are read as harmless filters, are always allowed.

    Raises:
        RefusedError: the command may not be started on this machine.
    """
    from exacell.opaque.scan import filter_findings  # Reads shell text; few statements set a pager.
    from exacell.output.pager import OFF, ON

    command = call.text_arg("value")
    if command.lower() in (*OFF, *ON):
        return
    work = Work(
        statement=call.text,
        flags=session.options.over(call.flags), accept="--accept-opaque before the file allows it", undone="nothing was set",
        instead="set pager on" if held(session, request) else "",
    )  # fmt: skip
    pass_programs(session, services, request, filter_findings(command).unseen, work)


def note_config(session: Session, services: Services, name: str) -> None:
    """Journal that an ssh_config of the command line names programs that may be started on this machine.

    Does nothing if no such program may be started: with -m or on a production rack.

    Raises:
        ConfigError: the file can't be read.
    """
    from exacell.transport.ssh.sshconfig import SshConfigFiles, programs_named  # Only where a file is named.

    rack = session.rack
    if session.options.monitor or (rack is not None and rack.production):
        return
    named = programs_named(SshConfigFiles.read(at_home(name)))
    work = Work(statement=f"--ssh-config {name}", flags=session.options.flags, accept="", undone="nothing was run")
    pass_programs(session, services, Request(typed=True), named, work)


def refuse_replacing(session: Session, way: str, name: str) -> None:
    """Raise RefusedError if a file exists and this session may not replace it.

    Raises:
        RefusedError: the file exists, and -m was given or the rack is a production rack.
    """
    if may_replace(session) or is_device(name) or not os.path.lexists(at_home(name)):
        return
    door = door_of(session)
    raise replacing(way, name, monitor=door.monitor, rack=door.rack)


# -- loads -------------------------------------------------------------------------------------------------------------


def loads_given(recipe: Recipe, given: Mapping[str, Value]) -> frozenset[str]:
    """Return the commands of this machine among the values of a recipe's parameters."""
    named = {param.name.lower() for param in recipe.params if param.kind is Kind.COMMAND}
    texts = (str(value).strip() for name, value in given.items() if name.lower() in named)
    return frozenset(_bare(text) for text in texts if text and text != "none")


def _bare(text: str) -> str:
    """Return a command without the quotes around all of it, as HOST runs it."""
    words = split_words(text)
    return words[0].value if len(words) == 1 else text


def loads_in(statements: Sequence[str]) -> frozenset[str]:
    """Return the commands of this machine among the statements of an experiment's runs."""
    calls = (with_call_flags(text, {}).call for text in statements)
    return frozenset(
        command_given(call, call.flags)[0] for call in calls if call is not None and call.command.name == "host"
    )


def pass_loads(
    session: Session,
    services: Services,
    request: Request,
    loads: frozenset[str],
    *,
    statement: str,
    flags: Mapping[str, Value],
) -> None:
    """Raise RefusedError if loads may not be started on this session's rack; else ask for acceptance, before anything begins.

    On a production rack only loads that the operator typed are allowed, and with -m none.

    Raises:
        RefusedError: the loads may not be started.
    """
    from exacell.opaque.scan import command_findings  # Reads shell text; most runs have no load.

    unread = [what for load in sorted(loads - request.loads) for what in command_findings(load).unseen]
    if unread:  # The targets that the loads use are read and changed next: find out their rack before the loads start.
        services.recognition.recognise(session.chosen())
    door = door_of(session)
    if unread and (door.monitor or door.production):
        work = Work(
            statement=statement,
            flags={**flags, "accept-opaque": True},
            accept="",
            undone="nothing was run",
            instead="" if request.typed else "type that run yourself, with its load",
            named=request.typed,
        )
        refuse_unread(session, services, request, unread, work)
