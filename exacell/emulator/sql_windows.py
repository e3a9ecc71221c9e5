"""Analytic functions of queries: ``count(*) over (partition by …)``, ``lag(x) over (… order by …)`` and their like.

Rows are numbers here, so that nothing of how they are kept matters. Without ORDER BY a group function counts the whole
partition, with it everything up to the current row and those equal to it. Other windows (ROWS, RANGE) are not known.
Source: Oracle Database SQL Language Reference, "Analytic Functions".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cmp_to_key

from exacell.emulator import sql_tree as tree
from exacell.emulator.sql_compare import arithmetic, compare_for_order
from exacell.emulator.sql_functions import GROUP_FUNCTIONS
from exacell.emulator.sql_values import Value

RANKING = ("ROW_NUMBER", "RANK", "DENSE_RANK")
"""Functions without arguments that number the rows of a partition."""
SHIFTING = ("LAG", "LEAD")
ENDS = ("FIRST_VALUE", "LAST_VALUE")
ANALYTIC = frozenset((*RANKING, *SHIFTING, *ENDS, "RATIO_TO_REPORT"))
"""Functions that make sense with OVER only."""

Row = tuple[Value, ...]


def window_values(
    window: tree.Window, partitions: Sequence[Row], orders: Sequence[Row], arguments: Sequence[Row]
) -> list[Value]:
    """Return the value of an analytic function for each row.

    Args:
        partitions: the values of PARTITION BY for each row.
        orders: those of ORDER BY.
        arguments: those of the function's arguments; for ``count(*)`` an empty tuple each.
    """
    groups: dict[Row, list[int]] = {}
    for number, key in enumerate(partitions):
        groups.setdefault(key, []).append(number)
    found: list[Value] = [None] * len(partitions)

    def compare(left: int, right: int) -> int:
        return _compare(window.order, orders[left], orders[right])

    for members in groups.values():
        ordered = sorted(members, key=cmp_to_key(compare))
        ranks = _ranks(window.order, [orders[number] for number in ordered])
        values = _values(window, ranks, [arguments[number] for number in ordered])
        for number, value in zip(ordered, values, strict=True):
            found[number] = value
    return found


def _compare(terms: Sequence[tree.Order], left: Row, right: Row) -> int:
    for term, one, two in zip(terms, left, right, strict=True):
        if result := compare_for_order(one, two, term.descending, term.nulls_first):
            return result
    return 0


def _ranks(terms: Sequence[tree.Order], keys: Sequence[Row]) -> list[int]:
    """Return for each row of an ordered partition how many distinct keys come before its own."""
    ranks: list[int] = []
    for place, key in enumerate(keys):
        same = place > 0 and _compare(terms, keys[place - 1], key) == 0
        ranks.append((ranks[-1] if same else ranks[-1] + 1) if place else 0)
    return ranks


def _values(window: tree.Window, ranks: Sequence[int], arguments: Sequence[Row]) -> list[Value]:
    name, count = window.call.name, len(ranks)
    if name == "ROW_NUMBER":
        return list(range(1, count + 1))
    if name == "DENSE_RANK":
        return [rank + 1 for rank in ranks]
    if name == "RANK":
        return [ranks.index(rank) + 1 for rank in ranks]
    firsts: list[Value] = [row[0] if row else None for row in arguments]
    if name in SHIFTING:
        return [_shifted(name, firsts, row, place) for place, row in enumerate(arguments)]
    ends = [_end(window, ranks, place) for place in range(count)]
    if name == "FIRST_VALUE":
        return [firsts[0]] * count
    if name == "LAST_VALUE":
        return [firsts[end - 1] for end in ends]
    if name == "RATIO_TO_REPORT":
        total = GROUP_FUNCTIONS["SUM"]([value for value in firsts if value is not None])
        return [None if value is None or not total else arithmetic("/", value, total) for value in firsts]
    if window.call.star:
        return list(ends)
    return _running(_reducer(window.call), firsts, ends)


def _shifted(name: str, values: Sequence[Value], row: Row, place: int) -> Value:
    step = int(row[1]) if len(row) > 1 and isinstance(row[1], int | Decimal) else 1
    other = place - step if name == "LAG" else place + step
    if 0 <= other < len(values):
        return values[other]
    return row[2] if len(row) > 2 else None


def _end(window: tree.Window, ranks: Sequence[int], place: int) -> int:
    """Return how many rows of the partition the window of a row has."""
    return len(ranks) - list(reversed(ranks)).index(ranks[place]) if window.order else len(ranks)


def _reducer(call: tree.Call) -> Callable[[Sequence[Value]], Value]:
    reduce = GROUP_FUNCTIONS[call.name]

    def over(values: Sequence[Value]) -> Value:
        known = [value for value in values if value is not None]
        return reduce(list(dict.fromkeys(known)) if call.distinct else known)

    return over


def _running(reduce: Callable[[Sequence[Value]], Value], values: Sequence[Value], ends: Sequence[int]) -> list[Value]:
    known: dict[int, Value] = {}
    for end in ends:
        if end not in known:
            known[end] = reduce(values[:end])
    return [known[end] for end in ends]
