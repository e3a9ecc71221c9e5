"""Remember which cells hung: they did not answer their last read in time, so that nobody waits as long for them again.

For a while, other command lines of the same user know it too. It only shortens the wait: these cells are still asked.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from exacell.core.background import uptime
from exacell.core.paths import Home, replace_file
from exacell.core.sharedfile import sure
from exacell.transport.base import FleetResult, Reply, Request, Role, State

PATIENCE = 10.0
"""The longest time, in seconds, that a cell which hung gets to report its release before it is asked anything else: a CellCLI
starts in one to three. Source: reference cellcli.md 1.1."""

MUTE = (State.UNREACHABLE, State.TIMED_OUT, State.NOT_ATTEMPTED)
"""States of a reply in which the cell did not answer at all: the next question would wait as long again."""


REMEMBERED = 600.0
"""Seconds for which other command lines know that a cell hung, by a clock that nobody sets."""

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
"""Its content changes with each start of this host, and differs on each host. Source: random(4)."""


class KeptHung:
    """The cells of one rack that hung, in a file that the user's command lines share, with one line per cell of any rack.

    A file that can't be read or written, or that was written before this host's last start, is ignored; when two processes write
    at once, the later one counts.

    Args:
        rack: its name.
    """

    def __init__(self, home: Home, rack: str) -> None:
        self._path = home.cache_dir / "hung"
        self._rack = rack
        self._boot = ""
        with suppress(OSError):
            self._boot = BOOT_ID.read_text(encoding="ascii").strip()

    def read(self) -> set[str]:
        """Return the rack's cells that hung within REMEMBERED."""
        return {cell for rack, cell in self._entries() if rack == self._rack}

    def write(self, hung: Iterable[str], well: Iterable[str]) -> None:
        """Store that the cells ``hung`` hung just now, and remove the cells ``well`` from the file."""
        kept = self._entries()
        kept.update({(self._rack, cell): uptime() for cell in hung})
        for cell in well:
            kept.pop((self._rack, cell), None)
        lines = [f"{self._boot}\t{rack}\t{cell}\t{at}\n" for (rack, cell), at in kept.items() if self._boot]
        with suppress(OSError):
            replace_file(self._path, "".join(lines))

    def _entries(self) -> dict[tuple[str, str], float]:
        """Return when each cell hung, without cells that hung longer than REMEMBERED ago."""
        found, now = {}, uptime()
        with suppress(OSError, ValueError):
            for line in sure(self._path).read_text(encoding="utf-8").splitlines():
                boot, rack, cell, at = line.split("\t")
                if boot == self._boot and 0 <= now - float(at) <= REMEMBERED:
                    found[rack, cell] = float(at)
        return found


class Hanging:
    """The cells of a rack that hung. Thread-safe.

    Args:
        patience: seconds that a read may take; the attribute has the seconds for a cell that hung, at most PATIENCE.
        kept: the record of hung cells that command lines share; None for none.
    """

    def __init__(self, patience: float = PATIENCE, kept: KeptHung | None = None) -> None:
        self.patience = min(patience, PATIENCE)
        self._kept = kept
        self._found: set[str] | None = None
        self._lock = threading.Lock()

    @property
    def _cells(self) -> set[str]:
        if self._found is None:
            self._found = self._kept.read() if self._kept is not None else set()
        return self._found

    def among(self, cells: Iterable[str]) -> list[str]:
        """Return the members of ``cells`` that hung and have not answered since, in the order given."""
        with self._lock:
            return [cell for cell in cells if cell in self._cells]

    def learn(self, requests: Sequence[Request], result: FleetResult) -> None:
        """Store which cells did not answer a read in time, and which answered again."""
        reads = {request.target for request in requests if request.role is Role.READ}
        replies = [reply for reply in result.replies.values() if reply.target in reads]
        late = {reply.target for reply in replies if reply.state is State.TIMED_OUT}
        with self._lock:
            well = {reply.target for reply in replies if reply.state not in MUTE} & self._cells if replies else set()
            if not late and not well:
                return
            self._found = (self._cells | late) - well
            if self._kept is not None:
                self._kept.write(late, well)

    def still(self, reply: Reply, seconds: float) -> Reply:
        """Return a hung cell's reply, with a problem that explains the short wait if the cell timed out again."""
        if reply.state is not State.TIMED_OUT:
            return reply
        return replace(
            reply,
            problem=f"no answer within {seconds:g}s; it did not answer before either, so the wait is short "
            "(--timeout=60 waits longer)",
        )
