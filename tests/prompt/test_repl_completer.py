"""What the prompt offers in the turn of a key, and what comes from a thread."""

from __future__ import annotations

import asyncio
import threading

import pytest
from prompt_toolkit.completion import CompleteEvent, Completion
from prompt_toolkit.document import Document

from exacell.language.registry import Kind
from exacell.language.suggestion import Known
from exacell.prompt.completer import StatementCompleter


def offered(text: str, known: Known) -> list[Completion]:
    """Return what is offered behind ``text`` as an event loop gets it."""

    async def ask() -> list[Completion]:
        completer = StatementCompleter(lambda: known, lambda first, word: 0)
        return [found async for found in completer.get_completions_async(Document(text), CompleteEvent())]

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("text", "at_once"),
    [("list griddisk DATA", True), ("show recipe DATA", False), ("run DATA", False), ("@DATA", False)],
)
def test_only_names_in_files_come_from_a_thread(text: str, at_once: bool) -> None:
    """Names in memory are offered in the turn of the key; a file server that is away holds up no key."""
    asked: list[threading.Thread] = []

    def names(kind: Kind) -> list[str]:
        if kind in (Kind.GRIDDISK, Kind.RECIPE):
            asked.append(threading.current_thread())
            return ["DATA_CD_00_c1"]
        return []

    assert [found.text for found in offered(text, Known(names=names))] == ["DATA_CD_00_c1"]
    assert {thread is threading.main_thread() for thread in asked} == {at_once}


def test_the_menu_shows_words_and_phrases_as_they_are() -> None:
    """A completion's texts, from which the menu takes its widths, are those that it draws."""
    for found in offered("list griddisk attributes as", Known(names=lambda kind: ())):
        assert found.display_text == "".join(piece for _, piece, *_ in found.display)
        assert found.display_meta_text == "".join(piece for _, piece, *_ in found.display_meta)
