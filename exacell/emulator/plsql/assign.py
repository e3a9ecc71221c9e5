"""Assigns values in PL/SQL blocks: to variables, fields, elements, records, collections and bind variables."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import cast

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.plsql.scene import Scene
from exacell.emulator.plsql.values import (
    Elements,
    Fields,
    Frame,
    RecordType,
    Scalar,
    TableType,
    Variable,
    converted,
    empty,
)
from exacell.emulator.sql import blocks as pl, tree
from exacell.emulator.sql.scope import Row
from exacell.emulator.sql.values import Value, to_text


class Store:
    """Assigns values to names of a block, in the frames of a scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def assign(self, target: pl.Target, expression: tree.Expression, frame: Frame) -> None:
        """Carry out ``target := expression``, also for a whole record or collection.

        Raises:
            OraError: ORA-06502 if the value does not fit.
        """
        if isinstance(expression, tree.Column) and not expression.qualifier:
            source = frame.variable(expression.name)
            if source is not None and not isinstance(source.type, Scalar):
                self._whole(target, source, frame)
                return
        if isinstance(expression, tree.Call):  # the constructor of a collection: t(), t('a', 'b')
            owner = frame.owner(expression.name)
            made = owner.types.get(expression.name) if owner is not None else None
            variable = frame.variable(target.name)
            if isinstance(made, TableType) and variable is not None:
                values = [self.scene.value(argument, frame) for argument in expression.arguments]
                variable.value = cast(Elements, dict(enumerate(values, start=1)))
                return
        self.put(target, self.scene.value(expression, frame), frame)

    def _whole(self, target: pl.Target, source: Variable, frame: Frame) -> None:
        variable = frame.variable(target.name)
        copied = dict(cast(Fields, source.value))
        if variable is None or isinstance(variable.type, Scalar):
            raise OraError(ora(6502, "a record or collection does not go into it"))
        if target.index is not None:
            cast(Elements, variable.value)[self.scene.value(target.index, frame)] = copied
        else:
            variable.value = copied

    def put(self, target: pl.Target, value: Value, frame: Frame) -> None:
        """Assign one value to a target.

        Raises:
            OraError: ORA-06502 if it does not fit.
        """
        date_format = self.scene.date_format
        if target.bind:
            self.scene.machine.binds.assign(target.name, value, date_format)
            return
        variable = frame.variable(target.name)
        assert variable is not None, "the check has found it"
        kind = variable.type
        if isinstance(kind, Scalar):
            variable.value = converted(value, kind, date_format)
        elif isinstance(kind, RecordType):
            fields = dict(kind.fields)
            if target.field not in fields:
                raise OraError(ora(6502, "one value does not go into a record"))
            cast(Fields, variable.value)[target.field] = converted(value, fields[target.field], date_format)
        else:
            self._element(target, variable, kind, value, frame)

    def _element(self, target: pl.Target, variable: Variable, kind: TableType, value: Value, frame: Frame) -> None:
        if target.index is None:
            raise OraError(ora(6502, "one value does not go into a collection"))
        elements = cast(Elements, variable.value)
        index = self.scene.value(target.index, frame)
        if isinstance(kind.element, Scalar):
            elements[index] = converted(value, kind.element, self.scene.date_format)
            return
        fields = dict(kind.element.fields)
        record = cast(Fields, elements.setdefault(index, cast(Fields, empty(kind.element))))
        record[target.field] = converted(value, fields[target.field], self.scene.date_format)

    def give_back(self, column: tree.Column, value: object, frame: Frame) -> None:
        """Assign the value of an OUT parameter to the variable in the call."""
        target = pl.Target(name=column.name, bind=True)
        if column.qualifier != ":":
            field = column.name if column.qualifier else ""
            target = pl.Target(name=column.qualifier or column.name, field=field)
        self.put(target, cast(Value, value), frame)

    def row(self, targets: Sequence[pl.Target], row: Row, frame: Frame) -> None:
        """Assign a row to its targets: one value to each, or the whole row to a record.

        Raises:
            OraError: ORA-00913 or ORA-00947 if the row has more or fewer values than targets.
        """
        variable = frame.variable(targets[0].name) if len(targets) == 1 and not targets[0].bind else None
        if variable is not None and not targets[0].field:
            if isinstance(variable.type, RecordType):
                variable.value = self._record(variable.type, row)
                return
            if isinstance(variable.type, TableType) and isinstance(variable.type.element, RecordType):
                index = self.scene.value(targets[0].index or tree.Literal(None), frame)
                cast(Elements, variable.value)[index] = self._record(variable.type.element, row)
                return
        if len(row) != len(targets):
            raise OraError(ora(913 if len(row) > len(targets) else 947))
        for target, value in zip(targets, row, strict=True):
            self.put(target, value, frame)

    def _record(self, kind: RecordType, row: Row) -> Fields:
        if len(row) != len(kind.fields):
            raise OraError(ora(913 if len(row) > len(kind.fields) else 947))
        pairs = zip(kind.fields, row, strict=True)
        return {name: converted(value, scalar, self.scene.date_format) for (name, scalar), value in pairs}

    def fill(self, targets: Sequence[pl.Target], rows: Sequence[Row], frame: Frame) -> None:
        """Assign all rows to collections: one for each column, or one of records for all (BULK COLLECT).

        Raises:
            OraError: ORA-06502 if a target is not a collection, or a value does not fit.
        """
        for place, target in enumerate(targets):
            variable = frame.variable(target.name)
            if variable is None or not isinstance(variable.type, TableType):
                raise OraError(ora(6502, "BULK COLLECT wants a collection"))
            element = variable.type.element
            made: Elements = {}
            for number, row in enumerate(rows, start=1):
                if isinstance(element, RecordType):
                    made[number] = self._record(element, row)
                else:
                    made[number] = converted(row[place], element, self.scene.date_format)
            variable.value = made

    @staticmethod
    def collection(variable: Variable, method: str, values: Sequence[Value]) -> None:
        """Carry out DELETE, EXTEND or TRIM on a collection."""
        elements = cast(Elements, variable.value)
        kind = variable.type
        if method == "DELETE" and values:
            elements.pop(values[0], None)
        elif method == "DELETE":
            elements.clear()
        elif method == "EXTEND" and isinstance(kind, TableType):
            for _ in range(int(cast(int, values[0])) if values else 1):
                elements[len(elements) + 1] = cast("Value | Fields", empty(kind.element))
        elif method == "TRIM":
            for _ in range(min(len(elements), int(cast(int, values[0])) if values else 1)):
                elements.pop(len(elements))


def literal(value: Value, date_format: str) -> str:
    """Return a value as a literal of SQL text."""
    if value is None or isinstance(value, bool):
        return "NULL" if value is None else str(value).upper()
    if isinstance(value, int | Decimal):
        return str(value)
    text = "'" + (to_text(value, date_format) or "").replace("'", "''") + "'"
    return f"TO_DATE({text}, '{date_format}')" if isinstance(value, datetime) else text
