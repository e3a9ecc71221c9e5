"""Drives pairs (:mod:`exacell.transport.exchange`): over a stream of the one reader, or from a thread of its own over a pipe.

However it ends, it is known whether the statement left: a look that is late, a program that ends or a connection that
breaks before that means that nothing was sent.
"""

from __future__ import annotations

import functools
import os
import selectors
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from exacell.transport.base import Pair, Reply, Request, State
from exacell.transport.capture import Capture, End, Ending, listen
from exacell.transport.exchange import TICK, Act, Exchange
from exacell.transport.fanout import Flight
from exacell.transport.replies import PROBLEMS, no_end, reply_of

if TYPE_CHECKING:
    import paramiko

    from exacell.transport.local_process import Child, Ended
    from exacell.transport.ssh.connection import Link
    from exacell.transport.ssh.stream import Stream

ENDED = "it ended the program before it had answered the look at it"
NOTHING = "; nothing was sent"

_VIGIL_S = 0.004
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
        time.sleep(_VIGIL_S)
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


class ChannelPipe:
    """A plain channel on which the program has been started."""

    def __init__(self, channel: paramiko.Channel, capture: Capture) -> None:
        self._channel, self._capture = channel, capture
        self._bell = listen(channel)

    def hear(self, seconds: float | None) -> bytes | None:
        """Return standard output; standard error is kept."""
        channel = self._channel
        while True:
            self._bell.rearm()
            ended = channel.eof_received or channel.closed
            while channel.recv_stderr_ready():
                self._capture.take_error(channel.recv_stderr(1 << 16))
            if channel.recv_ready():
                return channel.recv(1 << 20)
            if ended:
                return b""
            if not self._bell.wait(seconds):
                return None

    def say(self, data: bytes, *, last: bool) -> None:
        """Feed ``data``."""
        try:
            self._channel.sendall(data)
            if last:
                self._channel.shutdown_write()
        except (OSError, EOFError):
            return  # How the channel ends says what that means.


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


def over_child(flight: Flight, child: Child, pair: Pair, seconds: float, reply: Callable[[Ended], Reply]) -> Reply:
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


def over_channel(
    flight: Flight, link: Link, channel: paramiko.Channel, pair: Pair, seconds: float, abort: Callable[[], None]
) -> Reply:
    """Carry a pair out on a fresh channel, by the calling thread, and return the reply; the channel is closed."""
    from paramiko import SSHException

    capture, exchange, gone = Capture(flight.request.on_output), Exchange(pair), False

    def give_up() -> None:
        nonlocal gone
        gone = True
        abort()

    def sending() -> bool:
        flight.stage(seconds, abort=give_up, late=lambda: _late(flight, link, exchange, capture, seconds))
        return not gone

    flight.stage(pair.within, abort=give_up, late=lambda: late_look(flight, pair))
    try:
        try:
            channel.exec_command(pair.program)
        except (SSHException, EOFError, OSError):
            return flight.reply(State.UNREACHABLE, PROBLEMS[End.REFUSED] + NOTHING)
        converse(pair, exchange, ChannelPipe(channel, capture), sending=sending, take=capture.take)
        if not exchange.sent:
            return unsent(flight, exchange)
        status = channel.recv_exit_status()
        dead = status < 0 and not link.alive
        end = End.STATUS if status >= 0 else End.LOST if dead else End.NO_STATUS
        ending = Ending(end=end, exit_status=status if status >= 0 else None)
        return replace(reply_of(flight, link, ending, capture), looked=exchange.looked)
    finally:
        abort()


def _late(flight: Flight, link: Link, exchange: Exchange, capture: Capture, seconds: float) -> Reply:
    """Return the reply of a statement that left and had no end in time, or never left."""
    if not exchange.sent:
        assert flight.request.pair is not None
        return late_look(flight, flight.request.pair)
    reply = flight.reply(
        State.TIMED_OUT,
        no_end(flight.request, seconds),
        stdout=capture.stdout,
        stderr=capture.stderr,
        fingerprint=link.fingerprint,
    )
    return replace(reply, looked=exchange.looked)


class StreamPair:
    """One pair on a stream; all methods run in the reader's thread.

    Args:
        again: called when the connection turned out to be dead before the statement left; False when it must not be.
    """

    def __init__(self, flight: Flight, link: Link, seconds: float, *, again: Callable[[], bool]) -> None:
        pair = flight.request.pair
        assert pair is not None
        self._flight, self._link, self._pair, self._seconds = flight, link, pair, seconds
        self._again = again
        self._capture = Capture(flight.request.on_output)
        self._exchange = Exchange(pair)
        self.stream: Stream
        """Set by whoever starts it."""

    def take(self, piece: bytes) -> None:
        """Take standard output."""
        if self._exchange.sent:
            self._capture.take(piece)
            return
        self._exchange.take(piece)
        self._drive()

    def take_error(self, piece: bytes) -> None:
        """Keep standard error: what Java says when it starts is no answer."""
        self._capture.take_error(piece)

    def opened(self) -> None:
        """Begin to look: the program was started."""
        self._drive()
        self._wake()

    def ended(self, ending: Ending) -> None:
        """Make the reply."""
        exchange, flight, stream = self._exchange, self._flight, self.stream
        if exchange.sent:
            flight.finish(lambda: replace(reply_of(flight, self._link, ending, self._capture), looked=exchange.looked))
        elif exchange.refusal:
            flight.finish(lambda: unsent(flight, exchange))
        elif ending.end is End.LOST and self._again():
            return
        else:
            lost = f"the connection was lost before the statement left ({self._link.last_words})"
            problem = PROBLEMS[End.NO_CHANNEL].format(refusal=stream.refusal) if ending.end is End.NO_CHANNEL else ENDED
            flight.finish(flight.reply(State.UNREACHABLE, (lost if ending.end is End.LOST else problem) + NOTHING))

    def late(self) -> Reply:
        """Return the reply when the present stage took too long."""
        return _late(self._flight, self._link, self._exchange, self._capture, self._seconds)

    def _wake(self) -> None:
        if self.stream.ended or self._exchange.sent:
            return
        self._exchange.tick()
        self._drive()
        if not self._exchange.sent and not self.stream.ended:
            reader = self.stream.reader
            reader.later(_VIGIL_S if self._exchange.judged else TICK, self._wake, of=self.stream.watched)

    def _drive(self) -> None:
        exchange, stream = self._exchange, self.stream
        while not stream.ended:
            match exchange.next():
                case Act.LOOK:
                    exchange.fed()
                    stream.feed(data_of(self._pair.look))
                case Act.SEND:
                    self._flight.stage(self._seconds, abort=stream.cancel, late=self.late)
                    if stream.ended:
                        return  # It has been told that nothing was sent.
                    if stream.feed_at_once(data_of(self._pair.statement), exchange.may):
                        exchange.left()
                    elif not stream.ended:
                        exchange.barred()
                    return
                case Act.END:
                    if not exchange.sent:
                        stream.cancel()
                        self._flight.finish(functools.partial(unsent, self._flight, exchange))
                    return
                case _:
                    return
