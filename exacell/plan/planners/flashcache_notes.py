"""What plans for the flash cache say beside their steps: what the caches hold, the arithmetic of sizes, what it costs. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.core.cellset import fold
from exacell.core.units import format_size, human_size
from exacell.plan.estimate import flush_note
from exacell.plan.facts import CellFacts

_FEW = 4
"""Up to so many cells each have a line of their own among a plan's notes."""


def flush_notes(cells: Mapping[str, CellFacts]) -> tuple[str, ...]:
    """Return what the caches hold, of few cells each for itself and of many in sum, and how long their flush may take.

    Args:
        cells: with FLASHCACHE, CELLDISK and FLASH_METRICS read; those without figures are left out.
    """
    known = {
        cell: (dirty, used)
        for cell, fact in cells.items()
        if (dirty := fact.metric_bytes("FC_BY_DIRTY")) is not None
        and (used := fact.metric_bytes("FC_BY_USED")) is not None
    }
    if len(known) <= _FEW:
        alike: dict[str, list[str]] = {}
        for cell, (dirty, used) in known.items():
            holds = f"{human_size(dirty)} dirty, {human_size(used)} used of {human_size(cells[cell].cache_size)}"
            alike.setdefault(holds, []).append(cell)
        notes = [f"{fold(names)}: {holds}" for holds, names in alike.items()]
    else:
        most = max(known, key=lambda cell: known[cell][0])
        dirty, used = (sum(pair[place] for pair in known.values()) for place in (0, 1))
        where = f"{human_size(dirty)} dirty in all, most on {most} ({human_size(known[most][0])})"
        notes = [f"{len(known)} cells: {where if dirty else 'nothing dirty'}; {human_size(used)} used"]
    return (*notes, *filter(None, [flush_note(list(cells.values()))]))


def resize_notes(todo: Sequence[CellFacts], sizes: Mapping[str, int], asked: int) -> tuple[str, ...]:
    """Return the arithmetic of each size, folded over cells with the same, and how long the flush before it may take.

    Args:
        sizes: bytes that each cell's cache gets.
        asked: bytes that were asked for, which may have been rounded.
    """
    groups: dict[tuple[int, int, int], list[str]] = {}
    for fact in todo:
        disks = len(fact.flash_disks)
        groups.setdefault((disks, sizes[fact.cell], fact.cache_room()), []).append(fact.cell)
    notes = []
    for (disks, size, room), cells in groups.items():
        note = f"{fold(cells)}: {format_size(size)} = {disks} flash disks × {format_size(size // disks, largest='G')}"
        if size != asked:
            note += f" ({format_size(asked)} rounded down to 16M a disk)"
        notes.append(f"{note}; {format_size((room - size) // disks, largest='M')} stay free on each flash disk")
    writeback = [fact for fact in todo if fact.writeback and fact.flash_cache]
    if writeback:
        notes.append("write-back: each cache is flushed and proven empty before it is dropped")
    return (*notes, *filter(None, [flush_note(writeback)]))


def resize_warnings(todo: Sequence[CellFacts]) -> tuple[str, ...]:
    """Return what re-creating these caches costs."""
    return ("the cache starts empty: every database on these cells reads from disk until it is warm",) if todo else ()
