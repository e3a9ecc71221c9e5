"""ROLLUP, CUBE and GROUPING SETS of GROUP BY: the sets of keys by which rows are grouped, one set after the other.

Source: Oracle Database SQL Language Reference, SELECT, "group_by_clause".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

from exacell.emulator.sql.tree import Call, Expression, RowValue

_Set = tuple[Expression, ...]


def grouping(terms: Sequence[Expression]) -> tuple[_Set, tuple[_Set, ...]]:
    """Return all keys of GROUP BY, and the sets of keys to group by; no sets for a plain GROUP BY."""
    if not any(isinstance(term, Call) and term.name in ("ROLLUP", "CUBE", "GROUPING SETS") for term in terms):
        return tuple(terms), ()
    alternatives = [_sets(term) for term in terms]
    sets = [tuple(dict.fromkeys(key for part in parts for key in part)) for parts in product(*alternatives)]
    keys = tuple(dict.fromkeys(key for chosen in sets for key in chosen))
    return keys, tuple(sets)


def _sets(term: Expression) -> list[_Set]:
    if not isinstance(term, Call):
        return [_keys(term)]
    parts = [_keys(argument) for argument in term.arguments]
    if term.name == "ROLLUP":
        return [_joined(parts[:count]) for count in range(len(parts), -1, -1)]
    if term.name == "CUBE":
        return [_joined(chosen) for count in range(len(parts), -1, -1) for chosen in combinations(parts, count)]
    if term.name == "GROUPING SETS":
        return [chosen for argument in term.arguments for chosen in _sets(argument)]
    return [(term,)]


def _keys(term: Expression) -> _Set:
    return term.parts if isinstance(term, RowValue) else (term,)


def _joined(parts: Sequence[_Set]) -> _Set:
    return tuple(key for part in parts for key in part)
