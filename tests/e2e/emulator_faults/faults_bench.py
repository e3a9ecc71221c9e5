"""A running rack whose hosts can be broken, asked through exacell's own transport and through OpenSSH."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from exacell.core.config import RackConfig, Settings
from exacell.emulator import control
from exacell.transport.base import Reply, Request, Role
from exacell.transport.ssh import SshTransport

C1, C2 = "exa1cel01", "exa1cel02"


@dataclass
class Bench:
    """A rack of two cells and a database node, without faults when a test begins."""

    home: Path
    info: control.RackInfo
    _transports: list[SshTransport] = field(default_factory=list)

    def fault(self, kind: str, *, host: str = C1, **options: Any) -> Mapping[str, Any]:
        """Inject a fault and return its row."""
        rows = control.fault(self.home, "t1", [host], kind, **options)
        return next(row for row in rows if (row["host"], row["kind"]) == (host, kind))

    def rows(self) -> tuple[Mapping[str, Any], ...]:
        return control.faults(self.home, "t1")

    def clear(self, *hosts: str, kind: str | None = None) -> int:
        return control.clear_faults(self.home, "t1", hosts or None, kind)

    def transport(self, *, timeout: float = 30.0) -> SshTransport:
        """Return a transport of its own, which waits for connections as long as must be; it is closed after the test."""
        rack = RackConfig(name="t1", cells=self.info.cells, dbnodes=self.info.dbnodes, ssh_config=self.info.ssh_config)
        self._transports.append(SshTransport(rack, Settings(timeout=timeout, connect_timeout=120.0)))
        return self._transports[-1]

    def ask(self, statement: str, *, host: str = C1, over: SshTransport | None = None, timeout: float = 30.0) -> Reply:
        """Return exacell's own reply to one statement on one cell."""
        request = Request(target=host, command=f'cellcli -e "{statement}"', role=Role.WRITE, timeout=timeout)
        return (over or self.transport(timeout=timeout)).run([request]).replies[host]

    def says(self, statement: str, *, host: str = C1) -> str:
        """Return the text of an answer that must come."""
        reply = self.ask(statement, host=host)
        assert reply.exit_status == 0, reply
        return reply.stdout

    def values(self, statement: str, *, host: str = C1) -> list[list[str]]:
        """Return the columns of an answer."""
        return [
            [field.strip() for field in line.split("\t")[1:]] for line in self.says(statement, host=host).splitlines()
        ]

    def ssh(self, host: str, command: str, *, stdin: str = "") -> subprocess.CompletedProcess[bytes]:
        """Run a command with OpenSSH's client."""
        arguments = ["ssh", "-F", str(self.info.ssh_config), host, command]
        return subprocess.run(arguments, input=stdin.encode(), capture_output=True, timeout=300)

    def exacell(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run exacell itself on the rack."""
        env = {"EXACELL_HOME": str(self.home), "HOME": str(self.home), "PATH": os.environ["PATH"]}
        command = [sys.executable, "-m", "exacell", "-r", "t1", *words]
        return subprocess.run(command, capture_output=True, text=True, env=env, timeout=300)

    @contextmanager
    def session(self, host: str, command: str) -> Iterator[subprocess.Popen[bytes]]:
        """Give a session of OpenSSH's client whose input stays open; it ends with the block."""
        arguments = ["ssh", "-F", str(self.info.ssh_config), host, command]
        pipe = subprocess.PIPE
        with subprocess.Popen(arguments, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
            try:
                yield process
            finally:
                process.kill()

    def shim(
        self, *words: str, cwd: Path | None = None, stdin: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of ``emulator path`` on this machine."""
        path = f"{control.program_path(self.home, 't1')}:{os.environ['PATH']}"
        env = {"PATH": path, "HOME": str(self.home), **environment}
        return subprocess.run(list(words), input=stdin, capture_output=True, text=True, env=env, cwd=cwd, timeout=300)

    def restart(self) -> None:
        """Stop and start the rack."""
        control.stop(self.home, "t1")
        self.info, _ = control.start(self.home, "t1", options={})

    def close(self) -> None:
        for transport in self._transports:
            transport.close()
        self._transports.clear()


def until(condition: Callable[[], bool], timeout: float = 60.0) -> None:
    """Wait until ``condition()`` holds; fail when it does not in time."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.02)
