"""Our end of one channel on an attached wire: its numbers, what either side may still send, its close. Imports paramiko."""

from __future__ import annotations

import paramiko
from paramiko import common

from exacell.transport.ssh.wire import Receiver, Wire

WINDOW = 4 << 20
"""Bytes that the other side may send before we say that there is room again."""
_PACKET = 32 << 10
_MARGIN = 64
"""Bytes of a packet that are not data."""


class Endpoint:
    """A channel as we see it; all methods run in the reader's thread and never wait.

    Attributes:
        wire: what it is a channel of.
        refusal: why the server opened no channel; empty when it did.
    """

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.refusal = ""
        self._number = self._remote = 0
        self._room = 0
        self._largest = _PACKET
        self._taken = 0
        self._asked = self._open = self._sent_all = False

    @property
    def room(self) -> int:
        """Bytes that the other side takes now."""
        return self._room

    def ask(self, receiver: Receiver, kind: str, *rest: str | int) -> None:
        """Ask for a channel of ``kind``; what comes on it goes to ``receiver``."""
        self._asked = True
        self._number = self.wire.register(receiver)
        message = _message(common.MSG_CHANNEL_OPEN)
        message.add_string(kind)
        for number in (self._number, WINDOW, _PACKET):
            message.add_int(number)
        self._send(message, *rest)

    def opened(self, message: paramiko.Message) -> None:
        """Take note that there is a channel."""
        self._remote, self._room = message.get_int(), message.get_int()
        self._largest = max(_MARGIN + 1, min(_PACKET, message.get_int()))
        self._open = True

    def refused(self, message: paramiko.Message) -> None:
        """Take note that there is none, and why."""
        self.refusal = common.CONNECTION_FAILED_CODE.get(message.get_int(), "(unknown code)")

    def give_back(self, kind: int, message: paramiko.Message) -> None:
        """Close a channel that comes after :meth:`close`."""
        if kind == common.MSG_CHANNEL_OPEN_SUCCESS:
            self._remote = message.get_int()
            self._send(self._to_it(common.MSG_CHANNEL_CLOSE))
        self.wire.forget(self._number)

    def took(self, size: int) -> None:
        """Let the other side send as much again as was taken."""
        self._taken += size
        if self._taken >= WINDOW // 4:
            taken, self._taken = self._taken, 0
            self._send(self._to_it(common.MSG_CHANNEL_WINDOW_ADJUST), taken)

    def may_send(self, message: paramiko.Message) -> None:
        """Take note that the other side takes more."""
        self._room += message.get_int()

    def takes(self, size: int) -> bool:
        """Return whether so many bytes can go in one packet now."""
        return size <= min(self._room, self._largest - _MARGIN)

    def send(self, data: memoryview) -> int:
        """Send of ``data`` what the other side takes in one packet; return how much that is."""
        size = min(len(data), self._room, self._largest - _MARGIN)
        if size:
            message = self._to_it(common.MSG_CHANNEL_DATA)
            message.add_string(bytes(data[:size]))
            self._room -= size
            self._send(message)
        return size

    def request(self, what: str, argument: bytes) -> None:
        """Ask for something that the server answers with success or failure."""
        message = self._to_it(common.MSG_CHANNEL_REQUEST)
        message.add_string(what)
        message.add_boolean(True)
        message.add_string(argument)
        self._send(message)

    def refuse(self) -> None:
        """Answer a request of the server's: no."""
        self._send(self._to_it(common.MSG_CHANNEL_FAILURE))

    def sent_all(self) -> None:
        """Say that nothing more is sent."""
        self._sent_all = True
        self._send(self._to_it(common.MSG_CHANNEL_EOF))

    def close(self) -> None:
        """Close the channel; one that was asked for and has not come yet is closed when it comes."""
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
