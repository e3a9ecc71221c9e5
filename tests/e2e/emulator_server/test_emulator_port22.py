"""Hosts with addresses of their own, for ssh clients that insist on port 22."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from exacell.core.errors import EmulatorError
from exacell.emulator import control
from exacell.emulator.basics.store import RackFiles, rack_files
from exacell.emulator.hosts import identity

HOSTS = ("exa1cel01", "exa1cel02", "exa1db01")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RackFiles:
    """Return a rack's files; in place of port 22 stands one that everybody may have and nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as any_server:
        monkeypatch.setattr(identity, "SSH_PORT", any_server.getsockname()[1])
    found = rack_files(tmp_path, "t1")
    found.root.mkdir(parents=True)
    return found


def close(sockets: dict[str, socket.socket]) -> dict[str, tuple[str, int]]:
    """Close sockets and return where they were."""
    places = {host: bound.getsockname() for host, bound in sockets.items()}
    for bound in sockets.values():
        bound.close()
    return places


def test_each_host_has_an_address_of_its_own(files: RackFiles) -> None:
    """All have that port, each on its own loopback address, the same after a stop and a start."""
    first = close(identity.bind_port_22(files, HOSTS))
    assert {port for _, port in first.values()} == {identity.SSH_PORT}
    assert len({address for address, _ in first.values()}) == 3
    assert all(address.startswith("127.0.") and int(address.split(".")[2]) >= 16 for address, _ in first.values())
    assert files.addresses.read_text().splitlines() == [f"{first[host][0]}\t{host}" for host in HOSTS]
    assert close(identity.bind_port_22(files, HOSTS)) == first


def test_another_rack_of_the_name_gets_other_addresses(files: RackFiles, tmp_path: Path) -> None:
    """What somebody has is left to him, unless the rack had it before: then the start is refused with the way out."""
    taken = identity.bind_port_22(files, HOSTS)
    other = RackFiles(tmp_path / "elsewhere" / "t1")
    other.root.mkdir(parents=True)
    others = close(identity.bind_port_22(other, HOSTS))
    assert not {host.getsockname()[0] for host in taken.values()} & {address for address, _ in others.values()}
    with pytest.raises(EmulatorError, match="somebody has port") as refused:
        identity.bind_port_22(files, HOSTS)
    assert "ListenAddress" in refused.value.hint
    close(taken)


def test_a_port_that_is_taken_on_all_addresses_is_said_to_be(files: RackFiles) -> None:
    """Beside an sshd that listens everywhere there is no port for anybody."""
    with socket.create_server(("0.0.0.0", identity.SSH_PORT)), pytest.raises(EmulatorError, match="somebody has port"):
        identity.bind_port_22(files, HOSTS)
    assert not files.addresses.exists()


def test_a_user_who_may_not_have_the_port_is_told_how(files: RackFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only root may have it, one line says so and what allows it."""

    class Forbidden(socket.socket):
        def bind(self, address: object) -> None:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(identity.socket, "socket", Forbidden)
    with pytest.raises(
        EmulatorError, match=r"port22=yes: no port \d+ for host exa1cel01: Permission denied"
    ) as refused:
        identity.bind_port_22(files, HOSTS)
    assert "ip_unprivileged_port_start" in refused.value.hint


def test_the_largest_rack_fits(files: RackFiles) -> None:
    """Every rack of every name has addresses for as many hosts as a rack can have."""
    hosts = [f"host{number}" for number in range(576)]
    for block in range(identity._BLOCKS):
        addresses = set(identity._block(block, hosts).values())
        assert len(addresses) == 576
        for address in addresses:
            socket.inet_aton(address)
            assert max(map(int, address.split("."))) <= 255


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A rack on port 22, where this user may have it."""
    path = tmp_path_factory.mktemp("port22")
    try:
        control.start(path, "p22", options={"cells": 2, "dbnodes": 1}, port22=True)
    except EmulatorError as error:
        pytest.skip(error.message)
    yield path
    control.stop(path, "p22")


def test_a_client_without_any_configuration_logs_in(home: Path) -> None:
    """ssh that is told an address and a key, and no port, is on that host, by a known host key."""
    files = rack_files(home, "p22")
    addresses = {name: address for address, name in map(str.split, control.hosts(home, "p22").splitlines())}
    for host in ("exa1cel02", "exa1db01"):
        options = (
            "-F",
            "/dev/null",
            "-o",
            f"UserKnownHostsFile={files.known_hosts}",
            "-o",
            "StrictHostKeyChecking=yes",
        )
        command = ["ssh", *options, "-i", str(files.identity), f"root@{addresses[host]}", "hostname; imageinfo -ver"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.stdout == f"{host}\n19.3.2.0.0.191119\n", done.stderr


def test_it_stays_until_it_is_taken_back(home: Path) -> None:
    """A start that says nothing keeps the addresses; with port22=no they are gone, which a running rack refuses."""
    before = control.hosts(home, "p22")
    with pytest.raises(EmulatorError, match="runs with port22=yes"):
        control.start(home, "p22", options={}, port22=False)
    control.stop(home, "p22")
    control.start(home, "p22", options={})
    assert control.hosts(home, "p22") == before
    control.stop(home, "p22")
    control.start(home, "p22", options={}, port22=False)
    with pytest.raises(EmulatorError, match="no addresses of their own"):
        control.hosts(home, "p22")
    control.stop(home, "p22")
    control.start(home, "p22", options={}, port22=True)  # As other tests of the rack find it.
