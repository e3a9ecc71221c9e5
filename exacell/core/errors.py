"""The error tree and the exit codes that every surface shares.

An error's message is complete by itself: what was wrong (cell, object, value), the rule, and the way out. A surface
prints ``error.message`` (and ``error.hint`` when there is one) on stderr and leaves with ``error.exit_code``; anything
that is not an :class:`ExacellError` is a bug.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from enum import IntEnum


class ExitCode(IntEnum):
    """What a process or a statement ends with."""

    DONE = 0
    """Done, or there was nothing to do."""
    FAILED = 1
    """Some cell failed, timed out or could not be reached while others answered."""
    NOT_EXECUTED = 2
    """Nothing was executed: usage, refused, or no cell could be reached."""
    CHANGES = 3
    """With -n --detailed-exitcode: the plan has changes."""
    INTERRUPTED = 4
    """Interrupted; what is left can be resumed."""
    DRIFT = 5
    """Cells differ from each other or from the baseline."""


class ExacellError(Exception):
    """Root of every error that a user can cause or meet.

    Args:
        message: one line, complete without a traceback.
        hint: the way out, one line; empty when the message already says it.
        reasons: every reason, one line each, where the message names only the first.
    """

    exit_code: ExitCode = ExitCode.NOT_EXECUTED

    def __init__(self, message: str, *, hint: str = "", reasons: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.reasons = tuple(reasons)


_OF_FILES = {
    errno.EISDIR: "give a file in it",
    errno.EEXIST: "choose another name",
    errno.EACCES: "`ls -ld` shows its owner and its permissions",
    errno.EPERM: "`ls -ld` shows its owner and its permissions",
    errno.EROFS: "choose a place that can be written",
    errno.ENOSPC: "free space there, or choose another place",
    errno.EDQUOT: "free space there, or choose another place",
}


def why_unreadable(error: OSError | UnicodeDecodeError) -> str:
    """Return in a phrase why a file can't be read or written, and the way out: ``Permission denied; `ls -ld` shows …``."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text at byte {error.start}; save it as UTF-8"
    return "; ".join(filter(None, (error.strerror or str(error), _OF_FILES.get(error.errno or 0, ""))))


def descriptors_run_out(error: BaseException) -> ExacellError | None:
    """Return what to tell when an error is that this process, or the machine, has no more descriptors; None for others."""
    if isinstance(error, OSError) and error.errno == errno.EMFILE:
        return TransportError("too many open files: type `ulimit -n 1024` in the shell, then start exacell again")
    if isinstance(error, OSError) and error.errno == errno.ENFILE:
        return TransportError("too many open files on this machine: `sysctl fs.file-max` shows the limit")
    return None


class StatementError(ExacellError):
    """A line is not a statement: grammar, unknown word, or a value of the wrong kind.

    Attributes:
        start, end: the faulty part as offsets into the line that was given, for underlining; ``start == end`` at
            the end of the line means that something is missing there. None when no single place is at fault.
        suggestions: words that would fit there, best first; empty when there is none.
    """

    def __init__(
        self,
        message: str,
        *,
        start: int | None = None,
        end: int | None = None,
        suggestions: tuple[str, ...] = (),
        hint: str = "",
    ) -> None:
        if suggestions and not hint:
            hint = "did you mean " + " or ".join(suggestions[:3]) + "?"
        super().__init__(message, hint=hint)
        self.start = start
        self.end = end
        self.suggestions = suggestions

    def move(self, place: Callable[[int], int]) -> None:
        """Have the faulty part where ``place`` says of its offsets: what was read was a piece of the line."""
        self.start = None if self.start is None else place(self.start)
        self.end = None if self.end is None else place(self.end)


class UnitError(ExacellError):
    """A size or a duration could not be read, or breaks a rule of sizes."""


class CellSetError(ExacellError):
    """A cell set could not be read. ``part`` is the faulty piece, for underlining."""

    def __init__(self, message: str, *, part: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.part = part


class ConfigError(ExacellError):
    """The configuration, a rack file or a group file is missing or wrong."""


class RefusedError(ExacellError):
    """A guard or a rule forbids the statement; nothing was sent that changes anything."""


class MovedError(RefusedError):
    """What a change left has been changed since by somebody; waiting makes nothing of that better."""


class ReplyError(ExacellError):
    """A cell's or a database node's answer could not be read or says that it failed."""

    exit_code = ExitCode.FAILED


class OutputError(ExacellError):
    """What a statement printed can't be written in full; what it did stands."""

    exit_code = ExitCode.FAILED


class TransportError(ExacellError):
    """No answer could be had: connection, authentication, host key or time."""


class JournalError(ExacellError):
    """The journal can't be written or is damaged: nothing may be sent that changes anything."""


class BrokenOffError(JournalError):
    """The journal could not be written any more while a change was under way; what was sent before stays done.

    Args:
        change: its number.
        statement: as it was given.
        error: why the journal can't be written.
        way_out: what to do when it can be written again.
    """

    exit_code = ExitCode.INTERRUPTED

    def __init__(self, change: int, statement: str, error: JournalError, way_out: str) -> None:
        why = error.message.removesuffix("; no statement that changes cells is sent")
        super().__init__(
            f"change {change} ({statement}) stopped halfway: {why}; no more statements are sent",
            hint=f"{error.hint.partition(';')[0] or 'free space or repair the file'}, then {way_out}",
        )


class RecipeError(ExacellError):
    """A recipe file is wrong, or a check in it does not hold."""


class EmulatorError(ExacellError):
    """An emulated rack could not be started, stopped, reached or driven."""


class RackFormatError(EmulatorError):
    """An emulated rack's state was stored by a version of exacell that this one can't go on from."""


class InterruptedByUserError(ExacellError):
    """The user interrupted; what was done is journalled."""

    exit_code = ExitCode.INTERRUPTED
