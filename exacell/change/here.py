"""The door before programs and files of the operator's own machine: :mod:`exacell.opaque.here` has the list of them."""

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
    """Return whether the door stands before what a line starts here."""
    door = door_of(session)
    return is_held(typed=request.typed, monitor=door.monitor, production=door.production)


def may_replace(session: Session) -> bool:
    """Return whether ``>`` and SPOOL may replace a file that is there."""
    door = door_of(session)
    return replaces(monitor=door.monitor, production=door.production)


def pass_programs(
    session: Session,
    services: Services,
    request: Request,
    unread: Sequence[str],
    work: Work,
) -> None:
    """Return when programs of this machine that exacell does not read may be started; that is journalled before they are.

    Args:
        unread: a phrase for each; without any nothing is journalled.

    Raises:
        RefusedError: the line stands in a file, or -m was given, or the rack is a production rack, and the door does not let
            it pass.
        JournalError: it was let pass, and the journal can't be written; nothing was run.
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
        # What is typed runs as it would without exacell.
        services.console.say(f"this could not be journalled: {error.message}")


def pass_pager(session: Session, services: Services, request: Request, call: Call) -> None:
    """Return when ``set pager`` may set it: it is a word of ours, is read as a filter, or passes the door.

    Raises:
        RefusedError: it does not.
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
    """Journal that an ssh_config of the command line names programs that may be started here; where none may, nothing is.

    Raises:
        ConfigError: it can't be read.
    """
    from exacell.transport.ssh.sshconfig import SshConfigFiles, programs_named  # Only where a file is named.

    rack = session.rack
    if session.options.monitor or (rack is not None and rack.production):
        return
    named = programs_named(SshConfigFiles.read(at_home(name)))
    work = Work(statement=f"--ssh-config {name}", flags=session.options.flags, accept="", undone="nothing was run")
    pass_programs(session, services, Request(typed=True), named, work)


def refuse_replacing(session: Session, way: str, name: str) -> None:
    """Return when a file may be written: it is none that is there, or this session may replace it.

    Raises:
        RefusedError: it is there, and -m was given or the rack is a production rack.
    """
    if may_replace(session) or is_device(name) or not os.path.lexists(at_home(name)):
        return
    door = door_of(session)
    raise replacing(way, name, monitor=door.monitor, rack=door.rack)


# -- loads -------------------------------------------------------------------------------------------------------------


def loads_given(recipe: Recipe, given: Mapping[str, Value]) -> frozenset[str]:
    """Return the commands of this machine that were given for a recipe's parameters."""
    named = {param.name.lower() for param in recipe.params if param.kind is Kind.COMMAND}
    texts = (str(value).strip() for name, value in given.items() if name.lower() in named)
    return frozenset(_bare(text) for text in texts if text and text != "none")


def _bare(text: str) -> str:
    """Return a command without the quotes around all of it, as HOST runs it."""
    words = split_words(text)
    return words[0].value if len(words) == 1 else text


def loads_in(statements: Sequence[str]) -> frozenset[str]:
    """Return the commands of this machine among what each run of an experiment carries out."""
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
    """Return when loads may be started on this session's rack, once they are accepted; before anything is begun.

    On a production rack only what the operator typed may, and under -m nothing.

    Raises:
        RefusedError: they may not.
    """
    from exacell.opaque.scan import command_findings  # Reads shell text; most runs have no load.

    unread = [what for load in sorted(loads - request.loads) for what in command_findings(load).unseen]
    if unread:  # What the loads put to work is read and changed next: whose it is counts before they start.
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
