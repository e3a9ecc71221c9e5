"""Cells of 26.1 over real SSH: what the logins that administer may run, and that nothing else gets through."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from exacell.emulator import control

RACK, CELL = "locked", "exa1cel01"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The ssh_config of a running rack on 26.1."""
    home = tmp_path_factory.mktemp("home")
    info, _already = control.start(
        home, RACK, options={"cells": 2, "dbnodes": 1, "model": "x8m", "release": "26.1", "speed": 1}
    )
    yield info.ssh_config
    control.stop(home, RACK)


def _run(config: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    program, *rest = words
    arguments = [program, "-F", str(config), *rest]
    return subprocess.run(arguments, input=stdin, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("login", ["celladmin", "cellmonitor"])
def test_cellcli_and_reading_commands_run(config: Path, login: str) -> None:
    """cellcli with -e and with a script on standard input works, as do the few commands that read."""
    target = f"{login}@{CELL}"
    done = _run(config, "ssh", target, "cellcli -e list cell attributes name, releaseVersion")
    assert (done.returncode, done.stdout.split()) == (0, [CELL, "26.1.0.0.0.260131"])
    script = _run(config, "ssh", target, "cellcli -n -x", stdin="list flashcache attributes status\nlist xrmemcache\n")
    assert script.returncode == 0 and "normal" in script.stdout and "_XRMEMCACHE" in script.stdout
    assert _run(config, "ssh", target, "hostname").stdout.strip() == CELL
    assert _run(config, "ssh", target, "whoami").stdout.strip() == login


@pytest.mark.parametrize(
    "command",
    [
        "sh -c 'cellcli -e list cell'",
        "cellcli -e list cell | wc -l",
        "( hostname; cellcli -e list cell ) 2>&1",
        "cat >> .ssh/authorized_keys",
        "cellcli -e list cell; id",
        "python3 -c 'print(1)'",
        "./flush.scl",
    ],
)
def test_shells_pipes_and_key_pushes_do_not(config: Path, command: str) -> None:
    """A command line that needs a shell, a script or a write is refused with one line and a status that is not 0."""
    done = _run(config, "ssh", f"celladmin@{CELL}", command, stdin="ssh-ed25519 AAAA\n")
    assert done.returncode != 0 and done.stdout == ""
    assert "not allowed for celladmin" in done.stderr and len(done.stderr.splitlines()) == 1


def test_nothing_is_copied(config: Path, tmp_path: Path) -> None:
    """scp and sftp copy neither to the cell nor from it."""
    script = tmp_path / "flush.scl"
    script.write_text("list cell\n", encoding="utf-8")
    assert _run(config, "scp", str(script), f"celladmin@{CELL}:").returncode != 0
    assert _run(config, "scp", f"celladmin@{CELL}:/etc/hosts", str(tmp_path)).returncode != 0
    assert "flush.scl" not in _run(config, "ssh", f"root@{CELL}", "ls ~celladmin 2>/dev/null; true").stdout


def test_root_is_not_restricted(config: Path) -> None:
    """root on the same cell has a shell, pipes and files."""
    done = _run(config, "ssh", f"root@{CELL}", "( hostname; cellcli -e list cell | wc -l ) 2>&1")
    assert done.returncode == 0 and done.stdout.split() == [CELL, "1"]
