"""Makes the reply to a request out of what became of its command on one of our connections. Imports paramiko."""

from __future__ import annotations

from collections.abc import Callable

import paramiko

from exacell.transport.base import Reply, State
from exacell.transport.capture import Capture, End, Ending, Store
from exacell.transport.fanout import Flight
from exacell.transport.replies import no_end, problem_of_ending
from exacell.transport.ssh.connection import Connection


def late_reply(
    flight: Flight, connection: Connection, channel: paramiko.Channel, capture: Capture, seconds: float
) -> Callable[[], Reply]:
    """Return what makes the reply of a command on a plain channel that did not end within ``seconds``."""

    def reply() -> Reply:
        if channel.exit_status_ready() and channel.exit_status >= 0:
            # It ended; something that it left running holds its output open.
            return reply_of(flight, connection, Ending(end=End.STATUS, exit_status=channel.exit_status), capture)
        return timed_out(flight, connection, seconds, capture.stdout, capture.stderr)

    return reply


def kept_answer(flight: Flight, connection: Connection, answer: bytes | Store) -> Reply:
    """Return the reply of a long-lived CellCLI that answered; a large answer is handed over."""
    large = None
    if isinstance(answer, bytes):
        text = answer.decode("utf-8", "backslashreplace")
    else:
        large = answer.hand_over_file() if flight.request.in_pieces else None
        text = "" if large is not None else answer.hand_over()
    return flight.reply(
        State.OK, stdout=text, large=large, exit_status=0, fingerprint=connection.fingerprint, banner=connection.banner
    )


def timed_out(flight: Flight, connection: Connection, seconds: float, stdout: str, stderr: str = "") -> Reply:
    """Return the reply of a command without an end, with what had come of its answer."""
    return flight.reply(
        State.TIMED_OUT,
        no_end(flight.request, seconds),
        stdout=stdout,
        stderr=stderr,
        fingerprint=connection.fingerprint,
    )


def reply_of(flight: Flight, connection: Connection, ending: Ending, capture: Capture) -> Reply:
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
        fingerprint=connection.fingerprint,
        banner=connection.banner,
    )
