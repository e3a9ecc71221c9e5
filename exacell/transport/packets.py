"""paramiko's transport, able to hand its reading over: the one module that touches paramiko's private names.

A paramiko transport reads in a thread of its own, woken ten times a second, which is 8 % of a core at 255 connections.
:class:`Wire` does so only until the login is done. Then its thread ends, and whoever attaches it (see
:mod:`exacell.transport.reader`) tells it when its socket can be read. From then on nothing in here waits: what the
kernel does not take at once is kept and written when it can be. Rekeying goes on as before.

That needs the length of each packet before it is deciphered, which AES-GCM and the encrypt-then-MAC codes give; with
other ciphers the thread stays, and so it does with a paramiko that lacks one of the names in ``NEEDED``.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
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

from exacell.transport.reader import PIECE

NEEDED: tuple[tuple[type, tuple[str, ...]], ...] = (
    (Packetizer, ("_trigger_rekey", "start_handshake", "read_all", "write_all", "read_message", "get_mac_size_in")),
    (
        paramiko.Transport,
        ("_auth_trigger", "_send_user_message", "_send_kex_init", "_parse_disconnect", "_parse_debug", "_next_channel"),
    ),
)
NEEDED_ATTRIBUTES = {
    Packetizer: ("remainder", "closed", "need_rekey", "etm_in"),
    paramiko.Transport: (
        "_handler_table",
        "_channel_handler_table",
        "_channels",
        "_expected_packet",
        "channel_events",
        "clear_to_send",
        "completion_event",
        "in_kex",
        "kex_engine",
    ),
}
"""Instance attributes; those of Packetizer are its class-private ones."""

_LARGEST = 1 << 20
"""A packet that claims to be larger is no SSH. OpenSSH sends at most 256 KiB."""
_KEX_ANSWERS = range(30, 42)
"""Message numbers that belong to the key exchange under way. Source: RFC 4250, 4.1.2."""
_OWN_IDS = 1 << 24
"""Our streams' channel numbers begin here; paramiko's own stay below."""
_TO_CHANNELS = range(MSG_CHANNEL_OPEN_SUCCESS, MSG_CHANNEL_CLOSE + 4)
"""Messages that name one of our channels first, 91 to 100. Source: RFC 4250, 4.1.2."""


class Receiver(Protocol):
    """One channel's end of a wire."""

    def receive(self, kind: int, message: paramiko.Message) -> None:
        """Take a message; ``message`` stands behind the channel number."""

    def lost(self) -> None:
        """Take note that the connection has ended; nothing comes any more."""


class Timer(Protocol):
    """A call to come."""

    def cancel(self) -> None:
        """Make it not happen."""


class Attached(Protocol):
    """Who reads attached wires; called from any thread.

    Attributes:
        room: where a piece is read to; for the thread that reads.
    """

    room: memoryview

    def attach(self, wire: Wire) -> None:
        """Read ``wire`` from now on."""

    def wants_to_write(self, wire: Wire) -> None:
        """Call :meth:`Wire.flush` when its socket can be written."""

    def wrote(self, wire: Wire) -> None:
        """Call :meth:`Wire.flush` before waiting again; called by the thread that reads."""

    def detach(self, wire: Wire) -> None:
        """Stop reading ``wire`` and then call :meth:`Wire.end`."""

    def is_current(self) -> bool:
        """Whether the calling thread is the one that reads."""

    def call(self, work: Callable[[], None]) -> None:
        """Have ``work`` done by the thread that reads."""

    def later(self, seconds: float, work: Callable[[], None]) -> Timer:
        """Have ``work`` done after ``seconds``; called by the thread that reads."""


class _HandOver(BaseException):
    """Ends the thread of a transport whose reading goes on elsewhere; no error."""


def supported() -> bool:
    """Return whether this paramiko has every private name that is needed here; else transports keep their threads."""
    return all(hasattr(owner, name) for owner, names in NEEDED for name in names) and hasattr(
        _module, "_active_threads"
    )


def prefer_framed(transport: paramiko.Transport) -> None:
    """Put the ciphers and codes first whose packets say their length in the clear."""
    options = transport.get_security_options()
    ciphers, digests = tuple(options.ciphers), tuple(options.digests)
    gcm = sorted((name for name in ciphers if "gcm" in name), key=lambda name: "128" not in name)
    options.ciphers = (*gcm, *(name for name in ciphers if name not in gcm))
    etm = [name for name in digests if "-etm@" in name]
    options.digests = (*etm, *(name for name in digests if name not in etm))


class _Packets(Packetizer):
    """Reads the socket in large pieces; once attached, neither reads nor writes wait."""

    _check_keepalive: Callable[[], None]

    def __init__(self, sock: Any) -> None:
        super().__init__(sock)
        self._sock = sock
        self._buffer = bytearray()
        self._unsent = bytearray()
        self._out_lock = threading.Lock()
        self._handshake_ends: float | None = None
        self.wire: Wire | None = None
        self.attached = False
        self.moving = False
        """The login is done: the thread is to end before the next message."""

    @property
    def framed(self) -> bool:
        """Whether packets say their length in the clear."""
        # Without AES-GCM, as up to 3.4, there is no such flag.
        return bool(self._Packetizer__etm_in or getattr(self, "_Packetizer__aead_in", False))  # type: ignore[attr-defined]

    def start_handshake(self, timeout: float) -> None:
        """Note until when the handshake may take, without a thread that watches it."""
        self._handshake_ends = time.monotonic() + float(timeout)

    def handshake_timed_out(self) -> bool:
        """Return whether the handshake took too long."""
        return self._handshake_ends is not None and time.monotonic() > self._handshake_ends

    def complete_handshake(self) -> None:
        """Note that the handshake is over."""
        self._handshake_ends = None

    def read_message(self) -> tuple[int, paramiko.Message]:
        """Return the next message; ends the thread instead when the reading is to move."""
        if self.moving and not self.attached:
            raise _HandOver
        found: tuple[int, paramiko.Message] = super().read_message()
        return found

    def read_all(self, n: int, check_rekey: bool = False) -> bytes:
        """Return ``n`` bytes; waits for them unless attached, where they are there already."""
        buffer = self._buffer
        if not self.attached:
            self._wait_for(n, check_rekey)
        with memoryview(buffer) as seen:
            found = bytes(seen[:n])
        del buffer[:n]
        return found

    def _wait_for(self, n: int, check_rekey: bool) -> None:
        buffer = self._buffer
        remainder = self._Packetizer__remainder  # type: ignore[has-type]
        if remainder:
            buffer += remainder
            self._Packetizer__remainder = b""
        while len(buffer) < n:
            if self.handshake_timed_out():
                raise EOFError
            try:
                piece = self._sock.recv(PIECE)
            except (TimeoutError, BlockingIOError):
                if self.closed:
                    raise EOFError from None
                if check_rekey and not buffer and self._Packetizer__need_rekey:  # type: ignore[attr-defined]
                    raise paramiko.packet.NeedRekeyException from None
                self._check_keepalive()
                continue
            if not piece:
                raise EOFError
            buffer += piece

    def fill(self, room: memoryview) -> None:
        """Read a piece of what the socket has, if it has anything, by way of ``room``.

        Raises:
            EOFError: the other side has ended.
            OSError: the connection broke.
        """
        try:
            size = self._sock.recv_into(room)
        except (BlockingIOError, TimeoutError):
            return
        if not size:
            raise EOFError
        self._buffer += room[:size]

    def whole(self) -> bool:
        """Return whether a complete packet has been read.

        Raises:
            SSHException: what was read cannot be a packet.
        """
        buffer = self._buffer
        if len(buffer) < 4:
            return False
        size = int.from_bytes(buffer[:4], "big")
        if size > _LARGEST:
            raise paramiko.SSHException(f"a packet of {size} bytes cannot be")
        return len(buffer) >= 4 + size + self.get_mac_size_in()

    def write_all(self, out: Any) -> None:
        """Write ``out``; once attached what the kernel does not take at once is kept. Raises EOFError when dead."""
        if not self.attached:
            super().write_all(out)
            return
        wire = self.wire
        if wire is not None and wire.reader.is_current():
            # What is said in one turn goes in one piece: each piece wakes the server once.
            with self._out_lock:
                self._unsent += out
            wire.reader.wrote(wire)
            return
        with self._out_lock:
            self._unsent += out
            self._push()
            left = bool(self._unsent)
        if left and wire is not None:
            wire.reader.wants_to_write(wire)

    def flush(self) -> bool:
        """Write what was kept and return whether nothing is left. Raises EOFError when the connection is dead."""
        with self._out_lock:
            self._push()
            return not self._unsent

    def _push(self) -> None:
        unsent = self._unsent
        while unsent:
            try:
                sent = self._sock.send(unsent)
            except (BlockingIOError, TimeoutError):
                return
            except OSError as error:
                raise EOFError from error
            del unsent[:sent]


class Wire(paramiko.Transport):
    """An SSH connection whose reading moves to ``reader`` once the login is done.

    Args:
        sock: connected.
        reader: gets the wire, from the transport's own thread, when the login is done and its packets are framed.
    """

    # What paramiko's published types leave out.
    _send_kex_init: Callable[[], None]
    _parse_disconnect: Callable[[paramiko.Message], None]
    _parse_debug: Callable[[paramiko.Message], None]
    _handler_table: dict[int, Callable[[paramiko.Message], None]]
    _channel_handler_table: dict[int, Callable[[paramiko.Channel, paramiko.Message], None]]
    _channels: Any
    _expected_packet: tuple[int, ...]
    kex_engine: Any

    def __init__(self, sock: socket.socket, reader: Attached) -> None:
        super().__init__(sock, packetizer_class=_Packets)
        self.reader = reader
        self._packets: _Packets = self.packetizer  # type: ignore[assignment]
        self._packets.wire = self
        self._streams: dict[int, Receiver] = {}
        self._next_stream = _OWN_IDS
        self._held: deque[paramiko.Message] = deque()
        self.moved = threading.Event()
        """Set once the reader has the wire."""
        self.last_heard = time.monotonic()

    @property
    def attached(self) -> bool:
        """Whether the reader reads this wire, or is about to."""
        return self._packets.attached

    @property
    def moving(self) -> bool:
        """Whether the login is done and the reader gets this wire."""
        return self._packets.moving

    def _auth_trigger(self) -> None:
        super()._auth_trigger()  # type: ignore[misc]
        self._packets.moving = self._packets.framed

    def run(self) -> None:
        """Work as paramiko's transport does until the login is done, then hand over."""
        try:
            super().run()
        except _HandOver:
            # paramiko ends its threads at exit by this list; ours has ended.
            with contextlib.suppress(ValueError):
                _module._active_threads.remove(self)  # type: ignore[attr-defined]
            self._packets.attached = True
            self.sock.setblocking(False)
            self.reader.attach(self)
            self.moved.set()

    # -- what the reader calls, in its thread ----------------------------------------------------------------------

    def readable(self) -> None:
        """Take what has arrived; never waits and never raises: a connection that broke is ended."""
        self.last_heard = time.monotonic()
        self._guarded(self._read)

    def take(self) -> None:
        """Work through what was read before the wire was attached, and what has arrived since."""
        self._guarded(self._read)

    def ask_for_life(self, kind: str) -> None:
        """Send a global request that every server answers, if only with a refusal."""
        message = paramiko.Message()
        message.add_byte(bytes((MSG_GLOBAL_REQUEST,)))
        message.add_string(kind)
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

    def drain(self) -> None:
        """Work through the complete packets that were read."""
        packets = self._packets
        while self.active and packets.whole():
            if packets.need_rekey() and not self.in_kex:
                self._send_kex_init()
            kind, message = packets.read_message()
            if not self._dispatch(kind, message):
                raise EOFError
            if not packets.framed:
                raise paramiko.SSHException("the host changed to a cipher that cannot be read here: connect again")
        while self._held and self.clear_to_send.is_set():
            super()._send_user_message(self._held.popleft())  # type: ignore[misc]

    def _dispatch(self, kind: int, message: paramiko.Message) -> bool:
        """Act on one message and return whether the connection goes on."""
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
                raise paramiko.SSHException(f"message {kind} came where {expected} was expected")
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
        """Write what was kept; return whether nothing is left to write."""
        try:
            return self._packets.flush()
        except EOFError as error:
            self.fail(error)
            return True

    def fail(self, error: Exception) -> None:
        """End a connection that broke."""
        if self.saved_exception is None:
            self.saved_exception = error
        self.active = False
        self.reader.detach(self)

    def end(self) -> None:
        """Close the socket and wake everyone who waits for something on this connection."""
        self.active = False
        self.packetizer.close()
        self.sock.close()
        streams, self._streams = list(self._streams.values()), {}
        for stream in streams:
            stream.lost()
        for channel in list(self._channels.values()):
            channel._unlink()
        if self.completion_event is not None:
            self.completion_event.set()
        for event in list(self.channel_events.values()):
            event.set()

    # -- what anybody calls ----------------------------------------------------------------------------------------

    def register(self, stream: Receiver) -> int:
        """Return a channel number; its messages go to ``stream`` until :meth:`forget`. In the reader's thread only."""
        number = self._next_stream
        self._next_stream += 1
        self._streams[number] = stream
        return number

    def forget(self, number: int) -> None:
        """Drop the messages of a channel that has ended. In the reader's thread only."""
        self._streams.pop(number, None)

    def send(self, message: paramiko.Message) -> None:
        """Send ``message``, behind a key exchange that is under way. In the reader's thread only; never waits.

        Raises:
            EOFError: the connection is dead.
        """
        self._send_user_message(message)

    def _send_user_message(self, data: paramiko.Message) -> None:
        if self.attached and self.reader.is_current() and (self._held or not self.clear_to_send.is_set()):
            self._held.append(data)
            return
        super()._send_user_message(data)  # type: ignore[misc]

    def close(self) -> None:
        """End the connection; from any thread, at once."""
        if not self.attached:
            super().close()
            return
        if self.active:
            self.active = False
            self.reader.detach(self)
