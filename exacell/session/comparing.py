"""Compare two snapshots, and find out from them, the journal and the cells whether their difference means something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from exacell.cellcli.schema import metrics as metric_table
from exacell.core.cellset import fold
from exacell.core.values import dataclass
from exacell.journal.state import Reset, resets
from exacell.measure.delta import CellDelta, delta, unlike, untold
from exacell.measure.snapshot import SYSSTAT, CellCounters, Snapshot, shared
from exacell.session.sampling import NO_HISTORY, read_history

if TYPE_CHECKING:
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session

_SLACK = timedelta(seconds=90)
"""In older versions' snapshots, how much earlier the counters may have been collected than at ``taken``."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The result of comparing snapshots with the same names.

    Attributes:
        deltas: for each kind, in the order given, one per cell, then the rack's.
        unlike: one line for each difference between the conditions of the two; empty when they are alike.
        notes: one line for each thing that could not be asked or compared.
    """

    deltas: tuple[list[CellDelta], ...]
    unlike: tuple[str, ...]
    notes: tuple[str, ...]


def compare(
    session: Session, services: Services, request: Request, pairs: Sequence[tuple[Snapshot, Snapshot]]
) -> Comparison:
    """Return the difference of each pair; it is void for cells whose counters were reset between the two snapshots.

    Args:
        pairs: first and second snapshot of each kind; all of one rack, or of no rack if listings were saved as texts.
    """
    counters = [m.name for m in metric_table().values() if m.metric_type == "Cumulative" and m.unit != "%"]
    if pairs and not pairs[0][0].rack:
        return _listed(pairs, counters)
    differs = tuple(dict.fromkeys(line for pair in pairs for line in unlike(*pair)))
    missing = dict.fromkeys(name for pair in pairs if pair[0].kind != SYSSTAT for name in untold(*pair))
    notes = [f"not compared, because it is missing in one of the snapshots: {', '.join(missing)}"] if missing else []
    restarted = _restarted(pairs, counters)
    found = []
    for before, after in pairs:
        void = {reset.cell: str(reset) for reset in _journalled(services, before, after)}
        history = (
            NO_HISTORY if before.kind == SYSSTAT else read_history(session, services, request, before, after, counters)
        )
        notes += _unread(history.unread)
        # The journal describes a reset best; the metric history shows it whoever did it.
        known = {**history.fell, **restarted, **void}
        found.append(delta(before, after, counters, known))
    return Comparison(deltas=tuple(found), unlike=differs, notes=tuple(dict.fromkeys(notes)))


def _listed(pairs: Sequence[tuple[Snapshot, Snapshot]], counters: Sequence[str]) -> Comparison:
    """Return the difference of saved listings: no cell, no journal and no history can be asked about them."""
    found = tuple(delta(before, after, counters) for before, after in pairs)
    return Comparison(deltas=found, unlike=(), notes=(LISTED_ALONE,))


LISTED_ALONE = (
    "read from two texts: exacell can't check that their cells are alike or that no counter was reset in between"
)
"""The note on a comparison of saved listings."""


def _restarted(pairs: Sequence[tuple[Snapshot, Snapshot]], counters: Sequence[str]) -> dict[str, str]:
    """Return cell → how its snapshots show a restart of CELLSRV; the snapshots of all kinds are used."""
    cells = dict.fromkeys(cell for before, after in pairs for cell in before.cells if cell in after.cells)
    found = {}
    for cell in cells:
        kinds: dict[str, tuple[CellCounters, CellCounters]] = {
            before.kind: (before.cells[cell], after.cells[cell])
            for before, after in pairs
            if cell in before.cells and cell in after.cells
        }
        if why := shared(kinds, dict.fromkeys(kinds, counters)):
            found[cell] = why
    return found


def _journalled(services: Services, before: Snapshot, after: Snapshot) -> list[Reset]:
    since = before.began or _earlier(before.taken)
    rows = services.journal.of_time(before.rack, since, after.taken)
    return [reset for reset in resets(rows) if before.kind in reset.kinds or reset.of_all]


def _earlier(taken: str) -> str:
    return (datetime.fromisoformat(taken) - _SLACK).isoformat(timespec="milliseconds")


def _unread(unread: Mapping[str, str]) -> list[str]:
    cells: dict[str, list[str]] = {}
    for cell, why in unread.items():
        cells.setdefault(why, []).append(cell)
    return [
        f"{fold(names)}: the metric history was not read ({why}): a flush by somebody else in between would not be seen"
        for why, names in cells.items()
    ]
