"""Evaluates parsed queries over the views of an instance.

A query is compiled first: every name is resolved and every rule that Oracle checks at parse time is checked, so that
a wrong query fails even when a view has no rows. Then the compiled functions run over the rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cmp_to_key

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
from exacell.emulator.sql_joins import distribute, equality
from exacell.emulator.sql_rows import combine, cut, grouped_rows, joined_rows, ordered, position_of
from exacell.emulator.sql_scope import (
    Bound,
    Catalog,
    Compiled,
    Condition,
    Env,
    Join,
    Relation,
    ResultColumn,
    Row,
    Scope,
)
from exacell.emulator.sql_values import NUMBER, ColumnType, Kind, Value, char, checked_text, to_text
from exacell.emulator.sql_walk import (
    children,
    has_group_function,
    has_window,
    is_group_function,
    place_of,
    without_marks,
)
from exacell.emulator.sql_windows import ANALYTIC, ENDS, RANKING, SHIFTING, window_values


def run_query(query: tree.Query, catalog: Catalog, settings: SqlSettings) -> Relation:
    """Return the result of ``query``.

    Args:
        catalog: gives the views.
        settings: what SYSDATE, USER and dates without a mask mean.

    Raises:
        OraError: an unknown view or column, a rule of GROUP BY, a value that is no number, and their like.
    """
    return _Engine(catalog, settings).query(query, None)(None)


class _Engine:
    def __init__(self, catalog: Catalog, settings: SqlSettings) -> None:
        self.catalog = catalog
        self.settings = settings

    # -- queries ----------------------------------------------------------------------------------------------------

    def query(self, query: tree.Query, outer: Scope | None) -> Callable[[Env | None], Relation]:
        """Compile a query; what is returned runs it inside the rows of the outer query."""
        engine = self
        if query.named:
            views = {name: self._lazy(inner) for name, inner in query.named}
            below = self.catalog
            engine = _Engine(lambda name: views[name]() if name in views else below(name), self.settings)
        if len(query.blocks) == 1:
            return engine._block(query.blocks[0], query, outer)
        parts = [engine._block(block, None, outer) for block in query.blocks]

        def run(env: Env | None) -> Relation:
            first = parts[0](env)
            rows = list(first.rows)
            for operator, part in zip(query.operators, parts[1:], strict=True):
                following = part(env)
                if len(following.columns) != len(first.columns):
                    raise OraError(ora(1789))
                rows = combine(operator, rows, following.rows)
            keys = [position_of(order.expression, first.columns) for order in query.order_by]
            rows = ordered(rows, [[row[key] for key in keys] for row in rows], query.order_by)
            return Relation(first.columns, cut(rows, query))

        return run

    def _lazy(self, query: tree.Query) -> Callable[[], Relation]:
        made: list[Relation] = []

        def make() -> Relation:
            if not made:
                made.append(self.query(query, None)(None))
            return made[0]

        return make

    def _block(
        self, block: tree.Block, query: tree.Query | None, outer: Scope | None
    ) -> Callable[[Env | None], Relation]:
        sources, where = without_marks(block)
        relations = [self._relation(source) for source in sources]
        scope = Scope([Bound(s.alias, r.columns) for s, r in zip(sources, relations, strict=True)], outer)
        if where is not None and (has_group_function(where) or has_window(where)):
            raise OraError(ora(934 if has_group_function(where) else 30483), at=place_of(where))
        early, where = distribute(where, sources, scope.place)
        joins = [self._join(number, source, scope, early[number]) for number, source in enumerate(sources)]
        condition = self.condition(where, scope) if where is not None else None
        items = self._items(block.items, scope)
        orders = query.order_by if query else ()
        order_items = [self._order_item(order.expression, items) for order in orders]
        grouped = bool(block.group_by) or block.having is not None
        grouped = grouped or any(has_group_function(item.expression) for item in items)
        if grouped:
            for expression in (*(item.expression for item in items), *order_items):
                _check_grouped(expression, block.group_by, bool(block.group_by), scope)
        values = [self.value(item.expression, scope) for item in items]
        columns = tuple(
            ResultColumn(item.alias or _heading(item), kind) for item, (_, kind) in zip(items, values, strict=True)
        )
        keys = [self.value(expression, scope)[0] for expression in order_items]
        group_keys = [self.value(expression, scope)[0] for expression in block.group_by]
        having = self.condition(block.having, scope) if block.having is not None else None

        def run(env: Env | None) -> Relation:
            envs = joined_rows(relations, joins, condition, env)
            if grouped:
                envs = grouped_rows(envs, group_keys, env, [len(r.columns) for r in relations], bool(block.group_by))
                envs = [group for group in envs if having is None or having(group)]
            for member in envs:
                member.peers = envs
            pairs = [([fn(e) for fn, _ in values], [key(e) for key in keys]) for e in envs]
            if block.distinct:
                seen: dict[Row, tuple[list[Value], list[Value]]] = {}
                for pair in pairs:
                    seen.setdefault(tuple(pair[0]), pair)
                pairs = list(seen.values())
            rows = ordered([tuple(row) for row, _ in pairs], [key for _, key in pairs], orders)
            return Relation(columns, cut(rows, query) if query else rows)

        return run

    def _relation(self, source: tree.Source) -> Relation:
        if source.query is not None:
            return self.query(source.query, None)(None)
        relation = self.catalog(source.view)
        if relation is None:
            raise OraError(ora(942), at=source.at)
        return relation

    def _join(self, number: int, source: tree.Source, scope: Scope, early: tree.Expression | None) -> Join:
        """Return how source ``number`` is joined to what stands left of it.

        Args:
            early: what of WHERE can be tested then.
        """
        names = source.using
        if source.join == "natural":
            left = {column.name for bound in scope.sources[:number] for column in bound.columns}
            names = tuple(column.name for column in scope.sources[number].columns if column.name in left)
        on = source.on
        for name in names:
            owner = next((b.alias for b in scope.sources[:number] if any(c.name == name for c in b.columns)), None)
            if owner is None:
                raise OraError(ora(904, f'"{name}"'), at=source.at)
            equal = tree.Binary("=", tree.Column(owner, name), tree.Column(source.alias, name))
            on = equal if on is None else tree.Binary("AND", on, equal)
            scope.merged.add(name)
        if early is not None:
            on = early if on is None else tree.Binary("AND", on, early)
        condition = self.condition(on, scope) if on is not None else None
        pair = equality(on, number, scope.place)
        if pair is None or source.join == "right":
            return Join(source.join, condition)
        (known, first), (_, second) = self.value(pair[0], scope), self.value(pair[1], scope)
        found = scope.place(pair[1])
        if found is None or first.kind is not second.kind:
            return Join(source.join, condition)
        return Join(source.join, condition, (known, found[1]))

    def _items(self, items: Sequence[tree.Item], scope: Scope) -> list[tree.Item]:
        expanded: list[tree.Item] = []
        for item in items:
            if not isinstance(item.expression, tree.Star):
                expanded.append(item)
                continue
            star = item.expression
            chosen = [source for source in scope.sources if not star.qualifier or source.alias == star.qualifier]
            if not chosen:
                raise OraError(ora(904, f'"{star.qualifier}"."*"'), at=star.at)
            shown: set[str] = set()
            for source in chosen:
                for column in source.columns:
                    if column.name in scope.merged and not star.qualifier:
                        if column.name in shown:
                            continue
                        shown.add(column.name)
                    expanded.append(tree.Item(tree.Column(source.alias, column.name), column.name, column.name))
        return expanded

    @staticmethod
    def _order_item(expression: tree.Expression, items: Sequence[tree.Item]) -> tree.Expression:
        """Return what an ORDER BY term means: a select-list item by number or alias, or itself."""
        if isinstance(expression, tree.Literal) and isinstance(expression.value, int):
            if not 1 <= expression.value <= len(items):
                raise OraError(ora(1785))
            return items[expression.value - 1].expression
        if isinstance(expression, tree.Column) and not expression.qualifier:
            for item in items:
                if item.alias == expression.name:
                    return item.expression
        return expression

    # -- expressions ------------------------------------------------------------------------------------------------

    def value(self, expression: tree.Expression, scope: Scope) -> tuple[Compiled, ColumnType]:
        """Compile an expression that gives a value; return the function and the type."""
        match expression:
            case tree.Literal(value):
                kind = char(len(value)) if isinstance(value, str) else NUMBER if value is not None else char(1)
                return (lambda _: value), kind
            case tree.Column():
                return self._column(expression, scope)
            case tree.Unary("-", operand):
                inner, _ = self.value(operand, scope)
                return (lambda env: negated(inner(env))), NUMBER
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
        raise OraError(ora(936), at=place_of(expression))

    def _joined(self, left: Value, right: Value) -> Value:
        texts = [to_text(value, self.settings.date_format) or "" for value in (left, right)]
        return checked_text("".join(texts))

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
        entry = FUNCTIONS.get(call.name)
        if call.name in ANALYTIC:
            raise OraError(ora(30484), at=call.at)
        if entry is None:
            raise OraError(ora(904, f'"{call.name}"'), at=call.at)
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
        run = self.query(query, scope)

        def single(env: Env) -> Value:
            rows = run(env).rows
            if len(rows) > 1:
                raise OraError(ora(1427))
            return rows[0][0] if rows else None

        return single, self._type_of(query, scope)

    def _type_of(self, query: tree.Query, scope: Scope) -> ColumnType:
        sources = query.blocks[0].sources
        inner = Scope([Bound(s.alias, self._relation(s).columns) for s in sources], scope)
        items = self._items(query.blocks[0].items, inner)
        if len(items) != 1:
            raise OraError(ora(913))
        return self.value(items[0].expression, inner)[1]

    # -- conditions -------------------------------------------------------------------------------------------------

    def condition(self, expression: tree.Expression, scope: Scope) -> Condition:
        """Compile an expression that is true, false or unknown."""
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
                run = self.query(query, scope)
                return lambda env: bool(run(env).rows)
            case tree.Call("REGEXP_LIKE", (_, _, *_) as arguments):
                (text, _), (pattern, _) = self.value(arguments[0], scope), self.value(arguments[1], scope)
                flags = re.IGNORECASE if len(arguments) > 2 and arguments[2] == tree.Literal("i") else 0
                return lambda env: regexp_like(text(env), pattern(env), flags)
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
            alone = self.query(choices, None)
        except OraError:
            run = self.query(choices, scope)
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


def _check_grouped(expression: tree.Expression, keys: Sequence[tree.Expression], by_key: bool, scope: Scope) -> None:
    if is_group_function(expression):
        return
    if isinstance(expression, tree.Column):
        place = scope.find(expression)
        if place is None or place[0] > 0:
            return
        known = [scope.find(key) for key in keys if isinstance(key, tree.Column)]
        if place not in known:
            raise OraError(ora(979 if by_key else 937), at=expression.at)
        return
    if expression in keys:
        return
    for child in children(expression):
        _check_grouped(child, keys, by_key, scope)


def _heading(item: tree.Item) -> str:
    return item.expression.name if isinstance(item.expression, tree.Column) else item.text
