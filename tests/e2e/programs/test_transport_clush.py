"""ClusterShell's tree: cells that only gateways reach, gateways that are lost, deadlines at the leaves."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exacell.core.config import RackConfig, Reach, Settings
from exacell.core.errors import ConfigError
from exacell.transport.base import State
from exacell.transport.clush import ClushTransport
from tests.support.gateways import PYTHON_VARIABLE, gateways
from tests.support.patience import patiently
from tests.support.requests import CELLS, read, write
from tests.support.sshd import PROGRAM

GATEWAYS = ("gw1", "gw2", "gw3")
LIST = "cellcli -e 'list flashcache attributes name, size'"

needs_sshd = pytest.mark.skipif(PROGRAM is None, reason="no sshd program is installed (openssh-server)")


@pytest.fixture(scope="module")
def tree(rack_process: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Three gateways that alone reach the rack's cells: the ssh_config and the servers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PYTHON_VARIABLE, sys.executable)
        text = rack_process.config.ssh_config.read_text()
        with gateways(tmp_path_factory.mktemp("tree"), GATEWAYS, text) as found:
            yield found


@needs_sshd
def test_gateways_reach_what_this_host_does_not(made: Any, tree: Any) -> None:
    """Cells that refuse this host's ssh answer through the gateways."""
    config, servers = tree
    alone = made(ClushTransport, ssh_config=config).run([read(cell, LIST) for cell in CELLS])
    assert {reply.state for reply in alone.replies.values()} == {State.UNREACHABLE}
    result = made(ClushTransport, ssh_config=config, gateways=GATEWAYS).run([read(cell, LIST) for cell in CELLS])
    assert [reply.stdout.split() for reply in result.ok] == [[f"{cell}_FLASHCACHE", "364.75G"] for cell in CELLS]
    assert all("Accepted publickey" in server.log() for server in servers.values())
    assert all(list(server.directory.glob("*.gw.log")) for server in servers.values())


@needs_sshd
def test_a_cell_that_hangs_behind_a_gateway_is_timed_out(made: Any, rack: Any, tree: Any) -> None:
    """The deadline holds at the leaf: the silent cell is timed out and the others have answered."""
    rack.fault("exa1cel03", "hang")

    def in_time(seconds: float) -> None:
        transport = made(ClushTransport, ssh_config=tree[0], gateways=GATEWAYS, timeout=seconds)
        result = transport.run([read(cell, LIST) for cell in CELLS])
        assert [reply.state for reply in result.replies.values()] == [State.OK, State.OK, State.TIMED_OUT]

    patiently(in_time, 1.5, 8, 25)


@needs_sshd
def test_a_cell_that_a_gateway_does_not_reach_is_unreachable(made: Any, rack: Any, tree: Any) -> None:
    """A cell that refuses the gateway's connection is unreachable, in ssh's words."""
    rack.fault("exa1cel01", "refuse")
    result = made(ClushTransport, ssh_config=tree[0], gateways=GATEWAYS).run([read(cell, LIST) for cell in CELLS])
    assert [reply.state for reply in result.replies.values()] == [State.UNREACHABLE, State.OK, State.OK]
    assert result.replies["exa1cel01"].problem


@needs_sshd
def test_another_gateway_takes_over_for_a_missing_one(made: Any, tree: Any, tmp_path: Path) -> None:
    """When a gateway can't be reached, the cells behind it answer through the one that can."""
    config = tmp_path / "config"
    config.write_text("Host gone\n  HostName 127.0.0.1\n  Port 1\n" + tree[0].read_text())
    transport = made(ClushTransport, ssh_config=config, gateways=("gone", "gw2"))
    result = transport.run([read(cell, LIST) for cell in CELLS])
    assert [reply.state for reply in result.replies.values()] == [State.OK] * 3, result.problems


@needs_sshd
def test_a_silent_gateway_is_given_up(made: Any, tree: Any, tmp_path: Path) -> None:
    """A gateway that accepts the connection and says nothing costs its connect timeout; the other one takes over."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        config = tmp_path / "config"
        port = server.getsockname()[1]
        config.write_text(f"Host silent\n  HostName 127.0.0.1\n  Port {port}\n" + tree[0].read_text())

        def taken_over(seconds: float) -> None:
            transport = made(ClushTransport, ssh_config=config, gateways=("silent", "gw2"), connect_timeout=seconds)
            result = transport.run([read(cell, LIST) for cell in CELLS])
            assert [reply.state for reply in result.replies.values()] == [State.OK] * 3, result.problems

        patiently(taken_over, 1, 5, 20)


@needs_sshd
def test_without_any_gateway_every_cell_is_accounted_for(made: Any, tree: Any, tmp_path: Path) -> None:
    """When no gateway can be reached, each cell is unreachable with a reason, and soon."""
    config = tmp_path / "config"
    config.write_text("Host gone1 gone2\n  HostName 127.0.0.1\n  Port 1\n" + tree[0].read_text())
    transport = made(ClushTransport, ssh_config=config, gateways=("gone1", "gone2"), connect_timeout=2.0, timeout=3.0)
    result = transport.run([read(cell, LIST) for cell in CELLS])
    assert [(reply.state, bool(reply.problem)) for reply in result.replies.values()] == [(State.UNREACHABLE, True)] * 3


SSH_SAYS = (
    ("ssh: connect to host c1 port 22: Connection refused", State.UNREACHABLE),
    ("ssh: Could not resolve hostname c1: Name or service not known", State.UNREACHABLE),
    ("celladmin@c1: Permission denied (publickey).", State.UNREACHABLE),
    ("Host key verification failed.", State.UNREACHABLE),
    ("Permission denied (publickey,gssapi-with-mic).", State.UNREACHABLE),
    ("Connection to c1 closed by remote host.", State.FAILED),
    ("client_loop: send disconnect: Broken pipe", State.FAILED),
    ("Timeout, server c1 not responding.", State.FAILED),
    ("Permission denied (publickey) says the command", State.FAILED),
    ("", State.FAILED),
)


@pytest.mark.parametrize(("said", "state"), SSH_SAYS)
def test_a_change_is_unreachable_only_before_the_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, state: State
) -> None:
    """A change whose ssh failed has not been carried out where ssh says so, and may have been everywhere else."""
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\necho {shlex.quote(said)} >&2\nexit 255\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    transport = ClushTransport(RackConfig(name="x", cells=("c1",)), Settings())
    read_reply = transport.run([read("c1", "cellcli -e 'list cell'")]).replies["c1"]
    reply = transport.run([write("c1", "cellcli -e 'alter cell x=y'")]).replies["c1"]
    assert (read_reply.state, reply.state) == (State.UNREACHABLE, state)
    assert ("it may or may not have finished" in reply.problem) is (state is State.FAILED)


def test_input_is_given(made: Any) -> None:
    """What a request gives as standard input reaches the command on each cell."""
    result = made(ClushTransport).run([read(cell, "wc -c", stdin=f"text of {cell}") for cell in CELLS])
    assert [reply.stdout.strip() for reply in result.ok] == ["17"] * 3


def test_a_topology_file_is_read(tmp_path: Path) -> None:
    """A topology file in ClusterShell's format names the gateways; one that is not there is an error that names it."""
    import socket

    root = socket.gethostname().split(".")[0]
    file = tmp_path / "topology.conf"
    file.write_text(f"[routes]\n{root}: gw[1-2]\ngw[1-2]: c[1-9]\n")
    cells = tuple(f"c{number}" for number in range(1, 10))
    rack = RackConfig(name="x", cells=cells, reach=Reach(topology=str(file)))
    assert ClushTransport(rack, Settings())._gateways == ("gw1", "gw2")
    file.unlink()
    with pytest.raises(ConfigError, match=r"topology\.conf does not exist"):
        ClushTransport(rack, Settings())
