"""The ports of an emulated rack's hosts."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from exacell.emulator.basics.store import RackFiles
from exacell.emulator.hosts import identity

HOSTS = [f"cel{number:02}" for number in range(40)]


def test_fresh_ports_are_none_that_the_system_lends(tmp_path: Path) -> None:
    """A new rack's hosts get ports that no other program's connection is given, and each gets its own again."""
    files = RackFiles(tmp_path)
    first = identity.bind_all(files, HOSTS)
    ports = {host: bound.getsockname()[1] for host, bound in first.items()}
    assert len(set(ports.values())) == len(HOSTS) and max(ports.values()) < identity._first_lent_port()
    for bound in first.values():
        bound.close()
    second = identity.bind_all(files, HOSTS)
    assert {host: bound.getsockname()[1] for host, bound in second.items()} == ports
    for bound in second.values():
        bound.close()


def test_a_fresh_port_is_bound_by_one_alone() -> None:
    """A port that one rack has bound and does not listen on yet is not given to another one that starts meanwhile."""
    bound = identity._bind(None)
    with bound, socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError, match="in use"):
            other.bind(bound.getsockname())


def test_a_taken_port_is_replaced(tmp_path: Path) -> None:
    """A host whose last port somebody else has by now gets another one."""
    files = RackFiles(tmp_path)
    with identity.bind_all(files, ["cel01"])["cel01"] as taken:
        taken.listen()
        with identity.bind_all(files, ["cel01"])["cel01"] as other:
            assert other.getsockname() != taken.getsockname()


@pytest.mark.parametrize("text", [None, "", "not numbers"])
def test_where_the_system_does_not_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None) -> None:
    """Where the range of lent ports can't be read, it is taken to be the usual one."""
    path = tmp_path / "range"
    if text is not None:
        path.write_text(text)
    monkeypatch.setattr(identity, "_LENT_PORTS", path)
    assert identity._first_lent_port() == 32768


def test_without_a_port_to_draw_the_system_chooses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system lends nearly all ports, one of those is taken."""
    path = tmp_path / "range"
    path.write_text("1024\t65535\n")
    monkeypatch.setattr(identity, "_LENT_PORTS", path)
    with identity._bind(None) as bound:
        assert bound.getsockname()[1] > 0
