"""Write files over SFTP as scp does, on a channel of exacell or through the ssh program. Imports paramiko."""

from __future__ import annotations

import errno
import posixpath
import stat
from pathlib import Path
from typing import BinaryIO, cast

import paramiko
from paramiko import SFTPClient, SFTPError, SSHException

from exacell.transport.base import Upload
from exacell.transport.capture import Capture
from exacell.transport.exchange import Pipe

NO_SFTP = (SSHException, SFTPError, EOFError)
"""The errors of an SFTPClient if the other side ended, or does not speak SFTP."""
_FILE_PIECE = 32768
"""Bytes per request. Source: draft-ietf-secsh-filexfer-02, 3: servers accept packets of at least 34000 bytes."""


class _Local(Exception):
    """A local file that can't be sent; the text is scp's message about it."""


def write_files(client: SFTPClient, upload: Upload, capture: Capture) -> int:
    """Write the files to the host and return 0, or 1 if some could not be written.

    Messages about a file, in scp's words, go to the standard error in ``capture``; the other files are still sent.

    Raises:
        NO_SFTP: the other side ended, or does not speak SFTP.
    """
    into = _is_directory(client, upload.place)
    if len(upload.sources) > 1 and not into:
        capture.take_error(f"scp: {upload.destination}: Not a directory\n".encode())
        return 1
    status = 0
    for source in upload.sources:
        status |= _send_file(client, source, upload, capture, into=into)
    return status


def write_through(pipe: Pipe, upload: Upload, capture: Capture) -> int | None:
    """Write the files through a program that runs an SFTP server on the host, and end its input.

    Returns:
        as :func:`write_files`, 1 also if the program ended too early; None if no SFTP server answered, so nothing was sent.
    """
    carrier = _Carrier(pipe)
    try:
        client = SFTPClient(cast(paramiko.Channel, carrier))
    except NO_SFTP:
        return None
    try:
        return write_files(client, upload, capture)
    except NO_SFTP:
        capture.take_error(b"scp: the SFTP server there ended too early\n")
        return 1
    finally:
        client.close()


class _Carrier:
    """The methods of a channel that SFTPClient uses, over a program's pipes."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe, self._data, self._ended = pipe, b"", False

    def send(self, data: bytes) -> int:
        self._pipe.say(data, last=False)
        return len(data)

    def recv(self, size: int) -> bytes:
        while not self._data and not self._ended:
            self._hear(None)
        found, self._data = self._data[:size], self._data[size:]
        return found

    def recv_ready(self) -> bool:
        if not self._data and not self._ended:
            self._hear(0)
        return bool(self._data) or self._ended

    def get_name(self) -> str:
        return "sftp"

    def close(self) -> None:
        self._pipe.say(b"", last=True)

    def _hear(self, seconds: float | None) -> None:
        piece = self._pipe.hear(seconds)
        self._data, self._ended = piece or b"", piece == b""


def _send_file(client: paramiko.SFTPClient, source: Path, upload: Upload, capture: Capture, *, into: bool) -> int:
    name = posixpath.join(upload.place, source.name) if into else upload.place
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
    # Without -p the host's umask decides, and only its server knows it; the usual umask denies writing to others.
    mode = stat.S_IMODE(found.st_mode)
    client.chmod(name, mode if upload.keep else mode & 0o755)
    if upload.keep:
        client.utime(name, (found.st_atime, found.st_mtime))


def _write(client: paramiko.SFTPClient, stream: BinaryIO, name: str, upload: Upload) -> None:
    """Write a file on the host in place.

    If source and destination are the same file, as when a host copies to itself, it must not be emptied before it is read.
    Source: scp(1) of OpenSSH does so, too.

    Raises:
        OSError: it can't be written, or has another size at the end.
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
