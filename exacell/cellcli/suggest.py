"""What was probably meant: words, and names that look like a slip for one that is there. Pure.

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


def ask_for(word: str, candidates: Iterable[str]) -> str:
    """Return the question whether the one candidate that ``word`` is nearest to was meant; empty for none."""
    return did_you_mean(closest(word, candidates, limit=1))


def closest(word: str, candidates: Iterable[str], *, limit: int = 3) -> tuple[str, ...]:
    """Return the candidates that ``word`` was probably meant to be, best first, at most ``limit``.

    Case does not matter; the candidates keep theirs. A candidate that is almost the word stands alone, otherwise what
    begins with the word comes before what is merely like it.
    """
    from difflib import SequenceMatcher  # only when something is wrong already

    typed = word.lower()
    if not typed:
        return ()
    rated: list[tuple[bool, float, str]] = []
    for candidate in candidates:
        key = candidate.lower()
        same = typed.translate(_LOOKS) == key.translate(_LOOKS)
        ratio = 1.0 if same else SequenceMatcher(None, typed, key).ratio()
        begins = key.startswith(typed)
        if begins or ratio >= _ALIKE:
            rated.append((not begins, -ratio, candidate))
    best = min((rating for _, rating, _ in rated), default=0.0)
    if best == -1.0:
        return tuple(candidate for _, rating, candidate in rated if rating == -1.0)[:limit]
    if best <= -_ALMOST:
        rated = [entry for entry in rated if entry[1] <= -_ALMOST]
    return tuple(candidate for _, _, candidate in sorted(rated))[:limit]


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
    spelled = {other.lower(): other for other in known}
    wanted = name.lower()
    if wanted in spelled:
        return ()
    from difflib import get_close_matches  # only when something is wrong already

    others = [other for other in spelled if not _siblings(wanted, other)]
    return tuple(spelled[other] for other in get_close_matches(wanted, others, n=_OFFERED, cutoff=_SLIP))


def _siblings(one: str, other: str) -> bool:
    if _differ_in_length(one, other):
        return False
    if _without_numbers(one) == _without_numbers(other):
        return True
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


def no_such(text: str, kind: str, where: str, names: Sequence[str], known: Sequence[str]) -> RefusedError:
    """Return the refusal of names of which none is there, with those that may be meant.

    Args:
        kind: what they are the names of, ``cell disk``.
        where: the cells that were looked at.
    """
    meant = dict.fromkeys(found for name in names for found in near(name, known))
    return RefusedError(
        f"{text}: there is no such {kind} on {where}; nothing was sent", hint=did_you_mean(list(meant)[:_OFFERED])
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
