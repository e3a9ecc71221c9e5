"""The files of emulated racks: their paths, and writing them so that a crash never leaves half a file.

A rack called t1 lives in ``<home>/emulator/t1`` (mode 0700)::

    rack.json             what the rack was made with; its presence means that the rack exists
    state/                cells, ASM and the rack's clock as of the last change, one file for each part
    history.db            the metrics that the cells have collected, in SQLite
    control.json          port, token and pid of the running process; removed when it stops
    lock                  locked by the running process for as long as it lives
    log                   errors of that process
    ssh_config known_hosts id_ed25519 id_ed25519.pub ports.json
    port22 addresses      exist if each host has an address with port 22: the sign for that, and lines for /etc/hosts
    hosts/<host>/         ssh_host_ed25519_key, and in root/ the host's own directories, from etc to var
    layers/ nodes/ fence/ further directories for the hosts' shells, and the place where root directories are built
    bin/cell bin/dbnode   the programs that shells on the hosts find first
    bin/path              the programs for the PATH of other programs on this machine

This module is cheap to import, because the command layer uses it before it knows whether a rack runs.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from exacell.core.errors import EmulatorError

Json = dict[str, object]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
_POLL_S = 0.01
_PROBE_S = 60.0
"""Seconds for which probes of RackFiles.running may keep the lock: the probing process may be delayed between two steps."""


@dataclass(frozen=True)
class RackFiles:
    """The paths of one rack's files. ``root`` is absolute."""

    root: Path

    @property
    def name(self) -> str:
        """Return the rack's name."""
        return self.root.name

    @property
    def rack(self) -> Path:
        """Return the path of the file with the options that the rack was made with."""
        return self.root / "rack.json"

    @property
    def state(self) -> Path:
        """Return the directory of the parts of the rack's state."""
        return self.root / "state"

    @property
    def history(self) -> Path:
        """Return the path of the file with the cells' metric collections."""
        return self.root / "history.db"

    @property
    def control(self) -> Path:
        """Return the path of the file with port, token and pid of the running process."""
        return self.root / "control.json"

    @property
    def status(self) -> Path:
        """Return the path of the file in which the running process says whether hosts have shells, and which hosts are down."""
        return self.root / "status.json"

    @property
    def failure(self) -> Path:
        """Return the path of the file with the reason why the last start was refused."""
        return self.root / "failure.json"

    @property
    def lock(self) -> Path:
        """Return the path of the file that is locked while the rack runs."""
        return self.root / "lock"

    @property
    def log(self) -> Path:
        """Return the path of the running process's log."""
        return self.root / "log"

    @property
    def ssh_config(self) -> Path:
        """Return the path of a complete ssh_config for the rack's hosts."""
        return self.root / "ssh_config"

    @property
    def known_hosts(self) -> Path:
        """Return the path of the file with the hosts' public keys."""
        return self.root / "known_hosts"

    @property
    def identity(self) -> Path:
        """Return the path of the private key that may log in on all hosts."""
        return self.root / "id_ed25519"

    @property
    def ports(self) -> Path:
        """Return the path of the file with the port on which each host last listened."""
        return self.root / "ports.json"

    @property
    def port22(self) -> Path:
        """Return the path of a file that exists if every host must have its own address with port 22."""
        return self.root / "port22"

    @property
    def addresses(self) -> Path:
        """Return the path of the file with those addresses, as lines of /etc/hosts."""
        return self.root / "addresses"

    def host_dir(self, host: str) -> Path:
        """Return the directory of one host."""
        return self.root / "hosts" / host

    def host_key(self, host: str) -> Path:
        """Return the path of one host's private host key."""
        return self.host_dir(host) / "ssh_host_ed25519_key"

    def tree(self, host: str) -> Path:
        """Return the directory with one host's directories, as its shells see them: etc, home, root, tmp, var and so on."""
        return self.host_dir(host) / "root"

    def made(self, host: str) -> Path:
        """Return the path of a file that exists once a host's directories have been filled; then only its shells change them."""
        return self.host_dir(host) / "made"

    @property
    def fence(self) -> Path:
        """Return the directory in which the hosts' root directories are built."""
        return self.root / "fence"

    @property
    def nodes(self) -> Path:
        """Return the directory with the files that ssh on database nodes needs to reach the rack's other hosts."""
        return self.root / "nodes"

    def layer(self, kind: str) -> Path:
        """Return the directory that lies over this machine's /usr for one kind of host."""
        return self.root / "layers" / kind / "usr"

    def bin(self, kind: str) -> Path:
        """Return the directory of the programs of one kind of host (``cell`` or ``dbnode``), or ``path``, for other programs'
        PATH.
        """
        return self.root / "bin" / kind

    @property
    def exists(self) -> bool:
        """Return whether a rack was ever made here."""
        return self.rack.is_file()

    def write_state(self, parts: Mapping[str, Json]) -> None:
        """Store parts of the rack's state; each part is replaced in one step."""
        self.state.mkdir(mode=0o700, exist_ok=True)
        for name, part in parts.items():
            write_json(self.state / f"{name}.json", part)

    def read_state(self) -> dict[str, Json]:
        """Return all parts of the rack's state by name.

        Raises:
            EmulatorError: a part is damaged.
        """
        return {path.stem: part for path in sorted(self.state.glob("*.json")) if (part := read_json(path)) is not None}

    def running(self) -> bool:
        """Return whether a process serves this rack now; this is read from the lock, not from a pid."""
        try:
            descriptor = os.open(self.lock, os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            return not _try_lock(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)

    def holder(self) -> int | None:
        """Return the process id that the lock's holder wrote; it is valid only while :meth:`running`."""
        try:
            return int(self.lock.read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            return None

    def remove(self) -> None:
        """Remove the rack and all its files; the caller makes sure that it does not run."""
        with self.set_aside():
            pass

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        """Let another rack take this one's place: the old files are deleted if that succeeds, and come back if it fails.

        The caller makes sure that neither rack runs.
        """
        if not self.root.exists():
            yield
            return
        import shutil
        import tempfile

        aside = Path(tempfile.mkdtemp(prefix=f".{self.root.name}.removed-", dir=self.root.parent))
        self.root.rename(aside)
        try:
            yield
        except BaseException:
            self.remove()
            aside.rename(self.root)
            raise
        shutil.rmtree(aside)


def rack_files(home: Path, name: str) -> RackFiles:
    """Return the paths of the rack ``name`` under ``home``.

    Raises:
        EmulatorError: the name can't be used for a directory, a Host block and a prompt.
    """
    if not _NAME.fullmatch(name):
        raise EmulatorError(
            f"'{name}' is no name for an emulated rack: letters, digits, - and _, at most 63, for example t1"
        )
    return RackFiles(Path(os.path.abspath(home)) / "emulator" / name)


def all_racks(home: Path) -> tuple[RackFiles, ...]:
    """Return the racks that exist under ``home``, in order of name."""
    try:
        names = sorted(os.listdir(home / "emulator"))
    except FileNotFoundError:
        return ()
    racks = (rack_files(home, name) for name in names if _NAME.fullmatch(name))
    return tuple(rack for rack in racks if rack.exists)


def write_text(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Replace the file ``path`` by ``text`` in one step: readers see the old file or the new one, never a part."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Mapping[str, object]) -> None:
    """Write ``value`` as one line of JSON into the file ``path``, which is replaced in one step."""
    write_text(path, json.dumps(value, separators=(",", ":")) + "\n")


def read_json(path: Path) -> Json | None:
    """Return the object in ``path``; None if there is no such file.

    Raises:
        EmulatorError: the file is not a JSON object.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise EmulatorError(
            f"{path} is damaged: {error}", hint="start the rack with reset=yes (its state is lost)"
        ) from error
    if not isinstance(value, dict):
        raise EmulatorError(
            f"{path} is damaged: it holds no object", hint="start the rack with reset=yes (its state is lost)"
        )
    return value


@contextmanager
def life_cycle_lock(files: RackFiles, *, timeout: float) -> Iterator[None]:
    """Hold the lock for starting, stopping or removing one rack; other processes wait for it.

    Raises:
        EmulatorError: another process holds it for longer than ``timeout`` seconds.
    """
    files.root.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = files.root.parent / f".{files.name}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + timeout
        while not _try_lock(descriptor):
            if time.monotonic() > deadline:
                raise EmulatorError(
                    f"another process has been starting or stopping rack {files.name} for {timeout:g}s: try again"
                )
            time.sleep(_POLL_S)
        yield
    finally:
        os.close(descriptor)


def hold_running_lock(files: RackFiles) -> int | None:
    """Mark the rack as running while this process, or one that it forks, lives.

    Returns:
        A descriptor to keep open; None if another process serves the rack already.
    """
    descriptor = os.open(files.lock, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + _PROBE_S
    while not _try_lock(descriptor):
        # A probing process shares the lock with others, the serving process does not.
        if not _try_lock(descriptor, fcntl.LOCK_SH) or time.monotonic() > deadline:
            os.close(descriptor)
            return None
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        time.sleep(_POLL_S)
    return descriptor


def _try_lock(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
