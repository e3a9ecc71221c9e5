"""The commands of docs/install.md that take what make dist wrote, or download libraries: typed as the page has them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from exacell.core.version import __version__
from tests.e2e.test_docs_commands import ROOT, blocks, reason_not_to, shown

PAGE = ROOT / "docs" / "install.md"
NAME = f"exacell-{__version__}"
ELSEWHERE = ("sudo dnf install ", "man exacell", "ansible-playbook ")
"""Carried out by test_real_dist.py with rpm, and by test_real_ansible.py."""


def blocks_of(beginning: str) -> list[str]:
    """Return the commands of the one block of the page that begins so; later ones with the same beginning follow it."""
    found = [lines for _, language, lines in blocks(PAGE) if language in ("", "sh") and lines[0].startswith(beginning)]
    assert found, f"{PAGE.name} has no block that begins with {beginning!r}"
    return [line for lines in found for line in lines]


class Machine:
    """Somebody's account on a machine: a home, and the folder in which they type."""

    def __init__(self, folder: Path, place: Path, *, network: bool) -> None:
        self.home, self.place, self.network = folder / "home", place, network
        for made in (self.home, folder / "bin"):
            made.mkdir()
        python = folder / "bin" / "python3.11"
        base = getattr(sys, "_base_executable", sys.executable)
        python.write_text(f'#!/bin/sh\nexec {base} "$@"\n')
        python.chmod(0o755)
        self.path = f"{self.home / 'bin'}:{folder / 'bin'}:/usr/bin:/bin"
        self.folder = folder

    def types(self, command: str) -> str:
        """Carry a command out; what it says on standard output."""
        inside = [
            "bwrap",
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
            "--bind",
            self.folder,
            self.folder,
        ]
        inside += [*["--unshare-net"] * (not self.network), "--", "bash", "-c", command]
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "LANG"))}
        done = subprocess.run(
            inside, cwd=self.place, capture_output=True, text=True, timeout=1800, check=False,
            env={**kept, "HOME": str(self.home), "PATH": self.path, "TMPDIR": str(self.folder)},
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


def machine(tmp_path: Path, built: Path, *, source: bool = False, network: bool = False) -> Machine:
    """Return an account whose folder is what make dist wrote, or the source in it."""
    place = tmp_path / "given"
    shutil.copytree(built, place)
    if source:
        with tarfile.open(built / f"{NAME}.tar.gz") as archive:
            archive.extractall(tmp_path, filter="data")
        place = tmp_path / NAME
    return Machine(tmp_path, place, network=network)


def test_the_one_file_is_checked_and_copied(built: Path, tmp_path: Path) -> None:
    """The sums are right, and the one file runs from where the page puts it, in a home without a folder for programs."""
    there = machine(tmp_path, built)
    assert "sha256sum --check --ignore-missing SHA256SUMS" in PAGE.read_text(encoding="utf-8")
    assert "FAILED" not in there.types("sha256sum --check --ignore-missing SHA256SUMS")
    copy, run = blocks_of("install ")
    there.types(copy)
    assert there.types(run).split() == ["exacell", __version__]


def test_the_wheels_are_installed_without_a_network(built: Path, tmp_path: Path) -> None:
    """The two lines for the wheels make an exacell that runs."""
    there = machine(tmp_path, built)
    for command in blocks_of("tar "):
        there.types(command)
    assert there.types("~/exacell/bin/exacell --version").split() == ["exacell", __version__]


def test_wheels_are_made_from_the_source_and_installed_without_a_network(built: Path, tmp_path: Path) -> None:
    """What the page has for another processor makes wheels with a network, and installs them without one."""
    there = machine(tmp_path, built, source=True, network=True)
    (make,) = blocks_of("python3.11 -m pip wheel ")
    there.types(make)
    there.network = False
    make_environment, install, run, *_ = blocks_of("python3.11 -m venv ")
    assert "--no-index" in install
    for command in (make_environment, install):
        there.types(command)
    assert there.types(run).split() == ["exacell", __version__]


def test_it_is_installed_from_the_source(built: Path, tmp_path: Path) -> None:
    """What the page has for the source makes an exacell that runs, with its manual."""
    there = machine(tmp_path, built, source=True, network=True)
    *_, make_environment, install, run = blocks_of("python3.11 -m venv ")
    assert install.endswith("pip install .")
    for command in (make_environment, install):
        there.types(command)
    assert there.types(run).split() == ["exacell", __version__]
    assert (there.home / "exacell" / "share" / "man" / "man1" / "exacell.1").exists()


@pytest.mark.parametrize("text", [command.text for command in shown(PAGE)])
def test_no_command_of_the_page_is_left_out(text: str) -> None:
    """Each command of the page is carried out: here, by the test of all pages, or by the one that is named."""
    here = [
        line for start in ("install ", "tar ", "python3.11 -m pip", "python3.11 -m venv") for line in blocks_of(start)
    ]
    assert any(line.startswith(text) for line in here) or text.startswith(ELSEWHERE) or not reason_not_to(text)
