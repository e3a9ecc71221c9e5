"""Read a simple TOML text without the TOML parser: exactly what the parser returns, or nothing. Pure.

Importing the parser takes a tenth of what a command line costs that a holder answers, and nearly all configurations are simple:
one key a line with a text, a list of texts, a whole number, true or false.
"""

from __future__ import annotations

from typing import Any

_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_BLANK = " \t"
_DIGITS = 18


class _NotPlain(Exception):
    """The text needs the parser."""


def plain_toml(text: str) -> dict[str, Any] | None:
    """Return the top table of a simple TOML text; None if it needs the parser, or is no TOML."""
    signs = text.replace("\n", "").replace("\t", "")
    if not (signs.isascii() and signs.isprintable()) or "\\" in text or '"""' in text or "'''" in text:
        return None
    top: dict[str, Any] = {}
    table = top
    try:
        for line in text.split("\n"):
            line = line.strip(_BLANK)
            if line.startswith("["):
                table = _table(top, line)
            elif line and line[0] != "#":
                name, _, rest = line.partition("=")
                name = _bare(name)
                if name in table:
                    raise _NotPlain
                table[name] = _value(rest.strip(_BLANK))
    except _NotPlain:
        return None
    return top


def _table(top: dict[str, Any], line: str) -> dict[str, Any]:
    """Return the new table that a line such as ``[rack.x]`` begins."""
    inside, bracket, rest = line[1:].partition("]")
    if not bracket:
        raise _NotPlain
    _end(rest)
    *path, last = map(_bare, inside.split("."))
    table = top
    for name in path:
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise _NotPlain
    if last in table:
        raise _NotPlain
    table[last] = {}
    found: dict[str, Any] = table[last]
    return found


def _bare(name: str) -> str:
    found = name.strip(_BLANK)
    if not found or not _BARE.issuperset(found):
        raise _NotPlain
    return found


def _value(rest: str) -> Any:
    if rest[:1] in ('"', "'"):
        found, rest = _text(rest)
        _end(rest)
        return found
    if rest.startswith("["):
        return _texts(rest[1:].lstrip(_BLANK))
    word = rest.partition("#")[0].strip(_BLANK)
    if word in ("true", "false"):
        return word == "true"
    if word.isdigit() and len(word) <= _DIGITS and (word == "0" or word[0] != "0"):
        return int(word)
    raise _NotPlain


def _text(rest: str) -> tuple[str, str]:
    """Return the text in quotes with which a piece begins, and what is behind it."""
    found, quote, behind = rest[1:].partition(rest[0])
    if not quote:
        raise _NotPlain
    return found, behind.lstrip(_BLANK)


def _texts(rest: str) -> list[str]:
    """Return the texts of a list that ends in the same line; ``rest`` is behind its bracket."""
    found: list[str] = []
    while not rest.startswith("]"):
        if rest[:1] not in ('"', "'"):
            raise _NotPlain
        one, rest = _text(rest)
        found.append(one)
        if rest.startswith(","):
            rest = rest[1:].lstrip(_BLANK)
        elif not rest.startswith("]"):
            raise _NotPlain
    _end(rest[1:])
    return found


def _end(rest: str) -> None:
    """Check that nothing but a comment is left of a line."""
    if rest.strip(_BLANK) and not rest.lstrip(_BLANK).startswith("#"):
        raise _NotPlain
