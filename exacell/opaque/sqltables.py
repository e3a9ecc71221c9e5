"""What a SQL text may hold and still be a read: the table ``data/sql.tsv``, read when first asked for. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from exacell.core.packaged import data_beside

_OF_SYS = {"V_$": "V$", "GV_$": "GV$"}
"""SYS's own views behind the public names."""


@cache
def _rows() -> tuple[tuple[str, str, str, str], ...]:
    text = data_beside(__spec__, "sql.tsv")
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return tuple((kind, name, more, words) for kind, name, more, words in lines[1:])


def _of(kind: str) -> Iterator[tuple[str, str, str]]:
    return ((name, more, words) for row, name, more, words in _rows() if row == kind)


@cache
def views() -> Mapping[str, frozenset[str]]:
    """Return the columns of each view by its name, both in upper case, under every name that Oracle gives it."""
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
    """Return the columns of a view by its upper-case name, with or without the underscore of SYS's own; None when not listed."""
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
    """Return the functions that SQL itself has in every release."""
    return _words("function")


def values() -> frozenset[str]:
    """Return SQL's own names that stand for a value without parentheses."""
    return _words("value")


def types() -> frozenset[str]:
    """Return the types that CAST may name."""
    return _words("type")


def reserved() -> frozenset[str]:
    """Return the words of SQL that are no name of a column, a table or an alias here."""
    return _words("reserved")


@cache
def options(kind: str) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Return the values that each option of SQL*Plus's SET (``set``) or COLUMN (``column``) may have, longest first.

    An option stands under its whole name and under each way to shorten it.
    """
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name, _, words in _of(kind):
        allowed = tuple(sorted((tuple(value.split()) for value in words.split("|")), key=len, reverse=True))
        least, _, rest = name.rstrip("]").partition("[")
        for length in range(len(rest) + 1):
            found[least + rest[:length]] = allowed
    return MappingProxyType(found)
