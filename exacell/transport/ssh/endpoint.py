"""Hold exacell's end of one channel on an attached wire: its numbers, how much each side may send, its close; and the
tunnel to a further host that such a channel can be. Imports paramiko."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Sequence
from enum import IntEnum

import paramiko
from paramiko import common

from exacell.core.errors import TransportError
from exacell.transport.ssh.wire import Receiver, Wire

Variables = Sequence[tuple[str, str]]
"""Names and values for a command's environment."""
WINDOW = 4 << 20
"""Bytes that the other side may send before exacell must report that there is room again."""
_PACKET = 32 << 10
_MARGIN = 64
"""Bytes of a packet that are not data."""


class Endpoint:
    """One channel, seen from this side; all methods run in the reader's thread and never wait.

    Attributes:
        wire: the connection of the channel.
        refusal: why the server opened no channel; empty if it did.
    """

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.refusal = ""
        self._number = self._remote = 0
        self.room = 0
        """Bytes that the other side accepts now."""
        self._largest = _PACKET
        self._taken = 0
        self._asked = self._open = self._sent_all = False

    def ask(self, receiver: Receiver, kind: str, *rest: str | int) -> None:
        """Ask for a channel of ``kind``; its messages go to ``receiver``."""
        self._asked = True
        self._number = self.wire.register(receiver)
        message = _message(common.MSG_CHANNEL_OPEN)
        message.add_string(kind)
        for number in (self._number, WINDOW, _PACKET):
            message.add_int(number)
        self._send(message, *rest)

    def opened(self, message: paramiko.Message) -> None:
        """Note that the channel is open."""
        self._remote, self.room = message.get_int(), message.get_int()
        self._largest = max(_MARGIN + 1, min(_PACKET, message.get_int()))
        self._open = True

    def refused(self, message: paramiko.Message) -> None:
        """Note that no channel was opened, and why, in the server's own words if there are any."""
        self.refusal = common.CONNECTION_FAILED_CODE.get(message.get_int(), "(unknown code)")
        words = " ".join(message.get_binary().decode("utf-8", "backslashreplace").split())
        if words and words != self.refusal:
            self.refusal += f" ({words})"

    def give_back(self, kind: int, message: paramiko.Message) -> None:
        """Close a channel that was opened after the call of :meth:`close`."""
        if kind == common.MSG_CHANNEL_OPEN_SUCCESS:
            self._remote = message.get_int()
            self._send(self._to_it(common.MSG_CHANNEL_CLOSE))
        self.wire.forget(self._number)

    def took(self, size: int) -> None:
        """Allow the other side to send as many more bytes as were received."""
        self._taken += size
        if self._taken >= WINDOW // 4:
            taken, self._taken = self._taken, 0
            self._send(self._to_it(common.MSG_CHANNEL_WINDOW_ADJUST), taken)

    def may_send(self, message: paramiko.Message) -> None:
        """Note that the other side accepts more."""
        self.room += message.get_int()

    def takes(self, size: int) -> bool:
        """Return whether ``size`` bytes can be sent in one packet now."""
        return size <= min(self.room, self._largest - _MARGIN)

    def send(self, data: memoryview) -> int:
        """Send as much of ``data`` as the other side accepts in one packet; return how many bytes."""
        size = min(len(data), self.room, self._largest - _MARGIN)
        if size:
            message = self._to_it(common.MSG_CHANNEL_DATA)
            message.add_string(bytes(data[:size]))
            self.room -= size
            self._send(message)
        return size

    def request(self, what: str, argument: bytes) -> None:
        """Send a request that the server answers with success or failure."""
        message = self._to_it(common.MSG_CHANNEL_REQUEST)
        message.add_string(what)
        message.add_boolean(True)
        message.add_string(argument)
        self._send(message)

    def set_variables(self, variables: Variables) -> None:
        """Set variables for the command; the server does not report those that it ignores. Source: RFC 4254, 6.4."""
        for name, value in variables:
            message = self._to_it(common.MSG_CHANNEL_REQUEST)
            message.add_string("env")
            message.add_boolean(False)
            message.add_string(name)
            message.add_string(value)
            self._send(message)

    def refuse(self) -> None:
        """Refuse a request of the server."""
        self._send(self._to_it(common.MSG_CHANNEL_FAILURE))

    def sent_all(self) -> None:
        """Report that nothing more will be sent."""
        self._sent_all = True
        self._send(self._to_it(common.MSG_CHANNEL_EOF))

    def close(self) -> None:
        """Close the channel; one that was asked for and is not open yet is closed when it opens."""
        alive = self.wire.active
        if self._open and alive:
            if not self._sent_all:
                self.sent_all()
            self._send(self._to_it(common.MSG_CHANNEL_CLOSE))
        if self._asked and (self._open or self.refusal or not alive):
            self.wire.forget(self._number)

    def _to_it(self, kind: int) -> paramiko.Message:
        message = _message(kind)
        message.add_int(self._remote)
        return message

    def _send(self, message: paramiko.Message, *rest: str | int) -> None:
        for part in rest:
            if isinstance(part, int):
                message.add_int(part)
            else:
                message.add_string(part)
        try:
            self.wire.send(message)
        except EOFError as error:
            self.wire.fail(error)


_KIND = tuple(bytes((number,)) for number in range(256))


def _message(kind: int) -> paramiko.Message:
    message = paramiko.Message()
    message.add_byte(_KIND[kind])
    return message


class Stage(IntEnum):
    """The state of a tunnel."""

    OPENING = 0
    OPEN = 1
    ENDED = 2


class Tunnel:
    """One connection to ``host`` through the gateway at the other end of ``wire``; :meth:`open` returns its socket.

    Attributes:
        sock: exacell's end of the socket pair.
    """

    def __init__(self, wire: Wire, host: str, port: int) -> None:
        self._wire = wire
        self._channel = Endpoint(wire)
        self._to = (host, port)
        self.sock, self._theirs = socket.socketpair()
        self.sock.setblocking(False)
        self._unsent = bytearray()
        self._all_came = False
        self._stage = Stage.OPENING
        self._settled = threading.Event()
        self._problem = ""

    def open(self, seconds: float) -> socket.socket:
        """Return the connected socket; must not be called in the reader's thread.

        Raises:
            TransportError: the gateway refuses, or does not reach the host within ``seconds``, or is lost.
        """
        reader, asked = self._wire.reader, time.monotonic()
        reader.call(self._start)
        if not self._settled.wait(seconds):
            late = f"no answer from {self._place} within {seconds:g}s: the host is down, or a firewall drops packets"
            reader.call(lambda: self._fail(late))
            self._settled.wait()
            # Other targets use the gateway too: it gets the same time again for a sign of life.
            reader.call(lambda: self._watch_gateway(asked, seconds))
        if self._problem:
            raise TransportError(self._problem)
        return self._theirs

    @property
    def _place(self) -> str:
        return f"{self._to[0]} port {self._to[1]}"

    # -- in the reader's thread: the gateway's side ------------------------------------------------------------------

    def _start(self) -> None:
        if self._stage is not Stage.OPENING:
            return
        if self._wire.active:
            self._channel.ask(self, "direct-tcpip", *self._to, "", 0)
            # The gateway is silent while it connects: the request shows whether it waits for the host or is dead.
            self._wire.ask_for_life()
        else:
            self._fail("the connection was lost")

    def _fail(self, problem: str) -> None:
        """End a tunnel that is not open yet, with a problem."""
        if self._stage is Stage.OPENING:
            self._problem = problem
            self._theirs.close()
            self.end()
            self._settled.set()

    def _watch_gateway(self, asked: float, seconds: float) -> None:
        """End the gateway's connection after ``seconds`` if it has been silent since it was asked."""
        wire = self._wire

        def look() -> None:
            if wire.active and wire.last_heard < asked:
                wire.fail(TimeoutError(f"no data for {time.monotonic() - asked:.0f}s"))

        wire.reader.later(seconds, look)

    def receive(self, kind: int, message: paramiko.Message) -> None:
        """Process a message from the gateway."""
        if self._stage is Stage.ENDED:
            self._channel.give_back(kind, message)
        elif kind == common.MSG_CHANNEL_DATA:
            self._unsent += message.get_binary()
            if not self.flush():
                self._wire.reader.wants_to_write(self)
        elif kind == common.MSG_CHANNEL_EXTENDED_DATA:
            message.get_int()
            self._channel.took(len(message.get_binary()))
        elif kind == common.MSG_CHANNEL_WINDOW_ADJUST:
            self._channel.may_send(message)
            self._wire.reader.pause(self, paused=False)
        elif kind in (common.MSG_CHANNEL_EOF, common.MSG_CHANNEL_CLOSE):
            self._all_came = True
            self.flush()
        elif kind == common.MSG_CHANNEL_OPEN_SUCCESS:
            self._channel.opened(message)
            self._stage = Stage.OPEN
            self._wire.reader.attach(self)
            self._settled.set()
        elif kind == common.MSG_CHANNEL_OPEN_FAILURE:
            self._channel.refused(message)
            self._fail(f"the SSH server refused a tunnel to {self._place}: {self._channel.refusal}")

    def lost(self) -> None:
        """Note that the gateway's connection has ended."""
        self._fail("the connection was lost")
        self._wire.reader.detach(self)

    def fail(self, error: Exception) -> None:
        """End this tunnel only."""
        self._fail(f"the connection was lost ({error})")
        self._wire.reader.detach(self)

    # -- in the reader's thread: the socket's side -------------------------------------------------------------------

    def take(self) -> None:
        """Do nothing: no data can have come before."""

    def readable(self) -> None:
        """Pass on the data that the socket has received, as much as the gateway accepts."""
        reader = self._wire.reader
        room = min(self._channel.room, len(reader.room))
        if not room:
            reader.pause(self, paused=True)
            return
        try:
            size = self.sock.recv_into(reader.room[:room])
        except BlockingIOError:
            return
        except OSError:
            size = 0
        if not size:
            reader.detach(self)
            return
        left = reader.room[:size]
        while left and self._stage is Stage.OPEN:
            left = left[self._channel.send(left) :]

    def flush(self) -> bool:
        """Pass on the data from the gateway; return whether nothing is left."""
        sent = 0
        while sent < len(self._unsent):
            try:
                with memoryview(self._unsent) as unsent:
                    sent += self.sock.send(unsent[sent:])
            except BlockingIOError:
                break
            except OSError:
                self._wire.reader.detach(self)
                return True
        del self._unsent[:sent]
        self._channel.took(sent)
        if self._unsent:
            return False
        if self._all_came:
            self._wire.reader.detach(self)
        return True

    def check_life(self, now: float) -> None:
        """Do nothing: the connections on both sides check this."""

    def end(self) -> None:
        """Close both sides."""
        self._stage = Stage.ENDED
        self.sock.close()
        self._channel.close()
