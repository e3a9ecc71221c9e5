"""Shells of an emulated host's sessions: pipes or a pty between an SSH channel and the processes behind the host's fence."""

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

from exacell.emulator.hosts.fence import Fence, FencedShell

_Some = TypeVar("_Some", tuple[int], tuple[int, int])
_CHUNK = 65536
_HANGUP_S = 2.0
"""Seconds between SIGHUP and SIGKILL for a process group whose client is gone."""
_PIECES = 8
"""Pieces of output that may wait for the client; while there are so many, no more output is read."""
_DRAIN_S = 5.0
"""Seconds in which more output is read from a pty whose shell has ended; what was read is sent even to a slow client."""


async def run_shell(
    channel: SSHServerProcess[bytes],
    fence: Fence,
    argv: Sequence[str],
    *,
    cwd: str,
    environment: Mapping[str, str],
    tty: bool,
) -> int:
    """Run ``argv`` behind a fence with the channel as its standard streams; return its exit status, negative for the ending
    signal.

    When the task is cancelled, the process group gets SIGHUP and then SIGKILL; a background command of a session that ended
    normally continues, as on a real host.
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
    """The output of a pipe or a pty, piece by piece until its other end is closed.

    asyncio's own StreamReader loses the data that it holds when a pty ends, because the end is an error (EIO) to it.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._changed = asyncio.Event()
        self._ended = self._awaited = False
        self._transport: asyncio.ReadTransport | None = None

    @property
    def idle(self) -> bool:
        """Return whether all output so far has been handled and more is awaited."""
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
        """Wait for output and return all that arrived since the last call; empty at the end."""
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
    """Our ends of a session's pipes, and the tasks that move data through them; all are closed when the block ends."""

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
        # Last, so that all is closed even if this task is cancelled once more.
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def own(self, descriptors: _Some) -> _Some:
        """Return descriptors; they are closed when the block ends, unless a reader or writer has them."""
        self._owned.update(descriptors)
        return descriptors

    def close(self, *descriptors: int) -> None:
        """Close some of our own descriptors."""
        for descriptor in descriptors:
            self._owned.discard(descriptor)
            os.close(descriptor)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that runs until the block ends."""
        task = asyncio.ensure_future(work)
        self._tasks.append(task)
        return task

    async def writer(self, descriptor: int) -> asyncio.StreamWriter:
        """Return a writer to a descriptor; closing the writer closes the descriptor."""
        loop = asyncio.get_running_loop()
        self._owned.discard(descriptor)
        pipe = os.fdopen(descriptor, "wb", buffering=0)
        transport, protocol = await loop.connect_write_pipe(FlowControlMixin, pipe)
        self._writers.append(asyncio.StreamWriter(transport, protocol, None, loop))
        return self._writers[-1]

    async def reader(self, descriptor: int) -> _Output:
        """Return a reader of a descriptor; closing the reader closes the descriptor."""
        self._owned.discard(descriptor)
        pipe = os.fdopen(descriptor, "rb", buffering=0)
        transport, protocol = await asyncio.get_running_loop().connect_read_pipe(_Output, pipe)
        self._readers.append(transport)
        return protocol


def _abort(writer: asyncio.StreamWriter) -> None:
    """Close a writer and drop its unsent data; a writer that is closed already makes asyncio raise an error."""
    transport = writer.transport
    if not transport.is_closing() or transport.get_write_buffer_size():
        transport.abort()


async def _show(source: _Output, target: SSHWriter[bytes]) -> None:
    """Send a pipe's output to the client until the pipe ends or the client is gone."""
    try:
        while data := await source.read():
            target.write(data)
            await target.drain()
    except ConnectionError:
        return


async def _feed(channel: SSHServerProcess[bytes], writer: asyncio.StreamWriter, *, terminal: int | None = None) -> None:
    """Write the client's input into a pipe; close the pipe at the end, and stop if nobody reads it any more.

    Args:
        terminal: the descriptor of the pty that gets the size of the client's window; None without a pty.

    The channel's own redirection would lose the end of a long input: it writes inside the pipe's callback for free room, and if
    the end arrives there too, asyncio closes the pipe with data still in its buffer (CPython 3.11,
    ``_UnixWritePipeTransport._write_ready``). Here a task waits for free room, and never writes in that callback.
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
            # A background process may keep the terminal open, but the session ends with its shell.
            while not (await asyncio.wait([shown], timeout=_DRAIN_S))[0] and not out.idle:
                continue
    return status


class _Guarded:
    """Ends a process group if the block ends before the process does."""

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
    """Set a pty to the size of the client's window, in characters."""
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", height & 0xFFFF, width & 0xFFFF, 0, 0))
