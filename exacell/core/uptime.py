"""The time that passes whatever a clock is set to, also while this host sleeps or this process is stopped."""

from __future__ import annotations

import time


def uptime() -> float:
    """Return seconds since the host started. Source: clock_gettime(2), CLOCK_BOOTTIME counts suspended time as well."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
