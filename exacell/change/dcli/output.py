"""What dcli prints, as pure functions: prefixed lines, ``-n``, ``-r`` and ``--maxlines``.

Source: reference dcli.md, section 6.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace

from exacell.core.values import dataclass
from exacell.transport.base import Looked

UNREACHABLE = 255
"""ssh's own status for a connection that failed. Source: ssh(1), EXIT STATUS."""

BANNER = "******BANNER******"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one target.

    Attributes:
        target: as it was written.
        lines: its output without line ends, not yet stripped.
        status: of the step that failed, else 0; UNREACHABLE for a connection that failed.
        said: what ssh itself said: a login banner, or why it could not connect; scp's words where a copy failed.
        twice: a copy failed, of which dcli tells twice.
        ran: False when the target was never started, or its end is unknown.
        refused: why nothing more was sent there, in one phrase; empty when nothing stood in the way.
        fingerprint: of the key that logged in, empty when unknown or nothing was sent.
        looked: the look that its statement went upon, None where it went upon none.
    """

    target: str
    lines: tuple[str, ...] = ()
    status: int = 0
    said: str = ""
    twice: bool = False
    ran: bool = True
    refused: str = ""
    fingerprint: str = ""
    looked: Looked | None = None


@dataclass(frozen=True, kw_only=True)
class Style:
    """How lines are printed: ``pattern`` of ``-r``, ``abnormal`` for ``-n``, ``preserve`` for ``--preserve-spaces``."""

    pattern: re.Pattern[str] | None = None
    abnormal: bool = False
    preserve: bool = False

    def strip(self, line: str) -> str:
        """Return the line without the blanks that dcli takes away."""
        return line.rstrip() if self.preserve else line.strip()

    def hides(self, line: str) -> bool:
        """Return whether ``-r`` hides a line."""
        return self.pattern is not None and self.pattern.match(self.strip(line)) is not None

    def prefixed(self, target: str, line: str) -> str:
        """Return the line as it is printed."""
        return f"{target}: {self.strip(line)}"


def split_lines(text: str) -> tuple[str, ...]:
    """Return the lines of ``text``; a last one without an end counts, nothing behind the last end does not.

    A carriage return ends a line as well, with or without a line feed behind it.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(lines[:-1] if not lines[-1] else lines)


def decoded(data: bytes) -> str:
    """Return output as text: UTF-8, else Latin-1, which every byte is."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def name_list(names: Sequence[str]) -> str:
    """Return names in the form of a Python list, as dcli prints them."""
    return repr(list(names))


def said_lines(outcome: Outcome) -> list[str]:
    """Return what ssh said as dcli prints it at once: no blank behind the colon, and an empty line at the end."""
    if not outcome.said.strip():
        return []
    first, *others = split_lines(outcome.said)
    return [f"{outcome.target}:{first}", *others, ""] * (2 if outcome.twice else 1)


def with_banner(outcome: Outcome) -> tuple[str, ...]:
    """Return the lines of ``outcome`` with what ssh said in front, between two banner lines (``--showbanner``).

    These stand there where ssh said nothing, too, and not where it did not connect.
    """
    if not outcome.ran or outcome.status == UNREACHABLE:
        return outcome.lines
    return (BANNER, *split_lines(outcome.said), BANNER, *outcome.lines)


def report(outcomes: Sequence[Outcome], style: Style) -> list[str]:
    """Return the lines that are printed for the targets of one batch, in their order.

    With ``-n`` first the targets that did well, then the others' output; with ``-r`` first the targets with matching
    lines, then the lines that do not match.
    """
    printed: list[str] = []
    shown = list(outcomes)
    if style.abnormal:
        good = [o.target for o in outcomes if o.ran and o.status == 0]
        if good:
            printed.append(f"OK: {name_list(good)}")
        shown = [o for o in outcomes if o.target not in good]
    elif style.pattern is not None:
        matched = [o.target for o in outcomes if any(style.hides(line) for line in o.lines)]
        if matched:
            printed.append(f"{style.pattern.pattern}: {name_list(matched)}")
    for outcome in shown:
        printed += [style.prefixed(outcome.target, line) for line in outcome.lines if not style.hides(line)]
    return printed


@dataclass
class LineGuard:
    """``--maxlines``: long output is cut off, or comes in pieces when one target runs at a time.

    Attributes:
        pieces: one target, or serial: pieces of ``limit`` + 1 lines are printed at once, the rest at the end, and
            nothing is lost. Else a target with more than ``limit`` lines gives that many and one, and fails.
        cut: targets that were cut off.
    """

    limit: int
    pieces: bool
    cut: list[str] = field(default_factory=list)

    def take(self, outcome: Outcome, style: Style) -> tuple[list[str], Outcome]:
        """Return the lines to print now, and what is left of the outcome for the end."""
        size = self.limit + 1
        if len(outcome.lines) < size or size < 1:
            return [], outcome
        if self.pieces:
            full = len(outcome.lines) // size * size
            now = [outcome.lines[start : start + size] for start in range(0, full, size)]
            rest, status = outcome.lines[full:], outcome.status
        else:
            now, rest, status = [outcome.lines[:size]], (), 1
            self.cut.append(outcome.target)
        printed: list[str] = []
        for lines in now:
            printed += report([Outcome(target=outcome.target, lines=lines)], style)
        left = replace(outcome, lines=rest, status=status)
        return printed, left


def cut_off(target: str, limit: int) -> tuple[str, str, str]:
    """Return the lines on stderr about a target that printed too much: an empty one, what happened, and the way out."""
    return (
        "",
        f"Error: {target} printed more than {limit} lines; the rest is cut off",
        "Try again with a larger --maxlines",
    )


def exit_status(outcomes: Sequence[Outcome]) -> int:
    """Return 0 when every target ran to its end with status 0, else 1."""
    return int(any(not outcome.ran or outcome.status > 0 for outcome in outcomes))
