"""Whether the process that made a change may still carry it out."""

from __future__ import annotations

from exacell.journal.actor import actor, alive
from exacell.journal.record import Entry, Journal


def runs(journal: Journal, row: Entry) -> bool:
    """Return whether the process of a plan's row may still carry its change out.

    Whether one of another host lives can't be told: it counts as ended when somebody has taken the rack's lock over since.
    """
    if row.body.get("host") == actor()["host"]:
        return alive(row.body) and not (journal.is_let_go(row.change) and own(row))
    return journal.taken_over(row.rack) < row.seq


def own(row: Entry) -> bool:
    """Whether this process made the change."""
    me = actor()
    return all(row.body.get(key) == me[key] for key in ("host", "pid", "started"))
