"""Read and write the two files of a journal: rows in SQLite, and the head with number and hash of the newest row.

The head ``17 1f0c…`` means: row 17 exists. Before further rows are committed it announces the last of them, ``17 1f0c… 19
77ab…``, and afterwards it names only that one. So a row that comes after the head and was not announced is not exacell's, and
the state after a killed writer differs from damage.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from exacell.core.errors import JournalError
from exacell.core.sharedfile import sure, what_lies_there
from exacell.core.values import dataclass
from exacell.journal.schema import COLUMNS, OBJECTS, in_words, strange

RESTART = "`journal restart` renames it and begins a new one"

PIECE = 500
"""Number of rows that are read at a time: a journal of years is never held in memory as a whole."""

NUMBERS = range(2**63)
"""The numbers of rows and changes that SQLite can store, and 0 for none."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """The content of the head, which is kept outside of the rows.

    Attributes:
        last: number and hash of the newest row that is known to exist; number 0 for none.
        announced: number and hash of the last row of a commit that was about to begin; None if no commit is open.
    """

    last: tuple[int, str]
    announced: tuple[int, str] | None = None

    def explains(self, seq: int, digest: str) -> bool:
        """Return whether a journal with this head may end with that row."""
        return (seq, digest) in (self.last, self.announced)


_UNHELD = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""Flags to open a file without following a link or waiting for a FIFO."""


def refuse_odd(path: Path) -> None:
    """Raise JournalError if something other than a file or a directory is at this path.

    Files and directories are checked when they are opened.

    Raises:
        JournalError: it is a FIFO, a socket or a device, which SQLite would wait for.
    """
    found = what_lies_there(path)
    if found:
        raise JournalError(f"the journal can't be used: {path} is {found}, not a file", hint=f"remove it: `rm {path}`")


class JournalFile:
    """The files on disk, as they are; reading them needs no right to write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head_path = path.with_suffix(".head")

    @property
    def exists(self) -> bool:
        """Return whether there is or was a journal: if the rows' file was removed, its head remains."""
        return self.is_there(self.path) or self.is_there(self.head_path)

    def is_there(self, path: Path) -> bool:
        """Return whether one of the files exists.

        Raises:
            JournalError: this user may not look, or it is not a file.
        """
        refuse_odd(path)
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise JournalError(
                f"the journal {path} can't be read ({error.strerror})", hint=self._whose(path.parent)
            ) from error
        return True

    def whole_head(self) -> Head | None:
        """Return the head; None if there is none.

        Raises:
            JournalError: it can't be read, or is not a head.
        """
        refuse_odd(self.head_path)
        try:
            words = self.head_path.read_text(encoding="ascii").split()
            pairs = [(int(number), digest) for number, digest in zip(words[::2], words[1::2], strict=True)]
            if len(pairs) not in (1, 2) or any(number not in NUMBERS for number, _ in pairs):
                raise ValueError("it is not a head")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise JournalError(
                f"the kept head {self.head_path} can't be read ({error.strerror})", hint=self._way_out(self.head_path)
            ) from error
        except ValueError as error:
            raise JournalError(
                f"the kept head {self.head_path} is damaged: it is not a row number and hash", hint=RESTART
            ) from error
        return Head(last=pairs[0], announced=pairs[1] if len(pairs) == 2 else None)

    def kept_head(self) -> tuple[int, str] | None:
        """Return number and hash of the newest row that must exist; None without a head, or before the first row.

        Raises:
            JournalError: the head can't be read, or is not a head.
        """
        head = self.whole_head()
        return None if head is None or (head.last[0] == 0 and head.announced is not None) else head.last

    def announce(self, last: tuple[int, str], coming: tuple[int, str]) -> None:
        """Write to the head, synced, which row will be the newest one after the coming commit.

        Args:
            last: number and hash of the newest existing row; number 0 for none.
            coming: number and hash of the last row of the commit.
        """
        self._keep(f"{last[0]} {last[1]} {coming[0]} {coming[1]}\n")
        # Without this sync a power cut could leave the new rows with a head that does not announce them.
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def keep_head(self, seq: int, digest: str) -> None:
        """Write number and hash of the newest row to the head, synced."""
        self._keep(f"{seq} {digest}\n")

    def _keep(self, line: str) -> None:
        temporary = self.head_path.with_name(self.head_path.name + ".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _UNHELD, 0o600)
        with open(descriptor, "w", encoding="ascii") as stream:
            stream.write(line)
            stream.flush()
            self.give_to_owner(stream.fileno())
            os.fsync(stream.fileno())
        os.replace(temporary, self.head_path)

    def give_to_owner(self, descriptor: int) -> None:
        """Let the owner read and write a file of the journal, for any umask at its creation.

        A file that root made is given to the owner of its directory, who must be able to continue the journal.
        """
        if os.fstat(descriptor).st_mode & 0o600 != 0o600:
            os.fchmod(descriptor, 0o600)
        if os.geteuid() == 0:
            folder = self.path.parent.stat()
            os.fchown(descriptor, folder.st_uid, folder.st_gid)

    def _whose(self, path: Path) -> str:
        """Return the hint about a file that can't be opened."""
        if self._is_read_only():
            return "its file system is mounted read-only: mount it for writing, or set EXACELL_HOME to another folder"
        try:
            owner = path.stat().st_uid
        except OSError:
            owner = os.geteuid() if os.access(path.parent, os.X_OK) else -1
        if owner not in (os.geteuid(), 0) or (owner == 0 and os.geteuid() != 0):
            return "it belongs to another user; each user has a separate journal: set EXACELL_HOME to your own folder"
        return "exacell needs permission to read and write it"

    def _is_read_only(self) -> bool:
        """Return whether the file system allows no writing, for any user."""
        for folder in self.path.absolute().parents:
            try:
                return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
            except (FileNotFoundError, NotADirectoryError):
                continue  # The file was to be created.
            except OSError:
                break
        return False

    def _way_out(self, path: Path) -> str:
        """Return the hint about a file that can't be read, whether this user may open it or not."""
        return RESTART if os.path.isdir(path) or os.access(path, os.R_OK) else self._whose(path)

    def rows(self, where: str, values: Sequence[str | int] = (), *, lenient: bool = False) -> list[tuple[Any, ...]]:
        """Return rows in stored form, in order; reading needs no right to write.

        Args:
            lenient: if the file can't be read as a whole, return the rows that can be read.

        Raises:
            JournalError: the file is not a journal.
        """
        return self._read(f"select {COLUMNS} from entry where {where} order by seq", values, lenient=lenient)

    def pieces(self, *, behind: int = 0, until: int = 0, lenient: bool = False) -> Iterator[list[tuple[Any, ...]]]:
        """Yield all rows in stored form, in order, some at a time; a slow consumer does not delay writers.

        Args:
            behind, until: only rows with a number above ``behind`` and up to ``until``; 0 for no limit.
            lenient: if the file can't be read as a whole, yield the rows that can be read.

        Raises:
            JournalError: the file is not a journal, or another one took its place meanwhile.
        """
        which = self._which()
        query = f"select {COLUMNS} from entry where seq > ? and (seq <= ? or ? = 0) order by seq"
        while which is not None:
            try:
                rows = self._read_whole(f"{query} limit {PIECE}", (behind, until, until))
            except JournalError:
                if not lenient:
                    raise
                yield self._read(query, (behind, until, until), lenient=True)
                return
            if self._which() != which:
                raise JournalError(
                    f"the journal {self.path} was removed or replaced while it was read", hint="read it again"
                )
            if rows:
                yield rows
                behind = rows[-1][0]
            if len(rows) < PIECE:
                return

    def _which(self) -> tuple[int, int] | None:
        """Return device and inode number of the rows' file; None if there is none."""
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return (0, 0)  # The next read of the file reports the reason as an error.
        return status.st_dev, status.st_ino

    def salvaged(self) -> list[tuple[Any, ...]]:
        """Return the rows that can be read one by one, in order, for any damage of the files."""
        if not os.access(self.path, os.R_OK):
            return []
        try:
            head = self.whole_head()
        except JournalError:
            head = None  # The number of rows is unknown then.
        from exacell.journal.salvage import legible

        return legible(self.path, last=0 if head is None else head.last[0])

    def count_changes(self, rack: str | None = None) -> int:
        """Return the number of changes with readable rows; only of ``rack`` if it is given.

        Raises:
            JournalError: the file is not a journal.
        """
        own = "" if rack is None else " where rack = ?"
        found = self._read(
            f"select count(distinct change) from entry{own}", () if rack is None else (rack,), lenient=True
        )
        return int(found[0][0]) if found else 0

    def _read(self, query: str, values: Sequence[str | int], *, lenient: bool = False) -> list[tuple[Any, ...]]:
        try:
            return self._read_whole(query, values)
        except JournalError:
            found = self.salvaged() if lenient else []
            if not found:
                raise
        from exacell.journal.salvage import asked

        return asked(found, query, values)

    def _read_whole(self, query: str, values: Sequence[str | int]) -> list[tuple[Any, ...]]:
        if not self.is_there(self.path):
            return []
        try:
            return self._ask(query, values, mode="ro")
        except sqlite3.OperationalError as error:
            if self._is_being_made():
                return []
            # The unfinished commit of a process that died must be rolled back first, which is a write. Without such a commit
            # the first row may have been written between the two looks.
            mode = "rw" if Path(f"{self.path}-journal").exists() else "ro"
            try:
                return self._ask(query, values, mode=mode)
            except sqlite3.Error:
                raise self._unreadable(error) from error
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def _is_being_made(self) -> bool:
        """Return whether the file has no table yet and never had one: another process is about to write the first row."""
        if self.is_there(self.head_path):
            return False
        try:
            return self._ask("select count(*) from sqlite_master", (), mode="ro") == [(0,)]
        except sqlite3.Error:
            return False

    def _ask(self, query: str, values: Sequence[str | int], *, mode: str) -> list[tuple[Any, ...]]:
        refuse_odd(self.path)
        refuse_odd(Path(f"{self.path}-journal"))
        connection = sqlite3.connect(f"file:{quote(str(self.path))}?mode={mode}", uri=True, timeout=30)
        try:
            with in_words():
                return connection.execute(query, values).fetchall()
        except OverflowError:
            return []  # No row has a number that SQLite can't store.
        except sqlite3.OperationalError as error:
            if "decode" not in str(error):
                raise
            # A text that was overwritten with other bytes must not hide other rows.
            connection.text_factory = lambda found: found.decode("utf-8", "backslashreplace")
            return connection.execute(query, values).fetchall()
        finally:
            connection.close()

    def _unreadable(self, error: Exception) -> JournalError:
        if "readonly" in str(error):
            return JournalError(
                f"the journal {self.path} can't be read: the last exacell that wrote to it was killed, and to "
                f"roll back {self.path}-journal, exacell must be able to write",
                hint=self._whose(self.path),
            )
        return JournalError(
            f"the journal {self.path} can't be read: {self.amiss(error)}", hint=self._way_out(self.path)
        )

    def amiss(self, error: Exception) -> str:
        """Return the problem of the rows' file, in words for a reader who does not know SQLite's."""
        if os.path.isdir(self.path):
            return "it is a directory"
        if "no such table" in str(error):
            return "it is empty" if not self.path.stat().st_size else "it has no table of a journal"
        if isinstance(error, OSError) and error.filename:
            return f"{error.filename}: {error.strerror}"
        return str(error)

    def refuse_cut(self) -> None:
        """Raise JournalError if the head's row is missing or was edited.

        Raises:
            JournalError: rows are missing or edited.
        """
        # Read the head first: it is never ahead of the rows.
        kept = self.kept_head()
        if kept is None:
            return
        found = self.rows("seq = ?", [kept[0]])
        if not found or found[0][-1] != kept[1]:
            raise JournalError(
                f"the journal {self.path} does not have row {kept[0]} as in its kept head {self.head_path}: "
                "rows are missing or edited",
                hint=f"`journal verify` shows where; {RESTART}",
            )

    def unsound(self, known: Path) -> str:
        """Return one line about a missing head or about pages that SQLite can't read; empty if the files are in order.

        Args:
            known: a file that records which journal was found in order, so that an unchanged one is not read through again.

        Raises:
            JournalError: something else is wrong with the files.
        """
        status = self._which_bytes()
        if status is None:
            return ""
        if self.whole_head() is None and self._read_whole("select 1 from entry limit 1", ()):
            return (
                f"the journal's kept head {self.head_path} is missing, so exacell can't see whether the last rows were "
                f"removed: `journal verify` checks the rest, {RESTART}"
            )
        with suppress(OSError, UnicodeDecodeError):
            if sure(known).read_text(encoding="ascii") == status:
                return ""
        wrong = self.damage()
        if wrong:
            return f"{wrong}: `journal verify` shows where, {RESTART}"
        with suppress(OSError):
            known.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            sure(known).write_text(status, encoding="ascii")
        return ""

    def _which_bytes(self) -> str | None:
        """Return a text that differs for each state of the rows' file; None if there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return f"{found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns}"

    def damage(self) -> str:
        """Return the problem that SQLite finds in the file itself, one line; empty without a problem."""
        try:
            # Damaged indexes hide rows from queries that use them; the rows themselves are checked by the chain.
            found = self._ask("pragma integrity_check(1)", (), mode="ro")
            odd = strange(self._ask(OBJECTS, (), mode="ro"))
        except sqlite3.Error as error:
            return f"the journal {self.path} can't be read: {self.amiss(error)}"
        said = " ".join(str(found[0][0]).split())
        said = odd if said == "ok" else said
        return f"the file {self.path} is damaged: {said}" if said else ""
