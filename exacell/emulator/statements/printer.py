"""Prints lists of objects byte for byte in CellCLI's layouts: columns, DETAIL, DESCRIBE and XML.

A row of columns begins with a TAB and a blank. Columns are as wide as their widest value, with a TAB and a blank between
them; an empty column has one blank, and the last column is not padded. DETAIL pads labels to 19 characters. Source: reference
cellcli.md 3.1.
"""

from __future__ import annotations

import json as _json
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent
from xml.sax.saxutils import escape, quoteattr

from exacell.emulator.basics.clock import banner_time
from exacell.emulator.basics.schema import Attribute, ObjectType, Release
from exacell.emulator.grammar.values import Lines, Metric, Row, Time, Value, quoted, text_of, xml_of

_LEAD = "\t "


@dataclass(frozen=True, kw_only=True)
class Format:
    """The form of lists in a session: columns and DETAIL, XML or JSON, and whether dates have the host's form."""

    xml: bool = False
    json: bool = False
    local_dates: bool = False


_LABEL_WIDTH = 19
_VALUE_COLUMN = 33


def _cell_text(attribute: Attribute, value: Value, largest_suffix: str) -> str:
    text = text_of(value, largest_suffix=largest_suffix)
    return quoted(text) if attribute.quoted and not isinstance(value, tuple) else text


def columns(table: Sequence[Sequence[str]]) -> str:
    """Return rows with the same number of texts as aligned lines; empty without rows."""
    widths = [max(1, *map(len, column)) for column in zip(*table, strict=True)]
    return rows_in(table, widths)


def rows_in(table: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    """Return rows of texts as lines with columns of these widths."""
    return "".join([_row(row, widths) for row in table])


def table(rows: Sequence[Row], attributes: Sequence[Attribute], *, largest_suffix: str = "T") -> list[list[str]]:
    """Return the attributes as texts, one list for each row."""
    return [[_cell_text(a, row.get(a.name), largest_suffix) for a in attributes] for row in rows]


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = [text.ljust(width) for text, width in zip(row[:-1], widths, strict=False)]
    return _LEAD + _LEAD.join([*padded, row[-1]]) + "\n"


def plain(rows: Sequence[Row], attributes: Sequence[Attribute], *, largest_suffix: str = "T") -> str:
    """Return LIST's columns without a header line."""
    return columns(table(rows, attributes, largest_suffix=largest_suffix))


def detail(rows: Sequence[Row], attributes: Sequence[Attribute], *, largest_suffix: str = "T") -> str:
    """Return LIST … DETAIL: one attribute a line, an empty line between objects.

    Attributes that a row does not have at all are left out; attributes without a value are printed with an empty value.
    """
    return "\n".join(_one_detail(row, attributes, largest_suffix) for row in rows)


def _one_detail(row: Row, attributes: Sequence[Attribute], largest_suffix: str) -> str:
    lines: list[str] = []
    for attribute in attributes:
        if attribute.name not in row:
            continue
        value = row[attribute.name]
        if isinstance(value, Lines) and value.lines:
            first, *others = value.lines
        else:
            first, others = _cell_text(attribute, value, largest_suffix), []
        label = f"{attribute.name}:".ljust(_LABEL_WIDTH)
        lines.append(f"{_LEAD}{label}{_LEAD}{first}\n")
        lines.extend(" " * _VALUE_COLUMN + other + "\n" for other in others)
    return "".join(lines)


def describe(object_type: ObjectType, release: Release) -> str:
    """Return the output of DESCRIBE: names, followed by ``modifiable`` or ``hidden``."""
    rows = []
    for attribute in object_type.attributes_in(release):
        if not attribute.described_in(release):
            continue
        words = ["modifiable"] if attribute.described_modifiable(release) else []
        words += ["hidden"] if attribute.hidden else []
        rows.append((attribute.name, ",".join(words)))
    return columns(rows)


def xml(
    rows: Sequence[Row],
    attributes: Sequence[Attribute],
    object_type: ObjectType,
    *,
    cell: str,
    oss_start: float,
) -> str:
    """Return one XML document; ``oss_start`` is the epoch time at which CELLSRV started."""
    return xml_head(cell=cell, oss_start=oss_start) + xml_objects(rows, attributes, object_type) + XML_END


XML_END = "</cli-output>\n"


def xml_head(*, cell: str, oss_start: float) -> str:
    """Return the beginning of an XML document."""
    return (
        '<?xml version="1.0" encoding="utf-8" ?>\n<cli-output>\n'
        f'<context cell={quoteattr(cell)} realm="" ossStartTimestamp="{int(oss_start * 1000)}" '
        'iormResetTimestamp="0"/>\n'
    )


def xml_objects(rows: Sequence[Row], attributes: Sequence[Attribute], object_type: ObjectType) -> str:
    """Return the elements of objects in an XML document."""
    parts: list[str] = []
    tags = [(a.name, f"<{a.name}>", f"</{a.name}>\n") for a in attributes]
    for row in rows:
        fields = [f"{begin}{escape(xml_of(row[name]))}{end}" for name, begin, end in tags if name in row]
        parts.append(f"<{object_type.element}> {''.join(fields)}</{object_type.element}>\n")
    return "".join(parts)


def json(rows: Sequence[Row], attributes: Sequence[Attribute], object_type: ObjectType, *, cell: str) -> str:
    """Return one JSON document. Its form is made up after that of XML: the form of real cells is not published."""
    objects = [{a.name: _json_value(row[a.name]) for a in attributes if a.name in row} for row in rows]
    return _json.dumps({"context": {"cell": cell}, object_type.element: objects}, indent=2) + "\n"


def json_frame(element: str, *, cell: str) -> tuple[str, str]:
    """Return the text before and the text after the objects of a JSON document."""
    head, _, _ = json_empty(element, cell=cell).rpartition("[]")
    return f"{head}[\n", "\n  ]\n}\n"


def json_empty(element: str, *, cell: str) -> str:
    """Return a JSON document without objects."""
    return _json.dumps({"context": {"cell": cell}, element: []}, indent=2) + "\n"


def json_objects(rows: Sequence[Row], attributes: Sequence[Attribute]) -> list[str]:
    """Return the objects of a JSON document as texts, to be joined with a comma and a newline."""
    objects = ({a.name: _json_value(row[a.name]) for a in attributes if a.name in row} for row in rows)
    return [indent(_json.dumps(one, indent=2), "    ") for one in objects]


def _json_value(value: Value) -> object:
    match value:
        case bool() | int() | float() | None:
            return value
        case Metric(number, _):
            return number
        case tuple():
            return list(value)
        case _:
            return xml_of(value)


def local_dates(rows: Sequence[Row]) -> list[Row]:
    """Return rows with their times in the form of the host's locale, which is the C locale on cells."""
    return [{n: banner_time(v.moment) if isinstance(v, Time) else v for n, v in row.items()} for row in rows]
