"""Runs an emulated program against a console: the only module where programs (generators) wait for time and input."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from exacell.emulator.basics.program import Ask, Cut, Out, Pause, Program

_CHUNK = 16384
"""Characters of output gathered before they are sent, so that a long LIST needs few packets instead of one for each line."""
_TURN_S = 0.02
"""Seconds after which other sessions get a turn, even if the program has not waited."""


class ConsoleLost(Exception):
    """The other end of a console is closed: nobody reads the program's output."""


class Console(Protocol):
    """The destination of a program's output and the source of its input."""

    async def write(self, text: str, *, err: bool) -> None:
        """Send text and wait until there is room for more.

        Raises:
            ConsoleLost: the other end is closed.
        """

    async def read_line(self, prompt: str) -> str | None:
        """Show the prompt and return the next line without its newline, None at the end of input.

        Raises:
            ConsoleLost: the other end is closed.
        """

    async def cut(self) -> None:
        """Break the connection, as a failing network does."""


class _Printer:
    """Gathers pieces of text for one console, in order over both of its streams."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._pieces: list[str] = []
        self._size = 0
        self._err = False
        self._left: int | None = None

    async def cut_after(self, size: int) -> None:
        """Send only ``size`` more bytes and then break the connection.

        Raises:
            ConsoleLost: the connection was broken at once.
        """
        await self.flush()
        self._left = size
        if not size:
            await self._cut()

    async def _cut(self) -> None:
        await self._console.cut()
        raise ConsoleLost("cut by an injected fault")

    async def add(self, out: Out) -> None:
        if out.err != self._err:
            await self.flush()
            self._err = out.err
        self._pieces.append(out.text)
        self._size += len(out.text)
        if self._size >= _CHUNK:
            await self.flush()

    async def flush(self) -> None:
        if self._size:
            text = "".join(self._pieces)
            self._pieces.clear()
            self._size = 0
            if self._left is None:
                await self._console.write(text, err=self._err)
            else:
                await self._write_last(text)

    async def _write_last(self, text: str) -> None:
        data = text.encode("utf-8", "surrogateescape")
        assert self._left is not None
        kept = data[: self._left]
        self._left -= len(kept)
        await self._console.write(kept.decode("utf-8", "surrogateescape"), err=self._err)
        if not self._left:
            await self._cut()


async def drive(
    program: Program,
    console: Console,
    *,
    wall_seconds: Callable[[Pause], float],
    between: Callable[[], None] = lambda: None,
) -> int:
    """Run ``program`` to its end and return its exit status.

    Cancelling the task, or a lost console, closes the generator, so its ``finally`` blocks run.

    Args:
        wall_seconds: how long a pause lasts on the wall clock.
        between: called whenever a statement may have ended: before each pause and each line of
            input, and at the end.

    Raises:
        ConsoleLost: the other end of the console is closed.
        Exception: any exception of the program; the caller logs it.
    """
    printer = _Printer(console)
    answer: str | None = None
    turn = time.monotonic()
    try:
        while True:
            if time.monotonic() - turn > _TURN_S:
                await asyncio.sleep(0)
                turn = time.monotonic()
            try:
                event = program.send(answer)
            except StopIteration as end:
                await printer.flush()
                return int(end.value or 0)
            except Exception:
                # Output from before the failure is sent before the failure is reported.
                await printer.flush()
                raise
            answer = None
            if isinstance(event, Out):
                await printer.add(event)
            elif isinstance(event, Pause):
                between()
                await printer.flush()
                await asyncio.sleep(max(0.0, wall_seconds(event)))
            elif isinstance(event, Ask):
                if not event.unchanged:
                    between()
                await printer.flush()
                answer = await console.read_line(event.prompt)
            elif isinstance(event, Cut):
                between()
                await printer.cut_after(event.after)
            else:
                raise TypeError(f"a program yielded {event!r}, which is no event")
    finally:
        program.close()
        between()


class LineBuffer:
    """Cuts input that arrives in pieces into lines.

    Args:
        limit: the most characters in a line; the rest becomes another line, so that memory stays bounded.
    """

    def __init__(self, limit: int = 1 << 20) -> None:
        self._pending = b""
        self._ended = False
        self._limit = limit

    def feed(self, data: bytes) -> None:
        """Add received bytes; empty bytes mean the end of input."""
        if data:
            self._pending += data
        else:
            self._ended = True

    def next(self) -> tuple[bool, str | None]:
        """Return (True, line), (True, None) at the end of input, or (False, None) if more input is needed first."""
        cut = self._pending.find(b"\n", 0, self._limit)
        if cut >= 0:
            line, self._pending = self._pending[:cut], self._pending[cut + 1 :]
        elif len(self._pending) >= self._limit:
            line, self._pending = self._pending[: self._limit], self._pending[self._limit :]
        elif not self._ended:
            return False, None
        elif self._pending:
            line, self._pending = self._pending, b""
        else:
            return True, None
        return True, line.removesuffix(b"\r").decode("utf-8", "surrogateescape")
