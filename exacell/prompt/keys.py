"""What Enter, Tab and Page Up do at the prompt; every other key is prompt_toolkit's."""

from __future__ import annotations

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, emacs_insert_mode, has_focus, is_done, is_searching, vi_insert_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from exacell.language.words import needs_more

_OPEN = ("=", ",")
"""What a value follows directly."""


def bindings() -> KeyBindings:
    """Return the prompt's own keys."""
    table = KeyBindings()

    @Condition
    def complete_statement() -> bool:
        # An empty line ends a statement whose quote or parenthesis stays open: then the error says so.
        text = get_app().current_buffer.text
        return not needs_more(text) or text.endswith("\n")

    @table.add("enter", filter=complete_statement & ~is_searching & ~is_done)
    def _(event: KeyPressEvent) -> None:
        buffer: Buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is None:
            buffer.cancel_completion()
        buffer.validate_and_handle()

    inserting = (emacs_insert_mode | vi_insert_mode) & has_focus(DEFAULT_BUFFER) & ~is_searching & ~is_done

    @table.add("tab", filter=inserting)
    def _(event: KeyPressEvent) -> None:
        complete(event.current_buffer)

    @table.add("pageup", filter=has_focus(DEFAULT_BUFFER) & ~is_searching & ~is_done)
    def _(event: KeyPressEvent) -> None:
        recall(event.current_buffer, -1)

    @table.add("pagedown", filter=has_focus(DEFAULT_BUFFER) & ~is_searching & ~is_done)
    def _(event: KeyPressEvent) -> None:
        recall(event.current_buffer, 1)

    return table


def recall(buffer: Buffer, step: int) -> None:
    """Go to the entry before (-1) or behind (1) that begins with what was typed, also while a menu is open."""
    if buffer.complete_state is not None:
        buffer.cancel_completion()
    if step < 0:
        buffer.history_backward()
    else:
        buffer.history_forward()


def complete(buffer: Buffer) -> None:
    """Take or walk the menu, or open it; behind a word to which nothing can be added, go on to the next one:
    a word that must follow is written."""
    state = buffer.complete_state
    if state is not None:
        taken = state.current_completion
        if taken is None or len(state.completions) > 1:
            buffer.complete_next()
        else:
            buffer.complete_state = None
            _next_word(buffer, taken.text)
        return
    word = _whole_word(buffer)
    if word:
        _next_word(buffer, word)
    else:
        buffer.start_completion(insert_common_part=True)


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


def _whole_word(buffer: Buffer) -> str:
    """Return the word before the cursor, at the line's end, when it is the only thing that completion offers there."""
    document = buffer.document
    if not document.is_cursor_at_the_end or document.text[-1:].isspace():
        return ""
    offered = list(buffer.completer.get_completions(document, CompleteEvent(completion_requested=True)))
    if len(offered) != 1 or not offered[0].start_position:
        return ""
    found = offered[0]
    return found.text if document.text[found.start_position :].lower() == found.text.lower() else ""
