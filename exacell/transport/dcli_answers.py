"""Reads what a dcli program prints back into one answer a target, while it prints.

dcli merges everything into one stream of ``target: line``, strips blanks, and folds all statuses into 0 or 1. So each
remote command ends with a line of its own that holds a word nobody else knows and the status; a target without that
line has not answered to its end.

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
    """One target's part of what dcli printed.

    Attributes:
        text: the command's output (both of its streams), without the closing line.
        large: the same, on disk; ``text`` is empty then.
        broken_off: why nothing of it was kept; None when all was.
        status: the command's exit status; None when its closing line did not come.
        said: what ssh said about the target, which dcli puts on standard output, too.
        unreachable: dcli lists it among those that it could not connect to.
    """

    text: str = ""
    large: Large | None = None
    broken_off: End | None = None
    status: int | None = None
    said: str = ""
    unreachable: bool = False

    @property
    def refused(self) -> bool:
        """Whether its login was refused."""
        return self.status is None and REFUSED in self.said


def closing(command: str, word: str) -> str:
    """Return ``command`` with a closing line that tells ``word`` and its exit status.

    >>> closing("cellcli -e list cell", "w1")
    '( cellcli -e list cell\\n)\\necho w1 $?'
    """
    # Lines of their own: behind a comment or a here-document the rest of a line would not be a command. The parentheses
    # keep an exit in the command from ending what stands behind it.
    return f"( {command}\n)\necho {word} $?"


def ascii_only(command: str) -> str:
    """Return ``command`` with everything that it prints made ASCII.

    dcli 3.5 runs a command a second time when its output is no UTF-8: a change must never be sent twice.
    """
    return f"( {command}\n) 2>&1 | LC_ALL=C tr -c '\\11\\12\\15\\40-\\176' '?'"


def limited(command: str, seconds: float) -> str:
    """Return ``command``, a single program, ended by the host itself after ``seconds`` where it has timeout(1)."""
    return f"limit=$(command -v timeout >/dev/null 2>&1 && echo timeout {seconds:g})\n$limit {command}"


def at_most(command: str, word: str, size: int) -> str:
    """Return ``command`` with no more than ``size`` bytes of what it prints, where the host has head(1).

    Where there would be more, a line with ``word`` says so: dcli holds all answers in memory until the last is there.
    """
    return (
        f"cut=$(command -v head >/dev/null 2>&1 && echo head -c {size} || echo cat)\n( {command}\n) 2>&1 | ( $cut\n"
        f"if test $(head -c 1 2>/dev/null | wc -c) -gt 0\nthen echo\necho {word} {_CUT}\nfi\n)"
    )


class Answers:
    """Takes what dcli prints apart as it comes, each target's lines by themselves: large ones wait on disk.

    Args:
        word: what :func:`closing` put behind the commands.
        limit: bytes that one target's answer may have; of a larger one nothing is kept.

    Attributes:
        broken_off: the targets whose answers were larger.
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
        """Take a piece of dcli's standard output, cut anywhere."""
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
            # More than one line of ssh's words: only the first has a name, and an empty one is the end.
            self._speaker = self._speaker if line.strip() else None
            if self._speaker:
                self._speaker.take_error(line + b"\n")
            return
        self._speaker = None
        if not rest.startswith(b" "):
            # ssh's own words have no blank behind the colon.
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
            capture.take(text)  # Before its status a line that had no end has none here either.
        if capture.broken_off is not None:
            self.broken_off.add(name.decode())

    def ended(self, stderr: str = "", *, in_pieces: Container[str] = ()) -> dict[str, Answer]:
        """Return one answer for each target, now that dcli has ended; nothing is kept here.

        Args:
            stderr: what it said there.
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
