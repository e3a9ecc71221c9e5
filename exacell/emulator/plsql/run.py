"""Runs PL/SQL blocks: statements, cursors, exceptions.

A block is parsed and checked as a whole, then its statements run one by one; its length is limited, and other sessions get
their turn in between. An error that no handler catches ends the block with its stack and ORA-06512 for the line.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import cast

from exacell.emulator.basics.ora_messages import OraError, OraLine, ora
from exacell.emulator.basics.program import Event, Pause
from exacell.emulator.database import io_calibration
from exacell.emulator.database.io_calibration import CALIBRATE_IO
from exacell.emulator.database.session import SqlSession
from exacell.emulator.plsql.assign import Store
from exacell.emulator.plsql.check import STANDARD_EXCEPTIONS, check_block
from exacell.emulator.plsql.cursors import Cursors
from exacell.emulator.plsql.packages import SNAPSHOT, Output, call_packaged
from exacell.emulator.plsql.scene import Scene
from exacell.emulator.plsql.syntax import parse_block, position
from exacell.emulator.plsql.values import (
    WHOLE_TYPE,
    Cursor,
    ExceptionName,
    Frame,
    Routine,
    Scalar,
    Variable,
    converted,
    record_of,
)
from exacell.emulator.sql import blocks as pl, tree
from exacell.emulator.sql.binds import Binds
from exacell.emulator.sql.bulk import Reads, reads_of
from exacell.emulator.sql.values import Value, number_of, to_number
from exacell.emulator.work.monitor import MONITOR, NAMING, call_monitor
from exacell.emulator.work.reading import ReadTable, look_ups, scans
from exacell.emulator.work.tables import UserTable

_MOST_STEPS = 2_000_000
"""Statements after which a block is stopped, because it might never end."""
_STEPS_AT_ONCE = 1000
"""Statements after which other sessions get a turn."""
_DEEPEST = 40
"""The deepest nesting of calls of local routines."""


@dataclass(frozen=True, kw_only=True)
class Left:
    """How a statement left its block: EXIT, CONTINUE or RETURN; ``label`` is that of the loop it names."""

    how: str
    label: str = ""
    value: Value = None


Run = Generator[Event, str | None, Left | None]


class Fault(OraError):
    """An error on its way out of a block, with the lines that it passed; ``exception`` is set if it is a declared one."""

    def __init__(self, *stack: OraLine, at: int = 0, exception: ExceptionName | None = None) -> None:
        super().__init__(*stack, at=at)
        self.exception = exception


def run_block(text: str, binds: Binds, session: SqlSession, output: Output) -> Generator[Event, str | None, None]:
    """Carry out a block; its output goes into ``output``.

    Raises:
        OraError: the block does not compile (then nothing was done), or it ends with an error.
        UndeclaredError: the block uses a bind variable that is not declared.
    """
    block = parse_block(text)
    machine = Runner(text, binds, session, output)
    stored = declare_stored(machine.scene, session)
    check_block(text, block, machine.scene, stored)
    try:
        yield from machine.block(block, stored)
    except RecursionError:
        raise OraError(ora(36, _DEEPEST)) from None


def declare_stored(scene: Scene, session: SqlSession) -> Frame | None:
    """Return a frame with the procedures and functions stored in the database; None if there are none.

    Routines that do not compile are left out, so that only blocks that call them fail.
    """
    database = session.instance.database
    frame = Frame(None)
    for routine in database.routines.values() if database is not None else ():
        if not routine.errors:
            for declaration in parse_block(f"DECLARE {routine.source} BEGIN NULL; END;").declarations:
                scene.declare(declaration, frame, running=True)
    return frame if frame.routines else None


class Runner:
    """Runs one block: its statements, and the functions that names in it need."""

    def __init__(self, text: str, binds: Binds, session: SqlSession, output: Output) -> None:
        self.text = text
        self.binds = binds
        self.session = session
        self.output = output
        self.scene = Scene(self, session)
        self.store = Store(self.scene)
        self.steps = 0
        self.depth = 0
        self.caught: OraError | None = None
        self.cursors = Cursors(self.scene, self.store, session)
        self.chance = Random(int(session.instance.asm.now()))

    # -- what names ask for (see plsql_names.Machine) -----------------------------------------------------------------

    def call_function(self, routine: Routine, arguments: Sequence[Value]) -> Value:
        """Call a local function and return its result.

        Raises:
            OraError: the error of one of its statements; ORA-06503 if it ended without RETURN.
        """
        running = self._routine(routine, arguments, [])
        while True:
            try:
                next(running)
            except StopIteration as end:
                left: Left | None = end.value
                break
        if left is None:
            raise OraError(ora(6503))
        kind = routine.returns
        return converted(left.value, kind, self.session.date_format) if isinstance(kind, Scalar) else left.value

    def sqlcode(self) -> int:
        """Return SQLCODE: 0 outside of a handler, 100 for no rows found, 1 for a declared exception."""
        if self.caught is None:
            return 0
        if isinstance(self.caught, Fault) and self.caught.exception is not None and not self.caught.exception.code:
            return 1
        return 100 if self.caught.code == 1403 else -self.caught.code

    def sqlerrm(self) -> str:
        """Return SQLERRM."""
        if self.caught is None:
            return "ORA-0000: normal, successful completion"
        return "User-Defined Exception" if self.sqlcode() == 1 else str(self.caught.stack[0])

    def hundredths(self) -> int:
        """Return DBMS_UTILITY.GET_TIME: hundredths of seconds since a fixed moment."""
        user = self.session.user
        now = self.session.instance.asm.now() if user is None else user.moment() / 1e6
        return int(now * 100) % 2**31

    def random(self, low: Value, high: Value) -> Value:
        """Return a number from low up to high."""
        first, second = Decimal(to_number(low) or 0), Decimal(to_number(high) or 0)
        return number_of(first + (second - first) * Decimal(f"{self.chance.random():.12f}"))

    def changed_rows(self) -> int | None:
        """Return SQL%ROWCOUNT."""
        return self.cursors.rows

    # -- blocks -------------------------------------------------------------------------------------------------------

    def block(self, block: pl.Block, outer: Frame | None) -> Run:
        """Run a block inside the frame of another."""
        frame = Frame(outer, label=block.label)
        for declaration in block.declarations:
            try:
                self.scene.declare(declaration, frame, running=True)
            except OraError as error:
                raise self._located(error, declaration.at) from None
        try:
            left = yield from self._body(block.body, frame)
        except OraError as error:
            handler = next((h for h in block.handlers if any(self._handles(n, frame, error) for n in h.names)), None)
            if handler is None:
                raise
            before, self.caught = self.caught, error
            left = yield from self._body(handler.body, frame)
            self.caught = before
        return left

    def _handles(self, name: str, frame: Frame, error: OraError) -> bool:
        declared = self._declared(name, frame)
        if self.steps > _MOST_STEPS:
            return False
        if name == "OTHERS":
            return True
        if declared is None:
            return STANDARD_EXCEPTIONS.get(name) == error.code
        raised = error.exception if isinstance(error, Fault) else None
        return raised is declared or bool(declared.code and declared.code == error.code)

    @staticmethod
    def _declared(name: str, frame: Frame) -> ExceptionName | None:
        owner = frame.owner(name)
        return owner.exceptions.get(name) if owner is not None else None

    def _body(self, body: Sequence[pl.Statement], frame: Frame) -> Run:
        for statement in body:
            self.steps += 1
            if self.steps % _STEPS_AT_ONCE == 0:
                if self.steps > _MOST_STEPS:
                    raise OraError(ora(40))
                yield Pause(0.0)
            try:
                left = yield from self._statement(statement, frame)
            except OraError as error:
                raise self._located(error, statement.at) from None
            if left is not None:
                return left
        return None

    def _located(self, error: OraError, at: int) -> OraError:
        """Return an error with the line at which it was raised; an error that has a line keeps it."""
        if isinstance(error, Fault) and any(line.code == 6512 for line in error.stack):
            return error
        exception = error.exception if isinstance(error, Fault) else None
        return Fault(*error.stack, ora(6512, position(self.text, at)[0]), exception=exception)

    # -- statements ---------------------------------------------------------------------------------------------------

    def _statement(self, statement: pl.Statement, frame: Frame) -> Run:
        match statement:
            case pl.Block():
                return (yield from self.block(statement, frame))
            case pl.If():
                return (yield from self._if(statement, frame))
            case pl.Loop():
                return (yield from self._loop(statement, frame))
            case pl.NumericFor():
                return (yield from self._numeric(statement, frame))
            case pl.CursorFor():
                return (yield from self._cursor_loop(statement, frame))
            case pl.CallStatement():
                yield from self._call(statement, frame)
            case pl.Leave():
                if statement.condition is None or self.scene.truth(statement.condition, frame):
                    return Left(how="CONTINUE" if statement.again else "EXIT", label=statement.label)
            case pl.Return():
                value = None if statement.value is None else self.scene.value(statement.value, frame)
                return Left(how="RETURN", value=value)
            case pl.Raise():
                raise self._raised(statement, frame)
            case _:
                self._simple(statement, frame)
        return None

    def _simple(self, statement: pl.Statement, frame: Frame) -> None:
        match statement:
            case pl.Assign():
                self.store.assign(statement.target, statement.value, frame)
            case pl.SelectInto():
                relation = self.scene.prepared(statement.query, frame).run(None)
                self.cursors.into(relation.rows, len(relation.columns), statement.targets, statement.bulk, frame)
            case pl.Immediate():
                self.cursors.immediate(statement, frame)
            case pl.Open():
                self.cursors.open(statement, frame)
            case pl.Fetch():
                self.cursors.fetch(statement, frame)
            case pl.Close():
                self.cursors.opened(statement.cursor, frame).rows = None
            case pl.Sql():
                self.session.execute(self.binds.fill(statement.text))
                self.cursors.rows = 0

    def _if(self, statement: pl.If, frame: Frame) -> Run:
        for condition, body in statement.branches:
            if self.scene.truth(condition, frame):
                return (yield from self._body(body, frame))
        if statement.otherwise is None:
            raise OraError(ora(6592))
        return (yield from self._body(statement.otherwise, frame))

    @staticmethod
    def _after(left: Left | None, label: str) -> tuple[bool, Left | None]:
        """Return whether a loop ends after this run of its body, and how the loop is left."""
        if left is None:
            return False, None
        if left.how == "RETURN" or left.label not in ("", label):
            return True, left
        return left.how == "EXIT", None

    def _loop(self, loop: pl.Loop, frame: Frame) -> Run:
        while loop.condition is None or self.scene.truth(loop.condition, frame):
            ends, left = self._after((yield from self._body(loop.body, frame)), loop.label)
            if ends:
                return left
        return None

    def _numeric(self, loop: pl.NumericFor, frame: Frame) -> Run:
        bounds = [converted(self.scene.value(bound, frame), WHOLE_TYPE, "") for bound in (loop.low, loop.high)]
        if None in bounds:
            raise OraError(ora(6502, "NULL index table key value"))
        low, high = (int(cast(int, bound)) for bound in bounds)
        reads = reads_of(loop.body)
        if reads is not None and high >= low and (known := self._known(reads, frame)) is not None:
            yield from self._read(reads, known, high - low + 1, frame)
            return None
        inner = Frame(frame, label=loop.label)
        counter = Variable(type=WHOLE_TYPE, constant=True)
        inner.variables[loop.name] = counter
        for number in range(high, low - 1, -1) if loop.reverse else range(low, high + 1):
            counter.value = number
            ends, left = self._after((yield from self._body(loop.body, inner)), loop.label)
            if ends:
                return left
        return None

    def _known(self, reads: Reads, frame: Frame) -> tuple[UserTable, ReadTable, range] | None:
        """Return the table that a loop reads and the keys that it draws from; None if a key of the range might not be found."""
        found = self.session.read_table(reads.table)
        if found is None or not reads.key:
            return None if found is None else (*found, range(0))
        table, known = found
        low, high = (to_number(self.scene.value(bound, frame)) for bound in (reads.low, reads.high))
        keys = range(int(low or 0), int(high or 0))
        by_key = table.key is not None and table.columns[table.key].name == reads.column
        return (table, known, keys) if by_key and keys and table.has_keys(keys) else None

    def _read(self, reads: Reads, known: tuple[UserTable, ReadTable, range], count: int, frame: Frame) -> Run:
        """Carry out a loop that only reads one table: ``count`` look-ups, or ``count`` scans."""
        user, (table, read, keys) = self.session.user, known
        assert user is not None
        value: Value = len(table)
        if reads.key:
            key = self.chance.choice(keys)
            value = table.at_key(key)[table.place(reads.item, 0)]
            self.store.put(pl.Target(name=reads.key), key, frame)
        for _ in look_ups(user, read, count) if reads.key else scans(user, read, count):
            yield Pause(0.0)
        self.cursors.into([(value,)], 1, (pl.Target(name=reads.into),), False, frame)
        return None

    def _cursor_loop(self, loop: pl.CursorFor, frame: Frame) -> Run:
        if loop.query is not None:
            relation = self.scene.prepared(loop.query, frame).run(None)
            cursor = Cursor(frame=frame, columns=relation.columns, rows=relation.rows)
        else:
            self.cursors.open(pl.Open(cursor=loop.cursor, arguments=loop.arguments, at=loop.at), frame)
            cursor = self.cursors.opened(loop.cursor, frame)
        inner = Frame(frame, label=loop.label)
        record = Variable(type=record_of(cursor.columns), constant=True)
        inner.variables[loop.record] = record
        names = [column.name for column in cursor.columns]
        rows, left = cursor.rows or (), None
        for row in rows:
            cursor.fetched, cursor.found = cursor.fetched + 1, True
            record.value = dict(zip(names, row, strict=True))
            ends, left = self._after((yield from self._body(loop.body, inner)), loop.label)
            if ends:
                break
        cursor.rows = None
        return left

    def _raised(self, statement: pl.Raise, frame: Frame) -> OraError:
        if not statement.name:
            return self.caught or OraError(ora(6501))
        declared = self._declared(statement.name, frame)
        if declared is None:
            return OraError(_line(STANDARD_EXCEPTIONS[statement.name]))
        return Fault(_line(declared.code) if declared.code else ora(6510), exception=declared)

    # -- calls --------------------------------------------------------------------------------------------------------

    def _call(self, statement: pl.CallStatement, frame: Frame) -> Generator[Event, str | None, None]:
        routine = frame.routine(statement.name)
        if routine is not None:
            places = self._places(statement, routine)
            values = [self.scene.value(expression, frame) for expression in places]
            parameters: list[Frame] = []
            yield from self._routine(routine, values, parameters)
            for parameter, expression in zip(routine.declaration.parameters, places, strict=False):
                if parameter.out and isinstance(expression, tree.Column):
                    self.store.give_back(expression, parameters[0].variables[parameter.name].value, frame)
            return
        values = [self.scene.value(expression, frame) for expression in statement.arguments]
        base, _, method = statement.name.partition(".")
        variable = frame.variable(base)
        if variable is not None:
            self.store.collection(variable, method, values)
            return
        name = statement.name.removeprefix("SYS.")
        if name == SNAPSHOT:
            self.session.take_snapshot()
            return
        if name == CALIBRATE_IO:
            given = io_calibration.arguments(values, statement.names)
            yield Pause(io_calibration.LASTS_S)
            found = io_calibration.calibrate_io(self.session.instance, given)
            for named, place in zip(given, statement.arguments, strict=True):
                if named in found and isinstance(place, tree.Column):
                    self.store.give_back(place, found[named], frame)
            return
        if name in (*MONITOR, *NAMING):
            if self.session.user is not None:
                call_monitor(self.session.user, name, values, statement.names)
            return
        seconds = call_packaged(name, values, self.output, self.session.date_format)
        if seconds:
            if self.session.user is not None:
                self.session.user.spend(seconds * 1e6)
            yield Pause(seconds)

    @staticmethod
    def _places(statement: pl.CallStatement, routine: Routine) -> list[tree.Expression]:
        """Return the arguments of a call in the order of the parameters; missing ones have their defaults."""
        named = {name: value for name, value in zip(statement.names, statement.arguments, strict=True) if name}
        given = [value for name, value in zip(statement.names, statement.arguments, strict=True) if not name]
        for parameter in routine.declaration.parameters[len(given) :]:
            if parameter.name not in named and parameter.default is None:
                break
            given.append(named.get(parameter.name) or parameter.default or tree.Literal(None))
        return given

    def _routine(self, routine: Routine, values: Sequence[Value], parameters: list[Frame]) -> Run:
        """Run a local routine; the frame of its parameters is added to ``parameters``."""
        if self.depth >= _DEEPEST:
            raise OraError(ora(36, _DEEPEST))
        inner = self.scene.with_parameters(routine.declaration, routine.frame, values)
        parameters.append(inner)
        self.depth += 1
        try:
            left = yield from self.block(routine.declaration.body, inner)
        finally:
            self.depth -= 1
        return left


def _line(code: int) -> OraLine:
    try:
        return ora(code)
    except (KeyError, IndexError):
        return OraLine(code, "")
