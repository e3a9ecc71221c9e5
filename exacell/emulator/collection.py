"""One collection of a cell's counters and gauges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Collection:
    """All raw values of one moment: cumulative counters and gauges by metric name, per object behind a ``|``."""

    moment: float
    values: Mapping[str, float]
    cache_epoch: int
    log_epoch: int
    server_epoch: int = 0

    @property
    def epochs(self) -> tuple[int, int, int]:
        """How often the FC_*, the FL_* and all other counters had started anew."""
        return self.cache_epoch, self.log_epoch, self.server_epoch
