"""Extend paramiko's transport so that the shared reader of all connections can take over its reading.

A paramiko transport reads in its own thread, which wakes ten times a second; with 255 connections that uses 8 % of a core.
:class:`Wire` does so only until the login is done. Then its thread ends, and the reader (see
:mod:`exacell.transport.ssh.reader`) calls it when its socket can be read. From then on nothing in here waits. New keys are
still negotiated as before.

If a cipher hides the length of packets, the thread stays; it also stays if paramiko lacks one of the names
in ``NEEDED``, here and in :mod:`exacell.transport.ssh.packets`.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import paramiko
from cryptography.exceptions import InvalidTag
from paramiko import transport as _module
from paramiko.common import (
    MSG_CHANNEL_CLOSE,
    MSG_CHANNEL_OPEN_SUCCESS,
    MSG_DEBUG,
    MSG_DISCONNECT,
    MSG_GLOBAL_REQUEST,
    MSG_IGNORE,
)
from paramiko.packet import Packetizer

from exacell.transport.ssh import packets as _packets
from exacell.transport.ssh.packets import HandOver, Packets
from exacell.transport.ssh.reader import KEEPALIVE_S, Reader
from exacell.transport.ssh.sockets import end

NEEDED = ("_auth_trigger", "_send_user_message", "_send_kex_init", "_parse_disconnect", "_parse_debug", "_next_channel")
"""Private methods of paramiko's Transport."""
NEEDED_ATTRIBUTES = (
    "_handler_table",
    "_channel_handler_table",
    "_channels",
    "_expected_packet",
    "channel_events",
    "clear_to_send",
    "completion_event",
    "in_kex",
    "kex_engine",
)

_KEX_ANSWERS = range(30, 42)
"""Message numbers that belong to a key exchange in progress. Source: RFC 4250, 4.1.2."""
_OWN_IDS = 1 << 24
"""The first channel number of exacell's streams; paramiko's own are lower."""
_TO_CHANNELS = range(MSG_CHANNEL_OPEN_SUCCESS, MSG_CHANNEL_CLOSE + 4)
"""Messages that begin with the number of a channel on this side, 91 to 100. Source: RFC 4250, 4.1.2."""
_KEEPALIVE = "keepalive@openssh.com"
_ACKNOWLEDGED_MS = 2000
"""Milliseconds in which a host must acknowledge a statement that depends on a read. Source: tcp(7), TCP_USER_TIMEOUT."""
_SILENT = 4
"""After so many requests without a sign of life, the connection is given up."""


CERTIFICATE = "-cert-v01@openssh.com"
"""The end of the type of every certificate."""


class Receiver(Protocol):
    """This side of one channel of a wire."""

    def receive(self, kind: int, message: paramiko.Message) -> None:
        """Process a message; ``message`` is positioned after the channel number."""

    def lost(self) -> None:
        """Note that the connection has ended; no more messages come."""


def supported() -> bool:
    """Return whether this paramiko has every private name that is needed here; without them transports keep their threads."""
    needed = ((Packetizer, _packets.NEEDED), (paramiko.Transport, NEEDED))
    return all(hasattr(owner, name) for owner, names in needed for name in names) and hasattr(
        _module, "_active_threads"
    )


def leave_out_weak(transport: paramiko.Transport) -> None:
    """Offer no cipher and no code that ssh does not offer by itself, either. Source: ssh_config(5), Ciphers and MACs."""
    options = transport.get_security_options()
    options.ciphers = [name for name in options.ciphers if not name.endswith("-cbc")]
    options.digests = [name for name in options.digests if "md5" not in name and not name.endswith("-96")]


def prefer_framed(transport: paramiko.Transport) -> None:
    """Prefer the ciphers and codes whose packets carry their length unencrypted."""
    options = transport.get_security_options()
    ciphers, digests = tuple(options.ciphers), tuple(options.digests)
    gcm = sorted((name for name in ciphers if "gcm" in name), key=lambda name: "128" not in name)
    options.ciphers = (*gcm, *(name for name in ciphers if name not in gcm))
    etm = [name for name in digests if "-etm@" in name]
    options.digests = (*etm, *(name for name in digests if name not in etm))


class Asking(paramiko.Transport):
    """An SSH connection that may ask the host for a certificate first.

    Attributes:
        wants_certificate: whether it does.
    """

    wants_certificate = False

    @property
    def preferred_keys(self) -> Sequence[str]:
        """Return the types of host keys that are asked for, first to last."""
        usual = super().preferred_keys
        return sorted(usual, key=lambda name: CERTIFICATE not in name) if self.wants_certificate else usual


class Wire(Asking):
    """An SSH connection whose reading moves to ``reader`` once the login is done.

    Args:
        sock: a connected socket.
        reader: gets the wire, from the transport's own thread, when the login is done and the length of packets is readable.
    """

    # Missing in paramiko's published types.
    _send_kex_init: Callable[[], None]
    _parse_disconnect: Callable[[paramiko.Message], None]
    _parse_debug: Callable[[paramiko.Message], None]
    _handler_table: dict[int, Callable[[paramiko.Message], None]]
    _channel_handler_table: dict[int, Callable[[paramiko.Channel, paramiko.Message], None]]
    _channels: Any
    _expected_packet: tuple[int, ...]
    kex_engine: Any

    def __init__(self, sock: socket.socket, reader: Reader) -> None:
        super().__init__(sock, packetizer_class=Packets)
        self.reader = reader
        self._packets: Packets = self.packetizer  # type: ignore[assignment]  # of the class given above
        self._packets.belong_to(reader, self)
        self._streams: dict[int, Receiver] = {}
        self._next_stream = _OWN_IDS
        self._held: deque[paramiko.Message] = deque()
        self._handing_over = threading.RLock()
        self._closed = False
        self.moved = threading.Event()
        """Set once the reader has the wire, or if it was closed before."""
        self.last_heard = time.monotonic()

    @property
    def attached(self) -> bool:
        """Return whether the reader reads this wire, or is about to."""
        return self._packets.attached

    @property
    def moving(self) -> bool:
        """Return whether the login is done and the reader gets this wire."""
        return self._packets.moving

    def _auth_trigger(self) -> None:
        super()._auth_trigger()  # type: ignore[misc]  # not in paramiko's published types
        self._packets.moving = self._packets.framed

    def run(self) -> None:
        """Work as paramiko's transport does until the login is done, then hand over to the reader."""
        try:
            super().run()
        except HandOver:
            # paramiko ends its threads at exit by this list; this thread has ended.
            with contextlib.suppress(ValueError):
                _module._active_threads.remove(self)  # type: ignore[attr-defined]  # not in paramiko's published types
            with self._handing_over:
                if not self._closed:
                    self._packets.attached = True
                    self.sock.setblocking(False)
                    self.reader.attach(self)
            self.moved.set()

    # -- what the reader calls, in its thread ----------------------------------------------------------------------

    def readable(self) -> None:
        """Process the data that has arrived; never waits and never raises: a broken connection is closed."""
        self.last_heard = time.monotonic()
        self._guarded(self._read)

    def take(self) -> None:
        """Process the data read before the wire was attached, and what has arrived since."""
        self._guarded(self._read)

    def check_life(self, now: float) -> None:
        """Ask a host for a sign of life after a long silence, and give it up if none came."""
        silent = now - self.last_heard
        if silent > _SILENT * KEEPALIVE_S:
            self.fail(TimeoutError(f"no data for {silent:.0f}s"))
        elif silent > KEEPALIVE_S:
            self.ask_for_life()

    def ask_for_life(self) -> None:
        """Send a global request that every server answers at once, even if it refuses it."""
        message = paramiko.Message()
        message.add_byte(bytes((MSG_GLOBAL_REQUEST,)))
        message.add_string(_KEEPALIVE)
        message.add_boolean(True)
        self._guarded(lambda: self.send(message))

    def _read(self) -> None:
        self.drain()
        self._packets.fill(self.reader.room)
        self.drain()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (EOFError, OSError, paramiko.SSHException) as error:
            self.fail(error)
        except InvalidTag:
            self.fail(paramiko.SSHException("a packet was damaged on its way"))
        except (ValueError, IndexError, struct.error) as error:
            self.fail(paramiko.SSHException(f"the host sent a message that cannot be read: {error}"))

    def drain(self) -> None:
        """Process the complete packets that were read.

        Raises:
            EOFError: the other side has ended the connection.
            SSHException: a packet cannot be read.
        """
        packets = self._packets
        while self.active and packets.whole():
            if packets.need_rekey() and not self.in_kex:
                self._send_kex_init()
            kind, message = packets.read_message()
            if not self._dispatch(kind, message):
                raise EOFError
            if not packets.framed:
                raise paramiko.SSHException("the host changed to a cipher that exacell can't read: connect again")
        while self._held and self.clear_to_send.is_set():
            super()._send_user_message(self._held.popleft())  # type: ignore[misc]  # not in paramiko's published types

    def _dispatch(self, kind: int, message: paramiko.Message) -> bool:
        """Process one message and return whether the connection continues."""
        if kind in _TO_CHANNELS:
            stream = self._streams.get(message.get_int())
            if stream is not None:
                stream.receive(kind, message)
                return True
            message.rewind()
        if kind == MSG_IGNORE:
            return True
        if kind == MSG_DISCONNECT:
            self._parse_disconnect(message)
            return False
        if kind == MSG_DEBUG:
            self._parse_debug(message)
            return True
        if self._expected_packet:
            expected, self._expected_packet = self._expected_packet, ()
            if kind not in expected:
                raise paramiko.SSHException(f"message {kind} came; {expected} was expected")
            if kind in _KEX_ANSWERS:
                self.kex_engine.parse_next(kind, message)
                return True
        if kind in self._handler_table:
            self._handler_table[kind](message)
        elif kind in self._channel_handler_table:
            channel = self._channels.get(message.get_int())
            if channel is not None:
                self._channel_handler_table[kind](channel, message)
        else:
            answer = paramiko.Message()
            answer.add_byte(bytes((paramiko.common.MSG_UNIMPLEMENTED,)))
            answer.add_int(message.seqno)
            self.packetizer.send_message(answer)
        return True

    def flush(self) -> bool:
        """Write the kept bytes; return whether nothing is left to write."""
        try:
            return self._packets.flush()
        except EOFError as error:
            self.fail(error)
            return True

    def at_once(self, say: Callable[[], None], may: Callable[[], bool]) -> bool:
        """Let ``say`` send at once or not at all; return whether the kernel accepted all of it. In the reader's thread only.

        If this returns False, unwritten bytes are never written: the connection is closed if there were any. For some
        seconds the kernel also gives the connection up if the host does not acknowledge the data, so that
        nothing arrives there long afterwards.

        Args:
            may: called right before the bytes are written; if it returns False, they are not.
        """
        if self._held or not self.clear_to_send.is_set() or not self.flush() or not self.active:
            return False
        self.acknowledged_within(_ACKNOWLEDGED_MS)
        self.reader.later(_ACKNOWLEDGED_MS / 500, lambda: self.acknowledged_within(0), of=self)
        self._packets.hold()
        say()
        try:
            written = self._packets.release(may)
        except EOFError:
            written = False
        if not written:
            self.fail(TimeoutError("a statement was kept back"))
        return written

    def acknowledged_within(self, milliseconds: int) -> None:
        """Let the kernel give the connection up if data is not acknowledged in time; 0 restores the usual time."""
        if isinstance(self.sock, socket.socket) and hasattr(socket, "TCP_USER_TIMEOUT"):
            with contextlib.suppress(OSError):  # A gateway's socket pair is not TCP.
                self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)

    def fail(self, error: Exception) -> None:
        """Close a broken connection."""
        if self.saved_exception is None:
            self.saved_exception = error
        self.active = False
        self.reader.detach(self)

    def end(self) -> None:
        """Close the socket and wake all threads that wait for something on this connection."""
        self.active = False
        self.packetizer.close()
        self.sock.close()
        streams, self._streams = list(self._streams.values()), {}
        for stream in streams:
            # Each in a separate step, so that an error of one does not keep the end from the others.
            self.reader.do(stream.lost)
        for channel in list(self._channels.values()):
            channel._unlink()
        if self.completion_event is not None:
            self.completion_event.set()
        for event in list(self.channel_events.values()):
            event.set()

    # -- what anybody calls ----------------------------------------------------------------------------------------

    def register(self, stream: Receiver) -> int:
        """Return a channel number whose messages go to ``stream`` until :meth:`forget`. In the reader's thread only."""
        number = self._next_stream
        self._next_stream += 1
        self._streams[number] = stream
        return number

    def forget(self, number: int) -> None:
        """Ignore the messages of a channel that has ended. In the reader's thread only."""
        self._streams.pop(number, None)

    def send(self, message: paramiko.Message) -> None:
        """Send ``message``, after a key exchange in progress. In the reader's thread only; never waits.

        Raises:
            EOFError: the connection is dead.
        """
        self._send_user_message(message)

    def _send_user_message(self, data: paramiko.Message) -> None:
        if self.attached and self.reader.is_current() and (self._held or not self.clear_to_send.is_set()):
            self._held.append(data)
            return
        super()._send_user_message(data)  # type: ignore[misc]  # not in paramiko's published types

    def close(self) -> None:
        """Close the connection and its socket; may be called from any thread, and never waits.

        Only the reader closes a socket that it reads: otherwise the socket's number may belong to another file before the reader
        uses it.
        """
        with self._handing_over:
            self._closed = True
            attached = self.attached
        if not attached:
            super().close()
            end(self.sock)
        elif self.active:
            self.active = False
            self.reader.detach(self)
