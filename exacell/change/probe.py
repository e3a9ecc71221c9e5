"""Ask cells for the present state of a cache that a change may have left off, and name the statement that switches it on."""

from __future__ import annotations

from collections.abc import Sequence

from exacell.journal.left import GONE, UNTOLD
from exacell.plan import facts as f
from exacell.session.fleet import Fleet

_LISTS = {"flashcache": f.FLASHCACHE, "pmemcache": f.PMEMCACHE, "xrmemcache": f.XRMEMCACHE}


def seen(fleet: Fleet, cells: Sequence[str], cache: str) -> dict[str, str]:
    """Return for each cell ``on``, ``off`` (flushing or flushed), ``gone``, or ``untold`` if the cell has no flush.

    Args:
        cache: a value of :attr:`exacell.plan.model.Step.cache`.
    """
    asked = [_LISTS[cache]]
    caching = {}
    for cell, answer in fleet.query(cells, asked).good.items():
        fact = f.build(cell, asked, answer.tables)
        found = fact.flash_cache if cache == "flashcache" else fact.pmem_cache
        if found is None:
            caching[cell] = GONE
        else:
            caching[cell] = found.caching if found.status else UNTOLD
    return caching


def again(cache: str) -> str:
    """Return the statement that makes the cache cache again after a flush."""
    return f"alter {cache} all cancel flush"
