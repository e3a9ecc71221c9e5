"""ssh_config files of distributions and sites as one target sees them; the judge is the system's ssh -G on the same files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from exacell.transport.ssh.answer import SshConfig
from exacell.transport.ssh.resolving import Answer
from tests.support.ssh_configs import Case, Reached, as_ssh_reads, cases

CASES = cases()
DEFAULTS = ("id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_xmss", "id_dsa")
"""What ssh -G names where no IdentityFile is. Source: ssh_config(5), IdentityFile."""


def in_terms_of_ssh(answer: Answer, home: str) -> Reached:
    usual = tuple(f"{home}/.ssh/{name}" for name in DEFAULTS)
    jumps = answer.options.get("proxyjump", "")
    return Reached(
        host=answer.host,
        port=str(answer.port),
        user=answer.user,
        identities=answer.lists.get("identityfile") or usual,
        jumps=jumps.removeprefix("ssh://"),
        command=answer.proxy.command if answer.proxy is not None else "",
        user_known_hosts=" ".join(answer.lists["userknownhostsfile"]) or "none",
        global_known_hosts=" ".join(answer.lists["globalknownhostsfile"]) or "none",
    )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scratch folder as HOME."""
    if shutil.which("ssh") is None:
        pytest.skip("no ssh program is installed (openssh-client)")
    folder = tmp_path / "home"
    (folder / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_openssh_reads_it(tmp_path: Path, home: Path, case: Case) -> None:
    """Host name, port, user, identities, jump hosts, ProxyCommand and known_hosts of each target are those of ssh -G, and
    our reader alone finds them where the case says so."""
    (tmp_path / "case").mkdir()
    path = case.write(tmp_path / "case")
    for target in case.targets:
        answer = SshConfig(path).answer(target)
        assert in_terms_of_ssh(answer, str(home)) == as_ssh_reads(path, target), target
        assert bool(answer.asked) is (case.read_by == "ssh"), answer.asked


def test_enough_is_read_without_ssh() -> None:
    """At least 60 files are judged, and our reader reads at least 50 of them alone."""
    assert len(CASES) >= 60
    assert sum(case.read_by == "own" for case in CASES) >= 50
