"""The tokens of one query, and which bytes and lines a SQL text may have at all; names in a query and the tables of those that
only read. Pure.

SQL*Plus reads lines before Oracle reads SQL: a line that begins with one of its signs, is empty, or ends with ``-`` or ``;``
has a meaning for it at any place, even in a literal or a comment. So such lines are refused wherever they could have that
meaning. Source: SQL*Plus User's Guide, "Running SQL Commands" and SET (SQLBLANKLINES, SQLPREFIX, SQLTERMINATOR, DEFINE,
ESCAPE, CMDSEP).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from types import MappingProxyType

from exacell.core.packaged import data_beside
from exacell.core.values import dataclass
from exacell.opaque.findings import UnreadError

LONGEST = 2499
"""Maximum number of characters of a line for SQL*Plus before 12.2, which skips a longer line and continues. Source: reference
asm.md 2.
"""

_BYTES = re.compile(r"[^\t\n -~]")
_SIGNS = re.compile(r"[&!@\\]")
_HASHED = re.compile(r"[A-Za-z][A-Za-z0-9_$]*#(?![A-Za-z0-9_$#])")
_WAYS = {
    "!": "write <> for two values that differ",
    "&": "write the value itself",
    "@": "write the file's text here; database links are not read",
}
_WHATS = {
    "&": "SQL*Plus puts a variable in its place",
    "!": "SQL*Plus may take it for a command of the shell",
    "@": "it runs a file, or reaches another database",
    "\\": "SQL*Plus may take it for its escape sign",
}

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\n]+)|(?P<comment>--|/\*)
    |(?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9_$#.])
    |(?P<word>[A-Za-z][A-Za-z0-9_$#]*)(?!['"])
    |(?P<literal>'(?:[^'\n]|'')*')|(?P<quoted>"[A-Za-z0-9%][A-Za-z0-9 _$#%/().:,+*-]*")(?!['"])
    |(?P<sign>\|\||<>|<=|>=|[=<>+\-*/(),.])""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A word, number, literal, quoted name or sign of a query in upper case, and its text as written."""

    kind: str
    text: str
    written: str


END = Token("end", "", "the end")


def check_bytes(text: str) -> None:
    """Raise UnreadError if a byte or a line of a text is not allowed.

    Raises:
        UnreadError: a byte is not allowed, or a line is too long for SQL*Plus or ends with ``-``, which continues it.
    """
    odd = _BYTES.search(text)
    if odd:
        raise UnreadError(ascii(odd[0])[1:-1], "only printable ASCII, blanks, tabs and line ends are read")
    sign = _SIGNS.search(text)
    if sign:
        raise UnreadError(sign[0], _WHATS[sign[0]], _WAYS.get(sign[0], ""))
    left = _HASHED.sub(lambda name: "" if name[0].upper() in columns() else name[0], text)
    if "#" in left:
        raise UnreadError(
            "#", "SQL*Plus may take it for a command; exacell reads it only in the names of known columns"
        )
    for line in text.split("\n"):
        if line.rstrip(" \t").endswith("-"):
            raise UnreadError("-", "SQL*Plus joins such a line with the next one")
        if len(line) > LONGEST:
            raise UnreadError(f"{line[:20]}...", f"SQL*Plus may leave out a line of more than {LONGEST} characters")


def tokens_of(query: str) -> list[Token]:
    """Return the tokens of a query, with :data:`END` after the last one.

    Raises:
        UnreadError: a part of it is not in the language that is read.
    """
    found: list[Token] = []
    at = 0
    while at < len(query):
        match = _TOKEN.match(query, at)
        if not match:
            raise UnreadError(*_odd(query[at:]))
        kind, text = str(match.lastgroup), match[0]
        if kind == "comment":
            raise UnreadError(text, "a comment may end or hide what SQL*Plus reads", "leave the comment out")
        if "--" in text or "/*" in text:
            raise UnreadError(text, "SQL*Plus may take -- or /* in it for a comment")
        if kind != "blank":
            found.append(Token(kind, text.upper(), text))
        at = match.end()
    return [*found, END]


def _odd(rest: str) -> tuple[str, str, str]:
    """Return sign, reason and hint for text that does not begin with a token."""
    if rest[0] == "'":
        return (rest.split("\n")[0], "the quote has no end on its line", "")
    if rest[0] == '"':
        return (rest.split("\n")[0][:30], "a quoted name is read only after a column, with plain characters", "")
    if rest[0] == ";":
        return (";", "one query at a time: SQL*Plus may end the query here", "")
    if rest[0] == ":":
        return (":", "a variable of SQL*Plus may hold anything", "write the value itself")
    word = re.match(r"[\w$#.]+['\"]?", rest)
    return (word[0] if word else rest[0], "exacell does not read this in a query", "")


@dataclass(frozen=True)
class Name:
    """A name in an expression: a column (``SID``), with the table's name before it (``S.SID``) or empty."""

    table: str
    column: str
    written: str


@dataclass(frozen=True)
class Source:
    """A table or view in FROM: its name or alias (None for an inline view without alias), and its columns."""

    name: str | None
    columns: frozenset[str]


@dataclass
class Scope:
    """One SELECT: its FROM, the names in its expressions, and its columns.

    Attributes:
        stars: ``*`` (empty) and ``t.*`` (the table's name) in its list.
        given: the names of its other columns.
    """

    sources: list[Source] = field(default_factory=list)
    names: list[Name] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)
    given: set[str] = field(default_factory=set)

    def unknown(self, names: Sequence[Name]) -> list[Name]:
        """Return the names that are not columns of anything in FROM."""
        return [
            name
            for name in names
            if not any(name.column in s.columns and name.table in ("", s.name) for s in self.sources)
        ]

    def output(self) -> frozenset[str]:
        """Return the names of all columns of the result.

        Raises:
            UnreadError: the table of ``t.*`` is not in FROM.
        """
        found = set(self.given)
        for star in self.stars:
            fits = [s.columns for s in self.sources if star in ("", s.name)]
            if not fits:
                raise UnreadError(f"{star}.*".lower(), "FROM has no table of that name")
            found.update(*fits)
        return frozenset(found)


def refuse(names: Sequence[Name], sources: Sequence[Source]) -> None:
    """Raise UnreadError if there are names left.

    Raises:
        UnreadError: there are; the first may be a function.
    """
    for name in names[:1]:
        tables = sorted(s.name.lower() for s in sources if s.name) or ["the query in FROM"]
        raise UnreadError(
            name.written,
            f"it is not a known column of {', '.join(tables[:4])}; it may be a function, which may do anything",
        )


_OF_SYS = {"V_$": "V$", "GV_$": "GV$"}
"""Beginnings of SYS's own view names → those of the public names."""


@cache
def _rows() -> tuple[tuple[str, str, str, str], ...]:
    text = data_beside(__spec__, "sql.tsv")
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return tuple((kind, name, more, words) for kind, name, more, words in lines[1:])


def _of(kind: str) -> Iterator[tuple[str, str, str]]:
    return ((name, more, words) for row, name, more, words in _rows() if row == kind)


@cache
def views() -> Mapping[str, frozenset[str]]:
    """Return view name → its columns, both in upper case; a view has an entry for each of its names."""
    found: dict[str, frozenset[str]] = {}
    for name, more, words in _of("view"):
        columns = frozenset(words.split())
        found[name] = columns
        for prefix in more.split() if more != "-" else ():
            if prefix == "GV$":
                found[f"G{name}"] = columns | {"INST_ID"}
            else:
                plus = {"CON_ID"} if prefix == "CDB_" else set()
                found[prefix + name.removeprefix("DBA_")] = columns | plus
    return MappingProxyType(found)


def view(name: str) -> frozenset[str] | None:
    """Return the columns of a view by its upper-case name, with or without the underscore of SYS's own views; None if it is
    unknown.
    """
    for own, public in _OF_SYS.items():
        if name.startswith(own):
            return views().get(public + name.removeprefix(own))
    return views().get(name)


@cache
def columns() -> frozenset[str]:
    """Return the columns of all views."""
    return frozenset().union(*views().values())


@cache
def _words(kind: str) -> frozenset[str]:
    return frozenset(word for _, _, words in _of(kind) for word in words.split())


def functions() -> frozenset[str]:
    """Return SQL's own functions that every release has."""
    return _words("function")


def values() -> frozenset[str]:
    """Return SQL's own words for values that need no parentheses."""
    return _words("value")


def types() -> frozenset[str]:
    """Return the types that CAST may name."""
    return _words("type")


def reserved() -> frozenset[str]:
    """Return the words of SQL that can't be the name of a column, a table or an alias here."""
    return _words("reserved")


@cache
def options(kind: str) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Return option → the values that it may have, longest first, for SQL*Plus's SET (``set``) or COLUMN (``column``).

    An option has an entry for its whole name and for each abbreviation.
    """
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name, _, words in _of(kind):
        allowed = tuple(sorted((tuple(value.split()) for value in words.split("|")), key=len, reverse=True))
        least, _, rest = name.rstrip("]").partition("[")
        for length in range(len(rest) + 1):
            found[least + rest[:length]] = allowed
    return MappingProxyType(found)
