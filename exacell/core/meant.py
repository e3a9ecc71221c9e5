"""Find what a user probably meant: compare an unknown word with the known ones. Pure.

A DROP of something that does not exist needs nothing to be done, unless the name is a slip: then the intended object still
exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from exacell.core.errors import RefusedError

_LOOKS = str.maketrans("lio", "110")
"""Letters that look like digits: ``exa1cel0l`` may mean ``exa1cel01``."""

_ALIKE = 0.6
_ALMOST = 0.9
_SWAPPED = 0.85
"""Smallest similarity of two words with the same letters in another order, such as SPTO."""


def ask_for(word: str, candidates: Iterable[str], *, limit: int = 1) -> str:
    """Return a question that offers the nearest candidates; empty if none is near."""
    return did_you_mean(closest(word, candidates, limit=limit))


def unknown(fault: str, word: str, known: Iterable[str], *, hint: str = "") -> tuple[str, str]:
    """Return message and hint for an unknown word: the nearest known words if any is near, otherwise all known words.

    Args:
        fault: what is wrong, ``there is no plan x of rack t1``.
        hint: the hint if no word is near.
    """
    there = sorted(known)
    meant = ask_for(word, there, limit=2)
    return (fault, meant) if meant else (f"{fault}; there are: {', '.join(there) or 'none'}", hint)


def closest(word: str, candidates: Iterable[str], *, limit: int = 3, alike: float = _ALIKE) -> tuple[str, ...]:
    """Return the candidates that are most similar to ``word``, best first, at most ``limit``.

    Upper and lower case are equal. If a candidate is almost the word, only such candidates are returned; otherwise candidates
    that begin with the word come before those that are only similar.

    Args:
        alike: smallest similarity (difflib's ratio; 1 is equal) at which a candidate counts.
    """
    typed = word.lower()
    if not typed:
        return ()
    rated: list[tuple[bool, float, str]] = []
    for candidate in candidates:
        key = candidate.lower()
        begins = key.startswith(typed)
        if not begins and _most(typed, key) < alike:
            continue
        ratio = _likeness(typed, key)
        if begins or ratio >= alike:
            rated.append((not begins, -ratio, candidate))
    best = min((rating for _, rating, _ in rated), default=0.0)
    if best == -1.0:
        return tuple(candidate for _, rating, candidate in rated if rating == -1.0)[:limit]
    if best <= -_ALMOST:
        rated = [entry for entry in rated if entry[1] <= -_ALMOST]
    return tuple(candidate for _, _, candidate in sorted(rated))[:limit]


def _likeness(one: str, other: str) -> float:
    """Return how similar two words in lower case are, from 0 to 1."""
    if one.translate(_LOOKS) == other.translate(_LOOKS):
        return 1.0
    return max(ratio(one, other), _SWAPPED * (sorted(one) == sorted(other)))


def ratio(one: str, other: str) -> float:
    """Return difflib's ratio of two texts, from 0 to 1: the only measure of similarity that exacell has."""
    from difflib import SequenceMatcher  # only needed once something is wrong

    return SequenceMatcher(None, one, other).ratio()


def _most(one: str, other: str) -> float:
    """Return a number that the similarity of two words does not exceed, from their letters alone: much faster than it."""
    if one.translate(_LOOKS) == other.translate(_LOOKS):
        return 1.0
    return 2.0 * sum(min(one.count(letter), other.count(letter)) for letter in set(one)) / (len(one) + len(other))


_SLIP = 0.8
"""How similar two names must be (difflib's ratio; 1 is equal) for one to be a slip for the other."""

_OFFERED = 3
"""Maximum number of names that are offered."""

_SHORT = 2
"""A part of a name between two ``_`` with at most this many letters distinguishes names: FLASH_A and FLASH_B."""


def near(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return up to three known names for which ``name`` may be a slip, the most similar first; empty if the name is known.

    Names that differ only in their numbers, or in parts of one or two letters, are different objects, not slips. But numbers
    with leading zeros all have one length, so ``CD_033`` may be a slip for ``CD_03``.
    """
    there, wanted = {other.lower(): other for other in known}, name.lower()
    if wanted in there:
        return ()
    rated = [(_likeness(wanted, key), other) for key, other in there.items() if not _siblings(wanted, key)]
    best = sorted((pair for pair in rated if pair[0] >= _SLIP), key=lambda pair: -pair[0])
    return tuple(other for likeness, other in best if likeness == 1.0 or best[0][0] < 1.0)[:_OFFERED]


def _siblings(one: str, other: str) -> bool:
    if _differ_in_length(one, other):
        return False
    pairs = [pair for pair in zip(one.split("_"), other.split("_"), strict=False) if pair[0] != pair[1]]
    return bool(pairs) and all(
        (len(part) <= _SHORT and len(others) <= _SHORT) or _without_numbers(part) == _without_numbers(others)
        for part, others in pairs
    )


def _differ_in_length(one: str, other: str) -> bool:
    pairs = zip(re.findall(r"\d+", one), re.findall(r"\d+", other), strict=False)
    return any(len(a) != len(b) and any(re.match(r"0\d", number) for number in (a, b)) for a, b in pairs)


def _without_numbers(text: str) -> str:
    return re.sub(r"\d", "", text)


def did_you_mean(names: Sequence[str]) -> str:
    """Return the question whether one of the names was meant; empty for no names."""
    return f"did you mean {' or '.join(names)}?" if names else ""


def absent(what: str, names: Sequence[str], known: Iterable[str]) -> str:
    """Return why there is nothing to drop, and the most similar names that exist.

    Args:
        what: the message, ``there is no disk group DATB``.
        names: the names that do not exist.
        known: the names of that kind that exist.
    """
    there = sorted(set(known))
    if {name.lower() for name in names} & {name.lower() for name in there}:
        return what  # One of them exists, so the others are not slips for it: there is another error.
    meant = dict.fromkeys(found for name in names for found in closest(name, there, limit=1))
    few = f"there are: {', '.join(there)}" if len(there) <= _LISTED else ""
    return "; ".join(filter(None, (what, did_you_mean(list(meant)[:_OFFERED]) or (few if there else ""))))


_LISTED = 6
"""Maximum number of names that are listed if none is similar."""


def no_such(text: str, kind: str, where: str, names: Sequence[str], known: Sequence[str]) -> RefusedError:
    """Return the refusal of names that do not exist, with similar names.

    Args:
        kind: the kind of object, ``cell disk``.
        where: the cells that were searched.
    """
    meant = dict.fromkeys(found for name in names for found in near(name, known) or closest(name, known, limit=1))
    return RefusedError(
        f"{text}: {where} has no such {kind}; nothing was sent", hint=did_you_mean(list(meant)[:_OFFERED])
    )


def refuse_slip(text: str, kind: str, names: Sequence[str], known: Iterable[str]) -> None:
    """Raise RefusedError if one of the names does not exist and looks like a slip for one that does.

    Args:
        kind: the kind of object, ``disk group``.

    Raises:
        RefusedError: its hint asks whether the similar name was meant.
    """
    there = tuple(known)
    for name in names:
        if found := near(name, there):
            raise RefusedError(f"{text}: there is no {kind} {name}; nothing was sent", hint=did_you_mean(found))
