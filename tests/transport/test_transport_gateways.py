"""Cells behind gateways: read by the one reader like all others, whatever becomes of a gateway or a cell behind it."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path

import asyncssh
import paramiko
import pytest

from exacell.transport.base import State
from exacell.transport.ssh import SshTransport, opener
from exacell.transport.ssh.wire import Wire
from tests.support.faulty import FaultyServer
from tests.support.patience import until
from tests.support.requests import CELLS, read
from tests.support.sshd import Sshd

MakeTransport = Callable[..., SshTransport]


def through(config: Path, *lines: str) -> Path:
    """Return the ssh_config with all hosts but the gateways behind them."""
    path = config.with_name("through")
    path.write_text("".join(f"{line}\n" for line in lines) + config.read_text())
    return path


def wires(transport: SshTransport) -> list[paramiko.Transport]:
    connections = [
        slot.connection for slot in transport._sending().connections._slots.values() if slot.connection is not None
    ]
    assert transport._sending().connections._opener is not None
    connections += [
        connection for _, shared in transport._sending().connections._opener._gateways.values() for connection in shared
    ]
    return [connection._transport for connection in connections]


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.sshd
@pytest.mark.parametrize("jump", ["gate", "gate,second"])
def test_cells_behind_gateways_need_no_thread(sshd: Sshd, transport_to: MakeTransport, jump: str) -> None:
    """Connections through one gateway or two leave no thread behind, neither theirs nor the gateways'."""
    config = through(sshd.ssh_config(), "Host exa*", f"ProxyJump {jump}")
    transport = transport_to(config, sshd.user)
    earlier = set(threading.enumerate())
    result = transport.run([read(cell, f"echo {cell}") for cell in CELLS])
    assert [reply.stdout for reply in result.ok] == [f"{cell}\n" for cell in CELLS], result.problems
    assert all(isinstance(wire, Wire) and wire.attached for wire in wires(transport))
    assert len(wires(transport)) == len(CELLS) + len(jump.split(","))
    assert not any(isinstance(thread, paramiko.Transport) for thread in set(threading.enumerate()) - earlier)


@pytest.mark.sshd
def test_large_answers_and_input_pass_whole(sshd: Sshd, transport_to: MakeTransport) -> None:
    """Megabytes pass a gateway whole in both directions at a time, also while keys are exchanged."""
    transport = transport_to(through(sshd.ssh_config(), "Host exa*", "ProxyJump gate"), sshd.user)
    assert transport.run([read(cell, "true") for cell in CELLS]).ok
    for wire in wires(transport):
        wire.packetizer.REKEY_BYTES = 1_000_000
    sent = "0123456789abcdef" * (3 << 16)
    requests = [read(CELLS[0], "cat", stdin=sent), read(CELLS[1], "head -c 9000000 /dev/zero | tr '\\0' o")]
    echoed, zeros = transport.run(requests).replies.values()
    assert (echoed.stdout == sent, zeros.stdout == "o" * 9_000_000) == (True, True), (echoed.problem, zeros.problem)


def test_a_gateway_that_is_lost_is_connected_to_again(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """When a gateway's connection ends, those through it end too, and the next read opens all of them anew."""
    config = faulty.ssh_config("Host cel*", "ProxyJump jumper@gate")
    transport = transport_to(config, "u")
    requests = [read(f"cel{n}", "echo x") for n in range(3)]
    assert len(transport.run(requests).ok) == 3
    first = wires(transport)
    faulty.kill_connections()
    assert len(transport.run(requests).ok) == 3
    assert not any(wire.is_active() for wire in first)
    assert faulty.logins.count("jumper") == 2


def test_a_cell_that_is_down_costs_the_others_nothing(
    faulty: FaultyServer, transport_to: MakeTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that the gateway does not reach in time is told of, and connections to the others through it go on."""
    never = threading.Event()

    def reaches(self: object, host: str, port: int, *origin: object) -> object:
        faulty.tunnels.append((host, port))
        return True if port == faulty.port else _never()

    async def _never() -> None:
        while not never.is_set():
            await asyncio.sleep(0.02)
        raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, "No route to host")

    monkeypatch.setattr("tests.support.faulty._Connection.connection_requested", reaches)
    config = faulty.ssh_config("Host cel*", "ProxyJump jumper@gate", "Host cel9", "Port 1", "ConnectTimeout 1")
    transport = transport_to(config, "u")
    assert transport.run([read("cel1", "echo x")]).ok
    reply = transport.run([read("cel9", "echo x")]).replies["cel9"]
    assert reply.state is State.UNREACHABLE
    assert reply.problem == (
        "gateway jumper@gate: no answer from 127.0.0.1 port 1 within 1s: the host is down, or a firewall drops packets"
    )
    never.set()
    assert transport.run([read("cel1", "echo y")]).replies["cel1"].stdout == "y\n"
    assert (faulty.logins.count("jumper"), len(faulty.connections)) == (1, 2)


def test_a_refused_tunnel_is_told(faulty: FaultyServer, transport_to: MakeTransport, refusing_port: int) -> None:
    """A host where nobody listens is unreachable, and its gateway says so at once."""
    config = faulty.ssh_config("Host cel*", "ProxyJump jumper@gate", "Host cel9", f"Port {refusing_port}")
    transport = transport_to(config, "u")
    reply = transport.run([read("cel9", "echo x")]).replies["cel9"]
    assert reply.state is State.UNREACHABLE
    assert reply.problem.startswith(
        f"gateway jumper@gate: the SSH server refused a tunnel to 127.0.0.1 port {refusing_port}: "
    )


def test_a_frozen_gateway_is_given_up(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """A kept gateway that says nothing is closed, so that the next read connects to it anew."""
    config = faulty.ssh_config("Host cel*", "ProxyJump jumper@gate")
    transport = transport_to(config, "u", connect_timeout=10)
    assert transport.run([read("cel1", "echo x")]).ok
    (gateway,) = [wire for wire in wires(transport) if wire.get_username() == "jumper"]
    transport.rack = type(transport.rack)(**{**vars(transport.rack), "connect_timeout": 0.2})
    assert transport._sending().connections._opener is not None
    transport._sending().connections._opener._timeout = 0.2
    with faulty.frozen():
        reply = transport.run([read("cel2", "echo x")]).replies["cel2"]
        assert reply.state is State.UNREACHABLE and "no answer from 127.0.0.1" in reply.problem, reply.problem
        assert until(lambda: not gateway.is_active())


def test_nothing_is_left_behind(faulty: FaultyServer, transport_to: MakeTransport, refusing_port: int) -> None:
    """Deadlines, refused tunnels and closed transports leave no descriptor open."""
    config = faulty.ssh_config("Host cel*", "ProxyJump jumper@gate", "Host cel9", f"Port {refusing_port}")
    transport = transport_to(config, "u")
    targets = [f"cel{n}" for n in (1, 2, 3, 9)]

    def use() -> None:
        result = transport.run([read(t, "hang", timeout=0.1) if t == "cel2" else read(t, "echo x") for t in targets])
        assert [reply.state for reply in result.replies.values()] == [
            State.OK,
            State.TIMED_OUT,
            State.OK,
            State.UNREACHABLE,
        ]

    use()
    open_now = descriptors()
    for _ in range(5):
        use()
    assert until(lambda: descriptors() <= open_now)
    transport.close()
    use()
    transport.close()
    # Three connections with a pair of sockets each, the gateway's, the reader's bell.
    assert until(lambda: descriptors() <= open_now - 9)


def test_a_gateway_with_a_thread_of_its_own(
    faulty: FaultyServer, transport_to: MakeTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where paramiko has other private names, gateways work with threads and plain channels."""
    monkeypatch.setattr(opener, "supported", lambda: False)
    config = faulty.ssh_config("Host cel*", "ProxyJump jumper@gate")
    transport = transport_to(config, "u")
    result = transport.run([read(f"cel{n}", f"echo {n}") for n in range(3)])
    assert [reply.stdout for reply in result.ok] == ["0\n", "1\n", "2\n"], result.problems
