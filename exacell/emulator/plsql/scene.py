"""Functions for both checking and running a PL/SQL block: evaluating, resolving types, declaring names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.database.session import SqlSession
from exacell.emulator.plsql.names import FrameNames, Machine, is_truth
from exacell.emulator.plsql.values import (
    BOOLEAN_TYPE,
    DATE_TYPE,
    NUMBER_TYPE,
    WHOLE_TYPE,
    Cursor,
    CursorType,
    ExceptionName,
    Frame,
    PlType,
    RecordType,
    Routine,
    Scalar,
    TableType,
    Variable,
    converted,
    empty,
    record_of,
    text_type,
    type_of_column,
)
from exacell.emulator.sql import tree
from exacell.emulator.sql.blocks import (
    CursorDeclaration,
    Declaration,
    ExceptionDeclaration,
    RoutineDeclaration,
    TypeDeclaration,
    TypeKind,
    TypeName,
    VariableDeclaration,
)
from exacell.emulator.sql.functions import CONSTANTS
from exacell.emulator.sql.scope import Prepared, ProgramScope, ResultColumn
from exacell.emulator.sql.values import NUMBER, Value
from exacell.emulator.sql.walk import columns_of, has_query

_MOST_COMPILED = 2000
"""The most compiled expressions that are kept: nested loops make new frames again and again."""


class Scene:
    """The session in which a block runs, and the meaning of the block's names there."""

    def __init__(self, machine: Machine, session: SqlSession) -> None:
        self.machine = machine
        self.session = session
        self._compiled: dict[tuple[int, int], Callable[[], Value]] = {}
        self._kept: list[tuple[Frame, tree.Expression]] = []  # keeps the objects alive whose ids are in those keys

    # -- expressions and queries --------------------------------------------------------------------------------------

    def compile(self, expression: tree.Expression, frame: Frame) -> Callable[[], Value]:
        """Return a function that computes the value of an expression; it may be called often.

        Raises:
            OraError: a name in it is unknown, or it is not a valid expression.
        """
        names = FrameNames(self.machine, frame)
        program = ProgramScope(names)
        compiler = self.session.expressions(program)
        if is_truth(expression, names):
            condition = compiler.condition(expression, program)
            return lambda: condition(program.env())
        value, _ = compiler.value(expression, program)
        return lambda: value(program.env())

    def value(self, expression: tree.Expression, frame: Frame) -> Value:
        """Return the present value of an expression."""
        if isinstance(expression, tree.Literal):
            return expression.value
        key = (id(frame), id(expression))
        function = self._compiled.get(key)
        if function is None:
            function = self.compile(expression, frame)
            if not has_query(expression) and not any(c.name in CONSTANTS for c in columns_of(expression)):
                if len(self._kept) > _MOST_COMPILED:
                    self._compiled.clear()
                    self._kept.clear()
                self._compiled[key] = function
                self._kept.append((frame, expression))
        return function()

    def prepared(self, query: tree.Query, frame: Frame) -> Prepared:
        """Return a query, prepared to run with the variables of a frame."""
        return self.session.prepare(query, ProgramScope(FrameNames(self.machine, frame)))

    # -- types --------------------------------------------------------------------------------------------------------

    def type_of(self, name: TypeName, frame: Frame) -> PlType:
        """Return the type that a written type name means.

        Raises:
            OraError: ORA-00904 with the unknown name.
        """
        match name.kind:
            case TypeKind.NUMBER:
                return Scalar(column=NUMBER, width=name.width, scale=name.scale) if name.width else NUMBER_TYPE
            case TypeKind.WHOLE:
                return WHOLE_TYPE
            case TypeKind.TEXT:
                return text_type(name.width)
            case TypeKind.DATE:
                return DATE_TYPE
            case TypeKind.BOOLEAN:
                return BOOLEAN_TYPE
            case TypeKind.CURSOR:
                return CursorType()
            case TypeKind.RECORD:
                return RecordType(fields=tuple((f, self._scalar(kind, frame)) for f, kind in name.fields))
            case TypeKind.TABLE:
                element = self.type_of(name.element or name, frame)
                if isinstance(element, Scalar | RecordType):
                    return TableType(element=element)
                raise OraError(ora(439, "collections of collections are not emulated"), at=name.at)
            case TypeKind.ANCHOR:
                return self._anchor(name, frame)
            case TypeKind.ROW:
                return record_of(self._row_columns(name, frame))
            case _:
                owner = frame.owner(name.name)
                if owner is None or name.name not in owner.types:
                    raise OraError(ora(904, f'"{name.name}"'), at=name.at)
                return owner.types[name.name]

    def _scalar(self, name: TypeName, frame: Frame) -> Scalar:
        kind = self.type_of(name, frame)
        if not isinstance(kind, Scalar):
            raise OraError(ora(439, "records in records are not emulated"), at=name.at)
        return kind

    def _anchor(self, name: TypeName, frame: Frame) -> PlType:
        parts = name.name.split(".")
        variable = frame.variable(parts[0])
        if variable is not None:
            if len(parts) == 1:
                return variable.type
            fields = dict(variable.type.fields) if isinstance(variable.type, RecordType) else {}
            if parts[1] in fields:
                return fields[parts[1]]
        elif len(parts) > 1:
            view = self.session.describe(parts[-2])
            column = next((c for c in view.columns if c.name == parts[-1]), None) if view else None
            if column is not None:
                return type_of_column(column.type)
        raise OraError(ora(904, '"' + '"."'.join(parts) + '"'), at=name.at)

    def _row_columns(self, name: TypeName, frame: Frame) -> tuple[ResultColumn, ...]:
        cursor = frame.cursor(name.name)
        if cursor is not None:
            return cursor.columns
        view = self.session.describe(name.name.split(".")[-1])
        if view is None:
            raise OraError(ora(904, f'"{name.name}"'), at=name.at)
        return view.columns

    # -- declarations -------------------------------------------------------------------------------------------------

    def declare(self, declaration: Declaration, frame: Frame, *, running: bool) -> None:
        """Add the declared name to a frame.

        Args:
            running: also give variables their first values.
        """
        match declaration:
            case VariableDeclaration():
                self._declare_variable(declaration, frame, running)
            case TypeDeclaration():
                frame.types[declaration.name] = self.type_of(declaration.type, frame)
            case ExceptionDeclaration():
                frame.exceptions[declaration.name] = ExceptionName(name=declaration.name, code=declaration.code)
            case CursorDeclaration():
                columns = self.prepared(declaration.query, self.with_parameters(declaration, frame)).columns
                frame.cursors[declaration.name] = Cursor(declaration=declaration, frame=frame, columns=columns)
            case RoutineDeclaration():
                returns = self.type_of(declaration.returns, frame) if declaration.returns else None
                known = None if isinstance(returns, CursorType) else returns
                frame.routines[declaration.name] = Routine(declaration=declaration, returns=known, frame=frame)

    def _declare_variable(self, declaration: VariableDeclaration, frame: Frame, running: bool) -> None:
        kind = self.type_of(declaration.type, frame)
        if isinstance(kind, CursorType):
            frame.cursors[declaration.name] = Cursor(frame=frame)
            return
        variable = Variable(type=kind, value=empty(kind), constant=declaration.constant)
        if declaration.default is not None and isinstance(kind, Scalar):
            if running:
                given = self.value(declaration.default, frame)
                variable.value = converted(given, kind, self.session.date_format)
            else:
                self.compile(declaration.default, frame)
        frame.variables[declaration.name] = variable

    def with_parameters(
        self,
        declaration: CursorDeclaration | RoutineDeclaration,
        frame: Frame,
        given: Sequence[Value] | None = None,
    ) -> Frame:
        """Return a frame inside ``frame`` with the parameters of a cursor or a routine.

        Args:
            given: the parameters' values, in order; None while the block is only checked.

        Raises:
            OraError: a value does not fit, or there are too few or too many.
        """
        inner = Frame(frame, label=declaration.name)
        values = list(given or ())
        if len(values) > len(declaration.parameters):
            raise OraError(ora(6553, declaration.name))
        for number, parameter in enumerate(declaration.parameters):
            kind = self.type_of(parameter.type, frame)
            if not isinstance(kind, Scalar):
                raise OraError(ora(439, "parameters that are records or collections are not emulated"))
            value: Value = None
            if number < len(values):
                value = values[number]
            elif parameter.default is not None and given is not None:
                value = self.value(parameter.default, frame)
            elif given is not None:
                raise OraError(ora(6553, declaration.name))
            free = Scalar(column=kind.column)  # a parameter has its type's kind but not its length
            inner.variables[parameter.name] = Variable(type=free, value=converted(value, free, self.date_format))
        return inner

    @property
    def date_format(self) -> str:
        """Return NLS_DATE_FORMAT of the session."""
        return self.session.date_format

    def truth(self, expression: tree.Expression, frame: Frame) -> bool:
        """Return whether a condition is true; False if it is unknown."""
        return cast(bool | None, self.value(expression, frame)) is True
