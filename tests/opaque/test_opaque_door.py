"""The one door for unread work: where it may go, what a refusal says, and that it stands in the journal."""

from __future__ import annotations

import pytest

from exacell.language.shellwords import stray_flag
from exacell.opaque.findings import Door

PRODUCTION = "rack r is a production rack, and exacell can't tell what this does: x.py; nothing was sent"
READ_ONLY = "rack r is read-only, and exacell can't tell whether this only reads: x.py; nothing was sent"
UNACCEPTED = "exacell can't tell what this does on c1: x.py; nothing was sent"
RACKS: list[tuple[dict[str, bool], bool, str]] = [
    ({"production": True}, False, PRODUCTION),
    ({"production": True}, True, PRODUCTION),
    ({"production": True, "read_only": True}, True, PRODUCTION),
    ({"production": True, "allows": True}, False, PRODUCTION),
    ({"read_only": True}, False, READ_ONLY),
    ({"read_only": True}, True, READ_ONLY),
    ({"read_only": True, "allows": True}, True, READ_ONLY),
    ({}, False, UNACCEPTED),
    ({}, True, ""),
    ({"allows": True}, False, ""),
    ({"allows": True}, True, ""),
]


@pytest.mark.parametrize(("rack", "accepted", "said"), RACKS)
def test_where_unread_work_may_go(rack: dict[str, bool], accepted: bool, said: str) -> None:
    """It goes nowhere in production and in a read-only session, elsewhere where it was accepted or the rack allows it."""
    door = Door(rack="r", **rack)
    found = door.refusal(["x.py"], accepted=accepted, where="c1", undone="nothing was sent", accept="say so")
    assert (found.message if found else "") == said


HINTS: list[tuple[dict[str, bool], str, str]] = [
    ({"production": True}, "", "use exacell's statements or CellCLI"),
    ({"production": True}, "list cell", "list cell"),
    ({"read_only": True}, "", "set mode rw"),
    ({"read_only": True, "monitor": True}, "", "start exacell without -m"),
    ({"read_only": True}, "list cell", "list cell"),
    ({}, "", "say so"),
    ({}, "list cell", "list cell; say so"),
]


@pytest.mark.parametrize(("rack", "instead", "hint"), HINTS)
def test_a_refusal_names_the_way_out(rack: dict[str, bool], instead: str, hint: str) -> None:
    """The way to do it in exacell comes first where one is known, and --accept-opaque is told only where it helps."""
    found = Door(rack="r", **rack).refusal(
        ["a", "b", "c"], accepted=False, undone="nothing was run", accept="say so", instead=instead
    )
    assert found is not None and found.hint == hint
    assert ": a (and 2 more);" in found.message and found.message.endswith("nothing was run")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["rm", "x", "--accept-opaque"], "--accept-opaque"),
        (["rm", "--accept-data-loss=DATA", "x"], "--accept-data-loss=DATA"),
        (["ls", "--rolling=2"], "--rolling=2"),
        (["ls", "--ssh-config", "x"], "--ssh-config"),
        (["yum", "-y", "update"], ""),
        (["grep", "-n", "--count", "x"], ""),
        (["echo", "x--accept-opaque"], ""),
    ],
)
def test_a_flag_of_ours_among_the_words_is_found(words: list[str], found: str) -> None:
    """A long flag that only exacell has is pointed out; the short ones, which many commands have, are the command's."""
    assert stray_flag(words) == found
