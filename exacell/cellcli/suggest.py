"""Words that were probably meant."""

from __future__ import annotations

from collections.abc import Iterable

_LOOKS = str.maketrans("lio", "110")
"""Letters that are read as figures: ``exa1cel0l`` is ``exa1cel01``."""

_ALIKE = 0.6
_ALMOST = 0.9


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return the question that offers the candidate which ``word`` was probably meant to be; empty for none."""
    found = closest(word, candidates, limit=1)
    return f"did you mean {found[0]}?" if found else ""


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
