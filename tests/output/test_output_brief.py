"""A refusal at the prompt is short, and nothing of it is lost."""

from __future__ import annotations

from textwrap import wrap

from hypothesis import given, strategies as st

from exacell.core.errors import RefusedError
from exacell.output.faults import MORE, brief_sentence, sentence, ways_out

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
    lines = len(wrap(f"exacell: {said}", 80))
    assert said.startswith(sentence(RefusedError(message, hint="; ".join(ways[:1]))))
    shown = ways_out(RefusedError(message, hint=said.removeprefix(message).removeprefix("; ")))
    if said == sentence(error):
        assert not reasons and (lines <= 3 or len(ways) < 2)
    else:
        assert shown == [*ways[: len(shown) - 1], MORE] and (reasons or len(shown) <= len(ways))
        assert lines <= 3 or len(shown) <= 2
