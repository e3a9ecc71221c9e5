"""The error classes and exit codes of the prompt, the command line and recipes.

An error's message is complete by itself: what was wrong (cell, object, value), the rule, and the way out. The program prints
``error.message`` (and ``error.hint`` if there is one) on stderr and ends with ``error.exit_code``. Any exception that is not an
:class:`ExacellError` is a bug.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of the process; a statement has them, too."""

    DONE = 0
    """Done, or there was nothing to do."""
    FAILED = 1
    """At least one cell failed, timed out or could not be reached, while others answered."""
    NOT_EXECUTED = 2
    """Nothing was executed: a usage error, a refusal, or no cell could be reached."""
    CHANGES = 3
    """With -n --detailed-exitcode: the plan has changes."""
    INTERRUPTED = 4
    """The user interrupted; the rest can be resumed."""
    DRIFT = 5
    """Cells differ from each other or from the baseline."""


class ExacellError(Exception):
    """Base class of every error that a user can cause or see.

    Args:
        message: one line, complete without a traceback.
        hint: the way out, one line; empty if the message already contains it.
        reasons: all reasons, one line each, if the message names only the first.
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
    """Return why a file can't be read or written, with the way out, as a phrase: ``Permission denied; `ls -ld` shows …``."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text at byte {error.start}; save it as UTF-8"
    return "; ".join(filter(None, (error.strerror or str(error), _OF_FILES.get(error.errno or 0, ""))))


def descriptors_run_out(error: BaseException) -> ExacellError | None:
    """Return the error to show if this process, or the machine, has too many open files; None for any other cause."""
    if isinstance(error, OSError) and error.errno == errno.EMFILE:
        return TransportError("too many open files: type `ulimit -n 1024` in the shell, then start exacell again")
    if isinstance(error, OSError) and error.errno == errno.ENFILE:
        return TransportError("too many open files on this machine: `sysctl fs.file-max` shows the limit")
    return None


class StatementError(ExacellError):
    """A line is not a statement: grammar, unknown word, or a value of the wrong kind.

    Attributes:
        start, end: offsets of the wrong part in the line that was given, for underlining; ``start == end`` at the end of the line
            means that something is missing there. None if the error has no single place.
        suggestions: words that would fit there, best first; may be empty.
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
        """Replace ``start`` and ``end`` by ``place`` of them, if the text that was parsed is only a part of the line."""
        self.start = None if self.start is None else place(self.start)
        self.end = None if self.end is None else place(self.end)


class UnitError(ExacellError):
    """A size or a duration could not be read, or breaks a rule for sizes."""


class CellSetError(ExacellError):
    """A cell set could not be read. ``part`` is the wrong part, for underlining."""

    def __init__(self, message: str, *, part: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.part = part


class ConfigError(ExacellError):
    """The configuration, a rack file or a group file is missing or wrong."""


class RefusedError(ExacellError):
    """A guard or a rule forbids the statement; no change was sent."""


class MovedError(RefusedError):
    """A later change has replaced the result of a change; waiting does not help."""


class ReplyError(ExacellError):
    """The answer of a cell or database node could not be read, or reports a failure."""

    exit_code = ExitCode.FAILED


class OutputError(ExacellError):
    """The output of a statement can't be written completely; what the statement did is not taken back."""

    exit_code = ExitCode.FAILED


class TransportError(ExacellError):
    """A target could not be asked: the connection, the login or the host key failed, or there was no answer in time."""


class JournalError(ExacellError):
    """The journal can't be written or is damaged, so no change may be sent."""


class BrokenOffError(JournalError):
    """The journal could not be written during a change; statements that were sent before are not taken back.

    Args:
        change: the number of the change.
        statement: the statement as typed.
        error: why the journal can't be written.
        way_out: what to do once the journal can be written again.
    """

    exit_code = ExitCode.INTERRUPTED

    def __init__(self, change: int, statement: str, error: JournalError, way_out: str) -> None:
        why = error.message.removesuffix("; no statement that changes cells is sent")
        super().__init__(
            f"change {change} ({statement}) stopped halfway: {why}; no more statements are sent",
            hint=f"{error.hint.partition(';')[0] or 'free space or repair the file'}, then {way_out}",
        )


class RecipeError(ExacellError):
    """A recipe file is wrong, or a check in it failed."""


class EmulatorError(ExacellError):
    """An emulated rack could not be started, stopped, reached or driven."""


class RackFormatError(EmulatorError):
    """The state of an emulated rack was stored by a version of exacell whose format this version can't continue."""


class InterruptedByUserError(ExacellError):
    """The user interrupted; the journal has what was done."""

    exit_code = ExitCode.INTERRUPTED
