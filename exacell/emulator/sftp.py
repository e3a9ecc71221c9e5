"""SFTP and scp on an emulated host: the login's home directory first, then the same files that its shell sees."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

from asyncssh import SFTPServer, SSHServerChannel

from exacell.emulator.host_view import HostView


class HomeSFTPServer(SFTPServer):
    """Serves files as a shell that starts in ``home`` would name them; ``~`` is that home.

    Args:
        view: where the host's own files are; None where it has none besides home directories.
    """

    def __init__(self, channel: SSHServerChannel[bytes], home: Path, view: HostView | None = None) -> None:
        super().__init__(channel)
        self._home = os.fsencode(home)
        self._view = view

    def map_path(self, path: bytes) -> bytes:
        """Return the local path for a path that the client names."""
        if path == b"~" or path.startswith(b"~/"):
            path = path[2:]
        named = posixpath.normpath(posixpath.join(self._home, path))
        local = self._view.local(os.fsdecode(named)) if self._view is not None else None
        return named if local is None else os.fsencode(local)

    def exit(self) -> None:
        """End the session with status 0, as sftp-server does; scp fails without it."""
        if not self.channel.is_closing():
            self.channel.exit(0)

    def symlink(self, oldpath: bytes, newpath: bytes) -> None:
        """Make a symbolic link; its target is kept as given, relative ones included."""
        os.symlink(oldpath, self.map_path(newpath))
