"""Analytic functions of queries: ``count(*) over (partition by …)``, ``lag(x) over (… order by …)`` and their like.

Rows are numbers here, so that nothing of how they are kept matters. Without ORDER BY a group function counts the whole
partition, with it everything up to the current row and those equal to it, or what ROWS and RANGE say.
Source: Oracle Database SQL Language Reference, "Analytic Functions".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cmp_to_key

from exacell.emulator.sql import tree
from exacell.emulator.sql.compare import arithmetic, compare_for_order
from exacell.emulator.sql.functions import GROUP_FUNCTIONS
from exacell.emulator.sql.values import Value, to_number, to_text

RANKING = ("ROW_NUMBER", "RANK", "DENSE_RANK")
"""Functions without arguments that number the rows of a partition."""
SHIFTING = ("LAG", "LEAD")
ENDS = ("FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")
SHARES = ("PERCENT_RANK", "CUME_DIST")
ANALYTIC = frozenset((*RANKING, *SHIFTING, *ENDS, *SHARES, "RATIO_TO_REPORT", "NTILE", "LISTAGG"))
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
        keys = [orders[number] for number in ordered]
        values = _values(window, ranks, keys, [arguments[number] for number in ordered])
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


def _values(window: tree.Window, ranks: Sequence[int], keys: Sequence[Row], arguments: Sequence[Row]) -> list[Value]:
    name, count = window.call.name, len(ranks)
    if name == "ROW_NUMBER":
        return list(range(1, count + 1))
    if name == "DENSE_RANK":
        return [rank + 1 for rank in ranks]
    if name == "RANK":
        return [ranks.index(rank) + 1 for rank in ranks]
    if name == "PERCENT_RANK":
        return [arithmetic("/", ranks.index(rank), max(1, count - 1)) for rank in ranks]
    if name == "CUME_DIST":
        return [arithmetic("/", _end(window, ranks, place), count) for place in range(count)]
    firsts: list[Value] = [row[0] if row else None for row in arguments]
    if name == "NTILE":
        buckets = max(1, int(to_number(firsts[0]) or 1))
        large, size = count % buckets, count // buckets
        edge = large * (size + 1)
        return [n // (size + 1) + 1 if n < edge else large + (n - edge) // size + 1 for n in range(count)]
    if name in SHIFTING:
        return [_shifted(window, firsts, row, place) for place, row in enumerate(arguments)]
    if name == "LISTAGG":
        between = to_text(arguments[0][1]) or "" if len(arguments[0]) > 1 else ""
        return [between.join(to_text(value) or "" for value in firsts if value is not None) or None] * count
    spans = [_span(window, ranks, keys, place) for place in range(count)]
    if name in ENDS:
        return [_at_end(window, firsts[start:end], row) for (start, end), row in zip(spans, arguments, strict=True)]
    if name == "RATIO_TO_REPORT":
        total = GROUP_FUNCTIONS["SUM"]([value for value in firsts if value is not None])
        return [None if value is None or not total else arithmetic("/", value, total) for value in firsts]
    if window.call.star:
        return [max(0, end - start) for start, end in spans]
    return _running(_reducer(window.call), firsts, spans)


def _shifted(window: tree.Window, values: Sequence[Value], row: Row, place: int) -> Value:
    step = int(row[1]) if len(row) > 1 and isinstance(row[1], int | Decimal) else 1
    back = window.call.name == "LAG"
    if window.ignore_nulls:
        side = list(reversed(values[:place])) if back else values[place + 1 :]
        known = [value for value in side if value is not None]
        return known[step - 1] if 0 < step <= len(known) else row[2] if len(row) > 2 else None
    other = place - step if back else place + step
    if 0 <= other < len(values):
        return values[other]
    return row[2] if len(row) > 2 else None


def _end(window: tree.Window, ranks: Sequence[int], place: int) -> int:
    """Return how many rows of the partition the window of a row has."""
    return len(ranks) - list(reversed(ranks)).index(ranks[place]) if window.order else len(ranks)


def _at_end(window: tree.Window, values: Sequence[Value], row: Row) -> Value:
    found = [value for value in values if value is not None] if window.ignore_nulls else values
    if window.call.name == "NTH_VALUE":
        nth = int(to_number(row[1]) or 1) if len(row) > 1 else 1
        return found[nth - 1] if 0 < nth <= len(found) else None
    return (found[0] if window.call.name == "FIRST_VALUE" else found[-1]) if found else None


def _span(window: tree.Window, ranks: Sequence[int], keys: Sequence[Row], place: int) -> tuple[int, int]:
    """Return where the window of a row begins and ends, by the numbers of the partition's rows."""
    frame, count = window.frame, len(ranks)
    if frame is None:
        return 0, _end(window, ranks, place)
    if frame.by_rows:
        start = 0 if frame.start is None else max(0, place + frame.start)
        return start, count if frame.end is None else max(start, min(count, place + frame.end + 1))
    before, after = frame.start, frame.end
    start = 0 if before is None else ranks.index(ranks[place]) if before == 0 else _near(window, keys, place, before)
    end = count if after is None else _end(window, ranks, place) if after == 0 else _past(window, keys, place, after)
    return start, max(start, end)


def _near(window: tree.Window, keys: Sequence[Row], place: int, offset: int) -> int:
    """Return the first row whose key is not farther before the row's own than an offset."""
    edge = _edge(window, keys[place][0], offset)
    return next((n for n, key in enumerate(keys) if _compare(window.order, key, (edge,)) >= 0), len(keys))


def _past(window: tree.Window, keys: Sequence[Row], place: int, offset: int) -> int:
    edge = _edge(window, keys[place][0], offset)
    return next((n for n, key in enumerate(keys) if _compare(window.order, key, (edge,)) > 0), len(keys))


def _edge(window: tree.Window, key: Value, offset: int) -> Value:
    return arithmetic("-" if window.order[0].descending else "+", key, offset)


def _reducer(call: tree.Call) -> Callable[[Sequence[Value]], Value]:
    reduce = GROUP_FUNCTIONS[call.name]

    def over(values: Sequence[Value]) -> Value:
        known = [value for value in values if value is not None]
        return reduce(list(dict.fromkeys(known)) if call.distinct else known)

    return over


def _running(
    reduce: Callable[[Sequence[Value]], Value], values: Sequence[Value], spans: Sequence[tuple[int, int]]
) -> list[Value]:
    known: dict[tuple[int, int], Value] = {}
    for start, end in spans:
        if (start, end) not in known:
            known[start, end] = reduce(values[start:end])
    return [known[span] for span in spans]
