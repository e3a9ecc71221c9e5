"""What lies in the terminal's queue when a statement is entered: Ctrl-C counts, and what is behind it is kept."""

from __future__ import annotations

import os
import select
import tty
from collections.abc import Iterator

import pytest

from exacell.prompt.keys import TypingAhead


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    """A terminal in which no key makes a signal, as while a prompt reads: the person's end and the program's."""
    keys, terminal = os.openpty()
    tty.setraw(terminal)
    yield keys, terminal
    os.close(keys)
    os.close(terminal)


@pytest.mark.parametrize(
    ("typed", "interrupted", "kept"),
    [
        (b"\x03", True, ""),
        (b"flu\x03show", True, "show"),
        (b"a\x03b\x03c", True, "c"),
        (b"show", False, "show"),
        (b"", False, ""),
    ],
)
def test_ctrl_c_that_came_before_the_terminal_made_a_signal_of_it(
    ends: tuple[int, int], typed: bytes, interrupted: bool, kept: str
) -> None:
    """It is found in the queue, what was typed before it is dropped, and the rest is there for the next prompt."""
    keys, terminal = ends
    handed: list[str] = []
    with TypingAhead(handed.append, terminal) as typing:
        os.write(keys, typed)
        assert not typed or select.select([terminal], [], [], 20)[0]  # The kernel hands it on when it has time for it.
        assert typing.interrupted() is interrupted
        assert not typing.interrupted()
    assert "".join(handed) == kept


def test_without_a_terminal_there_is_no_queue() -> None:
    """A pipe is never read for it."""
    reading, writing = os.pipe()
    with TypingAhead(lambda typed: None, reading) as typing:
        os.write(writing, b"\x03")
        assert not typing.interrupted()
    assert os.read(reading, 10) == b"\x03"
    os.close(reading)
    os.close(writing)
