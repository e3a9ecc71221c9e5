"""Plans for grid disks: carve them out of free space, and give them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from exacell.cellset import fold
from exacell.errors import RefusedError
from exacell.plan.facts import CellDisk, CellFacts, GridDisk
from exacell.plan.flashcache import recreate_stages
from exacell.plan.model import Change, Check, Gate, Op, Plan, Risk, Stage, Step, Undo
from exacell.units import ALLOCATION_UNIT, format_size, round_down, whole_size

LONGEST_NAME = 30
"""Characters in a grid disk's name. Source: Oracle SAGUG, restrictions on values of common attributes."""

COPIES = {"external": 1, "normal": 2, "high": 3}

Headers = Mapping[str, str] | None
"""Grid disk name (lower case) → header_status over all ASM clusters; None when no ASM could be asked."""


@dataclass(frozen=True, kw_only=True)
class Media:
    """Which cell disks a statement means, and the words that say so to a cell of this release."""

    words: str
    flash: bool


def media_of(fact: CellFacts, media: str) -> Media:
    """Return the media words for one cell.

    From 24.1 on, ALL FLASHDISK means the capacity-optimized flash of an EF cell that has both kinds, so that the words
    are always explicit there. Source: reference cellcli.md 2.4.

    Raises:
        RefusedError: plain ``flash`` on a cell that may have both kinds, or a kind that the release does not know.
    """
    if media == "hard":
        return Media(words="HARDDISK", flash=False)
    modern = fact.at_least("24.1")
    if media == "flash":
        if modern and all(disk.flash for disk in fact.cell_disks):
            raise RefusedError(
                f"{fact.cell} has no hard disks and may have two kinds of flash: say media=performance or media=capacity"
            )
        return Media(words="PERFORMANCEOPTIMIZED FLASHDISK" if modern else "FLASHDISK", flash=True)
    if not modern:
        raise RefusedError(
            f"media={media}: {fact.cell} runs {fact.release or 'an unknown release'}, which knows one kind of flash only: "
            "say media=flash"
        )
    return Media(words=f"{media.upper()}OPTIMIZED FLASHDISK", flash=True)


def _disks(fact: CellFacts, media: Media) -> tuple[CellDisk, ...]:
    return tuple(disk for disk in fact.cell_disks if disk.flash == media.flash)


def carve_plan(
    rack: str,
    facts: Mapping[str, CellFacts],
    *,
    prefix: str,
    media: str,
    each: int | None,
    usable: int | None,
    redundancy: str,
    statement: str,
) -> Plan:
    """Return the plan that makes one grid disk of the same explicit size on every cell disk of ``media``.

    Args:
        facts: with CELL, FLASHCACHE, CELLDISK and GRIDDISK read.
        each: bytes of each grid disk; None takes all that is free on the fullest disk of all cells.
        usable: bytes that a disk group of ``redundancy`` on these disks shall be able to hold; None when not asked.

    Raises:
        RefusedError: no room, a name is taken or too long, or cells differ in what they allow.
    """
    words = {cell: media_of(fact, media) for cell, fact in facts.items()}
    disks = {cell: _disks(fact, words[cell]) for cell, fact in facts.items()}
    skipped = {cell: f"it has no {media} cell disks" for cell, found in disks.items() if not found}
    cells = [cell for cell in facts if cell not in skipped]
    if not cells:
        return Plan(statement=statement, rack=rack, skipped=skipped)
    _refuse_names(prefix, {cell: disks[cell] for cell in cells}, facts)
    free, tightest = _smallest(cells, disks)
    wanted = _wanted(each, usable, redundancy, sum(len(disks[cell]) for cell in cells))
    existing = {cell: _existing(facts[cell], prefix, disks[cell]) for cell in cells}
    done = _done(existing, disks, wanted, prefix)
    todo = [cell for cell in cells if cell not in done]
    if not todo:
        return Plan(statement=statement, rack=rack, skipped=skipped, done=done)
    if done:
        wanted = next(iter(existing[next(iter(done))])).size
        free, tightest = _smallest(todo, disks)
    size = round_down(wanted if wanted is not None else free)
    _refuse_room(todo, disks, facts, size, free, wanted, tightest)
    clients = _available_to(facts, prefix)
    steps = tuple(_create(facts[cell], disks[cell], words[cell], prefix, size, clients) for cell in todo)
    count = sum(len(disks[cell]) for cell in todo)
    notes = [
        f"smallest free space: {format_size(free)} on {tightest}; each grid disk {format_size(size)} "
        f"({size // ALLOCATION_UNIT} × 16M, {size} bytes)",
        f"{count} grid disks, {format_size(size * count)} in all",
    ]
    if clients:
        notes.append(f"availableTo={clients}, as the ASM cluster's other grid disks have")
    if usable is not None:
        copies = COPIES[redundancy]
        notes.append(f"{format_size(usable)} usable × {copies} copies over {count} disks, rounded up to 16M")
    return Plan(
        statement=statement,
        rack=rack,
        skipped=skipped,
        done=done,
        inverse=dict.fromkeys(todo, (f"release griddisk prefix={prefix}",)),
        notes=tuple(notes),
        stages=(Stage(title=f"create grid disks {prefix}_*", key="create", steps=steps),),
    )


def _refuse_names(prefix: str, disks: Mapping[str, Sequence[CellDisk]], facts: Mapping[str, CellFacts]) -> None:
    owner: dict[str, str] = {}
    for cell, found in disks.items():
        for disk in found:
            name = f"{prefix}_{disk.name}"
            other = owner.setdefault(name.lower(), cell)
            if other != cell:
                raise RefusedError(f"carve griddisk: {other} and {cell} would both have a grid disk {name}")
    for cell, fact in facts.items():
        taken = next((g.name for g in fact.grid_disks if owner.get(g.name.lower(), cell) != cell), "")
        if taken:
            raise RefusedError(
                f"carve griddisk: {cell} has a grid disk {taken} already, which {owner[taken.lower()]} would get"
            )
    longest = max((f"{prefix}_{disk.name}" for found in disks.values() for disk in found), key=len)
    if len(longest) > LONGEST_NAME:
        raise RefusedError(
            f"carve griddisk: the name {longest} has {len(longest)} characters, {LONGEST_NAME} is the limit",
            hint=f"use a prefix of at most {len(prefix) - (len(longest) - LONGEST_NAME)} characters",
        )


def _smallest(cells: Sequence[str], disks: Mapping[str, Sequence[CellDisk]]) -> tuple[int, str]:
    free, name = min((disk.free, disk.name) for cell in cells for disk in disks[cell])
    return free, name


def _wanted(each: int | None, usable: int | None, redundancy: str, count: int) -> int | None:
    if each is not None:
        return each
    if usable is None:
        return None
    exact = usable * COPIES[redundancy]
    share = -(-exact // count)
    return -(-share // ALLOCATION_UNIT) * ALLOCATION_UNIT


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
                hint=f"release griddisk prefix={prefix} first, or use another prefix",
            )
        if len(sizes) > 1 or (wanted is not None and sizes != {round_down(wanted)}):
            found = ", ".join(sorted(format_size(size) for size in sizes))
            raise RefusedError(
                f"carve griddisk: {cell} has grid disks {prefix}_* of {found} already",
                hint=f"release griddisk prefix={prefix} first, or use another prefix",
            )
        done[cell] = f"its {len(grids)} grid disks {prefix}_* are {format_size(grids[0].size)} already"
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
        raise RefusedError(f"carve griddisk: {format_size(wanted)} is less than the least size of a grid disk, 16M")
    caches = [(cell, cache) for cell in todo if disks[cell][0].flash and (cache := facts[cell].flash_cache)]
    hint = "show griddisk tells what holds the space"
    for cell, cache in caches[:1]:
        count = len(disks[cell])
        need = ALLOCATION_UNIT if wanted is None else wanted
        smaller = round_down((facts[cell].cache_room() - need * count) // count) * count
        if smaller > 0:
            hint = (
                f"the flash cache owns the space ({format_size(cache.size)}): "
                f"resize flashcache size={whole_size(smaller)} makes room"
            )
    asked = f"{format_size(wanted)} each does not fit: " if wanted is not None else ""
    raise RefusedError(
        f"carve griddisk: {asked}{format_size(round_down(free))} is free on {tightest}, the tightest disk of {fold(todo)}; "
        "nothing was sent",
        hint=hint,
    )


def _available_to(facts: Mapping[str, CellFacts], prefix: str) -> str:
    found = {grid.available_to for fact in facts.values() for grid in fact.grid_disks if grid.asm_group}
    if len(found) > 1:
        shown = "; ".join(sorted(value or "(all)" for value in found))
        raise RefusedError(
            f"carve griddisk: the rack's grid disks are availableTo different clients ({shown}), so none can be copied",
            hint=f"create griddisk all flashdisk prefix={prefix}, availableTo='…' says it explicitly",
        )
    return next(iter(found), "")


def _create(fact: CellFacts, disks: Sequence[CellDisk], media: Media, prefix: str, size: int, clients: str) -> Step:
    available = f", availableTo='{clients}'" if clients else ""
    names = tuple(f"{prefix}_{disk.name}" for disk in disks)
    return Step(
        target=fact.cell,
        statement=f"CREATE GRIDDISK ALL {media.words} PREFIX={prefix}, size={whole_size(size)}{available}",
        what=f"create {len(disks)} grid disks",
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


def members(facts: Mapping[str, CellFacts], prefix: str) -> dict[str, tuple[GridDisk, ...]]:
    """Return the grid disks named exactly ``prefix_<celldisk>``, by cell; cells without any are left out."""
    found = {
        cell: tuple(grid for grid in fact.grid_disks if grid.prefix.lower() == prefix.lower())
        for cell, fact in facts.items()
    }
    return {cell: grids for cell, grids in found.items() if grids}


def refuse_used(what: str, grids_by_cell: Mapping[str, Sequence[GridDisk]], headers: Headers) -> None:
    """Raise when any of these grid disks is not free, naming the disk group to drop first.

    Raises:
        RefusedError: a disk is in use, or it can't be told that it is not.
    """
    used: dict[str, list[str]] = {}
    groups: set[str] = set()
    for cell, grids in grids_by_cell.items():
        for grid in grids:
            reason = grid.use(headers)
            if reason:
                used.setdefault(reason, []).append(cell)
                if grid.asm_group:
                    groups.add(grid.asm_group)
    if not used:
        return
    reason, cells = next(iter(used.items()))
    more = "" if len(used) == 1 else f" (and {len(used) - 1} more reasons)"
    hint = " and ".join(f"drop diskgroup {group}" for group in sorted(groups))
    hint = f"{hint} lets go of them first" if hint else "start ASM and mount its disk groups, or wait for it to let go"
    raise RefusedError(f"{what} refused on {fold(cells)}: {reason}{more}; nothing was sent", hint=hint)


def release_plan(
    rack: str, facts: Mapping[str, CellFacts], *, prefix: str, headers: Headers, regrow: bool, statement: str
) -> Plan:
    """Return the plan that deactivates and drops the grid disks ``prefix_<celldisk>``.

    Args:
        facts: with CELL, FLASHCACHE, CELLDISK, FLASH_PHYSICALDISK, GRIDDISK, IORMPLAN and FLASH_METRICS read.
        regrow: afterwards re-create the flash cache over all the flash that is then free.

    Raises:
        RefusedError: a disk is not free, or the flash cache must not be flushed.
    """
    found = members(facts, prefix)
    refuse_used("release griddisk", found, headers)
    done = {cell: f"it has no grid disks {prefix}_*" for cell in facts if cell not in found}
    stages: list[Stage] = []
    notes: list[str] = []
    if found:
        stages.append(Stage(title="deactivate", key="inactive", steps=tuple(_inactive(c, g) for c, g in found.items())))
        drops = tuple(_drop(facts[c], g, prefix) for c, g in found.items())
        stages.append(Stage(title=f"drop grid disks {prefix}_*", key="dropgrid", gate=Gate.ALL, steps=drops))
        sizes = sorted({grid.size for grids in found.values() for grid in grids})
        count = sum(len(grids) for grids in found.values())
        notes.append(f"{count} grid disks of {', '.join(format_size(size) for size in sizes)} are free (no disk group)")
    if regrow:
        grown, sizes_by_cell = _regrow(facts, found)
        if grown:
            stages += recreate_stages(grown, sizes_by_cell)
            for cell in (fact.cell for fact in grown):
                done.pop(cell, None)
            notes += [
                f"{cell}: flash cache {format_size(_cache(facts[cell]))} → {format_size(size)}"
                for cell, size in sizes_by_cell.items()
            ]
    warnings = ("the cache starts empty after it has grown",) if any(s.key.startswith("create") for s in stages) else ()
    return Plan(
        statement=statement,
        rack=rack,
        stages=tuple(stages),
        done=done,
        inverse=_taken_back(facts, found, prefix, regrown=bool(regrow)),
        notes=tuple(notes),
        warnings=warnings,
        risk=Risk.PERFORMANCE if stages else Risk.NONE,
    )


def _taken_back(
    facts: Mapping[str, CellFacts], found: Mapping[str, Sequence[GridDisk]], prefix: str, *, regrown: bool
) -> dict[str, tuple[str, ...]]:
    """Return per cell the statements that bring its grid disks back: the cache's old size first, then the disks."""
    back: dict[str, tuple[str, ...]] = {}
    for cell, grids in found.items():
        sizes = {grid.size for grid in grids}
        flash = all(grid.flash for grid in grids)
        # carve makes one of equal size on every disk of the media: only that can be brought back by it.
        if len(sizes) > 1 or len(grids) != sum(1 for disk in facts[cell].cell_disks if disk.flash == flash):
            continue
        media = "flash" if flash else "hard"
        carve = f"carve griddisk prefix={prefix} size={whole_size(min(sizes))} media={media}"
        cache = facts[cell].flash_cache
        resize = (f"resize flashcache size={whole_size(cache.size)}",) if regrown and cache is not None else ()
        back[cell] = (*resize, carve)
    return back


def _cache(fact: CellFacts) -> int:
    return fact.flash_cache.size if fact.flash_cache else 0


def _regrow(
    facts: Mapping[str, CellFacts], found: Mapping[str, Sequence[GridDisk]]
) -> tuple[list[CellFacts], dict[str, int]]:
    grown: list[CellFacts] = []
    sizes: dict[str, int] = {}
    for cell, fact in facts.items():
        freed: dict[str, int] = {}
        for grid in found.get(cell, ()):
            freed[grid.cell_disk] = freed.get(grid.cell_disk, 0) + grid.size
        room = fact.cache_room(plus=freed)
        if fact.flash_disks and room > _cache(fact):
            grown.append(fact)
            sizes[cell] = room
    return grown, sizes


def _inactive(cell: str, grids: Sequence[GridDisk]) -> Step:
    names = tuple(grid.name for grid in grids)
    return Step(
        target=cell,
        statement=f"ALTER GRIDDISK {','.join(names)} INACTIVE",
        what=f"deactivate {len(names)} grid disks",
        needs=(_free_check(names),),
        proves=(Check(object="griddisk", attribute="status", value="inactive", where={"name": names}),),
        expect=len(names),
        risk=Risk.NONE,
        undo=Undo.STATEMENT,
        inverse=f"ALTER GRIDDISK {','.join(names)} ACTIVE",
        changes=(
            Change(
                object="griddisk", name=f"{len(names)} disks", attribute="status", before="active", after="inactive"
            ),
        ),
    )


def _free_check(names: tuple[str, ...]) -> Check:
    return Check(
        object="griddisk",
        attribute="asmModeStatus",
        op=Op.IN,
        value=("UNUSED", "DROPPED"),
        where={"name": names},
        why="a grid disk that ASM uses is never taken away",
    )


def _drop(fact: CellFacts, grids: Sequence[GridDisk], prefix: str) -> Step:
    names = tuple(grid.name for grid in grids)
    sizes = {grid.size for grid in grids}
    flash = all(grid.flash for grid in grids)
    whole = len(sizes) == 1 and len(grids) == sum(1 for disk in fact.cell_disks if disk.flash == flash)
    media = media_of(fact, "flash" if flash else "hard") if whole else None
    again = f"CREATE GRIDDISK ALL {media.words} PREFIX={prefix}, size={whole_size(min(sizes))}" if media else ""
    return Step(
        target=fact.cell,
        statement=f"DROP GRIDDISK {','.join(names)}",
        what=f"drop {len(names)} grid disks",
        needs=(
            _free_check(names),
            Check(object="griddisk", attribute="status", value="inactive", where={"name": names}),
        ),
        proves=(Check(object="griddisk", op=Op.ABSENT, where={"name": names}),),
        expect=len(names),
        risk=Risk.PERFORMANCE,
        undo=Undo.STATEMENT if again else Undo.IMPOSSIBLE,
        inverse=again or "the disks have different sizes; create them one by one",
        changes=(
            Change(
                object="griddisk",
                name=f"{prefix}_*",
                attribute="size",
                before=f"{len(names)} × {', '.join(format_size(size) for size in sorted(sizes))}",
                after="-",
            ),
        ),
    )
