"""One command, or the upload of files, on one plain SSH channel: sent, fed, read to its end in linear time. Imports paramiko.

Commands go as a :mod:`exacell.transport.ssh.stream` where the connection allows that; this is the way for those behind a
gateway and for uploads. fabric's own runner reads 1000 bytes at a time and joins everything read so far on each, which is
quadratic, and takes three threads a command (reference fanout.md, section 3). Here one thread drains both streams in large
pieces. Deadlines are the caller's: closing the channel from another thread ends every wait in here.
"""

from __future__ import annotations

import contextlib
import errno
import posixpath
import stat
import threading
from pathlib import Path
from typing import BinaryIO

import paramiko
from paramiko import SFTPClient, SSHException

from exacell.transport.base import Upload
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


_FILE_PIECE = 32768
"""Bytes in one request. Source: draft-ietf-secsh-filexfer-02, 3: servers take packets of 34000 bytes at least."""


class _Local(Exception):
    """A file of ours that can't be sent; the text is scp's sentence about it."""


def send_files(channel: paramiko.Channel, upload: Upload, capture: Capture) -> Ending:
    """Send the files on a fresh session channel and close it; status 1 when some could not be written.

    What scp would say about a file goes to the standard error in ``capture``; the other files are still sent.
    """
    try:
        try:
            channel.invoke_subsystem("sftp")
            client = SFTPClient(channel)
        except (SSHException, EOFError, OSError):
            return Ending(end=End.LOST if is_dead(channel.get_transport()) else End.REFUSED)
        try:
            into = _is_directory(client, _path(upload.destination))
            status = 0
            if len(upload.sources) > 1 and not into:
                capture.take_error(f"scp: {upload.destination}: Not a directory\n".encode())
                return Ending(end=End.STATUS, exit_status=1)
            for source in upload.sources:
                status |= _send_file(client, source, upload, capture, into=into)
        except (SSHException, EOFError):
            return Ending(end=End.LOST)
        return Ending(end=End.STATUS, exit_status=status)
    finally:
        hang_up(channel)


def _send_file(client: paramiko.SFTPClient, source: Path, upload: Upload, capture: Capture, *, into: bool) -> int:
    path = _path(upload.destination)
    name = posixpath.join(path, source.name) if into else path
    try:
        _copy(client, source, name, upload)
    except _Local as problem:
        capture.take_error(f"{problem}\n".encode())
        return 1
    except OSError as error:
        capture.take_error(f"scp: {name}: {error.strerror or error}\n".encode())
        return 1
    return 0


def _copy(client: paramiko.SFTPClient, source: Path, name: str, upload: Upload) -> None:
    try:
        found = source.stat()
        if stat.S_ISDIR(found.st_mode):
            if not upload.recursive:
                raise _Local(f"scp: {source}: not a regular file")
            entries = sorted(source.iterdir())
        else:
            stream = source.open("rb")
    except OSError as error:
        raise _Local(f"scp: {source}: {error.strerror}") from error
    if stat.S_ISDIR(found.st_mode):
        if not _is_directory(client, name):
            client.mkdir(name, stat.S_IMODE(found.st_mode))
        for entry in entries:
            _copy(client, entry, posixpath.join(name, entry.name), upload)
        return
    with stream:
        _write(client, stream, name, upload)
    # Without -p the umask there has the last word, which only its server knows: the usual one takes write from others.
    mode = stat.S_IMODE(found.st_mode)
    client.chmod(name, mode if upload.keep else mode & 0o755)
    if upload.keep:
        client.utime(name, (found.st_atime, found.st_mtime))


def _write(client: paramiko.SFTPClient, stream: BinaryIO, name: str, upload: Upload) -> None:
    """Write a file there, in place: where both ends are one file, as when a host copies to itself, it must not be emptied
    before it is read. Source: scp(1) of OpenSSH does so, too.

    Raises:
        OSError: it can't be written, or has another size in the end.
    """
    try:
        there = client.open(name, "r+b")
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EACCES):
            raise
        there = client.open(name, "wb")
    sent = 0
    with there:
        there.set_pipelined(True)
        while data := stream.read(_FILE_PIECE):
            there.write(data)
            sent += len(data)
            if upload.sent is not None:
                upload.sent(len(data))
        there.flush()
        if (there.stat().st_size or 0) > sent:
            there.truncate(sent)
    if client.stat(name).st_size != sent:
        raise OSError(f"only {client.stat(name).st_size} of {sent} bytes were written")


def _is_directory(client: paramiko.SFTPClient, path: str) -> bool:
    try:
        return stat.S_ISDIR(client.stat(path).st_mode or 0)
    except OSError:
        return False


def _path(destination: str) -> str:
    """Return the destination as SFTP takes it: the login's home is where relative names begin."""
    if destination in ("", "~", "~/"):
        return "."
    return destination.removeprefix("~/")
