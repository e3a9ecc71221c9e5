"""What earlier runs left behind, told at every start until it is mended."""

from __future__ import annotations

from collections.abc import Mapping

from exacell.cellset import fold
from exacell.journal import Journal, Row, actor, alive, caching_off


def pending(journal: Journal, rack: str) -> tuple[str, ...]:
    """Return one line for each change that never ended or left caching off, with the statement that mends it.

    Changes that a living process is carrying out are left out.
    """
    lines = []
    running: set[int] = set()
    for row in journal.unfinished(rack):
        if alive(row.body):
            running.add(row.change)
        else:
            lines.append(f"change {row.change} ({row.body.get('statement')}) never ended: resume finishes it")
    for item in caching_off(journal.caching_entries(rack)):
        if item.change not in running:
            cells = fold(item.cells)
            lines.append(
                f"change {item.change} left flash caching off on {cells}: "
                f"flush flashcache mends it (or at once: on {cells} alter flashcache all cancel flush)"
            )
    return tuple(lines)


def note_resumed(journal: Journal, rack: str, statement: str, origin: str) -> None:
    """Journal that an unfinished change needed nothing more, so that it is not offered again."""
    change = journal.begin(rack, {"statement": statement, "origin": origin, **actor()})
    journal.append(rack, change, [Row(kind="end", body={"exitCode": 0, "done": {"nothing to do": 1}})])


def observe_caching(journal: Journal, rack: str, caching: Mapping[str, str]) -> None:
    """Note in the journal that caching was seen on, for cells that an earlier change had left without.

    Args:
        caching: cell → ``on``, ``off`` or ``unknown``.
    """
    for item in caching_off(journal.caching_entries(rack)):
        rows = [
            Row(kind="observed", target=cell, body={"caching": "on"})
            for cell in item.cells
            if caching.get(cell) == "on"
        ]
        if rows:
            journal.append(rack, item.change, rows)
