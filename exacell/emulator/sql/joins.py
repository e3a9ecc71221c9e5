"""Finds the parts of a WHERE condition that can be tested while sources are joined, so that joins of several views stay small.

A condition on the first n sources only is tested as soon as those are joined; an equality of columns finds its rows with a
dictionary. Conditions with sub-queries, ROWNUM or columns of outer queries are tested at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exacell.emulator.sql import tree
from exacell.emulator.sql.walk import all_of, columns_of, conjuncts, has_query

Place = Callable[[tree.Column], tuple[int, int] | None]
"""Returns the number of a column's source and the column's place in it; None if no source of the block has the column."""


def distribute(
    where: tree.Expression | None, sources: Sequence[tree.Source], place: Place
) -> tuple[list[tree.Expression | None], tree.Expression | None]:
    """Return the part of ``where`` that each source's join can test, and the remaining part."""
    early: list[list[tree.Expression]] = [[] for _ in sources]
    left: list[tree.Expression] = []
    movable = all(source.join in ("cross", "inner", "left") for source in sources)
    for part in conjuncts(where):
        last = _last_source(part, place) if movable and not has_query(part) else None
        if last is None or sources[last].join == "left":
            left.append(part)
        else:
            early[last].append(part)
    return [all_of(parts) for parts in early], all_of(left)


def _last_source(part: tree.Expression, place: Place) -> int | None:
    places = [place(column) for column in columns_of(part)]
    known = [found[0] for found in places if found is not None]
    return max(known) if known and len(known) == len(places) else None


def equality(part: tree.Expression | None, number: int, place: Place) -> tuple[tree.Column, tree.Column] | None:
    """Return the two columns that a condition compares for equality: one of an earlier source, one of source ``number``; else
    None.
    """
    for test in conjuncts(part):
        if not (isinstance(test, tree.Binary) and test.operator == "="):
            continue
        one, two = test.left, test.right
        if not (isinstance(one, tree.Column) and isinstance(two, tree.Column)):
            continue
        first, second = place(one), place(two)
        if first is None or second is None:
            continue
        if first[0] < number == second[0]:
            return one, two
        if second[0] < number == first[0]:
            return two, one
    return None
