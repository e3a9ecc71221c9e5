"""Fixtures: an sshd with keys of its own, a faulty server, an agent, and transports to them that end with the test."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exacell.core.config import RackConfig, Settings
from exacell.transport.ssh import SshTransport
from tests.support import sshd as sshd_support
from tests.support.faulty import FaultyServer
from tests.support.requests import CELLS
from tests.support.sshd import Sshd

__all__ = ["agent", "faulty", "refusing_port", "sshd", "sshd_process", "transport_to"]


@pytest.fixture(scope="session")
def sshd_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    if sshd_support.PROGRAM is None:
        pytest.skip("no sshd program is installed (openssh-server)")
    server = Sshd(tmp_path_factory.mktemp("sshd"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def sshd(sshd_process: Sshd) -> Sshd:
    """The session's sshd, with known_hosts and ssh_config as they should be."""
    sshd_process.known_hosts()
    sshd_process.ssh_config()
    return sshd_process


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[FaultyServer]:
    server = FaultyServer(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def refusing_port() -> Iterator[int]:
    """A port of loopback that refuses connections: it is taken, so that nobody else listens there meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """An empty ssh-agent of the test's own; returns what adds a key to it, with the certificate beside the key."""
    socket = tmp_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))

    def add(key: Path) -> None:
        while not socket.exists():
            assert process.poll() is None
        subprocess.run(["ssh-add", "-q", key], check=True)

    yield add
    process.terminate()
    process.wait()


MakeTransport = Callable[..., SshTransport]


@pytest.fixture
def transport_to() -> Iterator[MakeTransport]:
    """Make transports to the server in an ssh_config; closed after the test."""
    made: list[SshTransport] = []

    def make(ssh_config: Path, user: str, **changes: object) -> SshTransport:
        settings = {
            key: changes.pop(key) for key in ("timeout", "connect_timeout", "fanout", "max_answer") if key in changes
        }
        read_only = bool(changes.pop("read_only", False))
        rack = {"name": "t", "cells": CELLS, "read_user": user, "write_user": user, "ssh_config": ssh_config, **changes}
        made.append(SshTransport(RackConfig(**rack), Settings(**settings), read_only=read_only))
        return made[-1]

    yield make
    for transport in made:
        transport.close()
