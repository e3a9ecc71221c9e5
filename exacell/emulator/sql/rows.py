"""Operations of queries on whole rows: joining, grouping, combining results, ordering and limiting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cmp_to_key

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql import tree
from exacell.emulator.sql.compare import compare_for_order
from exacell.emulator.sql.scope import Compiled, Condition, Env, Join, Relation, ResultColumn, Row
from exacell.emulator.sql.values import Value

_MOST_ROWS = 1_000_000
"""The most rows of a join; a larger one would block the other sessions of the rack."""


def joined_rows(
    relations: Sequence[Relation],
    joins: Sequence[Join],
    condition: Condition | None,
    outer: Env | None,
) -> list[Env]:
    """Return the rows of FROM and WHERE, with their ROWNUM.

    Raises:
        OraError: ORA-01652 if a join has too many rows.
    """
    combined: list[tuple[Row, ...]] = [()]
    for number, (relation, join) in enumerate(zip(relations, joins, strict=True)):
        kind, on = join.kind, join.condition
        missing = tuple((None,) * len(later.columns) for later in relations[number + 1 :])
        nothing = (None,) * len(relation.columns)
        following: list[tuple[Row, ...]] = []
        used: set[int] = set()
        candidates = rows_for(relation.rows, join, (nothing, *missing), outer)
        for left in combined:
            before = len(following)
            for place, row in candidates(left):
                if on is None or on(Env((*left, row, *missing), outer)):
                    following.append((*left, row))
                    used.add(place)
            if len(following) > _MOST_ROWS:
                raise OraError(ora(1652, 128, "TEMP"))
            if kind in ("left", "full") and len(following) == before:
                following.append((*left, nothing))
        if kind in ("right", "full"):
            empty = tuple((None,) * len(earlier.columns) for earlier in relations[:number])
            following += [(*empty, row) for place, row in enumerate(relation.rows) if place not in used]
        combined = following
    envs: list[Env] = []
    for rows in combined:
        env = Env(rows, outer)
        env.rownum = len(envs) + 1
        if condition is None or condition(env):
            envs.append(env)
    return envs


def rows_for(
    rows: Sequence[Row], join: Join, after: tuple[Row, ...], outer: Env | None
) -> Callable[[tuple[Row, ...]], Iterable[tuple[int, Row]]]:
    """Return a function that gives the rows of a source, with their numbers, that match the rows before it."""
    if (dependent := join.rows) is not None:
        return lambda left: list(enumerate(dependent(Env((*left, *after), outer))))
    numbered = list(enumerate(rows))
    if join.probe is None:
        return lambda _: numbered
    known, place = join.probe
    index: dict[Value, list[tuple[int, Row]]] = {}
    for number, row in numbered:
        index.setdefault(row[place], []).append((number, row))
    return lambda left: index.get(known(Env((*left, *after), outer)), ())


def grouped_rows(
    envs: Sequence[Env], keys: Sequence[Compiled], outer: Env | None, widths: Sequence[int], by_key: bool
) -> list[Env]:
    """Return one row for each group, with its members; without GROUP BY always exactly one row, even if there are no members."""
    if not by_key:
        return [_group(envs, outer)] if envs else [Env(tuple((None,) * width for width in widths), outer, envs)]
    groups: dict[Row, list[Env]] = {}
    for env in envs:
        groups.setdefault(tuple(key(env) for key in keys), []).append(env)
    return [_group(members, outer) for members in groups.values()]


def rolled_up(
    envs: Sequence[Env],
    sets: Sequence[tuple[tree.Expression, ...]],
    keys: Sequence[tuple[tree.Expression, Compiled]],
    outer: Env | None,
    widths: Sequence[int],
    places: Callable[[tree.Expression], Sequence[tuple[int, int]]],
) -> list[Env]:
    """Return one row for each group of each grouping set; keys outside a set are NULL in its rows.

    Args:
        keys: all keys of the sets, and the functions that compute them.
        places: returns the columns (source, place) that a key reads.
    """
    found: list[Env] = []
    for chosen in sets:
        functions = [function for key, function in keys if key in chosen]
        kept = {place for key in chosen for place in places(key)}
        lost = [key for key, _ in keys if key not in chosen]
        empty = {place for key in lost for place in places(key)} - kept
        for group in grouped_rows(envs, functions, outer, widths, bool(functions)):
            group.rows = tuple(
                tuple(None if (source, place) in empty else value for place, value in enumerate(row))
                for source, row in enumerate(group.rows)
            )
            group.rolled = frozenset(lost)
            found.append(group)
    return found


def _group(members: Sequence[Env], outer: Env | None) -> Env:
    """Return the row that represents a group: its first row, with its place in the hierarchy if there is one."""
    first = members[0]
    env = Env(first.rows, outer, members)
    env.prior, env.level, env.leaf = first.prior, first.level, first.leaf
    return env


def combine(operator: str, left: Sequence[Row], right: Sequence[Row]) -> list[Row]:
    """Return the result of UNION, UNION ALL, MINUS or INTERSECT on two results."""
    if operator == "UNION ALL":
        return [*left, *right]
    if operator == "UNION":
        return list(dict.fromkeys((*left, *right)))
    keep = set(right)
    return list(dict.fromkeys(row for row in left if (row in keep) == (operator == "INTERSECT")))


def position_of(expression: tree.Expression, columns: Sequence[ResultColumn]) -> int:
    """Return the index of the column that an ORDER BY term of a set operation means.

    Raises:
        OraError: ORA-01785 or ORA-00904 if it means none of them.
    """
    if isinstance(expression, tree.Literal) and isinstance(expression.value, int):
        if 1 <= expression.value <= len(columns):
            return expression.value - 1
        raise OraError(ora(1785))
    if isinstance(expression, tree.Column):
        for number, column in enumerate(columns):
            if column.name == expression.name:
                return number
        raise OraError(ora(904, f'"{expression.name}"'), at=expression.at)
    raise OraError(ora(1785))


def cut(rows: list[Row], query: tree.Query) -> list[Row]:
    """Return the rows that remain after OFFSET and FETCH FIRST."""
    limit = query.limit if query.limit is None or not query.percent else -(-len(rows) * query.limit // 100)
    end = None if limit is None else query.offset + limit
    return rows[query.offset : end]


def ordered(rows: list[Row], keys: Sequence[Sequence[Value]], orders: Sequence[tree.Order]) -> list[Row]:
    """Return rows sorted by their keys, as ORDER BY asks."""
    if not orders:
        return rows

    def compare(left: int, right: int) -> int:
        for number, order in enumerate(orders):
            one, two = keys[left][number], keys[right][number]
            result = compare_for_order(one, two, order.descending, order.nulls_first)
            if result:
                return result
        return 0

    return [rows[number] for number in sorted(range(len(rows)), key=cmp_to_key(compare))]
