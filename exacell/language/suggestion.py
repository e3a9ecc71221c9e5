"""The data of completion: suggestions, the known names of the rack, and the pieces of a half-typed line. Pure."""

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
from exacell.language.words import marks

Names = Callable[[Kind], Sequence[str | tuple[str, str]]]
"""Returns the known names of a kind, each bare or with a phrase about it; from a cache, never from a cell."""

RecipeParams = Callable[[str], Sequence[Param]]
"""Returns the parameters of a recipe by its name; empty if there is no such recipe."""

NAMED: Mapping[str, Kind] = {
    "GRIDDISK": Kind.GRIDDISK,
    "CELLDISK": Kind.CELLDISK,
    "PHYSICALDISK": Kind.PHYSICALDISK,
    "LUN": Kind.LUN,
    "DATABASE": Kind.DB,
    "ALERTHISTORY": Kind.ALERT,
}
"""Objects whose names are learned from cells → the kind of these names."""

Seen = Callable[[str, str], Sequence[str]]
"""Returns the values that cells have shown for an attribute of an object (both in the schema's spelling), from a cache."""


class Fit(IntEnum):
    """How well a word matches the typed text, best first."""

    PREFIX = 0
    """The word begins with the typed text."""
    PART = 1
    """A part of the word begins with it: ``mode`` in ``flashCacheMode``, ``disk`` in ``FL_DISK_FIRST``."""
    LETTERS = 2
    """The word contains its letters in this order, the first one at the beginning of a part: ``fcm`` in ``flashCacheMode``."""


def _nothing(*asked: str) -> tuple[()]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Known:
    """The sources of words for completion, besides the language itself.

    Attributes:
        names: returns the known names of a kind.
        recipe_params: returns the parameters of a recipe.
        seen: returns the values that cells have shown for an attribute.
        files: returns the paths that begin with the typed text.
        hosts_of: returns the cells and database nodes of a rack by its name; empty if there is no such rack.
        pages: returns the pages of the documentation.
        release: the release of the selected cells; words that it does not have are not offered. Empty if unknown.
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
    """One word that is offered.

    Attributes:
        text: the text that replaces the line from ``start`` to the cursor. It ends in ``=`` or ``,`` if a value follows directly.
        meta: a phrase about it: what it is, its unit or default.
        fit: how well it matches the typed text.
    """

    text: str
    start: int
    meta: str = ""
    fit: Fit = Fit.PREFIX


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A piece of a half-typed line between blanks; ``start`` is its offset in the line."""

    text: str
    start: int

    @property
    def lower(self) -> str:
        """Return the text in lower case."""
        return self.text.lower()


def pieces(text: str, offset: int = 0) -> list[Piece]:
    """Return the pieces of ``text``; the last one is being typed and may be empty.

    Blanks in quotes and parentheses do not separate pieces, nor does anything after a quote that is still open. Blanks around
    ``=`` do separate pieces here.
    """
    found: list[Piece] = []
    start: int | None = None
    for place, char, quoted, depth in marks(text):
        if quoted or depth or not char.isspace():
            start = place if start is None else start
            continue
        if start is not None:
            found.append(Piece(text=text[start:place], start=start + offset))
        start = None
    begin = len(text) if start is None else start
    found.append(Piece(text=text[begin:], start=begin + offset))
    return found


_UPPER, _LOWER_OR_DIGIT = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_PART = r"(?:^|(?<=[\W_])|(?<=[a-z0-9])(?=[A-Z]))"


@lru_cache(maxsize=8)
def _patterns(typed: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return two patterns: for a part of a word that begins with ``typed``, and for a word that contains its letters in order."""
    cased = [f"[{re.escape(c.lower())}{re.escape(c.upper())}]" if c.isalpha() else re.escape(c) for c in typed]
    return re.compile(_PART + "".join(cased)), re.compile(_PART + ".*?".join(cased))


def fit_of(word: str, typed: str) -> Fit | None:
    """Return how well ``word`` matches ``typed`` (upper and lower case are equal); None if it does not match."""
    if word[: len(typed)].lower() == typed.lower():
        return Fit.PREFIX
    if len(typed) < 2:
        return None
    part, letters = _patterns(typed)
    if part.search(word):
        return Fit.PART
    return Fit.LETTERS if letters.search(word) else None


class Vocabulary(Sequence[str]):
    """A large set of words that is searched at every key press: ten thousand grid disks in a millisecond.

    Args:
        words: the words in any order; they are stored in alphabetical order, in which upper and lower case are equal.
        about: word → a phrase about it.
        note: the phrase for words without one.
    """

    def __init__(self, words: Iterable[str], *, about: Mapping[str, str] | None = None, note: str = "") -> None:
        self._words = tuple(sorted(set(words), key=str.lower))
        self._lower = [word.lower() for word in self._words]
        self._text = "\n".join(self._lower)
        # It has the same length as _text: letters that would become two in lower case stay.
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
        """Return matching words, best first, at most ``most`` of each kind; those that match by letters only if there are no
        others.

        If more words begin with the typed text, the last one of them is included: the longest common beginning of the returned
        words is then that of all.
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
        """Yield the words with a part that begins with ``wanted``; those from ``low`` to ``high`` are left out, as they begin
        with it.
        """
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
        """Return whether a part of a word begins at this offset of the text, as :data:`_PART` defines it."""
        before, here = self._cased[place - 1 : place], self._cased[place]
        return not before.isalnum() or (here in _UPPER and before in _LOWER_OR_DIGIT)

    def _with_letters(self, typed: str) -> Iterator[tuple[int, str]]:
        """Yield (number of characters between the first and last matching letter, word)."""
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
"""Maximum number of suggestions of one kind: more than a person reads."""


def matching(
    words: Iterable[str | tuple[str, str]], typed: str, start: int, *, end: str = "", exclude: Iterable[str] = ()
) -> Iterator[Suggestion]:
    """Yield a suggestion for each word (or word and meta) that matches ``typed`` in any way; upper and lower case are equal."""
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
    """Return every metric with the cells' description of it; if that is not known, with its object and unit."""
    said = known.names(Kind.METRIC)
    return _metrics(said if isinstance(said, Vocabulary) else None)


@lru_cache(maxsize=2)
def _metrics(said: Vocabulary | None) -> Vocabulary:
    about = {name: f"{one.object_type}, {one.unit}" for name, one in metrics().items()}
    if said is not None:
        about.update({name: said.meta(name) for name in said if said.meta(name)})
    return Vocabulary([*about, *(said or ())], about=about)
