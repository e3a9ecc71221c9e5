"""The programs of this machine that ssh_config names, and the one place where they are started."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import IO, Any

from exacell.core.errors import TransportError
from exacell.core.values import dataclass


def in_shell(command: str) -> list[str]:
    """Return the words that run ``command`` in the operator's shell, as ssh does: SHELL, else /bin/sh."""
    return [os.environ.get("SHELL") or "/bin/sh", "-c", command]


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program that ssh_config has us run here.

    Attributes:
        what: ``Match exec``, ``ProxyCommand`` or ``ssh -G``.
        command: as the shell gets it, for messages.
        where: file and line that name it; the target where only ssh knows them.
        own: whether the user's ``~/.ssh/config`` or the system's file names it, or what they include; False for what
            ``--ssh-config``, a rack's ``ssh_config`` or ``dcli -s`` names.
    """

    what: str
    command: str
    where: str
    own: bool


def check(program: Program) -> None:
    """Return when a program may run, as the operator: what a file of ssh_config names, all of it, as with ssh itself.

    Whatever ssh_config starts passes here first, also what ``ssh -G`` would run.

    Raises:
        ConfigError: it may not.
    """


def start(
    program: Program,
    argv: Sequence[str],
    *,
    stdin: int | IO[Any] = subprocess.DEVNULL,
    stdout: int | IO[Any] = subprocess.DEVNULL,
    stderr: int | IO[Any] = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start a program, in a session of its own so that it can't ask anything on our terminal.

    Args:
        argv: the words that run it.

    Raises:
        ConfigError: it may not run.
        TransportError: it can't be started.
    """
    check(program)
    try:
        return subprocess.Popen(list(argv), stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True)
    except OSError as error:
        raise TransportError(
            f"{program.what} '{program.command}' cannot be started: {error.strerror or error}",
            hint="ssh_config names it; run it by hand",
        ) from error
