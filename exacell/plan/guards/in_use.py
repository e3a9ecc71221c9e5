"""Protect grid disks that ASM uses: they are never removed, and resized only as ASM allows. Pure.

This module has the errors about disks that are not free, and the checks before free ones are removed. With ALTER GRIDDISK
size=, ASM shrinks before the cell, and grows after it. Source: Oracle DBMMN, resizing grid disks; reference cellcli.md 6.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.cellcli.statement import Change as CellChange, Scalar
from exacell.core.cellset import summed
from exacell.core.errors import RefusedError
from exacell.core.units import ALLOCATION_UNIT, exact_size, parse_size, round_down, size_text, whole_size
from exacell.plan.asmspace import ways_out
from exacell.plan.checks import on_disks
from exacell.plan.facts import CellFacts, GridDisk
from exacell.plan.gate import in_use
from exacell.plan.model import Check, Op
from exacell.plan.planners.availability import unused
from exacell.plan.planners.carve import held_by
from exacell.plan.planners.griddisk import Headers, refuse_used


def refuse_in_use(text: str, hit: Mapping[str, Sequence[GridDisk]], headers: Headers) -> None:
    """Raise RefusedError if any of these grid disks is not free, with the way to free exactly these.

    Raises:
        RefusedError: a disk is in use, or that can't be found out.
    """
    refuse_used(text, hit, headers, apart=ways_out(hit, headers))


_TELLS_SINCE = "12.1.2.3"
"""The first release that shows asmDiskSize. Source: reference cellcli.md 3.3."""


def resized(
    text: str,
    facts: Mapping[str, CellFacts],
    hit: Mapping[str, Sequence[GridDisk]],
    sure: Mapping[str, Sequence[GridDisk]],
    statement: CellChange,
    headers: Headers,
) -> dict[str, tuple[Check, ...]]:
    """Return the checks on each cell right before its grid disks get another size.

    Args:
        facts: with CELL, CELLDISK and GRIDDISK read, and ``asm_size`` of the disks that ASM uses.
        hit: the disks that the statement may mean, by cell.
        sure: the disks that it means, for the cells where that is known.

    Raises:
        RefusedError: there is no room, ASM has or may have data after the new end, or that can't be found out.
    """
    size = _size(statement)
    if size < ALLOCATION_UNIT:
        raise RefusedError(f"{text}: a grid disk has at least 16M; nothing was sent")
    free = {cell: [grid for grid in grids if not grid.use(headers)] for cell, grids in hit.items()}
    used = {cell: [grid for grid in grids if grid not in free[cell]] for cell, grids in hit.items()}
    if len(statement.settings) > 1:
        # Further settings are allowed only on disks that nobody uses.
        refuse_in_use(text, used, headers)
    odd = {cell: [grid for grid in grids if grid.pool or grid.asm_mode != "ONLINE"] for cell, grids in used.items()}
    refuse_in_use(text, odd, headers)
    return {
        cell: (
            *unused(free[cell]),
            *_shrunk(text, fact, [grid for grid in used[cell] if grid.size > size], size),
            *_room(text, fact, [grid for grid in sure.get(cell, ()) if grid.size < size], size),
        )
        for cell, fact in facts.items()
    }


def grows_first(hit: Mapping[str, Sequence[GridDisk]], statement: CellChange) -> tuple[str, ...]:
    """Return a line about how the disk group gets the new space, if used disks grow; else empty."""
    size = _size(statement)
    grown = [grid for grids in hit.values() for grid in grids if grid.size < size and in_use(grid)]
    if not grown:
        return ()
    return (f"ASM uses the new space once its disk group grows: {_verb(grown[0], size)} does that too",)


def _size(statement: CellChange) -> int:
    """Return the new size as the cell rounds it."""
    said = statement.setting("size")
    assert isinstance(said, Scalar)  # The grammar accepts nothing else.
    return round_down(parse_size(said.text))


def _verb(grid: GridDisk, size: int) -> str:
    return f"resize griddisk prefix={grid.prefix or '…'} size={whole_size(size)}"


def _shrunk(text: str, fact: CellFacts, grids: Sequence[GridDisk], size: int) -> tuple[Check, ...]:
    """Return the checks, right before used disks shrink, that ASM no longer uses their ends.

    Raises:
        RefusedError: ASM still uses one, or neither ASM now nor the cell then can show it.
    """
    for grid in grids:
        way = f"{_verb(grid, size)} shrinks the disk group first, then its disks"
        if grid.asm_size is None:
            raise RefusedError(
                f"{text}: {fact.cell}: {grid.name} would shrink, but not every ASM instance shows that "
                f"{grid.asm_group} is quiet and what it uses; nothing was sent",
                hint=way,
            )
        if grid.asm_size > size:
            raise RefusedError(
                f"{text}: {fact.cell}: {grid.name} would be smaller than ASM uses of it, {exact_size(grid.asm_size)}; nothing "
                "was sent",
                hint=way,
            )
        if not fact.at_least(_TELLS_SINCE):
            raise RefusedError(
                f"{text}: {fact.cell} runs {fact.release or 'an unknown release'}, where exacell can't check right before the "
                f"statement how much of {grid.name} ASM uses; nothing was sent",
                hint=way,
            )
    return on_disks(grids, "asmDiskSize", size, op=Op.AT_MOST, why="ASM still has data after the new end of it")


def _room(text: str, fact: CellFacts, grids: Sequence[GridDisk], size: int) -> tuple[Check, ...]:
    """Return the checks that enough space is still free on the cell disks when grid disks grow.

    Raises:
        RefusedError: there is not enough now.
    """
    more = summed((grid.cell_disk, size - grid.size) for grid in grids)
    free = {disk.name: disk.free for disk in fact.cell_disks}
    for name, needed in more.items():
        if fact.read_now and needed > free.get(name, 0):
            raise RefusedError(
                f"{text}: {fact.cell}: {name} has {size_text(free.get(name, 0))} free, {size_text(needed)} more are needed; "
                "nothing was sent",
                hint=held_by(fact, name),
            )
    return tuple(
        Check(object="celldisk", attribute="freeSpace", op=Op.AT_LEAST, value=needed, where={"name": name})
        for name, needed in more.items()
    )
