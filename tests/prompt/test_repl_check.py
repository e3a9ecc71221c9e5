"""What a line means while it is typed."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from exacell.language.line import parse_line
from exacell.prompt.check import (
    flatten,
    live_error,
    segments,
    verdicts,
)
from exacell.prompt.lexer import classify


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("list cell", ["list cell"]),
        ("list cell; racks", ["list cell", "racks"]),
        ("list cell\nracks", ["list cell", "racks"]),
        ("list griddisk -\nattributes name", ["list griddisk   attributes name"]),
        ("alter iormplan dbplan=((name=a,\n share=1))", ["alter iormplan dbplan=((name=a,  share=1))"]),
        ("", []),
    ],
)
def test_segments(text: str, statements: list[str]) -> None:
    """A buffer is cut into its statements; continued lines are one, of the same length."""
    found = segments(text)
    assert [segment.text for segment in found] == statements
    assert all(flatten(text)[s.start : s.start + len(s.text)] == s.text for s in found)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("list flashcach detail", "flashcach"),
        ("racks; list flashcach detail", "flashcach"),
        ("list griddisk -\nattributes nmae, size", "nmae"),
        ("lst cell", "lst"),
        ("resize flashcache size=9z -y", "9z"),
    ],
)
def test_the_wrong_word_is_known_while_the_rest_is_typed(text: str, wrong: str) -> None:
    """With the cursor at the end, the place of the wrong word is exact, also in later statements and lines."""
    found = live_error(text, len(text))
    assert found is not None and text[found[0] : found[1]] == wrong


@pytest.mark.parametrize(
    "text", ["list flashcach", "lis", "list flashcache attributes nam", "resize flashcache", "list"]
)
def test_the_word_being_typed_is_not_wrong_yet(text: str) -> None:
    """What may still become right is not marked while the cursor is there."""
    assert live_error(text, len(text)) is None


@given(st.text(alphabet="list cel;'\"()=-\n |>@#!", max_size=40), st.integers(0, 40))
def test_whatever_is_typed_can_be_judged_and_coloured(text: str, cursor: int) -> None:
    """No input breaks the check, and the coloured pieces of a line are the line."""
    live_error(text, min(cursor, len(text)))
    for verdict in verdicts(text):
        assert verdict.segment.text in flatten(text)
    for line in text.split("\n"):
        assert "".join(piece for _, piece in classify(line)) == line


def test_words_have_the_classes_of_their_meaning() -> None:
    """Verbs, objects, attributes, keywords, sizes, strings and flags are told apart."""
    found = {
        piece: kind
        for kind, piece in classify("list griddisk attributes name where size>1G and comment='x y' --format=json")
    }
    assert found["list"] == "verb" and found["griddisk"] == "object" and found["name"] == "attribute"
    assert found["where"] == "keyword" and found["1G"] == "number" and found["'x y'"] == "string"
    assert found["--format="] == "flag"


def test_a_line_is_coloured_as_it_is_cut() -> None:
    """What is coloured as a string is what the line has in quotes; an apostrophe inside a word begins none."""
    assert not [piece for kind, piece in classify("alter cell comment=don't; list cell") if kind == "string"]
    assert [piece for kind, piece in classify("alter cell comment='it; list") if kind == "string"] == ["'it; list"]


def test_segments_are_what_runs() -> None:
    """Each segment parses by itself to what the line meant."""
    line = parse_line(segments("list griddisk -\n where size > 1G")[0].text)
    assert line is not None and line.cellcli is not None
