"""Plan to carve grid disks out of free space: one of equal, explicit size on every cell disk of a kind."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from exacell.core.cellset import fold, fold_briefly
from exacell.core.errors import RefusedError
from exacell.core.units import ALLOCATION_UNIT, counted, exact_size, format_size, round_down, size_text, whole_size
from exacell.core.values import dataclass
from exacell.plan.asmspace import Keeping
from exacell.plan.facts import CellDisk, CellFacts, GridDisk
from exacell.plan.model import Change, Check, Op, Plan, Risk, Stage, Step, Undo, staged
from exacell.plan.planners.availability import activate
from exacell.plan.planners.flashcache import refuse

LONGEST_NAME = 30
"""The largest number of characters in a grid disk's name. Source: Oracle SAGUG, restrictions on values of common attributes."""


@dataclass(frozen=True, kw_only=True)
class Media:
    """The cell disks that a statement means, and the words for them on a cell of this release."""

    words: str
    flash: bool


def media_of(fact: CellFacts, media: str) -> Media:
    """Return the words for the media on one cell.

    From 24.1 on, ALL FLASHDISK means the capacity-optimized flash of an EF cell that has both kinds, so that the words
    are always explicit there. Source: reference cellcli.md 2.4.

    Raises:
        RefusedError: ``flash`` alone on a cell that may have both kinds, or a kind that the release does not know.
    """
    if media == "hard":
        return Media(words="HARDDISK", flash=False)
    modern = fact.at_least("24.1")
    if media == "flash":
        if modern and all(disk.flash for disk in fact.cell_disks):
            raise RefusedError(
                f"{fact.cell} has no hard disks and may have two kinds of flash: give media=performance or media=capacity"
            )
        return Media(words="PERFORMANCEOPTIMIZED FLASHDISK" if modern else "FLASHDISK", flash=True)
    if not modern:
        raise RefusedError(
            f"media={media}: {fact.cell} runs {fact.release or 'an unknown release'}, which has only one kind "
            "of flash: give media=flash"
        )
    return Media(words=f"{media.upper()}OPTIMIZED FLASHDISK", flash=True)


@dataclass(frozen=True, kw_only=True)
class Carving:
    """The grid disks that are wanted.

    Attributes:
        each: bytes of each grid disk; None means the free space of the fullest disk of all cells.
        usable: bytes that a disk group on these disks must be able to hold; None if not given.
        keeping: how ASM counts the space of that disk group.
        groups: names of the disk groups of one ASM cluster, whose grid disks show the usual availableTo; None for all.
        available_to: the clients that may use them, as given; None copies the value of the other grid disks.
    """

    prefix: str
    media: str
    keeping: Keeping
    each: int | None = None
    usable: int | None = None
    groups: Collection[str] | None = None
    available_to: str | None = None


def carve_plan(rack: str, facts: Mapping[str, CellFacts], carving: Carving, *, statement: str) -> Plan:
    """Return the plan that makes one grid disk of the same explicit size on every cell disk of a medium.

    Args:
        facts: with CELL, FLASHCACHE, CELLDISK, GRIDDISK and, for flash, FLASH_PHYSICALDISK read.

    Raises:
        RefusedError: no room, a disk is not normal, a name is taken or too long, the prefix is in use on another kind of disk,
            or cells differ in their availableTo.
    """
    prefix, media, keeping = carving.prefix, carving.media, carving.keeping
    usable, groups, available_to = carving.usable, carving.groups, carving.available_to
    words = {cell: media_of(fact, media) for cell, fact in facts.items()}
    disks = {cell: fact.flash_disks if words[cell].flash else fact.hard_disks for cell, fact in facts.items()}
    skipped = {cell: f"it has no {media} cell disks" for cell, found in disks.items() if not found}
    cells = [cell for cell in facts if cell not in skipped]
    if not cells:
        return Plan(statement=statement, rack=rack, skipped=skipped)
    _refuse_names(prefix, {cell: disks[cell] for cell in cells}, facts)
    _refuse_beside(prefix, facts, media, disks)
    free, tightest = _smallest(cells, disks)
    spread = [len(disks[cell]) for cell in cells]
    wanted = carving.each if usable is None else keeping.each(usable, spread)
    existing = {cell: _existing(facts[cell], prefix, disks[cell]) for cell in cells}
    if available_to is not None or groups is not None:
        _refuse_others(existing, prefix, available_to if available_to is not None else _available_to(facts, groups))
    done = _done(existing, disks, wanted, prefix)
    todo = [cell for cell in cells if cell not in done]
    stages = _awake({cell: facts[cell] for cell in done}, existing)
    waking = {step.target for stage in stages for step in stage.steps}
    if not todo:
        left = {cell: why for cell, why in done.items() if cell not in waking}
        return Plan(statement=statement, rack=rack, skipped=skipped, done=left, stages=tuple(stages))
    refuse(
        {c: bad for c in todo if (bad := _failed(facts[c], disks[c]))}, "carve griddisk", _without(facts, todo, disks)
    )
    if done:
        wanted = next(iter(existing[next(iter(done))])).size
        free, tightest = _smallest(todo, disks)
    size = round_down(wanted if wanted is not None else free)
    _refuse_room(todo, disks, facts, size, free, wanted, tightest)
    clients = _available_to(facts, groups) if available_to is None else available_to
    steps = tuple(_create(facts[cell], disks[cell], words[cell], prefix, size, clients) for cell in todo)
    count = sum(len(disks[cell]) for cell in todo)
    notes = [_room_note(free, tightest, size), f"{count} grid disks, {size_text(size * count)} in all"]
    if clients:
        said = "" if available_to is not None else ", as the ASM cluster's other grid disks have"
        notes.append(f"availableTo={clients}{said}")
    if usable is not None:
        notes.append(_usable_note(usable, keeping, spread))
    # Undo must not drop later disks of that prefix on another kind of disk.
    back = f"release griddisk prefix={prefix} media={'hard' if media == 'hard' else 'flash'}"
    return Plan(
        statement=statement,
        rack=rack,
        skipped=skipped,
        done={cell: why for cell, why in done.items() if cell not in waking},
        inverse=dict.fromkeys(todo, (back,)),
        notes=tuple(notes),
        stages=(Stage(title=f"create grid disks {prefix}_*", key="create", steps=steps), *stages),
    )


def _usable_note(usable: int, keeping: Keeping, spread: Sequence[int]) -> str:
    copies = "1 copy" if keeping.copies == 1 else f"{keeping.copies} copies"
    return (
        f"{exact_size(usable)} usable × {copies} and {keeping.said(spread)}, over {counted(sum(spread), 'disk')}; each "
        f"rounded up to 16M and to allocation units of {exact_size(keeping.au_size)}"
    )


def _room_note(free: int, tightest: str, size: int) -> str:
    """Return the arithmetic behind the size of each grid disk, in bytes: the tightest disk's free space, rounded down."""
    each = f"each grid disk {exact_size(size)} ({size // ALLOCATION_UNIT} × 16M, {size} bytes)"
    return f"smallest free space: {exact_size(free)} on {tightest}; {each}"


def _awake(facts: Mapping[str, CellFacts], existing: Mapping[str, Sequence[GridDisk]]) -> list[Stage]:
    """Return the stage that activates existing inactive grid disks, which a ``release griddisk`` left when it was stopped."""
    asleep = [[grid for grid in existing[cell] if grid.status == "inactive"] for cell in facts]
    return staged("activate the grid disks that exist", map(activate, facts.values(), asleep), "active")


def _refuse_names(prefix: str, disks: Mapping[str, Sequence[CellDisk]], facts: Mapping[str, CellFacts]) -> None:
    owner: dict[str, str] = {}
    for cell, found in disks.items():
        for disk in found:
            name = f"{prefix}_{disk.name}"
            other = owner.setdefault(name.lower(), cell)
            if other != cell:
                raise RefusedError(
                    f"carve griddisk: {other} and {cell} would both have a grid disk {name}",
                    hint="their cell disks have equal names: use a different prefix on each (`on CELL carve …`)",
                )
    for cell, fact in facts.items():
        taken = next((g.name for g in fact.grid_disks if owner.get(g.name.lower(), cell) != cell), "")
        if taken:
            raise RefusedError(
                f"carve griddisk: {cell} has a grid disk {taken} already; the new grid disk of "
                f"{owner[taken.lower()]} would get the same name",
                hint="choose another prefix",
            )
    longest = max((f"{prefix}_{disk.name}" for found in disks.values() for disk in found), key=len)
    if len(longest) > LONGEST_NAME:
        raise RefusedError(
            f"carve griddisk: the name {longest} has {len(longest)} characters; at most {LONGEST_NAME} are allowed",
            hint=f"use a prefix of at most {len(prefix) - (len(longest) - LONGEST_NAME)} characters",
        )


def _refuse_beside(
    prefix: str, facts: Mapping[str, CellFacts], media: str, disks: Mapping[str, Sequence[CellDisk]]
) -> None:
    """Raise RefusedError if grid disks on another kind of disk have the prefix: later statements could not distinguish them.

    ``release griddisk`` and a disk string take all disks of a prefix, and the others may belong to a disk group.
    """
    meant = {disk.name.lower() for found in disks.values() for disk in found}
    others = [
        grid
        for fact in facts.values()
        for grid in fact.grid_disks
        if grid.prefix.lower() == prefix.lower() and grid.cell_disk.lower() not in meant
    ]
    if others:
        raise taken_prefix("carve griddisk", prefix, others, f"other disks than media={media} means")


def taken_prefix(what: str, prefix: str, others: Sequence[GridDisk], on: str) -> RefusedError:
    """Return the error that grid disks on other disks, described by ``on``, already have the prefix of the new ones."""
    groups = sorted({grid.asm_group for grid in others if grid.asm_group})
    whose = f" of disk group {' and '.join(groups)}" if groups else ""
    return RefusedError(
        f"{what}: {prefix} is the prefix of {counted(len(others), 'grid disk')}{whose} on {on}: "
        f"{fold_briefly([grid.name for grid in others])}; nothing was sent",
        hint=f"use another prefix, one that does not begin with {prefix}_",
    )


def _failed(fact: CellFacts, disks: Sequence[CellDisk]) -> str:
    """Return which disks of a cell are not normal, so that no grid disk can be created on them; empty if all are normal."""
    flash = any(disk.flash for disk in disks)
    bad = [f"flash disk {name} is {status}" for name, status in fact.flash_physical if flash and status != "normal"]
    bad += [
        f"cell disk {disk.name} is {disk.status or 'of unknown status'}" for disk in disks if disk.status != "normal"
    ]
    return f"{' and '.join(bad)}: no grid disk can be made there" if bad else ""


def _without(facts: Mapping[str, CellFacts], todo: Sequence[str], disks: Mapping[str, Sequence[CellDisk]]) -> str:
    """Return the hint if disks are not normal: replace them, or use only the cells whose disks are all normal."""
    good = [cell for cell in todo if not _failed(facts[cell], disks[cell])]
    rest = f", or leave its cell out: on {fold(good)} carve griddisk …" if good else ""
    return f"replace the disk and wait until it is normal{rest}"


def held_by(fact: CellFacts, cell_disk: str) -> str:
    """Return a hint for a refusal: what uses the space of a cell disk.

    This is the flash cache, with the largest space that dropping it could free, or grid disks with their sizes and disk groups.
    """
    cache = fact.flash_cache
    if cache is not None and cell_disk in cache.cell_disks:
        most = fact.cache_room() // max(len(fact.flash_disks), 1)
        return (
            f"the flash cache has the space ({size_text(cache.size)}): `resize flashcache size=…` makes room, "
            f"at most {exact_size(most)} on each flash disk"
        )
    grids = [grid for grid in fact.grid_disks if grid.cell_disk == cell_disk]
    if not grids:
        return "`show griddisk` shows what uses the space"
    names = [
        f"{grid.name} ({size_text(grid.size)}{f', disk group {grid.asm_group}' if grid.asm_group else ''})"
        for grid in grids
    ]
    return f"{cell_disk} holds {', '.join(names)}"


def _smallest(cells: Sequence[str], disks: Mapping[str, Sequence[CellDisk]]) -> tuple[int, str]:
    free, name = min((disk.free, disk.name) for cell in cells for disk in disks[cell])
    return free, name


def _existing(fact: CellFacts, prefix: str, disks: Sequence[CellDisk]) -> tuple[GridDisk, ...]:
    names = {f"{prefix}_{disk.name}".lower() for disk in disks}
    return tuple(grid for grid in fact.grid_disks if grid.name.lower() in names)


def _done(
    existing: Mapping[str, Sequence[GridDisk]],
    disks: Mapping[str, Sequence[CellDisk]],
    wanted: int | None,
    prefix: str,
) -> dict[str, str]:
    done: dict[str, str] = {}
    sizes = {grid.size for grids in existing.values() for grid in grids}
    for cell, grids in existing.items():
        if not grids:
            continue
        missing = len(disks[cell]) - len(grids)
        if missing:
            raise RefusedError(
                f"carve griddisk: {cell} has {len(grids)} of {len(disks[cell])} grid disks {prefix}_* already",
                hint=f"type `release griddisk prefix={prefix}` first, or use another prefix",
            )
        if len(sizes) > 1 or (wanted is not None and sizes != {round_down(wanted)}):
            found = ", ".join(sorted(exact_size(size) for size in sizes))
            raise RefusedError(
                f"carve griddisk: {cell} has grid disks {prefix}_* of {found} already",
                hint=f"type `release griddisk prefix={prefix}` first, or use another prefix",
            )
        done[cell] = f"it has {counted(len(grids), 'grid disk')} {prefix}_* of {size_text(grids[0].size)} already"
    return done


def _refuse_room(
    todo: Sequence[str],
    disks: Mapping[str, Sequence[CellDisk]],
    facts: Mapping[str, CellFacts],
    size: int,
    free: int,
    wanted: int | None,
    tightest: str,
) -> None:
    if size >= ALLOCATION_UNIT and size <= free:
        return
    if wanted is not None and wanted < ALLOCATION_UNIT:
        raise RefusedError(
            f"carve griddisk: {exact_size(wanted)} is too small: a grid disk has at least 16M",
            hint="leave size= out to use the free space",
        )
    caches = [(cell, cache) for cell in todo if disks[cell][0].flash and (cache := facts[cell].flash_cache)]
    of = next(cell for cell in todo if any(disk.name == tightest for disk in disks[cell]))
    hint = held_by(facts[of], tightest)
    if not disks[of][0].flash:
        hint += "; `resize griddisk` makes them smaller, `release griddisk` frees those that no disk group uses"
    for cell, cache in caches[:1]:
        count = len(disks[cell])
        need = ALLOCATION_UNIT if wanted is None else wanted
        smaller = round_down((facts[cell].cache_room() - need * count) // count) * count
        if smaller > 0:
            hint = (
                f"the flash cache has the space ({size_text(cache.size)}): `resize flashcache "
                f"size={whole_size(smaller)}` makes room for {exact_size(round_down(need))} on each flash disk"
            )
    each = "at least 16M" if wanted is None else exact_size(round_down(wanted))
    asked = f"{each} each does not fit: " if wanted is not None else ""
    kind = "flash" if disks[of][0].flash else "hard"
    raise RefusedError(
        f"carve griddisk: {asked}{exact_size(round_down(free))} is free on {tightest}, the fullest disk of {fold(todo)}, and "
        f"each {kind} disk gets one grid disk of {each}; nothing was sent",
        hint=hint,
    )


def _refuse_others(existing: Mapping[str, Sequence[GridDisk]], prefix: str, clients: str) -> None:
    """Raise RefusedError if grid disks of that name exist for other clients than those asked for."""
    for cell, grids in existing.items():
        other = next((grid for grid in grids if grid.available_to != clients), None)
        if other is not None:
            raise RefusedError(
                f"carve griddisk: {cell} has {other.name} already, availableTo '{other.available_to}', not '{clients}'; "
                "nothing was sent",
                hint=f"type `release griddisk prefix={prefix}` first, or use another prefix",
            )


def _available_to(facts: Mapping[str, CellFacts], groups: Collection[str] | None) -> str:
    found = {
        grid.available_to
        for fact in facts.values()
        for grid in fact.grid_disks
        if grid.asm_group and (groups is None or grid.asm_group in groups)
    }
    if len(found) > 1:
        shown = "; ".join(sorted(value or "(all)" for value in found))
        raise RefusedError(
            f"carve griddisk: the rack's grid disks are availableTo different clients ({shown}), so none can be copied",
            hint="asm=NAME copies those of one ASM cluster; or give availableTo='…'",
        )
    return next(iter(found), "")


def _create(fact: CellFacts, disks: Sequence[CellDisk], media: Media, prefix: str, size: int, clients: str) -> Step:
    available = f", availableTo='{clients}'" if clients else ""
    names = tuple(f"{prefix}_{disk.name}" for disk in disks)
    return Step(
        target=fact.cell,
        statement=f"CREATE GRIDDISK ALL {media.words} PREFIX={prefix}, size={whole_size(size)}{available}",
        what=f"create {counted(len(disks), 'grid disk')}",
        needs=(Check(object="griddisk", op=Op.ABSENT, where={"name": names}, why="the name is taken"),),
        proves=(
            Check(object="griddisk", op=Op.COUNT, value=len(disks), where={"name": names}),
            Check(object="griddisk", attribute="size", value=size, where={"name": names}),
        ),
        expect=len(disks),
        risk=Risk.NONE,
        undo=Undo.STATEMENT,
        inverse=f"DROP GRIDDISK {','.join(names)}",
        changes=(
            Change(
                object="griddisk",
                name=f"{prefix}_*",
                attribute="size",
                before="-",
                after=f"{len(disks)} × {format_size(size)}",
            ),
        ),
    )
