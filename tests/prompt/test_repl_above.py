"""What is shown above a prompt that stands there."""

from __future__ import annotations

import os
import pty
import select
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.output import DummyOutput

from exacell.prompt.background import show_above


@dataclass(frozen=True)
class Terminal:
    """The keys' end of a pty, the program's end, and a prompt there."""

    keys: int
    behind: int
    session: PromptSession[str]

    def press(self, keys: bytes) -> None:
        """Press keys, which end with one that the program is told of, and wait until the terminal has taken them."""
        os.write(self.keys, keys)
        assert select.select([self.behind], [], [], 5)[0]


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """Something to press keys on, and a prompt that reads them from a real pty."""
    keys, behind = pty.openpty()
    with os.fdopen(behind, "r") as typed:
        yield Terminal(keys, behind, PromptSession(input=Vt100Input(typed), output=DummyOutput()))
    os.close(keys)


def shown_while(session: PromptSession[str], show: Callable[[], object]) -> None:
    """Show something above the prompt as soon as its event loop runs."""
    app = session.app
    assert app.loop is not None
    app.loop.call_soon(show_above, app, show)


def test_ctrl_d_pressed_meanwhile_leaves(terminal: Terminal) -> None:
    """Ctrl-D that arrives while something is shown above the prompt is a key of the prompt and leaves it."""
    session = terminal.session
    with pytest.raises(EOFError):
        session.prompt(pre_run=lambda: shown_while(session, lambda: terminal.press(b"\x04")))


def test_letters_typed_meanwhile_are_not_echoed(terminal: Terminal) -> None:
    """Letters and Enter that arrive meanwhile are the prompt's; the terminal echoes none of them into the output."""
    session = terminal.session
    assert session.prompt(pre_run=lambda: shown_while(session, lambda: terminal.press(b"list cell\r"))) == "list cell"
    os.set_blocking(terminal.keys, False)
    with pytest.raises(BlockingIOError):
        os.read(terminal.keys, 100)


def test_the_prompt_comes_back_when_showing_fails(terminal: Terminal) -> None:
    """An error in what is shown leaves the prompt drawn and reading."""
    session = terminal.session
    drawn: list[str] = []
    session.app.after_render += lambda app: drawn.append(app.current_buffer.text)

    def fails() -> None:
        drawn.clear()
        terminal.press(b"x\r")
        raise ValueError("the answer makes no sense")

    def begin() -> None:
        assert session.app.loop is not None
        session.app.loop.set_exception_handler(lambda loop, context: None)
        shown_while(session, fails)

    assert session.prompt(pre_run=begin, set_exception_handler=False) == "x"
    assert "x" in drawn
