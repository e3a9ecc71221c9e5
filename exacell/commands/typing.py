"""What was typed and how it is typed: history, aliases, and writing a statement in an editor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exacell.cellcli.suggest import closest
from exacell.commands.declared.typing import HISTORY_SHOWN
from exacell.core.errors import StatementError
from exacell.language.calls import VERBS
from exacell.language.registry import Call, commands
from exacell.language.shorthand import ALIAS_NAME
from exacell.language.words import unquote
from exacell.output.result import Column, Result
from exacell.session.aliases import Aliases
from exacell.session.history import history_file, read_entries
from exacell.session.signals import EditRequested

if TYPE_CHECKING:
    from exacell.session.context import Context


def history(ctx: Context, call: Call) -> Result:
    """Return one record per statement."""
    word, rack = call.text_arg("word").lower(), call.text_arg("rack")
    here = {rack} if rack else {"", ctx.rack.name if ctx.rack is not None else ""}
    entries = enumerate(read_entries(history_file(ctx.home.state_dir)), start=1)
    found = [
        {"cell": None, "number": number, "rack": entry.rack, "statement": entry.text}
        for number, entry in entries
        if word in entry.text.lower() and (rack == "all" or entry.rack in here)
    ]
    last = call.int_arg("last") or HISTORY_SHOWN
    columns = [Column("number", "number"), *([Column("rack")] if rack else []), Column("statement")]
    return Result(records=found[-last:], columns=columns, data=True)


def alias(ctx: Context, call: Call) -> Result:
    """Keep an alias, or return one record per alias."""
    known = Aliases(ctx.home)
    name, statement = _definition(call.text_arg("definition"))
    if not statement:
        found = [{"cell": None, "name": key, "statement": text} for key, text in known.all().items()]
        shown = [row for row in found if not name or row["name"] == name.lower()]
        if name and not shown:
            raise StatementError(f"there is no alias {name}", suggestions=closest(name.lower(), known.all()))
        return Result(records=shown, columns=(Column("name"), Column("statement")), data=True)
    _refuse_taken(name)
    known.define(name, statement)
    return Result(notes=(f"{name.lower()} stands for: {statement}",))


def unalias(ctx: Context, call: Call) -> Result:
    """Remove an alias."""
    name, known = call.text_arg("name"), Aliases(ctx.home)
    if not known.remove(name):
        raise StatementError(f"there is no alias {name}", suggestions=closest(name.lower(), known.all()))
    return Result(notes=(f"{name.lower()} is an alias no more",))


def _definition(text: str) -> tuple[str, str]:
    """Return name and statement of ``name statement``, ``name = statement`` or ``name='statement'``."""
    match = re.fullmatch(r"([^\s=]*)\s*=?\s*(.*)", text, re.DOTALL)
    assert match is not None
    return match[1], unquote(match[2].strip())


def _refuse_taken(name: str) -> None:
    """Refuse an alias that can't be typed, or that would hide a statement."""
    if not ALIAS_NAME.fullmatch(name):
        raise StatementError(f"'{name}' is no name for an alias: a letter, then letters, digits, _ and -")
    if name.upper() in VERBS or name.lower() in ("on", "rem") or any(name.lower() == words[0] for words in commands()):
        raise StatementError(f"{name} begins a statement already: an alias needs a name of its own")


def edit(ctx: Context, call: Call) -> Result:
    """Hand the statement to the prompt, which has the terminal."""
    entries = read_entries(history_file(ctx.home.state_dir))
    number = call.int_arg("number")
    if number is not None and not 1 <= number <= len(entries):
        raise StatementError(f"history has no number {number}: it ends with {len(entries)}")
    here = {"", ctx.rack.name if ctx.rack is not None else ""}
    own = [
        entry.text for entry in entries if entry.rack in here and not re.match(r"\s*edit\b", entry.text, re.IGNORECASE)
    ]
    text = entries[number - 1].text if number is not None else (own or [""])[-1]
    raise EditRequested(text)
