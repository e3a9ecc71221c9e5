"""Evaluates parsed queries over the views of an instance.

A query is compiled first: every name is resolved and every rule that Oracle checks at parse time is checked, so that
a wrong query fails even when a view has no rows. Then the compiled functions run over the rows. :mod:`sql.expressions` compiles
expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql import tree
from exacell.emulator.sql.expressions import Expressions
from exacell.emulator.sql.function_base import SqlSettings
from exacell.emulator.sql.hierarchy import divided, has_prior, hierarchy
from exacell.emulator.sql.rows import combine, cut, grouped_rows, joined_rows, ordered, position_of, rolled_up
from exacell.emulator.sql.scope import (
    COLUMN_VALUE,
    Bound,
    Catalog,
    Compiled,
    Env,
    Join,
    Prepared,
    ProgramScope,
    Relation,
    ResultColumn,
    Row,
    Scope,
)
from exacell.emulator.sql.types import cast_type, cast_value
from exacell.emulator.sql.values import Kind, Value, char, to_text
from exacell.emulator.sql.walk import (
    all_of,
    children,
    columns_of,
    conjuncts,
    has_group_function,
    has_query,
    is_group_function,
    place_of,
    without_marks,
)
from exacell.emulator.sql.xml import sequence, table


def run_query(query: tree.Query, catalog: Catalog, settings: SqlSettings) -> Relation:
    """Return the result of ``query``.

    Args:
        catalog: provides the views.
        settings: the values of SYSDATE and USER, and the default date mask.

    Raises:
        OraError: an unknown view or column, a rule of GROUP BY, a value that is not a number, and similar errors.
    """
    return _Engine(catalog, settings).query(query, None).run(None)


def prepare_query(query: tree.Query, catalog: Catalog, settings: SqlSettings, program: ProgramScope) -> Prepared:
    """Compile a query of a PL/SQL block; return its columns and the function that gives its rows.

    Args:
        program: the variables and functions of the block, which a query looks up after its own columns.

    Raises:
        OraError: as :func:`run_query` does.
    """
    return _Engine(catalog, settings, program).query(query, None)


def expressions_of(catalog: Catalog, settings: SqlSettings, program: ProgramScope | None = None) -> Expressions:
    """Return a compiler of expressions, for a PL/SQL block or for a statement that changes rows."""
    return _Engine(catalog, settings, program).expressions


_MOST_REPEATED = 100_000
"""Rows of a recursive query from which on it counts as endless."""


def _known_first(below: Catalog, name: str, known: Relation, asked: str) -> Relation | None:
    return known if asked == name else below(asked)


class _Engine:
    def __init__(self, catalog: Catalog, settings: SqlSettings, program: ProgramScope | None = None) -> None:
        self.catalog = catalog
        self.settings = settings
        self.program = program
        self.expressions = Expressions(settings, self, program)

    def query(self, query: tree.Query, outer: Scope | None) -> Prepared:
        """Compile a query; the result runs it inside the rows of the outer query."""
        engine = self
        if query.named:
            views = {name: self._lazy(inner, name) for name, inner in query.named}
            below = self.catalog
            known: Catalog = lambda name: views[name]() if name in views else below(name)  # noqa: E731
            engine = _Engine(known, self.settings, self.program)
        if len(query.blocks) == 1:
            return engine._block(query.blocks[0], query, outer)
        parts = [engine._block(block, None, outer) for block in query.blocks]
        columns = _wide_enough([part.columns for part in parts])

        def run(env: Env | None) -> Relation:
            first = parts[0].run(env)
            rows = list(first.rows)
            for operator, part in zip(query.operators, parts[1:], strict=True):
                following = part.run(env)
                if len(following.columns) != len(first.columns):
                    raise OraError(ora(1789))
                rows = combine(operator, rows, following.rows)
            keys = [position_of(order.expression, columns) for order in query.order_by]
            rows = ordered(rows, [[row[key] for key in keys] for row in rows], query.order_by)
            return Relation(columns, cut(rows, query))

        return Prepared(columns, run)

    def _lazy(self, query: tree.Query, name: str) -> Callable[[], Relation]:
        made: list[Relation] = []
        recursive = query.operators == ("UNION ALL",) and any(s.view == name for s in query.blocks[1].sources)

        def make() -> Relation:
            if not made:
                made.append(self._repeated(query, name) if recursive else self.query(query, None).run(None))
            return made[0]

        return make

    def _repeated(self, query: tree.Query, name: str) -> Relation:
        """Return the rows of ``WITH name AS (first UNION ALL next)``, where ``next`` reads the rows of the step before.

        Raises:
            OraError: ORA-32044 if it does not end.
        """
        first = self._block(query.blocks[0], None, None).run(None)
        rows, last = list(first.rows), first.rows
        seen: set[tuple[tuple[Value, ...], ...]] = set()
        while last:
            # Each step depends only on the one before, so a step that occurs again means that there is no end.
            known_before = len(seen)
            seen.add(tuple(tuple(row) for row in last))
            if len(seen) == known_before:
                raise OraError(ora(32044))
            known = Relation(first.columns, last)
            inner = _Engine(partial(_known_first, self.catalog, name, known), self.settings, self.program)
            last = inner._block(query.blocks[1], None, None).run(None).rows
            rows += last
            if len(rows) > _MOST_REPEATED:
                raise OraError(ora(32044))
        return Relation(first.columns, rows)

    def _block(self, block: tree.Block, query: tree.Query | None, outer: Scope | None) -> Prepared:
        outer = outer or self.program
        sources, where = without_marks(block)
        relations = [self._relation(source) for source in sources]
        scope = Scope([Bound(s.alias, r.columns) for s, r in zip(sources, relations, strict=True)], outer)
        if where is not None and has_group_function(where):
            raise OraError(ora(934), at=place_of(where))
        kept: tree.Expression | None = None
        if block.hierarchy is not None:
            scope.hierarchical = True
            where, kept = divided(where) if len(sources) > 1 else (None, where)
        scope.merged |= {name for number, source in enumerate(sources) for name in _merged(number, source, scope)}
        early, where = distribute(where, sources, scope.place)
        joins = [self._join(number, source, scope, early[number]) for number, source in enumerate(sources)]
        condition = self.expressions.condition(where, scope) if where is not None else None
        items = self._items(block.items, scope)
        orders = query.order_by if query else ()
        order_items = [self._order_item(order.expression, items) for order in orders]
        grouped = bool(block.group_by) or block.having is not None
        grouped = grouped or any(has_group_function(item.expression) for item in items)
        if grouped:
            for expression in (*(item.expression for item in items), *order_items):
                _check_grouped(expression, block.group_by, bool(block.group_by), scope)
        values = [self.expressions.value(item.expression, scope) for item in items]
        columns = tuple(
            ResultColumn(item.alias or _heading(item), kind) for item, (_, kind) in zip(items, values, strict=True)
        )
        keys = [self.expressions.value(expression, scope)[0] for expression in order_items]
        group_keys = [self.expressions.value(expression, scope)[0] for expression in block.group_by]
        having = self.expressions.condition(block.having, scope) if block.having is not None else None

        branches = self._branches(block, kept, query, keys, scope)

        def places(key: tree.Expression) -> list[tuple[int, int]]:
            return [place for column in columns_of(key) if (place := scope.place(column)) is not None]

        def run(env: Env | None) -> Relation:
            if env is None and self.program is not None:
                env = self.program.env()
            envs = joined_rows(relations, joins, condition, env)
            if branches is not None:
                envs = branches(envs)
            if grouped:
                widths = [len(r.columns) for r in relations]
                if block.grouping_sets:
                    pairs_of_keys = list(zip(block.group_by, group_keys, strict=True))
                    envs = rolled_up(envs, block.grouping_sets, pairs_of_keys, env, widths, places)
                else:
                    envs = grouped_rows(envs, group_keys, env, widths, bool(block.group_by))
                envs = [group for group in envs if having is None or having(group)]
            pairs = [([fn(e) for fn, _ in values], [key(e) for key in keys]) for e in envs]
            if block.distinct:
                seen: dict[Row, tuple[list[Value], list[Value]]] = {}
                for pair in pairs:
                    seen.setdefault(tuple(pair[0]), pair)
                pairs = list(seen.values())
            order = () if query is not None and query.siblings else orders
            rows = ordered([tuple(row) for row, _ in pairs], [key for _, key in pairs], order)
            return Relation(columns, cut(rows, query) if query else rows)

        return Prepared(columns, run)

    def _branches(
        self,
        block: tree.Block,
        kept: tree.Expression | None,
        query: tree.Query | None,
        keys: Sequence[Compiled],
        scope: Scope,
    ) -> Callable[[Sequence[Env]], list[Env]] | None:
        """Return a function that makes the hierarchy of CONNECT BY from the rows of FROM and keeps those that WHERE allows."""
        if block.hierarchy is None:
            return None
        start = self.expressions.condition(block.hierarchy.start, scope) if block.hierarchy.start is not None else None
        connect = self.expressions.condition(block.hierarchy.connect, scope)
        chosen = self.expressions.condition(kept, scope) if kept is not None else None
        orders = query.order_by if query is not None and query.siblings else ()
        nocycle, looks_back = block.hierarchy.nocycle, has_prior(block.hierarchy.connect)

        def order(rows: list[Env]) -> list[Env]:
            by_key = ordered([(n,) for n in range(len(rows))], [[key(row) for key in keys] for row in rows], orders)
            return [rows[int(str(number))] for (number,) in by_key] if orders else rows

        def branches(rows: Sequence[Env]) -> list[Env]:
            found = hierarchy(rows, start, connect, nocycle=nocycle, looks_back=looks_back, order=order)
            found = [row for row in found if chosen is None or chosen(row)]
            for number, row in enumerate(found, start=1):
                row.rownum = number
            return found

        return branches

    def _relation(self, source: tree.Source) -> Relation:
        if source.xml is not None:
            return Relation(xml_columns(source.xml), ())
        if source.query is not None:
            return self.query(source.query, None).run(None)
        relation = self.catalog(source.view)
        if relation is None:
            raise OraError(ora(942), at=source.at)
        return relation

    def _join(self, number: int, source: tree.Source, scope: Scope, early: tree.Expression | None) -> Join:
        """Return how source ``number`` is joined to the sources before it.

        Args:
            early: the part of WHERE that can be tested then.
        """
        names, on = _merged(number, source, scope), source.on
        for name in names:
            owner = next((b.alias for b in scope.sources[:number] if any(c.name == name for c in b.columns)), None)
            if owner is None:
                raise OraError(ora(904, f'"{name}"'), at=source.at)
            equal = tree.Binary("=", tree.Column(owner, name), tree.Column(source.alias, name))
            on = equal if on is None else tree.Binary("AND", on, equal)
        if early is not None:
            on = early if on is None else tree.Binary("AND", on, early)
        condition = self.expressions.condition(on, scope) if on is not None else None
        if source.xml is not None:
            return Join(source.join, condition, rows=xml_rows(source.xml, self.expressions, scope))
        pair = equality(on, number, scope.place)
        if pair is None or source.join in ("right", "full"):
            return Join(source.join, condition)
        (known, first), (_, second) = self.expressions.value(pair[0], scope), self.expressions.value(pair[1], scope)
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
        """Return the expression that an ORDER BY term means: a select-list item by number or alias, or the term itself."""
        if isinstance(expression, tree.Literal) and isinstance(expression.value, int):
            if not 1 <= expression.value <= len(items):
                raise OraError(ora(1785))
            return items[expression.value - 1].expression
        if isinstance(expression, tree.Column) and not expression.qualifier:
            for item in items:
                own = item.expression.name if isinstance(item.expression, tree.Column) else ""
                if (item.alias or own) == expression.name:
                    return item.expression
        return expression


def _merged(number: int, source: tree.Source, scope: Scope) -> tuple[str, ...]:
    """Return the columns of USING, or the common columns of a NATURAL join."""
    if source.join != "natural":
        return source.using
    left = {column.name for bound in scope.sources[:number] for column in bound.columns}
    return tuple(column.name for column in scope.sources[number].columns if column.name in left)


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


def _wide_enough(parts: Sequence[Sequence[ResultColumn]]) -> tuple[ResultColumn, ...]:
    """Return the columns of a set operation: the first query's names, and texts as wide as the widest of all queries.

    Source: Oracle SQL Language Reference, The Set Operators.
    """
    found = []
    for place, column in enumerate(parts[0]):
        kinds = [columns[place].type for columns in parts if place < len(columns)]
        texts = all(kind.kind is Kind.CHAR for kind in kinds)
        found.append(replace(column, type=char(max(kind.width for kind in kinds))) if texts else column)
    return tuple(found)


Place = Callable[[tree.Column], tuple[int, int] | None]
"""Returns the number of a column's source and the column's place in it; None if no source of the block has the column."""


def distribute(
    where: tree.Expression | None, sources: Sequence[tree.Source], place: Place
) -> tuple[list[tree.Expression | None], tree.Expression | None]:
    """Return the part of ``where`` that each source's join can test, so that joins of several views stay small, and the rest.

    A condition on the first n sources only is tested as soon as those are joined. Conditions with sub-queries, ROWNUM or columns
    of outer queries are tested at the end.
    """
    early: list[list[tree.Expression]] = [[] for _ in sources]
    left: list[tree.Expression] = []
    movable = all(source.join in ("cross", "inner", "left") for source in sources)
    for part in conjuncts(where):
        last = _last_source(part, place) if movable and not has_query(part) else None
        if last is None or sources[last].join == "left":
            left.append(part)
        else:
            early[last].append(part)
    return [all_of(parts) for parts in early], all_of(left)


def _last_source(part: tree.Expression, place: Place) -> int | None:
    places = [place(column) for column in columns_of(part)]
    known = [found[0] for found in places if found is not None]
    return max(known) if known and len(known) == len(places) else None


def equality(part: tree.Expression | None, number: int, place: Place) -> tuple[tree.Column, tree.Column] | None:
    """Return the two columns that a condition compares for equality: one of an earlier source, one of source ``number``; else
    None.
    """
    for test in conjuncts(part):
        if not (isinstance(test, tree.Binary) and test.operator == "="):
            continue
        one, two = test.left, test.right
        if not (isinstance(one, tree.Column) and isinstance(two, tree.Column)):
            continue
        first, second = place(one), place(two)
        if first is None or second is None:
            continue
        if first[0] < number == second[0]:
            return one, two
        if second[0] < number == first[0]:
            return two, one
    return None


def xml_columns(source: tree.XmlRows) -> tuple[ResultColumn, ...]:
    """Return the columns of a source of rows from XML.

    Raises:
        OraError: ORA-00902 if a column's type is unknown.
    """
    if not source.columns:
        return (ResultColumn(COLUMN_VALUE, char(4000)),)
    return tuple(ResultColumn(name, cast_type(kind, width)) for name, kind, width, _ in source.columns)


def xml_rows(source: tree.XmlRows, expressions: Expressions, scope: Scope) -> Callable[[Env], Sequence[Row]]:
    """Return a function that makes the rows of a source from XML."""
    document, _ = expressions.value(source.document, scope)
    columns = tuple((name, path) for name, _, _, path in source.columns)
    types = [cast_type(kind, width) for _, kind, width, _ in source.columns]
    date_format = expressions.settings.date_format

    def rows(env: Env) -> Sequence[Row]:
        text = to_text(document(env))
        if text is None:
            return ()
        if not source.path:
            return [(node,) for node in sequence(text)]
        if not columns:
            return [(value,) for (value,) in table(text, source.path, ((COLUMN_VALUE, "."),))]
        found = table(text, source.path, columns)
        return [tuple(cast_value(v, kind, date_format) for v, kind in zip(row, types, strict=True)) for row in found]

    return rows
