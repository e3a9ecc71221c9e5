"""How long a redo write takes where nothing else is planted: the races of flash and disk, and their outliers."""

from __future__ import annotations

FLASH_FIRST_SHARE = 0.80
"""Approximate share of races that flash wins; the cells differ by a few percent."""

PREVENTED_RATE = 2.5e-5
ACTUAL_RATE = 1.2e-6
FLASH_ONLY_RATE = 6e-6
"""Shares of the races with an outlier: the disk is slow and flash hides it; both are slow; flash is slow and the disk hides it.
"""

OUTLIER_US = 620_000
DISK_US, FLASH_US, OVERHEAD_US = 410.0, 290.0, 165.0
"""Latencies in microseconds: of an outlier, of a write that disk or flash won, and the overhead of a request."""


SPREAD = 0.3
"""Standard deviation of the logarithm of a write's latency."""
