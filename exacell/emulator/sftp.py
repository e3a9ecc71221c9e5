"""SFTP and scp on an emulated host: the login's home directory first, then the host's own files, and none of the machine's."""

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

from exacell.emulator.beneath import Spot, open_at, spot


class Local(bytes):
    """A path of this process to what has been found, which needs no more looking."""


class HomeSFTPServer(SFTPServer):
    """Serves files as a shell that starts in ``home`` would name them; ``~`` is that home.

    Args:
        root: where the host's directories lie.
        home: the login's home directory, as the host names it.
    """

    def __init__(self, channel: SSHServerChannel[bytes], root: Path, home: str) -> None:
        super().__init__(channel)
        self._root, self._home = root, home

    def named(self, path: bytes) -> str:
        """Return the host's absolute path for one that the client names."""
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
        """Yield a path to an entry that is made, removed or renamed."""
        with self._spot(path, follow=False) as at:
            at.refuse_at_top()
            yield at.entry

    def map_path(self, path: bytes) -> bytes:
        """Return a path that has been found.

        Raises:
            PermissionError: it is a client's: what looks at that by itself could leave the host.
        """
        if isinstance(path, Local):
            return path
        raise PermissionError("not a file of this host")

    def open(self, path: bytes, pflags: int, attrs: SFTPAttrs) -> object:
        """Return a regular file, made when the flags say so."""
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
        """Return the attributes of what a path leads to."""
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
        """Yield what a directory holds."""
        with self._spot(path) as at:
            for name in (".", "..", *os.listdir(at.target)):
                attributes = os.lstat(at.target if name == ".." else f"{at.target}/{name}")
                yield SFTPName(os.fsencode(name), attrs=await self.convert_attrs(attributes))

    def statvfs(self, path: bytes) -> os.statvfs_result:
        """Return how full the file system is."""
        with self._spot(path) as at:
            return os.statvfs(at.target)

    def realpath(self, path: bytes) -> bytes:
        """Return a path without links, as the host names it."""
        with self._spot(path) as at:
            return os.fsencode(at.path)

    def readlink(self, path: bytes) -> bytes:
        """Return what a link says."""
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
        """Give a file another name that nothing has.

        Raises:
            SFTPFileAlreadyExists: something has it.
        """
        with self._changed(oldpath) as old, self._changed(newpath) as new:
            if os.path.lexists(new):
                raise SFTPFileAlreadyExists("File already exists")
            os.rename(old, new)

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> None:
        """Give a file another name, over one that has it."""
        with self._changed(oldpath) as old, self._changed(newpath) as new:
            os.replace(old, new)

    def link(self, oldpath: bytes, newpath: bytes) -> None:
        """Give a file one more name."""
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
