"""A read-only transport refuses what changes something, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.config import RackConfig
from exacell.errors import RefusedError
from exacell.transport.base import Request, Role, State
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
