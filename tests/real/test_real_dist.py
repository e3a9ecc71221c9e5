"""What make dist hands out: the same bytes twice, the whole source, and an installation where there is no network."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

from exacell.core.version import __version__
from tests.real.conftest import build

ROOT = Path(__file__).resolve().parents[2]
NAME = f"exacell-{__version__}"


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
    there |= {
        str(folder) for name in there for folder in Path(name).parents
    }  # A link to a folder is that folder there.
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


def test_the_rpm_lays_everything_where_it_belongs(built: Path, tmp_path: Path) -> None:
    """rpm2cpio and cpio unpack the RPM: its program and recipes work in an empty root, the rest lies in its place."""
    packed = subprocess.run(["rpm2cpio", built / f"{NAME}-1.x86_64.rpm"], check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["cpio", "-id", "--quiet"], input=packed, cwd=tmp_path, check=True)
    there = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert {
        "usr/share/man/man1/exacell.1.gz",
        "usr/share/bash-completion/completions/exacell",
        "usr/share/zsh/site-functions/_exacell",
        "usr/share/fish/vendor_completions.d/exacell.fish",
        "usr/share/exacell/recipes/reset_cold.exa",
        "usr/share/licenses/exacell/CONTENTS",
        "usr/share/licenses/exacell/LICENSE",
    } <= there
    assert (tmp_path / "usr/bin/exacell").read_bytes() == (built / f"{NAME}-x86_64").read_bytes()
    inside = [
        "bwrap",
        "--unshare-all",
        "--clearenv",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--tmpfs",
        "/tmp",
        "--tmpfs",
        "/var/tmp",
    ]
    inside += ["--setenv", "HOME", "/tmp", "--ro-bind", str(tmp_path / "usr"), "/usr", "--", "/usr/bin/exacell"]
    done = subprocess.run(
        [*inside, "demo", "check", "recipe", "/usr/share/exacell/recipes/reset_cold.exa"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_rpm_needs_no_other_package(built: Path) -> None:
    """The RPM requires nothing but features of rpm itself, runs no script, and its files belong to root."""
    asked = ["rpm", "-qp", "--qf", "[%{REQUIRENAME}\\n]", "--scripts", built / f"{NAME}-1.x86_64.rpm"]
    said = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    assert [line for line in said.split() if not line.startswith("rpmlib(")] == []
    owners = subprocess.run(
        ["rpm", "-qp", "--qf", "[%{FILEUSERNAME}:%{FILEGROUPNAME}\\n]", built / f"{NAME}-1.x86_64.rpm"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert set(owners.stdout.split()) == {"root:root"}


def test_the_rpm_is_installed_upgraded_and_removed(built: Path, tmp_path: Path) -> None:
    """rpm installs it into a system without any other package and finds it unchanged; removed, it leaves no file or folder."""
    root, package = tmp_path / "root", built / f"{NAME}-1.x86_64.rpm"
    for folder in (
        "usr/bin",
        "usr/share/man/man1",
        "usr/share/licenses",
        "var/lib/rpm",
        "var/tmp",
        "tmp",
        "proc",
        "dev",
    ):
        (root / folder).mkdir(
            parents=True
        )  # Those of Oracle Linux's package "filesystem", and where rpm keeps its books.

    def rpm(*words: str | Path) -> str:
        asked = ["unshare", "--map-root-user", "rpm", "--root", root, "--dbpath", "/var/lib/rpm", *words]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def there() -> set[str]:
        found = {str(path.relative_to(root)) for path in root.rglob("*")}
        return {path for path in found if not path.startswith("var/lib/rpm/")}

    rpm("--initdb")
    before = there()
    rpm("--install", package)
    files = set(rpm("--query", "--list", "exacell").split("\n")) - {""}
    assert {f"/{path}" for path in there() - before} == files
    assert rpm("--verify", "exacell") == "", "what is installed is not what was packed"
    inside = ["bwrap", "--unshare-all", "--clearenv", "--ro-bind", root, "/", "--proc", "/proc", "--dev", "/dev"]
    inside += ["--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--setenv", "HOME", "/tmp", "--", "/usr/bin/exacell"]
    ran = subprocess.run([*inside, "--version"], capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["exacell", __version__], ran.stderr
    manual = ["man", "--manpath", root / "usr/share/man", "exacell"]
    page = subprocess.run(manual, capture_output=True, text=True, check=True, env={**os.environ, "MANPAGER": "cat"})
    assert "EXIT STATUS" in page.stdout
    completes = f"source {root}/usr/share/bash-completion/completions/exacell && complete -p exacell"
    assert subprocess.run(["bash", "-c", completes], capture_output=True, text=True, check=True).stdout.endswith(
        " exacell\n"
    )
    rpm("--upgrade", "--replacepkgs", package)
    assert {f"/{path}" for path in there() - before} == files
    assert rpm("--verify", "exacell") == ""
    rpm("--erase", "exacell")
    assert there() == before
