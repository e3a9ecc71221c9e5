"""Cut SQL into its pieces: words, numbers, texts, quoted names, signs, blanks and comments. Pure.

The pieces joined are the text: nothing is lost, and no text is refused. A quote or a comment that is never closed is a sign, and
what follows it is cut as if it were not there; who needs a whole statement refuses that. What a guard reads of a query is a much
smaller language, with its own tokens: ``exacell/opaque/sqltokens.py``.

Source: Oracle SQL Language Reference, Literals, Database Object Names and Qualifiers, Comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from exacell.core.patterns import pattern


class Kind(StrEnum):
    """The kind of a piece."""

    BLANK = "blank"
    COMMENT = "comment"
    TEXT = "text"
    NAME = "name"
    NUMBER = "number"
    WORD = "word"
    SIGN = "sign"


class Piece(NamedTuple):
    """A piece of SQL as it stands there: a TEXT with its quotes, N'...' and q'[...]' too; a NAME with its double quotes."""

    kind: Kind
    text: str

    @property
    def literal(self) -> bool:
        """Return whether it is in quotes, so that no word in it is a word of the statement."""
        return self.kind in (Kind.TEXT, Kind.NAME)


_PIECE = pattern(
    r"""(?P<blank>\s+)
    |(?P<comment>--[^\n]*|/\*.*?\*/)
    |(?P<text>[nN]?[qQ]'(?:\[.*?\]'|\{.*?\}'|<.*?>'|\(.*?\)'|(\S).*?\4')|'(?:[^']|'')*')
    |(?P<name>"[^"]*")
    |(?P<number>\d+)
    |(?P<word>[A-Za-z][\w$#]*)
    |(?P<sign>.)""",
    re.DOTALL | re.VERBOSE,
)


def pieces_of(sql: str) -> Iterator[Piece]:
    """Yield the pieces of SQL in order."""
    for match in _PIECE.finditer(sql):
        yield Piece(Kind(str(match.lastgroup)), match[0])
