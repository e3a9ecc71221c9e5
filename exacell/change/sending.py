"""Show files on their way to several targets, if that takes longer than a second."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from exacell.change.following import Board
from exacell.core.cellset import fold
from exacell.core.units import human_size
from exacell.output.console import Console

_QUICK, _OFTEN = 1.0, 0.5
"""Seconds before anything is shown, and between two updates for one target."""
_NO_PERCENTAGE = "copied by scp without a percentage, because there is no SFTP"


def size_of(sources: Sequence[Path]) -> int:
    """Return the bytes of files and of all files in directories; unreadable files count as 0."""
    files = [file for source in sources for file in (source.rglob("*") if source.is_dir() else (source,))]
    return sum(file.stat().st_size for file in files if file.is_file())


class Sending:
    """Shows how much of some files each target has, if that takes longer than a second; may be called from any thread.

    Args:
        total: bytes that each target gets.
    """

    def __init__(self, console: Console, title: str, targets: Sequence[str], total: int) -> None:
        self._console, self._title, self._total = console, title, total
        self._sent = dict.fromkeys(targets, 0)
        self._told = dict.fromkeys(targets, monotonic() + _QUICK - _OFTEN)
        self._begun = monotonic()
        self._board: Board | None = None
        self._untold: list[str] = []
        self._lock = threading.Lock()

    def sent(self, target: str, count: int) -> None:
        """Add ``count`` more bytes for a target."""
        now = monotonic()
        with self._lock:
            self._sent[target] += count
            if now - self._told[target] < _OFTEN or not self._total:
                return
            self._told[target] = now
            if self._board is None:
                self._board = Board(self._console, self._title, 1, 1, list(self._sent), "waiting for its turn")
                for each in self._untold:
                    self._board.set(each, _NO_PERCENTAGE)
            done = self._sent[target]
            pace = done / (now - self._begun)
            much = f"{human_size(done)} of {human_size(self._total)}"
            self._board.set(target, much, done / self._total, (self._total - done) / pace)

    def tells_nothing(self, target: str) -> None:
        """Note that a target has no SFTP, so that scp copies to it and no progress is known."""
        with self._lock:
            self._untold.append(target)
            if self._board is not None:
                self._board.set(target, _NO_PERCENTAGE)

    def apart(self, left: Sequence[str]) -> str:
        """Return a phrase about targets of ``left`` whose progress is not known; empty without such targets."""
        with self._lock:
            there = [target for target in left if target in self._untold]
        return f"; {fold(there)}: {_NO_PERCENTAGE}" if there else ""

    def ended(self, target: str, state: str) -> None:
        """Show the final state of a target."""
        with self._lock:
            if self._board is not None:
                self._board.set(target, state, 1.0)

    def over(self) -> None:
        """Show nothing more."""
        with self._lock:
            if self._board is not None:
                self._console.progress(None)
