"""Guards for the names in CellCLI's own statements: a disk that is not there may be a slip for one that is. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from exacell.cellcli.statement import Change as CellChange
from exacell.plan.facts import CellFacts
from exacell.plan.guard_targets import prefixes
from exacell.plan.nearby import refuse_slip


def refuse_slips(facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> None:
    """Raise when a statement on grid disks or cell disks that are there names one that is not, and nearly is.

    Raises:
        RefusedError: asking which one is meant.
    """
    if statement.verb not in ("ALTER", "DROP") or not all(fact.read_now for fact in facts.values()):
        return
    if statement.object == "GRIDDISK":
        grids = [grid for fact in facts.values() for grid in fact.grid_disks]
        refuse_slip(text, "grid disk", statement.names, [grid.name for grid in grids])
        known = [grid.prefix for grid in grids if grid.prefix]
        started = [
            word
            for word in prefixes(statement)
            if not any(g.name.lower().startswith(f"{word.lower()}_") for g in grids)
        ]
        refuse_slip(text, "grid disk with the prefix", started, known)
    elif statement.object == "CELLDISK":
        refuse_slip(
            text, "cell disk", statement.names, [disk.name for fact in facts.values() for disk in fact.cell_disks]
        )
