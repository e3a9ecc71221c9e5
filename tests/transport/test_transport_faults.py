"""SshTransport against a server that misbehaves, and against places where no server is."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from exacell.core.errors import ExitCode
from exacell.transport.base import State
from exacell.transport.ssh import SshTransport
from tests.support.faulty import FaultyServer
from tests.support.patience import LONG_S, patiently, until
from tests.support.requests import CELLS, read, write

MakeTransport = Callable[..., SshTransport]


def test_every_way_to_end(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should put each target in exactly one state, whatever became of the others."""
    commands = {
        "ok": ("echo fine", State.OK, 0),
        "status": ("exit 7", State.FAILED, 7),
        "signal": ("signal", State.FAILED, None),
        "drop": ("drop", State.FAILED, None),
        "vanish": ("vanish", State.FAILED, None),
        "hang": ("hang", State.TIMED_OUT, None),
    }

    def told(seconds: float) -> None:
        transport = transport_to(faulty.ssh_config(), "u", timeout=seconds)
        result = transport.run([read(name, command) for name, (command, _, _) in commands.items()])
        got = {name: (reply.state, reply.exit_status) for name, reply in result.replies.items()}
        assert got == {name: (state, status) for name, (_, state, status) in commands.items()}
        assert result.replies["drop"].stdout == "half an ans"
        assert "connection was lost" in result.replies["drop"].problem
        assert "signal" in result.replies["signal"].problem
        assert result.replies["hang"].stdout == "so far\n"
        assert result.exit_code is ExitCode.FAILED

    patiently(told, 0.5, 4, 15)


def test_read_is_sent_again_when_the_kept_link_is_dead(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should repeat a read once whose kept connection died before any byte came."""
    transport = transport_to(faulty.ssh_config(), "u")
    assert transport.run([read("a", "echo one")]).ok
    faulty.vanish_next = True
    reply = transport.run([read("a", "echo two")]).replies["a"]
    assert (reply.state, reply.stdout) == (State.OK, "two\n")
    assert faulty.commands == ["echo one", "echo two", "echo two"]


def test_write_is_never_sent_again(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should report a write whose connection died as unknown and not repeat it."""
    transport = transport_to(faulty.ssh_config(), "u")
    assert transport.run([write("a", "echo one")]).ok
    faulty.vanish_next = True
    reply = transport.run([write("a", "echo two")]).replies["a"]
    assert reply.state is State.FAILED
    assert "it may or may not have finished" in reply.problem
    assert faulty.commands == ["echo one", "echo two"]


def test_partial_answer_is_not_sent_again(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should not repeat a read of which a part has arrived."""
    transport = transport_to(faulty.ssh_config(), "u")
    assert transport.run([read("a", "echo one")]).ok
    reply = transport.run([read("a", "drop")]).replies["a"]
    assert (reply.state, reply.stdout) == (State.FAILED, "half an ans")
    assert faulty.commands == ["echo one", "drop"]


def test_dead_kept_link_is_replaced_even_for_writes(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should connect anew for a write when the kept connection had died before the write was sent."""
    transport = transport_to(faulty.ssh_config(), "u")
    assert transport.run([write("a", "echo one")]).ok
    faulty.kill_connections()
    reply = transport.run([write("a", "echo two")]).replies["a"]
    assert (reply.state, reply.stdout) == (State.OK, "two\n")
    assert faulty.commands == ["echo one", "echo two"]


def test_fan_out_is_bounded(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should never have more targets under way than the fan-out allows."""
    transport = transport_to(faulty.ssh_config(), "u", fanout=3)
    result = transport.run([read(f"cel{n:02d}", "meet 3") for n in range(12)])
    assert len(result.ok) == 12
    assert faulty.most == 3


def test_refused_login_falls_back_only_for_reads(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should try the write login for reads alone, and name both logins when both are refused."""
    faulty.refuse_users = {"cellmonitor"}
    transport = transport_to(faulty.ssh_config(), "celladmin", read_user="cellmonitor")
    assert transport.run([read("a", "echo x")]).ok
    assert transport.read_fallback == {"a"}
    faulty.refuse_users = {"cellmonitor", "celladmin"}
    reply = transport.run([read("b", "echo x")]).replies["b"]
    assert reply.state is State.UNREACHABLE
    assert "login cellmonitor@b was refused" in reply.problem and "celladmin is refused too" in reply.problem
    assert transport.run([write("b", "echo x")]).replies["b"].state is State.UNREACHABLE
    assert transport.read_fallback == {"a"}


def test_slow_login_is_a_deadline(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should give up on a login that hangs, naming that, while others answer."""
    transport = transport_to(faulty.ssh_config(), "u", connect_timeout=LONG_S)
    assert transport.run([read("a", "echo x")]).ok
    faulty.login_delay = LONG_S
    transport.settings = transport.settings.with_value("connect_timeout", "0.3")
    reply = transport.run([read("b", "echo x")]).replies["b"]
    assert reply.state is State.UNREACHABLE and "did not finish the login" in reply.problem


def test_frozen_host_on_a_kept_link(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should notice a kept connection that has fallen silent, try a new one, and give up in time."""
    transport = transport_to(faulty.ssh_config(), "u", connect_timeout=0.2)
    transport.settings = transport.settings.with_value("connect_timeout", f"{LONG_S:g}")
    assert transport.run([write("a", "echo one")]).ok
    transport.settings = transport.settings.with_value("connect_timeout", "0.2")
    with faulty.frozen():
        reply = transport.run([write("a", "echo two")]).replies["a"]
    assert (reply.state, reply.exit_status) == (State.UNREACHABLE, None)
    assert "did not finish the login within 0.4s" in reply.problem


def test_silent_server_is_a_deadline(tmp_path: Path, faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should give up on a host that accepts the connection and never speaks."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        config = tmp_path / "mute"
        config.write_text(f"Host *\nHostName 127.0.0.1\nPort {mute.getsockname()[1]}\n")
        reply = transport_to(config, "u", connect_timeout=0.2).run([read("a", "echo x")]).replies["a"]
    assert reply.state is State.UNREACHABLE
    assert "did not finish the login within 0.4s" in reply.problem


def test_not_an_ssh_server(tmp_path: Path, transport_to: MakeTransport) -> None:
    """It should say so when what answers speaks no SSH."""
    with socket.create_server(("127.0.0.1", 0)) as web:

        def answer() -> None:
            peer, _ = web.accept()
            peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 200)
            peer.close()

        thread = threading.Thread(target=answer)
        thread.start()
        config = tmp_path / "web"
        config.write_text(f"Host *\nHostName 127.0.0.1\nPort {web.getsockname()[1]}\n")
        reply = transport_to(config, "u", connect_timeout=LONG_S).run([read("a", "echo x")]).replies["a"]
        thread.join()
    assert reply.state is State.UNREACHABLE and "closed the connection" in reply.problem


def test_unresolvable_and_refused(tmp_path: Path, transport_to: MakeTransport, refusing_port: int) -> None:
    """It should name the host that has no address, and the port where nobody listens; nothing was executed."""
    config = tmp_path / "c"
    config.write_text(f"Host a\nHostName no-such-host.invalid\nHost b\nHostName 127.0.0.1\nPort {refusing_port}\n")
    result = transport_to(config, "u").run([read("a", "true"), read("b", "true")])
    assert result.exit_code is ExitCode.NOT_EXECUTED
    assert "no-such-host.invalid cannot be resolved" in result.replies["a"].problem
    assert f"127.0.0.1 port {refusing_port} refused the connection" in result.replies["b"].problem


def test_interrupt_leaves_no_channel(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should raise KeyboardInterrupt at once and close the channels of what was in flight."""
    transport = transport_to(faulty.ssh_config(), "u", timeout=LONG_S)

    def interrupt(reply: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        transport.run([read("a", "hang"), read("b", "echo quick")], on_reply=interrupt)
    assert until(lambda: not faulty.running)
    assert transport.run([read("a", "echo again")]).ok


def test_close_ends_what_is_in_flight(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should end a run of another thread as failed when the transport is closed."""
    transport = transport_to(faulty.ssh_config(), "u", timeout=LONG_S)
    results = []
    thread = threading.Thread(target=lambda: results.append(transport.run([write("a", "hang")])))
    thread.start()
    assert until(lambda: faulty.running > 0)
    transport.close()
    thread.join(300)
    assert results and results[0].replies["a"].state is State.FAILED


def test_gateway_is_shared(tmp_path: Path, faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should reach every cell behind a ProxyJump over one connection to the gateway."""
    config = faulty.ssh_config("Host cel*", "ProxyJump jumper@gate", "Host gate", "User nobody")
    result = transport_to(config, "u").run([read(f"cel{n}", f"echo {n}") for n in range(4)])
    assert [reply.stdout for reply in result.replies.values()] == ["0\n", "1\n", "2\n", "3\n"], result.replies
    assert faulty.logins.count("jumper") == 1
    assert faulty.tunnels == [("127.0.0.1", faulty.port)] * 4


def test_gateways_are_passed_in_order(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should pass a ProxyJump list first to last, as OpenSSH does."""
    config = faulty.ssh_config("Host cel*", "ProxyJump one@g1,two@g2")
    assert transport_to(config, "u").run([read("cel1", "echo x")]).ok
    assert [login for login in faulty.logins if login in ("one", "two", "u")] == ["one", "two", "u"]


def test_gateway_problem_names_the_gateway(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should say that it is the gateway that refuses, and not try another login for that."""
    faulty.refuse_users = {"jumper"}
    config = faulty.ssh_config("Host cel*", "ProxyJump jumper@gate")
    reply = transport_to(config, "celladmin", read_user="cellmonitor").run([read("cel1", "echo x")]).replies["cel1"]
    assert reply.problem.startswith("gateway jumper@gate: login jumper@gate was refused"), reply.problem
    assert faulty.logins.count("jumper") == 1


def test_proxy_command(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should talk through a ProxyCommand and tell of one that fails in its own words, with its status."""
    relay = (
        "import socket,sys,threading\n"
        "s=socket.create_connection((sys.argv[1],int(sys.argv[2])))\n"
        "def up():\n"
        "    import os\n"
        "    while True:\n"
        "        d=os.read(0,65536)\n"
        "        if not d: s.shutdown(1); return\n"
        "        s.sendall(d)\n"
        "threading.Thread(target=up,daemon=True).start()\n"
        "import os\n"
        "while True:\n"
        "    d=s.recv(65536)\n"
        "    if not d: break\n"
        "    os.write(1,d)\n"
    )
    script = faulty.directory / "relay.py"
    script.write_text(relay)
    failing = [
        line
        for host, command in (
            ("bad", "false"),
            ("wordy", "sh -c 'echo one %h >&2; echo; echo two words >&2; exit 3'"),
            ("quiet", "true"),
            ("killed", "sh -c 'kill -9 $$'"),
            ("none", "no-such-program %p"),
        )
        for line in (f"Host {host}", f"HostName {host}.example.com", f"ProxyCommand {command}")
    ]
    config = faulty.ssh_config("Host good", f"ProxyCommand python3 {script} %h %p", *failing)
    hosts = ("good", "bad", "wordy", "quiet", "killed", "none")
    result = transport_to(config, "u", connect_timeout=LONG_S).run([read(host, "echo x") for host in hosts])
    assert result.replies["good"].stdout == "x\n", result.replies["good"]
    assert all(result.replies[host].state is State.UNREACHABLE for host in hosts[1:])
    problems = {host: result.replies[host].problem for host in hosts}
    assert problems["bad"] == "ProxyCommand 'false' ended with status 1"
    assert problems["wordy"].endswith("exit 3'' ended with status 3: one wordy.example.com; two words")
    assert "closed the connection" in problems["quiet"] and "through ProxyCommand 'true'" in problems["quiet"]
    assert problems["killed"] == "ProxyCommand 'sh -c 'kill -9 $$'' ended with signal 9"
    assert "ended with status 127: " in problems["none"] and "no-such-program" in problems["none"]


def test_wrong_ssh_config(tmp_path: Path, transport_to: MakeTransport) -> None:
    """It should report an ssh_config that is missing or cannot be parsed, for each target."""
    bad = tmp_path / "bad"
    bad.write_text('Host "a\n  Port 5\n')
    for path, part in ((tmp_path / "none", "can't be read"), (bad, "bad:1")):
        result = transport_to(path, "u").run([read(cell, "true") for cell in CELLS])
        assert len(result.in_state(State.UNREACHABLE)) == 3
        assert part in result.replies[CELLS[0]].problem
