"""Compiles conditions on one of several values: IN, and comparisons with ANY and ALL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, cast

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql import tree
from exacell.emulator.sql.compare import Truth, holds, opposite
from exacell.emulator.sql.scope import Compiled, Condition, Env, Prepared, Scope
from exacell.emulator.sql.values import ColumnType, Value
from exacell.emulator.sql.walk import place_of


class Queries(Protocol):
    """Compiles sub-queries in expressions."""

    def query(self, query: tree.Query, outer: Scope | None) -> Prepared:
        """Return a query that is ready to run inside the rows of the outer one."""


class Compiler(Protocol):
    """Compiles the operands."""

    queries: Queries

    def value(self, expression: tree.Expression, scope: Scope) -> tuple[Compiled, ColumnType]:
        """Return a function that computes an expression, and the type of its value."""


def value_in(
    compiler: Compiler,
    operand: tree.Expression,
    choices: tuple[tree.Expression, ...] | tree.Query,
    negated: bool,
    scope: Scope,
) -> Condition:
    """Compile ``x [NOT] IN (a, b)`` or ``x [NOT] IN (query)``."""
    function, _ = compiler.value(operand, scope)
    if isinstance(choices, tree.Query):
        values = _chosen(compiler, choices, scope)
    else:
        listed = [compiler.value(choice, scope)[0] for choice in choices]

        def values(env: Env) -> Iterable[Value]:
            return (choice(env) for choice in listed)

    def test(env: Env) -> Truth:
        result: Truth = False
        wanted = function(env)
        for choice in values(env):
            equal = holds("=", wanted, choice)
            if equal:
                return not negated
            if equal is None:
                result = None
        return opposite(result) if negated else result

    return test


def rows_in(
    compiler: Compiler,
    parts: tuple[tree.Expression, ...],
    choices: tuple[tree.Expression, ...] | tree.Query,
    negated: bool,
    scope: Scope,
) -> Condition:
    """Compile ``(a, b) IN ((1, 2), …)`` or ``(a, b) IN (query)``."""
    functions = [compiler.value(part, scope)[0] for part in parts]
    if isinstance(choices, tree.Query):
        prepared = compiler.queries.query(choices, scope)
        if len(prepared.columns) != len(parts):
            raise OraError(ora(947 if len(prepared.columns) < len(parts) else 913))
        run = prepared.run

        def rows(env: Env) -> Iterable[Sequence[Value]]:
            return run(env).rows

    else:
        if not all(isinstance(choice, tree.RowValue) and len(choice.parts) == len(parts) for choice in choices):
            raise OraError(ora(920), at=place_of(parts[0]))
        listed = [[compiler.value(p, scope)[0] for p in cast(tree.RowValue, choice).parts] for choice in choices]

        def rows(env: Env) -> Iterable[Sequence[Value]]:
            return ([function(env) for function in row] for row in listed)

    def test(env: Env) -> Truth:
        result: Truth = False
        wanted = [function(env) for function in functions]
        for row in rows(env):
            equal = [holds("=", one, two) for one, two in zip(wanted, row, strict=True)]
            if all(equal):
                return not negated
            if False not in equal:
                result = None
        return opposite(result) if negated else result

    return test


def quantified(compiler: Compiler, test: tree.Quantified, scope: Scope) -> Condition:
    """Compile ``x > ALL (…)`` or ``x = ANY (…)``."""
    function, _ = compiler.value(test.operand, scope)
    if isinstance(test.choices, tree.Query):
        values = _chosen(compiler, test.choices, scope)
    else:
        listed = [compiler.value(choice, scope)[0] for choice in test.choices]

        def values(env: Env) -> Iterable[Value]:
            return (choice(env) for choice in listed)

    def compared(env: Env) -> Truth:
        wanted = function(env)
        result: Truth = test.every
        for choice in values(env):
            truth = holds(test.operator, wanted, choice)
            if truth is (not test.every):
                return truth
            result = None if truth is None else result
        return result

    return compared


def _chosen(compiler: Compiler, choices: tree.Query, scope: Scope) -> Callable[[Env], Iterable[Value]]:
    """Return a function that gives the values of IN (query); a query without columns of outer rows runs only once."""
    try:
        alone = compiler.queries.query(choices, None).run
    except OraError:
        run = compiler.queries.query(choices, scope).run
        return lambda env: (row[0] for row in run(env).rows)
    known: list[list[Value]] = []

    def once(_: Env) -> Iterable[Value]:
        if not known:
            known.append(list(dict.fromkeys(row[0] for row in alone(None).rows)))
        return known[0]

    return once
