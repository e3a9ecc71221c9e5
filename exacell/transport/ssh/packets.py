"""Split received bytes into SSH packets: paramiko's packetizer, changed so that it can read and write without waiting.

Until the login is done it waits as paramiko's does. Once its wire is attached to the shared reader, the reader calls it when
there is something to read; bytes that the kernel does not accept at once are kept until they can be written. For this, the
length of each packet must be readable before it is decrypted, as with AES-GCM and the encrypt-then-MAC codes.

Only this module and :mod:`exacell.transport.ssh.wire` use paramiko's private names.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import paramiko
from paramiko.packet import Packetizer

from exacell.transport.ssh.reader import PIECE, Reader, Watched

NEEDED = ("_trigger_rekey", "start_handshake", "read_all", "write_all", "read_message", "get_mac_size_in")
"""Private and overridden methods of paramiko's Packetizer."""
NEEDED_ATTRIBUTES = ("remainder", "closed", "need_rekey", "etm_in")
"""Its class-private attributes."""

_LARGEST = 1 << 20
"""A packet that claims to be larger is not SSH. OpenSSH sends at most 256 KiB."""


class HandOver(BaseException):
    """Ends the thread of a transport whose reading moves to the reader; not an error."""


class Packets(Packetizer):
    """Reads the socket in large pieces; once attached, neither reads nor writes wait."""

    _check_keepalive: Callable[[], None]

    def __init__(self, sock: Any) -> None:
        super().__init__(sock)
        self._sock = sock
        self._buffer = bytearray()
        self._unsent = bytearray()
        self._out_lock = threading.Lock()
        self._handshake_ends: float | None = None
        self._reader: Reader | None = None
        self._watched: Watched | None = None
        self.attached = False
        self._held_back = False
        self.moving = False
        """Whether the login is done, so that the thread must end before the next message."""

    def belong_to(self, reader: Reader, watched: Watched) -> None:
        """Set the reader that later writes the bytes that the kernel does not accept at once, and the connection for them."""
        self._reader, self._watched = reader, watched

    @property
    def framed(self) -> bool:
        """Return whether packets carry their length unencrypted."""
        # paramiko up to 3.4 has no AES-GCM and no such attribute.
        return bool(self._Packetizer__etm_in or getattr(self, "_Packetizer__aead_in", False))  # type: ignore[attr-defined]  # private to paramiko

    def start_handshake(self, timeout: float) -> None:
        """Set the time limit of the handshake, without a thread that watches it."""
        self._handshake_ends = time.monotonic() + float(timeout)

    def handshake_timed_out(self) -> bool:
        """Return whether the handshake took too long."""
        return self._handshake_ends is not None and time.monotonic() > self._handshake_ends

    def complete_handshake(self) -> None:
        """Note that the handshake is over."""
        self._handshake_ends = None

    def read_message(self) -> tuple[int, paramiko.Message]:
        """Return the next message; if the shared reader is to take over, end this thread instead."""
        if self.moving and not self.attached:
            raise HandOver
        found: tuple[int, paramiko.Message] = super().read_message()
        return found

    def read_all(self, n: int, check_rekey: bool = False) -> bytes:
        """Return ``n`` bytes; waits for them unless attached, because then they are already there."""
        buffer = self._buffer
        if not self.attached:
            self._wait_for(n, check_rekey)
        with memoryview(buffer) as seen:
            found = bytes(seen[:n])
        del buffer[:n]
        return found

    def _wait_for(self, n: int, check_rekey: bool) -> None:
        buffer = self._buffer
        remainder = self._Packetizer__remainder  # type: ignore[has-type]  # private to paramiko
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
                if check_rekey and not buffer and self._Packetizer__need_rekey:  # type: ignore[attr-defined]  # private to paramiko
                    raise paramiko.packet.NeedRekeyException from None
                self._check_keepalive()
                continue
            if not piece:
                raise EOFError
            buffer += piece

    def fill(self, room: memoryview) -> None:
        """Read the data that the socket has, if any, up to the size of ``room``.

        Raises:
            EOFError: the other side has ended the connection.
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
            SSHException: the bytes cannot be a packet.
        """
        buffer = self._buffer
        if len(buffer) < 4:
            return False
        size = int.from_bytes(buffer[:4], "big")
        if size > _LARGEST:
            raise paramiko.SSHException(f"a packet of {size} bytes cannot be")
        return len(buffer) >= 4 + size + self.get_mac_size_in()

    def write_all(self, out: Any) -> None:
        """Write ``out``; once attached, keep the bytes that the kernel does not accept at once.

        Raises:
            EOFError: the connection is dead.
        """
        if not self.attached:
            super().write_all(out)
            return
        reader, watched = self._reader, self._watched
        assert reader is not None and watched is not None, "attached without a reader"
        if reader.is_current():
            # All messages of one turn are sent as one piece: each piece wakes the server once.
            with self._out_lock:
                self._unsent += out
            reader.wrote(watched)
            return
        with self._out_lock:
            self._unsent += out
            self._push()
            left = bool(self._unsent)
        if left:
            reader.wants_to_write(watched)

    def flush(self) -> bool:
        """Write the kept bytes and return whether nothing is left; raises EOFError if the connection is dead."""
        with self._out_lock:
            self._push()
            return not self._unsent

    def hold(self) -> None:
        """Keep all that is sent from now on until :meth:`release`; nothing else may be unsent."""
        self._held_back = True

    def release(self, may: Callable[[], bool]) -> bool:
        """Write the held bytes if ``may()`` is true at this moment, else drop them.

        Return whether the kernel accepted all of them.

        Raises:
            EOFError: the connection is dead.
        """
        with self._out_lock:
            self._held_back = False
            if may():
                self._push()
            written = not self._unsent
            self._unsent.clear()
            return written

    def _push(self) -> None:
        if self._held_back:
            return
        unsent = self._unsent
        while unsent:
            try:
                sent = self._sock.send(unsent)
            except (BlockingIOError, TimeoutError):
                return
            except OSError as error:
                raise EOFError from error
            del unsent[:sent]
