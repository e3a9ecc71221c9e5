"""The whole terminal for a while: who wakes it late touches nobody else's file."""

from __future__ import annotations

import os
import pty
import tempfile
from collections.abc import Iterator

import pytest

from exacell.output.screen import Screen


@pytest.fixture
def screen() -> Iterator[Screen]:
    """A screen on a terminal of its own."""
    ours, theirs = pty.openpty()
    with open(os.dup(theirs), "w", encoding="utf-8") as out, open(theirs, encoding="utf-8") as keys:
        yield Screen(out, keys)
    os.close(ours)


def test_woken_it_returns_from_waiting_for_a_key(screen: Screen) -> None:
    """A wait for a key ends when the screen is woken, also when it was woken more often than anybody looked."""
    with screen:
        for _ in range(100_000):
            screen.wake()
        assert screen.key(20.0) == ""


def test_woken_after_its_end_it_writes_into_no_other_file(screen: Screen) -> None:
    """What wakes the screen after its end, as a reading left to itself does, writes nothing into files opened since."""
    with screen:
        screen.wake()
    others = [tempfile.TemporaryFile() for _ in range(4)]  # noqa: SIM115 - closed below
    screen.wake()
    assert [os.fstat(other.fileno()).st_size for other in others] == [0] * 4
    for other in others:
        other.close()
