"""Compute and check a journal's hash chain: each row's hash covers the row and the hash before it. Pure.

A row is (seq, at, rack, change, kind, target, body, prev, hash) as it is stored; body is compact JSON text. The hash is
SHA-256 over prev and the first seven fields, as text, with U+001F between them, in hexadecimal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from exacell.core.values import dataclass

GENESIS = "0" * 64
"""Used as the hash before the first row."""

Stored = Sequence[object]
"""One row in stored form: its nine fields in order."""


def digest(prev: str, fields: Sequence[object]) -> str:
    """Return the hash of a row with the first seven fields ``fields``, after the row with the hash ``prev``."""
    return hashlib.sha256("\x1f".join([prev, *map(str, fields)]).encode("utf-8", "surrogatepass")).hexdigest()


_KINDS = (int, str, str, int, str, str, str)
"""The types of the hashed fields: as text 3 and '3' are equal, but a search for the number finds only one of them."""


def is_whole(row: Stored) -> bool:
    """Return whether a row matches its own hash, wherever it is in the chain."""
    *fields, prev, claimed = row
    return _proves(str(prev), fields, claimed)


def _proves(prev: str, fields: Sequence[object], claimed: object) -> bool:
    return tuple(map(type, fields)) == _KINDS and digest(prev, fields) == claimed


@dataclass(frozen=True, kw_only=True)
class Walk:
    """How far a chain is whole.

    Attributes:
        good: number of rows, from the first one on, that are whole and in their places.
        hash: of the last of them; :data:`GENESIS` if there is none.
        problem: what is wrong with the next row, one line; empty if there is none.
    """

    good: int
    hash: str
    problem: str


def walk(rows: Iterable[Stored], *, behind: int = 0, prev: str = GENESIS) -> Walk:
    """Follow the chain and return how far it is whole.

    Args:
        behind: number of the row before the first of ``rows``; 0 for the chain's beginning.
        prev: that row's hash.
    """
    good = behind
    for *fields, claimed_prev, claimed in rows:
        if fields[0] != good + 1:
            problem = f"row {good + 1} is missing: row {fields[0]} follows row {good}"
            return Walk(good=good, hash=prev, problem=problem)
        if claimed_prev != prev or not _proves(prev, fields, claimed):
            problem = f"row {fields[0]} ({fields[4]} of change {fields[3]}) was edited or moved"
            return Walk(good=good, hash=prev, problem=problem)
        prev, good = str(claimed), good + 1
    return Walk(good=good, hash=prev, problem="")


class Follower:
    """Follows a chain some rows at a time.

    Args:
        mark: number of a row whose hash is remembered; 0 for none.
        behind: number of the row before the first one; 0 means the chain's beginning.
    """

    def __init__(self, *, mark: int = 0, behind: int = 0) -> None:
        self._mark = mark
        self._known = not behind
        self.marked = ""
        self.walked = Walk(good=behind, hash=GENESIS, problem="")

    def follow(self, rows: Sequence[Stored]) -> Walk:
        """Return how far the chain is whole, with ``rows`` as its next rows; rows after the first fault are not checked."""
        if self.walked.problem or not rows:
            return self.walked
        place = self._mark - self.walked.good - 1  # If the rows do not begin there, the check below reports a fault.
        if 0 <= place < len(rows):
            self.marked = str(rows[place][-1])
        # The hash of the row before the first one is known only from the first one.
        prev = self.walked.hash if self._known else str(rows[0][-2])
        self._known = True
        self.walked = walk(rows, behind=self.walked.good, prev=prev)
        return self.walked


def against_head(walked: Walk, kept: tuple[int, str], found: str) -> str:
    """Return the difference between a whole chain and the head that was kept outside; empty if they agree.

    Args:
        kept: number and hash of the newest row, as recorded in the head.
        found: hash of the row with that number; empty if there is none.
    """
    number, claimed = kept
    if number > walked.good:
        one = walked.good + 1 == number
        return f"row {number} was cut off" if one else f"rows {walked.good + 1} to {number} were cut off"
    # After a crash the head may be older than the last rows, but it never names a row with another hash.
    return f"row {number} was changed after it was written" if found != claimed else ""
