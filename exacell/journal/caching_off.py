"""What the journal says of caches that a change left off."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from exacell.core.values import dataclass
from exacell.journal.rows import Entry, Intent, Observed, Outcome, StepRow

FLASHCACHE = "flashcache"
"""The cache that rows speak of which name none."""

GONE, UNTOLD = "gone", "untold"
"""What rows say of a cache that a cell does not have, and of one of which it does not tell whether it caches."""


@dataclass(frozen=True, kw_only=True)
class CachingOff:
    """A change left caching off on these cells, as far as the journal knows.

    Attributes:
        dropped: the cache was dropped there, or may have been, and not made again.
        cache: flashcache, pmemcache or xrmemcache.
        sure: whether the statement that did it is known to have been carried out; its answer may have been lost.
        comes: a DROP of it was not answered and is not seen to be done: it may still be carried out, whatever is read.
        refused: the cell said no to that statement, which was not to drop the cache.
    """

    change: int
    cells: tuple[str, ...]
    dropped: bool = False
    cache: str = FLASHCACHE
    sure: bool = True
    comes: bool = False
    refused: bool = False


_NOT_DONE = ("failed", "not done")
"""States of a step that did not happen, as far as that is known."""


def caching_off(entries: Iterable[Entry]) -> tuple[CachingOff, ...]:
    """Return the changes after which caching was switched off and never seen back, newest last.

    An intent that switches caching off counts from before its statement left; only an outcome that brought caching
    back, or a later observation of it, clears it.
    """
    off: dict[tuple[str, str], CachingOff] = {}
    before: dict[tuple[str, str], CachingOff | None] = {}
    flushing: set[tuple[str, str]] = set()
    for entry in entries:
        if not isinstance(entry, (StepRow, Observed)):
            continue
        cache = entry.cache or FLASHCACHE
        key = (entry.target, cache)
        if isinstance(entry, Intent) and entry.caching_off:
            before[key] = off.get(key)
            if entry.statement.upper().startswith(f"ALTER {cache}".upper()):
                flushing.add(key)
            else:
                flushing.discard(key)  # A command may fail behind a statement that was carried out.
            drops = f"DROP {cache}".upper() in entry.statement.upper()
            off[key] = CachingOff(
                change=entry.change,
                cells=(entry.target,),
                dropped=drops,
                comes=drops,
                cache=cache,
                sure=not entry.statement,  # What is only followed was off before.
            )
        elif _is_back(entry):
            off.pop(key, None)
        elif key in off:
            item = off[key] = _after(off[key], entry)
            seen = entry.caching if isinstance(entry, Observed) else ""
            if item.refused and key in flushing and seen in (GONE, UNTOLD):
                # It did nothing to a cache that is not there, or has no flush: what was left off before still is.
                off.pop(key)
                if (earlier := before[key]) is not None:
                    off[key] = earlier
    changes: dict[tuple[int, bool, str, bool, bool], list[str]] = {}
    for (cell, _), item in off.items():
        changes.setdefault((item.change, item.dropped, item.cache, item.sure, item.comes), []).append(cell)
    return tuple(
        CachingOff(change=change, cells=tuple(cells), dropped=dropped, cache=cache, sure=sure, comes=comes)
        for (change, dropped, cache, sure, comes), cells in sorted(changes.items())
    )


def _is_back(row: StepRow | Observed) -> bool:
    """Whether a row says that a cache was brought back, or seen on."""
    if isinstance(row, Outcome):
        return row.caching_on and row.state == "done"
    return isinstance(row, Observed) and row.caching == "on"


def _after(item: CachingOff, row: StepRow | Observed) -> CachingOff:
    """Return what a row tells about a cache that is off: how its statement ended, or that it was seen off."""
    if isinstance(row, Observed):
        # Off means flushed as well as gone: it settles whether it caches, not whether it is there.
        told = row.caching not in ("", UNTOLD)  # Empty: something else was seen.
        return item if item.dropped or not told else replace(item, sure=True)
    if not isinstance(row, Outcome) or not row.caching_off:
        return item
    if row.state in _NOT_DONE:
        # What was not dropped is what it was before: flushed. Of a cell that did not say no that is what was read since.
        comes = item.comes and row.settled
        return replace(item, dropped=False, sure=item.sure or item.dropped, comes=comes, refused=not item.dropped)
    if row.state != "done":
        # Every start asks this; few have such a row.
        from exacell.cellcli.reply import successes

        # A flush that was answered and then lost from sight is off all the same.
        answered = bool(successes(row.reply))
        return replace(item, sure=item.sure or answered, comes=item.comes and not answered)
    return replace(item, sure=True, comes=False)
