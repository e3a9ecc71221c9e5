"""A true effect of a database's loads, planted so that a program that measures it can be judged.

Without one, the model's own numbers are used: the gain by flash, the rate of outliers, and the reads that a cache of some age
and size serves. With one, the flash log adds a percentage (negative for less) to the mean time of a redo write, and prevents
a number of outliers per million; or a parameter of the database adds the percentage while it has a certain value. A flash
cache of some size, once it is full, serves a percentage of the reads of blocks, and another of the reads of tables with
CELL_FLASH_CACHE KEEP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from exacell.core.errors import EmulatorError
from exacell.emulator.cell.models import Cell
from exacell.emulator.io.cache_clauses import Served
from exacell.emulator.io.cache_fill import MAX_USED_SHARE
from exacell.emulator.io.redo_times import ACTUAL_RATE, DISK_US, OUTLIER_US, OVERHEAD_US, PREVENTED_RATE

PLAIN_US = DISK_US + OVERHEAD_US
"""Microseconds of a redo write that is not an outlier, without the flash log."""


@dataclass(frozen=True, kw_only=True)
class Truth:
    """The true effects on one database's loads.

    Attributes:
        adds: percentage that the flash log adds to the mean time of a redo write; None: the model decides.
        when: a parameter of the database and a value, ``open_cursors=444``: while it has that value, ``adds`` is added, with or
            without the flash log; empty: the flash log adds it.
        prevents: outliers per million redo writes that the flash log prevents; None: the model decides.
        hits: percentage of the reads of blocks that a full flash cache of ``cache`` bytes on each cell serves; a smaller or
            emptier one serves proportionally less; None: the model decides. It serves no reads of data with CELL_FLASH_CACHE
            NONE.
        keeps: percentage of the reads of data with KEEP that a cache of any size serves; None: as for other data.
    """

    adds: float | None = None
    prevents: float | None = None
    hits: float | None = None
    cache: int | None = None
    keeps: float | None = None
    when: str = ""

    def __post_init__(self) -> None:
        """Raise EmulatorError if no load can have these effects."""
        if self.adds is not None and not -60 <= self.adds <= 1000:
            raise EmulatorError(f"adds={self.adds:g} is not possible: percent, to 1000; saves= takes off up to 60")
        if self.prevents is not None and self.adds is None:
            raise EmulatorError("prevents= goes with adds= or saves=: 0 where the mean stays as it is")
        if self.prevents is not None and not 0 <= self.prevents <= 1000:
            raise EmulatorError(f"prevents={self.prevents:g} is not possible: per million, from 0 to 1000")
        if self.hits is not None and not 0 <= self.hits <= 100:
            raise EmulatorError(f"hits={self.hits:g} is not possible: percent, from 0 to 100")
        if self.keeps is not None and not 0 <= self.keeps <= 100:
            raise EmulatorError(f"keeps={self.keeps:g} is not possible: percent, from 0 to 100")
        if self.keeps is not None and self.hits is None:
            raise EmulatorError("keeps= goes with hits= and cache=: what the cache serves of other data")
        if self.when and (self.adds is None or self.when.count("=") != 1):
            raise EmulatorError(f"when={self.when}: PARAMETER=VALUE of the database, beside adds= or saves=")
        if (self.hits is None) != (not self.cache):
            raise EmulatorError(
                "hits= and cache= go together: hits= is the percentage of reads that a cache of size cache= serves"
            )

    def at(self, parameters: Mapping[str, str]) -> Truth:
        """Return the effects while the database's parameters (by lower-case name) have these values."""
        name, _, value = self.when.partition("=")
        if not self.when or parameters.get(name.lower(), "").lower() == value.lower():
            return self
        return replace(self, adds=0.0)

    @property
    def prevented_rate(self) -> float:
        """Return the share of redo writes whose outlier the flash log prevents."""
        return PREVENTED_RATE if self.prevents is None else self.prevents / 1e6

    def outlier_rate(self, *, logged: bool) -> float:
        """Return the share of redo writes that are outliers for the database; ``logged``: with the flash log."""
        return ACTUAL_RATE if logged else ACTUAL_RATE + self.prevented_rate

    def plain_us(self, *, logged: bool) -> float:
        """Return the mean microseconds of a redo write that is not an outlier, such that the mean of all writes agrees with
        ``adds``.
        """
        if not logged and not self.when:
            return PLAIN_US
        slow = self.outlier_rate(logged=False)
        mean = ((1 - slow) * PLAIN_US + slow * OUTLIER_US) * (1 + (self.adds or 0.0) / 100)
        return (mean - ACTUAL_RATE * OUTLIER_US) / (1 - ACTUAL_RATE)

    def served(self, cell: Cell, most: int | None) -> Served | None:
        """Return the shares of block reads that a cell's flash cache serves; None if the model decides.

        Args:
            most: bytes that the database may have in the cache; None if there is no limit.
        """
        if self.hits is None or self.cache is None:
            return None
        used = cell.flash_cache.used_bytes if cell.flash_cache is not None else 0
        held = used if most is None else min(used, most)
        usual = self.hits / 100 * min(1.0, held / (self.cache * MAX_USED_SHARE))
        return Served(keep=usual if self.keeps is None else self.keeps / 100, none=0.0, rest=usual)
