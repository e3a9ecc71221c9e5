"""The values of large answers, and what they become in a format, by column. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from exacell.cellcli.rows import UNIT, Columns, LargeRows
from exacell.cellcli.typed import METRIC_VALUES, kind_of, known_unit, metric_value, typed_value
from exacell.output.memo import Memo

Field = Callable[[str, Any], str]
"""Makes the field of an attribute from its name and its value."""


def value_of(rows: LargeRows, key: str, text: str) -> Any:
    """Return the value of an attribute from its text, as :func:`exacell.cellcli.typed.values` gives it."""
    if not rows.object_type:
        return text
    text = text.strip()
    if key in METRIC_VALUES and text:
        return metric_value(text)[0]
    return typed_value(text, kind_of(rows.object_type, key))


def is_exact(text: str) -> bool:
    """Return whether a text is a number as Python itself writes a float, so that it stands for itself in every format."""
    if not text or not text[-1].isdigit():
        return False
    try:
        return repr(float(text)) == text
    except ValueError:
        return False


def unit_maker(rows: LargeRows, field: Field) -> Callable[[Columns], Sequence[str]]:
    """Return what makes the units: of the first value that a row has, or of the metric where that is printed without one."""
    places = [place for place, name in enumerate(rows.names) if name in METRIC_VALUES]
    named = rows.names.index("name") if "name" in rows.names else None
    printed = Memo(lambda text: metric_value(text.strip())[1] if text.strip() else None)
    known = Memo(lambda name: field(UNIT, known_unit(name.strip())))
    nowhere, nothing = field(UNIT, ""), field(UNIT, None)
    made = Memo(lambda unit: field(UNIT, unit))

    def make(columns: Columns) -> Sequence[str]:
        by_name = [nowhere] * len(columns[0]) if named is None else list(map(known.__getitem__, columns[named]))
        if all(columns[places[0]]) and not any(blank in "\n".join(columns[places[0]]) for blank in (" ", "\t", "\r")):
            return by_name  # A unit stands behind a blank.
        units = list(map(printed.__getitem__, columns[places[0]]))
        for place in places[1:]:
            units = [
                unit if unit is not None else printed[text] for unit, text in zip(units, columns[place], strict=True)
            ]
        if set(units) == {""}:
            return by_name
        return [
            made[unit] if unit else of_name if unit is not None else nothing
            for unit, of_name in zip(units, by_name, strict=True)
        ]

    return make
