"""Whether equal cells are shown once: for people they are, a program reads each cell's own rows. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from exacell.core.errors import StatementError
from exacell.output.result import Result

FOLDING = ("auto", "on", "off")
"""What ``set fold`` takes; auto folds on a terminal."""

MOST_FOLDED = 100_000
"""Rows of an answer above which nothing is folded: nobody reads so many, and comparing them takes memory and time."""


def wants_folding(flags: Mapping[str, object], setting: str) -> bool | None:
    """Return whether equal cells are to be shown once; None leaves it to where the answer goes.

    Args:
        flags: of the statement; ``--fold`` and ``--no-fold`` win over the setting.
        setting: one of FOLDING.

    Raises:
        StatementError: both flags.
    """
    if flags.get("fold") and flags.get("no-fold"):
        raise StatementError("--fold and --no-fold exclude each other: give one of them")
    if flags.get("fold") or flags.get("no-fold"):
        return bool(flags.get("fold"))
    return None if setting == "auto" else setting == "on"


def each_cell_apart(result: Result) -> Result:
    """Return a result whose table form has one row for each cell and object, with every name written out."""
    if result.apart is not None:
        return replace(result, fold=False, draw=result.apart, text="")
    return replace(result, fold=False, draw=None) if result.fold else result


def too_many_to_fold(result: Result) -> str:
    """Return why nothing of a result is folded; empty where nothing speaks against it."""
    if not result.fold or len(result.records) <= MOST_FOLDED:
        return ""
    return f"{len(result.records):,} rows: above {MOST_FOLDED:,} cells are not folded, each has its own rows"
