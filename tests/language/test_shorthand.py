"""Aliases with arguments, and words cut short."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from exacell.core.errors import StatementError
from exacell.language.shorthand import understood
from tests.support.every import every

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


@every(
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
        ("show transp", "show transports"),
        ("flu flashcache", "flush flashcache"),
        ("list cell", "list cell"),
        ("# li celld", "# li celld"),
        ("list griddisk attr name", "list griddisk attributes name"),
        ("list griddisk attributes name,asmModeS", "list griddisk attributes name,asmModeStatus"),
        (
            "LI griddisk ATTR na, asmModes whe asmDiskn=DATA",
            "list griddisk attributes name, asmModeStatus where asmDiskName=DATA",
        ),
        (
            "list griddisk attributes name order by crea lim 3",
            "list griddisk attributes name order by creationTime limit 3",
        ),
        ("list flashcache det", "list flashcache detail"),
        ("on exa1cel01 li celld attr na", "on exa1cel01 list celldisk attributes name"),
        ("show alerts cri", "show alerts critical"),
        ("show flashcachec to=5", "show flashcachecontent top=5"),
        ("set form json", "set format json"),
        ("snap flashl as=a", "snap flashlog as=a"),
    ]
)
def test_what_is_meant(typed: str, means: str) -> None:
    """An alias stands for its statement with the words behind it, and a cut-off word for the only one that begins so."""
    assert understood(typed, ALIASES)[0] == means


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("one", "needs 1 word"),
        ("ping", "never ends"),
        ("l cell", "'l' is not a statement"),
        ("list flashc", "'flashc'"),
        ("flu flashcache -y", "typed in full"),
        ("lst", "'lst' is not a statement"),
        ("list griddisk attributes asmDisk", "'asmDisk' is not an attribute"),
        ("set mode r", "'r' is not one of"),
        ("alter cell flashCacheMod=writeback", "'flashCacheMod' is not an attribute"),
        ("resize flashcache si=1g", "'si' is not a parameter"),
    ],
)
def test_what_is_not_guessed(typed: str, reason: str) -> None:
    """Several possible words, a missing argument, endless aliases and changes without a question are errors."""
    with pytest.raises(StatementError, match=reason):
        understood(typed, ALIASES)


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ("li griddisk attr nmae", "nmae"),
        ("li griddi attributes na,asmM, sise", "sise"),
        ("lst griddisk", "lst"),
        ("show flashcachec too=5", "too"),
        ("flu flashcache recreat=never", "recreat"),
    ],
)
def test_what_is_wrong_is_marked_where_it_was_typed(typed: str, wrong: str) -> None:
    """Words in front of the mistake may be cut short: the mistake is marked in the text as it was typed."""
    with pytest.raises(StatementError) as raised:
        understood(typed, {})
    assert typed[raised.value.start : raised.value.end] == wrong


@given(st.text(alphabet="list cedg $*1'\"()=-;@!", max_size=25))
def test_any_text_is_understood_or_refused(text: str) -> None:
    """Whatever is typed, the outcome is a statement or a StatementError inside the text."""
    try:
        understood(text, ALIASES)
    except StatementError as error:
        assert error.start is None or 0 <= error.start <= len(text)
