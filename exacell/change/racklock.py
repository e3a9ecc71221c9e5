"""The lock of a rack: one operator changes it at a time, and the others see who, from where, since when and why.

The lock is a file that lies where all operators look and names its holders: who *keeps* the rack (``lock`` until
``unlock``) and who *changes* it now. It is never removed, only rewritten under flock, so that whoever may write it can
take over what somebody else left behind, also in a directory where only owners may remove files. A change whose process
has ended on this host holds nothing any more; one of another host is taken over only when somebody asks for that.

Each user has a journal of his own, so the file also says what people left behind: whose process ended in the middle of a
change, and whose change ended with something to mend. The others are told when they begin a change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from exacell.errors import RefusedError
from exacell.journal.actor import actor, alive
from exacell.turns import flock
from exacell.units import format_duration
from exacell.values import dataclass

SHARED = Path("/var/tmp/exacell-locks")
"""The one place for all users of a host."""

_LARGEST = 1 << 16

_REMEMBERED = 8
"""So many people are remembered who left something behind."""


class LockedError(RefusedError):
    """Somebody else holds the rack, or it can't be told whether somebody does; nothing was sent."""


@dataclass(frozen=True, kw_only=True)
class Holder:
    """Who holds a lock.

    Attributes:
        user: operating-system user; ``sudo`` is who became that user by sudo, empty for nobody.
        origin: the host from which the session came by SSH, empty when it did not.
        started: tells the process from a later one of the same number.
        why: the statement, or the reason that ``lock`` was given.
        kept: True for one that ``lock`` took and only ``unlock`` gives back.
        left: what its change left behind and what mends that, one line; empty where nobody can tell.
    """

    user: str
    host: str
    pid: str
    since: str
    why: str
    kept: bool = False
    sudo: str = ""
    origin: str = ""
    started: str = ""
    left: str = ""

    @property
    def trace(self) -> str:
        """One line for others about what it left behind."""
        who = f"{self.sudo or self.user} on {self.host} {format_duration(self.age)} ago"
        if self.left:
            return f"left behind by {who}: {self.left}"
        return f"a process of {who} ended in the middle of: {self.why}; show health tells what it left, resume there mends it"

    @property
    def age(self) -> float:
        """Seconds since it was taken; 0 where the clock of the holder's host is ahead of this one's."""
        return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(self.since)).total_seconds())

    @property
    def person(self) -> tuple[str, str]:
        """Who it really is, and on which host."""
        return (self.sudo or self.user, self.host)

    @property
    def lives(self) -> bool:
        """Whether its process runs; True on another host, from where that can't be told."""
        return alive({"host": self.host, "pid": self.pid, "started": self.started})

    def is_process(self, other: Holder) -> bool:
        """Return whether both are the same process."""
        return (self.host, self.pid, self.started) == (other.host, other.pid, other.started)

    def __str__(self) -> str:
        who = f"{self.sudo} as {self.user}" if self.sudo and self.sudo != self.user else self.user
        came = f" (from {self.origin})" if self.origin else ""
        left = "" if self.kept or self.lives else ", which has ended"
        return f"{who} on {self.host}{came} (process {self.pid}{left}) for {format_duration(self.age)}: {self.why}"


@dataclass(frozen=True, kw_only=True)
class _Held:
    """What a lock's file says.

    Attributes:
        left: who left something behind and holds nothing any more, oldest first.
    """

    kept: Holder | None = None
    running: Holder | None = None
    left: tuple[Holder, ...] = ()

    @property
    def shown(self) -> Holder | None:
        return self.running or self.kept


def _me(why: str, *, kept: bool) -> Holder:
    who = actor()
    return Holder(
        user=who["user"],
        host=who["host"],
        pid=who["pid"],
        since=datetime.now(UTC).isoformat(timespec="seconds"),
        why=why,
        kept=kept,
        sudo=who["sudoUser"],
        origin=who["from"],
        started=who["started"],
    )


@dataclass
class RackLock:
    """The lock in one file."""

    path: Path
    rack: str

    def holder(self) -> Holder | None:
        """Return who holds it: who changes the rack now, else who keeps it; None when nobody does.

        Raises:
            LockedError: the file is there and can't be read: somebody holds it, and it can't be told who.
        """
        return self._seen().shown

    def _seen(self) -> _Held:
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return _Held()
        except OSError as error:
            raise self._unreadable(error) from error
        try:
            flock(descriptor, exclusive=False)
            return self._read(descriptor)
        except OSError as error:
            raise self._unreadable(error) from error
        finally:
            os.close(descriptor)

    def take(self, why: str, *, kept: bool = False) -> bool:
        """Take the lock; returns False when it was this person's already and ``kept`` is asked for.

        A person who keeps the rack may change it, in one process at a time.

        Raises:
            LockedError: somebody else holds it, or the file can't be made; nothing was sent.
        """
        me = _me(why, kept=kept)
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
        """Return when nobody else holds the rack now: for who is about to ask whether to go on. The lock is not taken.

        Raises:
            LockedError: somebody else holds it, or it can't be told whether somebody does; nothing was sent.
        """
        self._refuse(self._seen(), _me("", kept=False))

    def _refuse(self, held: _Held, me: Holder) -> None:
        for holder in (held.kept, held.running):
            if holder is not None and not self._yields(holder, me):
                raise LockedError(
                    f"rack {self.rack} is locked by {holder}; nothing was sent",
                    hint="wait, ask them, or take it over: unlock --takeover",
                )

    def left_by_others(self) -> tuple[Holder, ...]:
        """Return who, other than oneself, left something behind on the rack: what nobody's own journal tells.

        Raises:
            LockedError: the file is there and can't be read.
        """
        held, me = self._seen(), _me("", kept=False)
        died = (held.running,) if held.running is not None and not held.running.lives else ()
        return tuple(holder for holder in (*held.left, *died) if holder.person != me.person)

    def leave(self, why: str, left: str) -> None:
        """Note for the others what one leaves behind, in place of what one has left before; nothing when ``left`` is empty.

        Raises:
            LockedError: the file can't be rewritten.
        """
        me = replace(_me(why, kept=False), left=left)
        if not left and all(holder.person != me.person for holder in self._seen().left):
            return
        with self._opened() as descriptor:
            held = self._read(descriptor)
            others = tuple(holder for holder in held.left if holder.person != me.person)
            found = (*others, me)[-_REMEMBERED:] if left else others
            if found != held.left:
                self._write(descriptor, replace(held, left=found))

    def _yields(self, holder: Holder, me: Holder) -> bool:
        """Whether a holder stands in nobody's way: it is oneself, or its process has ended on this host."""
        if holder.kept:
            return holder.person == me.person
        return holder.is_process(me) or not holder.lives

    def still_mine(self) -> str:
        """Return why this process may not go on with its change, empty when the lock is still its own."""
        try:
            holder = self.holder()
        except LockedError as error:
            return error.message
        if holder is not None and not holder.kept and holder.is_process(_me("", kept=False)):
            return ""
        return f"the lock of rack {self.rack} was taken over" + (f" by {holder}" if holder is not None else "")

    def give_back(self, *, takeover: bool = False) -> Holder | None:
        """Free the lock and return who held it, None when nobody did.

        Raises:
            LockedError: somebody else holds it, or a living process of one's own changes the rack, and ``takeover`` was
                not given.
        """
        if not self.path.exists() and not self.path.is_symlink():
            return None
        me = _me("", kept=True)
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
                    raise LockedError(f"rack {self.rack} is locked by {holder}", hint="unlock --takeover takes it over")
            # A takeover takes all that others left on itself.
            self._write(descriptor, _Held(left=() if takeover else held.left))
            return held.shown

    def _release(self) -> None:
        """Stop changing the rack, unless somebody has taken the lock over."""
        me = _me("", kept=False)
        with self._opened() as descriptor:
            held = self._read(descriptor)
            if held.running is not None and held.running.is_process(me):
                self._write(descriptor, replace(held, running=None))

    @contextmanager
    def held(self, why: str) -> Iterator[None]:
        """Hold the lock while a change runs."""
        self.take(why)
        try:
            yield
        finally:
            # A file that became unreadable is somebody else's doing; who comes next is told.
            with suppress(LockedError):
                self._release()

    # -- the file ------------------------------------------------------------------------------------------------

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """Open the file for rewriting, with everybody else kept out; a new one may be written by all users."""
        try:
            descriptor = self._descriptor()
        except OSError as error:
            raise LockedError(
                f"rack {self.rack} can't be locked: {self.path}: {error.strerror}; nothing was sent",
                hint="set lock= in the rack's configuration to a file that all operators can write",
            ) from error
        try:
            try:
                flock(descriptor, exclusive=True)
            except OSError as error:
                raise LockedError(
                    f"rack {self.rack} can't be locked: {self.path}: {error.strerror}; nothing was sent",
                    hint="set lock= in the rack's configuration to a file on another file system, or end that process",
                ) from error
            yield descriptor
        finally:
            os.close(descriptor)

    def _descriptor(self) -> int:
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        # Without O_CREAT first: the kernel forbids it for another user's file in a sticky directory.
        # Source: proc_sys_fs(5), protected_regular.
        with suppress(FileNotFoundError):
            return os.open(self.path, flags)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.parent == SHARED:
            with suppress(PermissionError):
                self.path.parent.chmod(0o1777)
        try:
            descriptor = os.open(self.path, flags | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            return os.open(self.path, flags)
        if self.path.parent == SHARED:
            os.fchmod(descriptor, 0o666)
        return descriptor

    def _read(self, descriptor: int) -> _Held:
        text = os.pread(descriptor, _LARGEST, 0).decode("utf-8", "replace").strip()
        if not text:
            return _Held()
        try:
            data = json.loads(text)
            left = tuple(filter(None, map(_holder, data.get("left") or ())))
            return _Held(kept=_holder(data.get("kept")), running=_holder(data.get("running")), left=left)
        except json.JSONDecodeError as error:
            raise self._unreadable("it is no JSON") from error
        except (ValueError, TypeError, AttributeError) as error:
            raise self._unreadable(error) from error

    def _write(self, descriptor: int, held: _Held) -> None:
        data: dict[str, object] = {
            name: asdict(holder) for name in ("kept", "running") if (holder := getattr(held, name)) is not None
        }
        if held.left:
            data["left"] = [asdict(holder) for holder in held.left]
        text = (json.dumps(data) + "\n" if data else "").encode()
        try:
            # Over the old text in one write, then cut: whoever is killed in between leaves no lock without its keeper.
            os.pwrite(descriptor, text.ljust(os.fstat(descriptor).st_size), 0)
            os.ftruncate(descriptor, len(text))
            os.fsync(descriptor)
        except OSError as error:
            raise LockedError(
                f"rack {self.rack} can't be locked: {self.path}: {error.strerror}; nothing was sent",
                hint="free space there, or set lock= in the rack's configuration",
            ) from error

    def _unreadable(self, error: Exception | str) -> LockedError:
        """Return what is said of a lock that can't be read: one that says nothing can be freed, a file that is none can't."""
        if isinstance(error, OSError):
            why, hint = error.strerror, "it must be a file that all operators can read and write: lock= names another"
        else:
            why, hint = str(error), "unlock --takeover frees it"
        return LockedError(f"the lock {self.path} of rack {self.rack} can't be read ({why})", hint=hint)


def _holder(data: Mapping[str, Any] | None) -> Holder | None:
    """Return what a lock says of one holder; what a newer version adds is left out.

    Raises:
        ValueError: it does not say who holds it since when.
    """
    if data is None:
        return None
    known = {name: data[name] for name in Holder.__dataclass_fields__ if name in data}
    kept = known.pop("kept", False)
    missing = [name for name in ("user", "host", "pid", "since", "why") if name not in known]
    if missing:
        raise ValueError(f"it says no {', '.join(missing)}")
    odd = [name for name, value in known.items() if not isinstance(value, str)]
    if odd or not isinstance(kept, bool):
        raise ValueError(f"its {(odd or ['kept'])[0]} is no text" if odd else "its kept is neither true nor false")
    try:
        zone = datetime.fromisoformat(known["since"]).tzinfo
    except ValueError as error:
        raise ValueError(f"its since is no time: {known['since']}") from error
    if zone is None:
        raise ValueError(f"its since names no zone: {known['since']}")
    return Holder(**known, kept=kept)


def lock_of(rack: str, configured: Path | None, *, emulated: bool, state_dir: Path) -> RackLock:
    """Return the lock of a rack: the configured file, else one place for all users; emulated racks are one's own."""
    if configured is not None:
        return RackLock(configured, rack)
    folder = state_dir / "locks" if emulated else SHARED
    return RackLock(folder / f"{rack}.lock", rack)


def describe(holder: Holder | None, lock: RackLock) -> Mapping[str, object]:
    """Return a record about the lock of a rack."""
    where = {"cell": None, "rack": lock.rack, "file": str(lock.path)}
    if holder is None:
        return {**where, "locked": False}
    row = {name: value or None if isinstance(value, str) else value for name, value in asdict(holder).items()}
    for name in ("started", "left"):
        row.pop(name)
    return {**where, "locked": True, **row, "lives": holder.lives, "ageSeconds": int(holder.age)}
