"""Plan to release grid disks; and find the grid disks of a prefix, and who may use them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from exacell.cellcli.directives import quoted
from exacell.cellcli.fold import for_cell
from exacell.core.cellset import fold, fold_briefly, grouped, summed, told_together
from exacell.core.errors import RefusedError
from exacell.core.meant import absent
from exacell.core.units import counted, format_size, size_text, whole_size
from exacell.core.values import replace
from exacell.plan.asmspace import ways_out
from exacell.plan.estimate import flush_note
from exacell.plan.facts import CellDisk, CellFacts, GridDisk
from exacell.plan.model import Change, Check, Gate, Op, Plan, Risk, Stage, Step, Undo, staged
from exacell.plan.planners.availability import unused
from exacell.plan.planners.carve import media_of
from exacell.plan.planners.flashcache import recreate_stages

Headers = Mapping[str, str] | None
"""Grid disk name (lower case) → header_status over all ASM clusters; None if no ASM could be asked."""


def members(
    facts: Mapping[str, CellFacts], prefix: str, media: str = "", names: Collection[str] = ()
) -> dict[str, tuple[GridDisk, ...]]:
    """Return the grid disks named exactly ``prefix_<celldisk>``, by cell; cells without any are left out.

    Args:
        media: ``flash`` or ``hard`` leaves out those on the other kind; empty means both.
        names: return the grid disks with these names instead; ``{cell}`` in a name is each cell's own name.
    """
    if names:
        named = {cell: {for_cell(name, cell).lower() for name in names} for cell in facts}
        there = {
            cell: tuple(grid for grid in fact.grid_disks if grid.name.lower() in named[cell])
            for cell, fact in facts.items()
        }
        return {cell: grids for cell, grids in there.items() if grids}
    found = {
        cell: tuple(g for g in fact.grid_disks if g.prefix.lower() == prefix.lower() and media in ("", _medium(g)))
        for cell, fact in facts.items()
    }
    return {cell: grids for cell, grids in found.items() if grids}


def _medium(grid: GridDisk) -> str:
    return "flash" if grid.flash else "hard"


EXASCALE_LETS_GO = (
    "the disks of a pool belong to Exascale: its own administration (escli) takes them out of the pool first"
)
"""The hint if a grid disk is a pool disk."""


_LONGEST = 60
"""Number of characters for names in a refusal's single line; its reasons have all names."""


def refuse_used(
    what: str, grids_by_cell: Mapping[str, Sequence[GridDisk]], headers: Headers, *, apart: str = ""
) -> None:
    """Raise RefusedError if any of these grid disks is not free.

    Args:
        apart: the hint, if there is a better way than to drop a disk group.

    Raises:
        RefusedError: a disk is in use, or that can't be found out; names the disks and the disk group to drop first.
    """
    every = [(cell, grid) for cell, grids in grids_by_cell.items() for grid in grids]
    used = grouped((reason, (cell, grid)) for cell, grid in every if (reason := grid.use(headers)))
    if not used:
        return
    reason, found = next(iter(used.items()))
    names = fold_briefly([grid.name for _, grid in found], _LONGEST)
    groups = {grid.asm_group for those in used.values() for _, grid in those if grid.asm_group}
    more = "" if len(used) == 1 else f" (and {counted(len(used) - 1, 'more reason')})"
    reasons = [
        f"{fold(cell for cell, _ in those)}: {reason}: {fold(grid.name for _, grid in those)}"
        for reason, those in used.items()
    ]
    hint = " and ".join(f"`drop diskgroup {group}`" for group in sorted(groups))
    if apart:
        hint = apart
    elif hint:
        hint += " first"
    elif any(grid.pool for grids in grids_by_cell.values() for grid in grids):
        hint = EXASCALE_LETS_GO
    else:
        hint = "start ASM and mount its disk groups, or wait until ASM has released them"
    cells = fold(cell for cell, _ in found)
    raise RefusedError(
        f"{what} refused on {cells}: {reason}: {names}{more}; nothing was sent",
        hint=hint,
        reasons=reasons if len(used) > 1 or names != fold(grid.name for _, grid in found) else (),
    )


def _free_apart(prefix: str, found: Mapping[str, Sequence[GridDisk]], headers: Headers) -> str:
    """Return the way to release only the disks of one kind; empty unless these are free and the others of that prefix are not."""
    grids = [grid for those in found.values() for grid in those]
    used = {_medium(grid) for grid in grids if grid.use(headers)}
    free = {_medium(grid) for grid in grids} - used
    if not used or not free:
        return ""
    medium = min(free)
    names = fold_briefly([grid.name for grid in grids if _medium(grid) == medium])
    return f"`release griddisk prefix={prefix} media={medium}` releases only the unused ones: {names}"


def refuse_mixed(what: str, prefix: str, grids: Collection[GridDisk]) -> None:
    """Raise RefusedError if the grid disks of a prefix are on flash and on hard disks: no disk group has both kinds.

    ASM would mirror between the two, or answer ORA-15409. Source: reference asm.md section 8.
    """
    flash = [grid for grid in grids if grid.flash]
    if not flash or len(flash) == len(grids):
        return
    free = next((grid for grid in grids if not grid.asm_group), flash[0])
    raise RefusedError(
        f"{what}: of the {len(grids)} grid disks {prefix}_*, {len(flash)} are on flash and {len(grids) - len(flash)} on hard "
        f"disks: {fold_briefly([grid.name for grid in grids])}; nothing was sent",
        hint=f"type `release griddisk prefix={prefix} media={_medium(free)}`, then carve them with another prefix",
    )


def release_plan(
    rack: str,
    facts: Mapping[str, CellFacts],
    *,
    prefix: str,
    headers: Headers,
    regrow: bool,
    statement: str,
    media: str = "",
    names: Sequence[str] = (),
) -> Plan:
    """Return the plan that deactivates and drops the grid disks ``prefix_<celldisk>``, or those with these names.

    Args:
        facts: with CELL, FLASHCACHE, CELLDISK, FLASH_PHYSICALDISK, GRIDDISK, IORMPLAN and FLASH_METRICS read.
        regrow: re-create the flash cache afterwards, over all free flash.
        media: ``flash`` or ``hard`` releases only those on such disks; empty means both.
        names: the disks, instead of a prefix; each cell releases its own ones.

    Raises:
        RefusedError: a disk is not free, or the flash cache must not be flushed.
    """
    found = members(facts, prefix, media, names)
    apart = "" if names else _free_apart(prefix, found, headers)
    refuse_used("release griddisk", found, headers, apart=apart or ways_out(found, headers, members=bool(names)))
    done = {cell: _nothing_there(fact, prefix, media, names) for cell, fact in facts.items() if cell not in found}
    stages: list[Stage] = []
    notes: list[str] = []
    if found:
        alone = not names and _alone(facts, found, prefix)
        drops = (
            _drop_named(c, g) if names else _drop_prefix(facts[c], g, prefix, alone=alone) for c, g in found.items()
        )
        awake = {c: tuple(grid for grid in g if not names or grid.status == "active") for c, g in found.items()}
        stages += staged("deactivate", (_inactive(c, g) for c, g in awake.items() if g), "inactive")
        stages += staged(f"drop grid disks {_shown(found, prefix, names)}", drops, "dropgrid", gate=Gate.ALL)
        sizes = sorted({grid.size for grids in found.values() for grid in grids})
        count = sum(len(grids) for grids in found.values())
        notes.append(f"{counted(count, 'grid disk')} of {', '.join(map(size_text, sizes))}, free (no disk group)")
        lost = [grid.name for grids in found.values() for grid in grids if grid.comment and not _comment(grid)]
        if lost:
            notes.append(f"undo does not restore the comment of {fold_briefly(lost)}: it has both kinds of quotes")
    inverse = _taken_back(facts, found, prefix, regrown=regrow, names=names)
    if regrow:
        grown, sizes_by_cell = _regrow(facts, found)
        if grown:
            stages += recreate_stages(grown, sizes_by_cell)
            for cell in (fact.cell for fact in grown):
                done.pop(cell, None)
            inverse |= {
                fact.cell: (f"resize flashcache size={whole_size(fact.cache_size)}",)
                for fact in grown
                if fact.cell not in found and fact.flash_cache is not None
            }
            notes += told_together(
                (cell, f"flash cache {size_text(facts[cell].cache_size)} → {size_text(size)}")
                for cell, size in sizes_by_cell.items()
            )
            notes += filter(None, [flush_note([fact for fact in grown if fact.writeback and fact.flash_cache])])
    warnings = ("the cache starts empty after it has grown",) if any(s.key.startswith("create") for s in stages) else ()
    return Plan(
        statement=statement,
        rack=rack,
        stages=tuple(stages),
        done=done,
        inverse=inverse,
        notes=tuple(notes),
        warnings=warnings,
        risk=Risk.PERFORMANCE if stages else Risk.NONE,
    )


def _nothing_there(fact: CellFacts, prefix: str, media: str, names: Sequence[str]) -> str:
    """Return why a cell has nothing to release, with the most similar prefix or name that it has."""
    if names:
        return absent("it has no such grid disk", names, [grid.name for grid in fact.grid_disks])
    where = f" on {media} disks" if media else ""
    known = [grid.prefix for grid in fact.grid_disks if grid.prefix]
    return absent(f"it has no grid disks {prefix}_*{where}", [prefix], known)


def _shown(found: Mapping[str, Sequence[GridDisk]], prefix: str, names: Sequence[str]) -> str:
    """Return the released disks as text for a title."""
    return fold_briefly([grid.name for grids in found.values() for grid in grids]) if names else f"{prefix}_*"


def _taken_back(
    facts: Mapping[str, CellFacts],
    found: Mapping[str, Sequence[GridDisk]],
    prefix: str,
    *,
    regrown: bool,
    names: Sequence[str] = (),
) -> dict[str, tuple[str, ...]]:
    """Return, by cell, the statements that restore its grid disks: first the cache's old size, then the disks."""
    back: dict[str, tuple[str, ...]] = {}
    if names:
        for cell, grids in found.items():
            cache = facts[cell].flash_cache
            resize = (f"resize flashcache size={whole_size(cache.size)}",) if regrown and cache is not None else ()
            back[cell] = (*resize, *map(_created_again, grids))
        return back
    if not _alone(facts, found, prefix):
        return back
    for cell, grids in found.items():
        fact = facts[cell]
        if _refusal(fact, grids, prefix, alone=True):
            continue
        cache = fact.flash_cache
        resize = (f"resize flashcache size={whole_size(cache.size)}",) if regrown and cache is not None else ()
        back[cell] = (*resize, *_prefix_again(fact, grids, prefix))
    return back


def _refusal(fact: CellFacts, grids: Sequence[GridDisk], prefix: str, *, alone: bool) -> str:
    """Return why no statement makes the grid disks of a prefix again; empty if one does.

    carve and CREATE GRIDDISK ALL make one on every disk of the media, all of them alike.
    """
    if not alone:
        return f"carve makes no grid disks {prefix}_* beside those on disks of another kind"
    flash = all(grid.flash for grid in grids)
    if len({grid.size for grid in grids}) > 1 or len(grids) != len(_disks(fact, flash=flash)):
        return "the disks have different sizes; create them one by one"
    for attribute, values in (
        ("availableTo", {grid.available_to for grid in grids}),
        ("cachingPolicy", {grid.caching_policy for grid in grids}),
    ):
        if len(values) > 1:
            return f"the disks differ in {attribute}; create them one by one"
    return ""


def _prefix_again(fact: CellFacts, grids: Sequence[GridDisk], prefix: str) -> tuple[str, ...]:
    """Return the statements that make the grid disks of a prefix again, empty.

    carve makes grid disks without a comment that the flash cache serves; CREATE makes the others. Source: cellcli.md 6.6.
    """
    if len({grid.comment for grid in grids}) > 1:
        return tuple(map(_created_again, grids))
    grid = grids[0]
    media = "flash" if grid.flash else "hard"
    size = f"size={whole_size(grid.size)}"
    if grid.caching_policy != "none" and not _comment(grid):
        clients = f" availableTo='{grid.available_to}'" if grid.available_to else ""
        return (f"carve griddisk prefix={prefix} {size} media={media}{clients}",)
    words = media_of(fact, media).words
    return (", ".join([f"CREATE GRIDDISK ALL {words} PREFIX={prefix}", size, *_settings(grid)]),)


def _created_again(grid: GridDisk) -> str:
    """Return the statement that creates a grid disk again, empty."""
    settings = [f"cellDisk={grid.cell_disk}", f"size={whole_size(grid.size)}", *_settings(grid)]
    return f"CREATE GRIDDISK {grid.name} {', '.join(settings)}"


def _settings(grid: GridDisk) -> list[str]:
    """Return what was set of a grid disk beside its size. Source: cellcli.md 2.3 and 6.6."""
    settings = ["cachingPolicy=none"] if grid.caching_policy == "none" else []
    settings += [f"availableTo='{grid.available_to}'"] if grid.available_to else []
    return settings + _comment(grid)


def _comment(grid: GridDisk) -> list[str]:
    """Return the setting of a comment; none without one. CellCLI can't write one with both kinds of quotes."""
    if not grid.comment or {"'", '"'} <= set(grid.comment):
        return []
    quote = '"' if "'" in grid.comment else "'"
    return [f"comment={quoted(grid.comment, quote)}"]


def _alone(facts: Mapping[str, CellFacts], found: Mapping[str, Sequence[GridDisk]], prefix: str) -> bool:
    """Return whether ``found`` are all grid disks of a prefix: carve makes none if disks of another kind have it too."""
    return members(facts, prefix) == found


def _disks(fact: CellFacts, *, flash: bool) -> Sequence[CellDisk]:
    """Return the cell disks on which carve makes grid disks together."""
    return fact.flash_disks if flash else fact.hard_disks


def _regrow(
    facts: Mapping[str, CellFacts], found: Mapping[str, Sequence[GridDisk]]
) -> tuple[list[CellFacts], dict[str, int]]:
    grown: list[CellFacts] = []
    sizes: dict[str, int] = {}
    for cell, fact in facts.items():
        room = fact.cache_room(plus=summed((grid.cell_disk, grid.size) for grid in found.get(cell, ())))
        if fact.flash_disks and room > fact.cache_size:
            grown.append(fact)
            sizes[cell] = room
    return grown, sizes


def _inactive(cell: str, grids: Sequence[GridDisk]) -> Step:
    names = tuple(grid.name for grid in grids)
    return Step(
        target=cell,
        statement=f"ALTER GRIDDISK {','.join(names)} INACTIVE",
        what=f"deactivate {counted(len(names), 'grid disk')}",
        needs=unused(grids),
        proves=(Check(object="griddisk", attribute="status", value="inactive", where={"name": names}),),
        expect=len(names),
        risk=Risk.NONE,
        undo=Undo.STATEMENT,
        inverse=f"ALTER GRIDDISK {','.join(names)} ACTIVE",
        changes=(
            Change(
                object="griddisk",
                name=counted(len(names), "disk"),
                attribute="status",
                before="active",
                after="inactive",
            ),
        ),
    )


def _drop_named(cell: str, grids: Sequence[GridDisk]) -> Step:
    """Return the step that drops grid disks that were named one by one."""
    return replace(
        _drop(cell, grids, "; ".join(map(_created_again, grids)), Undo.STATEMENT),
        changes=tuple(
            Change(object="griddisk", name=grid.name, attribute="size", before=format_size(grid.size), after="-")
            for grid in grids
        ),
    )


def _drop_prefix(fact: CellFacts, grids: Sequence[GridDisk], prefix: str, *, alone: bool) -> Step:
    """Return the step that drops the grid disks of a prefix."""
    sizes = {grid.size for grid in grids}
    why = _refusal(fact, grids, prefix, alone=alone)
    again = ""
    if not why and len({grid.comment for grid in grids}) > 1:
        again = "; ".join(map(_created_again, grids))
    elif not why:
        media = media_of(fact, "flash" if grids[0].flash else "hard")
        first = f"CREATE GRIDDISK ALL {media.words} PREFIX={prefix}"
        again = ", ".join([first, f"size={whole_size(grids[0].size)}", *_settings(grids[0])])
    before = f"{len(grids)} × {', '.join(format_size(size) for size in sorted(sizes))}"
    return replace(
        _drop(fact.cell, grids, again or why, Undo.STATEMENT if again else Undo.IMPOSSIBLE),
        changes=(Change(object="griddisk", name=f"{prefix}_*", attribute="size", before=before, after="-"),),
    )


def _drop(cell: str, grids: Sequence[GridDisk], inverse: str, undo: Undo) -> Step:
    names = tuple(grid.name for grid in grids)
    return Step(
        target=cell,
        statement=f"DROP GRIDDISK {','.join(names)}",
        what=f"drop {counted(len(names), 'grid disk')}",
        needs=(
            *unused(grids),
            Check(object="griddisk", attribute="status", value="inactive", where={"name": names}),
        ),
        proves=(Check(object="griddisk", op=Op.ABSENT, where={"name": names}),),
        expect=len(names),
        risk=Risk.PERFORMANCE,
        undo=undo,
        inverse=inverse,
    )
