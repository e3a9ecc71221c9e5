"""The interface between cells and ASM: what each knows of the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class AsmDiskView:
    """What ASM knows of one grid disk.

    Attributes:
        mode_status: ONLINE, OFFLINE, DROPPED, UNUSED, SYNCING or UNKNOWN.
        deactivation_outcome: ``Yes``, or the reason why it can't go offline, as CellCLI prints it.
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
    """The questions that cells ask ASM, and the changes that they report to it."""

    def disk(self, cell: str, griddisk: str) -> AsmDiskView | None:
        """Return what ASM knows of one grid disk; None when it has never been in a disk group."""

    def grid_disk_changed(self, cell: str, griddisk: str, what: str) -> None:
        """Note a change of a grid disk: ``inactive``, ``active``, ``dropped``, ``created`` or ``resized``.

        ``failed``, ``failing`` and ``replaced`` are changes of the disk below it; ``replaced`` means by a new one.
        """
