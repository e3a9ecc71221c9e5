"""Base values of disks and of the flash cache, computed name by name when a rule asks for them.

A history looks at one metric of many objects at thousands of minutes: what nobody asks for is not computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from exacell.emulator.device_io import share
from exacell.emulator.metric_rules import DISKS
from exacell.units import KIB

KINDS = tuple((kind, size) for kind in ("R", "W") for size in ("LG", "SM"))
"""Reads and writes, large and small."""

_Recipe = tuple[float, tuple[str, ...]]
"""A divisor, and the counters of a medium that add up to a base value."""


@cache
def _recipes(prefix: str) -> Mapping[str, _Recipe]:
    """Return how each base value of a cell disk (CD) or grid disk (GD) follows from the counters of its medium."""
    found: dict[str, _Recipe] = {}
    for kind, size in KINDS:
        for what, label, divisor in (("RQ", "RQ", 1.0), ("KB", "BY", float(KIB)), ("TM", "TM", 1.0)):
            found[f"{prefix}_IO_{label}_{kind}_{size}"] = (divisor, (f"{kind}_{size}.{what}",))
    for what in ("RQ", "TM"):
        found[what] = (1.0, tuple(f"{kind}_{size}.{what}" for kind, size in KINDS))
    for size in ("LG", "SM"):
        found[f"TM_{size}"] = (1.0, tuple(f"{kind}_{size}.TM" for kind in ("R", "W")))
    return found


class DiskBase(Mapping[str, float]):
    """The base values of one disk: its part of the counters of its medium.

    Args:
        prefix: CD or GD.
        place: the medium, the disk's place among the disks of it, and their number.
        other: base values that follow from something else.
        earlier: counters at the moment from which on the disk counts, None when it has counted all the time.
    """

    def __init__(
        self,
        prefix: str,
        values: Mapping[str, float],
        place: tuple[str, int, int],
        other: Mapping[str, float],
        earlier: Mapping[str, float] | None = None,
    ) -> None:
        self._recipes = _recipes(prefix)
        self._values = values
        self._medium, self._index, self._count = place
        self._other = {DISKS: 1, **other}
        self._earlier = earlier

    def __getitem__(self, name: str) -> float:
        recipe = self._recipes.get(name)
        if recipe is None:
            return self._other[name]
        divisor, counters = recipe
        total = sum(self._part(f"{self._medium}.{counter}") for counter in counters)
        return total if divisor == 1.0 else total / divisor

    def get(self, name: str, default: float = 0) -> float:  # type: ignore[override]
        """Return a base value, ``default`` for one that the disk does not have."""
        return self[name] if name in self._recipes or name in self._other else default

    def _part(self, counter: str) -> int:
        now = share(self._values.get(counter, 0), self._index, self._count)
        if self._earlier is None:
            return now
        return max(0, now - share(self._earlier.get(counter, 0), self._index, self._count))

    def __iter__(self) -> Iterator[str]:
        yield from self._recipes
        yield from self._other

    def __len__(self) -> int:
        return len(self._recipes) + len(self._other)


_MEGABYTES_WRITTEN = frozenset(
    (
        *("EXW_FC_IO_RQ_W_DKWR_DSYNC", "FC_IO_RQ_DISK_WRITE"),
        *("FC_IO_RQ_W_DISK_WRITER", "FC_IO_RQ_R_DISK_WRITER"),
    )
)
"""Requests of the disk writer, which moves a megabyte at a time."""

_SUMS = _MEGABYTES_WRITTEN | {
    "EXW_FC_IO_BY_ALLOCATED_UNSYNC",
    "EXW_FC_IO_BY_ALLOCATED_SYNC",
    "EXW_FC_IO_BY_W_DKWR_DSYNC",
}


class CacheBase(Mapping[str, float]):
    """The values of the flash cache with those that follow from others: ExaWatcher's, and the disk writer's."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> float:
        if name not in _SUMS or name in self._values:
            return self._values[name]
        if name in _MEGABYTES_WRITTEN:
            return int(self._values.get("FC_IO_BY_DISK_WRITE", 0.0))
        if name == "EXW_FC_IO_BY_W_DKWR_DSYNC":
            return self._values.get("FC_IO_BY_W_DISK_WRITER", 0.0) * KIB
        dirty = self._values.get("FC_BY_ALLOCATED_DIRTY", 0.0)
        if name == "EXW_FC_IO_BY_ALLOCATED_UNSYNC":
            return dirty * KIB
        return (self._values.get("FC_BY_ALLOCATED", 0.0) - dirty) * KIB

    def get(self, name: str, default: float = 0) -> float:  # type: ignore[override]
        """Return a value, ``default`` for one that was never counted."""
        return self[name] if name in _SUMS else self._values.get(name, default)

    def __iter__(self) -> Iterator[str]:
        yield from {*_SUMS, *self._values}

    def __len__(self) -> int:
        return len({*_SUMS, *self._values})
