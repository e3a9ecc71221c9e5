"""Plan sizes of grid disks, which ASM and the cells change in turn.

A disk group shrinks first in ASM, which moves data and may take long, and only then on the cells; it grows first on the
cells and then in ASM. Source: Oracle DBMMN, resizing grid disks; reference cellcli.md 6.5, asm.md section 6.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from exacell.core.cellset import fold
from exacell.core.errors import RefusedError
from exacell.core.units import (
    ALLOCATION_UNIT,
    MIB,
    counted,
    exact_size,
    format_size,
    human_size,
    round_down,
    size_text,
    whole_size,
)
from exacell.core.values import dataclass, replace
from exacell.plan.asmfacts import AsmFacts, DiskGroup
from exacell.plan.checks import group_check
from exacell.plan.estimate import rebalance_seconds
from exacell.plan.facts import CellFacts, GridDisk
from exacell.plan.gate import in_use
from exacell.plan.model import Change, Check, Gate, Op, Plan, Risk, Stage, Step, Undo, staged
from exacell.plan.planners.carve import held_by
from exacell.plan.planners.griddisk import EXASCALE_LETS_GO, members, refuse_mixed

REBALANCE_WITHIN = 48 * 3600.0
"""Seconds to wait for a rebalance; Ctrl-C ends the wait, not the rebalance."""

RESIZE_WITHIN = 900.0

COPIES = {"EXTERN": 1, "NORMAL": 2, "HIGH": 3}


@dataclass(frozen=True, kw_only=True)
class _Resize:
    """The common data of all parts of a resize: the disks by cell, the new size of each in bytes.

    Attributes:
        others: grid disks of the same disk group on cells that are not selected and that have the new size already: an earlier
            attempt resized them before it died.
    """

    prefix: str
    grids: Mapping[str, Sequence[GridDisk]]
    size: int
    others: frozenset[str] = frozenset()

    @property
    def count(self) -> int:
        return len(self.all) + len(self.others)

    @property
    def all(self) -> tuple[GridDisk, ...]:
        return tuple(grid for grids in self.grids.values() for grid in grids)

    @property
    def shrinks(self) -> bool:
        return any(grid.size > self.size for grid in self.all)

    @property
    def grows(self) -> bool:
        return any(grid.size < self.size for grid in self.all)


def resize_griddisk_plan(
    rack: str,
    facts: Mapping[str, CellFacts],
    asm: AsmFacts | None,
    *,
    prefix: str,
    size: int,
    statement: str,
    sent: Collection[str] = (),
) -> Plan:
    """Return the plan that gives every grid disk ``prefix_<celldisk>`` another size, in ASM and on the cells.

    Args:
        facts: with CELL, CELLDISK and GRIDDISK read.
        asm: the cluster whose disk group uses them; may be None if no disk is in use.
        size: bytes of each grid disk; rounded down to 16M.
        sent: statements that the continued attempt has sent: a rebalance that one of them began is waited for.

    Raises:
        RefusedError: there are no such disks or no room, the group's data does not fit, or the group is not whole and quiet.
    """
    wanted = _Resize(prefix=prefix, grids=members(facts, prefix), size=round_down(size))
    if not wanted.grids:
        raise RefusedError(
            f"resize griddisk: there are no grid disks {prefix}_* on {fold(facts)}", hint="show griddisk"
        )
    if any(in_use(grid) for grid in wanted.all):
        refuse_mixed("resize griddisk", prefix, wanted.all)
    _refuse_unfit(wanted, size)
    _refuse_no_room(wanted, facts)
    wanted = replace(wanted, others=_resized_elsewhere(wanted, asm))
    group = _group(wanted, asm)
    todo = {cell: grids for cell, grids in wanted.grids.items() if any(g.size != wanted.size for g in grids)}
    steps = (_cell_step(cell, grids, wanted) for cell, grids in todo.items())
    cells = staged(f"resize {prefix}_* on the cells", steps, "cells", gate=Gate.ALL)
    done = {cell: f"its grid disks {prefix}_* are {size_text(wanted.size)} already" for cell in wanted.grids}
    shrinking = wanted.shrinks or (group is not None and group.total_mb > wanted.count * (wanted.size // MIB))
    in_asm: list[Stage] = []
    if asm is not None and group is not None and (todo or group.total_mb != _total(wanted, group)):
        in_asm = _asm_stages(wanted, asm, group, sent if shrinking else ())
    if not todo and not in_asm:
        return Plan(statement=statement, rack=rack, done=done)
    return Plan(
        statement=statement,
        rack=rack,
        stages=tuple([*in_asm, *cells] if shrinking else [*cells, *in_asm]),
        done={cell: why for cell, why in done.items() if cell not in todo},
        inverse=_inverse(wanted, asm if in_asm else None),
        notes=tuple(_notes(wanted, size, group)),
        warnings=_warnings(wanted, group, shrinking=shrinking),
        risk=Risk.PERFORMANCE,
    )


def _refuse_unfit(wanted: _Resize, size: int) -> None:
    """Raise RefusedError if these grid disks can't get this size, with any amount of room; ``size`` is the size as given."""
    pooled = next((grid for grid in wanted.all if grid.pool), None)
    if pooled is not None:
        raise RefusedError(
            f"resize griddisk: {pooled.name} belongs to the Exascale pool {pooled.pool}; nothing was sent",
            hint=EXASCALE_LETS_GO,
        )
    if wanted.size < ALLOCATION_UNIT:
        raise RefusedError(
            f"resize griddisk: {exact_size(size)} is too small: a grid disk has at least 16M",
            hint=f"`release griddisk prefix={wanted.prefix}` removes grid disks that nothing uses",
        )
    if wanted.shrinks and wanted.grows:
        sizes = ", ".join(sorted({size_text(grid.size) for grid in wanted.all}))
        raise RefusedError(
            f"resize griddisk: the grid disks {wanted.prefix}_* are {sizes}: some would get smaller and some "
            f"larger; nothing was sent",
            hint="make them equal first, with the largest or the smallest of these sizes",
        )


def _inverse(wanted: _Resize, asm: AsmFacts | None) -> dict[str, tuple[str, ...]]:
    sizes = {grid.size for grid in wanted.all}
    if len(sizes) != 1:
        return {}
    which = f" asm={asm.cluster}" if asm is not None else ""
    back = (f"resize griddisk prefix={wanted.prefix} size={whole_size(min(sizes))}{which}",)
    return {**dict.fromkeys(wanted.grids, back), **({asm.node: back} if asm is not None else {})}


def _refuse_no_room(wanted: _Resize, facts: Mapping[str, CellFacts]) -> None:
    for cell, grids in wanted.grids.items():
        free = {disk.name: disk.free for disk in facts[cell].cell_disks}
        for grid in grids:
            more = wanted.size - grid.size
            if more > free.get(grid.cell_disk, 0):
                room = grid.size + round_down(free.get(grid.cell_disk, 0))
                raise RefusedError(
                    f"resize griddisk: {grid.name} on {cell} can be at most {exact_size(room)}: {grid.cell_disk} has "
                    f"{exact_size(free.get(grid.cell_disk, 0))} free; nothing was sent",
                    hint=held_by(facts[cell], grid.cell_disk),
                )


def _resized_elsewhere(wanted: _Resize, asm: AsmFacts | None) -> frozenset[str]:
    """Return the grid disks (lower case) of the same disk group that already have the new size, on unselected cells."""
    names = {grid.asm_group for grid in wanted.all}
    group = asm.group(next(iter(names))) if asm is not None and len(names) == 1 else None
    if asm is None or group is None:
        return frozenset()
    ours = {grid.name.lower() for grid in wanted.all}
    members = {disk.grid_disk.lower(): disk for disk in asm.members(group)}
    return frozenset(n for n, d in members.items() if n not in ours and d.os_mb == wanted.size // MIB)


def _group(wanted: _Resize, asm: AsmFacts | None) -> DiskGroup | None:
    """Return the disk group that uses the disks; None if no disk group does.

    Raises:
        RefusedError: it can't be resized as a whole now.
    """
    names = {grid.asm_group for grid in wanted.all if grid.asm_mode not in ("UNUSED", "DROPPED")}
    if not names:
        return None
    name = next(iter(names))
    what = f"resize griddisk prefix={wanted.prefix}"
    if len(names) > 1 or not name or asm is None:
        found = ", ".join(sorted(n or "(its name is unknown)" for n in names))
        unasked = "" if asm is not None else ", and no ASM cluster could be asked"
        raise RefusedError(
            f"{what}: its disks are in use by disk group {found}{unasked}; resize one whole disk group at a "
            "time; nothing was sent",
            hint="`show griddisk` and `show diskgroup` show which disks belong to which group",
        )
    away = next((g for g in wanted.all if g.asm_mode != "ONLINE"), None)
    if away is not None:
        raise RefusedError(
            f"{what}: {away.name} is {away.asm_mode or 'unknown'} in ASM, not ONLINE; nothing was sent",
            hint="`show griddisk` and `show rebalance` show when it is online; `online cell <cell>` brings a cell's disks online",
        )
    group = asm.group(name)
    if group is None or not group.number:
        raise RefusedError(
            f"{what}: disk group {name} is not mounted on {asm.node}", hint=f'sql asm "alter diskgroup {name} mount"'
        )
    inside = {disk.grid_disk.lower() for disk in asm.members(group)}
    ours = {grid.name.lower() for grid in wanted.all} | wanted.others
    if inside != ours:
        other = sorted(inside ^ ours)[0]
        raise RefusedError(
            f"{what}: disk group {name} has {counted(len(inside), 'disk')}, and you selected {counted(len(ours), 'grid disk')}, "
            f"for example {other} is not in both; a group must be resized as a whole; nothing was sent",
            hint="select all of its cells: `use @all`",
        )
    _refuse_full(what, wanted, group)
    return group


def _asm_stages(wanted: _Resize, asm: AsmFacts, group: DiskGroup, sent: Collection[str]) -> list[Stage]:
    """Return the stage that resizes the disk group; if a ``sent`` statement has begun a rebalance, wait first.

    Raises:
        RefusedError: it is being rebalanced for another reason, or with power 0.
    """
    stage = _asm_stage(wanted, asm, group)
    if not asm.told(group.name):
        return [stage]
    own = any(step.statement in sent for step in stage.steps)
    return [_waiting(wanted, asm, group, own=own), _unless_resized(stage, wanted, group)]


def _waiting(wanted: _Resize, asm: AsmFacts, group: DiskGroup, *, own: bool) -> Stage:
    """Return the stage that waits for the rebalance of the disk group.

    Args:
        own: the continued change began this rebalance.

    Raises:
        RefusedError: the rebalance is not its own, or the power is 0, so that waiting is in vain.
    """
    standing = asm.stands(group.name)
    if standing or not own:
        on = f"`set rebalance power=4 diskgroup={group.name}` starts it again; " if standing else ""
        raise RefusedError(
            f"resize griddisk prefix={wanted.prefix}: {asm.told(group.name)}; nothing was sent",
            hint=f"{on}repeat this when `show rebalance` lists none of {group.name}",
        )
    step = Step(
        target=asm.node,
        asm=asm.cluster,
        what=f"wait for the rebalance of {group.name}",
        proves=(quiet(group.name),),
        within=REBALANCE_WITHIN,
        estimate=rebalance_seconds(_moved(wanted, group), wanted.count),
    )
    return Stage(title="wait for the rebalance that runs already", key="asm-wait", steps=(step,))


def _unless_resized(stage: Stage, wanted: _Resize, group: DiskGroup) -> Stage:
    """Return the stage, changed so that its statement is sent only if the awaited rebalance ends without the new size."""
    other = replace(group_check(group.name, "totalMb", _total(wanted, group)), op=Op.NE)
    return replace(stage, steps=tuple(replace(step, only_if=(other,)) for step in stage.steps))


def _refuse_full(what: str, wanted: _Resize, group: DiskGroup) -> None:
    used, room = group.total_mb - group.free_mb, wanted.count * (wanted.size // MIB)
    if used > room:
        least = -(-used // wanted.count)
        least = -(-least * MIB // ALLOCATION_UNIT) * ALLOCATION_UNIT
        raise RefusedError(
            f"{what}: disk group {group.name} holds {used} MB (all copies) and would have {room} MB: it does not fit; "
            "nothing was sent",
            hint=f"give each at least {exact_size(least)}, and more if ASM must rebuild a mirror after a failure",
        )


def _total(wanted: _Resize, group: DiskGroup) -> int:
    """Return the later MB of the whole group: ASM uses whole allocation units of each disk."""
    unit = max(group.au_size, MIB)
    return wanted.count * (wanted.size // unit * unit // MIB)


def _moved(wanted: _Resize, group: DiskGroup) -> int:
    """Return the largest number of MB that ASM moves when the group shrinks: used space is spread evenly over its disks."""
    used = group.total_mb - group.free_mb
    return used * (group.total_mb - _total(wanted, group)) // group.total_mb


def _asm_stage(wanted: _Resize, asm: AsmFacts, group: DiskGroup) -> Stage:
    total = _total(wanted, group)
    shrinks = group.total_mb > total
    even = len({grid.size for grid in wanted.all}) == 1 and not wanted.others
    check = group_check(group.name, "totalMb", total)
    moves = Check(
        object="asm.operation",
        attribute="diskgroup",
        value=group.name,
        where={"diskgroup": group.name},
        why="the statement did not arrive, or its rebalance has ended without the new size",
    )
    step = Step(
        target=asm.node,
        asm=asm.cluster,
        statement=f"ALTER DISKGROUP {group.name} RESIZE ALL SIZE {wanted.size // MIB}M",
        what=f"resize {group.name}" + (" and wait for the rebalance" if shrinks else ""),
        needs=(group_check(group.name, "state", "MOUNTED"),),
        proves=(check, quiet(group.name)) if shrinks else (check,),
        hopes=(moves,) if shrinks else (),
        within=REBALANCE_WITHIN if shrinks else RESIZE_WITHIN,
        estimate=rebalance_seconds(_moved(wanted, group), wanted.count) if shrinks else None,
        risk=Risk.PERFORMANCE,
        undo=Undo.STATEMENT if even else Undo.IMPOSSIBLE,
        inverse=f"ALTER DISKGROUP {group.name} RESIZE ALL SIZE {group.total_mb // wanted.count}M"
        if even
        else f"the disks of {group.name} had different sizes",
        changes=(
            Change(
                object="diskgroup",
                name=group.name,
                attribute="totalMb",
                before=str(group.total_mb),
                after=str(total),
            ),
        ),
    )
    title = "shrink the disk group and wait for the rebalance" if shrinks else "grow the disk group"
    if group.total_mb == total:
        title = "make sure that the disk group has that size"
    return Stage(title=title, key="asm", gate=Gate.ALL, steps=(step,))


def _cell_step(cell: str, grids: Sequence[GridDisk], wanted: _Resize) -> Step:
    names = tuple(grid.name for grid in grids)
    before = sorted({grid.size for grid in grids})
    more = wanted.size - before[0]
    disks = tuple(grid.cell_disk for grid in grids if grid.size < wanted.size)
    needs = []
    if more > 0:
        room = Check(object="celldisk", attribute="freeSpace", op=Op.AT_LEAST, value=more, where={"name": disks})
        needs.append(room)
    if before[-1] > wanted.size and any(in_use(grid) for grid in grids):
        # Waves may come hours after the disk group's own step, and somebody may have grown it again.
        needs.append(
            Check(
                object="ASM griddisk",
                attribute="asmDiskSize",
                op=Op.NOT_ABOVE,
                value=wanted.size,
                where={"name": names},
                why="ASM still has data after the new end of it",
            )
        )
    return Step(
        target=cell,
        statement=f"ALTER GRIDDISK {','.join(names)} size={whole_size(wanted.size)}",
        what=f"resize {counted(len(names), 'grid disk')}",
        needs=tuple(needs),
        proves=(Check(object="griddisk", attribute="size", value=wanted.size, where={"name": names}),),
        expect=len(names),
        risk=Risk.PERFORMANCE,
        undo=Undo.STATEMENT if len(before) == 1 else Undo.IMPOSSIBLE,
        inverse=f"ALTER GRIDDISK {','.join(names)} size={whole_size(before[0])}"
        if len(before) == 1
        else "the disks had different sizes",
        changes=(
            Change(
                object="griddisk",
                name=f"{wanted.prefix}_*",
                attribute="size",
                before=f"{len(names)} × {', '.join(format_size(size) for size in before)}",
                after=f"{len(names)} × {format_size(wanted.size)}",
            ),
        ),
    )


def _notes(wanted: _Resize, asked: int, group: DiskGroup | None) -> list[str]:
    count = len(wanted.all)
    sizes = ", ".join(exact_size(size) for size in sorted({grid.size for grid in wanted.all}))
    note = f"{count} grid disks {wanted.prefix}_*: {sizes} → {exact_size(wanted.size)}"
    note += f" ({wanted.size // ALLOCATION_UNIT} × 16M"
    note += f", {exact_size(asked)} rounded down)" if wanted.size != asked else ")"
    notes = [note]
    if group is None:
        notes.append("no disk group uses them")
        return notes
    used, total = group.total_mb - group.free_mb, _total(wanted, group)
    notes.append(
        f"{group.name}: {human_size(group.total_mb * MIB)} raw → {human_size(total * MIB)}, {human_size(used * MIB)} of it used: "
        f"{human_size((total - used) * MIB)} stay free"
    )
    return notes


def _warnings(wanted: _Resize, group: DiskGroup | None, *, shrinking: bool) -> tuple[str, ...]:
    return (becomes_usable(group, _total(wanted, group)),) if group is not None and shrinking else ()


def becomes_usable(group: DiskGroup, room: int) -> str:
    """Return, as text, the space for files on so many raw MB, and whether the mirrors of a lost disk could be restored."""
    left = (room - (group.total_mb - group.free_mb) - group.required_mirror_free_mb) // COPIES.get(group.type, 1)
    lacking = ": after a failure ASM would not have enough space to restore all mirrors" if left < 0 else ""
    return f"usable_file_mb becomes about {human_size(left * MIB)}{lacking}"


def quiet(group: str) -> Check:
    """Return the check that ASM moves no data in a disk group."""
    return Check(object="asm.operation", op=Op.ABSENT, where={"diskgroup": group})
