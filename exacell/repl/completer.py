"""Completion at the prompt: what :mod:`exacell.language.suggest` offers, as prompt_toolkit wants it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from exacell.language.suggest import Used, suggest
from exacell.language.suggestion import Known
from exacell.repl.check import flatten


class StatementCompleter(Completer):
    """Offers what may come next, words that fit by a part or their letters too, often used ones first.

    Nothing is offered before the first letter of an empty line unless Tab was pressed.

    Args:
        known: what is known at this moment; asked once for each completion, answers at once.
        used: how often a word was used behind a first word.
    """

    def __init__(self, known: Callable[[], Known], used: Used) -> None:
        self._known = known
        self._used = used

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield what may replace the word at the cursor."""
        text = document.text_before_cursor
        if not text.strip() and not complete_event.completion_requested:
            return
        for found in suggest(flatten(text), self._known(), fuzzy=True, used=self._used):
            if text[found.start :] == found.text and not complete_event.completion_requested:
                continue
            yield Completion(found.text, start_position=found.start - len(text), display_meta=found.meta)
