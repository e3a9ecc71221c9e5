"""Start the programs that ssh_config names for this machine; they are started only here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import IO, Any

from exacell.core.errors import ConfigError, TransportError
from exacell.core.values import dataclass


def in_shell(command: str) -> list[str]:
    """Return the words that run ``command`` in the operator's shell, as ssh does: SHELL, or else /bin/sh."""
    return [os.environ.get("SHELL") or "/bin/sh", "-c", command]


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program that ssh_config names to run here.

    Attributes:
        what: ``Match exec``, ``ProxyCommand`` or ``ssh -G``.
        command: the text for the shell, for messages.
        where: the file and line that name it; the target if only ssh knows them.
        own: whether the user's ``~/.ssh/config``, the system's file, or a file that these include names it; False for
            ``--ssh-config``, a rack's ``ssh_config`` or ``dcli -s``.
        refused: why it may not run unless it is the user's own; empty if it may.
    """

    what: str
    command: str
    where: str
    own: bool
    refused: str = ""


def check(program: Program) -> None:
    """Raise ConfigError if a program may not run.

    As with ssh itself, programs from the user's and the system's own file may run; those from another file may run unless they
    are refused.
    Every program of ssh_config is checked here before it starts, also those that ``ssh -G`` would run.

    Raises:
        ConfigError: the message names the program and the reason.
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
    """Start a program in its own session, so that it can't ask anything on the terminal.

    Args:
        argv: the words of its command line.

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
