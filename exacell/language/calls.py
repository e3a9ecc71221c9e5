"""Parse exacell's own statements: which command the first words select, and its arguments and flags."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from exacell.cellcli.schema import find_object
from exacell.cellcli.statement import Verb
from exacell.core.errors import StatementError
from exacell.core.meant import closest, near
from exacell.core.patterns import pattern
from exacell.language.asked import way_out
from exacell.language.kinds import convert
from exacell.language.recipewords import RECIPE_WORDS, SUFFIX
from exacell.language.registry import COMMON_FLAGS, Call, Command, Effect, Flag, Kind, Param, Value, commands
from exacell.language.words import Word, split_words, unquote

VERBS = tuple(verb.value for verb in Verb)
"""CellCLI's verbs in upper case."""


ONLY_CELLCLI = frozenset(("list", "describe", "alter"))
"""Verbs that begin no command of exacell, so that a statement with them is parsed without importing commands."""


def find_command(words: Sequence[Word]) -> Command | None:
    """Return the exacell command that the first words select, the longest match; None if there is none."""
    if words and words[0].value.lower() in ONLY_CELLCLI:
        return None
    table = commands()
    longest = max(len(key) for key in table)
    for count in range(min(longest, len(words)), 0, -1):
        key = tuple(word.value.lower() for word in words[:count])
        if key in table and not any(word.quoted for word in words[:count]):
            return None if _cellclis_own(words, key) else table[key]
    return None


def _cellclis_own(words: Sequence[Word], key: tuple[str, ...]) -> bool:
    """Return whether a one-word command is followed by a CellCLI object of that verb: ``import celldisk``, not ``import
    FILE``.
    """
    if len(key) > 1 or key[0].upper() not in VERBS or len(words) < 2:
        return False
    from exacell.cellcli.schema import objects_of  # It loads a table that few statements need.

    return words[1].value.upper() in {known.name for known in objects_of(Verb(key[0].upper()))}


def _brief(word: str) -> str:
    """Return a word as a message quotes it: a long one is cut, since it was probably pasted by mistake."""
    return word if len(word) <= _QUOTED else word[: _QUOTED - 3] + "..."


def unknown_first(words: Sequence[Word]) -> StatementError:
    """Return the error for words that select neither a command nor a CellCLI statement; it suggests similar words."""
    table = commands()
    first = words[0]
    seconds = sorted({key[1] for key in table if len(key) > 1 and key[0] == first.value.lower()})
    quoted = next((word for word in words[:2] if word.quoted), None)
    if quoted is not None and (quoted is first or quoted.value.lower() in seconds):
        return StatementError(
            f"{quoted.raw} is in quotes, so it is a value, not a statement: leave the quotes out",
            start=quoted.start,
            end=quoted.end,
        )
    asked = way_out(" ".join(word.value for word in words))
    if not asked and first.value.lower() in RECIPE_WORDS:
        return StatementError(
            f"{first.value.lower()} is a word of recipes, not a statement",
            start=first.start,
            end=first.end,
            hint=f"`help {first.value.lower()}` explains it; `new recipe NAME` begins a recipe",
        )
    if seconds:
        if len(words) == 1:
            return StatementError(f"{first.value} what? One of: {', '.join(seconds)}", start=first.end, end=first.end)
        if first.value.lower() == "show" and find_object(words[1].value) is not None:
            # A noun of CellCLI and any words after it: LIST takes the same words.
            asked = _listed(words[1].value.lower(), words[2:])
            near: tuple[str, ...] = ()
        else:
            near = closest(words[1].value, seconds)
        # If there is a similar word, the list of all words would only hide it.
        known = "" if near or asked else f": {', '.join(seconds)}"
        message = f"{first.value.lower()} has no '{_brief(words[1].value)}'{known}"
        return StatementError(
            message, start=words[1].start, end=words[1].end, suggestions=near, hint="" if near else asked
        )
    verbs = sorted({key[0] for key in table} | {verb.lower() for verb in VERBS})
    near = () if asked else closest(first.value, verbs)
    hint = "" if near else asked or "`help` lists the statements"
    if first.value.lower().endswith(SUFFIX):
        near, hint = (), f"`run {first.value}` runs this recipe, `plan run {first.value}` shows what it would do"
    return StatementError(
        f"'{_brief(first.value)}' is not a statement", start=first.start, end=first.end, suggestions=near, hint=hint
    )


_QUOTED = 60
"""Maximum number of characters of a word that a message quotes."""

_BEFORE_ONLY = ("-r", "-c", "-g", "-l", "-m", "-f", "-e")
"""Options of the program, which can be given only when it is started."""


def _said_before(option: Word, words: Sequence[Word]) -> str:
    """Return a hint how to give an option of the program; for cells, also how to write it in the statement itself."""
    if option.raw == "-c":
        following = next((word.value for word in words if word.start >= option.end), "")
        return f"here, type `on {following or '<cells>'} <statement>`; in a shell, `exacell -c … <statement>`"
    return f"exacell {option.raw} … <statement>"


def take_flags(words: Sequence[Word], known: Sequence[Flag]) -> tuple[list[Word], dict[str, Value]]:
    """Return the words that are not flags, and the flags by name with their values.

    Raises:
        StatementError: a flag is not one of ``known``, lacks its value, or does not take a value.
    """
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
                f"{word.raw} is an option of exacell's command line, not a flag of a statement",
                start=word.start,
                end=word.end,
                hint=_said_before(word, words),
            )
        if flag is None and word.raw in ("--help", "-h"):
            raise StatementError(
                f"{word.raw} is not a flag of a statement",
                start=word.start,
                end=word.end,
                hint="`help <statement>` explains a statement",
            )
        if flag is None:
            near = closest(name, [f.name for f in known], limit=2)
            raise StatementError(
                f"'{word.raw}' is not a flag of this statement",
                start=word.start,
                end=word.end,
                suggestions=tuple("--" + n for n in near),
            )
        if (
            not equals
            and flag.value is not None
            and not flag.optional
            and waiting
            and not waiting[0].raw.startswith("-")
        ):
            raw_value = waiting.pop(0).raw  # --flag value, as well as --flag=value
        given = raw_value if equals or raw_value else None
        flags[flag.name] = flag_value(flag, given, quoted=True, start=word.start, end=word.end)
    return bare, flags


def flag_value(
    flag: Flag, given: str | None, *, quoted: bool = False, start: int | None = None, end: int | None = None
) -> Value:
    """Return the value of a flag for the text ``given`` (None: no text); True for a flag that needs no value.

    Args:
        quoted: whether ``given`` may have quotes, which are then removed.
        start, end: offsets in the line; None if the flag is not part of a line.

    Raises:
        StatementError: the flag lacks its value, takes no value, or the value is wrong.
    """
    if flag.value is None:
        if given is not None:
            raise StatementError(
                f"--{flag.name} takes no value", start=start, end=end, hint=f"give --{flag.name} without a value"
            )
        return True
    if flag.optional and given is None:
        return True
    if not given:
        raise StatementError(f"--{flag.name} needs a value: --{flag.name}=…", start=start, end=end)
    return convert(flag.param(flag.value), unquote(given) if quoted else given, start or 0, end or 0)


def read_call(text: str, base: int) -> tuple[Call, dict[str, Value]]:
    """Return the call of an exacell command in ``text``, and its flags.

    Args:
        base: offset of ``text`` in the line, for the places of errors.

    Raises:
        StatementError: ``text`` is not a command, or its arguments are wrong.
    """
    words = split_words(text, base)
    command = find_command(words)
    if command is None:
        raise unknown_first(words)
    tail = words[len(command.words) :]
    last = command.params[-1] if command.params else None
    if last is not None and last.rest:
        return _own_rest(command, text, base, words)
    bare, flags = take_flags(tail, (*COMMON_FLAGS, *command.flags))
    args: dict[str, Value] = {}
    extra: dict[str, str] = {}
    free = list(command.positionals)
    for word in bare:
        key, equals, raw_value = word.raw.partition("=")
        named = bool(equals) and not word.raw.startswith(("'", '"', "(")) and re.fullmatch(r"[A-Za-z_][\w.\-]*", key)
        if named:
            _named(command, word, key, raw_value, args, extra)
        elif free:
            param = free[0] if free[0].many else free.pop(0)
            value, before = _positional(command, param, word), args.get(param.name)
            args[param.name] = (*(before if isinstance(before, tuple) else ()), str(value)) if param.many else value
        else:
            raise _too_much(command, word, bare)
    _own_format(command, args, flags)
    for param in command.params:
        if param.name in args:
            continue
        if param.required:
            raise _missing(command, param, base + len(text), next(iter(extra), "") if param.positional else "")
        if param.default is not None and param.name != "format":  # See Call.own_format.
            args[param.name] = convert(param, param.default, base, base + len(text))
    kept = " ".join(word.raw for word in (*words[: len(command.words)], *bare))
    return Call(command=command, args=args, extra=extra, flags=flags, text=kept), flags


def _own_format(command: Command, args: dict[str, Value], flags: Mapping[str, Value]) -> None:
    """Make ``-o csv`` the same as ``format=csv`` for a command that writes its own formats.

    Raises:
        StatementError: the command does not write that format.
    """
    param, wanted = command.param("format"), flags.get("format")
    if param is None or param.kind is not Kind.CHOICE or wanted is None:
        return
    if wanted not in param.choices or args.setdefault("format", wanted) != wanted:
        raise StatementError(
            f"{command.name} does not write -o {wanted} here", hint=f"give one of format={'|'.join(param.choices)}"
        )


def _positional(command: Command, param: Param, word: Word) -> Value:
    """Return the value of a bare word.

    Raises:
        StatementError: the word is not a valid value. The error suggests a longer command (``set format`` for ``set``) or
            shows the
            example of this one.
    """
    try:
        return convert(param, word.value, word.start, word.end)
    except StatementError as error:
        near = (*_longer(command, word), *error.suggestions)
        hint = "" if near or error.hint else f"for example: {command.example}"
        raise StatementError(
            error.message, start=error.start, end=error.end, suggestions=near, hint=hint or error.hint * (not near)
        ) from error


def _longer(command: Command, word: Word) -> tuple[str, ...]:
    """Return the next words of longer commands that are similar to a word: ``patch`` after ``check``."""
    count = len(command.words)
    longer = [words[count] for words in commands() if len(words) > count and words[:count] == command.words]
    return closest(word.value, longer, limit=2)


def _own_rest(command: Command, text: str, base: int, words: list[Word]) -> tuple[Call, dict[str, Value]]:
    """Return the call of a command whose last parameter takes all remaining words.

    If these words are another statement or a shell command, they stay as they are. If they are a value, flags and
    ``key=value`` may come before, after or among them.
    """
    whole = text
    if command.takes_flags:
        return _value_rest(command, text, base, words)
    args: dict[str, Value] = {}
    flags: dict[str, Value] = {}
    position = len(command.words)
    behind = _words_of_outer(command, words[position:])
    if behind:
        text = text[: behind[0].start - base].rstrip()
        words = words[: -len(behind)]
        _, flags = take_flags(behind[1:], (*COMMON_FLAGS, *command.flags))
    for param in command.params:
        if behind and behind[0].raw.lower().startswith(f"{param.name}="):
            _, _, value = behind[0].raw.partition("=")
            args[param.name] = convert(param, unquote(value), behind[0].start, behind[0].end)
            continue
        if position >= len(words):
            if param.required:
                raise _missing(command, param, base + len(text))
            break
        word = words[position]
        if param.rest:
            args[param.name] = text[word.start - base :].strip()
            break
        key, equals, raw_value = word.raw.partition("=")
        if param.positional:
            args[param.name] = _positional(command, param, word)
            position += 1
        elif equals and key.lower() == param.name.lower():
            args[param.name] = convert(param, unquote(raw_value), word.start, word.end)
            position += 1
        elif param.required:
            raise _missing(command, param, base + len(text))
    return Call(command=command, args=args, flags=flags, text=whole), flags


def _words_of_outer(command: Command, words: Sequence[Word]) -> Sequence[Word]:
    """Return the words for the outer command that follow the statement it takes: a required ``name=…``, and flags after it."""
    needed = next((param.name for param in command.params if param.required and not param.positional), None)
    for place in range(len(words) - 1, 0, -1):
        if needed and words[place].raw.lower().startswith(f"{needed}="):
            return words[place:]
        if not words[place].raw.startswith("-"):
            break
    return ()


def _missing(command: Command, param: Param, place: int, key: str = "") -> StatementError:
    """Return the error for a missing parameter; ``key`` was read as ``key=value`` and may contain it."""
    hint = f"is a blank missing in '{key}=…'?" if key else ""
    return StatementError(f"{command.name} needs {param.shape}: {param.help}", start=place, end=place, hint=hint)


def _value_rest(command: Command, text: str, base: int, words: list[Word]) -> tuple[Call, dict[str, Value]]:
    tail = words[len(command.words) :]
    bare, flags = take_flags(tail, (*COMMON_FLAGS, *command.flags))
    args: dict[str, Value] = {}
    values: list[Word] = []
    for word in bare:
        key, equals, raw_value = word.raw.partition("=")
        param = command.param(key) if equals else None
        if param is None or param.rest:
            values.append(word)
        elif param.name in args:
            raise StatementError(f"{param.name} is given twice", start=word.start, end=word.end, hint="give it once")
        else:
            args[param.name] = convert(param, unquote(raw_value), word.start + len(key) + 1, word.end)
    *named, rest = command.params
    if lacking := next((param for param in named if param.required and param.name not in args), None):
        raise _missing(command, lacking, base + len(text))
    kept, cuts = _without(text, base, [word for word in tail if word not in values])
    if values:
        behind = kept[words[len(command.words) - 1].end - base :]
        args[rest.name] = value = behind.strip()
        try:
            _check_value(rest, value, bounded=bool(args.keys() - {rest.name}))
        except StatementError as error:
            before = len(kept) - len(behind.lstrip())
            error.move(lambda place: base + _as_it_was(before + place, cuts))
            if error.start == values[0].start and (near := _longer(command, values[0])):
                raise StatementError(
                    error.message, start=error.start, end=error.end, suggestions=tuple(near)
                ) from error
            raise
    elif rest.required:
        raise _missing(command, rest, base + len(text))
    written, _ = _without(text, base, [word for word in tail if word not in bare])
    return Call(command=command, args=args, flags=flags, text=written), flags


def _check_value(param: Param, value: str, *, bounded: bool) -> None:
    """Raise StatementError if a value that has its own grammar is wrong.

    Args:
        bounded: whether other parameters were given besides it.

    Raises:
        StatementError: the value is wrong; its places are offsets into ``value``.
    """
    if param.kind is Kind.LIST:
        from exacell.cellcli.statement import parse  # It loads the grammar's tables.

        try:
            parse(f"{_LIST}{value}")
        except StatementError as error:
            error.move(lambda place: max(place - len(_LIST), 0))
            raise
        return
    if param.kind not in (Kind.FACT, Kind.UNTIL):
        return
    from exacell.language.reading import read_fact, read_until  # Few statements need it.

    if param.kind is Kind.FACT:
        read_fact(value)
    else:
        read_until(value, bounded=bounded)


_LIST = "list "


def _without(text: str, base: int, words: Sequence[Word]) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without some of its words and the blanks before them; and the cuts as (offset, length)."""
    kept, cuts, position = "", [], 0
    for word in words:
        piece = text[position : word.start - base]
        kept += piece.rstrip()
        cuts.append((len(kept), len(piece) - len(piece.rstrip()) + word.end - word.start))
        position = word.end - base
    return kept + text[position:], cuts


def _as_it_was(place: int, cuts: Sequence[tuple[int, int]]) -> int:
    """Return the offset in the original text for an offset in the cut text."""
    return place + sum(length for cut, length in cuts if cut <= place)


def _named(
    command: Command, word: Word, key: str, raw_value: str, args: dict[str, Value], extra: dict[str, str]
) -> None:
    value, value_start = unquote(raw_value), word.start + len(key) + 1
    param = command.param(key)
    if command.open_keys and param is not None and param.positional and param.name in args:
        param = None  # run flash_diskgroup name=PP: the recipe is already given, so this is its own parameter.
    if param is None:
        if command.open_keys:
            _refuse_slip(command, word, key)
            if key in extra:
                raise StatementError(f"{key}= is given twice", start=word.start, end=word.end, hint="give it once")
            extra[key] = value
            return
        names = [p.name for p in command.params if not p.positional]
        near = closest(key, names)
        takes = "" if near else ": it takes " + ", ".join(names) if names else ": it takes none"
        raise StatementError(
            f"'{key}' is not a parameter of {command.name}{takes}",
            start=word.start,
            end=word.start + len(key),
            suggestions=near,
        )
    if param.name in args:
        raise StatementError(f"{param.name} is given twice", start=word.start, end=word.end, hint="give it once")
    args[param.name] = convert(param, value, value_start, word.end)


def _refuse_slip(command: Command, word: Word, key: str) -> None:
    """Raise StatementError if a free key is probably a slip for one of the command's own parameters."""
    if any(each.kind is Kind.RECIPE for each in command.params):
        return  # Its keys are those of the recipe.
    slip = near(key, [each.name for each in command.params])[:1]
    if slip and key.lower() not in [each.name for each in command.offers]:
        raise StatementError(
            f"'{key}' is not a parameter of {command.name}",
            start=word.start,
            end=word.start + len(key),
            suggestions=slip,
        )


def _too_much(command: Command, word: Word, bare: Sequence[Word]) -> StatementError:
    first = bare[0]
    if slip := _longer(command, first):
        message = f"{command.name} does not take '{first.value}'"
        return StatementError(message, start=first.start, end=first.end, suggestions=slip)
    names = [p.name for p in command.params if not p.positional]
    near = tuple(f"{n}=" for n in closest(word.value, names, limit=2)) or tuple(
        f"{p.name}={choice}" for p in command.params if not p.positional for choice in closest(word.value, p.choices)
    )
    if near:
        message = f"'{word.value}' is not a parameter of {command.name}"
    elif command.positionals and not names:
        message = f"'{word.value}' is one word too many; usage: {command.usage}"
    else:
        message = f"'{word.value}' is not a parameter of {command.name}: {command.usage}"
    hint = ""
    if not near and command.words[0] == "show" and any(each.value.lower() in _OF_LIST for each in bare):
        hint = _listed(command.words[1], bare)
    elif not near and command.effect in (Effect.READ, Effect.WRITE) and _A_CELL.fullmatch(word.value):
        hint = f"for some cells only: on {word.value} {command.name} …"
    elif not near and word.value.lower() == "detail" and command.words[0] == "show":
        hint = f"leave it out; `{command.name} … -o yaml` writes each value on its own line"
    elif not near and command.words[0] == "sql" and not word.quoted:
        hint = "put the SQL in quotes"
    elif not command.params:
        hint = way_out(" ".join((command.name, *(each.value for each in bare))))
    return StatementError(message, start=word.start, end=word.end, suggestions=near, hint=hint)


def _listed(noun: str, words: Sequence[Word]) -> str:
    """Return a hint that LIST takes these words for an object of CellCLI."""
    return f"type `list {' '.join((noun, *(word.raw for word in words)))}`; `help {noun}` shows its other statements"


_OF_LIST = ("attributes", "where")
"""Words after which LIST, and no command of exacell's own, takes more."""

_A_CELL = pattern(r"@\w+|[A-Za-z][\w.\-]*(?:\d|\[[\d,\-]+\])(?:,[\w.\-\[\]]+)*")
"""Text that looks like cells rather than a misspelt word: a group, or a name that ends in a number."""
