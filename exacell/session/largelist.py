"""Handle LIST answers that are too large for memory: they stay on disk and are read whenever their rows are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from exacell.cellcli.pieces import Pieces, XmlPieces, cut, holds, look_through, text_blocks, text_of
from exacell.cellcli.reply import spelled
from exacell.cellcli.rows import LargeRows, Part
from exacell.core.errors import ReplyError
from exacell.transport.base import Reply

LARGE = 16 << 20
"""If all answers together have at most so many bytes, they are read into memory."""


FEW, FEW_LARGE = 100_000, 128 << 20
"""Lines and bytes up to which larger answers are read into memory too: so many rows can still be folded."""


def taken_in(replies: Iterable[Reply]) -> list[Reply]:
    """Return the replies with their answers in memory, or unchanged if all answers together are large."""
    found = list(replies)
    whole = sum(reply.large.size if reply.large is not None else len(reply.stdout) for reply in found)
    if whole <= LARGE or (whole <= FEW_LARGE and _few_lines(found)):
        return [in_memory(reply) for reply in found]
    return found


def _few_lines(replies: Iterable[Reply]) -> bool:
    lines = 0
    for reply in replies:
        for piece in pieces_of(reply)():
            lines += piece.count(b"\n")
            if lines > FEW:
                return False
    return True


def in_memory(reply: Reply) -> Reply:
    """Return a reply with its answer in memory, as text."""
    return reply if reply.large is None else replace(reply, stdout=reply.large.text, large=None)


def pieces_of(reply: Reply) -> Pieces:
    """Return a function that reads an answer in pieces, from memory or from disk."""
    return reply.large.pieces if reply.large is not None else lambda: iter([reply.stdout.encode("utf-8", "replace")])


def lines_of(reply: Reply) -> Callable[[], Iterator[str]]:
    """Return a function that yields an answer in pieces; each piece ends at the end of a line."""
    return lambda: map(text_of, cut(pieces_of(reply)(), b"\n", 1))


def wrong_with(reply: Reply, *, indents: bool) -> tuple[str, str, str]:
    """Return the errors in a large answer, a line that doesn't belong to an answer, and the last line if it has no end.

    Each of the three is empty if there is none.
    """
    try:
        found = look_through(pieces_of(reply), indents=indents)
    except ReplyError as error:
        return error.message, "", ""
    return "; ".join(f"{one.code}: {one.message}" for one in found.errors), found.stray, found.cut


def rows_of(replies: Iterable[Reply], columns: Sequence[str], object_type: str, *, typed: bool) -> LargeRows:
    """Return the rows of the cells' answers to a LIST with those columns.

    Args:
        typed: convert the texts to the types of the object's attributes.
    """
    names = spelled(columns, object_type)
    parts = [Part(reply.target, partial(text_blocks, pieces_of(reply), columns, object_type)) for reply in replies]
    return LargeRows(names, parts, object_type=object_type if typed else "")


def xml_rows(reply: Reply, object_type: str) -> LargeRows:
    """Return the typed rows of one cell's answer in XML.

    Raises:
        ReplyError: the cell reports an error, or the document is not complete.
    """
    if holds(pieces_of(reply), b"CELL-"):
        wrong, *_ = wrong_with(reply, indents=False)
        if wrong:
            raise ReplyError(wrong)
    document = XmlPieces(pieces_of(reply))
    names = document.names
    return LargeRows(names, [Part(reply.target, partial(document.blocks, names))], object_type=object_type)
