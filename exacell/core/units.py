"""Sizes and durations: parse text to integer bytes and float seconds, and print them exactly or for people.

CellCLI's K, M, G and T are powers of 1024, accepted in upper and lower case; a bare number is bytes. CellCLI prints sizes with
full binary precision and no rounding, in the largest unit that leaves at least 1 (``364.75G``, ``5.82122802734375T``, ``0``);
up to release 11.2 the largest suffix is G. Source: reference cellcli.md section 3.4.
"""

from __future__ import annotations

import re
from functools import lru_cache

from exacell.core.errors import UnitError
from exacell.core.patterns import pattern

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
TIB = 1 << 40

ALLOCATION_UNIT = 16 * MIB
"""Bytes: sizes of flash cache, flash log and grid disks are multiples of this; requests round down. Source: cellcli.md 3.4."""

FLASH_CELLDISK_RESERVE = 48 * MIB
"""Bytes that every flash cell disk keeps for itself. Source: cellcli.md 6.4 (inferred from X2, X3 and X4)."""

_SUFFIX = {"": 1, "K": KIB, "M": MIB, "G": GIB, "T": TIB}
_SIZE = pattern(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*([KMGT]?)(?:I?B)?", re.IGNORECASE)
_DURATION_PART = pattern(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@lru_cache(maxsize=1024)
def parse_size(text: str) -> int:
    """Return the bytes for a size, for example 309237645312 for ``288g``; a part of a byte is rounded down.

    Raises:
        UnitError: ``text`` is not a size, or is a fraction without a unit.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UnitError(f"'{text}' is not a size: a number with K, M, G or T (powers of 1024), for example 288G")
    from decimal import Decimal, localcontext  # Few command lines have a size.

    with localcontext() as exact:
        exact.prec = 100
        size = Decimal(match[1]) * _SUFFIX[match[2].upper()]
        if size != int(size) and not match[2]:
            raise UnitError(
                f"'{text}' is not a whole number of bytes: add K, M, G or T after the number, for example 288G"
            )
        return int(size)


def format_size(size_bytes: int, *, largest: str = "T") -> str:
    """Return ``size_bytes`` as CellCLI prints it: exact, in the largest unit that fits, ``0`` for zero.

    Args:
        largest: the largest suffix that the release prints; ``G`` up to 11.2.
    """
    if size_bytes == 0:
        return "0"
    sign, value = ("-", -size_bytes) if size_bytes < 0 else ("", size_bytes)
    units = [(suffix, factor) for suffix, factor in _SUFFIX.items() if factor <= _SUFFIX[largest]]
    suffix, factor = max(((s, f) for s, f in units if f <= value), key=lambda unit: unit[1])
    from decimal import Decimal, localcontext

    with localcontext() as exact:
        exact.prec = 100
        number = Decimal(value) / factor
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{sign}{text}{suffix}"


def whole_size(size_bytes: int) -> str:
    """Return ``size_bytes`` as a whole number of the largest possible unit (``288G``, ``373504M``).

    For statements: every release can read a number without a fraction.
    """
    suffix, factor = max(
        ((s, f) for s, f in _SUFFIX.items() if size_bytes % f == 0 and f <= size_bytes),
        key=lambda unit: unit[1],
        default=("", 1),
    )
    return f"{size_bytes // factor}{suffix}"


def human_size(size_bytes: int | float) -> str:
    """Return a size rounded for display (``364.8G``, ``2.1M``, ``0``); it must not be parsed."""
    if size_bytes == 0:
        return "0"
    value = float(abs(size_bytes))
    sign = "-" if size_bytes < 0 else ""
    for suffix, factor in (("T", TIB), ("G", GIB), ("M", MIB), ("K", KIB)):
        if value >= factor:
            number = value / factor
            return f"{sign}{number:.0f}{suffix}" if number >= 1000 else f"{sign}{number:.4g}{suffix}"
    return f"{sign}{value:.0f}B"


_DECIMALS = 4
"""Maximum number of decimals of a size that is shown as CellCLI prints it."""


def size_text(size_bytes: int | float) -> str:
    """Return a size for display: exactly as CellCLI prints it if that is short (``364.75G``), otherwise rounded."""
    exact = format_size(int(size_bytes)) if float(size_bytes).is_integer() else ""
    return exact if exact and _short(exact) else human_size(size_bytes)


def exact_size(size_bytes: int) -> str:
    """Return a limit or a part of a calculation for display: exact, as CellCLI prints it or as a whole number (``20832M``)."""
    exact = format_size(size_bytes)
    return exact if _short(exact) else whole_size(size_bytes)


def _short(size: str) -> bool:
    return len(size.partition(".")[2]) <= _DECIMALS + 1


def sizes_apart(*sizes: int) -> list[str]:
    """Return sizes for display; if rounding would make two different sizes look equal, all are shown in bytes."""
    shown = [size_text(size) for size in sizes]
    return shown if len(set(shown)) == len(set(sizes)) else [f"{size} bytes" for size in sizes]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 grid disk``, ``2 grid disks``, ``0 grid disks``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def and_more(count: int, shown: int = 1) -> str:
    """Return the text after the first ``shown`` of ``count`` things: `` (and 3 more)``; empty if these are all."""
    return f" (and {count - shown} more)" if count > shown else ""


def round_down(size_bytes: int, unit: int = ALLOCATION_UNIT) -> int:
    """Return the largest multiple of ``unit`` that is not above ``size_bytes``."""
    return size_bytes // unit * unit


def parse_duration(text: str) -> float:
    """Return the seconds for a duration: ``90``, ``1.5s``, ``30m``, ``1h30m``, ``250ms``, ``7d``.

    Raises:
        UnitError: ``text`` is not a duration.
    """
    stripped = text.strip()
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", stripped):
        return float(stripped)
    position, seconds = 0, 0.0
    for match in _DURATION_PART.finditer(stripped):
        if match.start() != position:
            break
        seconds += float(match[1]) * _SECONDS[match[2].lower()]
        position = match.end()
    if position == 0 or position != len(stripped):
        raise UnitError(f"'{text}' is not a duration: a number with ms, s, m, h or d, for example 90s or 1h30m")
    return seconds


def format_wait(seconds: float) -> str:
    """Return a waiting time in whole seconds: ``5s``, ``3m20s``."""
    return format_duration(max(round(seconds), 10)) if seconds >= 9.5 else f"{round(seconds)}s"


def format_duration(seconds: float) -> str:
    """Return a duration for display: ``0.4s``, ``12s``, ``3m20s``, ``2h05m``."""
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
