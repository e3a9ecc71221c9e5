"""Compiles the expressions and conditions of queries into functions over rows.

Every name is resolved and every rule that Oracle checks at parse time is checked while compiling; sub-queries are
compiled by whoever compiles queries (:mod:`sql_engine`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cmp_to_key
from typing import Protocol, cast

from exacell.emulator import sql_tree as tree
from exacell.emulator.ora_messages import OraError, ora
from exacell.emulator.sql_compare import (
    Truth,
    arithmetic,
    both,
    compare_for_order,
    either,
    holds,
    is_like,
    negated,
    opposite,
    regexp_like,
)
from exacell.emulator.sql_functions import CONSTANTS, FUNCTIONS, GROUP_FUNCTIONS, SqlSettings
from exacell.emulator.sql_hierarchy import branch_of, root_of
from exacell.emulator.sql_scope import Compiled, Condition, Env, Prepared, ProgramScope, Scope, value_column
from exacell.emulator.sql_types import cast_type, cast_value
from exacell.emulator.sql_values import NUMBER, ColumnType, Kind, Value, char, checked_text, to_text
from exacell.emulator.sql_walk import place_of
from exacell.emulator.sql_windows import ANALYTIC, ENDS, RANKING, SHIFTING, window_values


class Queries(Protocol):
    """Compiles the sub-queries of expressions."""

    def query(self, query: tree.Query, outer: Scope | None) -> Prepared:
        """Return a query ready to run inside the rows of the outer one."""


class Expressions:
    """Compiles the expressions of one query.

    Attributes:
        program: the names that a PL/SQL block adds to its queries; None for a statement of its own.
    """

    def __init__(self, settings: SqlSettings, queries: Queries, program: ProgramScope | None = None) -> None:
        self.settings = settings
        self.queries = queries
        self.program = program

    def value(self, expression: tree.Expression, scope: Scope) -> tuple[Compiled, ColumnType]:
        """Compile an expression that gives a value; return the function and the type.

        Raises:
            OraError: a name means nothing, or it is a condition.
        """
        match expression:
            case tree.Literal(value):
                kind = char(len(value)) if isinstance(value, str) else NUMBER if value is not None else char(1)
                return (lambda _: value), kind
            case tree.Column():
                return self._column(expression, scope)
            case tree.Unary("-", operand):
                inner, _ = self.value(operand, scope)
                return (lambda env: negated(inner(env))), NUMBER
            case tree.Unary(("PRIOR" | "CONNECT_BY_ROOT") as operator, operand):
                return self._above(operator, operand, scope)
            case tree.Binary("||", left, right):
                (one, first), (two, second) = self.value(left, scope), self.value(right, scope)
                return (lambda env: self._joined(one(env), two(env))), char(first.as_text + second.as_text)
            case tree.Binary(("+" | "-" | "*" | "/") as operator, left, right):
                (one, first), (two, second) = self.value(left, scope), self.value(right, scope)
                dates = (first.kind is Kind.DATE) + (second.kind is Kind.DATE)
                kind = ColumnType(Kind.DATE) if dates == 1 else NUMBER
                return (lambda env: arithmetic(operator, one(env), two(env))), kind
            case tree.Case():
                return self._case(expression, scope)
            case tree.Call():
                return self._call(expression, scope)
            case tree.Window():
                return self._window(expression, scope)
            case tree.Scalar(query):
                return self._scalar(query, scope)
            case tree.Cast(operand, name, width):
                inner, _ = self.value(operand, scope)
                kind, date_format = cast_type(name, width), self.settings.date_format
                return (lambda env: cast_value(inner(env), kind, date_format)), kind
        raise OraError(ora(936), at=place_of(expression))

    def _joined(self, left: Value, right: Value) -> Value:
        texts = [to_text(value, self.settings.date_format) or "" for value in (left, right)]
        return checked_text("".join(texts))

    def _above(self, operator: str, operand: tree.Expression, scope: Scope) -> tuple[Compiled, ColumnType]:
        """Compile PRIOR or CONNECT_BY_ROOT: the value in the row above, or in that at the top."""
        if not scope.hierarchical:
            raise OraError(ora(1788), at=place_of(operand))
        inner, kind = self.value(operand, scope)
        if operator == "PRIOR":
            return (lambda env: inner(env.prior) if env.prior is not None else None), kind
        return (lambda env: inner(root_of(env))), kind

    def _path(self, call: tree.Call, scope: Scope) -> tuple[Compiled, ColumnType]:
        if not scope.hierarchical or len(call.arguments) != 2:
            raise OraError(ora(909 if scope.hierarchical else 1788), at=call.at)
        (value, _), (mark, _) = (self.value(argument, scope) for argument in call.arguments)
        date_format = self.settings.date_format

        def path(env: Env) -> Value:
            between = to_text(mark(env), date_format) or ""
            return checked_text("".join(between + (to_text(value(e), date_format) or "") for e in branch_of(env)))

        return path, char(4000)

    def _column(self, column: tree.Column, scope: Scope) -> tuple[Compiled, ColumnType]:
        found = scope.find(column)
        if found is not None:
            level, source, place, kind = found
            if level == 0:
                return (lambda env: env.rows[source][place]), kind

            def outer_value(env: Env) -> Value:
                for _ in range(level):
                    env = env.outer or env
                return env.rows[source][place]

            return outer_value, kind
        if not column.qualifier and column.name == "ROWNUM":
            return (lambda env: env.rownum), NUMBER
        if not column.qualifier and column.name in ("LEVEL", "CONNECT_BY_ISLEAF"):
            if not scope.hierarchical:
                raise OraError(ora(1788), at=column.at)
            return ((lambda env: env.level) if column.name == "LEVEL" else (lambda env: int(env.leaf))), NUMBER
        if not column.qualifier and column.name in CONSTANTS:
            constant, kind = CONSTANTS[column.name]
            return (lambda _: constant(self.settings)), kind
        spelled = f'"{column.qualifier}"."{column.name}"' if column.qualifier else f'"{column.name}"'
        raise OraError(ora(904, spelled), at=column.at)

    def _case(self, case: tree.Case, scope: Scope) -> tuple[Compiled, ColumnType]:
        branches: list[tuple[Condition, Compiled]] = []
        kinds: list[ColumnType] = []
        for test, result in case.branches:
            if case.subject is not None:
                test = tree.Binary("=", case.subject, test)
            function, kind = self.value(result, scope)
            branches.append((self.condition(test, scope), function))
            kinds.append(kind)
        otherwise, kind = self.value(case.otherwise or tree.Literal(None), scope)
        if case.otherwise is not None:
            kinds.append(kind)

        def choose(env: Env) -> Value:
            for test, function in branches:
                if test(env):
                    return function(env)
            return otherwise(env)

        same = all(k.kind is kinds[0].kind for k in kinds)
        return choose, max(kinds, key=lambda k: k.width) if same else char(max(k.as_text for k in kinds))

    def _call(self, call: tree.Call, scope: Scope) -> tuple[Compiled, ColumnType]:
        if call.name in GROUP_FUNCTIONS or call.name == "LISTAGG":
            return self._group_call(call, scope)
        own = self.program.names.function(call) if self.program is not None else None
        if own is not None:
            apply, kind = own
            given = [self.value(argument, scope)[0] for argument in call.arguments]
            return (lambda env: apply([function(env) for function in given])), kind
        if call.name == "SYS_CONNECT_BY_PATH":
            return self._path(call, scope)
        if call.name == "VALUE":
            return self.value(value_column(call, scope), scope)
        entry = FUNCTIONS.get(call.name)
        if call.name in ANALYTIC:
            raise OraError(ora(30484), at=call.at)
        if entry is None:
            raise OraError(ora(904, '"' + call.name.replace(".", '"."') + '"'), at=call.at)
        if len(call.arguments) < entry.least or call.star:
            raise OraError(ora(938), at=call.at)
        if entry.most is not None and len(call.arguments) > entry.most:
            raise OraError(ora(939), at=call.at)
        compiled = [self.value(argument, scope) for argument in call.arguments]
        functions = [function for function, _ in compiled]
        settings = self.settings
        return (
            lambda env: entry.apply(settings, [function(env) for function in functions]),
            entry.type_of([kind for _, kind in compiled]),
        )

    def _group_call(self, call: tree.Call, scope: Scope) -> tuple[Compiled, ColumnType]:
        if call.star:
            if call.name != "COUNT":
                raise OraError(ora(936), at=call.at)
            return (lambda env: len(env.group or ())), NUMBER
        compiled = [self.value(argument, scope) for argument in call.arguments]
        if not compiled:
            raise OraError(ora(938), at=call.at)
        function, kind = compiled[0]
        if call.name == "LISTAGG":
            return self._listagg(compiled), char(4000)
        if len(compiled) > 1:
            raise OraError(ora(909), at=call.at)
        reduce = GROUP_FUNCTIONS[call.name]

        def over_group(env: Env) -> Value:
            values = [value for member in env.group or () if (value := function(member)) is not None]
            return reduce(list(dict.fromkeys(values)) if call.distinct else values)

        return over_group, kind if call.name in ("MIN", "MAX") else NUMBER

    def _window(self, window: tree.Window, scope: Scope) -> tuple[Compiled, ColumnType]:
        """Compile an analytic function: its values for all rows of a block are made when the first is asked for."""
        call = window.call
        if call.name not in ANALYTIC and call.name not in GROUP_FUNCTIONS:
            raise OraError(ora(904, f'"{call.name}"'), at=call.at)
        if bool(call.arguments or call.star) == (call.name in RANKING) or (call.star and call.name != "COUNT"):
            raise OraError(ora(909), at=call.at)
        if call.name in (*RANKING, *SHIFTING) and not window.order:
            raise OraError(ora(30485), at=call.at)
        compiled = [self.value(argument, scope) for argument in call.arguments]
        arguments = [function for function, _ in compiled]
        partition = [self.value(expression, scope)[0] for expression in window.partition]
        orders = [self.value(order.expression, scope)[0] for order in window.order]
        made: list[tuple[Sequence[Env], dict[int, Value]]] = []

        def value(env: Env) -> Value:
            if not made or made[0][0] is not env.peers:
                rows = env.peers
                columns = [[tuple(f(row) for f in fs) for row in rows] for fs in (partition, orders, arguments)]
                values = window_values(window, *columns)
                made[:] = [(rows, {id(row): value for row, value in zip(rows, values, strict=True)})]
            return made[0][1][id(env)]

        keeps = call.name in ("MIN", "MAX", *SHIFTING, *ENDS)
        return value, compiled[0][1] if keeps else NUMBER

    def _listagg(self, compiled: Sequence[tuple[Compiled, ColumnType]]) -> Compiled:
        function, separator = compiled[0][0], compiled[1][0] if len(compiled) > 1 else (lambda _: None)
        order = compiled[2][0] if len(compiled) > 2 else None

        def joined(env: Env) -> Value:
            members = list(env.group or ())
            if order is not None:
                members.sort(key=cmp_to_key(lambda a, b: compare_for_order(order(a), order(b), False, None)))
            texts = [to_text(function(member), self.settings.date_format) for member in members]
            between = to_text(separator(env)) or ""
            return checked_text(between.join(text for text in texts if text is not None))

        return joined

    def _scalar(self, query: tree.Query, scope: Scope) -> tuple[Compiled, ColumnType]:
        prepared = self.queries.query(query, scope)
        if len(prepared.columns) != 1:
            raise OraError(ora(913))

        def single(env: Env) -> Value:
            rows = prepared.run(env).rows
            if len(rows) > 1:
                raise OraError(ora(1427))
            return rows[0][0] if rows else None

        return single, prepared.columns[0].type

    # -- conditions -------------------------------------------------------------------------------------------------

    def condition(self, expression: tree.Expression, scope: Scope) -> Condition:
        """Compile an expression that is true, false or unknown.

        Raises:
            OraError: a name means nothing, or it is a value.
        """
        match expression:
            case tree.Binary("AND", left, right):
                one, two = self.condition(left, scope), self.condition(right, scope)
                return lambda env: both(one(env), lambda: two(env))
            case tree.Binary("OR", left, right):
                one, two = self.condition(left, scope), self.condition(right, scope)
                return lambda env: either(one(env), lambda: two(env))
            case tree.Unary("NOT", operand):
                inner = self.condition(operand, scope)
                return lambda env: opposite(inner(env))
            case tree.Binary(("=" | "<>" | "<" | ">" | "<=" | ">=") as operator, left, right):
                (first, _), (second, _) = self.value(left, scope), self.value(right, scope)
                return lambda env: holds(operator, first(env), second(env))
            case tree.IsNull(operand, negated):
                function, _ = self.value(operand, scope)
                return lambda env: (function(env) is None) != negated
            case tree.InList(operand, choices, negated):
                return self._in(operand, choices, negated, scope)
            case tree.Like():
                return self._like(expression, scope)
            case tree.Between(operand, low, high, negated):
                test = tree.Binary("AND", tree.Binary(">=", operand, low), tree.Binary("<=", operand, high))
                inside = self.condition(test, scope)
                return (lambda env: opposite(inside(env))) if negated else inside
            case tree.Exists(query):
                run = self.queries.query(query, scope).run
                return lambda env: bool(run(env).rows)
            case tree.Call("REGEXP_LIKE", (_, _, *_) as arguments):
                (text, _), (pattern, _) = self.value(arguments[0], scope), self.value(arguments[1], scope)
                flags = re.IGNORECASE if len(arguments) > 2 and arguments[2] == tree.Literal("i") else 0
                return lambda env: regexp_like(text(env), pattern(env), flags)
            case tree.Column() | tree.Call() if self.program is not None:
                truth, kind = self.value(expression, scope)
                if kind.kind is Kind.BOOLEAN:
                    return lambda env: cast(Truth, truth(env))
        raise OraError(ora(920), at=place_of(expression))

    def _in(
        self,
        operand: tree.Expression,
        choices: tuple[tree.Expression, ...] | tree.Query,
        negated: bool,
        scope: Scope,
    ) -> Condition:
        function, _ = self.value(operand, scope)
        if isinstance(choices, tree.Query):
            values = self._chosen(choices, scope)
        else:
            listed = [self.value(choice, scope)[0] for choice in choices]

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

    def _chosen(self, choices: tree.Query, scope: Scope) -> Callable[[Env], Iterable[Value]]:
        """Return what gives the values of IN (query); a query that looks at no outer row runs once."""
        try:
            alone = self.queries.query(choices, None).run
        except OraError:
            run = self.queries.query(choices, scope).run
            return lambda env: (row[0] for row in run(env).rows)
        known: list[list[Value]] = []

        def once(_: Env) -> Iterable[Value]:
            if not known:
                known.append(list(dict.fromkeys(row[0] for row in alone(None).rows)))
            return known[0]

        return once

    def _like(self, like: tree.Like, scope: Scope) -> Condition:
        function, _ = self.value(like.operand, scope)
        pattern, _ = self.value(like.pattern, scope)
        escape = self.value(like.escape, scope)[0] if like.escape is not None else (lambda _: None)
        date_format = self.settings.date_format

        def test(env: Env) -> Truth:
            text, wanted = to_text(function(env), date_format), to_text(pattern(env), date_format)
            if text is None or wanted is None:
                return None
            return is_like(text, wanted, to_text(escape(env)) or "") != like.negated

        return test
