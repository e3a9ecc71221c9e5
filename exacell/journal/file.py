"""The two files of a journal: rows in SQLite, and the number and hash of the newest one, kept outside.

The kept head holds ``17 1f0c…``: row 17 is there. Before further rows are committed it announces the last of them,
``17 1f0c… 19 77ab…``, and afterwards it names that one alone. So rows that stand behind the head without having been
announced are none of exacell's, and a writer that is killed at any moment leaves what can be told from damage.
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
"""Rows that are read at a time where all are: a journal of years is not held in memory as a whole."""

NUMBERS = range(2**63)
"""Of rows and changes that SQLite can hold, and 0 for none."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """What is kept outside of the rows.

    Attributes:
        last: number and hash of the newest row that is known to be there; number 0 for none.
        announced: of the row that was about to become the newest one when somebody wrote last; None when it became it.
    """

    last: tuple[int, str]
    announced: tuple[int, str] | None = None

    def explains(self, seq: int, digest: str) -> bool:
        """Return whether a journal may end with that row."""
        return (seq, digest) in (self.last, self.announced)


_UNHELD = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""No link is followed, and no FIFO waited for."""


def refuse_odd(path: Path) -> None:
    """Return where a file is, a directory or nothing: of those it is told when they are opened.

    Raises:
        JournalError: it is a FIFO, a socket or a device, which SQLite would wait for.
    """
    found = what_lies_there(path)
    if found:
        raise JournalError(f"the journal can't be used: {path} is {found}, not a file", hint=f"remove it: `rm {path}`")


class JournalFile:
    """What lies on the disk, as it is; reading it takes no right to write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head_path = path.with_suffix(".head")

    @property
    def exists(self) -> bool:
        """Return whether there is a journal, or was one: rows that were taken away as a whole leave their kept head."""
        return self.is_there(self.path) or self.is_there(self.head_path)

    def is_there(self, path: Path) -> bool:
        """Return whether one of the files is there.

        Raises:
            JournalError: this user may not look, or it is no file.
        """
        refuse_odd(path)
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise JournalError(
                f"the journal {path} can't be looked at ({error.strerror})", hint=self._whose(path.parent)
            ) from error
        return True

    def whole_head(self) -> Head | None:
        """Return what is kept outside; None when nothing is.

        Raises:
            JournalError: it can't be read, or is no head.
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
        """Return number and hash of the newest row that must be there; None when nothing is kept, or no row yet.

        Raises:
            JournalError: it can't be read, or is no head.
        """
        head = self.whole_head()
        return None if head is None or (head.last[0] == 0 and head.announced is not None) else head.last

    def announce(self, last: tuple[int, str], coming: tuple[int, str]) -> None:
        """Say outside, synced, which row will be the newest one when the rows that come are committed.

        Args:
            last: number and hash of the newest row that is there; number 0 for none.
        """
        self._keep(f"{last[0]} {last[1]} {coming[0]} {coming[1]}\n")
        # Without this a power cut could leave the rows that were announced and a head that never heard of them.
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def keep_head(self, seq: int, digest: str) -> None:
        """Keep number and hash of the newest row outside, synced."""
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
        """Let the owner read and write a file beside the journal, whatever the umask was when it was made. One that root made
        is given to whom its directory belongs, who must go on with it."""
        if os.fstat(descriptor).st_mode & 0o600 != 0o600:
            os.fchmod(descriptor, 0o600)
        if os.geteuid() == 0:
            folder = self.path.parent.stat()
            os.fchown(descriptor, folder.st_uid, folder.st_gid)

    def _whose(self, path: Path) -> str:
        """Return the way out of a file that can't be opened."""
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
        """Return whether the file system takes no writing, whoever asks."""
        for folder in self.path.absolute().parents:
            try:
                return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
            except (FileNotFoundError, NotADirectoryError):
                continue  # It was to be made.
            except OSError:
                break
        return False

    def _way_out(self, path: Path) -> str:
        """Return the way out of a file that this user may open and that can't be read all the same, or may not."""
        return RESTART if os.path.isdir(path) or os.access(path, os.R_OK) else self._whose(path)

    def rows(self, where: str, values: Sequence[str | int] = (), *, lenient: bool = False) -> list[tuple[Any, ...]]:
        """Return rows as they are stored, in order; reading takes no right to write.

        Args:
            lenient: of a file that can't be read as a whole, those that can.

        Raises:
            JournalError: the file is no journal.
        """
        return self._read(f"select {COLUMNS} from entry where {where} order by seq", values, lenient=lenient)

    def pieces(self, *, behind: int = 0, until: int = 0, lenient: bool = False) -> Iterator[list[tuple[Any, ...]]]:
        """Yield all rows as they are stored, in order, some at a time. Nobody who writes waits for whoever takes them.

        Args:
            behind, until: only rows with a number above the one and not above the other; 0 for all.
            lenient: of a file that can't be read as a whole, those that can.

        Raises:
            JournalError: the file is no journal, or another one took its place meanwhile.
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
        """Return which file lies there, by device and number; None when none does."""
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return (0, 0)  # Whoever reads it is told why it can't be.
        return status.st_dev, status.st_ino

    def salvaged(self) -> list[tuple[Any, ...]]:
        """Return the rows that can be read one by one, in order, whatever else is wrong with the files."""
        if not os.access(self.path, os.R_OK):
            return []
        try:
            head = self.whole_head()
        except JournalError:
            head = None  # How many rows there were is not known, then.
        from exacell.journal.salvage import legible

        return legible(self.path, last=0 if head is None else head.last[0])

    def count_changes(self, rack: str | None = None) -> int:
        """Return of how many changes there are rows that can be read, of one rack when asked.

        Raises:
            JournalError: the file is no journal.
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
            # What a process that died in the middle of a commit left must be rolled back first, which is a write; without
            # such a rest the first row may have been written between the two looks.
            mode = "rw" if Path(f"{self.path}-journal").exists() else "ro"
            try:
                return self._ask(query, values, mode=mode)
            except sqlite3.Error:
                raise self._unreadable(error) from error
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def _is_being_made(self) -> bool:
        """Return whether the file holds no table yet and never did: another process is about to write the very first row."""
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
            return []  # A number that SQLite can't hold is none of a row's.
        except sqlite3.OperationalError as error:
            if "decode" not in str(error):
                raise
            # A text that was overwritten by other bytes hides no other row.
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
        """Return what is wrong with the rows' file, in words for who never saw SQLite's."""
        if os.path.isdir(self.path):
            return "it is a directory"
        if "no such table" in str(error):
            return "it is empty" if not self.path.stat().st_size else "it has no table of a journal"
        if isinstance(error, OSError) and error.filename:
            return f"{error.filename}: {error.strerror}"
        return str(error)

    def refuse_cut(self) -> None:
        """Return when the row that the kept head names is there as it was written.

        Raises:
            JournalError: it is not: rows are missing or edited.
        """
        # The head first: it never runs ahead of the rows.
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
        """Return one line about a head that is missing, or about pages that SQLite can't read; empty when the files are sound.

        Args:
            known: a file in which it is kept which journal was found sound, so that an unchanged one is not read through again.

        Raises:
            JournalError: something else is wrong with them, which is told as well.
        """
        status = self._which_bytes()
        if status is None:
            return ""
        if self.whole_head() is None and self._read_whole("select 1 from entry limit 1", ()):
            return (
                f"the journal's kept head {self.head_path} is missing, so exacell can't see whether the last "
                f"rows were removed: `journal verify` checks the rest, {RESTART}"
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
        """Return what tells one state of the rows' file from another; None where there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return f"{found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns}"

    def damage(self) -> str:
        """Return what SQLite finds wrong with the file itself, one line; empty when nothing is."""
        try:
            # Damaged indexes hide rows from who asks by them; the rows themselves are the chain's to check.
            found = self._ask("pragma integrity_check(1)", (), mode="ro")
            odd = strange(self._ask(OBJECTS, (), mode="ro"))
        except sqlite3.Error as error:
            return f"the journal {self.path} can't be read: {self.amiss(error)}"
        said = " ".join(str(found[0][0]).split())
        said = odd if said == "ok" else said
        return f"the file {self.path} is damaged: {said}" if said else ""
