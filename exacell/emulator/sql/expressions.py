"""Compiles the expressions and conditions of queries into functions over rows.

Every name is resolved and every rule that Oracle checks at parse time is checked while compiling; sub-queries are compiled by
:mod:`sql.engine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql import tree
from exacell.emulator.sql.choices import Queries, quantified, rows_in, value_in
from exacell.emulator.sql.compare import (
    Truth,
    arithmetic,
    both,
    either,
    holds,
    is_like,
    negated,
    opposite,
    regexp_like,
)
from exacell.emulator.sql.date_masks import format_date
from exacell.emulator.sql.function_base import SqlSettings
from exacell.emulator.sql.functions import CONSTANTS, FUNCTIONS, GROUP_FUNCTIONS
from exacell.emulator.sql.group_calls import group_call
from exacell.emulator.sql.hierarchy import branch_of, root_of
from exacell.emulator.sql.intervals import interval_arithmetic
from exacell.emulator.sql.more_functions import regexp_flags
from exacell.emulator.sql.number_masks import mask_width
from exacell.emulator.sql.scope import Compiled, Condition, Env, ProgramScope, Scope, value_column
from exacell.emulator.sql.types import cast_type, cast_value
from exacell.emulator.sql.values import (
    DATE,
    INTERVAL,
    NUMBER,
    TIMESTAMP,
    ZONED,
    ColumnType,
    Kind,
    Value,
    char,
    checked_text,
    to_text,
)
from exacell.emulator.sql.walk import PERCENTILES, place_of


def _arithmetic_type(first: ColumnType, second: ColumnType) -> ColumnType:
    """Return the type of a sum or difference: a date plus days is a date, the difference of dates is days, of timestamps an
    interval.
    """
    dates = [kind for kind in (first, second) if kind.kind is Kind.DATE]
    if len(dates) == 1:
        other = second if dates[0] is first else first
        return dates[0] if other == INTERVAL else DATE
    if dates:
        return INTERVAL if TIMESTAMP in dates or ZONED in dates else NUMBER
    return INTERVAL if INTERVAL in (first, second) else NUMBER


class Expressions:
    """Compiles the expressions of one query.

    Attributes:
        program: the names that a PL/SQL block adds to its queries; None for a query outside a block.
    """

    def __init__(self, settings: SqlSettings, queries: Queries, program: ProgramScope | None = None) -> None:
        self.settings = settings
        self.queries = queries
        self.program = program

    def value(self, expression: tree.Expression, scope: Scope) -> tuple[Compiled, ColumnType]:
        """Compile an expression that has a value; return the function and the type.

        Raises:
            OraError: a name is unknown, or the expression is a condition.
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
                kind = _arithmetic_type(first, second)
                count = interval_arithmetic if kind == INTERVAL else arithmetic
                return (lambda env: count(operator, one(env), two(env))), kind
            case tree.Case():
                return self._case(expression, scope)
            case tree.Call():
                return self._call(expression, scope)
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
        """Compile PRIOR or CONNECT_BY_ROOT: the value in the row above, or in the top row."""
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
        bare = f"{column.qualifier}.{column.name}" if column.qualifier else column.name
        if (entry := FUNCTIONS.get(bare)) is not None and entry.least == 0:
            apply = entry.apply
            return (lambda _: apply(self.settings, ())), entry.type_of(())
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
        if call.name in GROUP_FUNCTIONS or call.name in ("LISTAGG", *PERCENTILES):
            return group_call(self, call, scope)
        if call.name in ("GROUPING", "GROUPING_ID") and call.arguments:
            keys = call.arguments
            return (lambda env: int("".join(str(int(key in env.rolled)) for key in keys), 2)), NUMBER
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
        if entry is None:
            raise OraError(ora(904, '"' + call.name.replace(".", '"."') + '"'), at=call.at)
        if len(call.arguments) < entry.least or call.star:
            raise OraError(ora(938), at=call.at)
        if entry.most is not None and len(call.arguments) > entry.most:
            raise OraError(ora(939), at=call.at)
        compiled = [self.value(argument, scope) for argument in call.arguments]
        functions, kinds = [function for function, _ in compiled], [kind for _, kind in compiled]
        settings = self.settings
        return (
            lambda env: entry.apply(settings, [function(env) for function in functions]),
            constant_width(call, kinds) or entry.type_of(kinds),
        )

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
            OraError: a name is unknown, or the expression is a value.
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
            case tree.InList(tree.RowValue(parts), choices, negated):
                return rows_in(self, parts, choices, negated, scope)
            case tree.InList(operand, choices, negated):
                return value_in(self, operand, choices, negated, scope)
            case tree.Quantified():
                return quantified(self, expression, scope)
            case tree.Like():
                return self._like(expression, scope)
            case tree.Between(operand, low, high, negated):
                test = tree.Binary("AND", tree.Binary(">=", operand, low), tree.Binary("<=", operand, high))
                inside = self.condition(test, scope)
                return (lambda env: opposite(inside(env))) if negated else inside
            case tree.Exists(query):
                run = self.queries.query(query, scope).run
                return lambda env: bool(run(env).rows)
            case tree.Call() | tree.Column() if (alone := self._true_alone(expression, scope)) is not None:
                return alone
        raise OraError(ora(920), at=place_of(expression))

    def _true_alone(self, expression: tree.Call | tree.Column, scope: Scope) -> Condition | None:
        """Compile a call that is a condition, or a boolean of a PL/SQL block; return None for a value."""
        match expression:
            case tree.Call("LNNVL", (operand,)):
                inner = self.condition(operand, scope)
                return lambda env: inner(env) is not True
            case tree.Call("REGEXP_LIKE", (_, _, *_) as arguments):
                (text, _), (pattern, _) = self.value(arguments[0], scope), self.value(arguments[1], scope)
                given = arguments[2] if len(arguments) > 2 else None
                flags = regexp_flags(str(given.value)) if isinstance(given, tree.Literal) else 0
                return lambda env: regexp_like(text(env), pattern(env), flags)
        if self.program is not None:
            truth, kind = self.value(expression, scope)
            if kind.kind is Kind.BOOLEAN:
                return lambda env: cast(Truth, truth(env))
        return None

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


_WIDEST_DATE = datetime(2000, 9, 27, 12, 30)
"""A Wednesday in September."""


def constant_width(call: tree.Call, kinds: Sequence[ColumnType]) -> ColumnType | None:
    """Return the type of a call if a constant decides its width, which SQL*Plus uses as column width; None otherwise.

    Source: published sessions: TO_CHAR(d, 'YYYY-MM-DD') is 10 wide, RPAD(x, 20) and SUBSTR(x, 1, 20) are 20.
    """
    constants = [part.value if isinstance(part, tree.Literal) else None for part in call.arguments]
    if call.name == "TO_CHAR" and len(constants) > 1 and isinstance(constants[1], str):
        return _masked(constants[1], kinds[0])
    if call.name in ("LPAD", "RPAD") and isinstance(constants[1], int):
        return char(constants[1])
    if call.name == "SUBSTR" and len(constants) > 2 and isinstance(constants[2], int):
        return char(min(constants[2], kinds[0].as_text))
    if call.name == "REPLACE" and isinstance(constants[1], str):
        by = constants[2] if len(constants) > 2 else None
        longer = len(str(by)) if by is not None else 0
        return char(kinds[0].as_text * max(1, -(-longer // len(constants[1]))))
    return None


def _masked(mask: str, kind: ColumnType) -> ColumnType | None:
    try:
        if kind.kind is Kind.NUMBER:
            return char(mask_width(mask))
        if kind.kind is Kind.DATE:
            upper = mask.upper()
            plain = mask if not upper.startswith("FM") else mask[2:]
            return char(len(format_date(_WIDEST_DATE, plain)))
    except OraError:  # found again, and reported, when the value is computed
        return None
    return None
