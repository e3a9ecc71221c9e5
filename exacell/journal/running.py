"""Whether the process that made a change may still carry it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.journal.actor import actor, alive
from exacell.journal.rows import Actor

if TYPE_CHECKING:
    from exacell.journal.record import Journal
    from exacell.journal.rows import Planned


def runs(journal: Journal, row: Planned) -> bool:
    """Return whether the process of a plan's row may still carry its change out.

    Whether one of another host lives can't be told: it counts as ended when somebody has taken the rack's lock over since.
    """
    if row.who.host == actor()["host"]:
        return alive(row.who) and not (journal.is_let_go(row.change) and own(row))
    return journal.taken_over(row.rack) < row.seq


def own(row: Planned) -> bool:
    """Whether this process made the change."""
    return row.who.process == Actor.of(actor()).process
