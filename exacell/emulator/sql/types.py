"""The types of CAST and of XMLTABLE's columns.

Source: Oracle Database SQL Language Reference, CAST, "Data Types".
"""

from __future__ import annotations

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.date_masks import parse_date
from exacell.emulator.sql.values import DATE, NUMBER, ColumnType, Kind, Value, char, to_number, to_text

_TEXTS = ("VARCHAR2", "VARCHAR", "NVARCHAR2", "CHAR", "NCHAR", "CLOB", "XMLTYPE", "RAW", "ROWID")
_NUMBERS = ("NUMBER", "INTEGER", "INT", "FLOAT", "DECIMAL", "BINARY_DOUBLE", "BINARY_FLOAT", "PLS_INTEGER")
_DATES = ("DATE", "TIMESTAMP")


def cast_type(name: str, width: int) -> ColumnType:
    """Return the type of this name.

    Raises:
        OraError: ORA-00902 if there is no type of that name.
    """
    if name in _TEXTS:
        return char(width or (1 if name in ("CHAR", "NCHAR") else 4000))
    if name in _NUMBERS:
        return NUMBER
    if name in _DATES:
        return DATE
    raise OraError(ora(902))


def cast_value(value: Value, kind: ColumnType, date_format: str) -> Value:
    """Return a value converted to a type; a text is cut at the type's width.

    Raises:
        OraError: ORA-01722 and similar codes if it can't be converted.
    """
    if value is None:
        return None
    if kind.kind is Kind.NUMBER:
        return to_number(value)
    text = to_text(value, date_format)
    if kind.kind is Kind.DATE:
        return value if not isinstance(value, str) else parse_date(value, date_format)
    return text[: kind.width] if text else None
