"""A condition on cells, ``where flashCacheMode=writeback`` or ``where griddisk.status=inactive``, as a value. Pure.

It is written as a WHERE of LIST; an object in front of the attribute means cells that have such an object. The
comparison is ours, because LIST takes a WHERE for some objects only, and not for CELL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from exacell.cellcli.cursor import Cursor
from exacell.cellcli.nodes import Filter, Operator
from exacell.cellcli.query import read_filters
from exacell.cellcli.schema import find_object
from exacell.cellcli.suggest import closest
from exacell.cellcli.tokens import tokenize
from exacell.cellcli.typed import typed_value
from exacell.core.errors import StatementError
from exacell.core.values import dataclass

_WHERE = re.compile(r"\s*where\s+", re.IGNORECASE)
_OBJECT = re.compile(r"([A-Za-z]+)\.(?=[A-Za-z])")


@dataclass(frozen=True, kw_only=True)
class Condition:
    """Cells of which some ``object`` (a cell has one CELL) passes all ``filters``."""

    object: str
    filters: tuple[Filter, ...]

    @property
    def statement(self) -> str:
        """What is asked to judge it."""
        names = dict.fromkeys(["name", *(condition.attribute for condition in self.filters)])
        return f"list {self.object.lower()} attributes {', '.join(names)}"

    def holds(self, rows: Iterable[Mapping[str, Any]]) -> bool:
        """Whether one of a cell's typed records passes."""
        return any(all(passes(condition, row, self.object) for condition in self.filters) for row in rows)


def is_condition(text: str) -> bool:
    """Whether a set of cells is written as a condition."""
    return _WHERE.match(text) is not None


def parse_condition(text: str) -> Condition:
    """Return the condition that ``text`` is.

    Raises:
        StatementError: it is none; places count in ``text``.
    """
    begin = _WHERE.match(text)
    rest = text[begin.end() if begin else 0 :]
    offset = len(text) - len(rest)
    named = [match for match in _OBJECT.finditer(rest) if _outside_quotes(rest, match.start())]
    names = {match[1].upper() for match in named}
    if len(names) > 1:
        raise StatementError(
            f"a condition on cells is about one object, not {' and '.join(sorted(names))}", start=0, end=len(text)
        )
    subject = find_object(names.pop() if names else "CELL")
    if subject is None:
        wrong = named[0]
        raise StatementError(
            f"'{wrong[1]}' is not an object that LIST knows",
            start=offset + wrong.start(1),
            end=offset + wrong.end(1),
            suggestions=closest(wrong[1], ("cell", "griddisk", "celldisk", "flashcache", "flashlog", "physicaldisk")),
        )
    blanked = rest
    for match in named:
        blanked = blanked[: match.start()] + " " * len(match[0]) + blanked[match.end() :]
    try:
        cursor = Cursor(tokenize(blanked), end=len(blanked))
        filters = read_filters(cursor, subject)
        if cursor.token is not None:
            raise cursor.wrong(f"'{cursor.token.text}' is not part of a condition: and joins two of them")
    except StatementError as error:
        error.start = None if error.start is None else error.start + offset
        error.end = None if error.end is None else error.end + offset
        raise
    return Condition(object=subject.name, filters=filters)


def _outside_quotes(text: str, place: int) -> bool:
    return text[:place].count("'") % 2 == 0 and text[:place].count('"') % 2 == 0


def passes(condition: Filter, row: Mapping[str, Any], subject: str) -> bool:
    """Whether a typed record passes one filter; an attribute that is not there passes only a negated one."""
    return _compares(condition, row, subject) is not condition.negated


def _compares(condition: Filter, row: Mapping[str, Any], subject: str) -> bool:
    value = row.get(condition.attribute)
    if value is None:
        return False
    found = find_object(subject)
    attribute = found.attribute(condition.attribute) if found is not None else None
    wanted = typed_value(condition.value.text, attribute.kind) if attribute is not None else condition.value.text
    match condition.operator:
        case Operator.EQUAL:
            return value == wanted or _text(value) == _text(wanted)
        case Operator.LIKE:
            return re.fullmatch(condition.value.text, _plain(value), re.IGNORECASE) is not None
    if isinstance(value, str) or isinstance(wanted, str) or wanted is None:
        low, high = _text(value), _text(wanted)
        return low > high if condition.operator is Operator.GREATER else low < high
    return bool(value > wanted if condition.operator is Operator.GREATER else value < wanted)


def _plain(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _text(value: object) -> str:
    return _plain(value).lower()
