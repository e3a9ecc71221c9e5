"""Base values of disks and of the flash cache, computed name by name when a rule asks for them.

A history needs one metric of many objects at thousands of minutes, so only values that are asked for are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from exacell.core.units import KIB
from exacell.emulator.io.cache_chores import ABSORBED, FOR_LARGE_WRITES, LARGE_WRITES, REJECTED
from exacell.emulator.io.device_io import spread
from exacell.emulator.metrics.rules import DISKS, Base

KINDS = tuple((kind, size) for kind in ("R", "W") for size in ("LG", "SM"))
"""Reads and writes, large and small."""

_Recipe = tuple[float, tuple[str, ...]]
"""A divisor, and the counters of a medium whose sum is divided by it."""


@cache
def _recipes(prefix: str) -> Mapping[str, _Recipe]:
    """Return how each base value of a cell disk (CD) or grid disk (GD) is computed from the counters of its medium."""
    found: dict[str, _Recipe] = {}
    for kind, size in KINDS:
        for what, label, divisor in (("RQ", "RQ", 1.0), ("KB", "BY", float(KIB)), ("TM", "TM", 1.0)):
            found[f"{prefix}_IO_{label}_{kind}_{size}"] = (divisor, (f"{kind}_{size}.{what}",))
    for what in ("RQ", "TM"):
        found[what] = (1.0, tuple(f"{kind}_{size}.{what}" for kind, size in KINDS))
    for size in ("LG", "SM"):
        found[f"TM_{size}"] = (1.0, tuple(f"{kind}_{size}.TM" for kind in ("R", "W")))
    return found


class Columns:
    """Base values of objects of one type at one collection: a column for each name, computed when it is asked for."""

    def __init__(self, bases: Sequence[Base]) -> None:
        self._bases = bases
        self._known: dict[str, list[float]] = {}

    def __call__(self, name: str) -> list[float]:
        """Return a base value of each object, 0 where an object does not have it."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = [base.get(name, 0) for base in self._bases]
        return known


class MediumColumns:
    """The base values of all disks of one medium: each disk has an even share of the medium's counters.

    Args:
        prefix: CD or GD.
        count: the number of disks of the medium.
    """

    def __init__(self, prefix: str, values: Mapping[str, float], medium: str, count: int) -> None:
        self.recipes = _recipes(prefix)
        self._values, self._medium, self._count = values, medium, count
        self._known: dict[str, list[float]] = {}
        self._parts: dict[str, list[int]] = {}

    def __call__(self, name: str) -> list[float]:
        """Return one of the base values in ``recipes`` for each disk."""
        known = self._known.get(name)
        if known is None:
            divisor, counters = self.recipes[name]
            totals: list[float] = list(map(sum, zip(*map(self.parts, counters), strict=True)))
            known = self._known[name] = totals if divisor == 1.0 else [total / divisor for total in totals]
        return known

    def parts(self, counter: str) -> list[int]:
        """Return each disk's share of a counter of the medium."""
        known = self._parts.get(counter)
        if known is None:
            total = self._values.get(f"{self._medium}.{counter}", 0)
            known = self._parts[counter] = list(spread(total, self._count))
        return known


_NOTHING_MORE: Mapping[str, float] = {}


class DiskBase(Mapping[str, float]):
    """The base values of one disk: its share of the counters of its medium.

    Args:
        columns: the base values of the medium.
        index: the disk's place among the disks of the medium.
        other: base values that are not in the recipes.
        more: amounts that are added to base values of the recipes.
        earlier: columns at the moment since which the disk counts; None if it has always counted.
    """

    def __init__(
        self,
        columns: MediumColumns,
        index: int,
        other: Mapping[str, float],
        earlier: MediumColumns | None = None,
        more: Mapping[str, float] = _NOTHING_MORE,
    ) -> None:
        self._columns, self._index, self._earlier, self._more = columns, index, earlier, more
        self._recipes = columns.recipes
        self._other = {DISKS: 1, **other}

    def __getitem__(self, name: str) -> float:
        recipe = self._recipes.get(name)
        if recipe is None:
            return self._other[name]
        if self._earlier is None:
            return self._columns(name)[self._index] + self._more.get(name, 0)
        divisor, counters = recipe
        total = sum(map(self._since, counters))
        return total if divisor == 1.0 else total / divisor

    def get(self, name: str, default: float = 0) -> float:  # type: ignore[override]  # 0, not None
        """Return a base value; ``default`` if the disk does not have it."""
        if name in self._recipes:
            return self[name]
        return self._other.get(name, default)

    def _since(self, counter: str) -> int:
        before = 0 if self._earlier is None else self._earlier.parts(counter)[self._index]
        return max(0, self._columns.parts(counter)[self._index] - before)

    def __iter__(self) -> Iterator[str]:
        yield from self._recipes
        yield from self._other

    def __len__(self) -> int:
        return len(self._recipes) + len(self._other)


_MEGABYTES_WRITTEN = frozenset((*("FC_IO_RQ_DISK_WRITE", "FC_IO_RQ_W_DISK_WRITER", "FC_IO_RQ_R_DISK_WRITER"),))
"""Requests of the disk writer, each of one megabyte."""

_KEPT: Mapping[str, str] = {
    "FC_BYKEEP_USED": "FC_BY_USED",
    "FC_BYKEEP_DIRTY": "FC_BY_DIRTY",
    "FC_BYKEEP_OLTP": "FC_BY_ALLOCATED_OLTP",
}
"""Metrics of cached data with CELL_FLASH_CACHE KEEP, and the metric of which each is a part."""

_LARGE: Mapping[str, str] = {
    **{f"EXW_FC_LW_{kind}_CACHED": f"FC_LW|{kind}" for kind in LARGE_WRITES},
    "EXW_FC_LW_ABSORBED_BY": ABSORBED,
    "EXW_FC_LW_REJECTED_BY": REJECTED,
}
"""Metrics of large writes and their counters, in requests of a megabyte; metrics of bytes are in KB."""

_HELD: Mapping[str, tuple[str, float, int]] = {
    **{f"EXW_FC_BY_CACHED_LW_{kind}": (f"FC_LW|{kind}", 0.05, KIB) for kind in LARGE_WRITES},
    "FC_COL_BY_USED": ("FC_COL_IO_BY_W_POPULATE", 0.25, 1),
    "FC_IO_BY_W_LG_CHINT": ("FC_IO_RQ_W_LG_CHINT", 0.02, 1),
    "FC_IO_BY_W_LG_DTAGE": ("FC_IO_RQ_W_LG_DTAGE", 0.02, 1),
}
"""Metrics of cached data of large writes and columns: the counter of the megabytes that came in, the largest share of the used
bytes that it may be, and a megabyte in the metric's unit.
"""

_BY_REASON = frozenset(f"EXW_FC_IO_{what}_W_DKWR_{reason}" for what in ("BY", "RQ") for reason in ("DSYNC", "LWDSYNC"))

_SUMS = {
    *_MEGABYTES_WRITTEN,
    *_LARGE,
    *_HELD,
    *_BY_REASON,
    "FC_COL_BYKEEP_USED",
    *_KEPT,
    "EXW_FC_IO_BY_ALLOCATED_UNSYNC",
    "EXW_FC_IO_BY_ALLOCATED_SYNC",
}


class CacheBase(Mapping[str, float]):
    """The values of the flash cache, with those computed from others: ExaWatcher's, the disk writer's, those of KEEP.

    Args:
        kept: the share of the cached data that has CELL_FLASH_CACHE KEEP.
    """

    def __init__(self, values: Mapping[str, float], kept: float) -> None:
        self._values = values
        self._kept = kept

    def __getitem__(self, name: str) -> float:
        if name in _KEPT:
            return self._values.get(_KEPT[name], 0.0) * self._kept
        if name not in _SUMS or name in self._values:
            return self._values[name]
        if name in _MEGABYTES_WRITTEN:
            return int(self._values.get("FC_IO_BY_DISK_WRITE", 0.0))
        if name in _LARGE:
            return self._values.get(_LARGE[name], 0.0) * (KIB if name.endswith("_BY") else 1)
        if name in _HELD:
            counter, most, each = _HELD[name]
            return min(self._values.get(counter, 0.0), most * self._values.get("FC_BY_USED", 0.0)) * each
        if name == "FC_COL_BYKEEP_USED":
            return self["FC_COL_BY_USED"] * self._kept
        if name in _BY_REASON:
            return self._written_for(name)
        dirty = self._values.get("FC_BY_ALLOCATED_DIRTY", 0.0)
        if name == "EXW_FC_IO_BY_ALLOCATED_UNSYNC":
            return dirty * KIB
        return (self._values.get("FC_BY_ALLOCATED", 0.0) - dirty) * KIB

    def _written_for(self, name: str) -> float:
        """Return the disk writer's writes for one reason; both reasons add up to all its writes."""
        values = self._values
        total, large = values.get("FC_IO_BY_W_DISK_WRITER", 0.0), values.get(FOR_LARGE_WRITES, 0.0)
        if name.startswith("EXW_FC_IO_BY_"):
            return (large if name.endswith("LWDSYNC") else total - large) * KIB
        return int(large) if name.endswith("LWDSYNC") else int(total) - int(large)

    def get(self, name: str, default: float = 0) -> float:  # type: ignore[override]  # 0, not None
        """Return a value; ``default`` if it was never counted."""
        return self[name] if name in _SUMS else self._values.get(name, default)

    def __iter__(self) -> Iterator[str]:
        yield from {*_SUMS, *self._values}

    def __len__(self) -> int:
        return len({*_SUMS, *self._values})
