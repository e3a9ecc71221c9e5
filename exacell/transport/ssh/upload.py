"""Files to one target over SFTP, with scp's rules for names: what stands at the other end decides what they mean. Imports
paramiko.

Source of the rules: scp(1); a destination that is a directory takes the files under their own names, several files need
one, and a directory is copied with ``-r`` only.
"""

from __future__ import annotations

import errno
import posixpath
import stat
from pathlib import Path
from typing import BinaryIO

import paramiko
from paramiko import SFTPClient, SSHException

from exacell.transport.base import Upload
from exacell.transport.capture import Capture, End, Ending
from exacell.transport.ssh.channel import hang_up, is_dead

_PIECE = 32768
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
                status |= _send(client, source, upload, capture, into=into)
        except (SSHException, EOFError):
            return Ending(end=End.LOST)
        return Ending(end=End.STATUS, exit_status=status)
    finally:
        hang_up(channel)


def _send(client: paramiko.SFTPClient, source: Path, upload: Upload, capture: Capture, *, into: bool) -> int:
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
        while data := stream.read(_PIECE):
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
