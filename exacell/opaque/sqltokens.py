"""The words and signs of one query, and which bytes and lines a SQL text may have at all. Pure.

SQL*Plus reads lines before Oracle reads SQL: a line that begins with one of its signs, is empty, or ends with ``-`` or ``;`` is
something to it wherever it stands, in a literal or a comment, too. So none of that may occur where it could be taken so.
Source: SQL*Plus User's Guide, "Running SQL Commands" and SET (SQLBLANKLINES, SQLPREFIX, SQLTERMINATOR, DEFINE, ESCAPE, CMDSEP).
"""

from __future__ import annotations

import re

from exacell.core.values import dataclass
from exacell.opaque.errors import UnreadError
from exacell.opaque.sqltables import columns

LONGEST = 2499
"""Characters that SQL*Plus before 12.2 takes as one line; it leaves out a longer one and goes on. Source: reference asm.md 2."""

_BYTES = re.compile(r"[^\t\n -~]")
_SIGNS = re.compile(r"[&!@\\]")
_HASHED = re.compile(r"[A-Za-z][A-Za-z0-9_$]*#(?![A-Za-z0-9_$#])")
_WAYS = {
    "!": "<> says that two values differ",
    "&": "write the value itself",
    "@": "write out what the file holds; a database link stays out",
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
    """A word (upper case), number, literal, quoted name or sign of a query, and how it was written."""

    kind: str
    text: str
    written: str


END = Token("end", "", "the end")


def check_bytes(text: str) -> None:
    """Return when every byte of a text may stand in it.

    Raises:
        UnreadError: one may not, or a line is too long for SQL*Plus or goes on in the next by ``-``.
    """
    odd = _BYTES.search(text)
    if odd:
        raise UnreadError(ascii(odd[0])[1:-1], "only printable ASCII, blanks, tabs and line ends are read")
    sign = _SIGNS.search(text)
    if sign:
        raise UnreadError(sign[0], _WHATS[sign[0]], _WAYS.get(sign[0], ""))
    left = _HASHED.sub(lambda name: "" if name[0].upper() in columns() else name[0], text)
    if "#" in left:
        raise UnreadError("#", "SQL*Plus may take it for a command; it is read in the names of listed columns alone")
    for line in text.split("\n"):
        if line.rstrip(" \t").endswith("-"):
            raise UnreadError("-", "SQL*Plus joins the next line to one that ends so")
        if len(line) > LONGEST:
            raise UnreadError(f"{line[:20]}...", f"SQL*Plus may leave out a line of more than {LONGEST} characters")


def tokens_of(query: str) -> list[Token]:
    """Return the words and signs of a query, with :data:`END` behind the last.

    Raises:
        UnreadError: something in it is none of the language that is read.
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
        if kind in ("literal", "quoted") and ("--" in text or "/*" in text):
            raise UnreadError(text, "SQL*Plus may take -- or /* in it for a comment")
        if kind != "blank":
            found.append(Token(kind, text.upper() if kind == "word" else text, text))
        at = match.end()
    return [*found, END]


def _odd(rest: str) -> tuple[str, str, str]:
    """Return sign, reason and way out for what begins with no token."""
    if rest[0] == "'":
        return (rest.split("\n")[0], "the quote has no end on its line", "")
    if rest[0] == '"':
        return (rest.split("\n")[0][:30], "a quoted name is read only behind what it names, of plain characters", "")
    if rest[0] == ";":
        return (";", "one query at a time: SQL*Plus may end the query here", "")
    if rest[0] == ":":
        return (":", "a variable of SQL*Plus may hold anything", "write the value itself")
    word = re.match(r"[\w$#.]+['\"]?", rest)
    return (word[0] if word else rest[0], "it is no word or sign of a query that exacell reads", "")
