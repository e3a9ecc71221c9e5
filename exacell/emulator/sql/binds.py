"""Bind variables of SQL*Plus: ``VARIABLE`` declares, blocks assign, statements use ``:n``, ``PRINT`` shows.

Source: Oracle SQL*Plus User's Guide, VARIABLE, PRINT, EXECUTE.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.scope import Relation, ResultColumn
from exacell.emulator.sql.values import NUMBER, ColumnType, Value, char, to_text

_TYPE = re.compile(
    r"(NUMBER|BINARY_FLOAT|BINARY_DOUBLE|CLOB|N?CHAR|N?VARCHAR2)(?:\s*\(\s*([0-9]+)[^)]*\))?", re.IGNORECASE
)
_LEAVE = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|:=|:([A-Za-z][A-Za-z0-9_$#]*)", re.DOTALL)


class UndeclaredError(Exception):
    """A statement uses a bind variable that VARIABLE has not declared."""


@dataclass
class Binds:
    """The bind variables of a session: their types and values by upper-case name."""

    types: dict[str, ColumnType] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)

    def declare(self, text: str) -> bool:
        """Declare ``name type [= value]``; return False if the text has another form."""
        match = re.fullmatch(rf"([A-Za-z]\w*)\s+{_TYPE.pattern}\s*(?:=\s*(.*))?", text, re.IGNORECASE | re.DOTALL)
        if match is None:
            return False
        name, kind, width, value = match[1].upper(), match[2].upper(), match[3], match[4]
        number = kind in ("NUMBER", "BINARY_FLOAT", "BINARY_DOUBLE")
        self.types[name] = NUMBER if number else char(int(width or (80 if kind == "CLOB" else 1)))
        self.values[name] = None
        if value is not None:
            plain = value.strip().strip("'\"")
            self.values[name] = Decimal(plain) if number else plain
        return True

    def listed(self) -> str:
        """Return the output of VARIABLE without a name."""
        kinds = {
            name: f"datatype   {'NUMBER' if kind is NUMBER else f'VARCHAR2({kind.width})'}"
            for name, kind in self.types.items()
        }
        return "".join(f"variable   {name.lower()}\n{kind}\n\n" for name, kind in kinds.items())

    def relation(self, name: str) -> Relation:
        """Return the rows that PRINT shows for a variable.

        Raises:
            UndeclaredError: there is no variable of that name.
        """
        upper = name.lstrip(":").upper()
        if upper not in self.types:
            raise UndeclaredError(upper)
        return Relation((ResultColumn(upper, self.types[upper]),), ((self.values[upper],),))

    def fill(self, statement: str) -> str:
        """Return a statement with each ``:name`` replaced by a literal.

        Raises:
            UndeclaredError: a name is not declared.
        """

        def literal(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0]
            name = match[1].upper()
            if name not in self.types:
                raise UndeclaredError(name)
            value = self.values[name]
            if value is None:
                return "NULL"
            return str(value) if isinstance(value, int | Decimal) else "'" + str(value).replace("'", "''") + "'"

        return _LEAVE.sub(literal, statement)

    def assign(self, name: str, value: Value, date_format: str) -> None:
        """Set a declared variable to a value.

        Raises:
            UndeclaredError: the variable is not declared.
            OraError: ORA-06502 if the value does not fit its type.
        """
        if name not in self.types:
            raise UndeclaredError(name)
        kind = self.types[name]
        if value is None or kind is NUMBER:
            if isinstance(value, str):
                try:
                    value = Decimal(value)
                except ArithmeticError:
                    raise OraError(ora(6502, "character to number conversion error")) from None
            self.values[name] = value
            return
        text = to_text(value, date_format) or ""
        if len(text) > kind.width:
            raise OraError(ora(6502, "character string buffer too small"))
        self.values[name] = text
