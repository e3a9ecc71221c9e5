"""SSH packets out of bytes that have come: paramiko's packetizer, able to neither read nor write with waiting.

It waits as paramiko's does until the login is done; once its wire is attached to the one reader, it is told when there is
something to read, and what the kernel does not take at once is kept until it can be written. That needs the length of each
packet before it is deciphered, which AES-GCM and the encrypt-then-MAC codes give.

This module and :mod:`exacell.transport.ssh.wire` alone touch paramiko's private names.
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
"""Private methods of paramiko's Packetizer, and overridden ones."""
NEEDED_ATTRIBUTES = ("remainder", "closed", "need_rekey", "etm_in")
"""Its class-private attributes."""

_LARGEST = 1 << 20
"""A packet that claims to be larger is no SSH. OpenSSH sends at most 256 KiB."""


class HandOver(BaseException):
    """Ends the thread of a transport whose reading goes on elsewhere; no error."""


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
        """The login is done: the thread is to end before the next message."""

    def belong_to(self, reader: Reader, watched: Watched) -> None:
        """Note who writes, once attached, what the kernel does not take at once, and for which connection."""
        self._reader, self._watched = reader, watched

    @property
    def framed(self) -> bool:
        """Whether packets say their length in the clear."""
        # Without AES-GCM, as up to 3.4, there is no such flag.
        return bool(self._Packetizer__etm_in or getattr(self, "_Packetizer__aead_in", False))  # type: ignore[attr-defined]  # private to paramiko

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
            raise HandOver
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
        reader, watched = self._reader, self._watched
        assert reader is not None and watched is not None, "attached without a reader"
        if reader.is_current():
            # What is said in one turn goes in one piece: each piece wakes the server once.
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
        """Write what was kept and return whether nothing is left. Raises EOFError when the connection is dead."""
        with self._out_lock:
            self._push()
            return not self._unsent

    def hold(self) -> None:
        """Keep what is said from now on until :meth:`release`; nothing else may be unsent."""
        self._held_back = True

    def release(self, may: Callable[[], bool]) -> bool:
        """Write what was held if ``may`` says so right before, and return whether the kernel took all of it.

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
