"""What this process has sent since some change, as the journal tells: an intent is on disk before its statement leaves."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

from exacell.journal.actor import actor
from exacell.journal.record import Journal
from exacell.journal.rows import Actor, Intent, Outcome, Planned


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
    me = Actor.of(actor()).process
    own = {row.change for row in rows if isinstance(row, Planned) and row.who.process == me}
    intents = Counter((row.change, row.key) for row in rows if isinstance(row, Intent) and row.change in own)
    intents_left = intents - Counter((row.change, row.key) for row in rows if isinstance(row, Outcome))
    if not intents:
        return Sent.NOTHING
    return Sent.UNDER_WAY if intents_left else Sent.ENDED
