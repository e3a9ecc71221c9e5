"""Run one command on one attached wire: open its channel, send it, feed it and read it without waiting. Imports paramiko.

All methods run in the reader's thread, except :meth:`Stream.start`, :meth:`Stream.feed` and :meth:`Stream.cancel`, which
any thread may call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import IntEnum
from typing import Protocol

import paramiko
from paramiko import common

from exacell.transport.base import Ours
from exacell.transport.capture import End, Ending
from exacell.transport.ssh.endpoint import Endpoint, Variables
from exacell.transport.ssh.reader import Reader, Timer
from exacell.transport.ssh.wire import Wire

_STDERR = 1
ASK_AGAIN_S = 0.005
"""Seconds between two checks of whether a command may be sent, if that was not known."""


class Stage(IntEnum):
    """The state of a stream."""

    NEW = 0
    OPENING = 1
    RUNNING = 2
    ENDED = 3


class Sink(Protocol):
    """The receiver of output."""

    def take(self, piece: bytes) -> None:
        """Process a piece of standard output."""

    def take_error(self, piece: bytes) -> None:
        """Process a piece of standard error."""


class Stream:
    """A command and its standard streams.

    Args:
        sink: gets the command's output.
        stdin: sent to the command, then end-of-file; None leaves its input open for :meth:`feed`.
        on_end: called once with its ending, unless it was cancelled.

    Attributes:
        on_channel: called when the channel is open, before the command is sent; if it cancels the stream, nothing is sent.
        ours: returns why the command must not be sent, called right before; None for no check.
        refused: the reason that ``ours`` returned.
        env: variables for the command; the server may ignore them.
        on_open: called when the command has been sent.
        sent: whether the command has been sent, or may have been.
        lost_connection: whether it ended because the connection did.
        exit_status: None as long as it is not known.
    """

    def __init__(
        self,
        wire: Wire,
        command: str,
        sink: Sink,
        *,
        stdin: bytes | None,
        on_end: Callable[[Ending], None],
    ) -> None:
        self._wire = wire
        self._command = command
        self._sink = sink
        self._on_end = on_end
        self.on_channel: Callable[[], None] = _nothing
        self.on_open: Callable[[], None] = _nothing
        self.ours: Ours | None = None
        self.env: Variables = ()
        self.refused = ""
        self.sent = self.lost_connection = False
        self._input: deque[memoryview] = deque([memoryview(stdin)] if stdin else ())
        self._input_ends = stdin is not None
        self._input_ended = False
        self._stage = Stage.NEW
        self._channel = Endpoint(wire)
        self._asked = False
        self._output_ended = False
        self._patience: Timer | None = None
        self.exit_status: int | None = None

    @property
    def refusal(self) -> str:
        """Return why the server opened no channel; empty if it did."""
        return self._channel.refusal

    @property
    def reader(self) -> Reader:
        """Return the reader of its wire."""
        return self._wire.reader

    @property
    def watched(self) -> Wire:
        """Return the wire, for timers of the reader."""
        return self._wire

    @property
    def ended(self) -> bool:
        """Return whether it has ended."""
        return self._stage is Stage.ENDED

    def start(self, seconds: float, too_late: Callable[[], None]) -> None:
        """Ask for a channel; ``too_late`` is called if none has come after ``seconds``."""

        def ask() -> None:
            self._start()
            if not self.ended:
                self._patience = self._wire.reader.later(seconds, too_late, of=self._wire)

        self._wire.reader.call(ask, of=self._wire)

    def feed(self, data: bytes) -> None:
        """Send ``data`` to the command's standard input, which stays open."""

        def add() -> None:
            self._input.append(memoryview(data))
            self._send_input()

        self._wire.reader.call(add, of=self._wire)

    def feed_at_once(self, data: bytes, may: Callable[[], bool]) -> bool:
        """Send ``data`` and the end of input at once or not at all; return whether they were sent. In the reader's thread only.

        Args:
            may: called right before the kernel gets the bytes; if it returns False, they are not sent, and the connection is
                closed.
        """
        ready = self._stage is Stage.RUNNING and not self._input and not self._input_ended
        if not ready or not self._channel.takes(len(data)):
            return False

        def say() -> None:
            self._channel.send(memoryview(data))
            self._channel.sent_all()

        self._input_ends = self._input_ended = self._wire.at_once(say, may)
        return self._input_ended

    def break_off(self, end: End) -> None:
        """End with ``end`` and close the channel, even if more output is on its way. In the reader's thread only."""
        self._end(Ending(end=end))

    def cancel(self) -> None:
        """Close the channel; whether the command ends is up to its server. ``on_end`` is not called."""
        self._wire.reader.call(self._cancel, of=self._wire)

    # -- in the reader's thread ------------------------------------------------------------------------------------

    def _start(self) -> None:
        if self.ended:
            return
        if not self._wire.active:
            self._end(Ending(end=End.LOST))
            return
        self._stage = Stage.OPENING
        self._channel.ask(self, "session")

    def receive(self, kind: int, message: paramiko.Message) -> None:
        """Process a message from the server."""
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        if self.ended:
            self._channel.give_back(kind, message)
        elif kind == common.MSG_CHANNEL_DATA:
            self._take(self._sink.take, message.get_binary())
        elif kind == common.MSG_CHANNEL_EXTENDED_DATA:
            code = message.get_int()
            self._take(self._sink.take_error if code == _STDERR else _drop, message.get_binary())
        elif kind == common.MSG_CHANNEL_OPEN_SUCCESS:
            self._opened(message)
        elif kind == common.MSG_CHANNEL_WINDOW_ADJUST:
            self._channel.may_send(message)
            self._send_input()
        elif kind == common.MSG_CHANNEL_REQUEST:
            self._requested(message)
        elif kind == common.MSG_CHANNEL_EOF:
            self._output_ended = True
            self._end_if_complete()
        elif kind == common.MSG_CHANNEL_CLOSE:
            status = self.exit_status
            if status is not None:
                self._end(Ending(end=End.STATUS, exit_status=status))
            else:
                self._end(Ending(end=End.NO_STATUS if self._asked else End.REFUSED))
        elif kind == common.MSG_CHANNEL_SUCCESS:
            self._asked = True
        elif kind == common.MSG_CHANNEL_FAILURE:
            self._end(Ending(end=End.REFUSED))
        elif kind == common.MSG_CHANNEL_OPEN_FAILURE:
            self._channel.refused(message)
            self._end(Ending(end=End.NO_CHANNEL))

    def lost(self) -> None:
        """Note that the connection has ended."""
        self.lost_connection = True
        self._end(Ending(end=End.LOST))

    def _opened(self, message: paramiko.Message) -> None:
        self._channel.opened(message)
        self.on_channel()
        self._send_command()

    def _send_command(self) -> None:
        """Send the command, once it is known that it may still be sent."""
        if self.ended:
            return
        why = "" if self.ours is None else self.ours()
        if why is None:
            self._wire.reader.later(ASK_AGAIN_S, self._send_command, of=self._wire)
            return
        if why:
            self.refused = why
            self._end(Ending(end=End.NO_CHANNEL))
            return
        self._stage, self.sent = Stage.RUNNING, True
        self._channel.set_variables(self.env)
        self._channel.request("exec", self._command.encode("utf-8", "surrogateescape"))
        self._send_input()
        self.on_open()

    def _requested(self, message: paramiko.Message) -> None:
        what = message.get_text()
        wants_reply = message.get_boolean()
        if what == "exit-status":
            self.exit_status = message.get_int()
            self._end_if_complete()
        elif wants_reply:
            self._channel.refuse()

    def _take(self, keep: Callable[[bytes], None], piece: bytes) -> None:
        self._channel.took(len(piece))
        keep(piece)

    def _send_input(self) -> None:
        if self._stage is not Stage.RUNNING or self._input_ended:
            return
        while self._input and self._channel.room:
            data = self._input.popleft()
            size = self._channel.send(data)
            if size < len(data):
                self._input.appendleft(data[size:])
        if self._input_ends and not self._input:
            self._input_ended = True
            self._channel.sent_all()

    def _end_if_complete(self) -> None:
        if self._output_ended and self.exit_status is not None:
            self._end(Ending(end=End.STATUS, exit_status=self.exit_status))

    def _end(self, ending: Ending) -> None:
        if self.ended:
            return
        self._close()
        self._on_end(ending)

    def _cancel(self) -> None:
        if not self.ended:
            self._close()

    def _close(self) -> None:
        self._stage = Stage.ENDED
        if self._patience is not None:
            self._patience.cancel()
        self._input.clear()
        self._channel.close()


def _drop(piece: bytes) -> None:
    """Ignore data of an unknown kind."""


def _nothing() -> None:
    """Do nothing when the stream opens."""
