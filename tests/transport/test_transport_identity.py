"""Which keys are tried, and what is said when none is accepted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from exacell.transport.base import State
from exacell.transport.ssh import SshTransport
from tests.support.requests import CELLS, read
from tests.support.sshd import Sshd

MakeTransport = Callable[..., SshTransport]


def config_with_agent(sshd: Sshd, *lines: str, key: str) -> Path:
    path = sshd.ssh_config(*lines, key=key)
    path.write_text(path.read_text().replace("IdentityAgent none\n", ""))
    return path


@pytest.mark.sshd
def test_key_from_the_agent(sshd: Sshd, transport_to: MakeTransport, agent: Callable[[Path], None]) -> None:
    """It should log in with an agent's key, and with IdentitiesOnly only when its public half is named."""
    agent(sshd.directory / "login")
    config = config_with_agent(sshd, "Host exa1cel01", "IdentitiesOnly no", key="nothing-there")
    result = transport_to(config, sshd.user).run([read(cell, "true") for cell in CELLS[:2]])
    assert [reply.state for reply in result.replies.values()] == [State.OK, State.UNREACHABLE]
    assert "no key to log in" in result.replies[CELLS[1]].problem
    (sshd.directory / "nothing-there.pub").write_text((sshd.directory / "login.pub").read_text())
    assert transport_to(config, sshd.user).run([read(CELLS[1], "true")]).ok
    (sshd.directory / "nothing-there.pub").unlink()


@pytest.mark.sshd
def test_key_with_passphrase(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should never ask for a passphrase but say that the key needs an agent."""
    locked = sshd.directory / "locked"
    if not locked.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", locked], check=True)
    reply = transport_to(sshd.ssh_config(key="locked"), sshd.user).run([read(CELLS[0], "true")]).replies[CELLS[0]]
    assert f"{locked} needs a passphrase: ssh-add it" in reply.problem


@pytest.mark.sshd
def test_several_key_files(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should go on to the next key when one is refused, and report the one that was accepted."""
    config = sshd.ssh_config("Host *", f"IdentityFile {sshd.directory / 'stranger'}")
    reply = transport_to(config, sshd.user).run([read(CELLS[0], "true")]).replies[CELLS[0]]
    listed = subprocess.run(["ssh-keygen", "-lf", sshd.directory / "login.pub"], capture_output=True, text=True).stdout
    assert reply.fingerprint == listed.split()[1]


def test_import_stays_light() -> None:
    """It should import neither fabric nor paramiko before a connection is wanted."""
    code = (
        "import sys; import exacell.transport.ssh, exacell.core.config, exacell.core.paths\n"
        "heavy = {'fabric', 'paramiko', 'rich', 'asyncio', 'prompt_toolkit'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
