"""Lock a rack: one operator changes it at a time, and the others see who, since when and which change.

The lock is a file in a place known to all operators. It names its holders: who *keeps* the rack (``lock`` until ``unlock``)
and who *changes* it now. It is never removed, only rewritten under flock, so that anybody who may write it can take over an
abandoned lock, even in a directory where only owners may remove files. A change whose process has ended on this host holds
the lock no longer; one of another host is taken over only on request.

All users of the host can read the file, so it never contains a statement or a reason: those may contain passwords. All users
can write it too: its content is believed only in the form that we write, and is never printed as something to do.

Each user has a separate journal, so the file also names users whose changes left something behind: their process ended in
the middle of a change, or the change ended with something to repair. Other operators see that when they begin a change.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from exacell.change.lockholder import Holder, read_holder, this_process
from exacell.core.cellset import natural_key
from exacell.core.config import RackConfig
from exacell.core.errors import RefusedError
from exacell.core.sharedfile import PATIENCE, flock, make_file, open_file, read_text, write_over
from exacell.core.values import dataclass

if TYPE_CHECKING:
    from exacell.session.state import Session

SHARED = Path("/var/tmp")
"""The one place for all users of a host: a system folder with the sticky bit, in which nobody can remove others' files."""

_REMEMBERED = 8
"""The largest number of users in the file who left something behind."""

_READING = 1.0
"""Seconds that a reader waits for a writer: a user who keeps the file locked must not stop reads."""


class LockedError(RefusedError):
    """Raised if somebody else holds the rack, or if that can't be found out; nothing was sent."""


@dataclass(frozen=True, kw_only=True)
class _Held:
    """The content of a lock's file.

    Attributes:
        left: holders that left something behind and hold the lock no longer, oldest first.
    """

    kept: Holder | None = None
    running: Holder | None = None
    left: tuple[Holder, ...] = ()

    @property
    def shown(self) -> Holder | None:
        return self.running or self.kept


@dataclass
class RackLock:
    """The lock in one file."""

    path: Path
    rack: str

    def holder(self) -> Holder | None:
        """Return the holder: the one that changes the rack now, else the one that keeps it; None if there is none.

        Raises:
            LockedError: the file exists and can't be read: somebody holds the lock, but it is unknown who.
        """
        return self._seen().shown

    def _seen(self) -> _Held:
        try:
            descriptor = open_file(self.path, write=False)
        except FileNotFoundError:
            return _Held()
        except OSError as error:
            raise self._unreadable(error) from error
        try:
            flock(descriptor, exclusive=False, patience=_READING)
            return self._read(descriptor)
        except OSError as error:
            raise self._unreadable(error) from error
        finally:
            os.close(descriptor)

    def take(self, *, kept: bool = False) -> bool:
        """Take the lock; return False if ``kept`` is asked for and this person keeps it already.

        A person who keeps the rack may change it, in one process at a time.

        Raises:
            LockedError: somebody else holds it, or the file can't be created; nothing was sent.
        """
        me = this_process(kept=kept)
        with self._opened() as descriptor:
            held = self._read(descriptor)
            self._refuse(held, me)
            if kept:
                if held.kept is not None:
                    return False
                self._write(descriptor, replace(held, kept=me))
            else:
                last = held.running
                died = (last,) if last is not None and last.person != me.person else ()
                self._write(descriptor, replace(held, running=me, left=(*held.left, *died)[-_REMEMBERED:]))
        return True

    def refuse_held(self) -> None:
        """Raise LockedError if somebody else holds the rack now; call this before a question. The lock is not taken.

        Raises:
            LockedError: somebody else holds it, or that can't be found out; nothing was sent.
        """
        self._refuse(self._seen(), this_process())

    def _refuse(self, held: _Held, me: Holder) -> None:
        for holder in (held.kept, held.running):
            if holder is not None and not self._yields(holder, me):
                raise LockedError(
                    f"rack {self.rack} is locked by {holder}; nothing was sent",
                    hint="wait, ask them, or take the lock over: `unlock --takeover`",
                )

    def left_by_others(self) -> tuple[Holder, ...]:
        """Return the other operators that left something behind on the rack; this user's journal does not know them.

        Raises:
            LockedError: the file exists and can't be read.
        """
        held, me = self._seen(), this_process()
        died = (held.running,) if held.running is not None and not held.running.lives else ()
        return tuple(holder for holder in (*held.left, *died) if holder.person != me.person)

    def tell(self, change: int) -> None:
        """Note in the lock which change runs under it.

        Nothing is noted if somebody has taken the lock over or made the file unreadable: :meth:`still_mine` reports that before
        the next statement.
        """
        me = this_process()
        with suppress(LockedError), self._opened() as descriptor:
            held = self._read(descriptor)
            if held.running is not None and held.running.is_process(me):
                self._write(descriptor, replace(held, running=replace(held.running, change=str(change))))

    def leave(self, change: int) -> None:
        """Note for the other operators which change this user leaves unfinished or with something to repair; 0 for none.

        This replaces the user's earlier note.

        Raises:
            LockedError: the file can't be rewritten.
        """
        me = this_process(change=change)
        if not change and all(holder.person != me.person for holder in self._seen().left):
            return
        with self._opened() as descriptor:
            held = self._read(descriptor)
            others = tuple(holder for holder in held.left if holder.person != me.person)
            found = (*others, me)[-_REMEMBERED:] if change else others
            if found != held.left:
                self._write(descriptor, replace(held, left=found))

    def _yields(self, holder: Holder, me: Holder) -> bool:
        """Return whether a holder does not block ``me``: it is ``me``, or its process has ended on this host."""
        if holder.kept:
            return holder.person == me.person
        return holder.is_process(me) or not holder.lives

    def still_mine(self) -> str:
        """Return why this process may not continue its change, empty if it still holds the lock."""
        try:
            holder = self.holder()
        except LockedError as error:
            return error.message
        if holder is not None and not holder.kept and holder.is_process(this_process()):
            return ""
        return f"the lock of rack {self.rack} was taken over" + (f" by {holder}" if holder is not None else "")

    def give_back(self, *, takeover: bool = False) -> Holder | None:
        """Free the lock and return its holder, None if there was none.

        Raises:
            LockedError: somebody else holds it, or a living process of the same person changes the rack, and ``takeover`` was not
                given.
        """
        if not os.path.lexists(self.path):
            return None
        me = this_process(kept=True)
        with self._opened() as descriptor:
            try:
                held = self._read(descriptor)
            except LockedError:
                if not takeover:
                    raise
                self._write(descriptor, _Held())
                return None
            for holder in (held.kept, held.running):
                if holder is not None and not takeover and not self._yields(holder, me):
                    raise LockedError(
                        f"rack {self.rack} is locked by {holder}", hint="`unlock --takeover` takes it over"
                    )
            # A takeover also takes over everything that others left behind.
            self._write(descriptor, _Held(left=() if takeover else held.left))
            return held.shown

    def _release(self) -> None:
        """Stop holding the rack for a change, unless somebody has taken the lock over."""
        me = this_process()
        with self._opened() as descriptor:
            held = self._read(descriptor)
            if held.running is not None and held.running.is_process(me):
                self._write(descriptor, replace(held, running=None))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock while a change runs."""
        self.take()
        try:
            yield
        finally:
            # Somebody else made the file unreadable; the next operator sees that.
            with suppress(LockedError):
                self._release()

    # -- the file ------------------------------------------------------------------------------------------------

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """Open the file for rewriting and keep all others out; all users may write a new file."""
        try:
            descriptor = self._descriptor()
        except OSError as error:
            raise self._unlockable(error, "a file that all operators can write") from error
        try:
            try:
                flock(descriptor, exclusive=True, patience=PATIENCE)
            except OSError as error:
                raise self._unlockable(error, "a file on another file system, or end that process") from error
            yield descriptor
        finally:
            os.close(descriptor)

    def _descriptor(self) -> int:
        if self.path.parent != SHARED:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        return make_file(self.path, mode=0o666, exact=self.path.parent == SHARED)

    def _read(self, descriptor: int) -> _Held:
        try:
            text = read_text(descriptor).strip()
        except OSError as error:
            raise self._unreadable(str(error.strerror)) from error
        if not text:
            return _Held()
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self._unreadable("it is not JSON") from error
        if not isinstance(data, dict):
            raise self._unreadable("it is not a JSON object")
        left = data.get("left", [])
        if not isinstance(left, list):
            raise self._unreadable("its left is not a list")
        try:
            return _Held(
                kept=read_holder(data.get("kept")),
                running=read_holder(data.get("running")),
                left=tuple(filter(None, map(read_holder, left))),
            )
        except ValueError as error:
            raise self._unreadable(str(error)) from error

    def _write(self, descriptor: int, held: _Held) -> None:
        data: dict[str, object] = {
            name: asdict(holder) for name in ("kept", "running") if (holder := getattr(held, name)) is not None
        }
        if held.left:
            data["left"] = [asdict(holder) for holder in held.left]
        try:
            write_over(descriptor, json.dumps(data) + "\n" if data else "")
        except OSError as error:
            raise self._unlockable(error, "a file where there is space") from error

    def _unlockable(self, error: OSError, way: str) -> LockedError:
        return LockedError(
            f"rack {self.rack} can't be locked: {self.path}: {error.strerror}; nothing was sent",
            hint=f"set lock= in the rack's configuration to {way}",
        )

    def _unreadable(self, error: OSError | str) -> LockedError:
        """Return the error for a lock that can't be read; a lock without a holder can be freed, one that is not a file can't."""
        if isinstance(error, OSError):
            why, hint = (
                error.strerror,
                ("it must be a file that all operators can read and write; lock= can name another"),
            )
        else:
            why, hint = error, "`unlock --takeover` removes it"
        return LockedError(f"the lock {self.path} of rack {self.rack} can't be read ({why})", hint=hint)


def lock_in(session: Session) -> RackLock:
    """Return the lock of the session's rack."""
    return lock_of(session.need_rack(), session.home.state_dir)


def lock_of(rack: RackConfig, state_dir: Path) -> RackLock:
    """Return the lock of a rack: the configured file, else a file in the place that all who can reach the rack use.

    The lock of a real rack is named after its first cell, or its first host if it has no cells. So it is the same for operators
    who give the rack another name, or name its cells with -c. An emulated rack is reached with keys that its emulator made: its
    lock is beside them.
    """
    if rack.lock is not None:
        return RackLock(rack.lock, rack.name)
    if not rack.emulated:
        first = min(rack.cells or rack.host_names, key=natural_key)
        return RackLock(SHARED / f"exacell-{_short(first)}.lock", rack.name)
    folder = _emulated(rack.ssh_config) if rack.ssh_config is not None else None
    return RackLock(folder / "change.lock" if folder else state_dir / "locks" / f"{rack.name}.lock", rack.name)


def _short(cell: str) -> str:
    """Return a host's name without its domain, in lower case; an address is returned unchanged."""
    name = cell if re.fullmatch(r"[0-9.]+|.*:.*", cell) else cell.partition(".")[0]
    return re.sub(r"[^a-z0-9.:_-]", "_", name.lower())


_IDENTITY = re.compile(r'\s*IdentityFile\s+"?([^"\n]+?)"?\s*', re.IGNORECASE)


def _emulated(ssh_config: Path) -> Path | None:
    """Return the folder of the keys that an emulated rack's ssh_config names, even for a copy of that file; None without keys."""
    try:
        text = ssh_config.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    keys = (match[1].replace("%%", "%") for line in text.splitlines() if (match := _IDENTITY.fullmatch(line)))
    return next((Path(os.path.realpath(key)).parent for key in keys if os.path.isabs(key)), None)


def describe(holder: Holder | None, lock: RackLock) -> Mapping[str, object]:
    """Return a record about the lock of a rack."""
    where = {"cell": None, "rack": lock.rack, "file": str(lock.path)}
    if holder is None:
        return {**where, "locked": False}
    row = {name: value or None if isinstance(value, str) else value for name, value in asdict(holder).items()}
    row.pop("started")
    row["change"] = int(holder.change) if holder.change else None
    return {**where, "locked": True, **row, "lives": holder.lives, "ageSeconds": int(holder.age)}
