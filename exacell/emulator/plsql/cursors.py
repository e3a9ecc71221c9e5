"""Cursors of PL/SQL blocks and dynamic SQL: OPEN, FETCH, CLOSE, SELECT … INTO, EXECUTE IMMEDIATE."""

from __future__ import annotations

import re
from collections.abc import Sequence

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.database.session import SqlSession
from exacell.emulator.plsql.assign import Store, literal
from exacell.emulator.plsql.scene import Scene
from exacell.emulator.plsql.values import Cursor, Frame
from exacell.emulator.sql import blocks as pl, tree
from exacell.emulator.sql.scope import Relation, Row
from exacell.emulator.sql.syntax import parse_query
from exacell.emulator.sql.values import to_number, to_text

_PLACEHOLDER = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|:=|:([A-Za-z0-9_$#]+)", re.DOTALL)


class Cursors:
    """Opens cursors and fetches rows, in the frames of a scene.

    Attributes:
        rows: SQL%ROWCOUNT, None before any statement.
    """

    def __init__(self, scene: Scene, store: Store, session: SqlSession) -> None:
        self.scene = scene
        self.store = store
        self.session = session
        self.rows: int | None = None

    def opened(self, name: str, frame: Frame) -> Cursor:
        """Return an open cursor.

        Raises:
            OraError: ORA-01001 if it is closed.
        """
        cursor = frame.cursor(name)
        if cursor is None or cursor.rows is None:
            raise OraError(ora(1001))
        return cursor

    def open(self, statement: pl.Open, frame: Frame) -> None:
        """Open a cursor: with its own query, or with the query in the statement.

        Raises:
            OraError: ORA-06511 if it is open already; the query's own error if it is refused.
        """
        cursor = frame.cursor(statement.cursor)
        assert cursor is not None, "the check has found it"
        dynamic = statement.query is not None or statement.text is not None
        if cursor.rows is not None and not dynamic:
            raise OraError(ora(6511))
        if statement.query is not None:
            relation = self.scene.prepared(statement.query, frame).run(None)
        elif statement.text is not None:
            relation = self._dynamic_query(statement.text, statement.using, frame)
        elif cursor.declaration is not None:
            values = [self.scene.value(argument, frame) for argument in statement.arguments]
            inner = self.scene.with_parameters(cursor.declaration, cursor.frame, values)
            relation = self.scene.prepared(cursor.declaration.query, inner).run(None)
        else:
            raise OraError(ora(1001))
        cursor.columns, cursor.rows, cursor.fetched, cursor.found = relation.columns, relation.rows, 0, None

    def fetch(self, statement: pl.Fetch, frame: Frame) -> None:
        """Fetch one row; with BULK COLLECT, as many rows as LIMIT allows."""
        cursor = self.opened(statement.cursor, frame)
        rest = (cursor.rows or ())[cursor.fetched :]
        if statement.bulk:
            limit = len(rest) if statement.limit is None else self.scene.value(statement.limit, frame)
            taken = rest[: int(to_number(limit) or 0)]
            cursor.found = bool(taken) and (statement.limit is None or len(taken) == limit)
            cursor.fetched += len(taken)
            self.into(taken, len(cursor.columns), statement.targets, True, frame)
            return
        cursor.found = bool(rest)
        if rest:
            cursor.fetched += 1
            self.into(rest[:1], len(cursor.columns), statement.targets, False, frame)

    def into(self, rows: Sequence[Row], width: int, targets: Sequence[pl.Target], bulk: bool, frame: Frame) -> None:
        """Assign rows to their targets.

        Raises:
            OraError: ORA-01403 or ORA-01422 if exactly one row is needed and there are none or more.
        """
        self.rows = len(rows)
        if bulk:
            self.store.fill(targets, rows, frame)
            return
        if len(rows) != 1:
            raise OraError(ora(1403 if not rows else 1422))
        self.store.row(targets, rows[0], frame)

    def _dynamic_text(self, text: tree.Expression, using: Sequence[tree.Expression], frame: Frame) -> str:
        """Return the text of a dynamic statement with its placeholders replaced by literals."""
        statement = to_text(self.scene.value(text, frame), self.session.date_format) or ""
        values = [self.scene.value(expression, frame) for expression in using]

        def filled(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0]
            if not values:
                raise OraError(ora(1008))
            return literal(values.pop(0), self.session.date_format)

        return _PLACEHOLDER.sub(filled, statement)

    def _dynamic_query(self, text: tree.Expression, using: Sequence[tree.Expression], frame: Frame) -> Relation:
        relation = self.session.execute(self._dynamic_text(text, using, frame)).relation
        if relation is None:
            raise OraError(ora(900))
        return relation

    def immediate(self, statement: pl.Immediate, frame: Frame) -> None:
        """Carry out EXECUTE IMMEDIATE.

        Raises:
            OraError: the text is not a statement, the statement fails, or INTO is used with a statement that returns no rows.
        """
        text = self._dynamic_text(statement.text, statement.using, frame)
        if not statement.targets:
            if text.lstrip().upper().startswith(("SELECT", "WITH")):
                parse_query(text)
            self.session.execute(text)
            return
        relation = self.session.execute(text).relation
        if relation is None:
            raise OraError(ora(900))
        self.into(relation.rows, len(relation.columns), statement.targets, statement.bulk, frame)
