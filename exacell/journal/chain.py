"""The hash chain of a journal: each row's hash covers the row and the hash before it. Pure.

A row is (seq, at, rack, change, kind, target, body, prev, hash) as it is stored; body is compact JSON text. The hash is
SHA-256 over prev and the first seven fields, as text, with U+001F between them, in hexadecimal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from exacell.core.values import dataclass

GENESIS = "0" * 64
"""What stands for the hash before the first row."""

Stored = Sequence[object]
"""One row as it is stored, its nine fields in order."""


def digest(prev: str, fields: Sequence[object]) -> str:
    """Return the hash of a row whose first seven fields are ``fields``, behind the row whose hash is ``prev``."""
    return hashlib.sha256("\x1f".join([prev, *map(str, fields)]).encode("utf-8", "surrogatepass")).hexdigest()


_KINDS = (int, str, str, int, str, str, str)
"""Of what kind the fields that are hashed are: as text 3 and '3' are one, and a search for the number finds one of them."""


def is_whole(row: Stored) -> bool:
    """Return whether a row is the one that its own hash was made of, wherever it stands."""
    *fields, prev, claimed = row
    return _proves(str(prev), fields, claimed)


def _proves(prev: str, fields: Sequence[object], claimed: object) -> bool:
    return tuple(map(type, fields)) == _KINDS and digest(prev, fields) == claimed


@dataclass(frozen=True, kw_only=True)
class Walk:
    """How far a chain is whole.

    Attributes:
        good: number of rows from the first one on that are whole and in their places.
        hash: of the last of them, :data:`GENESIS` when there is none.
        problem: what is wrong with the next one, one line; empty when there is none.
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
        behind: number of the row before the first one; the chain's beginning when it is 0.
    """

    def __init__(self, *, mark: int = 0, behind: int = 0) -> None:
        self._mark = mark
        self._known = not behind
        self.marked = ""
        self.walked = Walk(good=behind, hash=GENESIS, problem="")

    def follow(self, rows: Sequence[Stored]) -> Walk:
        """Return how far the chain is whole, the next of its rows being ``rows``; behind its first fault nothing is looked at."""
        if self.walked.problem or not rows:
            return self.walked
        place = self._mark - self.walked.good - 1  # Rows that do not begin there are a fault below.
        if 0 <= place < len(rows):
            self.marked = str(rows[place][-1])
        # Of the row before the first one only that row's own word for it is known.
        prev = self.walked.hash if self._known else str(rows[0][-2])
        self._known = True
        self.walked = walk(rows, behind=self.walked.good, prev=prev)
        return self.walked


def against_head(walked: Walk, kept: tuple[int, str], found: str) -> str:
    """Return what is wrong between a whole chain and the head that was kept outside; empty when they agree.

    Args:
        kept: number and hash of the newest row as it was written.
        found: hash of the row of that number; empty when there is none.
    """
    number, claimed = kept
    if number > walked.good:
        one = walked.good + 1 == number
        return f"row {number} was cut off" if one else f"rows {walked.good + 1} to {number} were cut off"
    # A crash may leave the head behind the rows, never before a row that it has seen in another form.
    return f"row {number} is not the one that was written" if found != claimed else ""
