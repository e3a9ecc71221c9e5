"""The files of emulated racks: where they lie, and writing them so that a crash never leaves half of one.

A rack called t1 lives in ``<home>/emulator/t1`` (mode 0700)::

    rack.json             what the rack was made with; its presence means that the rack exists
    state/                cells, ASM and the rack's clock as of the last change, one file for each part
    history.db            the metrics that the cells have collected, in SQLite
    control.json          port, token and pid of the running process; removed when it stops
    lock                  locked by the running process for as long as it lives
    log                   what went wrong in that process
    ssh_config known_hosts id_ed25519 id_ed25519.pub ports.json
    port22 addresses      there if each host has an address with port 22: that it is wanted, and lines for /etc/hosts
    hosts/<host>/         ssh_host_ed25519_key, and in root/ the host's own directories, from etc to var
    layers/ nodes/ fence/ what is shown to the hosts' shells besides, and where it is put together
    bin/cell bin/dbnode   the programs that shells on the hosts find first
    bin/path              those that other programs on this machine put on their PATH

Everything here is light to import, because the command layer uses it before it knows whether a rack runs.
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
"""How long probes of RackFiles.running may keep the lock busy: the probing process may be held between two of its steps."""


@dataclass(frozen=True)
class RackFiles:
    """The paths of one rack's files. ``root`` is absolute."""

    root: Path

    @property
    def name(self) -> str:
        """The rack's name."""
        return self.root.name

    @property
    def rack(self) -> Path:
        """What the rack was made with."""
        return self.root / "rack.json"

    @property
    def state(self) -> Path:
        """The directory of the parts of the rack's state."""
        return self.root / "state"

    @property
    def history(self) -> Path:
        """What the cells have collected of their metrics."""
        return self.root / "history.db"

    @property
    def control(self) -> Path:
        """How to reach the running process."""
        return self.root / "control.json"

    @property
    def status(self) -> Path:
        """What the running process says of its hosts: whether they have shells, and which are down."""
        return self.root / "status.json"

    @property
    def failure(self) -> Path:
        """Why the last start was refused."""
        return self.root / "failure.json"

    @property
    def lock(self) -> Path:
        """Locked while the rack runs."""
        return self.root / "lock"

    @property
    def log(self) -> Path:
        """The running process's log."""
        return self.root / "log"

    @property
    def ssh_config(self) -> Path:
        """A complete ssh_config for the rack's hosts."""
        return self.root / "ssh_config"

    @property
    def known_hosts(self) -> Path:
        """The hosts' public keys."""
        return self.root / "known_hosts"

    @property
    def identity(self) -> Path:
        """The private key that logs in everywhere."""
        return self.root / "id_ed25519"

    @property
    def ports(self) -> Path:
        """The port on which each host listened last."""
        return self.root / "ports.json"

    @property
    def port22(self) -> Path:
        """There when every host is to have an address of its own with port 22."""
        return self.root / "port22"

    @property
    def addresses(self) -> Path:
        """Those addresses, as /etc/hosts has them."""
        return self.root / "addresses"

    def host_dir(self, host: str) -> Path:
        """The directory of one host."""
        return self.root / "hosts" / host

    def host_key(self, host: str) -> Path:
        """The private host key of one host."""
        return self.host_dir(host) / "ssh_host_ed25519_key"

    def tree(self, host: str) -> Path:
        """The directories of one host, as its shells see them: etc, home, root, tmp, var and so on."""
        return self.host_dir(host) / "root"

    def made(self, host: str) -> Path:
        """There when the directories of a host have been filled; from then on they are its shells' alone."""
        return self.host_dir(host) / "made"

    @property
    def fence(self) -> Path:
        """Where the hosts' root directories are put together."""
        return self.root / "fence"

    @property
    def nodes(self) -> Path:
        """What ssh on database nodes needs to reach the rack's other hosts."""
        return self.root / "nodes"

    def layer(self, kind: str) -> Path:
        """What one kind of host has over the machine's /usr."""
        return self.root / "layers" / kind / "usr"

    def bin(self, kind: str) -> Path:
        """The directory of the programs of one kind of host (``cell`` or ``dbnode``); ``path`` is for the PATH of others."""
        return self.root / "bin" / kind

    @property
    def exists(self) -> bool:
        """Whether a rack was ever made here."""
        return self.rack.is_file()

    def write_state(self, parts: Mapping[str, Json]) -> None:
        """Store parts of the rack's state, each in one step."""
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
        """Whether a process serves this rack now; pids are not trusted, the lock is."""
        try:
            descriptor = os.open(self.lock, os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            return not _try_lock(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)

    def holder(self) -> int | None:
        """Return the process id that the lock's holder wrote; it means nothing unless :meth:`running`."""
        try:
            return int(self.lock.read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            return None

    def remove(self) -> None:
        """Remove the rack and all of its files; the caller makes sure that it does not run."""
        with self.set_aside():
            pass

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        """Let another rack take this one's place: what was here is gone when that has worked, and is back when it has not.

        The caller makes sure that neither runs.
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
        EmulatorError: the name is not one that a directory, a Host block and a prompt can all carry.
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
    """Replace ``path`` by ``text`` in one step: readers see the old file or the new one, never a part."""
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
    """Replace ``path`` by ``value`` as one line of JSON, in one step."""
    write_text(path, json.dumps(value, separators=(",", ":")) + "\n")


def read_json(path: Path) -> Json | None:
    """Return the object in ``path``, or None when there is no such file.

    Raises:
        EmulatorError: the file is not a JSON object.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise EmulatorError(f"{path} is damaged: {error}", hint="start the rack anew with reset=yes") from error
    if not isinstance(value, dict):
        raise EmulatorError(f"{path} is damaged: it holds no object", hint="start the rack anew with reset=yes")
    return value


@contextmanager
def life_cycle_lock(files: RackFiles, *, timeout: float) -> Iterator[None]:
    """Hold the right to start, stop or remove one rack; others wait for it.

    Raises:
        EmulatorError: another process keeps it for longer than ``timeout`` seconds.
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
    """Mark the rack as running for the life of this process and of those that it forks.

    Returns:
        a descriptor to keep open, or None when another process serves the rack already.
    """
    descriptor = os.open(files.lock, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + _PROBE_S
    while not _try_lock(descriptor):
        # Who probes shares the lock with others, who serves does not.
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
