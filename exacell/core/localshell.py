"""This machine's shell, for commands that a user writes for it: ``| head``, ``!``, ``host``. A container may have none."""

from __future__ import annotations

import os

from exacell.core.errors import RefusedError

SHELL = "/bin/sh"


def need_shell(command: str) -> None:
    """Raise RefusedError if this machine has no shell.

    Raises:
        RefusedError: there is no shell, so ``command`` can't be run.
    """
    if not os.access(SHELL, os.X_OK):
        raise RefusedError(
            f"this machine has no {SHELL}, so `{command}` can't be run",
            hint="leave it out, or write to a file with `> FILE`",
        )
