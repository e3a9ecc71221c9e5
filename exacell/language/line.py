"""The grammar of one line, the same at the prompt, on the command line and in recipes; with the flags
that were given for a whole run.

``line := [-y] [-n] [-o format] [ON <cells>] statement [-y] [-n] [--flag…] [| shell-command | > file] [;]``

Commands for hosts that take no free words (FACTS, SHOW SETTING, SET SETTING, DRIFT, SAVE BASELINE) also take ON after their name:
``facts on @db`` is ``on @db facts``.

CellCLI's own text stays as it is: where an operator or value is expected, ``>`` and ``<`` are comparisons; ``| command`` and
``> file`` count only after a complete statement; nothing in quotes or parentheses has a special meaning. ``--`` is a comment at
the start of a line or before a blank. ``#``, ``REM`` and ``!command`` have their meaning only as the first word of a line;
``@name`` is a recipe only there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from exacell.cellcli.condition import is_condition, parse_condition
from exacell.cellcli.statement import Statement, parse as parse_cellcli
from exacell.core.errors import StatementError
from exacell.core.meant import closest
from exacell.core.patterns import pattern
from exacell.core.values import dataclass, field, replace
from exacell.language.asked import is_answer
from exacell.language.calls import VERBS, find_command, flag_value, read_call, take_flags, unknown_first
from exacell.language.pasted import without_shell
from exacell.language.recipewords import SUFFIX
from exacell.language.registry import COMMON_FLAGS, Call, Command, Effect, Kind, Value, commands
from exacell.language.shellwords import bang_command
from exacell.language.words import RAW_TAILS, Word, refuse_typography, scan, split_words, strip_comment


@dataclass(frozen=True, kw_only=True)
class Line:
    """One parsed line.

    Attributes:
        text: the statement without ON, flags, pipe and redirection.
        on: the cell set after ON, as written; empty without ON.
        call: an exacell command with its arguments.
        cellcli: a CellCLI statement. Exactly one of call, cellcli and shell is set.
        shell: the command after ``!``, which the local shell runs.
        pipe, redirect: the command or file that gets the output; empty for the terminal.
    """

    text: str
    on: str = ""
    call: Call | None = None
    cellcli: Statement | None = None
    shell: str = ""
    flags: Mapping[str, Value] = field(default_factory=dict)
    pipe: str = ""
    redirect: str = ""

    @property
    def whole(self) -> str:
        """Return the statement with its ON in front, as it can be typed again."""
        on = f"({self.on})" if " " in self.on else self.on
        return f"on {on} {self.text}" if on else self.text

    @property
    def effect(self) -> Effect:
        """Return the effect that the line may have."""
        if self.call is not None:
            return self.call.command.effect
        if self.cellcli is not None:
            return Effect.WRITE if self.cellcli.changes else Effect.READ
        return Effect.OPAQUE


_LEAD = pattern(r"\s*((?:(?:-[yn]|-o\s+[\w-]+)(?:\s+|$))+)")
"""Flags before a statement; ``--`` at this place begins a comment."""

_ASKS_FOR_HELP = ("--help", "-h")
"""Last words of a statement that ask for its help."""


def parse_line(text: str, *, shell: bool = True) -> Line | None:
    """Return the parsed line; None for an empty line or a comment.

    Args:
        shell: whether ``!``, ``|`` and ``>`` are allowed; False in recipes and for command-line words.

    Raises:
        StatementError: ``text`` is not a statement; ``start`` and ``end`` are offsets into ``text``.
    """
    text = without_shell(text)
    refuse_typography(text)
    lead = _LEAD.match(text)
    if lead is not None:
        _, given = take_flags(split_words(lead[1]), COMMON_FLAGS)
        line = parse_line(" " * lead.end() + text[lead.end() :], shell=shell)
        if line is None:
            raise StatementError(
                "a statement is missing", start=len(text), end=len(text), hint="such as: on exa1cel01 list cell"
            )
        return _with_flags(line, given)
    raw = _raw_tail(text)
    if raw is not None:
        return raw
    body = strip_comment(text)
    stripped = body.strip()
    while stripped.endswith(";"):
        stripped = stripped[:-1].rstrip()
    if not stripped:
        return None
    base = body.index(stripped[0])
    if stripped.startswith("!"):
        if not shell:
            raise StatementError(
                "!command is not allowed here",
                start=base,
                end=base + len(stripped),
                hint="in a recipe, sh runs a command on the cells; !command works only at the prompt and in scripts",
            )
        return Line(text=stripped, shell=bang_command(stripped, base))
    if stripped.startswith("@"):
        stripped = _expand_at(stripped)
        shift = len("run ") - 1
        try:
            return _parse_statement(stripped, base - shift, "", shell=shell)
        except StatementError as error:
            error.move(lambda place: max(base, place))
            raise
    words = split_words(stripped, base)
    on = ""
    if words[0].value.lower() == "on" and not words[0].quoted:
        if len(words) < 3:
            raise StatementError(
                "ON needs cells, or hosts, and a statement: on exa1cel01 list cell", start=base, end=len(text)
            )
        on = _named(words[1])
        cut = words[2].start
        stripped, base = body[cut : base + len(stripped)], cut
        raw = _raw_tail(stripped)
        if raw is not None:
            return replace(raw, on=on)
    try:
        return _parse_statement(stripped, base, on, shell=shell)
    except StatementError as error:
        from exacell.language.pasted_shell import (
            program_error,
        )  # These modules and their tables are needed only for errors.
        from exacell.language.pasted_sql import sql_error

        told = sql_error(stripped) or (program_error(stripped, on) if _of_the_word(error, base) else None)
        if told is None:
            raise (error if on else _on_in_front(error, stripped, base)) from None
        told.move(lambda place: place + base)
        raise told from error


def _of_the_word(error: StatementError, base: int) -> bool:
    """Return whether the error is an unknown first word that also matches none of help's questions."""
    return error.start == base and "is not a statement" in error.message and not is_answer(error.hint)


def _on_in_front(error: StatementError, text: str, base: int) -> StatementError:
    """Return the error; if the statement takes ON only in front and has it at the end, the error gets a hint about that."""
    if error.start is None or error.hint:
        return error
    try:
        words = split_words(text, base)
    except StatementError:
        return error
    for said, named in pairwise(words):
        if said.raw.lower() == "on" and error.start in (said.start, named.start):
            rest = (text[: said.start - base].rstrip() + " " + text[named.end - base :].lstrip()).rstrip()
            return StatementError(
                error.message, start=said.start, end=named.end, hint=f"ON comes first: on {named.raw} {rest}"
            )
    return error


def _check_condition(on: str, place: int) -> None:
    """Raise StatementError if a condition on cells is wrong; its places are offsets in the line."""
    try:
        parse_condition(on)
    except StatementError as error:
        error.move(lambda within: within + place)
        raise


def _raw_tail(text: str) -> Line | None:
    """Return the line if its first word takes all other words as they are, without cuts, quotes or comments; otherwise None."""
    first, *rest = text.split(None, 1) or [""]
    command = commands().get((first.lower(),)) if first.lower() in RAW_TAILS else None
    if command is None or len(command.params) != 1:
        return None
    tail = "".join(rest).strip()
    while tail.endswith(";") and not tail.endswith("\\;"):
        tail = tail[:-1].rstrip()
    args: dict[str, Value] = {command.params[0].name: tail} if tail else {}
    if not tail and command.params[0].required:
        raise StatementError(
            f"{command.name} needs {command.params[0].shape}: {command.params[0].help}", start=len(text), end=len(text)
        )
    return Line(text=text.strip(), call=Call(command=command, args=args, text=text.strip()))


def _expand_at(text: str) -> str:
    name = text[1:].split(None, 1)[0] if text[1:].strip() else ""
    if not name or text[1:2].isspace():
        raise StatementError("a recipe's name is missing after @", start=0, end=1, hint="`recipes` lists them")
    if not name.lower().endswith(SUFFIX) and ("/" in name or name.lower().endswith(".scl")):
        return "start " + text[1:]
    return "run " + text[1:]


def _parse_statement(text: str, base: int, on: str, *, shell: bool) -> Line:
    first = text.split(None, 1)[0].lower()
    if first in RAW_TAILS:
        call, flags = read_call(text, base)
        return Line(text=text, on=on, call=call, flags=flags)
    text, pipe = _cut_pipe(text, base, shell=shell)
    text, redirect, line = _cut_redirect(text, base, on, shell=shell)
    if line is None:
        line = _complete(text, base, on)
    if pipe or redirect:
        return replace(line, pipe=pipe, redirect=redirect)
    return line


def _cut_pipe(text: str, base: int, *, shell: bool) -> tuple[str, str]:
    for offset, char, quoted, depth in scan(text):
        if char == "|" and not quoted and depth == 0:
            if not shell:
                raise StatementError(
                    "| is not allowed here",
                    start=base + offset,
                    end=base + offset + 1,
                    hint="recipes, plans and other carried statements can't use a shell",
                )
            command = text[offset + 1 :].strip()
            if not command or not text[:offset].strip():
                raise StatementError(
                    "a command is missing at |",
                    start=base + offset,
                    end=base + offset + 1,
                    hint="such as: list cell | grep online",
                )
            return text[:offset].rstrip(), command
    return text, ""


def _cut_redirect(text: str, base: int, on: str, *, shell: bool) -> tuple[str, str, Line | None]:
    """Cut off ``> file`` if a complete statement comes before it and one word after it."""
    places = [offset for offset, char, quoted, depth in scan(text) if char == ">" and not quoted and depth == 0]
    for offset in reversed(places):
        words = split_words(text[offset + 1 :])
        if len(words) != 1 or text[offset - 1 : offset] in ("!", "=", ">", "<"):
            continue
        try:
            line = _complete(text[:offset].rstrip(), base, on)
        except StatementError:
            continue
        if not shell:
            raise StatementError(
                "> is not allowed here",
                start=base + offset,
                end=base + offset + 1,
                hint="recipes, plans and other carried statements can't write to files",
            )
        return text[:offset].rstrip(), words[0].value, line
    return text, "", None


def _complete(text: str, base: int, on: str) -> Line:
    words = split_words(text, base)
    if not words:
        raise StatementError("a statement is missing", start=base, end=base, hint="`help` lists the statements")
    command = find_command(words)
    if len(words) > 1 and words[-1].raw in _ASKS_FOR_HELP:
        return _explained(words[:-1], command)
    if command is not None:
        if command.on_after:
            return _read_on_after(command, text, base, words, on)
        return _read_own(command, text, base, on)
    first = words[0].value
    if first.upper() not in VERBS:
        raise unknown_first(words)
    bare, flags = take_flags(words, COMMON_FLAGS)
    if not bare:
        raise StatementError("a statement is missing", start=base, end=base, hint="`help` lists the statements")
    end = bare[-1].end - base
    # Flags in the middle are replaced by blanks, so that the offsets of the remaining words stay correct.
    kept = list(text[:end])
    for word in words:
        if word not in bare and word.end - base <= end:
            kept[word.start - base : word.end - base] = " " * (word.end - word.start)
    source = "".join(kept)
    try:
        statement = parse_cellcli(source)
    except StatementError as error:
        error.move(lambda place: place + base)
        raise _own_objects_too(error, words) from error
    return Line(text=source.strip(), on=on, cellcli=statement, flags=flags)


def _read_on_after(command: Command, text: str, base: int, words: Sequence[Word], on: str) -> Line:
    """Return the line of a command that also takes ON after its name; places of errors are offsets in the line as written.

    Raises:
        StatementError: ON is given twice or names nothing, or the statement without it is wrong.
    """
    tail = words[len(command.words) :]
    bare, _ = take_flags(tail, (*COMMON_FLAGS, *command.flags))
    said = [word for word in bare if word.value.lower() == "on" and not word.quoted]
    if not said:
        return _read_own(command, text, base, on)
    if on or len(said) > 1:
        raise StatementError(
            "ON is given twice: one ON names all cells or hosts",
            start=said[-1].start,
            end=said[-1].end,
            hint="leave one out",
        )
    named = next((word for word in bare if tail.index(word) == tail.index(said[0]) + 1), None)
    if named is None:
        raise StatementError(
            f"ON needs cells or hosts: {command.name} on @db", start=base + len(text), end=base + len(text)
        )
    on = _named(named)
    head, rest = text[: said[0].start - base], text[named.end - base :].lstrip()
    cut = len(text) - len(head) - len(rest)
    try:
        return _read_own(command, (head + rest).rstrip(), base, on)
    except StatementError as error:
        error.move(lambda place: place if place < base + len(head) else place + cut)
        raise


def _read_own(command: Command, text: str, base: int, on: str) -> Line:
    call, flags = read_call(text, base)
    for param in command.params:
        cells = call.args.get(param.name)
        if param.kind is Kind.CELLSET and isinstance(cells, str) and is_condition(cells):
            _check_condition(cells, base + max(0, text.find(cells)))
    return Line(text=call.text, on=on, call=call, flags=flags)


def _named(word: Word) -> str:
    """Return the cells or hosts after ON as text, without parentheses around it.

    Raises:
        StatementError: the text is empty (which never means all cells), or its condition is wrong.
    """
    on = word.value[1:-1].strip() if word.value.startswith("(") and word.value.endswith(")") else word.value
    if not on.strip():
        raise StatementError(
            f"ON {word.raw} is neither a cell nor a host",
            start=word.start,
            end=word.end,
            hint="@all means all cells; or leave ON out",
        )
    if is_condition(on):
        _check_condition(on, word.start + word.raw.find(on))
    return on


def _explained(words: Sequence[Word], command: Command | None) -> Line:
    """Return the HELP line for a statement that ends with --help: help for its verb and object; other words are ignored."""
    topic = command.words if command is not None else tuple(word.value for word in words[:2])
    text = f"help {' '.join(topic)}"
    call, flags = read_call(text, 0)
    return Line(text=text, call=call, flags=flags)


def _own_objects_too(error: StatementError, words: list[Word]) -> StatementError:
    suggestions = error.suggestions
    if len(words) > 1 and error.start == words[1].start:
        objects = [cmd[1] for cmd in commands() if len(cmd) > 1 and cmd[0] == words[0].value.lower()]
        near = closest(words[1].value, objects, limit=2)
        suggestions = tuple(dict.fromkeys((*suggestions, *near)))
    hint = "" if suggestions else error.hint
    return StatementError(error.message, start=error.start, end=error.end, suggestions=suggestions, hint=hint)


def with_call_flags(text: str, flags: Mapping[str, Value]) -> Line:
    """Return the parsed line of an inner statement, with the flags of the outer statement; its own flags take precedence.

    Raises:
        StatementError: ``text`` is not a statement, or is one for the shell.
    """
    line = parse_line(text, shell=False)
    if line is None:
        raise StatementError("a statement is missing", hint="`help` lists the statements")
    return _with_flags(line, flags)


def carried_by(outer: Line, line: Line) -> Line:
    """Return ``line`` with the flags and the ON of the statement that runs it; its own take precedence."""
    return replace(_with_flags(line, outer.flags), on=line.on or outer.on)


def _with_flags(line: Line, flags: Mapping[str, Value]) -> Line:
    call = replace(line.call, flags={**flags, **line.call.flags}) if line.call is not None else None
    return replace(line, flags={**flags, **line.flags}, call=call)


_ACCEPT = "accept-opaque"
_AGAINST = {"fold": "no-fold", "no-fold": "fold"}
"""A flag of the statement → the earlier flag that it cancels."""


def with_flags(line: Line, flags: Mapping[str, str | None]) -> Line:
    """Return ``line`` with the flags that were given before it; the statement's own take precedence.

    Args:
        flags: flag name without hyphens → text of its value; None for a flag without a value.

    Raises:
        StatementError: the statement has no such flag, or its value is wrong.
    """
    known = {flag.name: flag for flag in (*COMMON_FLAGS, *(line.call.command.flags if line.call else ()))}
    merged: dict[str, Value] = {}
    for name, text in flags.items():
        flag = known.get(name)
        if flag is None and name == _ACCEPT:
            # A flag for a whole script applies to those lines that contain something for a shell.
            merged.update({name: True} if line.shell or line.pipe or line.redirect else {})
            continue
        if flag is None and line.shell:
            continue
        if flag is None:
            near = tuple(f"--{n}" for n in closest(name, known, limit=2))
            raise StatementError(f"--{name} is neither an option nor a flag of this statement", suggestions=near)
        merged[name] = flag_value(flag, text)
    for name in line.flags:
        merged.pop(_AGAINST.get(name, ""), None)
    merged.update(line.flags)
    call = replace(line.call, flags={**merged, **line.call.flags}) if line.call else None
    return replace(line, flags=merged, call=call)
