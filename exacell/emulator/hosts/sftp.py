"""SFTP and scp on an emulated host: paths begin in the login's home directory and reach only the host's own files."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

from asyncssh import (
    FXF_APPEND,
    FXF_CREAT,
    FXF_EXCL,
    FXF_READ,
    FXF_TRUNC,
    FXF_WRITE,
    SFTPAttrs,
    SFTPFileAlreadyExists,
    SFTPName,
    SFTPServer,
    SSHServerChannel,
)

from exacell.emulator.basics.beneath import Spot, open_at, spot


class Local(bytes):
    """A path of this process to a file that has been found; it is not resolved again."""


class HomeSFTPServer(SFTPServer):
    """Serves files by the names that a shell started in ``home`` would use; ``~`` is that home.

    Args:
        root: the directory on this machine that holds the host's directories.
        home: the login's home directory, as the host names it.
    """

    def __init__(self, channel: SSHServerChannel[bytes], root: Path, home: str) -> None:
        super().__init__(channel)
        self._root, self._home = root, home

    def named(self, path: bytes) -> str:
        """Return the host's absolute path for a path that the client names."""
        text = os.fsdecode(path)
        if text == "~" or text.startswith("~/"):
            text = text[2:]
        return posixpath.join(self._home, text)

    @contextmanager
    def _spot(self, path: bytes, *, follow: bool = True) -> Iterator[Spot]:
        with spot(self._root, self.named(path), follow=follow) as at:
            yield at

    @contextmanager
    def _changed(self, path: bytes) -> Iterator[str]:
        """Yield a path to an entry that will be created, removed or renamed."""
        with self._spot(path, follow=False) as at:
            at.refuse_at_top()
            yield at.entry

    def map_path(self, path: bytes) -> bytes:
        """Return a path that has been found already.

        Raises:
            PermissionError: it is a client's path, which could lead outside the host's directories.
        """
        if isinstance(path, Local):
            return path
        raise PermissionError("not a file of this host")

    def open(self, path: bytes, pflags: int, attrs: SFTPAttrs) -> object:
        """Open a regular file and return it; it is created if the flags say so."""
        writes = pflags & (FXF_WRITE | FXF_APPEND)
        flags = os.O_RDONLY if not writes else os.O_RDWR if pflags & FXF_READ else os.O_WRONLY
        for theirs, ours in _FLAGS.items():
            flags |= ours if pflags & theirs else 0
        permissions = 0o666 if attrs.permissions is None else stat.S_IMODE(attrs.permissions)
        with self._spot(path) as at:
            descriptor = open_at(at, flags, permissions)
        mode = "rb" if not writes else "ab" if pflags & FXF_APPEND else "r+b" if pflags & FXF_READ else "wb"
        return os.fdopen(descriptor, mode, buffering=0)

    def stat(self, path: bytes) -> os.stat_result:
        """Return the attributes of the file to which a path leads; links are followed."""
        with self._spot(path) as at:
            return os.stat(at.target)

    def lstat(self, path: bytes) -> os.stat_result:
        """Return the attributes of a file or of the link itself."""
        with self._spot(path, follow=False) as at:
            return os.lstat(at.entry)

    def setstat(self, path: bytes, attrs: SFTPAttrs) -> None:
        """Set attributes of a file or directory."""
        with self._spot(path) as at:
            super().setstat(Local(os.fsencode(at.target)), attrs)

    async def scandir(self, path: bytes) -> AsyncIterator[SFTPName]:
        """Yield the entries of a directory."""
        with self._spot(path) as at:
            for name in (".", "..", *os.listdir(at.target)):
                attributes = os.lstat(at.target if name == ".." else f"{at.target}/{name}")
                yield SFTPName(os.fsencode(name), attrs=await self.convert_attrs(attributes))

    def statvfs(self, path: bytes) -> os.statvfs_result:
        """Return the size and the free space of the file system."""
        with self._spot(path) as at:
            return os.statvfs(at.target)

    def realpath(self, path: bytes) -> bytes:
        """Return a path without links, as the host names it."""
        with self._spot(path) as at:
            return os.fsencode(at.path)

    def readlink(self, path: bytes) -> bytes:
        """Return the target of a link, as it is written in the link."""
        with self._spot(path, follow=False) as at:
            return os.fsencode(os.readlink(at.entry))

    def mkdir(self, path: bytes, attrs: SFTPAttrs) -> None:
        """Make a directory."""
        with self._changed(path) as entry:
            os.mkdir(entry, 0o777 if attrs.permissions is None else stat.S_IMODE(attrs.permissions))

    def rmdir(self, path: bytes) -> None:
        """Remove an empty directory."""
        with self._changed(path) as entry:
            os.rmdir(entry)

    def remove(self, path: bytes) -> None:
        """Remove a file or link."""
        with self._changed(path) as entry:
            os.remove(entry)

    def rename(self, oldpath: bytes, newpath: bytes) -> None:
        """Rename a file; the new name must be free.

        Raises:
            SFTPFileAlreadyExists: the new name exists.
        """
        with self._changed(oldpath) as old, self._changed(newpath) as new:
            if os.path.lexists(new):
                raise SFTPFileAlreadyExists("File already exists")
            os.rename(old, new)

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> None:
        """Rename a file; it replaces a file of the new name."""
        with self._changed(oldpath) as old, self._changed(newpath) as new:
            os.replace(old, new)

    def link(self, oldpath: bytes, newpath: bytes) -> None:
        """Make a hard link."""
        with self._changed(oldpath) as old, self._changed(newpath) as new:
            os.link(old, new, follow_symlinks=False)

    def symlink(self, oldpath: bytes, newpath: bytes) -> None:
        """Make a symbolic link; its target is kept as given, relative ones included."""
        with self._changed(newpath) as new:
            os.symlink(os.fsdecode(oldpath), new)

    def exit(self) -> None:
        """End the session with status 0, as sftp-server does; scp fails without it."""
        if not self.channel.is_closing():
            self.channel.exit(0)


_FLAGS = {FXF_APPEND: os.O_APPEND, FXF_CREAT: os.O_CREAT, FXF_TRUNC: os.O_TRUNC, FXF_EXCL: os.O_EXCL}
