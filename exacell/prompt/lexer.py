"""Colour statements by the words of the registry and the schema, and underline errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby

from prompt_toolkit.application import get_app
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer

from exacell.cellcli.nodes import Verb
from exacell.cellcli.schema import metrics, objects
from exacell.language.registry import commands
from exacell.language.words import marks
from exacell.prompt.check import Surroundings, live_error

_TOKEN = re.compile(  # Outside of quotes.
    r"""(?P<space>\s+)
    |(?P<flag>--?[A-Za-z][\w-]*=?)
    |(?P<param>[A-Za-z_][\w.]*(?==))
    |(?P<number>\d+(?:\.\d+)?[KMGTkmgt]?(?![\w.-]))
    |(?P<word>[@\w.$+-]+(?:\[[\d,-]+\][\w.-]*)*)
    |(?P<operator>!=|[=<>!,;|()])
    |(?P<other>.)""",
    re.VERBOSE,
)

_KEYWORDS = frozenset(
    "where attributes detail order by limit asc desc and not like all null over memory on force nowait flush cancel "  # noqa: SIM905
    "active inactive flashdisk harddisk performanceoptimized capacityoptimized".split()
)


@cache
def _vocabulary() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the words of verbs, of objects, and of attributes, in lower case."""
    own = commands()
    verbs = {verb.value.lower() for verb in Verb} | {words[0] for words in own}
    things = {name.lower() for name in objects()} | {word for words in own for word in words[1:]}
    attributes = {name for found in objects().values() for name in found.attributes}
    return frozenset(verbs), frozenset(things), frozenset(attributes)


def classify(text: str) -> Iterator[tuple[str, str]]:
    """Yield (class, piece) for every piece of one line; the pieces joined are the line."""
    verbs, things, attributes = _vocabulary()
    stripped = text.lstrip()
    if stripped.startswith(("#", "--")) or re.match(r"(?i)rem(ark)?(\s|$)", stripped):
        yield "comment", text
        return
    first = True
    for kind, piece in _pieces(text):
        word = piece.lower()
        if kind in ("word", "param", "number"):
            if first:
                kind = "recipe" if piece.startswith("@") else ("verb" if word in verbs else "word")
            elif kind == "word":
                kind = _word_class(word, things, attributes)
            first = first and word == "on"
        elif kind == "operator" and piece in (";", "|"):
            first = piece == ";"
        yield kind, piece


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, piece): a text in quotes is one piece, other text is cut by its letters."""
    begin = 0
    for quoted, run in groupby(marks(text), key=lambda mark: mark[2]):
        end = begin + sum(1 for _ in run)
        if quoted:
            yield "string", text[begin:end]
        else:
            yield from ((str(match.lastgroup), match[0]) for match in _TOKEN.finditer(text, begin, end))
        begin = end


def _word_class(word: str, things: frozenset[str], attributes: frozenset[str]) -> str:
    if word in _KEYWORDS:
        return "keyword"
    if word in things:
        return "object"
    if word in attributes:
        return "attribute"
    if word.upper() in metrics():
        return "metric"
    return "cells" if "[" in word or word.startswith("@") else "word"


class StatementLexer(Lexer):
    """Colours a statement; a wrong part, unless it is still being typed, has the class ``wrong``.

    Args:
        around: returns the aliases and releases by which statements are judged now.
    """

    def __init__(self, around: Callable[[], Surroundings] = Surroundings) -> None:
        self._around = around

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Return a function: line number → the coloured pieces of that line."""
        found = live_error(document.text, _cursor(document), self._around())
        starts = [0]
        for line in document.lines:
            starts.append(starts[-1] + len(line) + 1)

        def line_of(number: int) -> StyleAndTextTuples:
            if number >= len(document.lines):
                return []
            fragments = [(f"class:{kind}", piece) for kind, piece in classify(document.lines[number])]
            if found is None:
                return list(fragments)
            start, end, _ = found
            return list(_mark(fragments, start - starts[number], end - starts[number]))

        return line_of

    def invalidation_hash(self) -> int:
        """Return a value that changes with the cursor, because the underline depends on it."""
        return get_app().current_buffer.cursor_position


def _cursor(document: Document) -> int:
    buffer = get_app().current_buffer
    return buffer.cursor_position if buffer.text == document.text else len(document.text)


def _mark(fragments: list[tuple[str, str]], start: int, end: int) -> Iterator[tuple[str, str]]:
    """Yield the fragments with the class ``wrong`` added between ``start`` and ``end``."""
    place = 0
    for style, piece in fragments:
        low, high = max(start - place, 0), min(end - place, len(piece))
        if low >= high:
            yield style, piece
        else:
            if low:
                yield style, piece[:low]
            yield f"{style} class:wrong", piece[low:high]
            if high < len(piece):
                yield style, piece[high:]
        place += len(piece)
