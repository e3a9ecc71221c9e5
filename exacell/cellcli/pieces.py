"""Read answers that are too large to be held as one text: pieces of bytes in, rows by column out. Pure.

Rows are read as :mod:`exacell.cellcli.reply` reads them, one piece of whole rows at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from exacell.cellcli.messages import CellError, errors
from exacell.cellcli.reply import OWN_TEXT, Record, cut_line, plain_columns, read_columns, read_xml, spelled, stray_line
from exacell.cellcli.tables import Columns
from exacell.core.collecting import without_collecting
from exacell.core.errors import ReplyError

Pieces = Callable[[], Iterator[bytes]]
"""Reads an answer from its beginning; the pieces may be cut anywhere."""

LONGEST_ROW = 64 << 20
"""Bytes after which an answer without the beginning of another row is refused."""

_CONTROL = bytes(sign for sign in range(0x20) if sign not in b"\t\n\r") + b"\x7f"
_TEXT = bytes(sign for sign in range(256) if sign not in _CONTROL)
_ROW_BEGINS = b"\n\t"


def cut(pieces: Iterable[bytes], before: bytes, after: int) -> Iterator[bytes]:
    """Yield an answer in pieces that end where one row ends and another begins.

    Args:
        before: the bytes between two rows.
        after: how many of these bytes belong to the row that ends.

    Raises:
        ReplyError: a row is longer than LONGEST_ROW.
    """
    kept = bytearray()
    for piece in pieces:
        start = max(0, len(kept) - len(before))
        kept += piece
        end = kept.rfind(before, start)
        if end >= 0:
            yield bytes(kept[: end + after])
            del kept[: end + after]
        elif len(kept) > LONGEST_ROW:
            raise ReplyError(f"{len(kept):,} bytes were read without the end of a row", hint=OWN_TEXT)
    if kept:
        yield bytes(kept)


def text_of(piece: bytes) -> str:
    """Return a piece as text; bytes that are not UTF-8 become ``\\xNN``."""
    return piece.decode("utf-8", "backslashreplace")


def holds(pieces: Pieces, word: bytes) -> bool:
    """Return whether an answer contains a word, also across the border of two pieces."""
    before = b""
    for piece in pieces():
        if word in piece or word in before + piece[: len(word) - 1]:
            return True
        before = (before + piece[-len(word) :])[1 - len(word) :]
    return False


class Looked(NamedTuple):
    """The parts of a large answer besides its rows.

    Attributes:
        errors: errors of the cell.
        stray: the beginning of a line which shows that this is not an answer of CellCLI; empty if it is one.
        lines: number of lines.
        cut: the beginning of the last line if that line is incomplete; see :func:`exacell.cellcli.reply.cut_line`.
    """

    errors: tuple[CellError, ...]
    stray: str
    lines: int
    cut: str


def look_through(pieces: Pieces, *, indents: bool) -> Looked:
    """Return the parts of a plain answer besides its rows; see :func:`exacell.cellcli.reply.stray_line`.

    Raises:
        ReplyError: a line is longer than LONGEST_ROW.
    """
    found: list[CellError] = []
    tabs, stray, first, lines, last = False, "", "", 0, b""
    for piece in cut(pieces(), b"\n", 1):
        lines += piece.count(b"\n")
        if b"CELL-" in piece:
            found += errors(text_of(piece))
        tabs = tabs or b"\t" in piece
        if piece.translate(None, _TEXT) and not stray:
            stray = stray_line(text_of(piece), indents=False)
        first = first or text_of(next((line for line in piece.split(b"\n") if line.strip()), b""))
        last = piece
    stray = stray or (stray_line(first) if indents and not tabs else "")
    return Looked(tuple(found), stray, lines, cut_line(text_of(last[last.rfind(b"\n", 0, -1) + 1 :])))


def text_blocks(pieces: Pieces, columns: Sequence[str], object_type: str) -> Iterator[Columns]:
    """Yield the rows of a plain LIST by column, many at a time, as :func:`exacell.cellcli.reply.read_columns` reads them.

    If a row has more values than columns, the last column holds them all, separated by TABs: the rows before it were already
    yielded without a further column.
    """
    names = spelled(columns, object_type)
    for piece in cut(pieces(), _ROW_BEGINS, 1):
        text = text_of(piece)
        found = plain_columns(text, len(names))
        if found is None:
            records = read_columns(text, columns, object_type)
            found = tuple([record[name] for record in records] for name in names)
            more = [[value for key, value in record.items() if key not in names] for record in records]
            found[-1][:] = ["\t".join([last, *values]) for last, values in zip(found[-1], more, strict=True)]
        if found[0]:
            yield found


_END = "</cli-output>"
_BEGIN = re.compile(rb"<cli-output>\s*(?:<context\b[^>]*>\s*)?")
_BLANKS = "[ \t\n\r]*"
"""What may be between two elements; ``\\s`` also takes blanks that are text in XML, and a third longer."""
_CHILD = re.compile(r"<([\w.-]+)>[^<]*</\1>")


class XmlPieces:
    """The records of one large XML document, read in pieces; see :func:`exacell.cellcli.reply.read_xml`.

    Args:
        pieces: reads the document.

    Attributes:
        names: the attributes of its records, in order of first appearance.

    Raises:
        ReplyError: the answer is cut short, is not XML, or has more than one document.
    """

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._tag = ""
        self._shape: _Shape | None = None
        self._odd: set[int] = set()
        seen: dict[str, None] = {}
        for number, (shape, body) in enumerate(self._bodies(looked=False)):
            if shape is not None and shape.has_all_of(body):
                seen.update(dict.fromkeys(shape.names))
            else:
                self._odd.add(number)
                seen.update(dict.fromkeys(_by_tree(body)[0]))
        self.names = tuple(seen)

    def blocks(self, names: Sequence[str]) -> Iterator[Columns]:
        """Yield the records by column, many at a time; an attribute that a record does not have is an empty text."""
        for number, (shape, body) in enumerate(self._bodies(looked=True)):
            with without_collecting():  # Each record is a tuple for a moment: checking these would take longer.
                own, rows = _by_tree(body) if shape is None or number in self._odd else shape.read(body)
                columns = dict(zip(own, zip(*rows, strict=True), strict=True))
                absent = ("",) * len(rows)
                del rows
            if absent:
                yield tuple(columns.get(name, absent) for name in names)

    def _bodies(self, *, looked: bool) -> Iterator[tuple[_Shape | None, str]]:
        """Yield the text of many records at a time, with their shape if all look the same; the cuts are the same each time.

        Args:
            looked: whether the document was looked through before.
        """
        ended = False
        for text in self._texts(looked=looked):
            if ended and text.strip():
                raise ReplyError("the cell's XML answer has more text after its end", hint=OWN_TEXT)
            body, end, behind = text.partition(_END)
            if behind.strip():
                raise ReplyError("the cell's XML answer has more text after its end", hint=OWN_TEXT)
            ended = ended or bool(end)
            if body and not body.isspace():
                self._shape = self._shape or _Shape.of(self._tag, body)
                yield self._shape, body
        if not ended:
            raise ReplyError(f"the cell's XML answer is cut short: it has no {_END}", hint=OWN_TEXT)

    def _texts(self, *, looked: bool) -> Iterator[str]:
        """Yield the text after the document's beginning, cut after records."""
        pieces = self._pieces()
        head = bytearray()
        for piece in pieces:
            head += piece
            begun = _BEGIN.search(head)
            if (begun is not None and b">" in head[begun.end() :]) or len(head) > LONGEST_ROW:
                break
        begun = _BEGIN.search(head)
        if begun is None:
            raise ReplyError(
                f"the cell was asked for XML and answered '{bytes(head[:60]).decode('utf-8', 'replace')}'",
                hint=OWN_TEXT,
            )
        rest = bytes(head[begun.end() :])
        if not self._tag:
            first = re.match(rb"<([\w.-]+)>", rest)
            self._tag = first[1].decode() if first is not None else _END[2:-1]
        close = f"</{self._tag}>".encode()
        for piece in cut(chain([rest], pieces), close, len(close)):
            if not looked and piece.translate(None, _TEXT):
                raise ReplyError("the cell's XML answer cannot be read: it has control characters", hint=OWN_TEXT)
            yield text_of(piece)


class _Shape(NamedTuple):
    """The form of records that all have the same attributes in one order, without escapes in their texts.

    Attributes:
        names: the attributes, at least two.
        row: matches one record.
        rows: matches any number of such records, and nothing else.
    """

    names: tuple[str, ...]
    row: re.Pattern[str]
    rows: re.Pattern[str]

    @classmethod
    def of(cls, tag: str, text: str) -> _Shape | None:
        """Return the shape of the first record in a text; None if it can't be determined."""
        first = re.search(rf"<{re.escape(tag)}>(.*?)</{re.escape(tag)}>", text, re.DOTALL)
        names = tuple(_CHILD.findall(first[1])) if first is not None else ()
        if len(names) < 2 or len(set(names)) < len(names):
            return None

        def row(text: str) -> str:
            inner = _BLANKS.join(rf"<{re.escape(name)}>{text}</{re.escape(name)}>" for name in names)
            return rf"<{re.escape(tag)}>{_BLANKS}{inner}{_BLANKS}</{re.escape(tag)}>"

        # The pattern excludes only one character, which is faster than two: has_all_of looks for & separately.
        return cls(names, re.compile(row("([^<]*)")), re.compile(rf"{_BLANKS}(?:{row('[^<]*+')}{_BLANKS})*+"))

    def has_all_of(self, text: str) -> bool:
        """Return whether a text consists of such records only."""
        return "&" not in text and self.rows.fullmatch(text) is not None

    def read(self, text: str) -> tuple[tuple[str, ...], Sequence[tuple[str, ...]]]:
        """Return the attributes, and their texts for each record."""
        return self.names, self.row.findall(text)


def _by_tree(text: str) -> tuple[tuple[str, ...], Sequence[tuple[str, ...]]]:
    """Return attributes and texts of records that differ in form or have escapes in their texts."""
    records: list[Record] = read_xml(f'<?xml version="1.0"?><cli-output>{text}</cli-output>')
    names = tuple(dict.fromkeys(name for record in records for name in record))
    return names, [tuple(record.get(name, "") for name in names) for record in records]
