"""Find in the journal on which targets a rack's newest change succeeded and failed: ``@ok`` and ``@failed``.

It stands apart from services.py, because only these two names need the journal.
"""

from __future__ import annotations

from exacell.core.values import dataclass
from exacell.journal.record import Journal


@dataclass(frozen=True, kw_only=True)
class LastChange:
    """How the newest change ended; ``statement`` is empty if the journal has no change.

    Attributes:
        ok: the targets on which everything was done, or nothing was needed.
        failed: the other targets: failed, unknown, refused or not sent.
    """

    statement: str = ""
    ok: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


def last_change(journal: Journal, rack: str) -> LastChange:
    """Return how the newest change of a rack ended on its targets, no matter who made it.

    Raises:
        JournalError: the journal can't be read.
    """
    row = journal.newest_plan(rack)
    if row is None:
        return LastChange()
    finished = journal.state(rack, row.change).finished
    return LastChange(
        statement=row.statement,
        ok=tuple(target for target, good in finished.items() if good),
        failed=tuple(target for target, good in finished.items() if not good),
    )
