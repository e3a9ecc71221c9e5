"""What make dist hands out: the same bytes twice, the whole source, and an installation where there is no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from exacell.core.version import __version__

ROOT = Path(__file__).resolve().parents[2]
NAME = f"exacell-{__version__}"
NEEDED = ("git", "bwrap")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what make dist writes."""
    if missing := [program for program in NEEDED if shutil.which(program) is None]:
        pytest.skip(f"there is no {' and no '.join(missing)}")
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    return build(tmp_path_factory.mktemp("dist"))


def build(folder: Path) -> Path:
    subprocess.run([sys.executable, ROOT / ".ci" / "dist", folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def test_the_same_commit_gives_the_same_bytes(built: Path, tmp_path: Path) -> None:
    """A second build has the same sums, and SHA256SUMS names every other file."""
    sums = (built / "SHA256SUMS").read_text()
    assert (build(tmp_path / "again") / "SHA256SUMS").read_text() == sums
    assert {line.split()[1] for line in sums.splitlines()} == {file.name for file in built.iterdir()} - {"SHA256SUMS"}


def test_the_source_is_all_of_the_commit(built: Path) -> None:
    """Every file of the commit is in the source archive, with its bytes."""
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "-z", "--name-only", "HEAD"], cwd=ROOT, capture_output=True, check=True
    )
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        there = {member.name.removeprefix(f"{NAME}/") for member in archive}
    assert set(filter(None, listed.stdout.decode().split("\0"))) <= there


def test_it_installs_and_runs_without_a_network(built: Path, tmp_path: Path) -> None:
    """In a sandbox without network install.sh makes an exacell that carries out a statement on the emulated rack."""
    with tarfile.open(built / f"{NAME}-wheels.tar") as archive:
        archive.extractall(tmp_path, filter="data")
    inside = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", tmp_path, tmp_path]
    inside += ["--unshare-net", "--setenv", "TMPDIR", tmp_path, "--setenv", "EXACELL_HOME", tmp_path / "home", "--"]
    installed = tmp_path / "there"
    subprocess.run([*inside, "sh", tmp_path / NAME / "install.sh", installed], check=True, cwd="/")
    done = subprocess.run(
        [*inside, installed / "bin" / "exacell", "demo", "list", "cell"],
        cwd="/", capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": ""},
    )  # fmt: skip
    assert "exa1cel03" in done.stdout
