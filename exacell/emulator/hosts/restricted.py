"""The restricted logins of cells from 26.1 on: CellCLI and a few commands that only read, no scripts, no copies.

Source: reference cellcli.md 8 (26.1). The list of commands and the text of a refusal are not published.
"""

from __future__ import annotations

import asyncssh

from exacell.emulator.hosts.sftp import HomeSFTPServer
from exacell.emulator.hosts.shell import Login
from exacell.emulator.hosts.simple_command import simple_command

LOGINS = frozenset(("celladmin", "cellmonitor"))
ALLOWED = frozenset(("cellcli", "date", "df", "hostname", "id", "uname", "uptime", "whoami"))


def refusal(login: Login, command: str | None) -> str:
    """Return why a login may not run a command line; empty if it may. ``command`` None means an interactive session."""
    if not login.host.restricted or login.user not in LOGINS or command is None:
        return ""
    simple = simple_command(command)
    if simple is not None and simple.words[0] in ALLOWED and not simple.environment:
        return ""
    first = command.split(None, 1)[0] if command.strip() else command
    return f"{first}: not allowed for {login.user} on this system\n"


class RestrictedSFTPServer(HomeSFTPServer):
    """SFTP and SCP that refuse every file."""

    def named(self, path: bytes) -> str:
        """Refuse every path.

        Raises:
            asyncssh.SFTPPermissionDenied: always.
        """
        raise asyncssh.SFTPPermissionDenied("copying files is not allowed for this login")
