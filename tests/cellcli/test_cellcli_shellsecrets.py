"""Secrets in what shells run, in addresses and in wrong statements about keys."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from exacell.cellcli import secrets, shellsecrets
from exacell.cellcli.secrets import holds_secret, masked, masked_data, may_hold, without
from exacell.core.errors import RefusedError
from exacell.session.history import is_secret
from exacell.session.vault import refuse_forgotten

DATA = tomllib.loads((Path(__file__).parents[1] / "data" / "secret_texts.toml").read_text(encoding="utf-8"))
SECRET = "S3cret9x"


@pytest.mark.parametrize("text", DATA["secret"])
def test_a_secret_is_shown_and_kept_nowhere(text: str) -> None:
    """A password, a key or a token leaves neither a message, nor the journal, nor the history; its mask stays as it is."""
    assert SECRET not in masked(text) and "***" in masked(text) and masked(masked(text)) == masked(text)
    assert holds_secret(text) and may_hold(text) and is_secret(text)
    assert SECRET not in str(masked_data({"statement": text, "opaque": [text]}))
    assert SECRET not in without(text, f"'{SECRET}' is one word too many")
    with pytest.raises(RefusedError, match="does not keep"):
        refuse_forgotten(masked(text))


@pytest.mark.parametrize("text", DATA["plain"])
def test_what_is_no_secret_stays(text: str) -> None:
    """Options, addresses and sentences without a secret are shown as they are."""
    assert masked(text) == text and not holds_secret(text)


HINTS = (shellsecrets._HINT, secrets._hinted())


@given(st.data())
@settings(max_examples=20)
def test_no_hint_is_missed_where_none_of_its_words_seems_to_stand(data: st.DataObject) -> None:
    """Whatever a way of the pattern finds, in whatever case and in letters that are another case of ASCII ones, is found."""
    for hint in HINTS:
        for way in hint.pattern.pattern.split("|"):
            text = data.draw(st.from_regex(re.compile(way, re.IGNORECASE), fullmatch=True))
            assert hint.found_in(text) and hint.found_in(text.upper())
            assert hint.found_in(text.replace("s", "\u017f").replace("k", "\u212a"))


@given(st.text())
def test_nothing_is_taken_for_a_hint_because_of_a_word_alone(text: str) -> None:
    """A word of a hint in a text finds what the pattern finds."""
    for hint in HINTS:
        for word in hint.words:
            assert hint.found_in(text + word + text) is bool(hint.pattern.search(text + word + text))
