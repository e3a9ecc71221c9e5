"""Parameters in the header of a recipe, and their values in its lines: each is put in as one word, quoted if necessary, and
compared by ``when``.
There is no templating: a value can never become syntax.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

from exacell.core.errors import RecipeError, StatementError
from exacell.core.meant import closest
from exacell.core.values import replace
from exacell.language.kinds import convert
from exacell.language.registry import Kind, Param, Value, commands
from exacell.language.shellwords import leading_flags
from exacell.language.words import Word, split_words
from exacell.recipes.needs import KNOWN, Need

_WHOLE = re.compile(r"\$([A-Za-z_]\w*)")
_INSIDE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


def substitute(text: str, values: Mapping[str, Value]) -> str:
    """Return ``text`` with ``$name`` (a whole unquoted value) and ``${name}`` (inside one) replaced by their values.

    Raises:
        RecipeError: a parameter is unknown, or a value can't be written as one word.
    """
    return with_places(text, values)[0]


def with_places(text: str, values: Mapping[str, Value]) -> tuple[str, tuple[tuple[int, int, tuple[str, ...]], ...]]:
    """Return the text as :func:`substitute` does, and start, end and parameter names of each word that holds a value.

    Raises:
        RecipeError: a parameter is unknown, or a value can't be written as one word.
    """
    found, places = "", []
    position = 0
    words = split_words(text)
    first = _first(words)
    verb = words[first].value.lower() if words else ""
    query = _query_of(words, verb)
    command = _command(verb, words, first) if verb in _SHELL else []
    for place, word in enumerate(words):
        found += text[position : word.start]
        if word is query:
            text_of, rest = _sql_and_rest(word.raw)
            put = _in_sql(text_of, values) + _put_in(replace(word, raw=rest), values, _quoted)
        elif command == [word] and _WHOLE.fullmatch(word.raw):
            put = _put_in(word, values, _quoted)  # It is a whole command line.
        elif verb in _SHELL and place > first:
            put = _in_shell(word, values, alone=command == [word])
            _refuse_inside(text[words[first].end : word.start], word.raw, put)
        else:
            put = _put_in(word, values, _quoted)
        if put != word.raw:
            names = tuple(match[1].lower() for match in re.finditer(r"\$\{?([A-Za-z_]\w*)", word.raw))
            places.append((len(found), len(found) + len(put), names))
        found += put
        position = word.end
    return found + text[position:], tuple(places)


_SHELL = ("sh", "host")
"""Verbs whose words are read by a shell."""


def _first(words: Sequence[Word]) -> int:
    """Return the index of the statement's verb: the word after flags, ON CELLS, KEEP with its name, CHECK and WAIT UNTIL."""
    place = 0
    while place < len(words) - 1:
        word = words[place].value.lower()
        if word in ("on", "-o") and place < len(words) - 2:
            place += 2
        elif word in ("keep", "check", "wait", "until", "-y", "-n") or word.startswith("as="):
            place += 1
        else:
            break
    return place


def _query_of(words: Sequence[Word], verb: str) -> Word | None:
    """Return the quoted SQL text, into which values are put although it is quoted; None if there is none."""
    return next((word for word in words if verb == "sql" and word.raw[:1] in ("'", '"')), None)


def _sql_and_rest(raw: str) -> tuple[str, str]:
    """Return SQL in its quotes, and the text directly after it: the column that CHECK compares."""
    found = re.match(r"""'[^']*'|"(?:[^"]|"")*\"""", raw)  # Within double quotes a double quote is written twice.
    end = found.end() if found is not None else len(raw)
    return raw[:end], raw[end:]


def letters(text: str, names: Container[str]) -> Iterator[str]:
    """Yield each ``$name`` and ``${name}`` that is not replaced because it is in quotes; nothing for a shell command.

    In the quoted text of SQL, ``${name}`` is replaced and so left out.

    Args:
        names: the names of the values, in lower case.
    """
    words = split_words(text)
    verb = words[_first(words)].value.lower() if words else ""
    query = _query_of(words, verb)
    for word in words if verb not in _SHELL else ():
        for quoted in re.finditer(r"""(["'])(.*?)\1""", word.raw, re.DOTALL):
            sql = word is query and not quoted.start()
            for match in re.finditer(r"(?<![\w$])\$(?:(\w+)|\{(\w+)\})", quoted[2]):
                if (match[1] or match[2]).lower() in names and not (sql and match[2]):
                    yield match[0]


def _command(verb: str, words: Sequence[Word], first: int) -> Sequence[Word]:
    """Return the words of SH's or HOST's command: those after their flags, without the words that belong to KEEP."""
    behind = words[first + 1 :]
    if any(word.value.lower() == "keep" for word in words[:first]):
        named = [place for place, word in enumerate(behind) if word.raw.lower().startswith("as=")]
        behind = behind[: named[-1]] if named else behind
    behind = behind[leading_flags(behind, commands()[verb,].flags) :]
    return behind[1:] if behind and behind[0].raw == "--" else behind


def _in_shell(word: Word, values: Mapping[str, Value], *, alone: bool) -> str:
    put = _put_in(word, values, _for_shell)
    # The parser removes the quotes around a word that is the whole command.
    return f'""{put}' if alone and put != word.raw and put.startswith("'") else put


_OUTSIDE = re.compile(
    r"""(?:[^'"`\\$]|\$(?!['"])|\\.|'[^']*'|"(?:[^"`\\$]|\\.|\$(?![({\[])|\$\{\w+\})*")*""", re.DOTALL
)
"""Shell text at whose end no quote is open. Source: POSIX.1-2017, Shell Command Language, 2.2; bash(1), QUOTING: ``$'``."""


def _refuse_inside(before: str, raw: str, put: str) -> None:
    """Raise RecipeError if a shell quote may be open before a value, because the value's own quotes would then end that quote.

    Raises:
        RecipeError: a quote is open, or may be.
    """
    if put != raw and not _OUTSIDE.fullmatch(before):
        raise RecipeError(
            f"{raw} is inside an open quote or `; there a value must be a separate word",
            hint="close the quote before it",
        )


def _put_in(word: Word, values: Mapping[str, Value], quote: Callable[[str], str]) -> str:
    key, equals, value = word.raw.partition("=")
    named = re.fullmatch(r"(--)?[A-Za-z_][\w.\-]*", key)
    if equals and (not key or named or (_WHOLE.fullmatch(value) and not re.search(r"['\"()$`\\]", key))):
        return f"{key}={_value(value, values, quote)}"
    put = _value(word.raw, values, quote)
    # A bare word of letters, or a word with @, could be a verb, a keyword or a recipe: quotes make it a value.
    return _marked(put) if put != word.raw and re.fullmatch(r"[A-Za-z]+|@.*", put) else put


def _in_sql(raw: str, values: Mapping[str, Value]) -> str:
    """Return SQL in its quotes with its values put in; a value must look like a name or a number."""

    def plain(match: re.Match[str]) -> str:
        value = str(_lookup(match[1], values))
        if not re.fullmatch(r"\+?[A-Za-z0-9_.$#]+", value):
            raise RecipeError(
                f"the value {value} can't be used in SQL; allowed are letters, digits and _ . $ #, with + before a disk group"
            )
        return value

    return _INSIDE.sub(plain, raw)


def _value(raw: str, values: Mapping[str, Value], quote: Callable[[str], str]) -> str:
    whole = _WHOLE.fullmatch(raw)
    if whole is not None:
        return quote(str(_lookup(whole[1], values)))
    if raw[:1] in ("'", '"'):
        return raw
    if raw.startswith("("):
        return _in_list(raw, values, quote)
    if not _INSIDE.search(raw):
        return raw
    return quote(_INSIDE.sub(lambda match: str(_lookup(match[1], values)), raw))


_LIST_ITEM = re.compile(r"(?<=[=(,\s])\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))(?=[),\s])")


def _in_list(raw: str, values: Mapping[str, Value], quote: Callable[[str], str]) -> str:
    """Return a list in parentheses, such as an IORM plan, with its values put in; each value stays one item of the list."""
    pieces: list[str] = []
    end = 0
    for match in _LIST_ITEM.finditer(raw):
        value = str(_lookup(match[1] or match[2], values))
        before = raw[: match.start()]
        inside_quotes = (
            not _OUTSIDE.fullmatch(before) if quote is _for_shell else any(before.count(m) % 2 for m in "'\"")
        )
        plain = re.fullmatch(r"[A-Za-z0-9_.]+", value)
        put = value if plain else quote(value) if quote is _for_shell else _marked(value)
        pieces += [raw[end : match.start()], match[0] if inside_quotes else put]
        end = match.end()
    text = "".join(pieces) + raw[end:]
    left = _INSIDE.search(_LIST_ITEM.sub("", raw))
    if left is not None:
        raise RecipeError(f"{left[0]} in a list must be a whole item: (name={left[0]},share=1)")
    return text


class UnknownParameterError(RecipeError):
    """A ``$name`` that the recipe does not declare; ``name`` is without the ``$``."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = list(known)
        near = closest(name, names)
        super().__init__(
            f"${name} is not a parameter: {', '.join(names) or 'there are none'}",
            hint=f"did you mean ${near[0]}?" if near else "",
        )
        self.name = name


def _lookup(name: str, values: Mapping[str, Value]) -> Value:
    lowered = {key.lower(): value for key, value in values.items()}
    if name.lower() not in lowered:
        raise UnknownParameterError(name, values)
    return lowered[name.lower()]


def _quoted(value: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_.+,:@%/\[\]*-]+", value) and not value.startswith("-"):
        return value
    return _marked(value)


def _for_shell(value: str) -> str:
    """Return a value as one shell word in which the shell expands nothing."""
    _refuse_unprintable(value)
    if re.fullmatch(r"[A-Za-z0-9_.+,:@%/-]+", value) and not value.startswith("-"):
        return value
    return "'" + value.replace("'", "'\"'\"'") + "'"


def _refuse_unprintable(value: str) -> None:
    if not value.isprintable():
        raise RecipeError(f"the value {value!r} has a character that can't be printed", hint="leave it out")


def _marked(value: str) -> str:
    if "'" in value and '"' in value:
        raise RecipeError(f"the value {value} has both kinds of quotes", hint="a statement can hold only one kind")
    _refuse_unprintable(value)
    mark = '"' if "'" in value else "'"
    return f"{mark}{value}{mark}"


_SIDE = r"(\"[^\"]*\"|'[^']*'|[^\s!=\"']+)"
_CONDITION = re.compile(rf"{_SIDE}\s*(!=|=)\s*{_SIDE}")
_AND = re.compile(r"\s+and\s+(?=(?:[^\"']|\"[^\"]*\"|'[^']*')*$)", re.IGNORECASE)
"""AND outside of quotes: each quote after it is closed."""


def conditions(condition: str) -> list[tuple[str, str, str]]:
    """Return the comparisons of a ``when`` condition, each as left side, operator (= or !=) and right side.

    Raises:
        RecipeError: the text is not a condition.
    """
    found = []
    for part in _AND.split(condition) if condition else []:
        match = _CONDITION.fullmatch(part.strip())
        if match is None:
            either = re.search(r"\sor\s", part, re.IGNORECASE)
            raise RecipeError(
                f"'{part}' is not a condition; write $name = value or $name != value, joined by and",
                hint="write the line once for each case" if either else "",
            )
        found.append((match[1], match[2], match[3]))
    return found


def holds(condition: str, values: Mapping[str, Value]) -> bool:
    """Return whether a ``when`` condition is true, such as ``$size != keep and $media = flash``; an empty condition is true.

    Raises:
        RecipeError: the text is not a condition.
    """
    for left, operator, right in conditions(condition):
        one, other = (str(_side(side, values)).lower() for side in (left, right))
        if (one == other) != (operator == "="):
            return False
    return True


def _side(text: str, values: Mapping[str, Value]) -> Value:
    whole = _WHOLE.fullmatch(text)
    if whole is None and text.startswith("$"):
        raise RecipeError(f"'{text}' is not a parameter; write it as $name")
    return _lookup(whole[1], values) if whole else text.strip("\"'")


RISKS = ("none", "performance", "redundancy", "data")

KINDS: Mapping[str, Kind] = {
    "size": Kind.SIZE,
    "int": Kind.INT,
    "duration": Kind.DURATION,
    "name": Kind.NAME,
    "db": Kind.DB,
    "cellset": Kind.CELLSET,
    "command": Kind.COMMAND,
    "file": Kind.FILE,
    "text": Kind.TEXT,
    "number": Kind.NUMBER,
    "diskgroup": Kind.DISKGROUP,
    "prefix": Kind.PREFIX,
}
PARAM = re.compile(
    r"param\s+(?P<name>[A-Za-z_]\w*)\s*(?::\s*(?P<kind>[A-Za-z]\w*(?:\([^)]*\))?(?:\|\w+)*))?"
    r"\s*(?:=\s*(?P<default>\"[^\"]*\"|'[^']*'|[^\s\"']+))?\s*(?P<help>\"[^\"]*\"|'[^']*')?\s*",
    re.IGNORECASE,
)


def read_title(rest: str) -> str:
    """Return the title after the word ``recipe``.

    Raises:
        StatementError: it is missing, or not in quotes.
    """
    quoted = re.fullmatch(r"\"([^\"]*)\"|'([^']*)'", rest)
    if quoted is None:
        if not rest:
            raise StatementError("the title is missing", hint='such as: `recipe "what it does"`')
        inside = re.search(r"\"([^\"]+)\"|'([^']+)'", rest)
        bare = (inside[1] or inside[2]) if inside else rest.strip("\"'“”„‘’ ")
        wrong = f"only a title in quotes may follow recipe, not {rest}" if inside else f"the title needs quotes: {rest}"
        raise StatementError(wrong, hint=f'write `recipe "{bare}"`')
    title = (quoted[1] or quoted[2] or "").strip()
    if not title:
        raise StatementError("the title is empty", hint='such as: `recipe "what it does"`')
    return title


def read_risk(rest: str) -> str:
    """Return the highest allowed risk after the word ``risk``.

    Raises:
        StatementError: it is missing or unknown.
    """
    if not rest:
        raise StatementError(f"risk needs a value: {', '.join(RISKS)}")
    if rest.lower() not in RISKS:
        raise StatementError(f"risk must be one of {', '.join(RISKS)}, not '{rest}'", suggestions=closest(rest, RISKS))
    return rest.lower()


def read_needs(rest: str) -> tuple[str, ...]:
    """Return the needs after the word ``needs``.

    Raises:
        StatementError: a need is unknown, or there are no needs.
    """
    found = tuple(part.strip() for part in rest.split(",") if part.strip())
    if not found:
        raise StatementError("needs is empty", hint=f"it takes {KNOWN}")
    try:
        return tuple(str(Need.of(part)) for part in found)
    except StatementError as error:
        words = [word for part in found for word in part.split()]
        if len(words) == len(found):
            raise
        raise StatementError(error.message, hint=f"put commas between them: `needs {', '.join(words)}`") from error


def read_param(body: str, taken: Sequence[str]) -> tuple[Param, tuple[StatementError, ...]]:
    """Return the parameter that a line declares, and the errors that leave it usable.

    Args:
        taken: names of the parameters declared before it.

    Raises:
        StatementError: the line is not a declaration.
    """
    match = PARAM.fullmatch(body)
    if match is None:
        raise _no_declaration(body)
    wrong: list[StatementError] = []
    name, spec = match["name"], match["kind"] or "text"
    if name.lower() in (each.lower() for each in taken):
        wrong.append(StatementError(f"param {name} is declared twice", hint="remove one of the two"))
    try:
        kind, choices, words = _kind(spec)
    except StatementError as error:
        wrong.append(error)
        kind, choices, words = _kind("text")
    default = match["default"].strip("\"'") if match["default"] is not None else None
    param = Param(
        name=name,
        kind=kind,
        help=(match["help"] or "")[1:-1] or NO_HELP,
        choices=choices,
        words=words,
        default=default,
        required=default is None,
    )
    if default is not None:
        try:
            convert(param, default, 0, len(default))
        except StatementError as error:
            hint = error.hint if error.suggestions or error.hint else ""
            wrong.append(StatementError(f"the default of {error.message}", hint=hint))
    return param, tuple(wrong)


NO_HELP = "no help"
"""Stands in help for a parameter whose declaration has no text."""
_SHAPE = '`param name : kind = default "help"`'

_BEGUN = re.compile(
    r"param\s*(?P<name>[A-Za-z_]\w*(?![\w$-]))?\s*(?P<colon>:\s*(?P<kind>[A-Za-z]\w*(?:\([^)]*\))?(?:\|\w+)*)?)?"
    r"\s*(?P<equals>=\s*(?P<default>\"[^\"]*\"|'[^']*'|[^\s\"'=]+)?)?\s*(?P<help>\"[^\"]*\"|'[^']*')?\s*",
    re.IGNORECASE,
)
"""The longest beginning of a line that fits a declaration."""


def _no_declaration(body: str) -> StatementError:
    """Return the error that shows where a line stops being a declaration."""
    found = _BEGUN.match(body)
    assert found is not None, "the line begins with param"
    left = body[found.end() :]
    word = left.split(None, 1)[0] if left else ""
    name = found["name"]
    if name is None:
        bare = re.sub(r"\W+", "_", word).strip("_0123456789") or "size"
        return StatementError(
            f"'{word}' can't be the name of a parameter; use letters, digits and _, a letter first"
            if word and not found["colon"]
            else "the parameter has no name",
            hint=f"such as: `param {bare} : size`",
        )
    if found["colon"] and found["kind"] is None:
        return StatementError(f"param {name} : needs a kind", hint=f"such as: `param {name} : size`")
    if found["equals"] and found["default"] is None and not left.startswith("="):
        return StatementError(f"param {name} … = needs a default", hint=f"such as: {_SHAPE}")
    if left.startswith("#"):
        hint = "after a statement or a parameter, begin a comment with -- and a blank"
    elif not found["colon"] and not found["equals"] and not found["help"]:
        hint = f"put a colon before the kind: `param {name} : {left}`"
    else:
        hint = f"the form is {_SHAPE}; a default with blanks needs quotes, too"
    return StatementError(f"'{left}' can't be part of the declaration of {name}", hint=hint)


_CALLED = {
    **dict.fromkeys(("bool", "boolean", "flag"), "choice(yes|no)"),
    **dict.fromkeys(("string", "str", "word", "any"), "text"),
    **dict.fromkeys(("bytes", "byte"), "size"),
    **dict.fromkeys(("time", "seconds", "interval"), "duration"),
    **dict.fromkeys(("float", "decimal", "real"), "number"),
    **dict.fromkeys(("cell", "cells"), "cellset"),
    **dict.fromkeys(("path", "folder"), "file"),
    **dict.fromkeys(("enum", "list"), "choice(a|b)"),
    "database": "db",
}
"""Kinds by the names that they have in other languages."""


def _kind(spec: str) -> tuple[Kind, tuple[str, ...], tuple[str, ...]]:
    """Return kind, choices and extra words of ``size|keep`` or ``choice(a|b)``."""
    found = re.fullmatch(r"(\w+)(?:\(([^)]*)\))?((?:\|\w+)*)", spec)
    assert found is not None, "a declaration has no other kinds"
    name, inside, words = found[1], found[2], tuple(found[3].split("|")[1:])
    if name.lower() == "choice":
        choices = tuple(part.strip() for part in (inside or "").split("|") if part.strip())
        if not choices:
            raise StatementError("choice needs its words: `choice(a|b)`")
        if len(choices) == 1 and "," in choices[0]:
            meant = "|".join(part.strip() for part in choices[0].split(","))
            raise StatementError(f"separate the words of a choice by |, not by a comma: `choice({meant})`")
        return Kind.CHOICE, choices, words
    if inside is not None or name.lower() not in KINDS:
        called = _CALLED.get(name.lower(), "")
        like = (called,) if called else closest(name, (*KINDS, "choice"))
        raise StatementError(
            f"'{name}' is not a kind; use one of {', '.join((*KINDS, 'choice(a|b)'))}",
            suggestions=like if inside is None else tuple(word for word in like if word == "choice"),
        )
    return KINDS[name.lower()], (), words
