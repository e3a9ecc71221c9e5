"""Files of hosts brought here: whole or not at all, over a real sshd and from emulated nodes."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.patience import until
from tests.support.program import Program
from tests.support.sshd import PROGRAM, Sshd


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[tuple[Program, Path]]:
    """The program with the hosts a and b, both this machine, and the folder of the sshd's programs."""
    server = Sshd(tmp_path / "sshd")
    server.start()
    server.known_hosts()
    home = tmp_path / "home"
    (home / "racks.d").mkdir(parents=True)
    (home / "racks.d" / "lab.toml").write_text(f'ssh_config = "{server.ssh_config()}"\n[hosts.ab]\nnodes = "a,b"\n')
    yield Program(home), server.directory / "bin"
    server.stop()


needs_sshd = pytest.mark.skipif(PROGRAM is None, reason="there is no sshd here")


@needs_sshd
def test_files_come_whole_byte_by_byte(lab: tuple[Program, Path], tmp_path: Path) -> None:
    """Bytes of any kind, more than a packet holds, come from each host with their checksum, patterns included."""
    program, _ = lab
    there = tmp_path / "there"
    there.mkdir()
    data = {"one.bin": os.urandom(3_000_000), "two.bin": b"\x00\xff\r\n" * 3, "empty.bin": b""}
    for name, content in data.items():
        (there / name).write_bytes(content)
    rows = program.ok("-r", "lab", "-o", "json", f"copy from @ab:{there}/*.bin {tmp_path}/here").records
    assert {(row["cell"], Path(row["file"]).name): (row["bytes"], row["sha256"]) for row in rows} == {
        (host, name): (len(content), hashlib.sha256(content).hexdigest())
        for host in "ab"
        for name, content in data.items()
    }
    for host in "ab":
        assert {path.name: path.read_bytes() for path in (tmp_path / "here" / host).iterdir()} == data


@needs_sshd
def test_what_can_not_be_copied_hinders_no_other_file(lab: tuple[Program, Path], tmp_path: Path) -> None:
    """A line feed in one file's name, or a file that can't be read there, is named with its host; the other files come, also
    those with blanks, backslashes, quotes and other signs in their names."""
    program, folder = lab
    there = tmp_path / "two words"
    there.mkdir()
    names = ("a b", "back\\slash\\n", 'q"$(x)`', "tab\there", "\u00fc\u2028", "-n")
    for name in (*names, "one\ntwo", "closed"):
        (there / name).write_text(name)
    closed = folder / "wc"
    closed.write_text(f'#!/bin/sh\n[ "$(readlink /proc/self/fd/0)" != "{there}/closed" ] && exec /usr/bin/wc "$@"\n')
    closed.chmod(0o755)
    done = program("-r", "lab", "-o", "json", f"copy from '@ab:{there}/*' {tmp_path}/here")
    assert done.code == 1
    assert {path.name: path.read_text() for path in (tmp_path / "here" / "a").iterdir()} == {n: n for n in names}
    for host in "ab":
        assert f"{host}: {there}/one?two was not copied: there is a line feed in its name" in done.err
        assert f"{host}: {there}/closed was not copied: it can't be read there" in done.err


@needs_sshd
def test_one_file_with_blanks_in_its_path(lab: tuple[Program, Path], tmp_path: Path) -> None:
    """A path with blanks, in quotes, is one file, by name and by pattern."""
    program, _ = lab
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a folder" / "my  file").write_text("x")
    for number, pattern in enumerate(("my  file", "m* f*")):
        program.ok("-r", "lab", f"copy from '@ab:{tmp_path}/a folder/{pattern}' {tmp_path}/here{number}")
        assert (tmp_path / f"here{number}" / "b" / "my  file").read_text() == "x"


@needs_sshd
def test_nothing_here_is_replaced(lab: tuple[Program, Path], tmp_path: Path) -> None:
    """A file that already exists here keeps its content, and nothing else is copied then."""
    program, _ = lab
    (tmp_path / "x").write_text("new")
    kept = tmp_path / "here" / "b" / "x"
    kept.parent.mkdir(parents=True)
    kept.write_text("old")
    done = program("-r", "lab", f"copy from @ab:{tmp_path}/x {tmp_path}/here")
    assert done.code == 2 and "already exists here" in done.err
    assert kept.read_text() == "old" and not (tmp_path / "here" / "a" / "x").exists()


@needs_sshd
def test_what_is_here_whole_is_no_hindrance(lab: tuple[Program, Path], tmp_path: Path) -> None:
    """A file that is here with the very same content is told as the others are, is not written again, and the rest comes."""
    program, _ = lab
    (tmp_path / "x").write_text("same")
    kept = tmp_path / "here" / "b" / "x"
    kept.parent.mkdir(parents=True)
    kept.write_text("same")
    was = kept.stat().st_ino
    rows = program.ok("-r", "lab", "-o", "json", f"copy from @ab:{tmp_path}/x {tmp_path}/here").records
    assert [row["cell"] for row in rows] == ["a", "b"] and kept.stat().st_ino == was
    assert (tmp_path / "here" / "a" / "x").read_text() == "same"


@needs_sshd
def test_what_changed_meanwhile_leaves_nothing(lab: tuple[Program, Path], tmp_path: Path) -> None:
    """A file that grew between the look and the copy is a failure, and no part of it stays here."""
    program, folder = lab
    grown = tmp_path / "log"
    grown.write_text("one\n")
    (folder / "cat").write_text(f'#!/bin/sh\necho two >> {grown}\nexec /bin/cat "$@"\n')
    (folder / "cat").chmod(0o755)
    done = program("-r", "lab", f"on a copy from {grown} {tmp_path}/here")
    assert done.code == 2 and "changed while it was copied" in done.err
    assert list((tmp_path / "here" / "a").iterdir()) == []


@needs_sshd
def test_a_lost_link_leaves_nothing(lab: tuple[Program, Path], tmp_path: Path) -> None:
    """Where the far side ends in the middle, its host's copy fails; the other host's file is here."""
    program, folder = lab
    big = tmp_path / "big"
    big.write_bytes(os.urandom(400_000))
    turn = tmp_path / "turn"
    (folder / "cat").write_text(
        f'#!/bin/sh\nif mkdir {turn} 2>/dev/null; then head -c 1000 "$1"; kill -9 $PPID; else exec /bin/cat "$1"; fi\n'
    )
    (folder / "cat").chmod(0o755)
    done = program("-r", "lab", f"copy from @ab:{big} {tmp_path}/here")
    assert done.code == 1, done.err
    assert [path.read_bytes() for path in (tmp_path / "here").glob("*/*")] == [big.read_bytes()]


@needs_sshd
def test_a_kept_file_of_a_killed_run_is_whole_or_none(lab: tuple[Program, Path], tmp_path: Path) -> None:
    """kill -9 while files of two hosts come: results knows none of them, but what came before. resume keeps each host's bytes in
    the same run, and does not fetch again what it has."""
    program, folder = lab
    big, small = tmp_path / "big", tmp_path / "small"
    big.write_bytes(os.urandom(400_000))
    small.write_bytes(b"small")
    (program.home / "recipes").mkdir()
    (program.home / "recipes" / "one.exa").write_text(
        f'recipe "One"\nkeep @ab:{small} as=small\nkeep @ab:{big} as=big\n'
    )
    slow = folder / "cat"
    slow.write_text(f'#!/bin/sh\n[ "$1" = {big} ] || exec /bin/cat "$1"; head -c 100000 "$1"; exec sleep 3000\n')
    slow.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "exacell", "-r", "lab", "run one -y"], env=program.env, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert until(lambda: list(program.home.glob("runs/**/big/*/.exacell-*")))
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    slow.unlink()
    before = program.ok("-r", "lab", "-o", "json", "results").records
    assert [row["name"] for row in before] == ["small", "small"]
    program.ok("-r", "lab", "resume -y")
    rows = program.ok("-r", "lab", "-o", "json", "results r1").records
    assert rows[:2] == before and {row["cell"]: Path(row["file"]).read_bytes() for row in rows[2:]} == dict.fromkeys(
        "ab", big.read_bytes()
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("@db:/dev/sda x", "can't be copied"),
        ("@db:/proc/kcore x", "can't be copied"),
        ("@db:/etc/../dev/sda x", "not an absolute path"),
        ("'@db:/etc/$(reboot)' x", "not an absolute path"),
        ("'@db:/etc/a b' x", "there is no file /etc/a b"),
        ("'@db:/etc/a ' x", "not an absolute path"),
        ("'@db:/etc/a\\b' x", "not an absolute path"),
        ("@db:/etc/nosuch x", "there is no file /etc/nosuch"),
        ("@db:/etc x", "/etc is a folder: /etc/* names its files"),
        ("/etc/passwd x", "is for hosts, not cells"),
        ("@all:/etc/passwd x", "is for hosts, not cells"),
        (
            "exa1cel02:/etc/passwd x",
            "exa1cel02 is a cell; for the text of a cell's file, type `on exa1cel02 sh cat /etc/passwd > FILE`",
        ),
    ],
)
def test_what_is_no_file_is_refused(inside, words: str, said: str, tmp_path: Path) -> None:
    """Devices, the kernel's files, paths with signs of the shell, cells and what is not there: one line each."""
    done = inside("-r", "t1", f"copy from {words.rpartition(' ')[0]} {tmp_path}/x")
    assert done.code == 2 and said in done.err
    assert not list(tmp_path.glob("x/*/*"))
