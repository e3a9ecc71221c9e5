"""Drives pairs (:mod:`exacell.transport.exchange`) from a thread of its own over a program's streams.

However it ends, it is known whether the statement left: a look that is late, a program that ends or a connection that
breaks before that means that nothing was sent.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from exacell.transport.base import Pair, Reply, Request, State
from exacell.transport.exchange import TICK, Act, Exchange
from exacell.transport.fanout import Flight
from exacell.transport.local_process import Ended, LocalProcess
from exacell.transport.replies import no_end

ENDED = "it ended the program before it had answered the look at it"
NOTHING = "; nothing was sent"

VIGIL_S = 0.004
"""Seconds after which it is asked again whether the rack is ours still, where that was not known."""


def data_of(text: str) -> bytes:
    """Return what is fed of a text."""
    return text.encode("utf-8", "surrogateescape")


def late_look(flight: Flight, pair: Pair) -> Reply:
    """Return the reply of a target that did not answer the look in time."""
    problem = f"no answer within {pair.within:g}s to the look right before the statement{NOTHING}"
    return flight.reply(State.UNREACHABLE, problem)


def unsent(flight: Flight, exchange: Exchange) -> Reply:
    """Return the reply of a statement that was not sent, and why."""
    reply = flight.reply(State.NOT_ATTEMPTED, exchange.refusal)
    return replace(reply, looked=exchange.looked)


def wait_until_ours(request: Request) -> str:
    """Return why a command must not leave, empty when it may; waits where that is not known at the moment."""
    while request.ours is not None:
        why = request.ours()
        if why is not None:
            return why
        time.sleep(VIGIL_S)
    return ""


class Pipe(Protocol):
    """A program's input and output, driven by one thread."""

    def hear(self, seconds: float | None) -> bytes | None:
        """Return output; empty when it has ended, None when nothing came within ``seconds``."""

    def say(self, data: bytes, *, last: bool) -> None:
        """Feed ``data``; ``last`` ends the input. A program that takes nothing any more is heard of by its end."""


def converse(
    pair: Pair, exchange: Exchange, pipe: Pipe, *, sending: Callable[[], bool], take: Callable[[bytes], None]
) -> None:
    """Carry a pair out over ``pipe``; :attr:`Exchange.sent` tells whether the statement left.

    Args:
        sending: called before the statement leaves; False when nobody waits for it any more.
        take: gets what comes behind the statement.
    """
    while True:
        match exchange.next():
            case Act.LOOK:
                exchange.fed()
                pipe.say(data_of(pair.look), last=False)
            case Act.SEND:
                if not sending():
                    exchange.end("nobody waits for it any more")
                elif exchange.may():
                    pipe.say(data_of(pair.statement), last=True)
                    exchange.left()
                else:
                    exchange.barred()
            case Act.END:
                while exchange.sent and (piece := pipe.hear(None)):
                    take(piece)
                return
            case _:
                piece = pipe.hear(TICK)
                if piece:
                    exchange.take(piece)
                elif piece is None:
                    exchange.tick()
                else:
                    exchange.end(ENDED + NOTHING)


class ProcessPipe:
    """A program of this host, with its three streams as pipes."""

    def __init__(self, process: subprocess.Popen[bytes], take_error: Callable[[bytes], None]) -> None:
        assert process.stdin and process.stdout and process.stderr
        self._input, self._output = process.stdin, process.stdout
        self._take_error = take_error
        self._selector = selectors.DefaultSelector()
        self._selector.register(process.stdout, selectors.EVENT_READ, 1)
        self._selector.register(process.stderr, selectors.EVENT_READ, 2)

    def hear(self, seconds: float | None) -> bytes | None:
        """Return standard output; standard error goes to whoever takes it."""
        while True:
            ready = self._selector.select(seconds)
            if not ready:
                return None
            for key, _ in sorted(ready, key=lambda item: int(item[0].data), reverse=True):
                piece = os.read(key.fd, 1 << 16)
                if key.data == 1:
                    return piece
                if piece:
                    self._take_error(piece)
                else:
                    self._selector.unregister(key.fileobj)

    def say(self, data: bytes, *, last: bool) -> None:
        """Feed ``data``."""
        try:
            self._input.write(data)
            self._input.flush()
            if last:
                self._input.close()
        except (BrokenPipeError, ValueError):
            return  # Its end is heard of.

    def close(self) -> None:
        """Close our ends."""
        self._selector.close()


def over_process(
    flight: Flight, child: LocalProcess, pair: Pair, seconds: float, reply: Callable[[Ended], Reply]
) -> Reply:
    """Carry a pair out with a program of this host, by the calling thread, and return the reply.

    Args:
        reply: makes it of how the program ended, where the statement left.

    Raises:
        TransportError: the program can't be started.
    """
    exchange, gone = Exchange(pair), False

    def give_up() -> None:
        nonlocal gone
        gone = True
        child.kill()

    def late() -> Reply:
        if not exchange.sent:
            return late_look(flight, pair)
        said = flight.reply(State.TIMED_OUT, no_end(flight.request, seconds), stdout=child.stdout, stderr=child.stderr)
        return replace(said, looked=exchange.looked)

    def sending() -> bool:
        flight.stage(seconds, abort=give_up, late=late)
        return not gone

    def talk(process: subprocess.Popen[bytes]) -> None:
        pipe = ProcessPipe(process, child.take_error)
        try:
            converse(pair, exchange, pipe, sending=sending, take=child.take)
        finally:
            pipe.close()
        if not exchange.sent:
            child.kill()

    flight.stage(pair.within, abort=give_up, late=late)
    ended = child.run(talk)
    return replace(reply(ended), looked=exchange.looked) if exchange.sent else unsent(flight, exchange)
