"""Format dcli's output: prefixed lines, ``-n``, ``-r``, ``--maxlines``, and ``--vmstat`` of many targets side by side. Pure.

Source: reference dcli.md, sections 6 and 8; vmstat's columns are its own, procps vmstat(8).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from exacell.change.dcli.options import usage_error
from exacell.core.values import dataclass, field, replace
from exacell.transport.base import Looked

UNREACHABLE = 255
"""ssh's own status for a connection that failed. Source: ssh(1), EXIT STATUS."""

BANNER = "******BANNER******"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The end of the work on one target.

    Attributes:
        target: its name as written.
        lines: its output without line ends, not yet stripped.
        status: exit status of the step that failed, else 0; UNREACHABLE if the connection failed.
        said: ssh's own text: a login banner, or why it could not connect; scp's text if a copy failed.
        twice: a copy failed; dcli prints that twice.
        ran: False if nothing was started on the target, or its end is unknown.
        refused: why nothing more was sent there, in one phrase; empty if it was not refused.
        fingerprint: of the key that logged in; empty if unknown or nothing was sent.
        looked: the look that CellCLI took right before the statement; None if it took none.
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
    """The options for printed lines: ``pattern`` of ``-r``, ``abnormal`` for ``-n``, ``preserve`` for ``--preserve-spaces``."""

    pattern: re.Pattern[str] | None = None
    abnormal: bool = False
    preserve: bool = False

    def strip(self, line: str) -> str:
        """Return the line without the blanks that dcli removes."""
        return line.rstrip() if self.preserve else line.strip()

    def hides(self, line: str) -> bool:
        """Return whether ``-r`` hides a line."""
        return self.pattern is not None and self.pattern.match(self.strip(line)) is not None

    def prefixed(self, target: str, line: str) -> str:
        """Return the line as it is printed, with ``target:`` in front."""
        return f"{target}: {self.strip(line)}"


def split_lines(text: str) -> tuple[str, ...]:
    """Return the lines of ``text``; a last line without an end counts, an empty rest after the last end does not.

    A carriage return ends a line as well, with or without a line feed after it.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(lines[:-1] if not lines[-1] else lines)


def decoded(data: bytes) -> str:
    """Return output as text: decoded as UTF-8, else as Latin-1, which accepts every byte."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def name_list(names: Sequence[str]) -> str:
    """Return names in the form of a Python list, as dcli prints them."""
    return repr(list(names))


def said_lines(outcome: Outcome) -> list[str]:
    """Return ssh's own text as dcli prints it at once: each line right after ``target:``, without a blank, then an empty line.

    The empty line is the line's own end, which dcli keeps when it prints. Source: reference dcli.md, section 5.
    """
    printed = [text for line in split_lines(outcome.said) for text in (f"{outcome.target}:{line}", "")]
    return printed * (2 if outcome.twice else 1)


def with_banner(outcome: Outcome) -> tuple[str, ...]:
    """Return the lines of ``outcome`` with ssh's own text in front, between two banner lines (``--showbanner``).

    The banner lines appear even if ssh said nothing; they do not if it could not connect.
    """
    if not outcome.ran or outcome.status == UNREACHABLE:
        return outcome.lines
    return (BANNER, *split_lines(outcome.said), BANNER, *outcome.lines)


def report(outcomes: Sequence[Outcome], style: Style) -> list[str]:
    """Return the lines that are printed for the targets of one batch, in their order.

    With ``-n``: first the targets that succeeded, then the output of the others. With ``-r``: first the targets with
    matching lines, then the lines that do not match.
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
    """Applies ``--maxlines``: long output is cut off, or printed in pieces when one target runs at a time.

    Attributes:
        pieces: true for one target, or with --serial: pieces of ``limit`` + 1 lines are printed at once, the rest at the
            end, and nothing is lost. Else a target with more than ``limit`` lines prints ``limit`` + 1 lines and fails.
        cut: targets whose output was cut off.
    """

    limit: int
    pieces: bool
    cut: list[str] = field(default_factory=list)

    def take(self, outcome: Outcome, style: Style) -> tuple[list[str], Outcome]:
        """Return the lines to print now, and the outcome with the lines that are printed at the end."""
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
        return printed, replace(outcome, lines=rest, status=status)


def cut_off(target: str, limit: int) -> tuple[str, str, str]:
    """Return the lines on stderr about a target that printed too much: an empty line, the problem, and the way out."""
    return (
        "",
        f"Error: {target} printed more than {limit} lines; the rest is cut off",
        "Try again with a larger --maxlines",
    )


def exit_status(outcomes: Sequence[Outcome]) -> int:
    """Return 0 if every target ran to its end with status 0, else 1."""
    return int(any(not outcome.ran or outcome.status > 0 for outcome in outcomes))


_NOT_PERIODIC = frozenset(("-f", "-s", "-m", "-p", "-D", "-d", "-V"))
_FLOORS = {"swpd": 6, "free": 6, "buff": 6, "cache": 6, "inact": 6, "active": 6}
_FLOOR = 2
_FLOOR_FIELDS = {"si": 4, "so": 4, "bi": 5, "bo": 5, "in": 4, "cs": 4}
_SUMMARY = ("Minimum", "Maximum", "Average")


@dataclass(frozen=True, kw_only=True)
class Watch:
    """The meaning of the words of ``--vmstat``.

    Attributes:
        periodic: False if ``vmstat`` runs once, as an ordinary command.
        options: vmstat's other words.
        delay: seconds between rounds; None for a single round.
        count: number of rounds; None for no limit.
        header_once: ``-n`` was given.
    """

    text: str
    periodic: bool
    options: tuple[str, ...] = ()
    delay: int | None = None
    count: int | None = None
    header_once: bool = False

    def command(self, number: int) -> str:
        """Return the command of a round; rounds count from 1, and round 1 shows the averages since the host started."""
        if not self.periodic:
            return f"vmstat {self.text}".rstrip()
        words = ["vmstat", *self.options]
        return " ".join(words if number == 1 else [*words, str(self.delay), "2"])

    def goes_on(self, number: int) -> bool:
        """Return whether another round follows round ``number``."""
        return self.periodic and self.delay is not None and (self.count is None or number < self.count)


def read_watch(text: str) -> Watch:
    """Return how vmstat runs with the words of ``--vmstat``: in rounds, or once and unchanged if it is not periodic.

    Raises:
        DcliExit: a word has a character with a meaning for the remote shell.
    """
    words = text.split()
    strange = next((word for word in words if not all(char.isalnum() or char in "-_./=," for char in word)), None)
    if strange is not None:
        raise usage_error(f"--vmstat: '{strange}' is not an option of vmstat")
    numbers = [word for word in words if word.isdigit()]
    others = [word for word in words if not word.isdigit()]
    if any(word in _NOT_PERIODIC for word in others) or len(numbers) > 2 or any(int(number) <= 0 for number in numbers):
        return Watch(text=text, periodic=False)
    if any(word.lstrip("-").isdigit() for word in others):
        return Watch(text=text, periodic=False)
    return Watch(
        text=text,
        periodic=True,
        options=tuple(word for word in others if word != "-n"),
        delay=int(numbers[0]) if numbers else None,
        count=int(numbers[1]) if len(numbers) == 2 else (None if numbers else 1),
        header_once="-n" in others,
    )


class Table:
    """Formats the display over all rounds; columns only grow wider."""

    def __init__(self, watch: Watch, targets: Sequence[str]) -> None:
        self._watch = watch
        self._targets = tuple(targets)
        self._names = (*targets, *(_SUMMARY if len(targets) > 1 else ()))
        self._widths: list[int] = []
        self._headed = False

    def lines(self, outputs: Mapping[str, str], time: str) -> list[str]:
        """Return the lines of one round.

        Args:
            outputs: vmstat's output by target; only its last line counts.
            time: the local time of the round, as shown in the header.

        Raises:
            ValueError: a target's output is not a table of vmstat.
        """
        groups, titles = _header(outputs[self._targets[0]])
        rows = {target: _row(outputs[target]) for target in self._targets}
        if len({len(row) for row in rows.values()} | {len(titles)}) != 1:
            raise ValueError("the targets' vmstat show different columns")
        cells = [*rows.values(), *(_summary(list(rows.values())) if len(rows) > 1 else ())]
        floors = [max(_FLOORS.get(t, _FLOOR), _FLOOR_FIELDS.get(t, _FLOOR), len(t)) for t in titles]
        widths = [max(len(str(row[place])) for row in cells) for place in range(len(titles))]
        before = self._widths or floors
        self._widths = [max(trio) for trio in zip(floors, widths, before, strict=True)]
        indent = max(*(len(name) for name in self._names), len(time)) + 1
        printed: list[str] = []
        if not (self._watch.header_once and self._headed):
            printed.append(" " * indent + groups)
            printed.append(f"{time:<{indent}}" + self._fields(titles))
            self._headed = True
        for name, row in zip(self._names, cells, strict=True):
            printed.append(f"{name:>{indent - 1}}:" + self._fields([str(value) for value in row]))
        return printed

    def _fields(self, values: Sequence[str]) -> str:
        return " ".join(value.rjust(width) for value, width in zip(values, self._widths, strict=True))


def _header(output: str) -> tuple[str, list[str]]:
    lines = output.splitlines()
    titles = next((n for n, line in enumerate(lines) if line.split()[:2] == ["r", "b"]), None)
    if titles is None:
        raise ValueError("vmstat printed no header")
    return (lines[titles - 1].rstrip() if titles else ""), lines[titles].split()


def _row(output: str) -> list[int]:
    lines = [line for line in output.splitlines() if line.strip()]
    return [int(word) for word in lines[-1].split()] if lines else []


def _summary(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the rows of minimum, maximum and average; the average is rounded half up."""
    columns = list(zip(*rows, strict=True))
    averages = [(2 * sum(column) + len(column)) // (2 * len(column)) for column in columns]
    return [[min(column) for column in columns], [max(column) for column in columns], averages]
