"""dcli's command line, over the connections that are already open."""

from __future__ import annotations

import shlex
from dataclasses import replace

from exacell.change.dcli.run import run_dcli
from exacell.core.errors import StatementError
from exacell.language.registry import Call
from exacell.language.shellwords import ACCEPT, stray_flag
from exacell.output.result import Result
from exacell.session.given import Request, Services, Session


def dcli(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return the exit code; dcli's output is written as dcli itself would, or as records for a machine format."""
    text = call.text_arg("words")
    try:
        argv = shlex.split(text)
    except ValueError as error:
        raise StatementError(
            f"dcli: the line can't be split into words as a shell does: {error}",
            hint="close the quote, or put \\ before it",
        ) from error
    if argv[:1] == [f"--{ACCEPT.name}"]:
        argv, call = argv[1:], replace(call, flags={**call.flags, "accept-opaque": True})
    ended = argv[:1] == ["--"]
    argv = argv[1:] if ended else argv
    stray = "" if ended else stray_flag(argv)
    if stray:
        raise StatementError(
            f"dcli: {stray} comes after the command of dcli, so it would be part of that command; nothing was sent",
            hint=f"for exacell's flag, write `exacell {stray} dcli …`; if it is meant for the command, `dcli -- …`",
        )
    return run_dcli(session, services, request, argv, call)
