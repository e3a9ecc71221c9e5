"""Send a read and the statement that depends on it to one open program, with only a judgement between them; and drive such
pairs over a program of this host.

A program (CellCLI, SQL*Plus) is started for the pair. It gets the read, the answer is judged, and the same program gets the
statement. :class:`Exchange` decides at each moment what comes next; it opens nothing and knows only the time and the output so
far. Its driver wakes every ``TICK`` seconds while no output comes, which limits the age of the read's answer: it can't have
come before the driver was last awake. If the process was stopped, the host slept, or the driver was busy, that moment is
long ago, and the read is repeated in the same program.

The clock includes stops and sleep. Source: clock_gettime(2), CLOCK_BOOTTIME.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol

from exacell.core.background import uptime
from exacell.transport.base import Judgement, Looked, Pair, Reply, Request, State
from exacell.transport.fanout import Flight
from exacell.transport.local_process import Ended, LocalProcess
from exacell.transport.replies import no_end

AGE = 0.1
"""The greatest age, in seconds, of a read's answer when its statement is about to be written."""

LATE = 0.2
"""The greatest age, in seconds, of a read's answer when its statement has been written."""

TICK = 0.02
"""Seconds after which a driver wakes if no output comes."""

QUICK = 0.25
"""If a read takes longer than so many seconds, its answer may have been delayed on its way."""

PATIENT_LOOKS = 3
"""After so many slow reads the last one is accepted, because the cell is always slow."""

LOOKS = 8
"""After so many reads in one program the statement is given up."""


class Act(StrEnum):
    """The next step of an exchange."""

    WAIT = "wait"
    LOOK = "look"
    """Send the read."""
    SEND = "send"
    """Send the statement at once, if :meth:`Exchange.may` allows it."""
    END = "end"
    """Send nothing more: the statement was sent, or never will be."""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Exchange:
    """A read and the statement that is sent after it, on one CellCLI. Used by one thread.

    Args:
        clock: returns seconds, including time while this process is stopped or the host sleeps.
        now: returns the time of day as text.

    Attributes:
        sent: whether the statement was sent, or may have been.
        refusal: why it will never be sent; empty as long as it may be sent.
        looked: the last read that was answered, and the age of that answer when the statement was sent.
    """

    def __init__(self, pair: Pair, *, clock: Callable[[], float] = uptime, now: Callable[[], str] = _now) -> None:
        self._pair = pair
        self._clock, self._now = clock, now
        self._output = bytearray()
        self._begin = 0
        self._seen = self._asked = 0.0
        self._arrived: float | None = None
        self._stood = False
        self._judgement = Judgement()
        self.looked = Looked()
        self._due = True
        self.sent = False
        self.refusal = ""

    @property
    def judged(self) -> bool:
        """Return whether a read was answered and allows the statement."""
        return self._arrived is not None and not self._due

    @property
    def answer(self) -> str:
        """Return the output after the statement; before it is sent, the output of the read so far."""
        return bytes(self._output[self._begin :]).decode("utf-8", "backslashreplace")

    def take(self, piece: bytes) -> None:
        """Add a piece of output."""
        before = self._seen
        self.tick()
        self._output += piece
        if not self.sent and self._arrived is None and not self._due and self._pair.whole(self.answer):
            self._arrived = before
            took = max(0.0, self._seen - self._asked)
            self._judgement = self._pair.judge(self.answer)
            self.looked = replace(self.looked, at=self._now(), text=self.answer, seconds=took)

    def tick(self) -> None:
        """Note that the driver is awake."""
        now = self._clock()
        self._stood = self._stood or (not self._due and now - self._seen > AGE)
        self._seen = now

    def next(self) -> Act:
        """Return the next step; a read that is due is returned at each call until it is sent."""
        if self.sent or self.refusal:
            return Act.END
        if self._due:
            return Act.LOOK
        if self._arrived is None:
            return Act.WAIT
        ours = self._pair.ours()
        if ours:
            return self._refuse(ours, ours=False)
        if self._judgement.why:
            return self._refuse(self._judgement.why, needless=self._judgement.needless)
        slow = self.looked.seconds > QUICK and self.looked.looks < PATIENT_LOOKS
        if self._stood or slow or self._clock() - self._arrived > AGE:
            return self._again()
        return Act.WAIT if ours is None else Act.SEND

    def fed(self) -> None:
        """Note that the read is being sent."""
        self._due, self._arrived, self._stood = False, None, False
        self._begin = len(self._output)
        self._seen = self._asked = self._clock()
        self.looked = replace(self.looked, looks=self.looked.looks + 1)

    def may(self) -> bool:
        """Return whether the statement may be sent now; called right before it is written.

        ``ours`` reads a file, which may take a while, so the age of the answer is checked last.
        """
        arrived = self._arrived
        if self.refusal or arrived is None or self._pair.ours() != "":
            return False
        return self._clock() - arrived <= AGE

    def left(self) -> None:
        """Note that the statement has been written."""
        assert self._arrived is not None
        self.sent = True
        self._begin = len(self._output)
        self.looked = replace(self.looked, age=self._clock() - self._arrived, sent=True)

    def barred(self) -> None:
        """Note that the statement could not be written at once, so that the read is too old and must be repeated."""
        self._again()

    def end(self, why: str) -> None:
        """Give up the statement unless it has been sent."""
        if not self.sent and not self.refusal:
            self._refuse(why)

    def _again(self) -> Act:
        if self.looked.looks >= LOOKS:
            return self._refuse(
                f"each of {LOOKS} checks was older than {AGE:g}s before the statement could be sent: this host "
                "is too busy, or was suspended"
            )
        self._due = True
        return Act.LOOK

    def _refuse(self, why: str, *, needless: bool = False, ours: bool = True) -> Act:
        self.refusal = why
        self.looked = replace(self.looked, refused=why, needless=needless, ours=ours)
        return Act.END


ENDED = "the program ended before it answered the check"
NOTHING = "; nothing was sent"

VIGIL_S = 0.004
"""Seconds between two checks of whether this session may still change the rack, if that was not known."""


def data_of(text: str) -> bytes:
    """Return the bytes to send for a text."""
    return text.encode("utf-8", "surrogateescape")


def late_look(flight: Flight, pair: Pair) -> Reply:
    """Return the reply of a target that did not answer the read in time."""
    problem = f"no answer within {pair.within:g}s to the check right before the statement{NOTHING}"
    return flight.reply(State.UNREACHABLE, problem)


def unsent(flight: Flight, exchange: Exchange) -> Reply:
    """Return the reply for a statement that was not sent, with the reason."""
    reply = flight.reply(State.NOT_ATTEMPTED, exchange.refusal)
    return replace(reply, looked=exchange.looked)


def wait_until_ours(request: Request) -> str:
    """Return why a command must not be sent, empty if it may; waits if that is not known at the moment."""
    while request.ours is not None:
        why = request.ours()
        if why is not None:
            return why
        time.sleep(VIGIL_S)
    return ""


class Pipe(Protocol):
    """A program's input and output, used by one thread."""

    def hear(self, seconds: float | None) -> bytes | None:
        """Return output; empty at its end, None if nothing came within ``seconds``."""

    def say(self, data: bytes, *, last: bool) -> None:
        """Send ``data``; ``last`` ends the input. If the program reads no more, :meth:`hear` reports its end."""


def converse(
    pair: Pair, exchange: Exchange, pipe: Pipe, *, sending: Callable[[], bool], take: Callable[[bytes], None]
) -> None:
    """Carry out a pair over ``pipe``; :attr:`Exchange.sent` is then True if the statement was sent.

    Args:
        sending: called before the statement is sent; returns False if nobody waits for it any more.
        take: gets the output after the statement.
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
        """Return standard output; standard error goes to ``take_error``."""
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
        """Send ``data``."""
        try:
            self._input.write(data)
            self._input.flush()
            if last:
                self._input.close()
        except (BrokenPipeError, ValueError):
            return  # hear() reports the program's end.

    def close(self) -> None:
        """Close this side of the pipes; input that the program has not read is lost."""
        self._selector.close()
        with suppress(BrokenPipeError):
            self._input.close()


def over_process(
    flight: Flight, child: LocalProcess, pair: Pair, seconds: float, reply: Callable[[Ended], Reply]
) -> Reply:
    """Carry out a pair with a program of this host, in the calling thread, and return the reply.

    Args:
        reply: makes the reply from the program's end, if the statement was sent.

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
        said = flight.reply(
            State.TIMED_OUT, no_end(flight.request, seconds), stdout=child.capture.stdout, stderr=child.capture.stderr
        )
        return replace(said, looked=exchange.looked)

    def sending() -> bool:
        flight.stage(seconds, abort=give_up, late=late)
        return not gone

    def talk(process: subprocess.Popen[bytes]) -> None:
        pipe = ProcessPipe(process, child.capture.take_error)
        try:
            converse(pair, exchange, pipe, sending=sending, take=child.capture.take)
        finally:
            pipe.close()
        if not exchange.sent:
            child.kill()

    flight.stage(pair.within, abort=give_up, late=late)
    ended = child.run(talk)
    return replace(reply(ended), looked=exchange.looked) if exchange.sent else unsent(flight, exchange)
