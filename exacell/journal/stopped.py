"""Which services a change stopped and nothing started again, as the journal tells."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from exacell.core.cellset import fold
from exacell.core.values import dataclass
from exacell.journal.record import Journal, Row
from exacell.journal.rows import Entry, Intent, Observed, Outcome
from exacell.journal.state import paired, services_of

_NOT_DONE = ("failed", "not done", "refused")
_UP = ("done", "not needed")


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """A change stopped these services on these cells.

    Attributes:
        sure: whether the statement is known to have been carried out.
    """

    change: int
    services: tuple[str, ...]
    cells: tuple[str, ...]
    sure: bool = True

    @property
    def mend(self) -> str:
        """The statement that starts them again: with CELLSRV alone the cell's grid disks come back too, cell by cell."""
        if self.services == ("cellsrv",):
            return f"online cell {self.cells[0]}"
        service = "all" if len(self.services) > 1 else self.services[0]
        return f"on {fold(self.cells)} alter cell startup services {service}"

    @property
    def sentence(self) -> str:
        """One line that says both."""
        left = "left" if self.sure else "may have left"
        said = f"change {self.change} {left} {', '.join(name.upper() for name in self.services)} stopped on {fold(self.cells)}"
        if not self.mend.startswith("online"):
            rest = ", then online cell brings its disks back" if "cellsrv" in self.services else ""
            return f"{said}: {self.mend} starts it again{rest}"
        each = "" if len(self.cells) == 1 else " and so on, one cell at a time,"
        return f"{said}: {self.mend}{each} starts it and brings the grid disks back"


def stopped_services(journal: Journal, rack: str) -> tuple[Stopped, ...]:
    """Return what changes stopped and neither a change nor an observation shows running again, by change.

    Raises:
        JournalError: the journal can't be read.
    """
    down: dict[tuple[str, str], tuple[int, bool]] = {}
    for row, intent in paired(journal.service_rows(rack)):
        _play(row, intent, down)
    found: dict[tuple[int, str, bool], list[str]] = {}
    for (cell, service), (change, sure) in down.items():
        found.setdefault((change, cell, sure), []).append(service)
    alike: dict[tuple[int, tuple[str, ...], bool], list[str]] = {}
    for (change, cell, sure), services in found.items():
        alike.setdefault((change, tuple(services), sure), []).append(cell)
    return tuple(
        Stopped(change=change, services=services, cells=tuple(cells), sure=sure)
        for (change, services, sure), cells in sorted(alike.items())
    )


def _play(row: Entry, intent: Intent | None, down: dict[tuple[str, str], tuple[int, bool]]) -> None:
    """Take one row into account: ``down`` is (cell, service) → change and whether it is sure."""
    if isinstance(row, Observed):
        for service in row.services:
            down.pop((row.target, service), None)
    elif isinstance(row, Intent):
        verb, services = services_of(row.statement)
        if verb == "SHUTDOWN":
            for service in services:  # One that an earlier change stopped, and nothing started, is no matter of doubt.
                down.setdefault((row.target, service), (row.change, False))
    elif isinstance(row, Outcome):
        # A start that was not needed was never sent: CELLSRV ran.
        verb, services = services_of("" if intent is None else intent.statement)
        if not services and row.what == "start CELLSRV":
            verb, services = "STARTUP", ("cellsrv",)
        for place in [(row.target, service) for service in services]:
            if verb != "SHUTDOWN":
                if row.state in _UP:
                    down.pop(place, None)
            elif row.state in _NOT_DONE and down.get(place) == (row.change, False):
                del down[place]
            elif row.state == "done" and place in down:  # Not what was started, or seen running, before that was known.
                down[place] = (row.change, True)


def observe_services(journal: Journal, rack: str, running: Mapping[str, Collection[str]]) -> str:
    """Note in the journal that services were seen running which an earlier change had stopped.

    Args:
        running: cell → services, in small letters.

    Returns:
        why it could not be noted, one line; empty when it was.
    """
    return journal.observe(
        rack,
        lambda: [
            (item.change, Row(kind="observed", target=cell, body={"services": up}))
            for item in stopped_services(journal, rack)
            for cell in item.cells
            if (up := [service for service in item.services if service in running.get(cell, ())])
        ],
    )
