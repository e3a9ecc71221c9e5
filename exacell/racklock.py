"""The lock of a rack: one operator changes it at a time, and the others see who, from where, since when and why.

The lock is a file that is made exclusively and names its holder; it lies where all operators look. A lock whose process
has ended on this host is taken over by itself; one of another host only when somebody asks for that.
"""

from __future__ import annotations

import getpass
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from exacell.errors import RefusedError
from exacell.journal import alive
from exacell.units import format_duration

SHARED = Path("/var/tmp/exacell-locks")
"""The one place for all users of a host."""


@dataclass(frozen=True, kw_only=True)
class Holder:
    """Who holds a lock. ``kept`` is True for one that ``lock`` took and only ``unlock`` gives back."""

    user: str
    host: str
    pid: str
    since: str
    why: str
    kept: bool = False

    @property
    def age(self) -> float:
        """Seconds since it was taken."""
        return (datetime.now(UTC) - datetime.fromisoformat(self.since)).total_seconds()

    def __str__(self) -> str:
        return f"{self.user} on {self.host} (process {self.pid}) since {format_duration(self.age)}: {self.why}"


def _me(why: str, *, kept: bool) -> Holder:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    return Holder(
        user=getpass.getuser(), host=socket.gethostname(), pid=str(os.getpid()), since=since, why=why, kept=kept
    )


class RackLock:
    """The lock in one file."""

    def __init__(self, path: Path, rack: str) -> None:
        self.path = path
        self._rack = rack

    def holder(self) -> Holder | None:
        """Return who holds it, None when nobody does.

        Raises:
            RefusedError: the file is there and can't be read: somebody holds it, and it can't be told who.
        """
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            return Holder(**data)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise RefusedError(
                f"the lock {self.path} of rack {self._rack} can't be read ({error})",
                hint="unlock --takeover removes it",
            ) from error

    def take(self, why: str, *, kept: bool = False) -> bool:
        """Take the lock; returns False when this user holds it already by ``lock``.

        Raises:
            RefusedError: somebody else holds it, or the file can't be made; nothing was sent.
        """
        found = self.holder()
        me = _me(why, kept=kept)
        if found is not None and found.kept and (found.user, found.host) == (me.user, me.host):
            return False
        if found is not None and not found.kept and not alive(asdict(found)):
            self._remove()
            found = None
        if found is not None:
            raise RefusedError(
                f"rack {self._rack} is locked by {found}; nothing was sent",
                hint="wait, ask them, or take it over: unlock --takeover",
            )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(PermissionError):
                if self.path.parent == SHARED:
                    self.path.parent.chmod(0o1777)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        except FileExistsError:
            return self.take(why, kept=kept)
        except OSError as error:
            raise RefusedError(
                f"rack {self._rack} can't be locked: {self.path}: {error.strerror}; nothing was sent",
                hint="set lock= in the rack's configuration to a file that all operators can write",
            ) from error
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(asdict(me), stream)
        return True

    def give_back(self, *, takeover: bool = False) -> Holder | None:
        """Remove the lock and return who held it, None when nobody did.

        Raises:
            RefusedError: somebody else holds it and ``takeover`` was not given.
        """
        try:
            found = self.holder()
        except RefusedError:
            if not takeover:
                raise
            self._remove()
            return None
        if found is None:
            return None
        mine = (found.user, found.host) == (getpass.getuser(), socket.gethostname())
        if not mine and not takeover:
            raise RefusedError(f"rack {self._rack} is locked by {found}", hint="unlock --takeover takes it over")
        self._remove()
        return found

    def _remove(self) -> None:
        with suppress(FileNotFoundError):
            self.path.unlink()

    @contextmanager
    def held(self, why: str) -> Iterator[None]:
        """Hold the lock while a change runs."""
        taken = self.take(why)
        try:
            yield
        finally:
            if taken:
                self._remove()


def lock_of(rack: str, configured: Path | None, *, emulated: bool, state_dir: Path) -> RackLock:
    """Return the lock of a rack: the configured file, else one place for all users; emulated racks are one's own."""
    if configured is not None:
        return RackLock(configured, rack)
    folder = state_dir / "locks" if emulated else SHARED
    return RackLock(folder / f"{rack}.lock", rack)


def describe(holder: Holder | None, rack: str) -> Mapping[str, object]:
    """Return a record about the lock of a rack."""
    if holder is None:
        return {"cell": None, "rack": rack, "locked": False}
    return {"cell": None, "rack": rack, "locked": True, **asdict(holder), "ageSeconds": int(holder.age)}
