"""One command on one plain SSH channel: sent, fed, read to its end in linear time. Imports paramiko.

Commands go as a :mod:`exacell.transport.ssh.stream` where the connection allows that; this is the way for those behind a
gateway and for uploads. fabric's own runner reads 1000 bytes at a time and joins everything read so far on each, which is
quadratic, and takes three threads a command (reference fanout.md, section 3). Here one thread drains both streams in large
pieces. Deadlines are the caller's: closing the channel from another thread ends every wait in here.
"""

from __future__ import annotations

import contextlib
import threading

import paramiko
from paramiko import SSHException

from exacell.transport.capture import Capture, End, Ending

_PIECE = 1 << 20
_INLINE_STDIN = 16 << 10
"""Bytes of standard input that are sent before reading; more is sent by a thread, so that a command that answers before
it has read everything cannot block on us while we block on it."""


_LAST_WORDS_S = 1.0
"""How long a transport that is dying may take to say so, on a host with much else to do."""


class Bell(threading.Event):
    """Rung by either stream's buffer; a buffer that runs empty does not silence the other."""

    def clear(self) -> None:
        """Do nothing: only the reader lowers it, with :meth:`rearm`."""

    def rearm(self) -> None:
        """Lower the bell, before looking at the buffers."""
        super().clear()


def listen(channel: paramiko.Channel) -> Bell:
    """Return what is rung when something arrives on either stream of a channel."""
    bell = Bell()
    channel.in_buffer.set_event(bell)
    channel.in_stderr_buffer.set_event(bell)
    return bell


def execute(channel: paramiko.Channel, command: str, stdin: str | None, capture: Capture) -> Ending:
    """Run ``command`` on a fresh session channel and read it to its end into ``capture``; close the channel.

    Args:
        stdin: sent to the command, then end-of-file; None: end-of-file at once.
    """
    bell = listen(channel)
    try:
        try:
            channel.exec_command(command)
        except (SSHException, EOFError, OSError):
            return Ending(end=End.LOST if is_dead(channel.get_transport()) else End.REFUSED)
        _feed(channel, (stdin or "").encode("utf-8", "surrogateescape"))
        _drain(channel, bell, capture)
        if capture.broken_off is not None:
            return Ending(end=capture.broken_off)
        status = channel.recv_exit_status()
        if status >= 0:
            return Ending(end=End.STATUS, exit_status=status)
        return Ending(end=End.LOST if is_dead(channel.get_transport()) else End.NO_STATUS)
    finally:
        hang_up(channel)


def hang_up(channel: paramiko.Channel) -> None:
    """Close ``channel``; that its connection has died meanwhile is no matter. Any wait on it ends."""
    with contextlib.suppress(SSHException, EOFError, OSError):
        channel.close()


def is_dead(transport: paramiko.Transport) -> bool:
    """Return whether the connection under a channel that failed is gone."""
    # A dying transport ends its channels first and says last that it is not active: its thread is then about to end.
    transport.join(_LAST_WORDS_S)
    return not transport.is_active()


def _feed(channel: paramiko.Channel, data: bytes) -> None:
    if len(data) <= _INLINE_STDIN:
        _send(channel, data)
    else:
        threading.Thread(target=_send, args=(channel, data), name="exacell stdin", daemon=True).start()


def _send(channel: paramiko.Channel, data: bytes) -> None:
    try:
        channel.sendall(data)
        channel.shutdown_write()
    except (OSError, EOFError):
        # The command ended, or the connection died, before it took everything: how it ended says what that means.
        return


def _drain(channel: paramiko.Channel, bell: Bell, capture: Capture) -> None:
    while True:
        bell.rearm()
        # Looked at before the buffers: the end is announced only after everything was put into them.
        ended = channel.eof_received or channel.closed
        arrived = False
        while channel.recv_ready():
            capture.take(channel.recv(_PIECE))
            arrived = True
        while channel.recv_stderr_ready():
            capture.take_error(channel.recv_stderr(_PIECE))
            arrived = True
        if ended or capture.broken_off is not None:
            return
        if not arrived:
            bell.wait()
