"""Answers that are large: on disk, read in pieces, and broken off where they are larger than they may be."""

from __future__ import annotations

import asyncio
import errno
import io
from collections.abc import Callable
from pathlib import Path

import asyncssh
import pytest

from exacell.transport import capture as capture_module
from exacell.transport.base import Feed, Reply, Request, Role, State
from exacell.transport.capture import SPILL, Capture, End, Store
from exacell.transport.ssh import SshTransport, kept_cellcli as session_module
from tests.support.faulty import FaultyServer
from tests.support.requests import CELLS, read
from tests.support.sshd import Sshd

MakeTransport = Callable[..., SshTransport]
LINES = 400_000


@pytest.mark.sshd
def test_a_large_answer_is_on_disk_for_who_asks_for_that(sshd: Sshd, transport_to: MakeTransport) -> None:
    """With in_pieces a large answer is read from disk as often as wanted; a small one, and who has not asked, gets text."""
    transport = transport_to(sshd.ssh_config(), sshd.user)
    commands = [
        read(CELLS[0], f"seq {LINES}", in_pieces=True),
        read(CELLS[1], f"seq {LINES}"),
        read(CELLS[2], "seq 3", in_pieces=True),
    ]
    large, text, small = transport.run(commands).replies.values()
    wanted = "".join(f"{n}\n" for n in range(1, LINES + 1))
    assert (large.state, large.stdout, text.stdout == wanted, text.large) == (State.OK, "", True, None)
    assert large.large is not None and large.large.size == len(wanted)
    for _ in range(2):
        assert b"".join(large.large.pieces()).decode() == wanted == large.large.text
    assert (small.stdout, small.large) == ("1\n2\n3\n", None)


@pytest.mark.sshd
@pytest.mark.parametrize("in_pieces", [True, False])
def test_an_endless_answer_is_that_targets_failure(sshd: Sshd, transport_to: MakeTransport, in_pieces: bool) -> None:
    """yes is broken off at max_answer with nothing of it kept, and the other answers stand."""
    transport = transport_to(sshd.ssh_config(), sshd.user, max_answer=3 << 20)
    commands = [read(CELLS[0], "yes", in_pieces=in_pieces), read(CELLS[1], "yes >&2"), read(CELLS[2], "seq 3")]
    for _ in range(2):  # The connection goes on being used.
        out, err, good = transport.run(commands).replies.values()
        for endless in (out, err):
            assert (endless.state, endless.stdout, endless.stderr, endless.large) == (State.FAILED, "", "", None)
            assert endless.problem == (
                "its answer is larger than 3M: it was cut off and is not used (`set max_answer` raises the limit)"
            )
        assert (good.state, good.stdout) == (State.OK, "1\n2\n3\n")


class LargeCellcli(FaultyServer):
    """A CellCLI that is kept open and prints so many lines for ``list X``."""

    lines = LINES

    async def _answer(self, process: asyncssh.SSHServerProcess, command: str) -> None:
        async for raw in process.stdin:
            line = raw.decode().rstrip("\n")
            if line.startswith(("start ", "list celldisk exacell")):
                process.stdout.write(f"CELL-00001: there is no {line.split()[-1]}\n".encode())
                continue
            for first in range(0, self.lines, 1000):
                process.stdout.write("".join(f"\t {n}\n" for n in range(first, first + 1000)).encode())
                await process.stdout.drain()
                await asyncio.sleep(0)


def ask(transport: SshTransport, *, in_pieces: bool) -> Reply:
    feed = Feed(program="cellcli -m -n -x", statements=("list x",))
    request = Request(target="c", command="cellcli -e list x", role=Role.READ, feed=feed, in_pieces=in_pieces)
    return transport.run([request]).replies["c"]


def test_a_kept_cellcli_may_answer_at_length(
    tmp_path: Path, transport_to: MakeTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large answer of a CellCLI that is kept open is whole, on disk where asked for, and broken off at max_answer."""
    monkeypatch.setattr(session_module, "QUIET_S", 5.0)
    server = LargeCellcli(tmp_path)
    server.start()
    try:
        transport = transport_to(server.ssh_config(), "u", timeout=60)
        transport.warm(["c"]).join(300)
        wanted = "".join(f"\t {n}\n" for n in range(LINES))
        large, text = ask(transport, in_pieces=True), ask(transport, in_pieces=False)
        assert large.large is not None and large.large.text == wanted == text.stdout
        server.lines = 1000
        assert ask(transport, in_pieces=True).stdout == wanted[: wanted.index("\t 1000\n")]
        server.lines = LINES
        transport.settings = transport.settings.with_value("max_answer", "1m")
        ended = ask(transport, in_pieces=True)
        assert (ended.state, ended.stdout, ended.large) == (State.FAILED, "", None)
        assert "larger than 1M" in ended.problem
        transport.settings = transport.settings.with_value("max_answer", "100m")
        assert ask(transport, in_pieces=False).stdout == wanted
    finally:
        server.stop()


def test_a_full_disk_ends_what_memory_may_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the disk is full an answer stays in memory up to a limit, and one with more has no room and is dropped."""

    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Full())
    monkeypatch.setattr(capture_module, "MOST_IN_MEMORY", 2 * SPILL)
    ends: list[End] = []
    capture = Capture(limit=100 * SPILL)
    capture.on_limit = ends.append
    capture.take(b"a" * (SPILL + 1))
    assert capture.stdout == "a" * (SPILL + 1) and not ends
    capture.take(b"b" * SPILL)
    capture.take(b"c")
    assert ends == [End.NO_ROOM] and capture.empty


def test_a_file_is_handed_over_once_and_only_where_there_is_one() -> None:
    """What is small stays in memory; what was handed over is no longer kept, and its file has no name for others."""
    store = Store()
    store.add(b"few")
    assert store.hand_over_file() is None and store.text == "few"
    store.add(b"x" * SPILL)
    spooled = store.hand_over_file()
    assert spooled is not None and spooled.size == SPILL + 3 and len(store) == 0 and store.text == ""
    assert spooled.text == "few" + "x" * SPILL
