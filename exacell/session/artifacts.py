"""Keep the files of recipe runs in a folder beside the journal, each with a journal row of its size and checksum."""

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
"""The kind of the journal rows about kept files."""


@dataclass(frozen=True, kw_only=True)
class Fresh:
    """A file that was copied here and is not in the journal yet.

    Attributes:
        host: the host it came from; empty for a single answer of all hosts together.
        source: its path there; empty for an answer.
    """

    host: str
    path: Path
    size: int
    sha256: str
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """Keep the files that a statement fetches, under one name and for one run.

    Attributes:
        folder: exacell's own folder, in which the journal lies.
        run: the key of the run in the journal.
        said: further fields for the journal rows about the statement.
    """

    journal: Journal
    folder: Path
    rack: str
    run: str
    name: str
    said: Mapping[str, object]

    def whole(self) -> set[str]:
        """Return the hosts whose files are kept and unchanged; an empty name stands for a single answer of all hosts together."""
        own = [row for row in kept(self.journal, self.rack) if (row.run, row.name) == (self.run, self.name)]
        wrong = {row.target for row in own if state_of(self.folder, row)}
        return {row.target for row in own} - wrong

    def place(self, host: str) -> Path:
        """Return an empty folder for the files of a host; older content, which no journal row names, is removed.

        Raises:
            RefusedError: the folder can't be written.
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
            RefusedError: the file can't be written.
        """
        path, data = self.place(host) / file, content.encode("utf-8", "surrogateescape")
        try:
            replace_file(path, data, synced=True)
        except OSError as error:
            raise RefusedError(f"{path} can't be written: {why_unreadable(error)}") from error
        self.record([Fresh(host=host, path=path, size=len(data), sha256=hashlib.sha256(data).hexdigest())], change)

    def record(self, files: Sequence[Fresh], change: int = 0) -> None:
        """Add journal rows for files that are complete.

        Args:
            change: the number of the change that fetched them; 0 for none, then the rows are noted outside of any change.

        Raises:
            JournalError: the rows can't be written.
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
    """Return the latest journal row of each file that runs on a rack have kept, oldest first."""
    found = {row.file: row for row in journal.of_kinds(rack, (KIND,)) if isinstance(row, Kept)}
    return sorted(found.values(), key=lambda row: row.seq)


def state_of(folder: Path, row: Kept) -> str:
    """Return a phrase about the problem of a kept file; empty if it is there and unchanged."""
    path = folder / row.file
    try:
        with path.open("rb") as stream:
            same = hashlib.file_digest(stream, "sha256").hexdigest() == row.sha256
    except FileNotFoundError:
        return "is gone"
    except OSError as error:
        return f"can't be read: {why_unreadable(error)}"
    return "" if same else "was changed since"
