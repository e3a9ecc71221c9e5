"""The playbook of examples/, run by Ansible itself from the one file that make dist has written."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from exacell.core.version import __version__
from tests.support.patience import LONG_S
from tests.support.program import Program

ROOT = Path(__file__).resolve().parents[2]
NAME = f"exacell-{__version__}-x86_64"
ANSIBLE = "ansible-core==2.19.14"


@pytest.fixture(scope="module")
def playbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ansible-playbook, in an environment of its own."""
    folder = tmp_path_factory.mktemp("ansible")
    venv.create(folder, with_pip=True)
    words = [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ANSIBLE]
    if subprocess.run(words, check=False, stderr=subprocess.DEVNULL).returncode:
        pytest.skip("ansible-core can't be installed")
    return folder / "bin/ansible-playbook"


def test_the_playbook_copies_and_reads(built: Path, playbook: Path, tmp_path: Path) -> None:
    """It puts the file on a host and finds every cell online; a second run changes nothing; a wrong sum stops it."""
    there, program = tmp_path / "there", Program(tmp_path / "home")
    there.mkdir()
    program.ok("emulator", "start", "t1")
    try:

        def run(sums: Path) -> subprocess.CompletedProcess[str]:
            given = {"file": built / NAME, "sums": sums, "to": there / "exacell", "rack": "t1"}
            words = [playbook, "-i", "localhost,", "-c", "local", ROOT / "examples/ansible.yml"]
            words += [word for name, value in given.items() for word in ("-e", f"{name}={value}")]
            env = {
                **program.env,
                "PATH": f"{playbook.parent}:{os.environ['PATH']}",
                "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
            }
            return subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=LONG_S)

        first = run(built / "SHA256SUMS")
        assert first.returncode == 0, first.stdout + first.stderr
        assert "changed=1" in first.stdout
        assert "changed=0" in run(built / "SHA256SUMS").stdout
        wrong = tmp_path / "SHA256SUMS"
        wrong.write_text(f"{'0' * 64}  {NAME}\n")
        assert run(wrong).returncode != 0
    finally:
        program.ok("emulator", "stop", "t1")
