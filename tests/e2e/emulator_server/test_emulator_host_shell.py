"""Shells behind a session whose client may leave at any moment."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from asyncssh import SSHServerProcess

from exacell.core.errors import EmulatorError
from exacell.emulator.hosts import host_shell
from exacell.emulator.hosts.fence import Fence, Fences
from exacell.emulator.hosts.fence_launcher import OWN
from exacell.emulator.hosts.host_shell import run_shell


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


@asynccontextmanager
async def a_fence(folder: Path) -> AsyncIterator[Fence]:
    """Open a fence around an empty host; skip where there can be none."""
    fences = Fences(folder)
    for directory in (folder / "layer" / "usr", *(folder / "tree" / name for name in OWN)):
        directory.mkdir(parents=True)
    try:
        fence, programs = await fences.open(
            "h", folder / "tree", folder / "layer" / "usr", shown={}, ports=(), on_port=lambda *_: None
        )
    except EmulatorError as error:
        fences.close()
        pytest.skip(f"this machine allows no fence: {error}")
    programs.close()
    try:
        yield fence
    finally:
        fences.close()


def shell(channel: Channel, fence: Fence, command: str, *, tty: bool) -> Any:
    """Return the coroutine that runs a command for a channel."""
    known = cast("SSHServerProcess[bytes]", channel)
    environment = {"PATH": "/usr/bin:/bin"}
    return run_shell(known, fence, ["/bin/sh", "-c", command], cwd="/", environment=environment, tty=tty)


@pytest.mark.parametrize("tty", [False, True])
def test_a_client_that_leaves_at_any_moment_leaves_nothing_open(tty: bool, tmp_path: Path) -> None:
    """Wherever a session is cut off, from before its shell starts until it runs, all its descriptors are closed."""

    async def cut(fence: Fence, steps: int) -> None:
        work = asyncio.ensure_future(shell(Channel(b"x\n" * 200_000), fence, "head -c 9; sleep 30", tty=tty))
        for _ in range(steps):
            await asyncio.sleep(0.0005 if steps % 2 else 0)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await asyncio.sleep(0.01)

    async def run() -> tuple[int, int]:
        async with a_fence(tmp_path) as fence:
            await cut(fence, 5)
            before = len(os.listdir("/proc/self/fd"))
            for steps in range(40):
                await cut(fence, steps)
            return before, len(os.listdir("/proc/self/fd"))

    before, after = asyncio.run(run())
    assert after <= before


@pytest.mark.parametrize("tty", [False, True])
def test_all_output_arrives_before_the_session_ends(tty: bool, tmp_path: Path) -> None:
    """What a command has printed when it ends reaches the client, and so does its exit status."""

    async def run() -> tuple[int, bytes]:
        channel = Channel()
        async with a_fence(tmp_path) as fence:
            status = await shell(channel, fence, "seq 60000; exit 7", tty=tty)
        return status, channel.stdout.taken

    status, text = asyncio.run(run())
    assert (status, text.split()[-1], text.count(b"\n")) == (7, b"60000", 60000)


async def on_terminal(channel: Channel, folder: Path, command: str) -> int:
    """Return the status of a command that runs on a terminal."""
    async with a_fence(folder) as fence:
        return int(await asyncio.wait_for(shell(channel, fence, command, tty=True), 60))


def test_a_slow_client_gets_all_that_a_terminal_showed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What was printed on a terminal before its shell ended is not cut off, however slowly the client takes it."""
    monkeypatch.setattr(host_shell, "_DRAIN_S", 0.02)
    channel = Channel()
    channel.stdout = SlowPipe()
    assert asyncio.run(on_terminal(channel, tmp_path, "seq 9000")) == 0
    assert channel.stdout.taken.decode().split() == [str(number) for number in range(1, 9001)]


def test_what_holds_a_terminal_open_does_not_hold_up_the_session(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A session at a terminal ends with its shell, whatever in the background still has the terminal."""
    monkeypatch.setattr(host_shell, "_DRAIN_S", 0.02)
    channel = Channel()
    command = "trap '' HUP; sleep 5 & echo done; exit 3"
    assert asyncio.run(on_terminal(channel, tmp_path, command)) == 3
    assert channel.stdout.taken == b"done\r\n"
