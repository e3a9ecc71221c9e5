"""Words of a line: quotes and parentheses keep blanks, places are true."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from exacell.core.errors import StatementError
from exacell.language.words import split_words, unquote
from tests.support.every import every

CASES: list[tuple[str, list[str]]] = [
    ("", []),
    ("  list   cell ", ["list", "cell"]),
    ("resize flashcache size = 288g", ["resize", "flashcache", "size=288g"]),
    ("size= 288g x", ["size=288g", "x"]),
    ("size =288g", ["size=288g"]),
    ("size='2 88g'", ["size='2 88g'"]),
    ("'a b' \"c d\"", ["a b", "c d"]),
    ('say "it\'s fine"', ["say", "it's fine"]),
    ("don't stop", ["don't", "stop"]),
    ("dbplan=((name=a, share=1),(name = b))", ["dbplan=((name=a, share=1),(name = b))"]),
    ("where size > 1G", ["where", "size", ">", "1G"]),
    ("a != b", ["a", "!=", "b"]),
    ("a >= b", ["a", ">=", "b"]),
    ("where name like 'FL.*'", ["where", "name", "like", "FL.*"]),
    ("--reason='because of x' -y", ["--reason='because of x'", "-y"]),
    ("ON (a, b not c) list", ["ON", "(a, b not c)", "list"]),
    (")) a", ["))", "a"]),
]


@every(CASES)
def test_words(text: str, values: list[str]) -> None:
    """Blanks separate words except in quotes and parentheses; an = joins its two sides."""
    assert [word.value for word in split_words(text)] == values


@pytest.mark.parametrize("text", [text for text, _ in CASES])
@pytest.mark.parametrize("offset", [0, 7])
def test_places(text: str, offset: int) -> None:
    """Each word's place is where it stands in the line."""
    for word in split_words(text, offset):
        piece = text[word.start - offset : word.end - offset]
        assert "".join(piece.split()) == "".join(word.raw.split())


def test_quoted_is_remembered() -> None:
    """A word that was in quotes says so, so that it is never a keyword."""
    assert [word.quoted for word in split_words("'flush' flashcache size='1g'")] == [True, False, True]


@pytest.mark.parametrize(("text", "start"), [("list 'cell", 5), ('"', 0), ("a='b c", 2)])
def test_open_quote(text: str, start: int) -> None:
    """A quote that is never closed is an error that underlines from the quote to the end."""
    with pytest.raises(StatementError, match="never closed") as caught:
        split_words(text)
    assert (caught.value.start, caught.value.end) == (start, len(text))


@given(
    st.lists(
        st.text(alphabet="abcXYZ019_.:/-+*,[]@%", min_size=1, max_size=8).filter(lambda w: "=" not in w), max_size=6
    )
)
def test_plain_words_survive(words: list[str]) -> None:
    """Words without blanks, quotes, parentheses and = come back as they were."""
    assert [word.value for word in split_words(" ".join(words))] == words


@given(st.text(alphabet="ab '\"()=-;|>", max_size=14))
def test_splitting_never_loses_text(text: str) -> None:
    """Every character but blanks is in exactly one word."""
    try:
        words = split_words(text)
    except StatementError:
        return
    assert "".join("".join(word.raw.split()) for word in words) == "".join(text.split())


@pytest.mark.parametrize(("raw", "value"), [("'a'", "a"), ("'a\"", "'a\""), ("'", "'"), ("''", ""), ("a", "a")])
def test_unquote(raw: str, value: str) -> None:
    """One pair of equal quotes around the whole is taken off, nothing else."""
    assert unquote(raw) == value


@pytest.mark.parametrize("text", ["alter iormplan dbplan= -n", "size = --yes", "size= -y"])
def test_a_flag_is_never_the_value_that_is_missing_before_it(text: str) -> None:
    """A flag behind ``key=`` stays a word of its own, so that ``dbplan= -n`` never sends the plan ``-n``."""
    assert split_words(text)[-1].raw.startswith("-")
