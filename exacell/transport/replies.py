"""Makes the reply to a request out of what became of its command. Imports no SSH library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from exacell.transport.base import Reply, Request, State
from exacell.transport.capture import Capture, End, Ending, Store
from exacell.transport.fanout import Flight
from exacell.units import human_size

if TYPE_CHECKING:
    import paramiko

    from exacell.transport.ssh.connection import Link

ENDED_BY_SIGNAL = "the command ended without an exit status, as after a signal"
PROBLEMS = {
    End.STATUS: "exit status {status}",
    End.NO_STATUS: ENDED_BY_SIGNAL,
    End.REFUSED: "the SSH server refused to run a command for this login (a forced command or a closed shell)",
    End.LOST: "the connection was lost after the command was sent: whether it ran to its end is unknown",
    End.NO_CHANNEL: "the SSH server refused a session: {refusal}",
    End.TOO_LARGE: "its answer is larger than {limit}: it was broken off, nothing of it is used (set max_answer raises that)",
    End.NO_ROOM: "{folder} has no room for its answer: it was broken off, nothing of it is used (TMPDIR names another folder)",
}
"""What a reply says of an ending that is not good."""

_NO_LOGIN = re.compile(
    r"ssh: (connect to host|Could not resolve hostname) |kex_exchange_identification: |Unable to negotiate with "
    r"|Host key verification failed|(\S+: )?Permission denied \([a-z0-9,-]+\)\.?$"
)
"""What the ssh program says before there is a login. Source: OpenSSH sshconnect.c, sshconnect2.c, kex.c; whatever else it
says may come when the command has begun."""


def not_logged_in(said: Iterable[str]) -> bool:
    """Return whether the ssh program's words say that there was no login, so that its command did not begin."""
    return any(_NO_LOGIN.match(line.strip()) for line in said)


def problem_of_ending(ending: Ending, limit: int | None) -> str:
    """Return what a reply says of an ending that is not good; ``limit`` is how many bytes the answer might have."""
    if ending.end is End.NO_ROOM:
        from tempfile import gettempdir

        return PROBLEMS[ending.end].format(folder=gettempdir())
    return PROBLEMS[ending.end].format(status=ending.exit_status, limit=human_size(limit or 0))


def broken_off_reply(flight: Flight, end: End, limit: int | None) -> Reply:
    """Return the reply of a command that was broken off for the size of its answer."""
    return flight.reply(State.FAILED, problem_of_ending(Ending(end=end), limit))


def late_reply(
    flight: Flight, link: Link, channel: paramiko.Channel, capture: Capture, seconds: float
) -> Callable[[], Reply]:
    """Return what makes the reply of a command on a plain channel that did not end within ``seconds``."""

    def reply() -> Reply:
        if channel.exit_status_ready() and channel.exit_status >= 0:
            # It ended; something that it left running holds its output open.
            return reply_of(flight, link, Ending(end=End.STATUS, exit_status=channel.exit_status), capture)
        return timed_out(flight, link, seconds, capture.stdout, capture.stderr)

    return reply


def kept_answer(flight: Flight, link: Link, answer: bytes | Store) -> Reply:
    """Return the reply of a long-lived CellCLI that answered; a large answer is handed over."""
    large = None
    if isinstance(answer, bytes):
        text = answer.decode("utf-8", "backslashreplace")
    else:
        large = answer.hand_over_file() if flight.request.in_pieces else None
        text = "" if large is not None else answer.hand_over()
    return flight.reply(
        State.OK, stdout=text, large=large, exit_status=0, fingerprint=link.fingerprint, banner=link.banner
    )


def no_end(request: Request, seconds: float) -> str:
    """Return the problem of a command without an end within its seconds, with the setting that gives it more."""
    return f"no end within {seconds:g}s; what was sent may still be running there ({more_time(request)})"


def more_time(request: Request) -> str:
    """Return the words for what gives a command like this one more time: a plan's statements have a limit of their own."""
    setting = "write_timeout" if request.role.changes and request.timeout is not None else "timeout"
    return f"set {setting} raises the limit"


def timed_out(flight: Flight, link: Link, seconds: float, stdout: str, stderr: str = "") -> Reply:
    """Return the reply of a command without an end, with what had come of its answer."""
    return flight.reply(
        State.TIMED_OUT,
        no_end(flight.request, seconds),
        stdout=stdout,
        stderr=stderr,
        fingerprint=link.fingerprint,
    )


def reply_of(flight: Flight, link: Link, ending: Ending, capture: Capture) -> Reply:
    """Return the reply of a command that ended; what was captured is handed over."""
    state = State.OK if ending.exit_status == 0 else State.FAILED
    large = capture.output.hand_over_file() if flight.request.in_pieces and state is State.OK else None
    return flight.reply(
        state,
        "" if state is State.OK else problem_of_ending(ending, capture.limit),
        large=large,
        stdout="" if large is not None else capture.output.hand_over(),
        stderr=capture.errors.hand_over(),
        exit_status=ending.exit_status,
        fingerprint=link.fingerprint,
        banner=link.banner,
    )
