"""Each database's share of the flash cache: equal parts, within the limits and guarantees of the IORM plan.

Source: Oracle SAGUG, using-flash-cache-attributes-iorm-plans: flashCacheMin is kept for a database in any case,
flashCacheLimit is the most that it gets, flashCacheSize is both. That databases share the rest evenly is made up:
the emulator has no data of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.emulator.cell.iorm_models import IormPlan


def cache_shares(plan: IormPlan, databases: Sequence[str], total: int) -> Mapping[str, int]:
    """Return how many of ``total`` bytes in the cache each database has; databases that are not cached are left out.

    >>> cache_shares(IormPlan(objective="auto"), ("A", "B"), 100)
    {'A': 50, 'B': 50}
    """
    open_to = [name for name in databases if plan.flash_cache_on(name)]
    shares = dict.fromkeys(databases, 0)
    left = total
    while open_to:
        even = left // len(open_to)
        bounds = {name: _bounds(plan, name, total) for name in open_to}
        # Guarantees are given first: they make the equal parts of the other databases smaller.
        fixed = {name: low for name, (low, _) in bounds.items() if low > even}
        fixed = fixed or {name: high for name, (_, high) in bounds.items() if high < even}
        if not fixed:
            return shares | dict.fromkeys(open_to, even)
        for name, amount in fixed.items():
            shares[name] = min(amount, max(0, left))
            left -= shares[name]
            open_to.remove(name)
    return shares


def _bounds(plan: IormPlan, database: str, total: int) -> tuple[int, int]:
    """Return the least and the most bytes that a database may have."""
    size = plan.cache_bytes(database, "flashcachesize")
    low = plan.cache_bytes(database, "flashcachemin") or size or 0
    high = plan.cache_bytes(database, "flashcachelimit") or size or total
    return low, high
