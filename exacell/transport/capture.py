"""Keep a program's output as it arrives, small output in memory and large output on disk, and how the program ended.

The program may run on this host or behind any transport: the reader of its streams puts the pieces in here.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import IO

from exacell.core.values import dataclass

_PIECE = 1 << 20
SPILL = 512 << 10
"""How many bytes of one stream are kept in memory; a larger answer stays on disk until it is complete. Many answers that
grow at the same time in memory would take about twice the space."""
MOST_IN_MEMORY = 64 << 20
"""How many bytes of one stream are kept in memory if the disk is full; a larger answer is given up."""


class Spooled:
    """An answer in a file without a name, which only this process can read; see :class:`exacell.transport.base.Large`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._size = file.seek(0, os.SEEK_END)

    @property
    def size(self) -> int:
        """Return its size in bytes."""
        return self._size

    @property
    def descriptor(self) -> int:
        """Return the descriptor of the open file, which can be passed to another process."""
        return self._file.fileno()

    @property
    def text(self) -> str:
        """Return all of it; bytes that are not UTF-8 as ``\\xNN``."""
        return b"".join(self.pieces()).decode("utf-8", "backslashreplace")

    def pieces(self) -> Iterator[bytes]:
        """Yield it in pieces that may end anywhere."""
        place = 0
        while piece := os.pread(self._file.fileno(), _PIECE, place):
            place += len(piece)
            yield piece


class Store:
    """Bytes in the order in which they came: in memory, or on disk if there are more than ``SPILL`` of them.

    Written by one thread, readable by any.
    """

    def __init__(self) -> None:
        # A single growing array, not a list of pieces: its memory goes back to the system when it is dropped.
        self._data = bytearray()
        self._size = 0
        self._file: IO[bytes] | None = None
        self._disk_full = False
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._size

    @property
    def no_room(self) -> bool:
        """Return whether more is in memory than allowed, because the disk is full."""
        return self._disk_full and len(self._data) > MOST_IN_MEMORY

    def drop(self) -> None:
        """Discard all of it."""
        with self._lock:
            self._emptied()

    def add(self, piece: bytes) -> None:
        """Add ``piece``."""
        with self._lock:
            self._size += len(piece)
            self._data += piece
            if len(self._data) > SPILL and not self._disk_full:
                self._spill()

    def _spill(self) -> None:
        """Move the bytes in memory to disk; if there is no room, keep them and all later bytes in memory."""
        try:
            if self._file is None:
                import tempfile

                self._file = tempfile.TemporaryFile(prefix="exacell-", buffering=0)  # noqa: SIM115 - lives as we do
            while self._data:
                del self._data[: self._file.write(self._data)]
        except OSError:
            self._disk_full = True

    @property
    def text(self) -> str:
        """Return all of it; bytes that are not UTF-8 as ``\\xNN``."""
        with self._lock:
            return self._text()

    def hand_over(self) -> str:
        """Return all of it as text and discard it, so that bytes and text of an answer are not both in memory for long."""
        with self._lock:
            text = self._text()
            self._emptied()
            return text

    def hand_over_file(self) -> Spooled | None:
        """Return the file with all of it, and forget it here; if it is small or the disk is full, keep it and return None."""
        with self._lock:
            if self._file is None or self._disk_full:
                return None
            self._spill()
            if self._disk_full:
                return None
            spooled, self._file = Spooled(self._file), None
            self._size = 0
            return spooled

    def _emptied(self) -> None:
        self._data, self._size = bytearray(), 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def _text(self) -> str:
        if self._file is not None and self._data and not self._disk_full:
            self._spill()  # Joining both parts in memory would hold the answer three times.
        if self._file is None:
            return self._data.decode("utf-8", "backslashreplace")
        if self._file.seek(0, os.SEEK_END) == 0:
            return self._data.decode("utf-8", "backslashreplace")
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            if self._data:  # The disk is full; a character may be split between file and memory.
                return (bytes(mapped) + self._data).decode("utf-8", "backslashreplace")
            return str(mapped, "utf-8", "backslashreplace")


class Capture:
    """The output so far; written by the reading thread, readable by any. ``on_output`` gets standard output.

    Args:
        limit: bytes that both streams may have together; a larger answer is dropped as a whole.

    Attributes:
        output: standard output.
        errors: standard error.
        broken_off: End.TOO_LARGE or End.NO_ROOM once the answer was given up for that reason; else None.
        on_limit: called once, with that reason.
    """

    def __init__(self, on_output: Callable[[bytes], None] | None = None, *, limit: int | None = None) -> None:
        self.output = Store()
        self.errors = Store()
        self.limit = limit
        self.broken_off: End | None = None
        self.on_limit: Callable[[End], None] = _nobody
        self._on_output = on_output

    def take(self, piece: bytes) -> None:
        """Keep a piece of standard output and pass it to ``on_output``."""
        if self._keep(self.output, piece) and self._on_output is not None and piece:
            self._on_output(piece)

    def take_error(self, piece: bytes) -> None:
        """Keep a piece of standard error."""
        self._keep(self.errors, piece)

    def _keep(self, store: Store, piece: bytes) -> bool:
        """Keep a piece and return True; return False if there is no room for it, now or since earlier."""
        if self.broken_off is not None:
            return False
        store.add(piece)
        if self.limit is not None and len(self.output) + len(self.errors) > self.limit:
            self.break_off(End.TOO_LARGE)
        elif store.no_room:
            self.break_off(End.NO_ROOM)
        return self.broken_off is None

    def break_off(self, end: End) -> None:
        """Discard all output, so far and from now on."""
        self.broken_off = end
        self.output.drop()
        self.errors.drop()
        self.on_limit(end)

    @property
    def stdout(self) -> str:
        """Return standard output so far; bytes that are not UTF-8 as ``\\xNN``."""
        return self.output.text

    @property
    def stderr(self) -> str:
        """Return standard error so far; decoded as in :attr:`stdout`."""
        return self.errors.text

    @property
    def empty(self) -> bool:
        """Return whether nothing has arrived."""
        return not self.output and not self.errors


class End(StrEnum):
    """How a command ended."""

    STATUS = "with an exit status"
    NO_STATUS = "without an exit status, as after a signal"
    REFUSED = "refused by the server"
    LOST = "the link died"
    NO_CHANNEL = "the server opened no channel, so nothing was sent"
    TOO_LARGE = "broken off: its answer is larger than it may be"
    NO_ROOM = "broken off: the disk has no room for its answer"


@dataclass(frozen=True, kw_only=True)
class Ending:
    """The end of a command; ``exit_status`` is None unless ``end`` is STATUS."""

    end: End
    exit_status: int | None = None


def _nobody(end: End) -> None:
    """Ignore that an answer was given up."""
