"""Load the prompt's colours, completions and toolbar only when the first letter is typed: an empty line needs none."""

from __future__ import annotations

import importlib
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer

from exacell.prompt.appearance import IDLE

if TYPE_CHECKING:
    from exacell.language.suggestion import Known
    from exacell.prompt.check import Surroundings
    from exacell.session.state import Session

Around = Callable[[], "Surroundings"]

_MODULES = ("lexer", "completer", "toolbar", "entering", "learner")


def load_all() -> None:
    """Import the modules that the first letter and the first Enter need; called in the background once the prompt is shown."""
    for name in _MODULES:
        importlib.import_module(f"exacell.prompt.{name}")
    from exacell.language.registry import commands

    commands()


class LazyLexer(Lexer):
    """A lexer that loads :class:`exacell.prompt.lexer.StatementLexer` with the first letter."""

    def __init__(self, around: Around) -> None:
        self._around = around
        self._lexer: Lexer | None = None

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Return a function: line number → the coloured pieces of that line."""
        if not document.text:
            return lambda number: []
        if self._lexer is None:
            from exacell.prompt.lexer import StatementLexer

            self._lexer = StatementLexer(self._around)
        return self._lexer.lex_document(document)

    def invalidation_hash(self) -> object:
        """Return a value that changes whenever the colours may change although the text does not."""
        return self._lexer.invalidation_hash() if self._lexer is not None else None


class LazyCompleter(Completer):
    """A completer that loads :class:`exacell.prompt.completer.StatementCompleter` with the first letter."""

    def __init__(self, known: Callable[[], Known], used: Callable[[str, str], int]) -> None:
        self._known, self._used = known, used
        self._completer: Completer | None = None

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the words that may replace the word at the cursor."""
        return self._loaded().get_completions(document, complete_event)

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Yield the words that may replace the word at the cursor."""
        async for found in self._loaded().get_completions_async(document, complete_event):
            yield found

    def _loaded(self) -> Completer:
        if self._completer is None:
            from exacell.prompt.completer import StatementCompleter

            self._completer = StatementCompleter(self._known, self._used)
        return self._completer


def toolbar(session: Session, text: str, cursor: int, around: Around) -> list[tuple[str, str]]:
    """Return the toolbar's text; see :mod:`exacell.prompt.toolbar`."""
    if not text:
        return IDLE
    from exacell.prompt.toolbar import toolbar_fragments

    return toolbar_fragments(session, text, cursor, around())
