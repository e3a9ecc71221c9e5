"""Guards for the words of CellCLI's own statements: a disk that is not there may be a slip for one that is, and what a release
does not do at all is not sent to it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from exacell.cellcli.releases import ended_action
from exacell.cellcli.statement import Change as CellChange
from exacell.core.cellset import fold
from exacell.core.errors import RefusedError
from exacell.plan.facts import CellFacts
from exacell.plan.guards.targets import prefixes
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
        _refuse_short(facts, statement, text, "grid disk", [grid.name for grid in grids])
        refuse_slip(text, "grid disk", statement.names, [grid.name for grid in grids])
        known = [grid.prefix for grid in grids]
        started = [
            word
            for word in prefixes(statement)
            if not any(g.name.lower().startswith(f"{word.lower()}_") for g in grids)
        ]
        refuse_slip(text, "grid disk with the prefix", started, known)
    elif statement.object == "CELLDISK":
        disks = [disk.name for fact in facts.values() for disk in fact.cell_disks]
        _refuse_short(facts, statement, text, "cell disk", disks)
        refuse_slip(text, "cell disk", statement.names, disks)


def _refuse_short(cells: Iterable[str], statement: CellChange, text: str, kind: str, known: Sequence[str]) -> None:
    """Raise when a disk is named without its cell: CD_03 for CD_03_exa1cel01.

    Raises:
        RefusedError: asking which one is meant.
    """
    own = [cell.split(".")[0].lower() for cell in cells]
    for name in statement.names:
        meant = [disk for disk in known if disk.lower() in [f"{name.lower()}_{cell}" for cell in own]]
        if meant and name.lower() not in [disk.lower() for disk in known]:
            each = f", or {name}_{{cell}} for each cell's own" if len(meant) > 1 else ""
            raise RefusedError(
                f"{text}: there is no {kind} {name}; nothing was sent", hint=f"did you mean {meant[0]}{each}?"
            )


def refuse_ended(facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> None:
    """Raise when a statement does something that a cell's release has no more: ACTIVE of an IORM plan, which always is.

    What a release does not have yet is a warning: a patch may have brought it.

    Raises:
        RefusedError: naming the cells, and the release up to which it is known.
    """
    unknown: dict[str, list[str]] = {}
    for cell, fact in facts.items():
        if said := ended_action(statement, fact.release):
            unknown.setdefault(said, []).append(cell)
    for said, cells in unknown.items():
        rest = [cell for cell in facts if cell not in cells]
        raise RefusedError(
            f"{text}: refused on {fold(cells)}: {said}; nothing was sent",
            hint=f"on {fold(rest)} {text}" if rest else _INSTEAD.get((statement.object, statement.action), ""),
        )


_ALWAYS_ON = "the plan and its objective are always in force: objective=basic leaves it the least to say"
_INSTEAD = {("IORMPLAN", "ACTIVE"): _ALWAYS_ON, ("IORMPLAN", "INACTIVE"): _ALWAYS_ON}
"""What to do instead, where there is something."""
