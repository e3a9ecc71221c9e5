"""Which names of a query are columns: those of the views in its FROM, of the queries around it, and its own aliases. Pure.

A name without a dot is a column where one of that name is in sight, in the query itself or in one around it; only where none is
may it be a function. So it is read where one is. Source: SQL Language Reference, Column Expressions and Using Subqueries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from exacell.core.values import dataclass
from exacell.opaque.errors import UnreadError


@dataclass(frozen=True)
class Name:
    """A name in an expression: of a column (``SID``), with the table's before it (``S.SID``) or empty."""

    table: str
    column: str
    written: str


@dataclass(frozen=True)
class Source:
    """What a query reads: its name or alias, and its columns; None for the name of an inline view without alias."""

    name: str | None
    columns: frozenset[str]


@dataclass
class Scope:
    """One SELECT: what stands in its FROM, the names of its expressions, and the columns that it gives.

    Attributes:
        stars: ``*`` (empty) and ``t.*`` (the table's name) in its list.
        given: the names of the columns that it gives besides those.
        aliases: which of them are aliases.
    """

    sources: list[Source] = field(default_factory=list)
    names: list[Name] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)
    given: set[str] = field(default_factory=set)
    aliases: set[str] = field(default_factory=set)

    def unknown(self, names: Sequence[Name]) -> list[Name]:
        """Return which names are no column of what stands in FROM."""
        return [
            name
            for name in names
            if not any(name.column in s.columns and name.table in ("", s.name) for s in self.sources)
        ]

    def output(self) -> frozenset[str]:
        """Return the names of the columns that it gives.

        Raises:
            UnreadError: the table of ``t.*`` is none in its FROM.
        """
        found = set(self.given)
        for star in self.stars:
            fits = [s.columns for s in self.sources if star in ("", s.name)]
            if not fits:
                raise UnreadError(f"{star}.*".lower(), "no table of that name stands in FROM")
            found.update(*fits)
        return frozenset(found)


def refuse(names: Sequence[Name], sources: Sequence[Source]) -> None:
    """Return when there are no names left.

    Raises:
        UnreadError: there are: the first may be a function.
    """
    for name in names[:1]:
        tables = sorted(s.name for s in sources if s.name) or ["what stands in FROM"]
        raise UnreadError(
            name.written,
            f"it is no listed column of {', '.join(tables[:4]).lower()}, so it may be a function, which may do anything",
        )
