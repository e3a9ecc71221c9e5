"""What make installs of the operating system, tried with programs that stand in for its package managers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci" / "install-os-packages"
VERSION = "{}.{}".format(*sys.version_info[:2])
PROGRAMS = ("sshd", "ssh", "scp", "sftp", "zsh", "fish", "dash", "mksh", "ksh", "busybox", "strace", "bwrap", "cc")


@dataclass(frozen=True)
class Machine:
    """A PATH that holds only what a case gives it; what is called is written down."""

    folder: Path

    def with_program(self, name: str, body: str) -> Machine:
        """Add a program."""
        program = self.folder / name
        program.unlink(missing_ok=True)
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
        return self

    def install(self, *words: str) -> tuple[int, str, list[str]]:
        """Run the script; return exit code, what it says, and the package manager's calls."""
        done = subprocess.run(
            ["/bin/sh", SCRIPT, *words],
            env={"PATH": str(self.folder), "SBIN": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        calls = self.folder / "calls"
        assert done.stdout == ""
        return done.returncode, done.stderr, calls.read_text().splitlines() if calls.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine on which root has nothing but env and this Python."""
    found = Machine(tmp_path).with_program("id", "echo 0").with_program("python3", f'exec {sys.executable} "$@"')
    (tmp_path / "env").symlink_to(shutil.which("env") or "/usr/bin/env")
    return found


def calling(machine: Machine, name: str, code: int) -> Machine:
    """Give the machine a package manager that writes its calls down and ends with ``code``."""
    return machine.with_program(name, f'echo "{name} $*" >> {machine.folder}/calls; exit {code}')


@pytest.mark.parametrize(
    ("tool", "package"),
    [("apt-get", f"python{VERSION}-venv"), ("dnf", f"python{VERSION}"), ("yum", f"python{VERSION}")],
)
def test_the_venv_of_the_very_python_is_installed(machine: Machine, tool: str, package: str) -> None:
    """The package is that of the version that make found, whatever the system's own Python is."""
    code, said, calls = calling(machine, tool, 0).install("venv", "python3")
    assert code == 0 and said == f"installing the venv module of Python {VERSION} ...\n"
    assert calls[-1].startswith(f"{tool} install") and calls[-1].endswith(f" {package}")


def test_a_venv_that_can_not_be_installed_ends_make(machine: Machine) -> None:
    """Where the package manager fails, or there is none, one line says so and the exit code is not 0."""
    code, said, _ = machine.install("venv", "python3")
    assert code == 1 and "for want of apt-get, dnf or yum" in said
    code, said, _ = calling(machine, "apt-get", 100).install("venv", "python3")
    assert code == 1 and f"apt-get could not install python{VERSION}-venv" in said


def test_who_is_not_root_is_told_what_to_install(machine: Machine) -> None:
    """Without root and sudo nothing is tried; the packages are named, and tests go on without what is missing."""
    other = calling(machine, "apt-get", 0).with_program("id", "echo 1000")
    code, said, calls = other.install("tests")
    assert code == 0 and "As root: apt-get install openssh-server" in said and f" {' '.join(PROGRAMS)}" in said
    assert other.install("venv", "python3")[0] == 1 and calls == []


def test_what_is_there_is_left_alone(machine: Machine) -> None:
    """Where all programs are there, nothing is said and no package manager is called."""
    for name in PROGRAMS:
        machine.with_program(name, "exit 0")
    assert calling(machine, "apt-get", 0).install("tests") == (0, "", [])


def test_what_stays_missing_is_named(machine: Machine) -> None:
    """A package that could not be installed is named by its program; the tests run without it."""
    machine.with_program("sshd", "exit 0")
    code, said, calls = calling(machine, "dnf", 1).install("tests")
    assert code == 0 and said.endswith(
        f"dnf could not install: {' '.join(PROGRAMS[1:])}; the tests that need them are skipped and say so\n"
    )
    wanted = "openssh-server openssh-clients zsh fish dash mksh ksh busybox strace bubblewrap gcc"
    assert [call.split()[-1] for call in calls] == wanted.split()


def test_what_dist_lacks_ends_it(machine: Machine) -> None:
    """Where what make dist needs can't be installed, it is named, and make ends; where all is there, nothing is called."""
    code, said, calls = calling(machine, "apt-get", 1).install("dist")
    assert code == 1
    assert "rpmbuild" in said
    assert "the one file and the RPM are not built" in said
    assert any("musl-tools" in call for call in calls)
