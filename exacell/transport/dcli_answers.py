"""Reads what a dcli program printed back into one answer a target: pure text in, values out.

dcli merges everything into one stream of ``target: line``, strips blanks, and folds all statuses into 0 or 1. So each
remote command ends with a line of its own that holds a word nobody else knows and the status; a target without that
line has not answered to its end.

Source: reference dcli.md 4 to 6.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from exacell.core.values import dataclass
from exacell.transport.replies import REFUSED

_UNABLE = re.compile(r"^Unable to connect to (?:hosts|cells): (\[.*\])\s*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One target's part of what dcli printed.

    Attributes:
        text: the command's output (both of its streams), without the closing line.
        status: the command's exit status; None when its closing line did not come.
        said: what ssh said about the target, which dcli puts on standard output, too.
        unreachable: dcli lists it among those that it could not connect to.
    """

    text: str = ""
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


def read_answers(targets: Sequence[str], word: str, stdout: str, stderr: str) -> dict[str, Answer]:
    """Return one answer for each target.

    Args:
        word: what :func:`closing` put behind the commands.
        stdout, stderr: what dcli printed, whole or cut anywhere.
    """
    lines: dict[str, list[str]] = {target: [] for target in targets}
    said: dict[str, list[str]] = {target: [] for target in targets}
    status: dict[str, int] = {}
    speaker = ""
    for line in stdout.split("\n"):
        name, colon, rest = line.partition(":")
        if not colon or name not in lines:
            # More than one line of ssh's words: only the first has a name, and an empty one is the end.
            speaker = speaker if line.strip() else ""
            if speaker:
                said[speaker].append(line)
            continue
        speaker = ""
        if not rest.startswith(" "):
            # ssh's own words have no blank behind the colon.
            said[name].append(rest)
            speaker = name
            continue
        text = rest[1:]
        before, found, after = text.rpartition(f"{word} ")
        if found and after.strip().isdecimal():
            status[name] = int(after)
            if before:
                lines[name].append(before)
        elif name not in status:
            lines[name].append(text)
    bad = {host for match in _UNABLE.finditer(stderr) for host in _names(match[1])}
    return {
        target: Answer(
            text="".join(f"{line}\n" for line in lines[target]),
            status=status.get(target),
            said="; ".join(text.strip() for text in said[target] if text.strip()),
            unreachable=target in bad,
        )
        for target in targets
    }


def _names(text: str) -> list[str]:
    try:
        found = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return []
    return [str(name) for name in found] if isinstance(found, list) else []
