"""Define what Enter, Tab, a comma after Tab and Page Up do at the prompt, and keep the text typed while no prompt is shown;
all other keys are prompt_toolkit's."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
from types import FrameType, TracebackType
from typing import Any

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, emacs_insert_mode, has_focus, is_done, is_searching, vi_insert_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from exacell.language.words import needs_more

_OPEN = ("=", ",", "/", "(", "@")
"""A text with one of these ends is not a whole word: more follows directly."""


_BEGINS = re.compile(r"""[\w@$'"<>|(-]""")
"""Signs that begin a word; a comma, for example, continues the list before it."""


def bindings() -> KeyBindings:
    """Return the prompt's own keys."""
    table = KeyBindings()

    @Condition
    def complete_statement() -> bool:
        # An empty line ends a statement even if a quote or parenthesis is open; the error then says so.
        text = get_app().current_buffer.text
        return not needs_more(text) or text.endswith("\n")

    @table.add("enter", filter=complete_statement & ~is_searching & ~is_done)
    def _(event: KeyPressEvent) -> None:
        buffer: Buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is None:
            buffer.cancel_completion()
        buffer.validate_and_handle()

    spaced = ""

    inserting = (emacs_insert_mode | vi_insert_mode) & has_focus(DEFAULT_BUFFER) & ~is_searching & ~is_done

    @table.add("tab", filter=inserting)
    def _(event: KeyPressEvent) -> None:
        nonlocal spaced
        buffer: Buffer = event.current_buffer
        complete(buffer)
        spaced = buffer.text if buffer.text.endswith(" ") else ""

    @Condition
    def behind_a_blank_of_tab() -> bool:
        buffer = get_app().current_buffer
        return bool(spaced) and buffer.text == spaced and buffer.document.is_cursor_at_the_end

    @table.add(",", filter=inserting & behind_a_blank_of_tab)
    def _(event: KeyPressEvent) -> None:
        # One more name of a list: the comma replaces the blank, as in zsh.
        event.current_buffer.delete_before_cursor()
        event.current_buffer.insert_text(",")

    @Condition
    def behind_a_word_of_the_menu() -> bool:
        return chosen(get_app().current_buffer)

    @table.add("<any>", filter=inserting & behind_a_word_of_the_menu)
    def _(event: KeyPressEvent) -> None:
        # Begin the next word, in the same way as after the only word that fits.
        event.current_buffer.insert_text(f" {event.data}" if _BEGINS.match(event.data) else event.data)

    @table.add("pageup", filter=has_focus(DEFAULT_BUFFER) & ~is_searching & ~is_done)
    def _(event: KeyPressEvent) -> None:
        recall(event.current_buffer, -1)

    @table.add("pagedown", filter=has_focus(DEFAULT_BUFFER) & ~is_searching & ~is_done)
    def _(event: KeyPressEvent) -> None:
        recall(event.current_buffer, 1)

    return table


def recall(buffer: Buffer, step: int) -> None:
    """Go to the previous (-1) or next (1) entry that begins with the typed text, also while a menu is open."""
    if buffer.complete_state is not None:
        buffer.cancel_completion()
    if step < 0:
        buffer.history_backward()
    else:
        buffer.history_forward()


def chosen(buffer: Buffer) -> bool:
    """Return whether the cursor is at the line's end, after a whole word that was chosen in the menu."""
    state = buffer.complete_state
    word = state.current_completion if state is not None else None
    return word is not None and not word.text.endswith(_OPEN) and buffer.document.is_cursor_at_the_end


def complete(buffer: Buffer) -> None:
    """Write the letters that all words have in common, as bash does, or else go to the menu's next word. After the only word
    that fits, and after a complete one, insert a blank, and the words that must follow."""
    state = buffer.complete_state
    if state is not None and state.current_completion is not None:
        if len(state.completions) > 1:
            buffer.complete_next()
        else:
            buffer.complete_state = None
            _next_word(buffer, state.completions[0].text)
        return
    # Not with start_completion, which does nothing while the completions of the last letter are still computed.
    offered = state.completions if state is not None and state.completions else _offered(buffer)
    if len(offered) == 1:
        if not _is_written(buffer.document, offered[0]):
            buffer.apply_completion(offered[0])
        buffer.complete_state = None
        _next_word(buffer, offered[0].text)
    elif common := _common(buffer.document, offered):
        buffer.apply_completion(common)  # What is inserted opens the menu again, as any typed character does.
    elif state is not None and state.completions:
        buffer.complete_next()
        if _is_written(state.original_document, offered[0]):
            buffer.complete_next()
    else:
        buffer.start_completion()


def _is_written(document: Document, word: Completion) -> bool:
    """Return whether there is already a word before the cursor."""
    return document.text_before_cursor[document.cursor_position + word.start_position :].lower() == word.text.lower()


def _common(document: Document, offered: Sequence[Completion]) -> Completion | None:
    """Return the next letters that all offered words have in common after the typed text; None if there are none."""
    start = offered[0].start_position if offered else 0
    typed = document.text_before_cursor[document.cursor_position + start :].lower()
    words = [one.text for one in offered if one.start_position == start and one.text.lower().startswith(typed)]
    if not typed or not words:
        return None
    texts = sorted(word.lower() for word in words)
    pairs = zip(texts[0], texts[-1], strict=False)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return Completion(words[0][:common], start) if common > -start else None


def _next_word(buffer: Buffer, word: str) -> None:
    if word.endswith(_OPEN):
        buffer.start_completion()
        return
    from exacell.language.suggest import needed_word

    before, added = buffer.document.text_before_cursor, " "
    while needed := needed_word(before + added):
        added += f"{needed} "
    # What is inserted opens the next menu, as any typed character does.
    buffer.insert_text(added)


def _offered(buffer: Buffer) -> list[Completion]:
    """Return the completions of the word before the cursor, at the line's end."""
    document = buffer.document
    if not document.is_cursor_at_the_end or document.text[-1:].isspace():
        return []
    offered = list(buffer.completer.get_completions(document, CompleteEvent(completion_requested=True)))
    return [one for one in offered if one.start_position]


_LFLAG, _IFLAG, _CC = 3, 0, 6
_ENTER = (b"\r", b"\n")


class TypingAhead:
    """While entered, the terminal neither echoes nor edits, except while it is lent; Ctrl-C still interrupts.

    A prompt that runs meanwhile finds these modes and restores them. Typed text stays in the terminal's queue for the next
    prompt; text that had to be read from the queue is passed to ``keep`` by :meth:`hand_over`. Without a terminal nothing
    changes.
    """

    def __init__(self, keep: Callable[[str], None], descriptor: int | None = None) -> None:
        self._keep = keep
        self._fd = sys.stdin.fileno() if descriptor is None else descriptor
        self._before: list[Any] | None = None
        self._ahead = b""
        self._lent = False
        self._on_continue: Any = None

    def __enter__(self) -> TypingAhead:
        with suppress(termios.error):  # Not a terminal: there are no modes to keep.
            self._before = termios.tcgetattr(self._fd)
            self._quiet()
            if threading.current_thread() is threading.main_thread():
                self._on_continue = signal.signal(signal.SIGCONT, self._continued)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            if self._on_continue is not None:
                signal.signal(signal.SIGCONT, self._on_continue)
            self._as_before()
        self.hand_over()

    def _continued(self, number: int, frame: FrameType | None) -> None:
        """Set the modes again after Ctrl-Z and fg, because the shell may have left the terminal in its own."""
        if not self._lent:
            self._quiet()

    def hand_over(self) -> None:
        """Pass the text read from the terminal's queue to ``keep``."""
        if self._ahead:
            typed, self._ahead = self._ahead, b""
            self._keep(typed.decode("utf-8", "replace"))

    def typed(self) -> bool:
        """Return whether a line is being typed: the queue has text, without Enter in it."""
        if self._before is None:
            return False
        self._drain()
        return bool(self._ahead) and not any(key in self._ahead for key in _ENTER)

    def interrupted(self) -> bool:
        """Return whether Ctrl-C is in the terminal's queue: it was pressed before the terminal could turn it into a signal.

        Text typed before it is dropped.
        """
        if self._before is None:
            return False
        self._drain()
        _, pressed, self._ahead = self._ahead.rpartition(b"\x03")
        return bool(pressed)

    def question(self, ask: Callable[[], str | None]) -> str | None:
        """Return the text that ``ask`` reads from the terminal, with echo and line editing on."""
        with self.lent():
            return ask()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Restore the terminal's own modes while entered: for a question, or for a local command such as an editor."""
        if self._before is None:
            yield
            return
        self._drain()
        self._as_before()
        self._lent = True
        try:
            yield
        finally:
            self._lent = False
            self._quiet()

    def _as_before(self) -> None:
        if self._before is not None:
            with suppress(termios.error):  # The terminal was closed and has no modes any more.
                termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)

    def _quiet(self) -> None:
        with suppress(termios.error):
            mode = termios.tcgetattr(self._fd)
            mode[_LFLAG] &= ~(termios.ECHO | termios.ICANON)
            mode[_IFLAG] &= ~termios.ICRNL
            mode[_CC][termios.VMIN], mode[_CC][termios.VTIME] = 1, 0
            termios.tcsetattr(self._fd, termios.TCSADRAIN, mode)

    def _drain(self) -> None:
        with suppress(OSError):
            while select.select([self._fd], [], [], 0)[0]:
                data = os.read(self._fd, 4096)
                if not data:
                    return
                self._ahead += data
