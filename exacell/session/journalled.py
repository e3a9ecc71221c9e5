"""Find in the journal the changes of a rack during a measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.journal.auditing import outlines_of, summary
from exacell.measure.finding import Change

if TYPE_CHECKING:
    from exacell.journal.record import Journal


def changes_in(journal: Journal, rack: str, since: str, until: str) -> tuple[Change, ...]:
    """Return the changes of a rack that sent something between two times, each with the hash of its last row.

    Args:
        since, until: UTC, ISO 8601, both included.
    """
    found = []
    for number in dict.fromkeys(row.change for row in journal.of_time(rack, since, until)):
        rows = journal.all_entries(rack=rack, change=number)
        told = summary(outlines_of(rows)[number])
        at, statement, ended = (str(told[name] or "") for name in ("at", "statement", "ended"))
        found.append(Change(id=str(number), at=at, statement=statement, outcome=ended, chained=rows[-1].hash))
    return tuple(found)
