"""Read the output of CellCLI as records: one dict of attribute → text for each object.

The input is the output of one statement, with or without its leading TABs (dcli strips lines on both sides); blank lines and
carriage returns may be anywhere. Errors and success lines are left to :func:`errors` and :func:`successes`. If the rows still
have their leading TAB, lines without one (a login banner, a shell's error) are not data.

Layouts, with ``→`` for a TAB: rows ``→ a   → b``; DETAIL ``→ label:   → value``, objects separated by an empty line,
further values of an attribute below the first; DESCRIBE ``→ name   → modifiable``. Source: reference cellcli.md 3.1
(raw captures of published sessions); Oracle SAGUG, describe.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from exacell.cellcli.alertrows import OBJECT as ALERTS, alert_rows, of_several_lines
from exacell.cellcli.messages import CellError, Success, errors, is_message, successes
from exacell.cellcli.schema import ObjectType, Value, find_object, typed_value, values
from exacell.cellcli.tables import Table
from exacell.core.errors import ReplyError
from exacell.core.patterns import pattern
from exacell.core.values import dataclass

OWN_TEXT = "-o raw shows the cell's own text"
"""The hint for an answer that can't be read."""

__all__ = [
    "CellError",
    "Described",
    "Record",
    "Success",
    "Value",
    "XmlDocument",
    "cut_line",
    "cut_off",
    "errors",
    "plain_columns",
    "read_columns",
    "read_describe",
    "read_detail",
    "read_xml",
    "read_xml_documents",
    "spelled",
    "stray_line",
    "successes",
    "typed_value",
    "values",
]

Record = dict[str, str]
"""Attribute in CellCLI's spelling → its text without quotes; empty if the cell printed nothing."""

_APART = pattern(r'"[^"]*"|\S+(?: \S+)*')
_LABEL = pattern(r"(?P<label>[A-Za-z][\w.]*):(?P<pad>[ ]*\t|[ ]*$|[ ]+)(?P<value>.*)")
_LABEL_COLUMN = pattern(r"\t {0,2}(?=\S)")
_DECLARATION = pattern(r"<\?xml\b")
_TEXT = bytes(byte for byte in range(256) if byte in b"\t\n\r" or (byte >= 0x20 and byte != 0x7F))
"""The bytes that a text in UTF-8 may have: all but control characters, TAB and the ends of lines excepted."""
_SHOWN = 60
_PROPERTIES = frozenset({"modifiable", "hidden"})


def read_columns(text: str, columns: Sequence[str], object_type: str = "") -> list[Record]:
    """Return one record for each row of a LIST with those columns.

    Args:
        columns: the attributes that were asked for, or the object's default columns. Empty columns that are missing at the end of
            a row are added; further values of a row are kept as ``column4``, ``column5`` …
        object_type: for the spelling of the attributes; empty keeps them as given.
    """
    names = spelled(columns, object_type)
    if of_several_lines(object_type, names):
        return [_record(cells, names) for cells in alert_rows(text.replace("\r", "").split("\n"), names)]
    plain = plain_columns(text, len(names))
    if plain is not None:
        return [dict(zip(names, row, strict=True)) for row in zip(*plain, strict=True)]
    return [_record(cells, names) for cells in _rows(text, len(names))]


def plain_columns(text: str, count: int) -> tuple[list[str], ...] | None:
    """Return an answer by column, then by row, if each of its rows has ``count`` columns and none is quoted; None for any
    other answer.

    Nearly every answer is like this, and this function takes a fifth of the time.
    """
    if not count or not text.startswith("\t") or any(sign in text for sign in ('"', "\r", "^", "CELL-", "DBM-")):
        return None
    body = text.rstrip("\n")
    rows = body.split("\n")
    cells = body.replace("\n", "\t").split("\t")
    # Each row must have as many TABs as columns, and nothing before the first.
    if any(cells[:: count + 1]) or {row.count("\t") for row in rows} != {count}:
        return None
    found = tuple([cell.strip() for cell in cells[place :: count + 1]] for place in range(1, count + 1))
    return found if all(found[0]) else None


def read_describe(text: str) -> list[Described]:
    """Return one entry for each attribute that DESCRIBE prints, in order."""
    return [_described(cells) for cells in _rows(text, 2)]


@dataclass(frozen=True, kw_only=True)
class Described:
    """One row of DESCRIBE; ``description`` is empty if the release prints none."""

    name: str
    modifiable: bool = False
    hidden: bool = False
    description: str = ""


def read_detail(text: str, object_type: str = "") -> list[Record]:
    """Return one record for each object of a LIST … DETAIL, in order.

    An attribute with several values has one per line (``dbPlan``, ``snmpSubscriber``). An object begins after an empty line, or
    when an attribute is repeated.

    Args:
        object_type: its attribute names distinguish labels from further values if indentation was lost.
    """
    found = find_object(object_type)
    lines = list(_lines(text))
    indented = any(line.startswith("\t") for line in lines)
    records: list[Record] = []
    current: Record = {}
    last = ""
    for line in lines:
        if not line.strip():
            last = "" if current else last
            continue
        label = _label(line, found, indented=indented)
        if label is None:
            if last and (not indented or line.startswith(("\t", " "))):
                current[last] = f"{current[last]}\n{_unquoted(line)}" if current[last] else _unquoted(line)
            continue
        name, value = label
        if not last or name in current:
            current = {}
            records.append(current)
        current[name] = value
        last = name
    # A quoted text of several lines still has its quotes.
    return [{name: _unquoted(value) if "\n" in value else value for name, value in row.items()} for row in records]


@dataclass(frozen=True, kw_only=True)
class XmlDocument:
    """One statement's answer in XML: the attributes of ``context`` (cell, realm, …) and the records."""

    context: Mapping[str, str]
    records: Sequence[Record]


def read_xml(text: str) -> list[Record]:
    """Return the records of all XML documents in ``text``, in order. Times and numbers are as in the document.

    Raises:
        ReplyError: a document is cut short or is not XML.
    """
    return [record for document in read_xml_documents(text) for record in document.records]


def read_xml_documents(text: str) -> list[XmlDocument]:
    """Return the XML documents in ``text``, one per statement. Text around them is left out.

    A statement that failed has no document, only its error in the text.

    Raises:
        ReplyError: a document is cut short or is not XML, or the text has neither a document nor a message.
    """
    starts = [match.start() for match in _DECLARATION.finditer(text)]
    if not starts:
        stray = _printable(next((line.strip() for line in _lines(text) if line.strip()), ""))
        if stray:
            raise ReplyError(f"the cell was asked for XML and answered '{stray}'", hint=OWN_TEXT)
        return []
    return [_document(text[start:end]) for start, end in pairwise([*starts, len(text)])]


def stray_line(text: str, *, indents: bool = True) -> str:
    """Return the beginning of a line which shows that ``text`` is not CellCLI's answer to LIST or DESCRIBE; empty if it is.

    No answer has control characters other than TAB, and an answer with more than messages has rows with TABs.

    Args:
        indents: whether the text still has its TABs; if not, only control characters can be detected.
    """
    # It is ten times faster to remove all allowed characters than to search for the others.
    if odd := text.encode("utf-8", "surrogatepass").translate(None, _TEXT):
        first = text.index(chr(odd[0]))
        return _printable(text[text.rfind("\n", 0, first) + 1 :].partition("\n")[0])
    if not indents or "\t" in text:
        return ""
    return _printable(next((line.strip() for line in _lines(text) if line.strip()), ""))


def cut_line(text: str) -> str:
    """Return the beginning of the last line of CellCLI's output if that line is incomplete: the answer was cut off, and the
    line may end within a value. Empty if the output is complete, which can't be known for sure without a closing mark.
    """
    return "" if not text or text.endswith("\n") else _printable(text.rpartition("\n")[2]) or " "


def cut_off(line: str) -> str:
    """Return the message about an answer whose last line is incomplete; ``line`` comes from :func:`cut_line`."""
    return f"its answer was cut off: the last line, '{line.strip()}', is not complete; nothing of the answer is used"


def _printable(line: str) -> str:
    """Return the beginning of a line with unprintable characters escaped."""
    start = line.strip(" \t\r")[:_SHOWN]
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in start)


def _lines(text: str) -> Iterator[str]:
    yield from (line for line in text.replace("\r", "").split("\n") if not is_message(line))


def _rows(text: str, expected: int) -> Iterator[list[str]]:
    # A row whose columns are all empty still counts: it has its TABs.
    lines = [line for line in _lines(text) if line.strip() or line.count("\t") == expected]
    tabbed = any(line.startswith("\t") for line in lines)
    row = ""
    for line in lines:
        if not tabbed:
            yield _cells(line, expected)
        elif not line.startswith("\t") and row.count('"') % 2:
            row = f"{row}\n{line}"
        elif "\t" in line:
            if row:
                yield _cells(row, expected)
            row = line
    if row:
        yield _cells(row, expected)


def _cells(line: str, expected: int) -> list[str]:
    if line.startswith("\t"):
        cells = line[1:].split("\t")
    elif "\t" in line:
        cells = line.split("\t")
    elif expected == 1:
        cells = [line]
    else:
        cells = _APART.findall(line)
    return [cell.strip() for cell in cells] if '"' not in line else [_unquoted(cell) for cell in _joined(cells)]


def _joined(cells: Iterable[str]) -> Iterator[str]:
    """Yield the cells, with the parts of a quoted text that contains TABs joined again."""
    pending = ""
    for cell in cells:
        pending = f"{pending}\t{cell}" if pending else cell
        if pending.lstrip().startswith('"') and pending.count('"') == 1:
            continue
        yield pending
        pending = ""
    if pending:
        yield from pending.split("\t")


def _unquoted(text: str) -> str:
    stripped = text.strip()
    if len(stripped) >= 2 and stripped.startswith('"') and stripped.endswith('"'):
        return stripped[1:-1]
    return stripped


def _record(cells: Sequence[str], names: Sequence[str]) -> Record:
    record = {name: cells[index] if index < len(cells) else "" for index, name in enumerate(names)}
    record |= {f"column{index + 1}": cells[index] for index in range(len(names), len(cells)) if cells[index]}
    return record


def spelled(columns: Sequence[str], object_type: str) -> list[str]:
    """Return the attributes ``columns`` in CellCLI's spelling for ``object_type``; unchanged for an unknown type."""
    found = find_object(object_type)
    return [found.canonical(column) if found else column for column in columns]


def _described(cells: Sequence[str]) -> Described:
    name, *rest = cells
    properties: set[str] = set()
    description: list[str] = []
    for cell in filter(None, rest):
        words = set(re.split(r"[\s,]+", cell.lower()))
        if words <= _PROPERTIES:
            properties |= words
        else:
            description.append(cell)
    return Described(
        name=name,
        modifiable="modifiable" in properties,
        hidden="hidden" in properties,
        description=" ".join(description),
    )


def _label(line: str, found: ObjectType | None, *, indented: bool) -> tuple[str, str] | None:
    """Return the attribute and the value of a line that begins with a label; None for a line that continues a value."""
    if indented:
        column = _LABEL_COLUMN.match(line)
        if column is None:
            return None
        line = line[column.end() :]
    match = _LABEL.fullmatch(line.strip())
    if match is None:
        return None
    name = match["label"]
    known = found is not None and found.attribute(name) is not None
    if indented and found is not None and found.name == ALERTS and "\t" not in line.partition(":")[2]:
        return None  # It is part of a message: the cell prints a TAB after each label.
    # A label that the schema doesn't know still has a TAB after it, or nothing but the label in its column.
    if not known and "\t" not in match["pad"] and not (indented and not match["value"]):
        return None
    return (found.canonical(name) if found else name), _unquoted(match["value"])


def _document(text: str) -> XmlDocument:
    from exacell.cellcli.xmlshape import plain_document  # only needed for XML

    plain = plain_document(text)
    if plain is not None:
        return XmlDocument(context=plain.context, records=Table(plain.names, plain.columns))
    from xml.etree import ElementTree  # only for documents whose records differ

    end = text.rfind("</cli-output>")
    closed = text[: end + len("</cli-output>")] if end >= 0 else text.rstrip()
    # The text is decoded already; the encoding that it declares does not matter.
    parser = ElementTree.XMLParser(encoding="utf-8")
    try:
        root = ElementTree.fromstring(closed.encode(), parser=parser)
    except ElementTree.ParseError as error:
        raise ReplyError(f"the cell's XML answer cannot be read: {error}", hint=OWN_TEXT) from error
    context: dict[str, str] = {}
    records: list[Record] = []
    for element in root:
        if element.tag == "context":
            context.update(element.attrib)
        else:
            records.append({child.tag: "".join(child.itertext()).strip() for child in element})
    return XmlDocument(context=context, records=tuple(records))
