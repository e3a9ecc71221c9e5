"""Split the output of a dcli program into one answer per target, while it prints.

dcli merges everything into one stream of ``target: line``, strips blanks, and reduces all statuses to 0 or 1. So each
remote command ends with an extra line that holds a random word and the status; a target without that
line has not answered completely.

Source: reference dcli.md 4 to 6.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Sequence

from exacell.core.values import dataclass
from exacell.transport.base import Large
from exacell.transport.capture import Capture, End
from exacell.transport.replies import REFUSED

_UNABLE = re.compile(r"^Unable to connect to (?:hosts|cells): (\[.*\])\s*$", re.MULTILINE)
_CUT = "cut"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One target's part of dcli's output.

    Attributes:
        text: the command's output (both of its streams), without the closing line.
        large: the same, on disk; ``text`` is then empty.
        broken_off: why nothing of it was kept; None if all of it was kept.
        status: the command's exit status; None if its closing line did not come.
        said: ssh's messages about the target, which dcli prints on standard output too.
        unreachable: whether dcli lists it among the targets it could not connect to.
    """

    text: str = ""
    large: Large | None = None
    broken_off: End | None = None
    status: int | None = None
    said: str = ""
    unreachable: bool = False

    @property
    def refused(self) -> bool:
        """Return whether its login was refused."""
        return self.status is None and REFUSED in self.said


def closing(command: str, word: str) -> str:
    """Return ``command`` with a closing line that prints ``word`` and its exit status.

    >>> closing("cellcli -e list cell", "w1")
    '( cellcli -e list cell\\n)\\necho w1 $?'
    """
    # On separate lines: after a comment or a here-document the rest of a line would not be a command. The parentheses
    # keep an exit in the command from skipping the closing line.
    return f"( {command}\n)\necho {word} $?"


def ascii_only(command: str) -> str:
    """Return ``command`` with all its output made ASCII.

    dcli 3.5 runs a command a second time if its output is not UTF-8, but a change must never be sent twice.
    """
    return f"( {command}\n) 2>&1 | LC_ALL=C tr -c '\\11\\12\\15\\40-\\176' '?'"


def limited(command: str, seconds: float) -> str:
    """Return ``command``, a single program, so that a host with timeout(1) ends it after ``seconds``."""
    return f"limit=$(command -v timeout >/dev/null 2>&1 && echo timeout {seconds:g})\n$limit {command}"


def at_most(command: str, word: str, size: int) -> str:
    """Return ``command`` with its output limited to ``size`` bytes, on hosts that have head(1).

    If there is more, a line with ``word`` reports it. dcli holds all answers in memory until the last one is complete.
    """
    return (
        f"cut=$(command -v head >/dev/null 2>&1 && echo head -c {size} || echo cat)\n( {command}\n) 2>&1 | ( $cut\n"
        f"if test $(head -c 1 2>/dev/null | wc -c) -gt 0\nthen echo\necho {word} {_CUT}\nfi\n)"
    )


class Answers:
    """Splits dcli's output as it comes, by target; large answers go to disk.

    Args:
        word: the word that :func:`closing` has put after the commands.
        limit: bytes that one target's answer may have; a larger answer is dropped as a whole.

    Attributes:
        broken_off: the targets with larger answers.
    """

    def __init__(self, targets: Sequence[str], word: str, limit: int | None = None) -> None:
        self.broken_off: set[str] = set()
        self._word = f"{word} ".encode()
        self._limit = limit
        self._kept = {target.encode(): Capture(limit=limit) for target in targets}
        self._status: dict[bytes, int] = {}
        self._speaker: Capture | None = None
        self._rest = bytearray()

    def take(self, piece: bytes) -> None:
        """Add a piece of dcli's standard output, which may end anywhere."""
        self._rest += piece
        if b"\n" in piece:
            *lines, rest = self._rest.split(b"\n")
            self._rest = rest
            for line in lines:
                self._line(bytes(line))
        elif self._limit is not None and len(self._rest) > self._limit:
            self._last()

    def _last(self) -> None:
        line, self._rest = bytes(self._rest), bytearray()
        self._line(line)

    def _line(self, line: bytes) -> None:
        name, colon, rest = line.partition(b":")
        capture = self._kept.get(name) if colon else None
        if capture is None:
            # A further line of ssh's message: only its first line has a name, and an empty line ends it.
            self._speaker = self._speaker if line.strip() else None
            if self._speaker:
                self._speaker.take_error(line + b"\n")
            return
        self._speaker = None
        if not rest.startswith(b" "):
            # ssh's own messages have no blank after the colon.
            capture.take_error(rest + b"\n")
            self._speaker = capture
            return
        text = rest[1:]
        before, found, after = text.rpartition(self._word)
        if found and after.strip().isdigit():
            self._status[name] = int(after)
            text = before
        elif found and after.strip() == _CUT.encode():
            capture.break_off(End.TOO_LARGE)
        elif name not in self._status:
            text += b"\n"
        else:
            return
        if text:
            capture.take(text)  # A last line without a newline before the status gets no newline here either.
        if capture.broken_off is not None:
            self.broken_off.add(name.decode())

    def ended(self, stderr: str = "", *, in_pieces: Container[str] = ()) -> dict[str, Answer]:
        """Return one answer for each target after dcli has ended, and keep nothing.

        Args:
            stderr: dcli's standard error.
            in_pieces: the targets whose answers may be on disk.
        """
        self._last()
        bad = {host for match in _UNABLE.finditer(stderr) for host in _names(match[1])}
        answers = {}
        for target, capture in self._kept.items():
            name = target.decode()
            said = "; ".join(text.strip() for text in capture.stderr.splitlines() if text.strip())
            large = capture.output.hand_over_file() if name in in_pieces else None
            answers[name] = Answer(
                text=capture.output.hand_over(),
                large=large,
                broken_off=capture.broken_off,
                status=self._status.get(target),
                said=said,
                unreachable=name in bad,
            )
        return answers


def _names(text: str) -> list[str]:
    try:
        found = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return []
    return [str(name) for name in found] if isinstance(found, list) else []
