"""What was probably meant: the one place where a word that is not known is compared with those that are. Pure.

What is to be dropped and is not there needs nothing done, unless its name is a slip: then what was meant is there still.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from exacell.core.errors import RefusedError

_LOOKS = str.maketrans("lio", "110")
"""Letters that are read as figures: ``exa1cel0l`` is ``exa1cel01``."""

_ALIKE = 0.6
_ALMOST = 0.9
_SWAPPED = 0.85
"""The same letters in another order, such as SPTO, are at least as alike as this."""


def ask_for(word: str, candidates: Iterable[str], *, limit: int = 1) -> str:
    """Return the question whether the candidates that ``word`` is nearest to were meant; empty for none."""
    return did_you_mean(closest(word, candidates, limit=limit))


def unknown(fault: str, word: str, known: Iterable[str], *, hint: str = "") -> tuple[str, str]:
    """Return message and way out for a word that is not known: the nearest alone, where one is near, else all that are.

    Args:
        fault: what is wrong, ``there is no plan x of rack t1``.
        hint: the way out where nothing is near.
    """
    there = sorted(known)
    meant = ask_for(word, there, limit=2)
    return (fault, meant) if meant else (f"{fault}; there are: {', '.join(there) or 'none'}", hint)


def closest(word: str, candidates: Iterable[str], *, limit: int = 3, alike: float = _ALIKE) -> tuple[str, ...]:
    """Return the candidates that ``word`` was probably meant to be, best first, at most ``limit``.

    Case does not matter; the candidates keep theirs. A candidate that is almost the word stands alone, otherwise what
    begins with the word comes before what is merely like it.

    Args:
        alike: from which likeness on, as difflib has it (1 is the same), a candidate counts.
    """
    typed = word.lower()
    if not typed:
        return ()
    rated: list[tuple[bool, float, str]] = []
    for candidate in candidates:
        key = candidate.lower()
        ratio = _likeness(typed, key)
        begins = key.startswith(typed)
        if begins or ratio >= alike:
            rated.append((not begins, -ratio, candidate))
    best = min((rating for _, rating, _ in rated), default=0.0)
    if best == -1.0:
        return tuple(candidate for _, rating, candidate in rated if rating == -1.0)[:limit]
    if best <= -_ALMOST:
        rated = [entry for entry in rated if entry[1] <= -_ALMOST]
    return tuple(candidate for _, _, candidate in sorted(rated))[:limit]


def _likeness(one: str, other: str) -> float:
    """Return how much two words in lower case look alike, from 0 to 1."""
    from difflib import SequenceMatcher  # only when something is wrong already

    if one.translate(_LOOKS) == other.translate(_LOOKS):
        return 1.0
    return max(SequenceMatcher(None, one, other).ratio(), _SWAPPED * (sorted(one) == sorted(other)))


_SLIP = 0.8
"""Two names as similar as this, as difflib has it (1 is the same), may be one and a slip for it."""

_OFFERED = 3
"""So many names are offered."""

_SHORT = 2
"""A part of a name, between ``_`` and ``_``, of so many letters is a letter that counts: FLASH_A and FLASH_B."""


def near(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return up to three of the known names for which ``name`` may be a slip, the likeliest first; none if it is known.

    Names that differ in their numbers alone, or in parts of one or two letters, are siblings and no slips. Numbers with
    leading zeros are all of one length: ``CD_033`` is none beside ``CD_03``.
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
    """Return the question that offers the names, empty for none."""
    return f"did you mean {' or '.join(names)}?" if names else ""


def absent(what: str, names: Sequence[str], known: Iterable[str]) -> str:
    """Return why there is nothing to drop, with the nearest of those that there are.

    Args:
        what: says that it is not there, ``there is no disk group DATB``.
        names: those that are not there.
        known: the names of that kind that are.
    """
    there = sorted(set(known))
    if {name.lower() for name in names} & {name.lower() for name in there}:
        return what  # One of them is there and can't be meant by the others: something else is wrong with it.
    meant = dict.fromkeys(found for name in names for found in closest(name, there, limit=1))
    few = f"there are: {', '.join(there)}" if len(there) <= _LISTED else ""
    return "; ".join(filter(None, (what, did_you_mean(list(meant)[:_OFFERED]) or (few if there else ""))))


_LISTED = 6
"""So many names are listed where none is near."""


def no_such(text: str, kind: str, where: str, names: Sequence[str], known: Sequence[str]) -> RefusedError:
    """Return the refusal of names of which none is there, with those that may be meant.

    Args:
        kind: what they are the names of, ``cell disk``.
        where: the cells that were looked at.
    """
    meant = dict.fromkeys(found for name in names for found in near(name, known) or closest(name, known, limit=1))
    return RefusedError(
        f"{text}: {where} has no such {kind}; nothing was sent", hint=did_you_mean(list(meant)[:_OFFERED])
    )


def refuse_slip(text: str, kind: str, names: Sequence[str], known: Iterable[str]) -> None:
    """Raise when one of the names is not there and looks like a slip for one that is.

    Args:
        kind: what they are the names of, ``disk group``.

    Raises:
        RefusedError: asking which one is meant.
    """
    there = tuple(known)
    for name in names:
        if found := near(name, there):
            raise RefusedError(f"{text}: there is no {kind} {name}; nothing was sent", hint=did_you_mean(found))
