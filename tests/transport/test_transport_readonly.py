"""A read-only transport refuses what changes something, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.config import RackConfig
from exacell.errors import RefusedError
from exacell.transport.base import Request, Role, State
from exacell.transport.clush import ClushTransport
from exacell.transport.dcli_program import DcliTransport
from exacell.transport.exacli import ExacliTransport
from exacell.transport.openssh import OpensshTransport
from exacell.transport.shared import RackTransport
from exacell.transport.ssh import SshTransport


@pytest.fixture
def transport(tmp_path: Path) -> SshTransport:
    """A read-only transport to a cell that can't be reached: its ssh_config does not exist."""
    rack = RackConfig(name="t", cells=("c1", "c2"), ssh_config=tmp_path / "none")
    return SshTransport(rack, read_only=True)


@pytest.mark.parametrize("role", [Role.READ, Role.ASM_READ])
def test_reads_are_tried(transport: SshTransport, role: Role) -> None:
    """A read goes its way on a read-only transport; here it ends as unreachable, like any other."""
    found = transport.run([Request(target="c1", command="cellcli -e 'list cell'", role=role)])
    assert found.replies["c1"].state is State.UNREACHABLE


@pytest.mark.parametrize("role", [Role.WRITE, Role.ASM_WRITE])
def test_one_write_refuses_the_batch(transport: SshTransport, role: Role) -> None:
    """One write among reads refuses all of them, naming the rack, the target and the way out."""
    requests = [
        Request(target="c1", command="cellcli -e 'list cell'", role=Role.READ),
        Request(target="c2", command="cellcli -e 'drop flashcache'", role=role),
    ]
    with pytest.raises(RefusedError, match="rack t is read-only: nothing was sent to c2") as caught:
        transport.run(requests)
    assert caught.value.hint == "set mode rw"


@pytest.mark.parametrize("kind", [ClushTransport, DcliTransport, ExacliTransport, OpensshTransport])
def test_every_transport_refuses_before_it_starts_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[RackTransport]
) -> None:
    """Read-only, it should start none of the programs by which it reaches cells for a batch with a write in it; switched
    to read-only later as well."""
    folder, log = tmp_path / "bin", tmp_path / "log"
    folder.mkdir()
    for name in ("ssh", "dcli", "exacli", "clush"):
        program = folder / name
        program.write_text(f"#!/bin/sh\necho {name} >> {log}\necho --serial\n")
        program.chmod(0o700)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    transports = [kind(RackConfig(name="t", cells=("c1", "c2")), read_only=early) for early in (True, False)]
    transports[1].read_only = True
    log.unlink(missing_ok=True)  # Some ask the program what it can, when they are made.
    for transport in transports:
        with pytest.raises(RefusedError, match="rack t is read-only: nothing was sent to c2"):
            transport.run(
                [
                    Request(target="c1", command="cellcli -e 'list cell'", role=Role.READ),
                    Request(target="c2", command="cellcli -e 'drop flashcache'", role=Role.WRITE),
                ]
            )
        transport.close()
    assert not log.exists()
