"""The grammar of one line, the same at the prompt, on the command line and in recipes.

``line := [ON <cells>] statement [-y] [-n] [--flag…] [| shell-command | > file] [;]``

CellCLI's own text survives: ``>`` and ``<`` are comparisons wherever an operator or value is expected, and ``| command``
and ``> file`` count only after a complete statement; quotes and parentheses protect everything. ``--`` is a comment at
the start of a line or before a blank. ``#``, ``REM`` and ``!command`` count only as first word of a line, ``@name`` only
there as a recipe.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from exacell.cellcli.condition import is_condition, parse_condition
from exacell.cellcli.statement import Statement, Verb
from exacell.cellcli.statement import parse as parse_cellcli
from exacell.errors import StatementError
from exacell.language.kinds import convert
from exacell.language.registry import COMMON_FLAGS, Call, Command, Effect, Flag, Value, commands
from exacell.language.text import RAW_TAILS, strip_comment
from exacell.language.words import Word, scan, split_words
from exacell.values import dataclass

VERBS = tuple(verb.value for verb in Verb)
"""CellCLI's verbs, upper case."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One parsed line.

    Attributes:
        text: the statement without ON, flags, pipe and redirection.
        on: the cell set it is limited to, as written; empty when it is not.
        call: exacell's own command with its arguments, when it is one.
        cellcli: the CellCLI statement, when it is one. Exactly one of call, cellcli and shell is set.
        shell: the command behind ``!``, run by the local shell.
        pipe, redirect: what the output goes to; empty for the terminal.
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
    def effect(self) -> Effect:
        """What the line may change."""
        if self.call is not None:
            return self.call.command.effect
        if self.cellcli is not None:
            return Effect.WRITE if self.cellcli.changes else Effect.READ
        return Effect.OPAQUE


_OPERATORS = ("=", "!=", ">", "<", "!")


def argv_line(words: Sequence[str]) -> str:
    """Return the line that command-line words mean: each word is one token, and shell characters mean nothing more.

    A single first word with blanks is a whole line already. A pasted ``cellcli -e`` is dropped.
    """
    items = list(words)
    if len(items) > 1 and items[0] == "cellcli":
        items = items[1:]
        while items and items[0] in ("-n", "-x", "-m", "-xml", "--xml"):
            items.pop(0)
        if items and items[0] == "-e":
            items.pop(0)
    if items and re.search(r"\s", items[0].strip()):
        return " ".join(items).strip()
    if items and items[0].lower() == "dcli":
        # Its words are cut at the prompt as a shell cuts them: quoted so, they stay what they are.
        return shlex.join(items)
    if items and items[0].lower() in RAW_TAILS:
        return " ".join(items)
    return " ".join(_quote_word(item) for item in items)


def _quote_word(word: str) -> str:
    if word in _OPERATORS or not word:
        return word or "''"
    key, equals, value = word.partition("=")
    if equals and re.fullmatch(r"(--)?[A-Za-z_][\w.\-]*", key):
        return f"{key}={_quote(value)}" if value else word
    return _quote(word)


def _quote(value: str) -> str:
    if _is_one_word(value):
        return value
    if "'" in value and '"' in value:
        raise StatementError(f"the word {value} holds both kinds of quotes, for which there is no spelling")
    mark = '"' if "'" in value else "'"
    return f"{mark}{value}{mark}"


def _is_one_word(value: str) -> bool:
    """Whether the prompt would read ``value`` as one word too, quotes or parentheses around it included."""
    if value.startswith("#") or value == "--" or not value:
        return False
    try:
        places = list(scan(value))
    except StatementError:
        return False
    if value[0] in "'\"":
        return all(quoted for _, _, quoted, _ in places)
    if value[0] == "(" and all(depth for _, char, quoted, depth in places[:-1]) and value[-1] == ")":
        return places[-1][3] == 0
    return not re.search(r"[\s|;<>'\"()]", value)


def parse_line(text: str, *, shell: bool = True) -> Line | None:
    """Return what one line means; None for an empty line or a comment.

    Args:
        shell: whether ``!``, ``|`` and ``>`` are allowed; not in recipes, and never from argv words.

    Raises:
        StatementError: it is no statement; ``start`` and ``end`` are offsets into ``text``.
    """
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
            raise StatementError("!command is not allowed here", start=base, end=base + len(stripped))
        if not stripped[1:].strip():
            raise StatementError("a command is missing behind !", start=base + 1, end=base + 1)
        return Line(text=stripped, shell=stripped[1:].strip())
    if stripped.startswith("@"):
        stripped, base = _expand_at(stripped), base
        shift = len("run ") - 1
        try:
            return _parse_statement(stripped, base - shift, "", shell=shell)
        except StatementError as error:
            raise _clamp(error, base) from None
    words = split_words(stripped, base)
    on = ""
    if words[0].value.lower() == "on" and not words[0].quoted:
        if len(words) < 3:
            raise StatementError("ON needs cells and a statement: on exa1cel01 list cell", start=base, end=len(text))
        on = words[1].value
        on = on[1:-1].strip() if on.startswith("(") and on.endswith(")") else on
        if is_condition(on):
            _check_condition(on, text.find(on, words[1].start))
        cut = words[2].start
        stripped, base = body[cut : base + len(stripped)], cut
        raw = _raw_tail(stripped)
        if raw is not None:
            return replace(raw, on=on)
    try:
        return _parse_statement(stripped, base, on, shell=shell)
    except StatementError as error:
        from exacell.language.pasted_sql import sql_error

        sql = sql_error(stripped)
        if sql is None:
            raise
        assert sql.start is not None and sql.end is not None
        sql.start, sql.end = sql.start + base, sql.end + base
        raise sql from error


def _check_condition(on: str, place: int) -> None:
    """Raise the error that is in a condition on cells, with its place in the line."""
    try:
        parse_condition(on)
    except StatementError as error:
        if error.start is not None and error.end is not None:
            error.start, error.end = error.start + place, error.end + place
        raise


def _raw_tail(text: str) -> Line | None:
    """Return the line when its first word takes all others as they are: nothing in them is cut, quoted or a comment."""
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


def _clamp(error: StatementError, base: int) -> StatementError:
    if error.start is not None and error.end is not None:
        error.start, error.end = max(base, error.start), max(base, error.end)
    return error


def _expand_at(text: str) -> str:
    name = text[1:].split(None, 1)[0] if text[1:].strip() else ""
    if not name or text[1:2].isspace():
        raise StatementError("a recipe's name is missing behind @", start=0, end=1)
    if "/" in name or name.lower().endswith(".scl"):
        return "start " + text[1:]
    return "run " + text[1:]


def _parse_statement(text: str, base: int, on: str, *, shell: bool) -> Line:
    first = text.split(None, 1)[0].lower()
    if first in RAW_TAILS:
        call, flags = _own(text, base)
        return Line(text=text, on=on, call=call, flags=flags)
    text, pipe = _cut_pipe(text, base, shell=shell)
    text, redirect, line = _cut_redirect(text, base, on, shell=shell)
    if line is None:
        line = _complete(text, base, on)
    if pipe or redirect:
        return Line(
            text=line.text, on=on, call=line.call, cellcli=line.cellcli, flags=line.flags, pipe=pipe, redirect=redirect
        )
    return line


def _cut_pipe(text: str, base: int, *, shell: bool) -> tuple[str, str]:
    for offset, char, quoted, depth in scan(text):
        if char == "|" and not quoted and depth == 0:
            if not shell:
                raise StatementError("| is not allowed here", start=base + offset, end=base + offset + 1)
            command = text[offset + 1 :].strip()
            if not command or not text[:offset].strip():
                raise StatementError("a command is missing beside |", start=base + offset, end=base + offset + 1)
            return text[:offset].rstrip(), command
    return text, ""


def _cut_redirect(text: str, base: int, on: str, *, shell: bool) -> tuple[str, str, Line | None]:
    """Cut ``> file`` when what stands before it is a complete statement and what follows is one word."""
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
            raise StatementError("> is not allowed here", start=base + offset, end=base + offset + 1)
        return text[:offset].rstrip(), words[0].value, line
    return text, "", None


def _complete(text: str, base: int, on: str) -> Line:
    words = split_words(text, base)
    if not words:
        raise StatementError("a statement is missing", start=base, end=base)
    command = find_command(words)
    if command is not None:
        call, flags = _own(text, base)
        return Line(text=call.text, on=on, call=call, flags=flags)
    first = words[0].value
    if first.upper() not in VERBS:
        raise _unknown_first(words)
    bare, flags = _take_flags(words, COMMON_FLAGS)
    if not bare:
        raise StatementError("a statement is missing", start=base, end=base)
    end = bare[-1].end - base
    # Flags are cut out of the middle by blanking, so that the places of what is left stay true.
    kept = list(text[:end])
    for word in words:
        if word not in bare and word.end - base <= end:
            kept[word.start - base : word.end - base] = " " * (word.end - word.start)
    source = "".join(kept)
    try:
        statement = parse_cellcli(source)
    except StatementError as error:
        raise _own_objects_too(error, words, base) from error
    return Line(text=source.strip(), on=on, cellcli=statement, flags=flags)


def _own_objects_too(error: StatementError, words: list[Word], base: int) -> StatementError:
    start = None if error.start is None else error.start + base
    end = None if error.end is None else error.end + base
    suggestions = error.suggestions
    if len(words) > 1 and start == words[1].start:
        objects = [cmd[1] for cmd in commands() if len(cmd) > 1 and cmd[0] == words[0].value.lower()]
        near = difflib.get_close_matches(words[1].value.lower(), objects, n=2)
        suggestions = tuple(dict.fromkeys((*suggestions, *near)))
    hint = "" if suggestions else error.hint
    return StatementError(error.message, start=start, end=end, suggestions=suggestions, hint=hint)


ONLY_CELLCLI = frozenset(("list", "describe", "alter"))
"""Verbs with which no command of exacell's own begins, so that none has to be imported to read such a statement."""


def find_command(words: Sequence[Word]) -> Command | None:
    """Return exacell's own command that the first words select, the longest match; None when there is none."""
    if words and words[0].value.lower() in ONLY_CELLCLI:
        return None
    table = commands()
    longest = max(len(key) for key in table)
    for count in range(min(longest, len(words)), 0, -1):
        key = tuple(word.value.lower() for word in words[:count])
        if key in table and not any(word.quoted for word in words[:count]):
            return table[key]
    return None


def _unknown_first(words: list[Word]) -> StatementError:
    table = commands()
    first = words[0]
    seconds = sorted({key[1] for key in table if len(key) > 1 and key[0] == first.value.lower()})
    quoted = next((word for word in words[:2] if word.quoted), None)
    if quoted is not None and (quoted is first or quoted.value.lower() in seconds):
        return StatementError(
            f"{quoted.raw} is in quotes, which make it a value: it is not a statement",
            start=quoted.start,
            end=quoted.end,
        )
    if seconds:
        if len(words) == 1:
            return StatementError(f"{first.value} what? One of: {', '.join(seconds)}", start=first.end, end=first.end)
        near = tuple(difflib.get_close_matches(words[1].value.lower(), seconds, n=3))
        message = f"'{words[1].value}' is nothing that {first.value.lower()} knows: {', '.join(seconds)}"
        return StatementError(message, start=words[1].start, end=words[1].end, suggestions=near)
    verbs = sorted({key[0] for key in table} | {verb.lower() for verb in VERBS})
    near = tuple(difflib.get_close_matches(first.value.lower(), verbs, n=3))
    hint = "" if near else "help lists the statements"
    return StatementError(
        f"'{first.value}' is not a statement", start=first.start, end=first.end, suggestions=near, hint=hint
    )


_BEFORE_ONLY = ("-r", "-c", "-g", "-l", "-m", "-o", "-f", "-e")


def _behind(option: Word, words: Sequence[Word]) -> str:
    """Return how ``-o`` is said behind a statement, with the format that was given."""
    following = next((word.value for word in words if word.start >= option.end), "")
    return f"behind it: --format={following or 'json'}"


def _take_flags(words: Sequence[Word], known: Sequence[Flag]) -> tuple[list[Word], dict[str, Value]]:
    bare: list[Word] = []
    flags: dict[str, Value] = {}
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word.raw.startswith("--") and len(word.raw) > 2:
            name, equals, raw_value = word.raw[2:].partition("=")
            flag = next((f for f in known if f.name == name.lower()), None)
        elif re.fullmatch(r"-[a-z]", word.raw):
            name, equals, raw_value = word.raw[1:], "", ""
            flag = next((f for f in known if f.short == name), None)
        else:
            bare.append(word)
            continue
        if flag is None and word.raw in _BEFORE_ONLY:
            raise StatementError(
                f"{word.raw} stands before the statement",
                start=word.start,
                end=word.end,
                hint=_behind(word, words) if word.raw == "-o" else f"exacell {word.raw} … statement",
            )
        if flag is None:
            near = difflib.get_close_matches(name.lower(), [f.name for f in known], n=2)
            raise StatementError(
                f"'{word.raw}' is not a flag of this statement",
                start=word.start,
                end=word.end,
                suggestions=tuple("--" + n for n in near),
            )
        if flag.value is None:
            if equals:
                raise StatementError(f"--{flag.name} takes no value", start=word.start, end=word.end)
            flags[flag.name] = True
            continue
        if flag.optional and not equals:
            flags[flag.name] = True
            continue
        if not equals and waiting and not waiting[0].raw.startswith("-"):
            raw_value = waiting.pop(0).raw  # --flag value, as well as --flag=value
        if not raw_value:
            raise StatementError(f"--{flag.name} needs a value: --{flag.name}=…", start=word.start, end=word.end)
        from exacell.language.words import unquote

        flags[flag.name] = convert(flag.param(flag.value), unquote(raw_value), word.start, word.end)
    return bare, flags


def _own(text: str, base: int) -> tuple[Call, dict[str, Value]]:
    words = split_words(text, base)
    command = find_command(words)
    if command is None:
        raise _unknown_first(words)
    tail = words[len(command.words) :]
    last = command.params[-1] if command.params else None
    if last is not None and last.rest:
        return _own_rest(command, text, base, words)
    bare, flags = _take_flags(tail, (*COMMON_FLAGS, *command.flags))
    args: dict[str, Value] = {}
    extra: dict[str, str] = {}
    free = list(command.positionals)
    for word in bare:
        key, equals, raw_value = word.raw.partition("=")
        named = bool(equals) and not word.raw.startswith(("'", '"', "(")) and re.fullmatch(r"[A-Za-z_][\w.\-]*", key)
        if named:
            _named(command, word, key, raw_value, args, extra)
        elif free:
            param = free.pop(0)
            args[param.name] = convert(param, word.value, word.start, word.end)
        else:
            raise _too_much(command, word)
    for param in command.params:
        if param.name in args:
            continue
        if param.required:
            raise StatementError(
                f"{command.name} needs {param.shape}: {param.help}", start=base + len(text), end=base + len(text)
            )
        if param.default is not None:
            args[param.name] = convert(param, param.default, base, base + len(text))
    kept = " ".join(word.raw for word in (*words[: len(command.words)], *bare))
    return Call(command=command, args=args, extra=extra, flags=flags, text=kept), flags


def _own_rest(command: Command, text: str, base: int, words: list[Word]) -> tuple[Call, dict[str, Value]]:
    args: dict[str, Value] = {}
    position = len(command.words)
    for param in command.params:
        if position >= len(words):
            if param.required:
                raise StatementError(
                    f"{command.name} needs {param.shape}: {param.help}", start=base + len(text), end=base + len(text)
                )
            break
        word = words[position]
        if param.rest:
            args[param.name] = text[word.start - base :].strip()
            break
        key, equals, raw_value = word.raw.partition("=")
        if param.positional:
            args[param.name] = convert(param, word.value, word.start, word.end)
            position += 1
        elif equals and key.lower() == param.name.lower():
            args[param.name] = convert(param, raw_value, word.start, word.end)
            position += 1
    return Call(command=command, args=args, text=text), {}


def _named(
    command: Command, word: Word, key: str, raw_value: str, args: dict[str, Value], extra: dict[str, str]
) -> None:
    from exacell.language.words import unquote

    value, value_start = unquote(raw_value), word.start + len(key) + 1
    param = command.param(key)
    if command.open_keys and param is not None and param.positional and param.name in args:
        param = None  # run flash_diskgroup name=PP: the recipe is named already, so this is its own parameter.
    if param is None:
        if command.open_keys:
            if key in extra:
                raise StatementError(f"{key}= is given twice", start=word.start, end=word.end)
            extra[key] = value
            return
        names = [p.name for p in command.params if not p.positional]
        near = tuple(difflib.get_close_matches(key.lower(), names, n=3))
        takes = "it takes " + ", ".join(names) if names else "it takes none"
        raise StatementError(
            f"'{key}' is not a parameter of {command.name}: {takes}",
            start=word.start,
            end=word.start + len(key),
            suggestions=near,
        )
    if param.name in args:
        raise StatementError(f"{param.name} is given twice", start=word.start, end=word.end)
    args[param.name] = convert(param, value, value_start, word.end)


def _too_much(command: Command, word: Word) -> StatementError:
    names = [p.name for p in command.params if not p.positional]
    near = tuple(f"{n}=" for n in difflib.get_close_matches(word.value.lower(), names, n=2))
    if command.positionals and not names:
        message = f"'{word.value}' is one word too many: {command.usage}"
    else:
        message = f"'{word.value}' is not a parameter of {command.name}: {command.usage}"
    return StatementError(message, start=word.start, end=word.end, suggestions=near)


def with_call_flags(text: str, flags: Mapping[str, Value]) -> Line:
    """Return the parsed line of a statement that another statement carries, with that one's flags; its own win.

    Raises:
        StatementError: it is no statement, or one for the shell.
    """
    line = parse_line(text, shell=False)
    if line is None:
        raise StatementError("a statement is missing")
    call = replace(line.call, flags={**flags, **line.call.flags}) if line.call is not None else None
    return replace(line, flags={**flags, **line.flags}, call=call)
