"""Offer the completions of :mod:`exacell.language.suggest` to prompt_toolkit."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import replace

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.eventloop import run_in_executor_with_context

from exacell.language.registry import Kind, Param
from exacell.language.suggest import Used, suggest
from exacell.language.suggestion import Known
from exacell.prompt.check import flatten
from exacell.session.completion.stored_names import STORED

_FROM_DISK = STORED | {Kind.RECIPE}
"""Kinds whose names are read from files each time."""


class NotInMemory(Exception):
    """A name must be read from files first, which may take long: from an unreachable file server, for ever."""


def in_memory(known: Known) -> Known:
    """Return the part of ``known`` that needs no file; the other parts raise NotInMemory when called."""

    def names(kind: Kind) -> Sequence[str | tuple[str, str]]:
        if kind in _FROM_DISK:
            raise NotInMemory
        return known.names(kind)

    def recipe_params(recipe: str) -> Sequence[Param]:
        raise NotInMemory

    def files(typed: str) -> Sequence[str]:
        raise NotInMemory

    return replace(known, names=names, recipe_params=recipe_params, files=files)


class StatementCompleter(Completer):
    """Offers the words that may come next, also words that match in a part or in single letters; often used ones first.

    Nothing is offered before the first letter of an empty line unless Tab was pressed.

    Args:
        known: returns the present sources of names; called once for each completion, and must return at once.
        used: returns how often a word was used in statements with the same first word.
    """

    def __init__(self, known: Callable[[], Known], used: Used) -> None:
        self._known = known
        self._used = used

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the words that may replace the word at the cursor."""
        yield from self._offered(document, complete_event, self._known())

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Yield the same words: from memory while the key itself is handled, so that line and menu are drawn at once; if files
        must be read, from a thread."""
        try:
            found = list(self._offered(document, complete_event, in_memory(self._known())))
        except NotInMemory:
            found = await run_in_executor_with_context(lambda: list(self.get_completions(document, complete_event)))
        for each in found:
            yield each

    def _offered(self, document: Document, complete_event: CompleteEvent, known: Known) -> Iterable[Completion]:
        text = document.text_before_cursor
        begun = document.current_line_before_cursor.strip()
        if (not begun or begun.endswith(";")) and not complete_event.completion_requested:
            return
        for found in suggest(flatten(text), known, fuzzy=True, used=self._used):
            if text[found.start :] == found.text and not complete_event.completion_requested:
                continue
            yield Offered(found.text, start_position=found.start - len(text), display_meta=found.meta)


class Offered(Completion):
    """A completion with plain texts: the menu asks for the texts of all of them many times per key, to find its width."""

    def __init__(self, text: str, *, start_position: int, display_meta: str) -> None:
        super().__init__(text, start_position=start_position, display_meta=display_meta)
        self._said = display_meta

    @property
    def display_text(self) -> str:
        """Return the word."""
        return self.text

    @property
    def display_meta_text(self) -> str:
        """Return the phrase beside the word."""
        return self._said
