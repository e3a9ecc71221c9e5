"""``key=`` with nothing behind it, in front of another ``key=value``."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, strategies as st

from exacell.core.errors import StatementError
from exacell.language.line import parse_line
from exacell.language.registry import commands
from exacell.language.words import split_words

_NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.\-]{0,8}", fullmatch=True)
_BLANKS = st.sampled_from(("", " ", "  "))


@given(_NAMES, _NAMES, _NAMES, _BLANKS, _BLANKS, _BLANKS)
def test_an_empty_value_takes_nothing_of_the_next_pair(
    one: str, other: str, value: str, before: str, around: str, behind: str
) -> None:
    """``a= b=c`` is a value that is empty and another one, however many blanks stand around the = signs."""
    words = split_words(f"{one}{before}= {other}{around}={behind}{value}")
    assert [word.raw for word in words] == [f"{one}=", f"{other}={value}"]


@given(_NAMES, _NAMES, _BLANKS, _BLANKS)
def test_blanks_around_an_equals_sign_still_join_it(key: str, value: str, before: str, behind: str) -> None:
    """``size = 288g`` stays one word, whose value no = follows."""
    assert [word.raw for word in split_words(f"{key}{before}={behind}{value} next")] == [f"{key}={value}", "next"]


def test_no_command_takes_the_next_pair_for_a_value() -> None:
    """Every command with several named values refuses an empty one before another, or takes it for empty."""
    for command in commands().values():
        named = [param.name for param in command.params if not param.positional and not param.rest]
        for empty, other in permutations(named, 2):
            text = " ".join((command.name, *("x" for _ in command.positionals), f"{empty}=", f"{other}=1"))
            try:
                line = parse_line(text)
            except StatementError as error:
                assert f"'{other}" not in error.message, error.message
                continue
            assert line is not None and line.call is not None
            assert line.call.args.get(empty) in ("", None, ()) and line.call.args[other] is not None, text


@pytest.mark.parametrize(
    "text", ["create diskgroup X prefix=p compatible.rdbms= compatible.asm= au_size=4M", "run x a= b=1"]
)
def test_a_key_of_its_own_may_be_empty(text: str) -> None:
    """What a command takes besides its own parameters is read as it is written: nothing is a value of nothing."""
    line = parse_line(text)
    assert line is not None and line.call is not None
    assert line.call.extra in ({"compatible.rdbms": "", "compatible.asm": ""}, {"a": "", "b": "1"})
