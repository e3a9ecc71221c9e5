"""Aliases with arguments, and words cut short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exacell.errors import StatementError
from exacell.language.shorthand import spelled_out, understood

ALIASES = {
    "fd": "list griddisk attributes name,size where name like ${1:-.*}",
    "both": "racks; cells",
    "one": "list griddisk $1 detail",
    "again": "fd $1",
    "all": "show $*",
    "cold": "flush flashcache",
    "ping": "pong",
    "pong": "ping",
}


@pytest.mark.parametrize(
    ("typed", "means"),
    [
        ("fd", "list griddisk attributes name,size where name like .*"),
        ("FD DATA.*", "list griddisk attributes name,size where name like DATA.*"),
        ("on exa1cel01 fd DATA.* -n", "on exa1cel01 list griddisk attributes name,size where name like DATA.* -n"),
        ("one D1", "list griddisk D1 detail"),
        ("again RECO", "list griddisk attributes name,size where name like RECO"),
        ("all settings", "show settings"),
        ("cold -y", "flush flashcache -y"),
        ("both", "racks; cells"),
        ("li celld", "list celldisk"),
        ("LI celld attributes name", "list celldisk attributes name"),
        ("on exa1cel01 li celld", "on exa1cel01 list celldisk"),
        ("show sett", "show settings"),
        ("flu flashcache", "flush flashcache"),
        ("list cell", "list cell"),
        ("# li celld", "# li celld"),
    ],
)
def test_what_is_meant(typed: str, means: str) -> None:
    """An alias stands for its statement with the words behind it, and a cut-off word for the only one that begins so."""
    assert understood(typed, ALIASES)[0] == means


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("one", "needs 1 word"),
        ("ping", "never comes to an end"),
        ("l cell", "'l' is not a statement"),
        ("list flashc", "'flashc'"),
        ("flu flashcache -y", "typed in full"),
        ("lst", "'lst' is not a statement"),
    ],
)
def test_what_is_not_guessed(typed: str, reason: str) -> None:
    """Several possible words, a missing argument, endless aliases and changes without a question are errors."""
    with pytest.raises(StatementError, match=reason):
        understood(typed, ALIASES)


@given(st.text(alphabet="list cedg $*1'\"()=-;@!", max_size=25))
def test_any_text_is_understood_or_refused(text: str) -> None:
    """Whatever is typed, the outcome is a statement or a StatementError inside the text."""
    try:
        understood(text, ALIASES)
    except StatementError as error:
        assert error.start is None or 0 <= error.start <= len(text)
    spelled_out(text)
