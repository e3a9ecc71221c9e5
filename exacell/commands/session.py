"""Commands of the session itself: rack, cells, mode, settings; CellCLI's client-side statements; history, aliases and EDIT."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol, runtime_checkable

from exacell.cellcli.secrets import holds_secret, masked, without
from exacell.change.door import current_rack
from exacell.change.here import may_replace, pass_pager, refuse_replacing
from exacell.commands.declared.session import HISTORY_SHOWN, SETTINGS
from exacell.core.cellset import fold
from exacell.core.config import load, transport_name
from exacell.core.errors import ConfigError, RefusedError, StatementError, why_unreadable
from exacell.core.hostgroups import DB
from exacell.core.meant import closest
from exacell.core.paths import at_home
from exacell.core.units import counted
from exacell.language.calls import VERBS
from exacell.language.registry import Call, commands
from exacell.language.shorthand import ALIAS_NAME
from exacell.language.words import refuse_typography, unquote
from exacell.opaque.here import is_device
from exacell.output.faults import head_of, ways_out
from exacell.output.result import Column, Result
from exacell.session.given import Request, Services, Session
from exacell.session.history import Aliases, history_file, read_entries
from exacell.session.holding import setting
from exacell.session.recording import since, told_while_waiting
from exacell.session.signals import EditRequested, ScriptRequested, SessionExit
from exacell.session.wherecells import use_cells
from exacell.transport.capabilities import CLUSH, DCLI, EXACLI, OPENSSH, SSH

_OF_CONNECTIONS = ("timeout", "connect_timeout", "max_answer", "fanout", "transport")
"""Settings of a transport: changing one opens the connections again."""


@runtime_checkable
class SessionConsole(Protocol):
    """The functions of a console besides messages: CellCLI's ECHO, DATEFORMAT and SPOOL."""

    echo: bool
    local_dates: bool

    def spool(self, path: Path | None, *, append: bool = False, anew: bool = False) -> None:
        """Write a copy of all data to ``path`` from now on; with ``anew`` it must be a new file. None ends the copy."""

    @property
    def spooling(self) -> Path | None:
        """Return the file to which SPOOL copies all output; None without SPOOL."""


def _console(services: Services, statement: str) -> SessionConsole:
    if isinstance(services.console, SessionConsole):
        return services.console
    raise StatementError(f"{statement} works only at the prompt, on the command line and in scripts")


def connect(session: Session, services: Services, call: Call) -> Result:
    """Connect to a rack and return a note about it."""
    rack = services.connect(call.text_arg("rack"))
    services.warm()
    nodes = f", database nodes {fold(rack.dbnodes)}" if rack.dbnodes else ""
    nodes += "".join(f", @{group.name} {fold(group.nodes)}" for group in rack.hosts.values() if group.name != DB)
    mode = "read-only" if session.read_only else "read-write"
    return Result(notes=(f"rack {rack.name}: {counted(len(rack.cells), 'cell')} {fold(rack.cells)}{nodes}; {mode}",))


def use(session: Session, services: Services, call: Call) -> Result:
    """Select cells and return a note about them."""
    chosen = use_cells(session, services, call.text_arg("cells"))
    notes = [f"using {len(chosen)} of {len(session.need_rack().cells)} cells: {chosen}"]
    if not services.more_to_come:
        notes.append(f"this holds for this line only; to choose cells for one statement, type `on {chosen} list cell`")
    return Result(notes=notes)


def cells(session: Session, call: Call) -> Result:
    """Return one record per cell of the rack: its name, whether it is selected, and its groups."""
    rack, chosen = session.need_rack(), session.selected()
    records = [
        {
            "cell": cell,
            "inUse": cell in chosen,
            "groups": tuple(g for g, members in rack.groups.items() if cell in members),
        }
        for cell in rack.cells
    ]
    return Result(
        records=records, columns=(Column("cell"), Column("inUse", "bool"), Column("groups")), fold=True, data=True
    )


def racks(session: Session, call: Call) -> Result:
    """Return one record per configured rack, and one for the current rack if it was found in another way."""
    known = dict(load(session.home, session.env).racks)
    if session.rack is not None:
        known.setdefault(session.rack.name, session.rack)
    records = [
        {
            "cell": None, "name": rack.name, "current": session.rack is not None and rack.name == session.rack.name,
            "cells": ",".join(rack.cells), "count": len(rack.cells), "dbnodes": ",".join(rack.dbnodes),
            "production": rack.production, "emulated": rack.emulated, "source": rack.source,
        }
        for rack in known.values()
    ]  # fmt: skip
    # The path of each rack's file would make the table too wide for most terminals; -o json has it.
    columns = (
        Column("name"), Column("current"), Column("cells", "cells"), Column("dbnodes", "cells"), Column("production"),
        Column("emulated"),
    )  # fmt: skip
    notes = (
        ()
        if records
        else (
            "no rack is configured: `emulator start t1` makes one to try, `help docs "
            "config.example` shows how to describe your own",
        )
    )
    return Result(records=records, columns=columns, fold=True, data=True, notes=notes)


def set_mode(session: Session, services: Services, call: Call) -> Result:
    """Switch the mode and return a note with the new mode."""
    services.set_mode(read_only=call.text_arg("mode") == "ro")
    return Result(notes=("read-only" if session.read_only else "read-write",))


def set_format(session: Session, call: Call) -> Result:
    """Change the output format of the session."""
    session.settings = session.settings.with_value("format", call.text_arg("format"))
    return Result()


def set_transport(session: Session, services: Services, call: Call) -> Result:
    """Change the transport of the session; the next statement opens the connections again."""
    before = session.settings
    session.settings = session.settings.with_value("transport", call.text_arg("transport"))
    services.close()
    if session.rack is None:
        return Result(notes=(f"transport is {session.settings.transport}",))
    try:
        able = services.transport.capabilities
    except ConfigError:
        session.settings = before
        raise
    beside = "" if able.nodes or not session.rack.asm else "; ASM's database nodes still use ssh"
    return Result(notes=(f"transport is {able.name}: {able.fan_out}{beside}",))


def show_transports(session: Session, call: Call) -> Result:
    """Return one record per transport; ``inUse`` marks the current rack's."""
    used = transport_name(session.rack.reach, session.settings.transport) if session.rack is not None else ""
    records = [
        {
            "cell": None, "name": able.name, "inUse": able.name == used, "programs": able.programs,
            "dbnodes": able.nodes, "input": able.stdin, "live": able.streaming, "copies": able.uploads,
            "kept": able.keeps, "fanOut": able.fan_out,
        }
        for able in (SSH, OPENSSH, DCLI, EXACLI, CLUSH)
    ]  # fmt: skip
    return Result(records=records, columns=tuple(Column(name) for name in records[0] if name != "cell"), data=True)


def set_value(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Change one setting and return a note with its value.

    Raises:
        RefusedError: it names a program, and programs of this machine may not be started here.
    """
    name = call.text_arg("name")
    if name == "pager":
        pass_pager(session, services, request, call)
    session.settings = session.settings.with_value(name, call.text_arg("value"))
    if name in _OF_CONNECTIONS:
        services.close()
    return Result(notes=(f"{name} is {getattr(session.settings, name)}",))


def set_echo(services: Services, call: Call) -> Result:
    """Switch echoing of scripts."""
    _console(services, "SET ECHO").echo = call.text_arg("echo") == "on"
    return Result()


def set_dateformat(services: Services, call: Call) -> Result:
    """Switch between the forms of times."""
    _console(services, "SET DATEFORMAT").local_dates = call.text_arg("form") == "local"
    return Result()


def show_settings(session: Session, services: Services, call: Call) -> Result:
    """Return one record per setting: its name and value."""
    records = [{"cell": None, "name": name, "value": getattr(session.settings, name)} for name in SETTINGS]
    records.append({"cell": None, "name": "mode", "value": "ro" if session.changes_nothing else "rw"})
    records.append({"cell": None, "name": "hold", "value": setting(session, services)})
    if isinstance(services.console, SessionConsole):
        records.append({"cell": None, "name": "echo", "value": "on" if services.console.echo else "off"})
        form = "local" if services.console.local_dates else "standard"
        records.append({"cell": None, "name": "dateformat", "value": form})
    return Result(records=records, columns=(Column("name"), Column("value")), data=True)


def why(session: Session, services: Services, call: Call) -> Result:
    """Return one record per part of the newest error: the statement, the error, each reason, each hint."""
    if session.refused is None:
        return Result(notes=("no statement was refused since this session began",))
    text, error = session.refused
    parts = [
        ("statement", masked(text.strip())),
        ("refused" if isinstance(error, RefusedError) else "error", head_of(error)),
        *(("reason", masked(reason)) for reason in error.reasons),
        *(("way out", masked(way)) for way in ways_out(error)),
    ]
    records = [{"cell": None, "part": part, "text": without(text, told)} for part, told in parts if told]
    return Result(records=records, columns=(Column("part"), Column("text", "prose")), data=True)


def refresh(session: Session, services: Services, call: Call) -> Result:
    """Close connections and forget learned names; the configuration is read again."""
    if session.rack is None:
        return Result(notes=("no rack is connected",))
    used = session.selected()
    everything = len(used) == len(session.rack.cells)
    age = services.learned.age()
    services.learned.forget()
    try:
        rack = services.connect(session.rack.name)
    except ConfigError:
        # A rack from -c, cellip.ora or a group file is in no configuration: only its connections are renewed.
        services.close()
        rack = session.need_rack()
    if not everything:
        use_cells(session, services, str(used))
    services.warm()
    forgotten = f"; names read {age} are forgotten" if age else ""
    notes = [f"rack {rack.name}: connections will be opened again{forgotten}"]
    if rack.production:
        with told_while_waiting(since(f"waiting for the hosts of {rack.name}"), services.console.waiting):
            reached, left = services.recognition.renew()
        notes.append(f"identified again: {counted(len(reached), 'host')} of {rack.name}")
        notes += (
            [f"{fold(left)}: not reached; what is known of {'it' if len(left) == 1 else 'them'} is kept"]
            if left
            else []
        )
    return Result(notes=notes)


def leave(call: Call) -> Result:
    """End the session.

    Raises:
        SessionExit: always.
    """
    raise SessionExit


def start(call: Call) -> Result:
    """Return the script file; the runner then runs it."""
    path = at_home(call.text_arg("file"))
    if not path.is_file() and not path.suffix and path.with_suffix(".scl").is_file():
        path = path.with_suffix(".scl")
    raise ScriptRequested(path)


def spool(session: Session, services: Services, call: Call) -> Result:
    """Begin or end a copy of the output in a file.

    Raises:
        StatementError: the file can't be written.
        RefusedError: the file exists, and -m was given or the rack is a production rack.
    """
    console = _console(services, "SPOOL")
    name, how = call.text_arg("file"), call.text_arg("how")[:3]
    if not name:
        return Result(notes=(f"spooling to {console.spooling}" if console.spooling else "not spooling",))
    if name.lower() == "off":
        console.spool(None)
        return Result()
    path = at_home(name)
    if how == "cre" and path.exists():
        raise StatementError(f"{name} exists: `spool {name} append` adds to it, `spool {name} replace` overwrites it")
    current_rack(session, services)
    refuse_replacing(session, "spool", name)
    try:
        console.spool(path, append=how == "app", anew=not (may_replace(session) or is_device(name)))
    except OSError as error:
        raise StatementError(f"{name} can't be written: {why_unreadable(error)}") from error
    return Result()


def history(session: Session, call: Call) -> Result:
    """Return one record per statement of the history: its number, rack and text."""
    word, rack = call.text_arg("word").lower(), call.text_arg("rack")
    here = {rack} if rack else {"", session.rack.name if session.rack is not None else ""}
    entries = enumerate(read_entries(history_file(session.home.state_dir)), start=1)
    found = [
        {"cell": None, "number": number, "rack": entry.rack, "statement": entry.text}
        for number, entry in entries
        if word in entry.text.lower() and (rack == "all" or entry.rack in here)
    ]
    last = call.int_arg("last") or HISTORY_SHOWN
    columns = [Column("number", "number"), *([Column("rack")] if rack else []), Column("statement")]
    return Result(records=found[-last:], columns=columns, data=True)


def alias(session: Session, call: Call) -> Result:
    """Store an alias, or return one record per alias."""
    known = Aliases(session.home)
    name, statement = _definition(call.text_arg("definition"))
    if not statement:
        found = [{"cell": None, "name": key, "statement": masked(text)} for key, text in known.all().items()]
        shown = [row for row in found if not name or row["name"] == name.lower()]
        if name and not shown:
            raise StatementError(f"there is no alias {name}", suggestions=closest(name.lower(), known.all()))
        return Result(records=shown, columns=(Column("name"), Column("statement")), data=True)
    _refuse_taken(name)
    refuse_typography(statement)
    if holds_secret(statement):
        raise StatementError(
            f"alias {name}: '{masked(statement)}' has a password or a key, which an alias can't keep; nothing was kept",
            hint="write $1 instead, and give the password or key after the alias",
        )
    known.define(name, statement)
    return Result(notes=(f"{name.lower()} stands for: {statement}",))


def unalias(session: Session, call: Call) -> Result:
    """Remove an alias."""
    name, known = call.text_arg("name"), Aliases(session.home)
    if not known.remove(name):
        raise StatementError(f"there is no alias {name}", suggestions=closest(name.lower(), known.all()))
    return Result(notes=(f"alias {name.lower()} is removed",))


def _definition(text: str) -> tuple[str, str]:
    """Return name and statement of ``name statement``, ``name = statement`` or ``name='statement'``."""
    match = re.fullmatch(r"([^\s=]*)\s*=?\s*(.*)", text, re.DOTALL)
    assert match is not None
    return match[1], unquote(match[2].strip())


def _refuse_taken(name: str) -> None:
    """Raise StatementError for an alias that can't be typed, or that would hide a statement."""
    if not ALIAS_NAME.fullmatch(name):
        raise StatementError(f"'{name}' can't be an alias: use a letter, then letters, digits, _ and -")
    if name.upper() in VERBS or name.lower() in ("on", "rem") or any(name.lower() == words[0] for words in commands()):
        raise StatementError(f"{name} is already the first word of a statement: give the alias another name")


def edit(session: Session, call: Call) -> Result:
    """Return the statement for the prompt, which opens it for editing."""
    entries = read_entries(history_file(session.home.state_dir))
    number = call.int_arg("number")
    if number is not None and not 1 <= number <= len(entries):
        raise StatementError(
            f"history has no number {number}: it ends with {len(entries)}", hint="`history` lists them"
        )
    here = {"", session.rack.name if session.rack is not None else ""}
    own = [
        entry.text for entry in entries if entry.rack in here and not re.match(r"\s*edit\b", entry.text, re.IGNORECASE)
    ]
    text = entries[number - 1].text if number is not None else (own or [""])[-1]
    raise EditRequested(text)
