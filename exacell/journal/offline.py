"""Which cells' grid disks a change took offline and nothing brought back, as the journal tells."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from exacell.core.cellset import fold
from exacell.core.values import dataclass
from exacell.journal.record import Journal, Row
from exacell.journal.rows import Entry, Intent, Observed, Outcome
from exacell.journal.state import paired

LOOKED_BACK = 100
"""Of so many changes that switched grid disks, the newest, the rows are read: this is done at every start. A round over
all cells of a rack, each taken offline and brought back by changes of its own, hides no cell that was left at its beginning."""

_SWITCH = re.compile(r"ALTER\s+GRIDDISK\s+(.+?)\s+(INACTIVE|ACTIVE)\b", re.IGNORECASE | re.DOTALL)
_NOT_DONE = ("failed", "not done", "refused")


@dataclass(frozen=True, kw_only=True)
class Offline:
    """A change took grid disks that ASM uses offline on these cells.

    Attributes:
        sure: whether the statement is known to have been carried out.
        names: of the disks, lower case; empty for all.
    """

    change: int
    cells: tuple[str, ...]
    sure: bool = True
    names: frozenset[str] = frozenset()

    @property
    def mend(self) -> str:
        """The statement that brings them back."""
        return f"online cell {self.cells[0]}"

    @property
    def sentence(self) -> str:
        """One line that says both, and why it matters."""
        took = "took" if self.sure else "may have taken"
        each = "" if len(self.cells) == 1 else " and so on, one cell at a time,"
        return (
            f"change {self.change} {took} grid disks of {fold(self.cells)} offline: {self.mend}{each} brings them back, before "
            "ASM drops them for good (disk_repair_time)"
        )


def offline_disks(journal: Journal, rack: str) -> tuple[Offline, ...]:
    """Return which cells' disks changes took offline and neither a change, an undo nor an observation shows back.

    Raises:
        JournalError: the journal can't be read.
    """
    alike: dict[tuple[int, bool], list[str]] = {}
    for item in offline_by_cell(journal, rack):
        alike.setdefault((item.change, item.sure), []).extend(item.cells)
    return tuple(
        Offline(change=change, cells=tuple(cells), sure=sure) for (change, sure), cells in sorted(alike.items())
    )


def offline_by_cell(journal: Journal, rack: str) -> tuple[Offline, ...]:
    """Return the same as :func:`offline_disks`, one item a cell, each with the names of its disks.

    Raises:
        JournalError: the journal can't be read.
    """
    away: dict[str, Offline] = {}
    before: dict[str, Offline | None] = {}
    for row, intent in paired(journal.switching_rows(rack, LOOKED_BACK)):
        _play(row, intent, away, before)
    return tuple(away.values())


def _play(row: Entry, intent: Intent | None, away: dict[str, Offline], before: dict[str, Offline | None]) -> None:
    """Take one row into account: ``away`` is what each cell misses, ``before`` what it missed when it was asked last."""
    cell = row.target
    switch = None if intent is None else _SWITCH.match(intent.statement)
    if row.kind == "undone":
        for gone in [name for name, item in away.items() if item.change == row.change]:
            del away[gone]
    elif isinstance(row, Observed):
        if row.online:
            away.pop(cell, None)
    elif switch is None:
        return
    elif isinstance(row, Intent) and row.offline:
        before[cell] = away.get(cell)
        away[cell] = Offline(change=row.change, cells=(cell,), sure=False, names=_names(switch))
    elif isinstance(row, Outcome) and cell in away:
        _ended(row.state, cell, switch, away, before)


def _ended(
    state: str, cell: str, switch: re.Match[str], away: dict[str, Offline], before: dict[str, Offline | None]
) -> None:
    """Take into account how a statement that switches grid disks ended."""
    item = away[cell]
    if switch[2].upper() == "INACTIVE":
        if state == "done":
            away[cell] = replace(item, sure=True)
        elif state in _NOT_DONE:
            del away[cell]
            if (earlier := before.get(cell)) is not None:
                away[cell] = earlier
    elif state == "done":
        back = _names(switch)
        if back and not (item.names and item.names <= back):
            return  # A part of them.
        del away[cell]


def _names(switch: re.Match[str]) -> frozenset[str]:
    """Return the names of the grid disks that a statement switches, lower case; empty for ALL. Those of a medium are a name of
    their own: ALL HARDDISK brings back what ALL HARDDISK took away, and a part of what ALL did."""
    words = [" ".join(word.lower().split()) for word in switch[1].split(",")]
    return frozenset() if words == ["all"] else frozenset(words)


def observe_online(journal: Journal, rack: str, cells: Iterable[str]) -> str:
    """Note in the journal that all grid disks of these cells were seen ONLINE, of which an earlier change took some offline.

    Returns:
        why it could not be noted, one line; empty when it was.
    """
    online = set(cells)
    return journal.observe(
        rack,
        lambda: [
            (item.change, Row(kind="observed", target=cell, body={"online": True}))
            for item in (offline_disks(journal, rack) if online else ())
            for cell in item.cells
            if cell in online
        ],
    )
