"""A real OpenSSH sshd on loopback: own keys, own port, the current user; nothing on the machine is touched."""

from __future__ import annotations

import atexit
import getpass
import os
import random
import shutil
import socket
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from tests.support.patience import until
from tests.support.surroundings import ROOT

PROGRAM = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin:/sbin")

# SHLVL=2 keeps bash from reading the tester's ~/.bashrc for each command, which may take longer than the test. ClusterShell
# on a gateway writes its log to /tmp where it is told nothing else, under one name for all users of the machine.
CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {directory}/host_ed25519
HostKey {directory}/host_rsa
PidFile {directory}/pid
AuthorizedKeysFile {directory}/authorized_keys/%u
UsePAM no
StrictModes no
PasswordAuthentication no
AcceptEnv LANG LC_*
PermitRootLogin prohibit-password
MaxStartups 100
SetEnv PATH={directory}/bin:/usr/local/bin:/usr/bin:/bin SHLVL=2 CLUSTERSHELL_GW_LOG_DIR={directory}
{subsystem}
{extra}
"""

SFTP = "Subsystem sftp internal-sftp"


_PORTS = 5
"""So many ports are tried: a free one may be somebody else's by the time that sshd wants it."""


def _make_key(path: Path, kind: str) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", path.name, "-f", path], check=True)


@cache
def _rsa_key() -> Path:
    """Return the RSA host key of all servers of this process: to make one may take seconds. It ends with the process."""
    folder = Path(tempfile.mkdtemp(prefix="exacell-test-key-", dir=os.environ.get(ROOT)))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _make_key(folder / "host_rsa", "rsa")
    return folder / "host_rsa"


def free_port() -> int:
    """Return a port where nobody listens, below those that the system gives to connections: one of these might take it
    before sshd does, even our own to it. Source: ip(7), ip_local_port_range.
    """
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        with socket.socket() as probe, suppress(OSError):
            port = random.SystemRandom().randrange(5000, max(first, 10000))
            probe.bind(("127.0.0.1", port))
            return port


def _children(pid: int, *, named: str = "") -> list[int]:
    """Return the process ids of the children of a process whose names begin with ``named``."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # It has ended.
        return []
    return [int(child) for child in children if _name(child).startswith(named)]


def _name(pid: str) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text()
    return ""


class Sshd:
    """One running sshd. Every host name in the ssh_config it writes leads to it."""

    def __init__(self, directory: Path, *, extra: str = "", subsystem: str = SFTP) -> None:
        self.directory = directory
        self.user = getpass.getuser()
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._extra = extra
        self._subsystem = subsystem
        for name in ("authorized_keys", "bin"):
            (directory / name).mkdir(parents=True)
        for name in ("host_ed25519", "login", "stranger"):
            _make_key(directory / name, "ed25519")
        for suffix in ("", ".pub"):
            shutil.copy(f"{_rsa_key()}{suffix}", directory / f"host_rsa{suffix}")
        shutil.copy(directory / "login.pub", directory / "authorized_keys" / self.user)
        cellcli = directory / "bin" / "cellcli"
        cellcli.write_text('#!/bin/sh\necho "cellcli ran: $*"\n')
        cellcli.chmod(0o755)

    def start(self) -> None:
        """Start (again, on the same port) and wait until it accepts connections."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        fixed = self.port
        for _ in range(_PORTS):
            self.port = fixed or free_port()
            if self._listens():
                return
        raise RuntimeError(f"sshd did not start: {self.log()}")

    def _listens(self) -> bool:
        """Start sshd; return whether it has the port, which somebody else may have taken since it was free."""
        config = self.directory / "sshd_config"
        known = len(self.log())
        config.write_text(
            CONFIG.format(port=self.port, directory=self.directory, subsystem=self._subsystem, extra=self._extra)
        )
        process = subprocess.Popen([str(PROGRAM), "-D", "-f", config, "-E", self.directory / "log"])
        # Whoever answers on the port need not be ours: its log says that it listens.
        until(lambda: "Server listening on" in self.log()[known:] or process.poll() is not None)
        if process.poll() is None and "Server listening on" in self.log()[known:]:
            self._process = process
            return True
        process.kill()
        process.wait()
        return False

    def stop(self) -> None:
        """End the listener and every session of it."""
        if self._process is None:
            return
        # Of a user who is not root a session is two processes, and the second one holds the connection.
        sessions = [one for pid in self.sessions() for one in (pid, *_children(pid, named="sshd"))]
        self._process.terminate()
        self._process.wait()
        self._process = None
        for pid in sessions:
            subprocess.run(["kill", "-9", str(pid)], check=False, stderr=subprocess.DEVNULL)

    def sessions(self) -> list[int]:
        """Return the process ids of the connections being served."""
        assert self._process is not None
        return _children(self._process.pid)

    def log(self) -> str:
        """Return what sshd logged."""
        path = self.directory / "log"
        return path.read_text() if path.exists() else ""

    def public_key(self, name: str) -> str:
        """Return type and base64 of one of the keys: host_ed25519, host_rsa, login, stranger."""
        return " ".join((self.directory / f"{name}.pub").read_text().split()[:2])

    def known_hosts(self, *lines: str) -> Path:
        """Write a known_hosts file: ``lines``, or the host's own ed25519 key when there are none."""
        path = self.directory / "known_hosts"
        own = f"[127.0.0.1]:{self.port} {self.public_key('host_ed25519')}"
        path.write_text("".join(f"{line}\n" for line in lines or (own,)))
        return path

    def ssh_config(self, *lines: str, key: str = "login") -> Path:
        """Write an ssh_config that leads every host name here; ``lines`` come first."""
        path = self.directory / "ssh_config"
        common = (
            "Host *",
            "HostName 127.0.0.1",
            f"Port {self.port}",
            f"IdentityFile {self.directory / key}",
            "IdentitiesOnly yes",
            "IdentityAgent none",
            f"UserKnownHostsFile {self.directory / 'known_hosts'}",
            "GlobalKnownHostsFile none",
        )
        path.write_text("".join(f"{line}\n" for line in (*lines, *common)))
        return path
