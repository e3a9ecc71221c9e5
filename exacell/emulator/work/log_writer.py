"""The log writer of an instance: one redo write after the other; a commit during a write is part of the next write.

So commits of several sessions share a write and wait for the same end, as they do in Oracle. Times are microseconds of the
sessions' own time, which may run ahead of the rack's clock or stay behind it: only their order matters.

The flash of the first generations (Sun F20) writes pages of 4096 bytes. Each redo block of 512 bytes makes it read, change and
write a page, one after the other, so that a write takes longer the more blocks it has. Blocks of 4096 bytes fit the pages.
Sessions that commit at the same time take turns: while a write is under way, half of them get ready for the next one.

Source: the posts on flash of a quarter rack: redo on flash with blocks of 512 bytes took about 4 times as long as on SAS disks
with one session and 20 times with ten, and blocks of 4096 bytes took 70 % off.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field

from exacell.emulator.work.connected import Connected
from exacell.emulator.work.placement import flash_cells

SCN_STEP = 3
"""System change numbers from one write to the next."""


@dataclass(kw_only=True)
class LogWriter:
    """The redo writes of one period of work.

    Attributes:
        latency: draws the microseconds of a write.
        scn: the system change number before the first write.
    """

    latency: Callable[[], int]
    scn: int
    _starts: array[int] = field(default_factory=lambda: array("q"))
    _ends: array[int] = field(default_factory=lambda: array("q"))

    @property
    def writes(self) -> int:
        """Return the number of redo writes."""
        return len(self._starts)

    @property
    def last_scn(self) -> int:
        """Return the system change number after the last write."""
        return self.scn + SCN_STEP * self.writes

    @property
    def end(self) -> int:
        """Return the end of the last write in microseconds; 0 if there was none."""
        return self._ends[-1] if self._ends else 0

    def commit(self, at: int) -> tuple[int, int]:
        """Return the time at which redo that is ready at ``at`` is written, and the system change number up to which it is."""
        if not self._starts or at > self._ends[-1]:
            self._write(at)
        elif at > self._starts[-1]:
            self._write(self._ends[-1])
        place = bisect_left(self._starts, at)
        return self._ends[place], self.scn + SCN_STEP * (place + 1)

    def _write(self, start: int) -> None:
        self._starts.append(start)
        self._ends.append(start + self.latency())


PAGE, COMMIT = 4096, 400
"""Bytes of a page of such flash, and of the redo of one row that is updated and committed."""

REWRITTEN, FITTING = 5.9, 1.3
"""How many times as long as a write to SAS disks it takes: for each block that is smaller than a page, and for each page. A
session also does other things, so that its work takes 4 and 1.2 times as long.
"""

PAGED = "MARVELL"
"""The beginning of makeModel of the flash that rewrites a page for every smaller block."""


@dataclass(frozen=True, kw_only=True)
class RedoPlace:
    """The place of a thread's current log.

    Attributes:
        paged: whether it has a member on flash that rewrites pages.
        block_size: the bytes of its redo blocks.
    """

    paged: bool = False
    block_size: int = 512

    @classmethod
    def of(cls, instance: Connected) -> RedoPlace:
        """Return the place of the current log of an instance's thread."""
        assert instance.database is not None
        for group in instance.database.of_thread(instance.node + 1):
            if group.status == "CURRENT":
                paged = any(_paged(instance, member) for member in group.members)
                return cls(paged=paged, block_size=group.block_size)
        return cls()

    def times(self, sessions: int) -> float:
        """Return how many times as long as on SAS disks a write takes.

        Args:
            sessions: the number of sessions that commit at the same time.
        """
        commits = max(1, sessions // 2)
        blocks = -(-commits * COMMIT // self.block_size)
        return blocks * (FITTING if self.block_size >= PAGE else REWRITTEN)


def _paged(instance: Connected, member: str) -> bool:
    group, rack = instance.asm.groups.get(member.removeprefix("+").partition("/")[0]), instance.asm.rack
    if group is None or not rack.model.flash.make_model.startswith(PAGED):
        return False
    return bool(flash_cells(instance, group))
