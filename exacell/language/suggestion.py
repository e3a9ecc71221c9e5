"""What a completion offers, and the pieces of a half-typed line that completions look at. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from exacell.language.registry import Kind, Param

Names = Callable[[Kind], Sequence[str]]
"""Known names of a kind, at once: from a cache, never from a cell."""

RecipeParams = Callable[[str], Sequence[Param]]
"""The parameters of a recipe by its name; empty when there is no such recipe."""


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """One word that may be meant.

    Attributes:
        text: replaces the line from ``start`` to the cursor. It ends in ``=`` or ``,`` when a value follows directly.
        meta: a phrase beside it: what it is, its unit or default.
    """

    text: str
    start: int
    meta: str = ""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A blank-separated piece of a half-typed line; ``start`` is its place in the line."""

    text: str
    start: int

    @property
    def lower(self) -> str:
        """The text in lower case."""
        return self.text.lower()


def pieces(text: str, offset: int = 0) -> list[Piece]:
    """Return the pieces of ``text``; the last one is what is being typed and may be empty.

    Blanks in quotes and parentheses do not separate, nor does anything after a quote that is still open. Blanks around
    ``=`` do separate here.
    """
    found: list[Piece] = []
    start: int | None = None
    quote, depth = "", 0
    for place, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"" and (place == 0 or not text[place - 1].isalnum()):
            quote = char
            start = place if start is None else start
        elif char.isspace() and depth == 0:
            if start is not None:
                found.append(Piece(text=text[start:place], start=start + offset))
            start = None
            continue
        else:
            depth = max(depth + (char == "(") - (char == ")"), 0)
        start = place if start is None else start
    begin = len(text) if start is None else start
    found.append(Piece(text=text[begin:], start=begin + offset))
    return found


def matching(
    words: Iterable[str | tuple[str, str]], typed: str, start: int, *, end: str = "", exclude: Iterable[str] = ()
) -> Iterator[Suggestion]:
    """Yield a suggestion for each word (or word and meta) that begins with ``typed``, without regard to case."""
    prefix, left_out = typed.lower(), {word.lower() for word in exclude}
    for entry in words:
        word, meta = entry if isinstance(entry, tuple) else (entry, "")
        if word.lower().startswith(prefix) and word.lower() not in left_out:
            yield Suggestion(text=word + end, start=start, meta=meta)
