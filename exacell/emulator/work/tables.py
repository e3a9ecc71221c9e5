"""Tables that users make on emulated databases: their columns and rows, and how they are stored.

Simplified: a table keeps its rows in memory, there are no row locks, and other sessions see a change before it is committed.
Types are numbers, texts and dates; values of other types are stored as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, overload

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.date_masks import parse_date
from exacell.emulator.sql.tokens import TokenKind, TokenReader
from exacell.emulator.sql.values import (
    DATE,
    NUMBER,
    ColumnType,
    Kind,
    Value,
    char,
    to_number,
    to_text,
)

_NUMBERS = ("NUMBER", "INTEGER", "INT", "SMALLINT", "DECIMAL", "NUMERIC", "FLOAT", "BINARY_FLOAT", "BINARY_DOUBLE")
_DATES = ("DATE", "TIMESTAMP")
_WIDEST = 4000
SYS = "SYS"
"""The connected user."""


@dataclass(frozen=True, kw_only=True)
class UserColumn:
    """One column: its type, the most characters of its values, and whether it may be NULL."""

    name: str
    kind: Kind
    width: int = 0
    required: bool = False

    @property
    def type(self) -> ColumnType:
        """Return its type in expressions."""
        if self.kind is Kind.CHAR:
            return char(self.width)
        return NUMBER if self.kind is Kind.NUMBER else DATE

    def taken(self, value: Value, table: UserTable, date_format: str) -> Value:
        """Return a value converted to the type of this column of ``table``.

        Raises:
            OraError: ORA-01400, 12899, or the error of a text that is not a number or a date.
        """
        if value is None or value == "":
            if self.required:
                raise OraError(ora(1400, f'"{table.owner}"."{table.name}"."{self.name}"'))
            return None
        if self.kind is Kind.NUMBER:
            return to_number(value)
        if self.kind is Kind.DATE:
            return value if isinstance(value, datetime) else parse_date(to_text(value) or "", date_format)
        text = to_text(value, date_format) or ""
        if len(text) > self.width:
            raise OraError(ora(12899, f'"{table.owner}"."{table.name}"."{self.name}"', len(text), self.width))
        return text


@dataclass(frozen=True, kw_only=True)
class Numbered(Sequence[tuple[Value, ...]]):
    """Rows that differ only in a number from 1 to ``most``, as INSERT of LEVEL makes them: none of them is stored.

    Attributes:
        values: the values of each row; at ``places`` they are replaced by the number.
    """

    most: int
    values: tuple[Value, ...]
    places: tuple[int, ...]

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.most

    @overload
    def __getitem__(self, place: int) -> tuple[Value, ...]: ...

    @overload
    def __getitem__(self, place: slice) -> list[tuple[Value, ...]]: ...

    def __getitem__(self, place: int | slice) -> tuple[Value, ...] | list[tuple[Value, ...]]:
        """Return one row, or several for a slice."""
        numbers = range(1, self.most + 1)[place]
        return self._row(numbers) if isinstance(numbers, int) else [self._row(number) for number in numbers]

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        """Yield each row."""
        return map(self._row, range(1, self.most + 1))

    def _row(self, number: int) -> tuple[Value, ...]:
        return tuple(number if place in self.places else value for place, value in enumerate(self.values))


@dataclass(kw_only=True)
class UserTable:
    """A user's table.

    Attributes:
        key: place of the primary key's column; None without a primary key.
        rows: in the order in which they were inserted; each is a list of the columns' values.
        numbered: unchanged rows before these; None if there are none.
    """

    name: str
    columns: tuple[UserColumn, ...]
    owner: str = SYS
    key: int | None = None
    rows: list[list[Value]] = field(default_factory=list)
    numbered: Numbered | None = None

    def shown(self) -> Sequence[tuple[Value, ...]]:
        """Return all rows, for reading."""
        if self.numbered is not None and not self.rows:
            return self.numbered
        return [*(self.numbered or ()), *(tuple(row) for row in self.rows)]

    def changeable(self) -> list[list[Value]]:
        """Return all rows, for changing: from now on each row is stored."""
        if self.numbered is not None:
            self.rows[:0] = [list(row) for row in self.numbered]
            self.numbered = None
        return self.rows

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.numbered or ()) + len(self.rows)

    @property
    def row_bytes(self) -> int:
        """Return the approximate bytes of a row in a block."""
        first = next(iter(self.shown()), ())
        return 3 + sum(
            1 + (len(value) if isinstance(value, str) else 7 if isinstance(value, datetime) else 4) for value in first
        )

    @property
    def known_as(self) -> str:
        """Return the name under which it is found; see :func:`known_as`."""
        return known_as(self.owner, self.name)

    def place(self, name: str, at: int) -> int:
        """Return the place of a column.

        Raises:
            OraError: ORA-00904 if there is no column of that name.
        """
        for place, column in enumerate(self.columns):
            if column.name == name:
                return place
        raise OraError(ora(904, f'"{name}"'), at=at)

    def has_keys(self, keys: range) -> bool:
        """Return whether each of these numbers is the primary key of a row."""
        if self.key is None:
            return False
        if self.numbered is not None and not self.rows:
            return self.key in self.numbered.places and keys.start >= 1 and keys.stop <= self.numbered.most + 1
        return {row[self.key] for row in self.shown()}.issuperset(keys)

    def at_key(self, key: int) -> tuple[Value, ...]:
        """Return the row with a primary key; the row must exist."""
        if self.numbered is not None and not self.rows:
            return self.numbered[key - 1]
        return next(row for row in self.shown() if self.key is not None and row[self.key] == key)

    def check_key(self) -> None:
        """Raise OraError (ORA-00001) if two rows have the same primary key."""
        if self.key is not None and len({row[self.key] for row in self.shown()}) < len(self):
            raise OraError(ora(1, f"{self.owner}.{self.name}_PK"))


def known_as(owner: str, name: str) -> str:
    """Return the name under which a table is found: its own name if SYS, the connected user, owns it; else with the owner."""
    return name if owner in ("", SYS) else f"{owner}.{name}"


def read_columns(reader: TokenReader, owner: str, table: str) -> UserTable:
    """Read the columns in the parentheses that come next, and return the table.

    Raises:
        OraError: the columns can't be read.
    """
    reader.expect_mark("(", 906)
    columns: list[UserColumn] = []
    key: int | None = None
    while True:
        if reader.here.is_word("CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"):
            keyed = _constraint(reader)
            key = next((n for n, column in enumerate(columns) if column.name == keyed), key)
        else:
            column, primary = _column(reader)
            key = len(columns) if primary else key
            columns.append(column)
        if reader.accept_mark(")"):
            return UserTable(name=table, columns=tuple(columns), owner=owner, key=key)
        reader.expect_mark(",", 907)


def _column(reader: TokenReader) -> tuple[UserColumn, bool]:
    """Read a column and return it, and whether it is the primary key."""
    name = reader.name(904)
    kind_at = reader.here.at
    if reader.here.kind is not TokenKind.NAME:
        raise OraError(ora(902), at=kind_at)
    word, width = reader.take().value, 0
    if reader.accept_mark("("):
        width = reader.whole(902)
        while not reader.accept_mark(")"):
            if reader.take().kind is TokenKind.END:
                raise reader.error(907)
    kind = Kind.NUMBER if word in _NUMBERS else Kind.DATE if word in _DATES else Kind.CHAR
    rest = _rest(reader)
    primary = "PRIMARY" in rest
    return UserColumn(name=name, kind=kind, width=width or _WIDEST, required=primary or "NOT" in rest), primary


def _constraint(reader: TokenReader) -> str:
    """Read a constraint of the table and return the column of its primary key; empty for another constraint."""
    words = _rest(reader)
    return words[words.index("KEY") + 2] if "PRIMARY" in words and "KEY" in words[:-2] else ""


def _rest(reader: TokenReader) -> list[str]:
    """Read and return the words after a column's type: its constraints."""
    words: list[str] = []
    depth = 0
    while depth or not reader.here.is_mark(",", ")"):
        if reader.here.kind is TokenKind.END:
            raise reader.error(907)
        token = reader.take()
        depth += token.is_mark("(") - token.is_mark(")")
        words.append(token.value)
    return words


def table_to_state(table: UserTable) -> dict[str, Any]:
    """Return a table as JSON-able data."""
    return {
        "name": table.name,
        "owner": table.owner,
        "columns": [[c.name, c.kind.value, c.width, c.required] for c in table.columns],
        "key": table.key,
        "rows": [[_stored(value) for value in row] for row in table.rows],
        "numbered": None
        if (many := table.numbered) is None
        else [many.most, [*map(_stored, many.values)], many.places],
    }


def table_from_state(state: dict[str, Any]) -> UserTable:
    """Return the table that :func:`table_to_state` stored."""
    columns = tuple(
        UserColumn(name=name, kind=Kind(kind), width=width, required=required)
        for name, kind, width, required in state["columns"]
    )
    rows = [[_restored(value) for value in row] for row in state["rows"]]
    numbered = None
    if (kept := state.get("numbered")) is not None:
        most, values, places = kept
        numbered = Numbered(most=most, values=tuple(map(_restored, values)), places=tuple(places))
    return UserTable(
        name=state["name"],
        columns=columns,
        owner=state.get("owner", SYS),
        key=state["key"],
        rows=rows,
        numbered=numbered,
    )


def _stored(value: Value) -> Any:
    if isinstance(value, Decimal):
        return {"number": str(value)}
    return {"date": value.isoformat()} if isinstance(value, datetime) else value


def _restored(value: Any) -> Value:
    if isinstance(value, dict):
        return Decimal(value["number"]) if "number" in value else datetime.fromisoformat(value["date"])
    known: Value = value
    return known
