"""What earlier runs left behind, told at every start until it is mended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from exacell.cellset import fold
from exacell.confirming import Deadline, open_deadlines
from exacell.errors import JournalError
from exacell.journal import CachingOff, Journal, Row, actor, alive, caching_off


@dataclass(frozen=True, kw_only=True)
class Pending:
    """Something that an earlier change left behind.

    Attributes:
        state: ``unfinished``, ``caching off`` or ``unconfirmed``.
        mend: the statement that ends it.
        sentence: one line that says both.
    """

    change: int
    statement: str
    state: str
    mend: str
    sentence: str


def pending(journal: Journal, rack: str, now: datetime | None = None) -> tuple[Pending, ...]:
    """Return each change that never ended, left caching off or waits to be confirmed, with the statement that mends it.

    Changes that a living process is carrying out are left out.
    """
    found = []
    running: set[int] = set()
    for row in journal.unfinished(rack):
        if alive(row.body):
            running.add(row.change)
        else:
            found.append(_unfinished(row.change, str(row.body.get("statement"))))
    for item in caching_off(journal.caching_entries(rack)):
        if item.change not in running:
            found.append(_uncached(item))
    found += [_unconfirmed(item, now or datetime.now(UTC)) for item in open_deadlines(journal, rack)]
    return tuple(found)


def _unfinished(change: int, statement: str) -> Pending:
    sentence = f"change {change} ({statement}) never ended: resume finishes it"
    return Pending(change=change, statement=statement, state="unfinished", mend="resume", sentence=sentence)


def _uncached(item: CachingOff) -> Pending:
    cells = fold(item.cells)
    if item.dropped:
        mend = f"undo {item.change}"
        sentence = (
            f"change {item.change} left no flash cache on {cells}: "
            f"{mend} makes it again at its old size (resume or retry failed goes on with the change)"
        )
    else:
        mend = f"on {cells} flush flashcache"
        sentence = (
            f"change {item.change} left flash caching off on {cells}: "
            f"flush flashcache mends it (or at once: on {cells} alter flashcache all cancel flush)"
        )
    return Pending(change=item.change, statement="", state="caching off", mend=mend, sentence=sentence)


def _unconfirmed(item: Deadline, now: datetime) -> Pending:
    return Pending(
        change=item.change,
        statement=item.statement,
        state="unconfirmed",
        mend=f"confirm {item.change}",
        sentence=item.sentence(now),
    )


def note_resumed(journal: Journal, rack: str, statement: str, origin: str, finishes: int) -> None:
    """Journal that an unfinished change needed nothing more, so that it is not offered again."""
    change = journal.begin(rack, {"statement": statement, "origin": origin, "finishes": finishes, **actor()})
    journal.append(rack, change, [Row(kind="end", body={"exitCode": 0, "done": {"nothing to do": 1}})])


def observe_caching(journal: Journal, rack: str, caching: Mapping[str, str]) -> str:
    """Note in the journal that caching was seen on, for cells that an earlier change had left without.

    Args:
        caching: cell → ``on``, ``off`` or ``unknown``.

    Returns:
        why it could not be noted, one line; empty when it was. What was read stands all the same.
    """
    try:
        _observe(journal, rack, caching)
    except JournalError as error:
        return error.message
    return ""


def _observe(journal: Journal, rack: str, caching: Mapping[str, str]) -> None:
    for item in caching_off(journal.caching_entries(rack)):
        rows = [
            Row(kind="observed", target=cell, body={"caching": "on"})
            for cell in item.cells
            if caching.get(cell) == "on"
        ]
        if rows:
            journal.append(rack, item.change, rows)
