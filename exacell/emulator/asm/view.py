"""What cells and ASM know of each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class AsmDiskView:
    """What ASM knows of one grid disk.

    Attributes:
        mode_status: ONLINE, OFFLINE, DROPPED, UNUSED, SYNCING or UNKNOWN.
        deactivation_outcome: ``Yes``, or the sentence why it can't go offline.
        rebalance: power of the rebalance that runs in its disk group, and since when; power 0 when none runs.
    """

    disk_group: str | None
    disk_group_type: str | None
    disk_name: str | None
    fail_group: str | None
    mode_status: str
    deactivation_outcome: str
    size_bytes: int | None
    rebalance: tuple[int, float] = (0, 0.0)


class AsmView(Protocol):
    """What cells ask of ASM, and tell it."""

    def disk(self, cell: str, griddisk: str) -> AsmDiskView | None:
        """Return what ASM knows of a grid disk, None when it was never in a disk group."""

    def grid_disk_changed(self, cell: str, griddisk: str, what: str) -> None:
        """Take note that a grid disk is now ``inactive``, ``active``, ``dropped``, ``created`` or ``resized``.

        Or that its disk has ``failed``, is ``failing``, or was ``replaced`` by a new one.
        """
