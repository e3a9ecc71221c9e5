"""Completion at the prompt: what :mod:`exacell.language.suggest` offers, as prompt_toolkit wants it."""

from __future__ import annotations

from collections.abc import Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from exacell.language.suggest import suggest
from exacell.language.suggestion import Names, RecipeParams
from exacell.repl.check import flatten


class StatementCompleter(Completer):
    """Offers what may come next; names come from a function that answers at once.

    Nothing is offered before the first letter of an empty line unless Tab was pressed.
    """

    def __init__(self, names: Names, recipe_params: RecipeParams) -> None:
        self._names = names
        self._recipe_params = recipe_params

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield what may replace the word at the cursor."""
        text = document.text_before_cursor
        if not text.strip() and not complete_event.completion_requested:
            return
        for found in suggest(flatten(text), names=self._names, recipe_params=self._recipe_params):
            if text[found.start :] == found.text and not complete_event.completion_requested:
                continue
            yield Completion(found.text, start_position=found.start - len(text), display_meta=found.meta)
