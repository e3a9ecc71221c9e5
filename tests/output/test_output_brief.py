"""A refusal at the prompt is short, and nothing of it is lost."""

from __future__ import annotations

from textwrap import wrap

from hypothesis import given, strategies as st

from exacell.core.errors import RefusedError
from exacell.output.faults import MORE, brief_sentence, sentence, shortened, ways_out

WORDS = st.text(alphabet="abcdefgh", min_size=1, max_size=9)
PHRASES = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
WAYS = st.one_of(
    PHRASES, PHRASES.map(lambda text: f"`sql asm '{text}; {text}'` does it"), PHRASES.map(lambda text: f'"{text}; x"')
)


@given(PHRASES, st.lists(WAYS, max_size=6), st.lists(PHRASES, max_size=3))
def test_a_refusal_takes_three_lines_keeps_its_first_way_out_and_names_why(
    message: str, ways: list[str], reasons: list[str]
) -> None:
    """The message and the first way out are always there; `why` is named where anything else is left out, and only then."""
    error = RefusedError(message, hint="; ".join(ways), reasons=reasons)
    assert ways_out(error) == ways
    said = brief_sentence(error)
    lines = len(wrap(said, 80, subsequent_indent="    "))
    assert said.startswith(sentence(RefusedError(message, hint="; ".join(ways[:1]))))
    shown = ways_out(RefusedError(message, hint=said.removeprefix(message).removeprefix("; ")))
    if said == sentence(error):
        assert not reasons and (lines <= 3 or len(ways) < 2)
    else:
        assert shown == [*ways[: len(shown) - 1], MORE] and (reasons or len(shown) <= len(ways))
        assert lines <= 3 or len(shown) <= 2


LONG = "alter griddisk DATA_CD_00_exa1cel01,DATA_CD_01_exa1cel01 availableTo='+ASM,+OTHER' -y"
WHY = "disk group DATA uses it (asmModeStatus ONLINE): DATA_CD_00_exa1cel01 would not be found under this; nothing was sent"


def lines(error: RefusedError) -> int:
    return len(wrap(brief_sentence(error), 80, subsequent_indent="    "))


def test_a_long_statement_is_not_said_again() -> None:
    """Below the line that was typed, a long refusal shows the statement by its first words; the rest of it stays."""
    statement = LONG.removesuffix(" -y")
    error = RefusedError(f"{statement}: refused: {WHY}", hint="dismount the disk group on all nodes first")
    less = shortened(error, LONG)
    assert lines(error) > 3 >= lines(less)
    assert brief_sentence(less) == f"alter griddisk …: refused: {WHY}; dismount the disk group on all nodes first"
    assert error.message.startswith(statement), "`why` shows the whole"


def test_what_was_not_typed_is_not_left_out() -> None:
    """A message that begins with something else than the typed line, and one that is brief, stay as they are."""
    far = RefusedError(f"plan monday: {WHY} {WHY}", hint="x")
    assert shortened(far, LONG).message == far.message
    brief = RefusedError(f"{LONG}: no")
    assert shortened(brief, LONG) is brief


@given(st.lists(st.text(alphabet="abcdefgh", min_size=9, max_size=12), min_size=24, max_size=40))
def test_a_long_list_is_cut_and_why_is_named(words: list[str]) -> None:
    """Of a list that would fill the screen the first six words are shown, and `why` is named for the others."""
    for mark in (", ", "|"):
        less = shortened(RefusedError(f"kind: 'x' is not one of {mark.join(words)}", hint="for example: y"), "")
        assert lines(less) <= 3
        assert brief_sentence(less) == f"kind: 'x' is not one of {mark.join(words[:6])}{mark}…; for example: y; {MORE}"
