"""On which targets a rack's newest change is complete and on which it is not, as the journal tells: ``@ok`` and ``@failed``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.journal.record import Journal
from exacell.values import dataclass

if TYPE_CHECKING:
    from exacell.journal.rows import Entry, Planned


@dataclass(frozen=True, kw_only=True)
class LastChange:
    """How the newest change ended; ``statement`` is empty when the journal has none.

    Attributes:
        ok: the targets on which everything was done, or nothing was needed.
        failed: the others: failed, not known, refused or not sent.
    """

    statement: str = ""
    ok: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


def last_change(journal: Journal, rack: str) -> LastChange:
    """Return how the newest change of a rack ended on its targets, whoever made it.

    Raises:
        JournalError: the journal can't be read.
    """
    row = journal.newest_plan(rack)
    if row is None:
        return LastChange()
    entries = journal.entries(rack=rack, change=row.change)
    bad = _bad(row, entries)
    return LastChange(
        statement=row.statement,
        ok=tuple(target for target, wrong in bad.items() if not wrong),
        failed=tuple(target for target, wrong in bad.items() if wrong),
    )


def _bad(row: Planned, entries: list[Entry]) -> dict[str, bool]:
    """Return target → whether something of the change is missing there, in the plan's order."""
    from exacell.change.settling import states_of

    states = states_of(entries)
    bad: dict[str, bool] = {}
    for key in [*((step.target, step.what) for step in row.wanted), *states]:
        bad[key[0]] = bad.get(key[0], False) or states.get(key) not in ("done", "not needed")
    return bad
