"""What a completion offers, and the pieces of a half-typed line that completions look at. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import accumulate, islice
from typing import overload

from exacell.cellcli.schema import metrics
from exacell.core.values import dataclass
from exacell.language.registry import Kind, Param

Names = Callable[[Kind], Sequence[str | tuple[str, str]]]
"""Known names of a kind, bare or with a phrase about each, at once: from a cache, never from a cell."""

RecipeParams = Callable[[str], Sequence[Param]]
"""The parameters of a recipe by its name; empty when there is no such recipe."""

NAMED: Mapping[str, Kind] = {
    "GRIDDISK": Kind.GRIDDISK,
    "CELLDISK": Kind.CELLDISK,
    "PHYSICALDISK": Kind.PHYSICALDISK,
    "LUN": Kind.LUN,
    "DATABASE": Kind.DB,
    "ALERTHISTORY": Kind.ALERT,
}
"""Objects whose names are learned from cells, and as what."""

Seen = Callable[[str, str], Sequence[str]]
"""Values that cells have shown for an attribute of an object (both as the schema spells them), from a cache."""


class Fit(IntEnum):
    """How a word fits what is typed, best first."""

    PREFIX = 0
    """It begins so."""
    PART = 1
    """A part of it begins so: ``mode`` in ``flashCacheMode``, ``disk`` in ``FL_DISK_FIRST``."""
    LETTERS = 2
    """The letters come in it in this order, the first one at the beginning of a part: ``fcm`` in ``flashCacheMode``."""


def _nothing(*asked: str) -> tuple[()]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Known:
    """What completion knows besides the language itself.

    Attributes:
        names: known names of a kind.
        recipe_params: the parameters of a recipe.
        seen: values that an attribute has been seen with.
        files: paths that begin with what is typed.
        hosts_of: the cells and database nodes of a rack by its name; empty when there is no such rack.
        pages: the documentation's pages.
        release: the release of the selected cells; what it does not have is not offered. Empty: unknown.
    """

    names: Names
    recipe_params: RecipeParams = _nothing
    seen: Seen = _nothing
    files: Callable[[str], Sequence[str]] = _nothing
    hosts_of: Callable[[str], Sequence[str]] = _nothing
    pages: Callable[[], Sequence[str]] = _nothing
    release: str = ""


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """One word that may be meant.

    Attributes:
        text: replaces the line from ``start`` to the cursor. It ends in ``=`` or ``,`` when a value follows directly.
        meta: a phrase beside it: what it is, its unit or default.
        fit: how it fits what is typed.
    """

    text: str
    start: int
    meta: str = ""
    fit: Fit = Fit.PREFIX


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


_UPPER, _LOWER_OR_DIGIT = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_PART = r"(?:^|(?<=[\W_])|(?<=[a-z0-9])(?=[A-Z]))"


@lru_cache(maxsize=8)
def _patterns(typed: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a word's part that begins with ``typed``, and of a word that holds its letters in order."""
    cased = [f"[{re.escape(c.lower())}{re.escape(c.upper())}]" if c.isalpha() else re.escape(c) for c in typed]
    return re.compile(_PART + "".join(cased)), re.compile(_PART + ".*?".join(cased))


def fit_of(word: str, typed: str) -> Fit | None:
    """Return how ``word`` fits ``typed``, without regard to case; None when it does not."""
    if word[: len(typed)].lower() == typed.lower():
        return Fit.PREFIX
    if len(typed) < 2:
        return None
    part, letters = _patterns(typed)
    if part.search(word):
        return Fit.PART
    return Fit.LETTERS if letters.search(word) else None


class Vocabulary(Sequence[str]):
    """Many words that are searched at every key: ten thousand grid disks in a millisecond.

    Args:
        words: in any order; they are kept in alphabetical order, without regard to case.
        about: a phrase about a word.
        note: the phrase about those without one.
    """

    def __init__(self, words: Iterable[str], *, about: Mapping[str, str] | None = None, note: str = "") -> None:
        self._words = tuple(sorted(set(words), key=str.lower))
        self._lower = [word.lower() for word in self._words]
        self._text = "\n".join(self._lower)
        # Of the same length, also where one letter has two in lower case.
        self._cased = "\n".join(
            word if len(word) == len(lower) else lower for word, lower in zip(self._words, self._lower, strict=True)
        )
        self._starts = list(accumulate((len(word) + 1 for word in self._lower), initial=0))
        self.about: Mapping[str, str] = about or {}
        self.note = note

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...

    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        return self._words[place]

    def __len__(self) -> int:
        return len(self._words)

    def meta(self, word: str) -> str:
        """Return the phrase about ``word``."""
        return self.about.get(word, self.note)

    def fitting(self, typed: str, most: int) -> list[tuple[str, Fit]]:
        """Return words that fit, best first, at most ``most`` of each kind; those by letters only when no other does.

        Of more words that begin so, the last one is among them: what all begin with is then what those returned do.
        """
        wanted = typed.lower()
        low = bisect_left(self._lower, wanted)
        high = bisect_left(self._lower, wanted + chr(0x10FFFF))
        begin_so = self._words[low : min(high, low + most)]
        if high - low > most:
            begin_so = (*begin_so[:-1], self._words[high - 1])
        found = [(word, Fit.PREFIX) for word in begin_so]
        if len(typed) < 2:
            return found
        found += [(word, Fit.PART) for word in islice(self._with_part(wanted, low, high), most)]
        if found:
            return found
        by_letters = sorted(islice(self._with_letters(typed), most), key=lambda each: each[0])
        return [(word, Fit.LETTERS) for _, word in by_letters]

    def _with_part(self, wanted: str, low: int, high: int) -> Iterator[str]:
        """Yield the words with a part that begins so, those from ``low`` to ``high`` left out: they begin so themselves."""
        starts = self._starts
        for begin, end in ((0, starts[low]), (starts[high], len(self._text))):
            place = self._text.find(wanted, begin, end)
            while place >= 0:
                index = bisect_right(starts, place) - 1
                if self._begins_part(place):
                    yield self._words[index]
                    place = starts[index + 1] - 1
                place = self._text.find(wanted, place + 1, end)

    def _begins_part(self, place: int) -> bool:
        """Whether a part of a word begins at this place of the text, as :data:`_PART` has it."""
        before, here = self._cased[place - 1 : place], self._cased[place]
        return not before.isalnum() or (here in _UPPER and before in _LOWER_OR_DIGIT)

    def _with_letters(self, typed: str) -> Iterator[tuple[int, str]]:
        """Yield (over how many characters the letters are spread, word)."""
        letters = _patterns(typed)[1]
        rough = re.compile(r"[^\n]*?".join(re.escape(char) for char in typed.lower()))
        match = rough.search(self._text)
        while match is not None:
            index = bisect_right(self._starts, match.start()) - 1
            inside = letters.search(self._words[index])
            if inside is not None:
                yield inside.end() - inside.start(), self._words[index]
            match = rough.search(self._text, self._starts[index + 1])


MOST = 300
"""Suggestions of one kind that are made: more than anybody reads through."""


def matching(
    words: Iterable[str | tuple[str, str]], typed: str, start: int, *, end: str = "", exclude: Iterable[str] = ()
) -> Iterator[Suggestion]:
    """Yield a suggestion for each word (or word and meta) that fits ``typed`` in any way, without regard to case."""
    left_out = {word.lower() for word in exclude}
    for word, meta, fit in _fitting(words, typed):
        if not (left_out and word.lower() in left_out):
            yield Suggestion(text=word + end, start=start, meta=meta, fit=fit)


def _fitting(words: Iterable[str | tuple[str, str]], typed: str) -> Iterator[tuple[str, str, Fit]]:
    if isinstance(words, Vocabulary):
        for word, fit in words.fitting(typed, MOST):
            yield word, words.meta(word), fit
        return
    for entry in words:
        word, meta = entry if isinstance(entry, tuple) else (entry, "")
        found = fit_of(word, typed)
        if found is not None:
            yield word, meta, found


def described_metrics(known: Known) -> Vocabulary:
    """Return every metric with what the cells say that it is, or with its object and unit where that is not known."""
    said = known.names(Kind.METRIC)
    return _metrics(said if isinstance(said, Vocabulary) else None)


@lru_cache(maxsize=2)
def _metrics(said: Vocabulary | None) -> Vocabulary:
    about = {name: f"{one.object_type}, {one.unit}" for name, one in metrics().items()}
    if said is not None:
        about.update({name: said.meta(name) for name in said if said.meta(name)})
    return Vocabulary([*about, *(said or ())], about=about)
