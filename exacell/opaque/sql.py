"""Decide which SQL text only reads: SET and COLUMN of SQL*Plus, one SELECT or WITH that ends with ``;``, EXIT. Pure.

Everything else is unread, because a list of harmful things is never complete: a name in a query that is not a column may be a
user's function, which may do anything, even without parentheses. So only views, columns, functions and options of a table
(``data/sql.tsv``) are read, and a column only if its view is in FROM. Source: Oracle Database SQL Language Reference, Function
Expressions; SQL*Plus User's Guide, SQL*Plus Command Reference.
"""

from __future__ import annotations

import re

from exacell.core.values import dataclass
from exacell.opaque.findings import UnreadError
from exacell.opaque.sqlquery import Parser
from exacell.opaque.sqltokens import check_bytes, options, tokens_of

NO_QUERY = "only SET, COLUMN, one SELECT or WITH, and EXIT are read"
"""Why a text for SQL*Plus with another beginning is not read."""

_SPLIT = re.compile(r"(?:'[^']*'|\"[^\"]*\"|[^ \t'\"])+")
_QUOTED = re.compile(r"'[A-Za-z0-9 _.,:|/=+*%()<>-]*'|\"[A-Za-z0-9 _.,:|/=+*%()<>-]*\"")
_FORMAT = re.compile(r"A[0-9]{1,4}|[$B]?[09][09,.GDEVSMIPR]{0,60}", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class SqlReading:
    """A text that only reads.

    Attributes:
        query: the SELECT or WITH, as written, without the ``;``.
        views: the views that it reads, upper case, each once.
        commands: the lines with SET, COLUMN and EXIT around it, as written.
    """

    query: str
    views: tuple[str, ...]
    commands: tuple[str, ...] = ()


def read_sql(text: str) -> SqlReading:
    """Return the query in a text for SQL*Plus.

    Raises:
        UnreadError: a part of the text is not read, so it may do anything; ``sign`` is the first word or sign of that part.
    """
    check_bytes(text)
    lines = text.split("\n")
    query, seen, commands = "", Parser([]), list[str]()
    at = 0
    while at < len(lines):
        line = lines[at].strip(" \t")
        word = re.match(r"[A-Za-z]+(?![A-Za-z0-9_$#])", line)
        name = word[0].upper() if word else ""
        at += 1
        if not line:
            continue
        if name in ("SELECT", "WITH"):
            if query:
                raise UnreadError(
                    line.split()[0], "it begins a second query; only one is allowed", "send one query at a time"
                )
            at, query = _query(lines, at - 1)
            seen = Parser(tokens_of(query))
            seen.statement()
        elif name in ("SET", "COL", "COLU", "COLUM", "COLUMN"):
            _options("set" if name == "SET" else "column", _words(line))
            commands.append(line)
        elif re.fullmatch(r"(EXIT|QUIT)[ \t]*;?", line.upper()):
            commands.append(line)
            if any(rest.strip(" \t") for rest in lines[at:]):
                raise UnreadError(line, "SQL*Plus ends there, but more text follows")
        else:
            raise UnreadError(re.findall(r"[\w$#]+|\S", line)[0], *_why(line))
    if not query:
        raise UnreadError("the end", "there is no SELECT in it")
    return SqlReading(query=query, views=tuple(seen.views), commands=tuple(commands))


def _query(lines: list[str], at: int) -> tuple[int, str]:
    """Return the index of the line after the query that begins at line ``at``, and the query without its ``;``."""
    held: list[str] = []
    for number in range(at, len(lines)):
        line = lines[number].rstrip(" \t")
        start = line.lstrip(" \t")[:1]
        if not start:
            raise UnreadError("the empty line", "SQL*Plus ends the query there and reads the rest as commands")
        if start in "./$#?":
            raise UnreadError(start, "at the beginning of a line SQL*Plus may take it for a command of its own")
        if line.endswith(";"):
            return number + 1, "\n".join([*held, line[:-1]])
        held.append(line)
    raise UnreadError("the end", "the query has no ; at the end of a line")


def _words(line: str) -> list[str]:
    """Return the words of a SQL*Plus command after its name, without a ``;`` at its end."""
    plain = line.removesuffix(";")
    if _SPLIT.sub("", plain).strip(" \t"):
        raise UnreadError("'" if "'" in _SPLIT.sub("", plain) else '"', "the quote has no end")
    return _SPLIT.findall(plain)[1:]


def _options(kind: str, words: list[str]) -> None:
    """Raise UnreadError unless all options of a SET or COLUMN are in the table, with allowed values."""
    known = options(kind)
    if kind == "column":
        if not words or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_$#]*", words[0]):
            raise UnreadError(
                words[0] if words else "column", "exacell reads COLUMN only with a plain name and its options"
            )
        words = words[1:]
    elif not words:
        raise UnreadError("set", "nothing is set")
    at = 0
    while at < len(words):
        allowed = known.get(words[at].upper())
        if allowed is None:
            raise UnreadError(words[at], f"exacell does not read this option of {kind.upper()}")
        given = words[at + 1 :]
        fits = next((value for value in allowed if _fits(value, given)), None)
        if fits is None:
            raise UnreadError(" ".join([words[at], *given[:1]]), "exacell does not read this value of the option")
        at += 1 + len(fits)


def _fits(value: tuple[str, ...], given: list[str]) -> bool:
    return len(given) >= len(value) and all(_one(want, word) for want, word in zip(value, given, strict=False))


def _one(want: str, word: str) -> bool:
    if want == "N":
        return re.fullmatch(r"[0-9]{1,9}", word) is not None
    if want == "FORMAT":
        return _FORMAT.fullmatch(word) is not None
    if want == "TEXT":
        return _QUOTED.fullmatch(word) is not None or re.fullmatch(r"[A-Za-z0-9_,.|:]+", word) is not None
    return word.upper() == want


def _why(line: str) -> tuple[str, str]:
    """Return why a line that begins neither a query nor a known command is not read, and what to do instead."""
    if line.startswith(("--", "/*")) or re.match(r"rem(ark)?\b", line, re.IGNORECASE):
        return "a comment may end or hide what SQL*Plus reads", "leave the comment out"
    return NO_QUERY, ""
