"""Compute the facts of cells and of ASM after changes that are only planned. Pure.

A statement that is not read here leaves the facts as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from exacell.cellcli.statement import Change as CellChange, parse
from exacell.core.cellset import grouped
from exacell.core.units import MIB, parse_size, round_down
from exacell.core.values import dataclass, replace
from exacell.plan.asmchange import DropGroup, NewGroup, read_asm_change
from exacell.plan.asmfacts import AsmDisk, AsmFacts, DiskGroup
from exacell.plan.asmspace import Keeping
from exacell.plan.facts import CellFacts, FlashCache, GridDisk, rounded_cache
from exacell.plan.guards.create import flash_members, places, size_asked
from exacell.plan.guards.targets import items, own_of, prefixes, targets_of
from exacell.plan.model import Gate, Plan, Step
from exacell.plan.targets import ASM

_LOG = 512 * MIB
"""The size of a flash log whose CREATE gives none. Source: reference cellcli.md 6.1."""
_TYPE = {"external": "EXTERN", "normal": "NORMAL", "high": "HIGH"}
_VALUES = ("mode", "cellsrv", "flash_log", "flash_cache")
"""The facts of a cell that have one value."""


@dataclass(frozen=True, kw_only=True)
class CellAfter:
    """What a plan changes on one cell.

    Attributes:
        values: the facts of ``_VALUES`` with another value.
        free: cell disk → bytes that become free; negative if they are taken.
        grids: grid disk → how it will be; None if it will be gone.
        known: the names of all grid disks of the cell before, in lower case.
    """

    cell: str
    values: Mapping[str, Any]
    free: Mapping[str, int]
    grids: Mapping[str, GridDisk | None]
    known: frozenset[str]

    def on_cell(self, fact: CellFacts) -> CellFacts:
        """Return the facts of a cell as they will be."""
        if fact.cell != self.cell:
            return fact
        disks = tuple(replace(disk, free=disk.free + self.free.get(disk.name, 0)) for disk in fact.cell_disks)
        return replace(fact, cell_disks=disks, grid_disks=_merged(fact.grid_disks, self.grids), **self.values)

    def in_asm(self, asm: AsmFacts) -> AsmFacts:
        """Return the facts of an ASM cluster as they will be: it sees new grid disks, and no longer those that are gone."""
        seen = {disk.grid_disk.lower() for disk in asm.disks}
        disks = [disk for disk in asm.disks if self.grids.get(disk.grid_disk, disk) is not None]
        disks = [_sized(disk, self.grids.get(disk.grid_disk)) for disk in disks]
        address = next((d.cell_address for d in asm.disks if d.grid_disk.lower() in self.known), self.cell)
        new = [grid for grid in self.grids.values() if grid is not None and grid.name.lower() not in seen]
        made = [_candidate(f"o/{address}/{grid.name}", grid.size) for grid in new]
        return replace(asm, disks=(*disks, *made))


@dataclass(frozen=True, kw_only=True)
class GroupAfter:
    """What a plan changes in an ASM cluster: a disk group that will be there, or will be gone.

    ``grids`` are the grid disks of a new one, by cell.
    """

    cluster: str
    change: NewGroup | DropGroup
    grids: Mapping[str, Sequence[GridDisk]]

    @property
    def _names(self) -> dict[str, str]:
        """Return grid disk (lower case) → cell."""
        return {grid.name.lower(): cell for cell, grids in self.grids.items() for grid in grids}

    @property
    def _usable(self) -> int:
        keeping = Keeping(redundancy=_redundancy(self.change), au_size=_au_size(self.change))
        smallest = min((grid.size for grids in self.grids.values() for grid in grids), default=0)
        return keeping.usable(smallest, list(map(len, self.grids.values()))) // MIB

    def on_cell(self, fact: CellFacts) -> CellFacts:
        """Return the facts of a cell as they will be: whose its grid disks are."""
        name, names = self.change.group, self._names

        def owned(grid: GridDisk) -> GridDisk:
            if isinstance(self.change, DropGroup):
                mine = grid.asm_group == name
                return replace(grid, asm_group="", asm_mode="UNUSED", deactivation="Yes") if mine else grid
            return replace(grid, asm_group=name, asm_mode="ONLINE") if grid.name.lower() in names else grid

        return replace(fact, grid_disks=tuple(map(owned, fact.grid_disks)))

    def in_asm(self, asm: AsmFacts) -> AsmFacts:
        """Return the facts of an ASM cluster as they will be."""
        if asm.cluster != self.cluster:
            return asm
        if isinstance(self.change, DropGroup):
            old = asm.group(self.change.group)
            number = old.number if old is not None else 0
            left = (_former(disk) if number and disk.group == number else disk for disk in asm.disks)
            groups = tuple(group for group in asm.groups if group is not old)
            return replace(asm, groups=groups, disks=tuple(left))
        names, number = self._names, 1 + max((group.number for group in asm.groups), default=0)
        disks = tuple(
            _member(disk, number, cell) if (cell := names.get(disk.grid_disk.lower())) else disk for disk in asm.disks
        )
        total = sum(disk.os_mb for disk in disks if disk.group == number)
        given = dict(self.change.attributes)
        made = DiskGroup(
            name=self.change.group,
            number=number,
            states={instance.inst_id: "MOUNTED" for instance in asm.instances},
            type=_TYPE[self.change.redundancy],
            au_size=_au_size(self.change),
            total_mb=total,
            free_mb=total,
            required_mirror_free_mb=0,
            usable_file_mb=self._usable,
            offline_disks=0,
            compatible_asm=given.get("compatible.asm", ""),
            compatible_rdbms=given.get("compatible.rdbms", ""),
            voting_files=False,
            files=0,
            clients=(),
            attributes=given,
        )
        return replace(asm, groups=(*asm.groups, made), disks=disks)

    def in_database(self, groups: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return a database's records of disk groups as they will be."""
        others = [dict(row) for row in groups if row["name"] != self.change.group]
        if isinstance(self.change, DropGroup):
            return others
        sectors = parse_size(dict(self.change.attributes).get("sector_size", "512"))
        return [*others, {"name": self.change.group, "sectorSize": sectors, "usableMb": self._usable}]


After = CellAfter | GroupAfter


def effects(plan: Plan, facts: Mapping[str, CellFacts]) -> list[After]:
    """Return what a plan changes on the cells whose facts it was made from, and in ASM."""
    steps = [step for stage in plan.stages if stage.gate is not Gate.MEND for step in stage.steps if step.statement]
    found: list[After] = []
    for cell, own in grouped((step.target, step) for step in steps if step.kind.cellcli).items():
        if cell in facts:
            found.append(_difference(facts[cell], _after_steps(facts[cell], own)))
    for step in steps:
        change = read_asm_change(step.statement) if step.kind is ASM else None
        if isinstance(change, (NewGroup, DropGroup)):
            found.append(GroupAfter(cluster=step.owner, change=change, grids=_searched(change, facts)))
    return found


def _searched(change: NewGroup | DropGroup, facts: Mapping[str, CellFacts]) -> dict[str, list[GridDisk]]:
    """Return the grid disks of a new disk group by cell; the plans of exacell search for one prefix on all cells."""
    if isinstance(change, DropGroup):
        return {}
    start = change.search.rpartition("/")[2].removesuffix("*").lower()
    found = {
        cell: [grid for grid in fact.grid_disks if grid.name.lower().startswith(start)] for cell, fact in facts.items()
    }
    return {cell: grids for cell, grids in found.items() if grids}


def _difference(before: CellFacts, after: CellFacts) -> CellAfter:
    old, new = ({grid.name: grid for grid in fact.grid_disks} for fact in (before, after))
    free = {disk.name: disk.free for disk in before.cell_disks}
    return CellAfter(
        cell=before.cell,
        values={name: getattr(after, name) for name in _VALUES if getattr(after, name) != getattr(before, name)},
        free={disk.name: disk.free - free[disk.name] for disk in after.cell_disks if disk.free != free[disk.name]},
        grids={name: new.get(name) for name in {**old, **new} if new.get(name) != old.get(name)},
        known=frozenset(name.lower() for name in old),
    )


def _after_steps(fact: CellFacts, steps: Iterable[Step]) -> CellFacts:
    for step in steps:
        statement = parse(step.statement)
        if isinstance(statement, CellChange):
            fact = after(fact, own_of(statement, fact.cell))
    return fact


def after(fact: CellFacts, statement: CellChange) -> CellFacts:
    """Return the facts of a cell after a statement; unchanged if the statement is not read here."""
    match statement.verb, statement.object:
        case "DROP", "FLASHCACHE":
            cache = fact.flash_cache
            return replace(_freed(fact, cache.cell_disks, cache.size), flash_cache=None) if cache is not None else fact
        case "CREATE", "FLASHCACHE":
            return _with_cache(fact, statement)
        case "DROP", "FLASHLOG":
            return replace(_freed(fact, _names(fact), fact.flash_log), flash_log=0)
        case "CREATE", "FLASHLOG":
            size = size_asked(statement) or _LOG
            return replace(_freed(fact, _names(fact), -size), flash_log=size)
        case "ALTER", "CELL":
            return _with_cell(fact, statement)
        case "CREATE", "GRIDDISK":
            return _with_grids(fact, statement)
        case (("ALTER" | "DROP"), "GRIDDISK") if not statement.filters:
            size = size_asked(statement)
            for grid in targets_of(fact, statement):
                now = None if statement.verb == "DROP" else _altered(grid, statement, size)
                fact = _freed(fact, (grid.cell_disk,), grid.size - (now.size if now is not None else 0))
                fact = replace(fact, grid_disks=_merged(fact.grid_disks, {grid.name: now}))
    return fact


def _names(fact: CellFacts) -> tuple[str, ...]:
    return tuple(disk.name for disk in fact.flash_disks)


def _freed(fact: CellFacts, disks: Sequence[str], size: int) -> CellFacts:
    """Return the facts with ``size`` bytes more free, in equal parts of these cell disks."""
    own = set(disks)
    part = size // max(len(own), 1)
    return replace(
        fact, cell_disks=tuple(replace(d, free=d.free + part) if d.name in own else d for d in fact.cell_disks)
    )


def _with_cache(fact: CellFacts, statement: CellChange) -> CellFacts:
    disks = flash_members(fact, statement)
    if not disks:
        return fact
    room = min(round_down(disk.free) for disk in disks) * len(disks)
    size = rounded_cache(size_asked(statement) or room, len(disks))
    names = tuple(disk.name for disk in disks)
    cache = FlashCache(name=f"{fact.cell}_FLASHCACHE", size=size, status="normal", degraded=(), cell_disks=names)
    return replace(_freed(fact, names, -size), flash_cache=cache)


def _with_cell(fact: CellFacts, statement: CellChange) -> CellFacts:
    mode = items(statement.setting("flashCacheMode"))
    if mode:
        return replace(fact, mode=mode[0].lower())
    action, what = statement.action.partition(" ")[::2]
    if what == "SERVICES" and statement.argument.upper() in ("CELLSRV", "ALL"):
        return replace(fact, cellsrv="stopped" if action == "SHUTDOWN" else "running")
    return fact


def _with_grids(fact: CellFacts, statement: CellChange) -> CellFacts:
    disks = places(fact, statement)
    sizes = items(statement.setting("size"))
    clients = ",".join(items(statement.setting("availableTo")))
    for number, start in enumerate(prefixes(statement) if statement.all else [""]):
        given = round_down(parse_size(sizes[min(number, len(sizes) - 1)])) if sizes else 0
        for disk, name in zip(disks, [f"{start}_{d.name}" for d in disks] if start else statement.names, strict=False):
            size = given or round_down(next(d.free for d in fact.cell_disks if d.name == disk.name))
            grid = GridDisk(
                name=name,
                cell_disk=disk.name,
                flash=disk.flash,
                size=size,
                status="active",
                available_to=clients,
                caching_policy="default",
                asm_group="",
                asm_mode="UNUSED",
                deactivation="Yes",
                pool="",
            )
            if size:
                fact = replace(_freed(fact, (disk.name,), -size), grid_disks=_merged(fact.grid_disks, {name: grid}))
    return fact


def _altered(grid: GridDisk, statement: CellChange, size: int) -> GridDisk:
    modes = {"INACTIVE": ("ONLINE", "OFFLINE"), "ACTIVE": ("OFFLINE", "ONLINE")}
    if statement.action in modes:
        now, then = modes[statement.action]
        return replace(grid, status=statement.action.lower(), asm_mode=then if grid.asm_mode == now else grid.asm_mode)
    return replace(grid, size=round_down(size)) if size else grid


def _merged(grids: Iterable[GridDisk], changed: Mapping[str, GridDisk | None]) -> tuple[GridDisk, ...]:
    found = {grid.name: grid for grid in grids} | dict(changed)
    return tuple(grid for grid in found.values() if grid is not None)


def _sized(disk: AsmDisk, grid: GridDisk | None) -> AsmDisk:
    return disk if grid is None else replace(disk, os_mb=grid.size // MIB)


def _candidate(path: str, size: int) -> AsmDisk:
    return AsmDisk(
        group=0, path=path, header="CANDIDATE", mount="CLOSED", mode="ONLINE", os_mb=size // MIB, name="", failgroup=""
    )


def _former(disk: AsmDisk) -> AsmDisk:
    return replace(_candidate(disk.path, disk.os_mb * MIB), header="FORMER")


def _member(disk: AsmDisk, number: int, cell: str) -> AsmDisk:
    named = replace(disk, name=disk.grid_disk.upper(), failgroup=cell.upper())
    return replace(named, group=number, header="MEMBER", mount="CACHED", total_mb=disk.os_mb)


def _redundancy(change: NewGroup | DropGroup) -> str:
    return change.redundancy if isinstance(change, NewGroup) else "external"


def _au_size(change: NewGroup | DropGroup) -> int:
    return parse_size(dict(change.attributes).get("au_size", "1M")) if isinstance(change, NewGroup) else MIB
