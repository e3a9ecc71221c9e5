"""Real sshd daemons on loopback addresses that play cells, for the benchmarks. Nothing outside its folder is touched.

The daemons run as the current user and take only the key that is made here. Each cell has a daemon and a host key of its
own: exacell tells of cells that share one. Post-quantum key exchange is off, as on the cells' Oracle Linux 7 and 8.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).parent
_CONFIG = """Port {port}
ListenAddress {host}
HostKey {folder}/hostkey_{host}
AuthorizedKeysFile {folder}/id.pub
StrictModes no
UsePAM no
UseDNS no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
KexAlgorithms -sntrup761*,mlkem*
MaxStartups 2000:30:3000
MaxSessions 100
PrintMotd no
PrintLastLog no
PidFile none
LogLevel ERROR
SetEnv PATH={folder}/bin:/usr/local/bin:/usr/bin:/bin FAKECELL_DIR={folder} SHLVL=2
"""
_SSH_CONFIG = """Host 127.0.*
    Port {port}
    User {user}
    IdentityFile {folder}/id
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    BatchMode yes
    LogLevel ERROR
"""


class Lab:
    """So many cells in a folder; use as a context manager.

    Attributes:
        hosts: the cells' addresses.
        floor: the bare client's program, None where it can't be built.
    """

    def __init__(self, folder: Path, count: int, *, port: int = 0) -> None:
        self.folder = folder
        self.user = getpass.getuser()
        self.port = port or _free_port()
        self.hosts = [f"127.0.{1 + n // 250}.{1 + n % 250}" for n in range(count)]
        self.floor: Path | None = None
        self._program = ""
        self._daemons: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Lab:
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self) -> None:
        (self.folder / "bin").mkdir(parents=True, exist_ok=True)
        _build(HERE / "fakecell.c", self.folder / "bin" / "cellcli")
        with contextlib.suppress(subprocess.CalledProcessError):
            self.floor = _build(HERE / "floor.c", self.folder / "bin" / "floor", "-lssh2", "-lpthread")
        keys = {host: self.folder / f"hostkey_{host}" for host in self.hosts}
        for path in (self.folder / "id", *keys.values()):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
        self.trust()
        self._write("ssh_config", _SSH_CONFIG.format(port=self.port, user=self.user, folder=self.folder))
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        program = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
        if program is None:
            raise SystemExit("no sshd program is installed: apt-get install openssh-server")
        self._program = program
        self._daemons = [self._daemon(host) for host in self.hosts]
        self._await(self.hosts)

    def _daemon(self, host: str) -> subprocess.Popen[bytes]:
        config = self._write(f"sshd_{host}", _CONFIG.format(port=self.port, host=host, folder=self.folder))
        command = [self._program, "-D", "-f", str(config), "-E", str(self.folder / "sshd.log")]
        return subprocess.Popen(command, start_new_session=True)

    def _await(self, hosts: Sequence[str]) -> None:
        deadline = time.monotonic() + 10
        for host in hosts:
            while socket.socket().connect_ex((host, self.port)):
                if time.monotonic() > deadline:
                    raise SystemExit(f"sshd does not start: see {self.folder / 'sshd.log'}")
                time.sleep(0.02)

    def restart(self, host: str, *, meanwhile: Callable[[], object] = lambda: None) -> None:
        """End a cell's daemon and all its connections, call ``meanwhile``, and have it listen again."""
        place = self.hosts.index(host)
        daemon = self._daemons[place]
        for pid in map(int, _children(daemon.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        daemon.kill()
        daemon.wait()
        meanwhile()
        self._daemons[place] = self._daemon(host)
        self._await([host])

    def change_key(self, host: str) -> None:
        """Give a cell another host key, which its daemon has when it begins again."""
        path = self.folder / f"hostkey_{host}"
        path.unlink()
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)

    def trust(self) -> None:
        """Write the host keys that the cells have now into known_hosts."""
        keys = {host: (self.folder / f"hostkey_{host}.pub").read_text().split()[:2] for host in self.hosts}
        self._write(
            "known_hosts", "".join(f"[{host}]:{self.port} {kind} {key}\n" for host, (kind, key) in keys.items())
        )

    def __exit__(self, *_: object) -> None:
        for daemon in self._daemons:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(daemon.pid, signal.SIGTERM)
            daemon.wait()

    def hostfile(self, count: int) -> Path:
        """Return a file with the first ``count`` cells, one a line."""
        return self._write(f"hosts.{count}", "".join(f"{host}\n" for host in self.hosts[:count]))

    def start_takes(self, milliseconds: int) -> None:
        """Have each start of CellCLI take so long from now on."""
        self._write("start_ms", f"{milliseconds}\n")

    def sessions(self) -> int:
        """Return how many connections the daemons hold."""
        return sum(len(_children(daemon.pid)) for daemon in self._daemons)

    def _write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path


def _build(source: Path, target: Path, *libraries: str) -> Path:
    quiet = subprocess.DEVNULL if libraries else None
    subprocess.run(["cc", "-O2", "-o", target, source, *libraries], check=True, stderr=quiet)
    return target


def _children(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def installed(folder: Path, tree: Path = HERE.parent) -> str:
    """Return the interpreter of a new virtual environment that finds exacell and its libraries without detours.

    Args:
        tree: the working tree whose exacell it finds.

    As after a plain ``pip install``: an editable one runs code of its own at each start of Python. The program ``exacell``
    stands beside it, as pip writes it.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    libraries = next(path for path in sys.path if (Path(path) / "fabric").is_dir())
    site = next((folder / "lib").glob("python*")) / "site-packages"
    (site / "benchmark.pth").write_text(f"{tree}\n{libraries}\n")
    python, program = folder / "bin" / "python", folder / "bin" / "exacell"
    program.write_text(f"#!{python}\nimport sys\nfrom exacell.cli import entry\nsys.exit(entry())\n")
    program.chmod(0o755)
    return str(python)
