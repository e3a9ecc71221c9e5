"""The widths of function results with constant arguments, which SQL*Plus uses as column widths.

Source: widths of columns in published sessions: TO_CHAR(d, 'YYYY-MM-DD') is 10 wide, RPAD(x, 20) and SUBSTR(x, 1, 20) are 20.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from exacell.emulator.basics.ora_messages import OraError
from exacell.emulator.sql import tree
from exacell.emulator.sql.date_masks import format_date
from exacell.emulator.sql.number_masks import mask_width
from exacell.emulator.sql.values import ColumnType, Kind, char

_WIDEST_DATE = datetime(2000, 9, 27, 12, 30)
"""A Wednesday in September."""


def constant_width(call: tree.Call, kinds: Sequence[ColumnType]) -> ColumnType | None:
    """Return the type of a call if a constant decides its width; None otherwise."""
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
