"""One collection of a cell's counters and gauges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Collection:
    """All raw values of one moment: cumulative counters and gauges by metric name, with the object after a ``|``."""

    moment: float
    values: Mapping[str, float]
    cache_epoch: int
    log_epoch: int
    server_epoch: int = 0

    @property
    def epochs(self) -> tuple[int, int, int]:
        """Return how often the FC_* counters, the FL_* counters and all others had been reset."""
        return self.cache_epoch, self.log_epoch, self.server_epoch
