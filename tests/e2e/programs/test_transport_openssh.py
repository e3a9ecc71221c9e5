"""The system's ssh: its sockets, its kept connections, and what it says about hosts."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exacell.core.config import RackConfig, Settings
from exacell.core.errors import ConfigError
from exacell.emulator.basics.store import rack_files
from exacell.transport.base import State, Upload
from exacell.transport.openssh import OpensshTransport
from tests.support.requests import read, write

ECHO = "echo hello"


def folders(place: Path) -> list[Path]:
    return sorted(place.glob("exacell-ssh-*"))


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the sockets' folder is made; its own path is short enough for them."""
    with tempfile.TemporaryDirectory(prefix="s", dir="/tmp") as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        yield Path(short)


def test_sockets_are_private_and_gone_after_close(made: Any, place: Path) -> None:
    """The folder of the control sockets is readable by its owner only, and close leaves nothing."""
    transport = made(OpensshTransport)
    transport.run([read("exa1cel01", ECHO)])
    (folder,) = folders(place)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_ISSOCK(path.stat().st_mode) for path in folder.iterdir()] == [True]
    transport.close()
    assert folders(place) == []


def test_a_long_tmpdir(made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where TMPDIR is too long for a socket's path, connections are kept all the same, and close leaves nothing."""
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    transport = made(OpensshTransport)
    reply = transport.run([read("exa1cel01", ECHO)]).replies["exa1cel01"]
    assert (reply.state, reply.stdout) == (State.OK, "hello\n"), reply
    folder = transport._folder
    assert folder is not None and list(long.iterdir()) == []
    transport.close()
    assert not folder.exists()


def test_a_connection_is_kept(made: Any, place: Path) -> None:
    """A second command goes over the same connection, and one after close over a new one."""
    transport = made(OpensshTransport)
    assert transport.run([read("exa1cel01", ECHO)]).ok
    (folder,) = folders(place)
    before = [path.stat().st_ino for path in folder.iterdir()]
    assert transport.run([read("exa1cel01", ECHO)]).ok
    assert [path.stat().st_ino for path in folder.iterdir()] == before
    transport.close()
    assert transport.run([read("exa1cel01", ECHO)]).ok


@pytest.mark.parametrize("ask", [read, write])
def test_a_dead_kept_connection_is_replaced(made: Any, place: Path, ask: Any) -> None:
    """When the kept connection has ended meanwhile, the next command opens a new one: a write, too, as nothing was sent."""
    transport = made(OpensshTransport)
    assert transport.run([ask("exa1cel01", ECHO)]).ok
    (socket,) = folders(place)[0].iterdir()
    subprocess.run(["ssh", "-S", str(socket), "-O", "exit", "exa1cel01"], check=True, capture_output=True)
    reply = transport.run([ask("exa1cel01", ECHO)]).replies["exa1cel01"]
    assert (reply.state, reply.stdout) == (State.OK, "hello\n"), reply


def test_an_unknown_host_key_is_no_connection(made: Any, tmp_path: Path, rack: Any) -> None:
    """A host whose key is in no known_hosts is unreachable, in ssh's own words, whatever ssh_config allows."""
    text = rack.config.ssh_config.read_text().replace("StrictHostKeyChecking yes", "StrictHostKeyChecking no")
    config = tmp_path / "config"
    lines = [line for line in text.splitlines() if "UserKnownHostsFile" not in line]
    config.write_text("\n".join([f"UserKnownHostsFile {tmp_path}/none", *lines]) + "\n")
    reply = made(OpensshTransport, ssh_config=config).run([read("exa1cel01", ECHO)]).replies["exa1cel01"]
    assert reply.state is State.UNREACHABLE
    assert "Host key verification failed" in reply.problem or "host key is known" in reply.problem, reply


def test_a_silent_login_ends_at_its_deadline(made: Any, tmp_path: Path) -> None:
    """A host that accepts the connection and says nothing is unreachable after the connect timeouts, though commands may take
    hours."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        config = tmp_path / "config"
        config.write_text(f"Host silent\n  HostName 127.0.0.1\n  Port {server.getsockname()[1]}\n")
        transport = made(OpensshTransport, ssh_config=config, cells=("silent",), connect_timeout=1.0, timeout=36_000.0)
        reply = transport.run([read("silent", ECHO)]).replies["silent"]
    assert reply.state is State.UNREACHABLE


def test_standard_input_is_given(made: Any) -> None:
    """What a request gives as standard input reaches the command, to its end."""
    text = "line\n" * 30_000
    reply = made(OpensshTransport).run([read("exa1cel01", "wc -l", stdin=text)]).replies["exa1cel01"]
    assert reply.stdout.strip() == "30000"


def test_output_arrives_while_the_command_runs(made: Any, rack: Any) -> None:
    """on_output hears the first line while the command is still waiting for the second."""
    # The cell's own /tmp: an emulated cell has directories of its own.
    heard, pieces = rack_files(rack.home, "t1").tree("exa1cel01") / "tmp" / "heard", list[bytes]()

    def hear(piece: bytes) -> None:
        pieces.append(piece)
        heard.touch()

    command = "echo one; until test -e /tmp/heard; do sleep 0.05; done; echo two"
    reply = made(OpensshTransport).run([read("exa1cel01", command, on_output=hear)]).replies["exa1cel01"]
    assert (pieces, reply.stdout) == ([b"one\n", b"two\n"], "one\ntwo\n")


def test_files_are_copied(made: Any, tmp_path: Path) -> None:
    """An upload puts the file where it was told, with its mode when that is to be kept."""
    source = tmp_path / "script.sh"
    source.write_text("echo copied\n")
    source.chmod(0o750)
    upload = Upload(sources=(source,), destination="there.sh", keep=True)
    transport = made(OpensshTransport)
    assert transport.run([write("exa1cel01", "scp", upload=upload)]).ok
    reply = transport.run([read("exa1cel01", "~/there.sh; rm ~/there.sh", login="celladmin")]).replies["exa1cel01"]
    assert reply.stdout == "copied\n"


def test_without_the_program_there_is_no_transport(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where PATH has no ssh the transport can't be chosen, and the error says what is missing."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="needs the program ssh"):
        OpensshTransport(RackConfig(name="x", cells=("c1",)), Settings())
    assert os.environ["PATH"] == str(tmp_path)
