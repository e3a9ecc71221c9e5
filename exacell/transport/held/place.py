"""Where a rack's holder of connections is found: a socket, a lock and a log in a folder that only its user can enter.

There is one holder for each user, home, host, rack and version of exacell; it keeps its lock while it runs. Each side asks the
kernel whose process is at the other end. Source: unix(7), SO_PEERCRED, SOCK_SEQPACKET.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from exacell.core.config import RackConfig, Settings
from exacell.core.paths import Home
from exacell.core.values import dataclass
from exacell.core.version import __version__
from exacell.transport.held.frames import LARGEST

_PRIVATE = 0o700
_CREDENTIALS = struct.Struct("3i")

PATIENCE = 0.3
"""Seconds without a word after which a holder is taken for dead or stopped."""
BEAT = 0.1
"""Seconds between two beats of a holder that works."""

OF_CONNECTIONS = ("connect_timeout", "fanout", "max_answer")
"""Settings that a holder's connections are made with, as configured: where a session has others it asks no holder."""

PACKAGE = Path(__file__).resolve().parents[2]
"""The folder of the exacell that runs."""

supported = hasattr(socket, "SO_PEERCRED") and hasattr(socket, "SOCK_SEQPACKET") and os.path.isdir("/proc/self/fd")
"""Whether this system has what a holder needs, as Linux does."""


@dataclass(frozen=True, kw_only=True)
class Hold:
    """A rack's holder, whether or not it runs.

    Attributes:
        folder: the folder of its files.
        seconds: after how many idle seconds a new holder ends; None: no holder is started.
        identity: what it must have been started with, so that it answers as the program itself would.
    """

    rack: str
    folder: Path
    identity: str
    seconds: float | None = None

    @property
    def name(self) -> str:
        """The names of its files, without their suffixes."""
        return f"{self.rack}@{os.uname().nodename}-{__version__}"

    @property
    def socket(self) -> Path:
        """The socket on which it listens."""
        return self.folder / f"{self.name}.socket"

    @property
    def lock(self) -> Path:
        """The file that it keeps locked while it runs."""
        return self.folder / f"{self.name}.lock"

    @property
    def log(self) -> Path:
        """The file in which it records who asked for what."""
        return self.folder / f"{self.name}.log"


def hold_of(home: Home, rack: RackConfig, settings: Settings, seconds: float | None) -> Hold:
    """Return the holder of a configured rack.

    Args:
        settings: the rack's settings in the configuration.
    """
    made_with = [getattr(settings, name) for name in OF_CONNECTIONS]
    identity = repr((__version__, str(PACKAGE), os.environ.get("HOME", ""), rack, made_with))
    return Hold(rack=rack.name, folder=home.state_dir / "hold", identity=identity, seconds=seconds)


def open_folder(path: Path, *, make: bool = False) -> int:
    """Return a descriptor of a holder's folder.

    Raises:
        OSError: there is no such folder, or others can enter it; ``strerror`` has the reason.
    """
    if make:
        path.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) != _PRIVATE:
        os.close(descriptor)
        raise OSError(errno.EPERM, "it must be yours, with mode 700", str(path))
    return descriptor


def address(folder: int, hold: Hold) -> str:
    """Return a short path of a socket in an open folder, even if the folder's own path is long. Source: unix(7), sun_path."""
    return f"/proc/self/fd/{folder}/{hold.socket.name}"


def new_socket() -> socket.socket:
    """Return a socket that keeps messages apart, and accepts frames up to the largest size."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * LARGEST)
    return made


def peer(connection: socket.socket) -> int:
    """Return the process at the other end.

    Raises:
        OSError: the process belongs to another user.
    """
    size = _CREDENTIALS.size
    pid, uid, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    if uid != os.geteuid():
        raise OSError(errno.EPERM, f"process {pid} at its socket belongs to another user")
    return int(pid)


def call(hold: Hold) -> socket.socket:
    """Return a connection to a holder.

    Raises:
        OSError: no holder runs, it is not ours, or it accepts no connection; FileNotFoundError and ConnectionRefusedError mean
            that no holder runs.
    """
    folder = open_folder(hold.folder)
    made = new_socket()
    try:
        made.settimeout(PATIENCE)
        made.connect(address(folder, hold))
        peer(made)
    except OSError:
        made.close()
        raise
    finally:
        os.close(folder)
    return made


def listen(hold: Hold, folder: int) -> socket.socket:
    """Return the socket on which a holder listens; the caller must have its lock.

    Raises:
        OSError: the socket can't be made.
    """
    made = new_socket()
    place = address(folder, hold)
    try:
        with suppress(FileNotFoundError):
            os.unlink(place)  # Of one that was killed.
        made.bind(place)
        made.listen(1024)
    except OSError:
        made.close()
        raise
    return made


def stamp(path: Path) -> object:
    """Return a value that changes if a file is changed, created or removed."""
    try:
        status = path.stat()
    except OSError as error:
        return error.errno
    return status.st_mtime_ns, status.st_size, status.st_ino


class Watched:
    """The files that a holder was started with, and whether one of them has changed."""

    def __init__(self) -> None:
        self._stamps: dict[Path, object] = {}

    def add(self, paths: Iterable[Path]) -> None:
        """Watch more files, from their present state on."""
        for path in paths:
            if path not in self._stamps:
                self._stamps[path] = stamp(path)

    def changed(self) -> Path | None:
        """Return a file that has changed since it was added."""
        return next((path for path, before in self._stamps.items() if stamp(path) != before), None)
