"""exacell dcli and the emulated dcli program, written apart from each other, give the same output for the same words."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from exacell.cli import main
from exacell.emulator import control

RACK = "t1"
CELLS = "exa1cel01,exa1cel02,exa1cel03"

SAME = [
    ["-c", CELLS, "cellcli", "-e", "list", "flashcache", "attributes", "name,size"],
    ["-g", "group", "-l", "cellmonitor", "cellcli -e list cell detail | head -5"],
    ["-g", "group", "-c", "exa1cel02,exa1cel01", "hostname"],
    ["-t", "-c", "exa1cel02,exa1cel01,exa1cel02"],
    ["-t", "-c", "exa1cel01", "whoami"],
    ["-n", "-c", CELLS, "test $(hostname) = exa1cel02 || { echo bad; exit 3; }"],
    ["-r", ".*normal", "-c", CELLS, "cellcli -e list flashcache attributes name,status; echo other"],
    ["--preserve-spaces", "-c", "exa1cel01", "printf '  indented \\n\\n\\tx\\ty\\n'"],
    ["-c", "exa1cel01", "printf '  indented \\n\\n\\tx\\ty\\n'"],
    ["--serial", "-c", CELLS, "hostname; exit 2"],
    ["--batchsize", "2", "-n", "-c", CELLS, "hostname"],
    ["--hidestderr", "-c", "exa1cel01", "echo out; echo err >&2"],
    ["-c", "exa1cel01", "echo out; echo err >&2"],
    ["-x", "script.sh", "-c", CELLS],
    ["-x", "list.scl", "-c", CELLS],
    ["-x", "script.sh", "-d", "/tmp/", "-c", "exa1cel01"],
    ["-f", "script.sh", "-d", "other.sh", "-c", "exa1cel01", "sh ./other.sh"],
    ["--hide", "-c", "exa1cel01", "id -un"],
    ["--timeout", "0.3", "-c", "exa1cel01", "echo begun; exec sleep 5"],
    ["-c", "exa1cel01", 'cellcli -e "list griddisk attributes name where name like \\"DATA.*0[12]_.*\\""'],
    ["-lcelladmin", "-cexa1cel01", "echo 'it'\"'\"'s'"],
    ["--maxlines", "3", "--serial", "-c", CELLS, "seq 9; echo of $(hostname)"],
    ["--maxlines", "3", "-c", "exa1cel01", "seq 9"],
    ["--maxlines", "3", "-c", CELLS, "[ $(hostname) = exa1cel02 ] && seq 9; echo of $(hostname)"],
    ["--maxlines", "3", "-n", "-c", CELLS, "[ $(hostname) = exa1cel02 ] && seq 9; echo of $(hostname)"],
    ["--maxlines", "3", "-r", "[2-4]", "-c", CELLS, "[ $(hostname) = exa1cel02 ] && seq 9; echo of $(hostname)"],
]
"""Words behind dcli; what they print differs only in process ids."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("home")
    control.start(path, RACK, options={"cells": 3, "dbnodes": 1})
    yield path
    control.stop(path, RACK)


@pytest.fixture
def place(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with what the command lines name."""
    (tmp_path / "group").write_text("# cells\nexa1cel03\n\n  exa1cel01\n")
    (tmp_path / "script.sh").write_text("#!/bin/sh\necho from $(hostname) $#\n")
    (tmp_path / "list.scl").write_text("list cell attributes name\nlist flashcache attributes size\n")
    for name in ("script.sh", "list.scl"):
        (tmp_path / name).chmod(0o755)
    for name, value in {"EXACELL_HOME": str(home), "HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settled(text: str) -> list[str]:
    import re

    return [re.sub(r"pid \d+", "pid N", line) for line in text.splitlines()]


@pytest.mark.parametrize("words", SAME, ids=lambda words: " ".join(words)[:60])
def test_both_print_the_same(
    words: list[str], place: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For the same command line both print the same lines in the same order and end with the same status."""
    program = control.program_path(home, RACK) / "dcli"
    theirs = subprocess.run([program, *words], capture_output=True, text=True, cwd=place, check=False, timeout=30)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    code = main(["-r", RACK, "dcli", *words])
    ours = capsys.readouterr()
    assert (settled(ours.out), code) == (settled(theirs.stdout), theirs.returncode), (theirs.stderr, ours.err)
