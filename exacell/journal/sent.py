"""What this process has sent since some change, as the journal tells: an intent is on disk before its statement leaves."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

from exacell.journal.actor import actor
from exacell.journal.record import Entry, Journal


class Sent(StrEnum):
    """What became of what was sent."""

    NOTHING = "nothing"
    """Nothing that changes anything has left."""
    ENDED = "ended"
    """The outcome of all of it is known."""
    UNDER_WAY = "under way"
    """The outcome of some of it is not known."""


def sent_since(journal: Journal, change: int) -> Sent:
    """Return what became of the statements that this process has sent in changes behind ``change``; 0 for all.

    Raises:
        JournalError: the journal can't be read.
    """
    rows = journal.after(change)
    me = actor()
    own = {
        row.change
        for row in rows
        if row.kind == "plan" and all(row.body.get(key) == me[key] for key in ("host", "pid", "started"))
    }
    intents = Counter(_step(row) for row in rows if row.kind == "intent" and row.change in own)
    intents_left = intents - Counter(_step(row) for row in rows if row.kind == "outcome")
    if not intents:
        return Sent.NOTHING
    return Sent.UNDER_WAY if intents_left else Sent.ENDED


def _step(row: Entry) -> tuple[int, str, str]:
    return row.change, row.target, str(row.body.get("what"))
