"""Cutting lines into tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from exacell.cellcli.tokens import Token, TokenKind, is_word, tokenize
from exacell.core.errors import StatementError
from tests.support.every import every


def texts(line: str) -> list[str]:
    return [token.text for token in tokenize(line)]


@every(
    [
        ("list cell", ["list", "cell"]),
        ("a!=b ! = c>=d", ["a", "!=", "b", "!", "=", "c", ">=", "d"]),
        ("x=(a, 'b c');y|z", ["x", "=", "(", "a", ",", "'b c'", ")", ";", "y", "|", "z"]),
        (
            "20:3 CD_00_a-b /dev/sda 2021-06-09T14:05:11-07:00",
            ["20:3", "CD_00_a-b", "/dev/sda", "2021-06-09T14:05:11-07:00"],
        ),
        ("resize x --rolling=2 -y", ["resize", "x", "--rolling", "=", "2", "-y"]),
        ("v$log $size ${a}b @f #", ["v$log", "$size", "${a}b", "@f", "#"]),
        ("list cell -- don't", ["list", "cell"]),
        ("--rolling is a comment here\nlist", ["list"]),
        ("x -\n --rolling y", ["x", "--rolling", "y"]),
        ("a-\r\nb -", ["a", "b", "-"]),
        ("x --", ["x"]),
        ("a--b --c", ["a--b", "--c"]),
        ("\t \r\n", []),
    ]
)
def test_lines_are_cut_by_cellclis_rules(line: str, expected: list[str]) -> None:
    """Words, strings, operators, comments and joined lines are told apart as CellCLI does."""
    assert texts(line) == expected


def test_a_string_keeps_the_other_quote_and_an_empty_one_is_a_token() -> None:
    """Quotes are taken off once, and '' is a value."""
    first, second = tokenize("""'a "b" -- c' "" """)
    assert (first.value, second.value, second.kind) == ('a "b" -- c', "", TokenKind.STRING)


@pytest.mark.parametrize("line", ["list 'cell", 'a="b'])
def test_an_open_quote_is_pointed_at(line: str) -> None:
    """The error covers everything from the quote that is not closed."""
    with pytest.raises(StatementError) as caught:
        tokenize(line)
    assert caught.value.start == min(line.find(q) for q in "'\"" if q in line) and caught.value.end == len(line)


LINES = st.text(alphabet="ab -'\"\n\r\t=!<>(),;|$--", max_size=40)


@given(LINES)
def test_nothing_is_lost(line: str) -> None:
    """Tokens carry their source, in order, and between them are blanks, joined lines and comments only."""
    try:
        tokens = tokenize(line)
    except StatementError:
        return
    position = 0
    for token in tokens:
        assert line[token.start : token.end] == token.text and token.start >= position
        check_gap(line[position : token.start])
        position = token.end
    check_gap(line[position:])


def check_gap(gap: str) -> None:
    assert gap.strip(" \t\r\n") == "" or "--" in gap or ("-" in gap and "\n" in gap)


@given(LINES)
def test_a_token_alone_is_cut_the_same_way(line: str) -> None:
    """The text of a token, cut by itself, is that token, unless it would begin a comment there."""
    try:
        tokens = tokenize(line)
    except StatementError:
        return
    for token in tokens:
        if not token.text.startswith("--"):
            (alone,) = tokenize(token.text)
            assert (alone.kind, alone.value) == (token.kind, token.value)


@given(st.text(max_size=12))
def test_is_word_tells_what_needs_no_quotes(text: str) -> None:
    """A text is a word exactly when it comes back as one token from inside and from the end of a line."""
    try:
        cut: tuple[Token, ...] = tokenize(f"x {text}\ny")
    except StatementError:
        cut = ()
    one = len(cut) == 3 and cut[1].kind is TokenKind.WORD and cut[1].value == text
    if is_word(text):
        assert one
    elif one:
        assert text.startswith("--")
