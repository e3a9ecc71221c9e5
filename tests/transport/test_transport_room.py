"""How many connections this process may open, and what is told when they are too many."""

from __future__ import annotations

import errno
import resource
import socket
from collections.abc import Callable

import pytest

from exacell.core.errors import ExitCode, TransportError
from exacell.output.faults import ended_by
from exacell.transport.base import State
from exacell.transport.ssh import SshTransport, opener, room
from tests.support.faulty import FaultyServer
from tests.support.requests import read

MakeTransport = Callable[..., SshTransport]
ANY = resource.RLIM_INFINITY


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], list[tuple[int, int]]]:
    """Pretend limits, with ten descriptors open; returns what they are set to."""

    def pretend(soft: int, hard: int) -> list[tuple[int, int]]:
        made: list[tuple[int, int]] = []
        monkeypatch.setattr(room, "_open_now", lambda: 10)
        monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
        monkeypatch.setattr(resource, "setrlimit", lambda _, pair: made.append(pair))
        return made

    return pretend


LIMITS = [
    ((1024, 4096), 64, []),
    ((90, 90), 64, []),
    ((89, 4096), 64, [(1024, 4096)]),
    ((89, 90), 64, [(90, 90)]),
    ((64, ANY), 64, [(1024, ANY)]),
    ((1024, 1 << 20), 3000, [(3026, 1 << 20)]),
    ((ANY, ANY), 3000, []),
    ((4, 4), 0, []),
]


@pytest.mark.parametrize(("limit", "connections", "made"), LIMITS)
def test_room_is_made(
    limits: Callable[..., list[tuple[int, int]]], limit: tuple[int, int], connections: int, made: list[tuple[int, int]]
) -> None:
    """The limit stays where it is high enough, and is raised as far as needed and allowed where not."""
    noted = limits(*limit)
    room.make_room(connections)
    assert noted == made


def test_no_room(
    limits: Callable[..., list[tuple[int, int]]], faulty: FaultyServer, transport_to: MakeTransport
) -> None:
    """Where more connections are asked for than files may be open, nothing is sent, and the way out is named."""
    transport = transport_to(faulty.ssh_config(), "u")
    assert limits(64, 64) == []
    with pytest.raises(TransportError) as caught:
        transport.run([read(f"cel{n}", "echo x") for n in range(64)])
    said = (
        "too many open files: type `ulimit -n 1024` in the shell, then start exacell again (64 connections "
        "need about 90, 64 are allowed here)"
    )
    assert (caught.value.message, caught.value.exit_code) == (said, ExitCode.NOT_EXECUTED)
    assert faulty.connections == []
    assert len(transport.run([read(f"cel{n}", "echo x") for n in range(38)]).ok) == 38
    assert transport.run([read(f"cel{n}", "echo x") for n in range(38)]).ok, "open connections need no room"


def test_a_connection_that_finds_none_left(
    faulty: FaultyServer, transport_to: MakeTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection for which no descriptor is left is that target's failure, with the way out."""

    def full(*_: object) -> socket.socket:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(opener, "EagerSocket", full)
    reply = transport_to(faulty.ssh_config(), "u").run([read("cel1", "echo x")]).replies["cel1"]
    assert (reply.state, reply.problem) == (
        State.UNREACHABLE,
        "too many open files: type `ulimit -n 1024` in the shell, then start exacell again",
    )


@pytest.mark.parametrize(
    ("number", "told"),
    [(errno.EMFILE, "ulimit -n 1024` in the shell, then start exacell again"), (errno.ENFILE, "fs.file-max")],
)
def test_descriptors_that_run_out_elsewhere(capsys: pytest.CaptureFixture[str], number: int, told: str) -> None:
    """Descriptors that run out anywhere are no mistake of exacell: one line, exit code 2, no traceback."""
    assert ended_by(OSError(number, "Too many open files")) == 2
    said = capsys.readouterr().err
    assert said.startswith("exacell: too many open files") and told in said and said.count("\n") == 1
