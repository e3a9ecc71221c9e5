"""What runs of recipes keep: files in a folder beside the journal, each with a row that tells its size and checksum."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from exacell.core.errors import RefusedError, why_unreadable
from exacell.core.paths import ensure_dir, replace_file
from exacell.core.values import dataclass
from exacell.journal.actor import actor
from exacell.journal.record import Journal, Row
from exacell.journal.rows import Kept

KIND = "kept"
"""Of the rows."""


@dataclass(frozen=True, kw_only=True)
class Fresh:
    """A file that was brought, and is not recorded yet.

    Attributes:
        host: whence it came; empty for the answer of all that were asked.
        source: its path there; empty for an answer.
    """

    host: str
    path: Path
    size: int
    sha256: str
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """Under which name, and for which run, a statement keeps what it brings.

    Attributes:
        folder: exacell's own, in which the journal lies.
        run: what the journal says of the run's changes.
        said: whatever else the rows shall say of the statement.
    """

    journal: Journal
    folder: Path
    rack: str
    run: str
    name: str
    said: Mapping[str, object]

    def whole(self) -> set[str]:
        """Return the hosts whose part is kept and lies there as it was kept; an empty name for the answer of all."""
        own = [row for row in kept(self.journal, self.rack) if (row.run, row.name) == (self.run, self.name)]
        wrong = {row.target for row in own if state_of(self.folder, row)}
        return {row.target for row in own} - wrong

    def place(self, host: str) -> Path:
        """Return the folder for what comes from a host, made anew: what is in it already is in no row.

        Raises:
            RefusedError: it can't be written.
        """
        made = self.folder / "runs" / self.rack / _plain(self.run) / self.name / host
        try:
            shutil.rmtree(made, ignore_errors=True)
            return ensure_dir(made)
        except OSError as error:
            raise RefusedError(f"{made} can't be written: {why_unreadable(error)}") from error

    def text(self, host: str, file: str, content: str, *, change: int = 0) -> None:
        """Keep a text as a file; see :meth:`record` for ``change`` and the errors.

        Raises:
            RefusedError: it can't be written.
        """
        path, data = self.place(host) / file, content.encode("utf-8", "surrogateescape")
        try:
            replace_file(path, data, synced=True)
        except OSError as error:
            raise RefusedError(f"{path} can't be written: {why_unreadable(error)}") from error
        self.record([Fresh(host=host, path=path, size=len(data), sha256=hashlib.sha256(data).hexdigest())], change)

    def record(self, files: Sequence[Fresh], change: int = 0) -> None:
        """Journal files that are here whole.

        Args:
            change: the one that brought them; 0 for none, then this is a change of its own.

        Raises:
            JournalError: they can't be recorded.
        """
        rows = [
            Row(
                kind=KIND,
                target=file.host,
                body={
                    **self.said,
                    "run": self.run,
                    "name": self.name,
                    "source": file.source,
                    "file": str(file.path.relative_to(self.folder)),
                    "size": file.size,
                    "sha256": file.sha256,
                    **actor(),
                },
            )
            for file in files
        ]
        if change:
            self.journal.append(self.rack, change, rows)
        elif rows:
            self.journal.note(self.rack, *rows)


def _plain(run: str) -> str:
    """Return a run's key as the name of a folder: ``r3 2026-11-27T21:48:44.120+00:00`` as ``r3-20261127T214844.120``."""
    name, _, began = run.partition(" ")
    return re.sub(r"[^A-Za-z0-9._-]+", "_", f"{name}-{re.sub(r'[-:]|[+].*', '', began)}").lstrip(".")


def kept(journal: Journal, rack: str) -> list[Kept]:
    """Return the rows of all that runs on a rack have kept, oldest first; of a file that came twice the later row."""
    found = {row.file: row for row in journal.of_kinds(rack, (KIND,)) if isinstance(row, Kept)}
    return sorted(found.values(), key=lambda row: row.seq)


def state_of(folder: Path, row: Kept) -> str:
    """Return what is wrong with a kept file, a phrase; empty where it lies there as it was kept."""
    path = folder / row.file
    try:
        with path.open("rb") as stream:
            same = hashlib.file_digest(stream, "sha256").hexdigest() == row.sha256
    except FileNotFoundError:
        return "is gone"
    except OSError as error:
        return f"can't be read: {why_unreadable(error)}"
    return "" if same else "was changed since"
