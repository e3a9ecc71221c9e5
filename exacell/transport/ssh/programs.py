"""The programs of this machine that ssh_config names, and the one place where they are started."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import IO, Any

from exacell.core.errors import ConfigError, TransportError
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
        refused: why it may not run unless it is the user's own; empty where it may.
    """

    what: str
    command: str
    where: str
    own: bool
    refused: str = ""


def check(program: Program) -> None:
    """Return when a program may run, as the operator: what the user's and the system's own file name, as with ssh itself, and
    what another file names unless that is refused.

    Whatever ssh_config starts passes here first, also what ``ssh -G`` would run.

    Raises:
        ConfigError: it may not.
    """
    if program.refused and not program.own:
        raise ConfigError(
            f"{program.where}: {program.what} '{program.command}' was not started: {program.refused}",
            hint=OWN_FILES,
        )


OWN_FILES = "name it in ~/.ssh/config, or in the ssh_config of the rack's own file"


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
            hint="ssh_config has it; run it in a shell to see why",
        ) from error
