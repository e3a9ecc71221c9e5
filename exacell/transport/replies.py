"""Make the replies of commands that did not end well; they are the same over every transport."""

from __future__ import annotations

import re
from collections.abc import Iterable

from exacell.core.units import human_size
from exacell.transport.base import Reply, Request, State
from exacell.transport.capture import End, Ending
from exacell.transport.fanout import Flight
from exacell.transport.local_process import Ended, LocalProcess

OWN_STATUS = 255
"""The ssh program's exit status for a failure of its own. Source: ssh(1)."""
REFUSED = "Permission denied"
"""The ssh program's message when no key logs in. Source: OpenSSH sshconnect2.c."""
ENDED_BY_SIGNAL = "the command ended without an exit status, as after a signal"
PROBLEMS = {
    End.STATUS: "exit status {status}",
    End.NO_STATUS: ENDED_BY_SIGNAL,
    End.REFUSED: "the SSH server refused to run a command for this login (a forced command or a closed shell)",
    End.LOST: "the connection was lost after the command was sent; it may or may not have finished",
    End.NO_CHANNEL: "the SSH server refused a session: {refusal}",
    End.TOO_LARGE: "its answer is larger than {limit}: it was cut off and is not used (`set max_answer` raises "
    "the limit)",
    End.NO_ROOM: "{folder} has no room for its answer: it was cut off and is not used (TMPDIR can name another folder)",
}
"""The problem of a reply for each ending that is not good."""

_NO_LOGIN = re.compile(
    r"ssh: (connect to host|Could not resolve hostname) |kex_exchange_identification: |Unable to negotiate with "
    r"|Host key verification failed|(\S+: )?Permission denied \([a-z0-9,-]+\)\.?$"
)
"""The ssh program's messages before there is a login. Source: OpenSSH sshconnect.c, sshconnect2.c, kex.c; any other message
may come after the command has begun."""


def not_logged_in(said: Iterable[str]) -> bool:
    """Return whether the ssh program's messages show that there was no login, so that its command did not begin."""
    return any(_NO_LOGIN.match(line.strip()) for line in said)


def problem_of_ending(ending: Ending, limit: int | None) -> str:
    """Return the problem for an ending that is not good; ``limit`` is the number of bytes allowed for the answer."""
    if ending.end is End.NO_ROOM:
        from tempfile import gettempdir

        return PROBLEMS[ending.end].format(folder=gettempdir())
    return PROBLEMS[ending.end].format(status=ending.exit_status, limit=human_size(limit or 0))


def reply_of_program(flight: Flight, ended: Ended, limit: int | None, *, program: str = "") -> Reply:
    """Return the reply of a program of this host that ended, or was killed because its answer was too large.

    Args:
        limit: the number of bytes allowed for the answer.
        program: the beginning of the problem if a signal ended it.
    """
    if ended.broken_off is not None:
        return flight.reply(State.FAILED, problem_of_ending(Ending(end=ended.broken_off), limit))
    said = {"stdout": ended.stdout, "stderr": ended.stderr}
    if ended.status == 0:
        return flight.reply(State.OK, large=ended.large, exit_status=0, **said)
    if ended.status < 0:
        return flight.reply(State.FAILED, f"{program}ended by signal {-ended.status}", **said)
    return flight.reply(State.FAILED, f"exit status {ended.status}", exit_status=ended.status, **said)


def watch(flight: Flight, child: LocalProcess, seconds: float) -> None:
    """Limit the time in which a program of this host must answer a flight; then it is killed."""
    late = no_end(flight.request, seconds)
    flight.stage(
        seconds,
        abort=child.kill,
        late=lambda: flight.reply(State.TIMED_OUT, late, stdout=child.capture.stdout, stderr=child.capture.stderr),
    )


def no_end(request: Request, seconds: float) -> str:
    """Return the problem of a command that did not end in time, with the setting that allows more time."""
    return f"no end within {seconds:g}s; the statement may still be running there ({more_time(request)})"


def more_time(request: Request) -> str:
    """Return the words about the setting that gives a command more time; statements of a plan have a limit of their own."""
    setting = "write_timeout" if request.role.changes and request.timeout is not None else "timeout"
    return f"`set {setting}` raises the limit"
