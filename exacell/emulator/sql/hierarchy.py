"""Hierarchical queries: START WITH … CONNECT BY [NOCYCLE] … PRIOR ….

Roots are the rows that START WITH chooses (all without it); below each row come, in order, the rows for which CONNECT BY is
true. Source: Oracle Database SQL Language Reference, "Hierarchical Queries".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql import tree
from exacell.emulator.sql.scope import Condition, Env
from exacell.emulator.sql.walk import all_of, children, columns_of, conjuncts

_MOST_ROWS = 200_000
"""The most rows of a hierarchy; a larger one would block the other sessions of the rack."""

Order = Callable[[list[Env]], list[Env]]


def divided(where: tree.Expression | None) -> tuple[tree.Expression | None, tree.Expression | None]:
    """Split WHERE into the part that joins the sources, which is tested first, and the part that filters the hierarchy."""
    joins: list[tree.Expression] = []
    rest: list[tree.Expression] = []
    for part in conjuncts(where):
        sources = {column.qualifier for column in columns_of(part)}
        (joins if len(sources) > 1 else rest).append(part)
    return all_of(joins), all_of(rest)


def has_prior(expression: tree.Expression) -> bool:
    """Return whether an expression contains PRIOR."""
    if isinstance(expression, tree.Unary) and expression.operator == "PRIOR":
        return True
    return any(has_prior(child) for child in children(expression))


def hierarchy(
    rows: Sequence[Env], start: Condition | None, connect: Condition, *, nocycle: bool, looks_back: bool, order: Order
) -> list[Env]:
    """Return the rows of a hierarchy with their levels, each row after the row above it.

    Args:
        looks_back: CONNECT BY contains PRIOR, so that a row below itself is a loop.
        order: sorts the rows below one row.

    Raises:
        OraError: ORA-01436 if there is a loop; ORA-30009 if the hierarchy is too large or endless.
    """
    found: list[Env] = []
    waiting = [_below(row, None) for row in rows if start is None or start(row)]
    waiting = list(reversed(order(waiting)))
    while waiting:
        here = waiting.pop()
        found.append(here)
        if len(found) > _MOST_ROWS:
            raise OraError(ora(30009))
        following: list[Env] = []
        for row in rows:
            candidate = _below(row, here)
            if not connect(candidate):
                continue
            if looks_back and _is_above(row, here):
                if nocycle:
                    continue
                raise OraError(ora(1436))
            following.append(candidate)
        here.leaf = not following
        waiting += reversed(order(following))
    return found


def _below(row: Env, above: Env | None) -> Env:
    env = Env(row.rows, row.outer)
    env.prior = above
    env.level = above.level + 1 if above is not None else 1
    return env


def _is_above(row: Env, here: Env | None) -> bool:
    while here is not None:
        if here.rows is row.rows:
            return True
        here = here.prior
    return False


def root_of(env: Env) -> Env:
    """Return the top row of a row's branch."""
    while env.prior is not None:
        env = env.prior
    return env


def branch_of(env: Env) -> list[Env]:
    """Return the rows from the top row down to this row."""
    found = [env]
    while found[-1].prior is not None:
        found.append(found[-1].prior)
    return found[::-1]
