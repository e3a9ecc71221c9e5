"""What this process has sent since some change, as the journal tells: an intent is on disk before its statement leaves."""

from __future__ import annotations

from enum import StrEnum

from exacell.journal.actor import actor
from exacell.journal.record import Journal
from exacell.journal.rows import Actor
from exacell.journal.state import by_change


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
    me = Actor.of(actor()).process
    states = by_change(journal.after(change)).values()
    own = [state for state in states if any(plan.who.process == me for plan in state.plans)]
    if not any(state.intents for state in own):
        return Sent.NOTHING
    return Sent.UNDER_WAY if any(state.unanswered for state in own) else Sent.ENDED
