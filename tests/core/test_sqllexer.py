"""SQL is cut into pieces, and nothing of it is lost."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from exacell.core.sqllexer import Kind, pieces_of

_PARTS = st.sampled_from(
    ["select", "'a''b'", "q'[it's]'", '"N n"', "--c", "/* k */", "/*", "'", "\n", " ", ";", "1.5", "é"]
)


@given(st.lists(_PARTS).map("".join) | st.text())
def test_the_pieces_joined_are_the_text(sql: str) -> None:
    """Whatever stands in a text, its pieces in order are that text, and none is empty."""
    pieces = list(pieces_of(sql))
    assert "".join(piece.text for piece in pieces) == sql and all(piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("sql", "kinds"),
    [
        ("a1$ = 'it''s'", [Kind.WORD, Kind.BLANK, Kind.SIGN, Kind.BLANK, Kind.TEXT]),
        ("q'[it's -- x]'", [Kind.TEXT]),
        ("Nq'!a'b!'||\"X y\"", [Kind.TEXT, Kind.SIGN, Kind.SIGN, Kind.NAME]),
        ("10g", [Kind.NUMBER, Kind.WORD]),
        ("1 --'\n/*'*/", [Kind.NUMBER, Kind.BLANK, Kind.COMMENT, Kind.BLANK, Kind.COMMENT]),
        ("xq'[a]'", [Kind.WORD, Kind.TEXT]),
        ("'a", [Kind.SIGN, Kind.WORD]),
        ("/* a", [Kind.SIGN, Kind.SIGN, Kind.BLANK, Kind.WORD]),
    ],
)
def test_each_piece_has_its_kind(sql: str, kinds: list[Kind]) -> None:
    """A text and a comment are one piece whatever stands in them; an open one is cut as if its sign were not there."""
    assert [piece.kind for piece in pieces_of(sql)] == kinds
