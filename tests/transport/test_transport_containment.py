"""What goes wrong with one connection, one listener or one process ends that alone: no other's number, socket or thread."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import paramiko
import pytest

from exacell.core.config import RackConfig
from exacell.core.errors import TransportError
from exacell.transport.base import Reply, Request, Role, State
from exacell.transport.fanout import FanOut, Flight
from exacell.transport.local import LocalRunner
from exacell.transport.local_process import LocalProcess
from exacell.transport.ssh import reader as reader_module, wire
from exacell.transport.ssh.connection import Connection
from exacell.transport.ssh.endpoint import Tunnel
from exacell.transport.ssh.opener import Opener
from exacell.transport.ssh.reader import Reader
from tests.support.faulty import FaultyServer
from tests.support.patience import until
from tests.support.requests import read
from tests.support.servers import MakeTransport


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[BaseException | None]:
    """The mistakes that threads told of."""
    found: list[BaseException | None] = []
    monkeypatch.setattr(threading, "excepthook", lambda said: found.append(said.exc_value))
    return found


@pytest.fixture
def reader() -> Iterator[Reader]:
    made = Reader()
    yield made
    made.stop()


@pytest.fixture
def two(faulty: FaultyServer, reader: Reader) -> Iterator[tuple[Connection, Connection]]:
    """Two connections that one reader reads."""
    opener = Opener(ssh_config=faulty.ssh_config(), reader=reader, default_timeout=5.0)
    connections = tuple(opener.open(target, "u", lambda late, seconds, abort: None) for target in "ab")
    done(reader)
    yield connections[0], connections[1]
    for connection in connections:
        connection.close()


def done(reader: Reader, work: Callable[[], object] = lambda: None, of: wire.Wire | None = None) -> None:
    """Have ``work`` done in the reader's thread, and return when it goes on behind that."""
    behind = threading.Event()
    reader.call(work, of=of)
    reader.call(behind.set)
    assert behind.wait(300)


def wire_of(connection: Connection) -> wire.Wire:
    assert connection.wire is not None
    return connection.wire


def mistake(*_: object) -> bool:
    raise ZeroDivisionError("a mistake")


@pytest.mark.parametrize("where", ["readable", "flush", "check_life"])
def test_a_mistake_in_one_connection(
    where: str,
    two: tuple[Connection, Connection],
    reader: Reader,
    told: list[BaseException | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It should end the connection whose handling went wrong, say with what, and go on reading all others."""
    broken, other = map(wire_of, two)
    monkeypatch.setattr(broken, where, mistake)
    if where == "check_life":
        done(reader, reader._keep_alive)
    else:
        reader.call(broken.ask_for_life, of=broken)
    assert until(lambda: not broken.active)
    assert [type(error) for error in told] == [ZeroDivisionError]
    assert not broken.active and broken.sock.fileno() < 0 and "a mistake" in two[0].last_words
    assert other.active and two[1].alive
    heard = other.last_heard
    done(reader, other.ask_for_life, other)
    assert until(lambda: other.last_heard > heard)


def test_a_mistake_in_taking_a_connection_over(
    two: tuple[Connection, Connection],
    faulty: FaultyServer,
    reader: Reader,
    told: list[BaseException | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It should end a connection that the reader cannot take over, and no other."""
    monkeypatch.setattr(wire.Wire, "take", mistake)
    opener = Opener(ssh_config=faulty.ssh_config(), reader=reader, default_timeout=5.0)
    # Whoever waits for the login learns of its end, or has the connection already.
    with contextlib.suppress(TransportError):
        opener.open("c", "u", lambda late, seconds, abort: None)
    assert until(lambda: bool(told))
    done(reader)
    assert [type(error) for error in told] == [ZeroDivisionError] and two[0].alive and two[1].alive


@pytest.mark.parametrize("timed", [False, True])
def test_a_mistake_in_a_call(
    timed: bool, two: tuple[Connection, Connection], reader: Reader, told: list[BaseException | None]
) -> None:
    """It should end the connection for which something was to be done that went wrong, and none for nobody's."""
    broken, other = map(wire_of, two)
    for of in (None, broken):
        assert broken.active
        if timed:
            done(reader, lambda of=of: reader.later(0.0, mistake, of=of))  # type: ignore[misc]
            done(reader)
        else:
            done(reader, mistake, of)
    assert [type(error) for error in told] == [ZeroDivisionError] * 2
    assert not broken.active and other.active


def test_every_stream_hears_of_the_end(
    two: tuple[Connection, Connection], reader: Reader, told: list[BaseException | None]
) -> None:
    """It should tell all who wait on a connection of its end, although the first one fails in hearing it."""

    class Waiting:
        def __init__(self, lost: Callable[[], object]) -> None:
            self.lost = lost

        def receive(self, kind: int, message: paramiko.Message) -> None: ...

    heard = threading.Event()
    broken = wire_of(two[0])
    done(reader, lambda: [broken.register(Waiting(hear)) for hear in (mistake, heard.set)])  # type: ignore[arg-type]
    two[0].close()
    assert heard.wait(300) and len(told) == 1
    done(reader)
    assert two[1].alive


def test_ending_all_in_spite_of_a_mistake(
    two: tuple[Connection, Connection],
    reader: Reader,
    told: list[BaseException | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It should close every other socket when it stops, and be usable again, although one connection's end went wrong."""
    first, second = map(wire_of, two)
    monkeypatch.setattr(first, "end", mistake)
    reader.stop()
    assert second.sock.fileno() < 0 and len(told) == 1
    done(reader)
    first.sock.close()


def test_a_message_that_cannot_be_read(
    faulty: FaultyServer, transport_to: MakeTransport, told: list[BaseException | None]
) -> None:
    """It should end the connection of a server that says what no text can be made of, as one that was lost."""
    transport = transport_to(faulty.ssh_config(), "u")
    assert len(transport.run([read("a", "echo x"), read("b", "echo x")]).ok) == 2
    replies = transport.run([read("a", "garble"), read("b", "echo y")]).replies
    assert replies["a"].state is State.FAILED and "connection was lost" in replies["a"].problem
    assert replies["b"].stdout == "y\n" and told == []


def test_a_tunnel_that_fails_ends_alone(
    two: tuple[Connection, Connection], faulty: FaultyServer, reader: Reader
) -> None:
    """It should end a connection through a gateway whose handling goes wrong, not the gateway's own."""
    gateway = wire_of(two[0])
    tunnel = Tunnel(gateway, "127.0.0.1", faulty.port)
    with tunnel.open(5.0) as sock:
        done(reader, lambda: tunnel.fail(ValueError("x")))
        sock.settimeout(5)
        while sock.recv(4096):
            continue
    assert gateway.active and two[1].alive


def test_a_listener_that_fails(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should raise in run() what went wrong where output is listened to, and keep the connection."""
    transport = transport_to(faulty.ssh_config(), "u")
    assert transport.run([read("a", "echo x")]).ok
    with pytest.raises(ZeroDivisionError):
        transport.run([read("a", "echo y", on_output=mistake)])
    assert transport.run([read("a", "echo z")]).ok and len(faulty.connections) == 1


def test_ctrl_c_while_the_reader_is_called(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should wake for the next call when Ctrl-C came while it was being woken for one before."""
    done(reader)

    def interrupted(descriptor: int, data: bytes) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(reader_module.os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            reader.call(lambda: None)
    done(reader)


def test_closing_does_not_hold_the_reader_up(two: tuple[Connection, Connection], reader: Reader) -> None:
    """It should go on reading while what carried a connection takes its time to end, and close twice as once."""
    release, ended = threading.Event(), threading.Event()

    def slow() -> None:
        release.wait(300)
        ended.set()

    two[0]._on_close = slow
    done(reader, two[0].close)
    assert not ended.is_set() and two[1].alive
    release.set()
    assert ended.wait(300)
    two[0].close()


def test_a_process_that_has_ended_is_not_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It should signal no process number that may be somebody else's by now, however late it is told to kill."""
    killed: list[int] = []
    child = LocalProcess(["/bin/sh", "-c", "exit 3"])
    assert child.run().status == 3
    monkeypatch.setattr(os, "killpg", lambda pid, number: killed.append(pid))
    child.kill()
    assert killed == []


def test_killed_in_the_moment_of_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """It should still have the number of a process that is killed when it has just ended."""
    child = LocalProcess(["/bin/sh", "-c", "exit 3"])
    numbers_kept: list[bool] = []
    waitid, killpg = os.waitid, os.killpg

    def ended(*how: int) -> object:
        found = waitid(*how)
        child.kill()
        return found

    def kill(pid: int, number: int) -> None:
        numbers_kept.append(Path(f"/proc/{pid}").exists())
        killpg(pid, number)

    monkeypatch.setattr(os, "waitid", ended)
    monkeypatch.setattr(os, "killpg", kill)
    assert child.run().status == 3
    assert numbers_kept == [True]


def test_a_listener_that_fails_ends_its_process() -> None:
    """It should end a program whose output cannot be taken, and raise why."""
    with pytest.raises(ZeroDivisionError):
        LocalProcess(["/bin/sh", "-c", "echo x; sleep 60"], on_output=mistake).run()


def test_a_command_of_this_host_that_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """It should signal no process number when a command of this host is broken off that has ended before."""
    killed: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda pid, number: killed.append(pid))
    runner = LocalRunner(RackConfig(name="x", cells=("c1",)), names=frozenset({"db01"}))
    monkeypatch.setattr("exacell.transport.local.login_for", lambda *_: _Own())
    flights: list[Flight] = []

    def work(flight: Flight) -> Reply:
        flights.append(flight)
        return runner.run(flight, 20)

    request = Request(target="db01", command="true", role=Role.ASM_READ)
    assert FanOut([request], work, limit=1).run().ok
    assert flights[0]._abort is not None
    flights[0]._abort()
    assert killed == []


class _Own:
    """The login of whoever runs the tests."""

    user = ""
    become = "nobody"

    def command(self, text: str) -> str:
        return text

    def __init__(self) -> None:
        from exacell.transport.local import _own_user

        self.user = _own_user()
