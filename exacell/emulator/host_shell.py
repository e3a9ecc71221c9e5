"""Shells of an emulated host's sessions: pipes or a pty between an SSH channel and a process group behind the host's fence."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import struct
import termios
from asyncio.streams import FlowControlMixin
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from asyncssh import BreakReceived, SignalReceived, SSHServerProcess, SSHWriter, TerminalSizeChanged

from exacell.emulator.fence import Fence, FencedShell

_Some = TypeVar("_Some", tuple[int], tuple[int, int])
_CHUNK = 65536
_HANGUP_S = 2.0
"""What a process group gets between SIGHUP and SIGKILL once its client is gone."""
_PIECES = 8
"""Pieces of output that wait for the client before no more are read."""
_DRAIN_S = 5.0
"""How long more output may come from a pty whose shell has ended; what has come is sent, however slowly it is taken."""


async def run_shell(
    channel: SSHServerProcess[bytes],
    fence: Fence,
    argv: Sequence[str],
    *,
    cwd: str,
    environment: Mapping[str, str],
    tty: bool,
) -> int:
    """Run ``argv`` behind a fence with the channel as its standard streams and return its exit status, negative for the
    signal that ended it.

    When the task is cancelled, the process group gets SIGHUP and then SIGKILL; a command that put itself into the
    background of a session that ended well goes on, as on a real host.
    """
    if tty:
        return await _on_pty(channel, fence, argv, cwd, environment)
    return await _on_pipes(channel, fence, argv, cwd, environment)


async def _on_pipes(
    channel: SSHServerProcess[bytes], fence: Fence, argv: Sequence[str], cwd: str, env: Mapping[str, str]
) -> int:
    async with _Streams() as streams:
        theirs_in, ours_in = streams.own(os.pipe())
        ours_out, theirs_out = streams.own(os.pipe())
        ours_err, theirs_err = streams.own(os.pipe())
        process, _ = await fence.start(argv, cwd=cwd, environment=env, streams=(theirs_in, theirs_out, theirs_err))
        async with _Guarded(process):
            streams.close(theirs_in, theirs_out, theirs_err)
            writer = await streams.writer(ours_in)
            out, err = await streams.reader(ours_out), await streams.reader(ours_err)
            streams.start(_feed(channel, writer))
            shown = [streams.start(_show(out, channel.stdout)), streams.start(_show(err, channel.stderr))]
            status = await process.wait()
            _abort(writer)
            await asyncio.gather(*shown)
    return status


class _Output(asyncio.Protocol):
    """What a pipe or a pty gives, piece by piece until its other end is closed.

    asyncio's own StreamReader forgets what it holds when a pty ends, which is an error (EIO) to it.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._changed = asyncio.Event()
        self._ended = self._awaited = False
        self._transport: asyncio.ReadTransport | None = None

    @property
    def idle(self) -> bool:
        """Whether all that came has been dealt with, and more is waited for."""
        return self._awaited and not self._pieces

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.ReadTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._pieces.append(data)
        self._changed.set()
        if self._transport is not None and len(self._pieces) >= _PIECES:
            self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._changed.set()

    async def read(self) -> bytes:
        """Return what has come since the last call, waiting for something; empty at the end."""
        while not self._pieces and not self._ended:
            self._changed.clear()
            self._awaited = True
            await self._changed.wait()
        self._awaited = False
        data = b"".join(self._pieces)
        self._pieces.clear()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()
        return data


class _Streams:
    """Our ends of a session's pipes, and the tasks that carry what goes through them; all closed when the block is left."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._writers: list[asyncio.StreamWriter] = []
        self._readers: list[asyncio.ReadTransport] = []
        self._owned: set[int] = set()

    async def __aenter__(self) -> _Streams:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        for writer in self._writers:
            _abort(writer)
        for reader in self._readers:
            reader.close()
        self.close(*self._owned)
        # Last: whoever cancels us once more shall find all closed.
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def own(self, descriptors: _Some) -> _Some:
        """Return some descriptors, which are closed in the end unless something reads or writes them."""
        self._owned.update(descriptors)
        return descriptors

    def close(self, *descriptors: int) -> None:
        """Close some of our own descriptors."""
        for descriptor in descriptors:
            self._owned.discard(descriptor)
            os.close(descriptor)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Let a task run until the block is left."""
        task = asyncio.ensure_future(work)
        self._tasks.append(task)
        return task

    async def writer(self, descriptor: int) -> asyncio.StreamWriter:
        """Return what writes into a descriptor, which is closed with it."""
        loop = asyncio.get_running_loop()
        self._owned.discard(descriptor)
        pipe = os.fdopen(descriptor, "wb", buffering=0)
        transport, protocol = await loop.connect_write_pipe(FlowControlMixin, pipe)
        self._writers.append(asyncio.StreamWriter(transport, protocol, None, loop))
        return self._writers[-1]

    async def reader(self, descriptor: int) -> _Output:
        """Return what reads from a descriptor, which is closed with it."""
        self._owned.discard(descriptor)
        pipe = os.fdopen(descriptor, "rb", buffering=0)
        transport, protocol = await asyncio.get_running_loop().connect_read_pipe(_Output, pipe)
        self._readers.append(transport)
        return protocol


def _abort(writer: asyncio.StreamWriter) -> None:
    """Close a writer with what it still holds; asyncio refuses that to one which is closed."""
    transport = writer.transport
    if not transport.is_closing() or transport.get_write_buffer_size():
        transport.abort()


async def _show(source: _Output, target: SSHWriter[bytes]) -> None:
    """Send what a pipe gives to the client until it ends, or the client is gone."""
    try:
        while data := await source.read():
            target.write(data)
            await target.drain()
    except ConnectionError:
        return


async def _feed(channel: SSHServerProcess[bytes], writer: asyncio.StreamWriter, *, terminal: int | None = None) -> None:
    """Write what the client sends into a pipe, close it at the end, and stop when nobody reads it any more.

    Args:
        terminal: the descriptor of the pty that takes on the client's window's size; None without one.

    The channel's own redirection would lose the end of a long input: it writes from within the pipe's callback that
    there is room again, and when the end comes in there too, asyncio closes the pipe over what is still in its buffer
    (CPython 3.11, ``_UnixWritePipeTransport._write_ready``). Here a task waits for the room, and never writes from there.
    """
    try:
        while True:
            try:
                data = await channel.stdin.read(_CHUNK)
            except (BreakReceived, SignalReceived):
                continue
            except TerminalSizeChanged as size:
                if terminal is not None:
                    _set_size(terminal, size.width, size.height)
                continue
            if not data:
                break
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        return
    writer.close()


async def _on_pty(
    channel: SSHServerProcess[bytes], fence: Fence, argv: Sequence[str], cwd: str, env: Mapping[str, str]
) -> int:
    async with _Streams() as streams:
        width, height, *_ = channel.get_terminal_size()
        process, master = await fence.start(argv, cwd=cwd, environment=env, streams=None, size=(height, width))
        streams.own((master,))
        async with _Guarded(process):
            writer = await streams.writer(os.dup(master))
            out = await streams.reader(master)
            streams.start(_feed(channel, writer, terminal=master))
            shown = streams.start(_show(out, channel.stdout))
            status = await process.wait()
            # A background process may keep the terminal open: the shell has ended, and so does the session.
            while not (await asyncio.wait([shown], timeout=_DRAIN_S))[0] and not out.idle:
                continue
    return status


class _Guarded:
    """Ends a process group when the block is left before the process has ended."""

    def __init__(self, process: FencedShell) -> None:
        self._process = process

    async def __aenter__(self) -> None:
        return None

    async def __aexit__(self, *_: object) -> None:
        if self._process.returncode is not None:
            return
        await self._process.signal(signal.SIGHUP)
        await self._process.signal(signal.SIGCONT)
        try:
            await asyncio.wait_for(self._process.wait(), _HANGUP_S)
        except TimeoutError:
            await self._process.signal(signal.SIGKILL)
            await self._process.wait()


def _set_size(terminal: int, width: int, height: int) -> None:
    """Give a pty the size of the client's window, in characters."""
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", height & 0xFFFF, width & 0xFFFF, 0, 0))
