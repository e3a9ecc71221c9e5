"""Guards that keep grid disks which are not free: what is said of them, and what is read again before free ones go. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.plan.asmgone import ways_out
from exacell.plan.facts import GridDisk
from exacell.plan.gate import NOT_IN_USE
from exacell.plan.model import Check, Op
from exacell.plan.planners.griddisk import Headers, refuse_used


def unused(grids: Sequence[GridDisk]) -> tuple[Check, ...]:
    """Return what must hold right before grid disks go: no disk group uses one."""
    if not grids:
        return ()
    return (
        Check(
            object="griddisk",
            attribute="asmModeStatus",
            op=Op.IN,
            value=NOT_IN_USE,
            where={"name": tuple(grid.name for grid in grids)},
            why="a grid disk that ASM uses is never taken away",
        ),
    )


def refuse_in_use(text: str, hit: Mapping[str, Sequence[GridDisk]], headers: Headers) -> None:
    """Raise when any of these grid disks is not free, naming what lets go of just these.

    Raises:
        RefusedError: a disk is in use, or it can't be told that it is not.
    """
    refuse_used(text, hit, headers, apart=ways_out(hit, headers))
