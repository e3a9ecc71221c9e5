"""Read numbers from what cells print, and draw their course as sparklines. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

BARS = "▁▂▃▄▅▆▇█"
PLAIN_BARS = "_.-:=+*#"
"""The bars for a terminal without Unicode."""

_NUMBER = re.compile(r"(-?\d[\d,]*(?:\.\d+)?)(?:([KMGT])B?|\s+[A-Za-z%/].*|%)?")
_FACTORS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def number_of(value: Any) -> float | None:
    """Return a value's number, also of a text such as ``6,937 MB`` or ``364.75G``; None for other values."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value) if value == value else None
    match = _NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return None
    return float(match[1].replace(",", "")) * _FACTORS.get(match[2] or "", 1)


def sparkline(values: Sequence[float | None], width: int, *, unicode: bool = True, least_span: float = 0.0) -> str:
    """Return the last ``width`` values as bars between their least and largest; a gap is a blank, a flat line is low.

    Args:
        least_span: the least difference that the full height of the bars stands for, so that noise stays small.
    """
    bars = BARS if unicode else PLAIN_BARS
    shown = list(values)[-width:]
    known = [value for value in shown if value is not None]
    if not known:
        return ""
    low, span = min(known), max(max(known) - min(known), least_span)
    return "".join(
        " " if value is None else bars[round((value - low) / span * (len(bars) - 1)) if span else 0] for value in shown
    )
