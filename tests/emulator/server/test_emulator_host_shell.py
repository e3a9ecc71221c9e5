"""Shells behind a session whose client may leave at any moment."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from asyncssh import SSHServerProcess

from exacell.emulator import host_shell
from exacell.emulator.host_shell import run_shell


class Pipe:
    """A channel's stream to the client, which takes what it gets, and from it, which gives some bytes and then nothing."""

    def __init__(self, given: bytes = b"") -> None:
        self.taken, self._given = b"", given

    def write(self, data: bytes) -> None:
        self.taken += data

    async def drain(self) -> None:
        await asyncio.sleep(0)

    async def read(self, size: int) -> bytes:
        data, self._given = self._given[:size], self._given[size:]
        if not data:
            await asyncio.sleep(3600)
        return data


class SlowPipe(Pipe):
    """A stream to a client that takes its time over each piece."""

    async def drain(self) -> None:
        await asyncio.sleep(0.2)


class Channel:
    """As much of an SSH channel as a shell needs."""

    def __init__(self, given: bytes = b"") -> None:
        self.stdin, self.stdout, self.stderr = Pipe(given), Pipe(), Pipe()

    def get_terminal_size(self) -> tuple[int, int, int, int]:
        return 80, 24, 0, 0


def shell(channel: Channel, command: str, *, tty: bool) -> Any:
    """Return the coroutine that runs a command for a channel."""
    known = cast("SSHServerProcess[bytes]", channel)
    return run_shell(known, ["/bin/sh", "-c", command], cwd=Path("/"), environment=dict(os.environ), tty=tty)


@pytest.fixture(autouse=True)
def children_are_watched_cheaply() -> Iterator[None]:
    """As the rack's process has it, and only here: a rack in a thread of this process needs what was there before."""
    if sys.version_info >= (3, 12) or not hasattr(os, "pidfd_open"):
        yield
        return
    before = asyncio.get_child_watcher()
    asyncio.set_child_watcher(asyncio.PidfdChildWatcher())
    yield
    asyncio.set_child_watcher(before)


@pytest.mark.parametrize("tty", [False, True])
def test_a_client_that_leaves_at_any_moment_leaves_nothing_open(tty: bool) -> None:
    """Wherever a session is cut off, from before its shell starts until it runs, all its descriptors are closed."""

    async def cut(steps: int) -> None:
        work = asyncio.ensure_future(shell(Channel(b"x\n" * 200_000), "head -c 9; sleep 30", tty=tty))
        for _ in range(steps):
            await asyncio.sleep(0.0005 if steps % 2 else 0)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await asyncio.sleep(0.01)

    async def run() -> tuple[int, int]:
        await cut(5)
        before = len(os.listdir("/proc/self/fd"))
        for steps in range(40):
            await cut(steps)
        return before, len(os.listdir("/proc/self/fd"))

    before, after = asyncio.run(run())
    assert after <= before


@pytest.mark.parametrize("tty", [False, True])
def test_all_output_arrives_before_the_session_ends(tty: bool) -> None:
    """What a command has printed when it ends reaches the client, and so does its exit status."""

    async def run() -> tuple[int, bytes]:
        channel = Channel()
        status = await shell(channel, "seq 60000; exit 7", tty=tty)
        return status, channel.stdout.taken

    status, text = asyncio.run(run())
    assert (status, text.split()[-1], text.count(b"\n")) == (7, b"60000", 60000)


def test_a_slow_client_gets_all_that_a_terminal_showed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was printed on a terminal before its shell ended is not cut off, however slowly the client takes it."""
    monkeypatch.setattr(host_shell, "_DRAIN_S", 0.02)
    channel = Channel()
    channel.stdout = SlowPipe()
    assert asyncio.run(asyncio.wait_for(shell(channel, "seq 9000", tty=True), 60)) == 0
    assert channel.stdout.taken.decode().split() == [str(number) for number in range(1, 9001)]


def test_what_holds_a_terminal_open_does_not_hold_up_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session at a terminal ends with its shell, whatever in the background still has the terminal."""
    monkeypatch.setattr(host_shell, "_DRAIN_S", 0.02)
    channel = Channel()
    command = "trap '' HUP; sleep 5 & echo done; exit 3"
    assert asyncio.run(asyncio.wait_for(shell(channel, command, tty=True), 30)) == 3
    assert channel.stdout.taken == b"done\r\n"
