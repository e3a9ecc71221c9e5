"""Whether two cells' disks were offline at one time, as the rows of a journal tell."""

from __future__ import annotations

from collections.abc import Iterable

from exacell.core.values import dataclass
from exacell.journal.rows import Entry, Gated, Intent, Outcome


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """Two failure groups that may have been away together: the one whose turn it was, and those still away."""

    target: str
    away: tuple[str, ...]
    wave: int


def overlaps(rows: Iterable[Entry]) -> tuple[Overlap, ...]:
    """Return every moment at which a second failure group was taken offline; empty is the proof that there was none.

    A cell counts as away from the moment at which the intent to take its disks offline was on disk, before the statement
    left, until the journal holds evidence that ASM has them back: the verified outcome of the step that brings them online,
    or a gate that was seen open (which reads every disk of every other cell). That a statement failed is no evidence.

    Args:
        rows: of one rack in the journal's order, of as many changes as shall be judged together.
    """
    away: dict[str, None] = {}
    found = []
    for row in rows:
        if isinstance(row, Intent) and row.offline:
            others = tuple(cell for cell in away if cell != row.target)
            if others:
                found.append(Overlap(target=row.target, away=others, wave=row.wave))
            away[row.target] = None
        elif isinstance(row, Outcome) and row.online and row.state == "done":
            away.pop(row.target, None)
        elif isinstance(row, Gated) and row.open:
            away = {cell: None for cell in away if cell in row.cells}
    return tuple(found)
