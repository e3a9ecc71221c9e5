"""Which sessions of a database are traced, and the files for their 10046 traces.

Source: Oracle PL/SQL Packages and Types Reference, DBMS_MONITOR; Database Reference, DBA_ENABLED_TRACES; reference
measurement.md 1.1. Simplified: a file has no size limit and no segments.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from exacell.emulator.basics.beneath import Files

_AT_ONCE = 1 << 16
"""Bytes that are gathered before they are written."""


@dataclass(frozen=True, kw_only=True)
class EnabledTrace:
    """A trace that DBMS_MONITOR has switched on for a whole database or a service, until it is switched off.

    Attributes:
        kind: DATABASE, SERVICE, SERVICE_MODULE or SERVICE_MODULE_ACTION.
        instance: the instance's name if only one is meant; empty for all.
    """

    kind: str
    service: str = ""
    module: str = ""
    action: str = ""
    waits: bool = True
    binds: bool = False
    instance: str = ""

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """Return the key that must differ between two traces."""
        return self.kind, self.service, self.module, self.action, self.instance

    def covers(self, service: str, module: str, action: str, instance: str) -> bool:
        """Return whether a session with these names is traced."""
        wanted = ((self.service, service), (self.module, module), (self.action, action), (self.instance, instance))
        return all(not asked or asked == has for asked, has in wanted)


ADR_BASE = "/u01/app/oracle"
"""DIAGNOSTIC_DEST of the databases."""


def trace_directory(database: str, instance: str) -> str:
    """Return the directory of an instance's trace files on its node."""
    return f"{ADR_BASE}/diag/rdbms/{database.lower()}/{instance}/trace"


@dataclass(kw_only=True)
class TraceFile:
    """The trace file of one server process; new lines are appended."""

    files: Files
    path: str
    _pieces: list[str] = field(default_factory=list)
    _size: int = 0

    def write(self, text: str, *, waits: bool = True) -> None:
        """Add lines; lines of waits are added only if waits are traced."""
        if not waits:
            text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("WAIT "))
        self._pieces.append(text)
        self._size += len(text)
        if self._size >= _AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write the gathered lines to the file.

        Raises:
            OSError: the file can't be written.
        """
        if not self._pieces:
            return
        data = "".join(self._pieces).encode()
        self._pieces.clear()
        self._size = 0
        with open(self._descriptor(self.path), "ab", buffering=0) as file:
            file.write(data)

    def _descriptor(self, path: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        try:
            return self.files.open(path, flags, 0o644)
        except FileNotFoundError:
            make_directories(self.files, posixpath.dirname(path))
            os.close(self.files.open(f"{path.removesuffix('.trc')}.trm", flags, 0o644))
            return self.files.open(path, flags, 0o644)


def make_directories(files: Files, path: str) -> None:
    """Make a directory of a host, and the directories above it."""
    for above in _ancestors(path):
        with suppress(FileExistsError):
            files.make_directory(above)


def _ancestors(path: str) -> Sequence[str]:
    parts = [part for part in path.split("/") if part]
    return ["/" + "/".join(parts[:count]) for count in range(1, len(parts) + 1)]
