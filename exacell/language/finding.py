"""Search in the texts of help: the words of a question against many short texts, best first. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from exacell.core.values import dataclass
from exacell.language.asked import stem

_NAME, _ABOUT, _BODY = 9, 4, 1
"""Weight of a word that is found in an entry's name, in its sentence, and in its further text."""

_WHOLE, _STEM, _BEGUN, _WITHIN = 1.0, 0.9, 0.6, 0.5
"""Factors on that weight: the whole word, the same stem, the beginning of a word, within a word."""

_FAR = 0.1
"""An entry with less than this fraction of the best rating is left out."""

_SHORTEST = 3
"""Smallest number of letters that may match the beginning or the inside of another word."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One entry that help can find.

    Attributes:
        type: what to type for it, or to read about it.
        name: the words by which it is known.
        about: a sentence about it.
        body: further text, which has the lowest weight.
        weight: factor on the rating: a statement has a larger one than one of hundreds of attributes.
    """

    type: str
    name: str
    about: str = ""
    body: str = ""
    weight: float = 1.0


def find(words: Sequence[str], entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries that contain at least half of the words, best first, without those rated far below the best."""
    rated = [(_rate(words, entry), place, entry) for place, entry in enumerate(entries)]
    least = max((rate for rate, _, _ in rated), default=0.0) * _FAR
    return [entry for rate, _, entry in sorted(rated, key=lambda each: (-each[0], each[1])) if rate and rate >= least]


def _rate(words: Sequence[str], entry: Entry) -> float:
    found = [_best(word, entry) for word in words]
    met = sum(1 for rate in found if rate > 0)
    if not met or met * 2 < len(words):
        return 0.0
    length = len(_tokens(entry.name)) or 1
    return sum(found) * (met / len(words)) * entry.weight / (1 + length / 20)


def _best(word: str, entry: Entry) -> float:
    fields = ((entry.name, _NAME), (entry.about, _ABOUT), (entry.body, _BODY))
    return max(weight * _fit(word, text) for text, weight in fields)


def _fit(word: str, text: str) -> float:
    if not text or word[:_SHORTEST] not in text.lower():
        return 0.0
    tokens = _tokens(text)
    if word in tokens:
        return _WHOLE
    if stem(word) in _stems(text):
        return _STEM
    if len(word) < _SHORTEST:
        return 0.0
    if any(token.startswith(word) for token in tokens):
        return _BEGUN
    return _WITHIN if word in text.lower() else 0.0


@lru_cache(maxsize=8192)
def _tokens(text: str) -> frozenset[str]:
    """Return the words of a text in lower case; names are included whole and in parts: ``FL_DISK_FIRST``, ``asmModeStatus``."""
    whole = re.findall(r"[\w.$#-]*\w", text)
    parts = [part for word in whole for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", word)]
    return frozenset(word.lower() for word in (*whole, *parts))


@lru_cache(maxsize=8192)
def _stems(text: str) -> frozenset[str]:
    """Return the words of a text without their endings."""
    return frozenset(map(stem, _tokens(text)))
