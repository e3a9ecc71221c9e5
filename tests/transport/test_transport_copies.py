"""Files copied over real sshds: by our own SSH, by the ssh program, and where a host has no SFTP."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from exacell.core.config import RackConfig, Settings
from exacell.transport.base import Reply, State, Transport, Upload
from exacell.transport.openssh import OpensshTransport
from exacell.transport.ssh import SshTransport
from tests.support import sshd as sshd_support
from tests.support.requests import write
from tests.support.sshd import Sshd

CELLS = tuple(f"c{number}" for number in range(1, 9))
MISSING = {"no subsystem": "", "a subsystem that is not there": "Subsystem sftp /nonexistent/sftp-server"}


@pytest.fixture(params=MISSING)
def without(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sshd]:
    """A server without SFTP."""
    if sshd_support.PROGRAM is None:
        pytest.skip("no sshd program is installed (openssh-server)")
    server = Sshd(tmp_path / "sshd", subsystem=MISSING[request.param])
    server.start()
    server.known_hosts()
    server.ssh_config()
    yield server
    server.stop()


def over(kind: type[Transport], server: Sshd, **settings: float) -> Transport:
    """Return a transport to the server."""
    config = server.directory / "ssh_config"
    rack = RackConfig(name="t", cells=CELLS, read_user=server.user, write_user=server.user, ssh_config=config)
    return kind(rack, Settings(**settings))  # type: ignore[call-arg, arg-type]  # both kinds take these


def copied(transport: Transport, upload: Upload, target: str = "c1") -> Reply:
    """Copy to one host and close the transport."""
    try:
        return transport.run([write(target, "scp", upload=upload)]).replies[target]
    finally:
        transport.close()


@pytest.mark.parametrize("kind", [SshTransport, OpensshTransport])
def test_each_piece_is_told_and_all_arrives(kind: type[Transport], sshd: Sshd, tmp_path: Path) -> None:
    """What is told of the pieces adds up to the file, on each of many hosts at once; the file is the same there."""
    source = tmp_path / "big"
    source.write_bytes(os.urandom(3 << 20))
    told: dict[str, list[int]] = {cell: [] for cell in CELLS}
    transport = over(kind, sshd)
    requests = []
    for cell in CELLS:
        place = tmp_path / "there" / cell
        place.mkdir(parents=True)
        upload = Upload(sources=(source,), destination=str(place), sent=told[cell].append)
        requests.append(write(cell, "scp", upload=upload))
    try:
        assert len(transport.run(requests).ok) == len(CELLS)
    finally:
        transport.close()
    for cell, pieces in told.items():
        assert sum(pieces) == 3 << 20 and len(pieces) > 50
        assert (tmp_path / "there" / cell / "big").read_bytes() == source.read_bytes()


CASES = {
    "a directory": Upload(sources=(Path("folder"),), destination="to"),
    "a whole directory": Upload(sources=(Path("folder"),), destination="to", recursive=True),
    "no such directory": Upload(sources=(Path("one"),), destination="none/to"),
    "two into a file": Upload(sources=(Path("one"), Path("two")), destination="full"),
    "two into a directory": Upload(sources=(Path("one"), Path("two")), destination="to"),
    "over a longer one": Upload(sources=(Path("one"),), destination="full", keep=True),
    "one that is not there": Upload(sources=(Path("gone"), Path("two")), destination="to"),
    "a name with blanks": Upload(sources=(Path("one"),), destination="to/it's my file; $x"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_ssh_program_copies_as_our_own(
    name: str, sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """State, status, scp's sentence and what is there afterwards are the same over both."""
    found = []
    for kind in (SshTransport, OpensshTransport):
        here = tmp_path / kind.__name__
        (here / "folder/deep").mkdir(parents=True)
        (here / "to").mkdir()
        for path, text in {"one": "1", "two": "2", "full": "x" * 100_000, "folder/deep/f": "f"}.items():
            (here / path).write_text(text)
        (here / "one").chmod(0o750)
        monkeypatch.chdir(here)
        case = CASES[name]
        reply = copied(over(kind, sshd), replace(case, destination=str(here / case.destination)))
        there = {
            str(path.relative_to(here)): (path.stat().st_mode, path.read_text() if path.is_file() else "")
            for path in sorted(here.rglob("*"))
        }
        found.append((reply.state, reply.exit_status, reply.stderr.replace(str(here), ""), there))
    assert found[0] == found[1]
    assert (found[0][0] is State.OK) == (found[0][2] == "")


def test_without_sftp_scp_copies_and_that_is_said(
    without: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host whose sshd has no SFTP gets files and folders by scp, which is told once; nothing is told of pieces."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/f: 1").write_text("one")
    (tmp_path / "there").mkdir()
    sent: list[int] = []
    untold: list[str] = []
    upload = Upload(
        sources=(Path("folder"),), destination=str(tmp_path / "there/it's; $x"), recursive=True,
        sent=sent.append, untold=lambda: untold.append("once"),
    )  # fmt: skip
    reply = copied(over(OpensshTransport, without), upload)
    assert reply.state is State.OK, reply
    assert (tmp_path / "there/it's; $x/f: 1").read_text() == "one"
    assert (sent, untold) == ([], ["once"])


@pytest.mark.parametrize("old", [True, False])
def test_an_old_scp_gets_no_new_option(
    old: bool, without: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An scp that knows no -O is called without it: it always copies without SFTP."""
    calls, program = tmp_path / "calls", tmp_path / "bin" / "scp"
    program.parent.mkdir()
    refuses = 'case "$1" in -O) echo "scp: unknown option -- O" >&2; exit 1 ;; esac\n' if old else ""
    program.write_text(f'#!/bin/sh\n{refuses}[ $# = 1 ] && exit 1\necho "$@" >> {calls}\nexec sleep 0\n')
    program.chmod(0o755)
    source = tmp_path / "one"
    source.write_text("1")
    transport = over(OpensshTransport, without)
    monkeypatch.setattr(transport, "_scp", str(program))
    assert copied(transport, Upload(sources=(source,), destination="x")).state is State.OK
    assert calls.read_text().startswith("-o " if old else "-O -o ")


@pytest.fixture
def breakable(tmp_path: Path) -> Iterator[Sshd]:
    """A server of the test's own, whose sessions may be stopped and killed."""
    if sshd_support.PROGRAM is None:
        pytest.skip("no sshd program is installed (openssh-server)")
    server = Sshd(tmp_path / "sshd")
    server.start()
    server.known_hosts()
    server.ssh_config()
    yield server
    server.stop()


@pytest.mark.parametrize(
    ("sign", "timeout", "state", "said"),
    [
        (signal.SIGSTOP, 2.0, State.TIMED_OUT, "no end within 2s"),
        (signal.SIGKILL, 60.0, State.FAILED, "the connection was lost"),
    ],
)
def test_a_copy_ends_with_its_deadline_or_its_connection(
    sign: signal.Signals, timeout: float, state: State, said: str, breakable: Sshd, tmp_path: Path
) -> None:
    """Where the other side stands still or dies in the middle, the copy ends, says so and is not begun anew by scp."""
    source, untold, told = tmp_path / "one", list[str](), list[int]()
    source.write_bytes(bytes(8 << 20))

    def sent(size: int) -> None:
        told.append(size)
        if len(told) == 5:
            for session in breakable.sessions():
                os.kill(session, sign)

    upload = Upload(
        sources=(source,), destination=str(tmp_path / "to"), sent=sent, untold=lambda: untold.append("once")
    )
    reply = copied(over(OpensshTransport, breakable, timeout=timeout), upload)
    assert (reply.state, untold) == (state, []) and said in reply.problem, reply
