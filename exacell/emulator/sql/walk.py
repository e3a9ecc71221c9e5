"""Reads parsed expressions: their parts, their columns, group functions in them, and outer-join marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from exacell.emulator.sql import tree
from exacell.emulator.sql.functions import GROUP_FUNCTIONS

PERCENTILES = ("PERCENTILE_CONT", "PERCENTILE_DISC")
"""Group functions with a fraction, WITHIN GROUP (ORDER BY …)."""


def without_marks(block: tree.Block) -> tuple[list[tree.Source], tree.Expression | None]:
    """Turn conditions with ``(+)`` into left joins of the marked sources, which move to the end; return sources and condition."""
    optional: dict[str, list[tree.Expression]] = {}
    kept: list[tree.Expression] = []
    for part in conjuncts(block.where):
        marked = {column.qualifier for column in columns_of(part) if column.optional}
        if marked:
            optional.setdefault(next(iter(marked)), []).append(part)
        else:
            kept.append(part)
    sources = [source for source in block.sources if source.alias not in optional]
    waiting = [source for source in block.sources if source.alias in optional]
    while waiting:  # a source that is optional to another optional one comes after it
        open_names = {source.alias for source in waiting}

        def ready(source: tree.Source, names: set[str] = open_names) -> bool:
            used = {column.qualifier for part in optional[source.alias] for column in columns_of(part)}
            return not used & (names - {source.alias})

        source = next(filter(ready, waiting), waiting[0])
        waiting.remove(source)
        sources.append(replace(source, join="left", on=all_of(optional[source.alias]), using=()))
    return sources, all_of(kept)


def conjuncts(expression: tree.Expression | None) -> list[tree.Expression]:
    """Return the conditions that AND joins."""
    if expression is None:
        return []
    if isinstance(expression, tree.Binary) and expression.operator == "AND":
        return conjuncts(expression.left) + conjuncts(expression.right)
    return [expression]


def all_of(parts: Sequence[tree.Expression]) -> tree.Expression | None:
    """Return the conditions joined with AND; None if there are none."""
    result: tree.Expression | None = None
    for part in parts:
        result = part if result is None else tree.Binary("AND", result, part)
    return result


def children(expression: tree.Expression) -> tuple[tree.Expression, ...]:
    """Return the direct parts of an expression, without those of sub-queries."""
    match expression:
        case tree.Unary(_, operand) | tree.IsNull(operand, _) | tree.Cast(operand, _, _):
            return (operand,)
        case tree.Binary(_, left, right):
            return (left, right)
        case tree.InList(operand, choices, _):
            return (operand, *(choices if isinstance(choices, tuple) else ()))
        case tree.Like(operand, pattern, escape, _):
            return (operand, pattern, *((escape,) if escape is not None else ()))
        case tree.Between(operand, low, high, _):
            return (operand, low, high)
        case tree.Case(subject, branches, otherwise):
            ends = [part for part in (subject, otherwise) if part is not None]
            return (*ends, *(part for branch in branches for part in branch))
        case tree.RowValue(parts):
            return parts
        case tree.Quantified(_, operand, _, choices):
            return (operand, *(choices if isinstance(choices, tuple) else ()))
        case tree.Call(_, arguments):
            return (*arguments, *(order.expression for order in expression.keep))
    return ()


def columns_of(expression: tree.Expression) -> list[tree.Column]:
    """Return all columns in an expression."""
    if isinstance(expression, tree.Column):
        return [expression]
    return [column for child in children(expression) for column in columns_of(child)]


def place_of(expression: tree.Expression) -> int:
    """Return the first known offset in an expression; 0 if there is none."""
    if isinstance(expression, tree.Column | tree.Call | tree.Star):
        return expression.at
    places = [place for child in children(expression) if (place := place_of(child))]
    return min(places, default=0)


def is_group_function(expression: tree.Expression) -> bool:
    """Return whether the expression itself is a call of a group function."""
    return isinstance(expression, tree.Call) and (
        expression.name in GROUP_FUNCTIONS or expression.name in ("LISTAGG", "GROUPING", "GROUPING_ID", *PERCENTILES)
    )


def has_query(expression: tree.Expression) -> bool:
    """Return whether the expression contains a sub-query."""
    if isinstance(expression, tree.Scalar | tree.Exists):
        return True
    if isinstance(expression, tree.InList | tree.Quantified) and isinstance(expression.choices, tree.Query):
        return True
    return any(has_query(child) for child in children(expression))


def has_group_function(expression: tree.Expression) -> bool:
    """Return whether the expression contains a group function."""
    return is_group_function(expression) or any(has_group_function(child) for child in children(expression))
