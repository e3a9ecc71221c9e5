"""TCP connections through a gateway, read by the one reader like all others. Imports paramiko.

The SSH connection to a host behind a gateway needs a socket that a login can wait on and a selector can watch. So there is
a pair of sockets: one end is that connection's; what comes out of the other goes into a channel of the gateway's wire,
and back. Neither side is read faster than the other one takes.
"""

from __future__ import annotations

import socket
import threading
import time
from enum import IntEnum

import paramiko
from paramiko import common

from exacell.core.errors import TransportError
from exacell.transport.ssh.endpoint import Endpoint
from exacell.transport.ssh.wire import Wire


class Stage(IntEnum):
    """How far a tunnel has come."""

    OPENING = 0
    OPEN = 1
    ENDED = 2


class Tunnel:
    """One connection to ``host`` through the gateway at the other end of ``wire``; :meth:`open` gives its socket.

    Attributes:
        sock: our end of the pair.
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
        """Return the connected socket; not to be called in the reader's thread.

        Raises:
            TransportError: the gateway refuses or does not reach the host within ``seconds``, or it is lost.
        """
        reader, asked = self._wire.reader, time.monotonic()
        reader.call(self._start)
        if not self._settled.wait(seconds):
            late = f"no answer from {self._place} within {seconds:g}s: the host is down, or a firewall drops packets"
            reader.call(lambda: self._fail(late))
            self._settled.wait()
            # Others use the gateway too: it is given as long again for its sign of life.
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
            # It says nothing while it connects: this tells one that waits for a host from one that is dead.
            self._wire.ask_for_life()
        else:
            self._fail("the connection was lost")

    def _fail(self, problem: str) -> None:
        """Give up what is not open yet."""
        if self._stage is Stage.OPENING:
            self._problem = problem
            self._theirs.close()
            self.end()
            self._settled.set()

    def _watch_gateway(self, asked: float, seconds: float) -> None:
        """End the gateway's connection in ``seconds`` when it has been silent since it was asked."""
        wire = self._wire

        def look() -> None:
            if wire.active and wire.last_heard < asked:
                wire.fail(TimeoutError(f"no sign of life for {time.monotonic() - asked:.0f}s"))

        wire.reader.later(seconds, look)

    def receive(self, kind: int, message: paramiko.Message) -> None:
        """Take a message from the gateway."""
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
        """Take note that the gateway's connection has ended."""
        self._fail("the connection was lost")
        self._wire.reader.detach(self)

    def fail(self, error: Exception) -> None:
        """End this connection alone."""
        self._fail(f"the connection was lost ({error})")
        self._wire.reader.detach(self)

    # -- in the reader's thread: the socket's side -------------------------------------------------------------------

    def take(self) -> None:
        """Begin; nothing can have come before."""

    def readable(self) -> None:
        """Pass on what the connection has sent, as much as the gateway takes."""
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
        """Hand on what came from the gateway; return whether nothing is left."""
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
        """Leave that to the connections on both sides."""

    def end(self) -> None:
        """Close both sides."""
        self._stage = Stage.ENDED
        self.sock.close()
        self._channel.close()
