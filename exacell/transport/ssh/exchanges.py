"""Drive pairs (:mod:`exacell.transport.exchange`) on exacell's connections, on a stream of the shared reader or on a plain
channel; and make the replies of commands there.

Imports paramiko. No matter how a pair ends, it is known whether the statement was sent.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import paramiko
from paramiko import SSHException

from exacell.transport.base import Pair, Reply, Request, State
from exacell.transport.capabilities import statements_in
from exacell.transport.capture import Capture, End, Ending, Store
from exacell.transport.exchange import (
    ENDED,
    NOTHING,
    TICK,
    VIGIL_S,
    Act,
    Exchange,
    converse,
    data_of,
    late_look,
    unsent,
)
from exacell.transport.fanout import Flight
from exacell.transport.replies import PROBLEMS, no_end, problem_of_ending
from exacell.transport.ssh.connection import Connection, ending_of, listen
from exacell.transport.ssh.stream import Stream


class ChannelPipe:
    """The pipe to a program that was started on a plain channel."""

    def __init__(self, channel: paramiko.Channel, capture: Capture) -> None:
        self._channel, self._capture = channel, capture
        self._bell = listen(channel)

    def hear(self, seconds: float | None) -> bytes | None:
        """Return standard output; standard error is kept in the capture."""
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
        """Send ``data``."""
        try:
            self._channel.sendall(data)
            if last:
                self._channel.shutdown_write()
        except (OSError, EOFError):
            return  # The end of the channel shows what happened.


def over_channel(
    flight: Flight,
    connection: Connection,
    channel: paramiko.Channel,
    pair: Pair,
    seconds: float,
    abort: Callable[[], None],
) -> Reply:
    """Carry out a pair on a new channel, in the calling thread, and return the reply; the channel is closed."""
    capture, exchange, gone = Capture(flight.request.on_output), Exchange(pair), False

    def give_up() -> None:
        nonlocal gone
        gone = True
        abort()

    def sending() -> bool:
        flight.stage(seconds, abort=give_up, late=lambda: _late(flight, connection, exchange, capture, seconds))
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
        return replace(reply_of(flight, connection, ending_of(channel), capture), looked=exchange.looked)
    finally:
        abort()


def _late(flight: Flight, connection: Connection, exchange: Exchange, capture: Capture, seconds: float) -> Reply:
    """Return the reply if the time is over: the statement was sent and did not end, or was never sent."""
    if not exchange.sent:
        assert flight.request.pair is not None
        return late_look(flight, flight.request.pair)
    reply = flight.reply(
        State.TIMED_OUT,
        no_end(flight.request, seconds),
        stdout=capture.stdout,
        stderr=capture.stderr,
        fingerprint=connection.fingerprint,
    )
    return replace(reply, looked=exchange.looked)


class StreamPair:
    """One pair on a stream; all methods run in the reader's thread.

    Args:
        again: called if the connection turns out to be dead before the statement was sent; repeats the pair and returns True, or
            returns False if it must not.
    """

    def __init__(self, flight: Flight, connection: Connection, seconds: float, *, again: Callable[[], bool]) -> None:
        pair = flight.request.pair
        assert pair is not None
        self._flight, self._connection, self._pair, self._seconds = flight, connection, pair, seconds
        self._again = again
        self._capture = Capture(flight.request.on_output)
        self._exchange = Exchange(pair)
        self.stream: Stream
        """Set by the caller that starts it."""

    def take(self, piece: bytes) -> None:
        """Process standard output."""
        if self._exchange.sent:
            self._capture.take(piece)
            return
        self._exchange.take(piece)
        self._drive()

    def take_error(self, piece: bytes) -> None:
        """Keep standard error: Java's messages at the start are not an answer."""
        self._capture.take_error(piece)

    def opened(self) -> None:
        """Send the first read, after the program was started."""
        self._drive()
        self._wake()

    def ended(self, ending: Ending) -> None:
        """Process the end of the program: hand over the reply, unless the read is sent again on a new connection."""
        exchange, flight, stream = self._exchange, self._flight, self.stream
        if exchange.sent:
            flight.finish(
                lambda: replace(reply_of(flight, self._connection, ending, self._capture), looked=exchange.looked)
            )
        elif exchange.refusal:
            flight.finish(lambda: unsent(flight, exchange))
        elif ending.end is End.LOST and self._again():
            return
        else:
            lost = f"the connection was lost before the statement left ({self._connection.last_words})"
            problem = PROBLEMS[End.NO_CHANNEL].format(refusal=stream.refusal) if ending.end is End.NO_CHANNEL else ENDED
            flight.finish(flight.reply(State.UNREACHABLE, (lost if ending.end is End.LOST else problem) + NOTHING))

    def late(self) -> Reply:
        """Return the reply if the present stage takes too long."""
        return _late(self._flight, self._connection, self._exchange, self._capture, self._seconds)

    def _wake(self) -> None:
        if self.stream.ended or self._exchange.sent:
            return
        self._exchange.tick()
        self._drive()
        if not self._exchange.sent and not self.stream.ended:
            reader = self.stream.reader
            reader.later(VIGIL_S if self._exchange.judged else TICK, self._wake, of=self.stream.watched)

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
                        return  # The reply that nothing was sent has already been made.
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


def late_reply(
    flight: Flight, connection: Connection, channel: paramiko.Channel, capture: Capture, seconds: float
) -> Callable[[], Reply]:
    """Return a function that makes the reply of a command on a plain channel that did not end within ``seconds``."""

    def reply() -> Reply:
        if channel.exit_status_ready() and channel.exit_status >= 0 and may_stay_open(flight.request):
            return reply_of(flight, connection, Ending(end=End.STATUS, exit_status=channel.exit_status), capture)
        return timed_out(flight, connection, seconds, capture.stdout, capture.stderr)

    return reply


def may_stay_open(request: Request) -> bool:
    """Return whether the output of an ended command can be complete although its stream is still open.

    A process that the command left running may hold the stream open. CellCLI leaves no process running, so the rest of a read's
    output is still on its way.
    """
    return request.role.changes or statements_in(request.command) is None


def kept_answer(flight: Flight, connection: Connection, answer: bytes | Store) -> Reply:
    """Return the reply of a long-lived CellCLI that answered; a large answer stays on disk if the request allows it."""
    large = None
    if isinstance(answer, bytes):
        text = answer.decode("utf-8", "backslashreplace")
    else:
        large = answer.hand_over_file() if flight.request.in_pieces else None
        text = "" if large is not None else answer.hand_over()
    return flight.reply(
        State.OK, stdout=text, large=large, exit_status=0, fingerprint=connection.fingerprint, banner=connection.banner
    )


def timed_out(flight: Flight, connection: Connection, seconds: float, stdout: str, stderr: str = "") -> Reply:
    """Return the reply of a command that did not end in time, with its output so far."""
    return flight.reply(
        State.TIMED_OUT,
        no_end(flight.request, seconds),
        stdout=stdout,
        stderr=stderr,
        fingerprint=connection.fingerprint,
    )


def reply_of(flight: Flight, connection: Connection, ending: Ending, capture: Capture) -> Reply:
    """Return the reply of a command that ended; the output is taken from ``capture``."""
    state = State.OK if ending.exit_status == 0 else State.FAILED
    large = capture.output.hand_over_file() if flight.request.in_pieces and state is State.OK else None
    return flight.reply(
        state,
        "" if state is State.OK else problem_of_ending(ending, capture.limit),
        large=large,
        stdout="" if large is not None else capture.output.hand_over(),
        stderr=capture.errors.hand_over(),
        exit_status=ending.exit_status,
        fingerprint=connection.fingerprint,
        banner=connection.banner,
    )
