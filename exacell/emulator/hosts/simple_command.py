"""Command lines that need no shell: one command with plain words, perhaps with assignments before it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

_SPECIAL = frozenset("|&;<>()$`*?[]{}~#\n")
"""Characters that, unquoted, may mean something to a shell; if they do not, the shell is only slower."""
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True)
class SimpleCommand:
    """A command line that needs no shell.

    Attributes:
        words: program and arguments, unquoted as a shell does.
        environment: the assignments before the command.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def program(self) -> str:
        """Return the program's name without its directory."""
        return self.words[0].rpartition("/")[2]


def simple_command(line: str) -> SimpleCommand | None:
    """Return the command in ``line`` if a shell would only split and unquote it; else None.

    >>> simple_command("A=1 cellcli -e 'list cell'").words
    ('cellcli', '-e', 'list cell')
    >>> simple_command("cellcli -e list cell | wc -l") is None
    True
    """
    words = _split(line)
    if not words:
        return None
    environment: dict[str, str] = {}
    index = _assignments(words, 0, environment)
    if index < len(words) and words[index] == ("env", False):
        index = _assignments(words, index + 1, environment)
    if index >= len(words):
        return None
    command = tuple(word for word, _ in words[index:])
    if command[0] in ("", "!") or command[0].startswith("-"):
        return None
    return SimpleCommand(command, MappingProxyType(environment))


def _assignments(words: list[tuple[str, bool]], index: int, into: dict[str, str]) -> int:
    """Read ``NAME=value`` words from ``index`` on into ``into``; return the index of the first other word."""
    while index < len(words) and (match := _ASSIGNMENT.match(words[index][0])) and not words[index][1]:
        into[match[0][:-1]] = words[index][0][match.end() :]
        index += 1
    return index


def _split(line: str) -> list[tuple[str, bool]] | None:
    """Return pairs of (word, whether its first character was quoted); None if the line needs a shell."""
    words: list[tuple[str, bool]] = []
    word: list[str] | None = None
    first_quoted = False
    position, end = 0, len(line)
    while position < end:
        char = line[position]
        position += 1
        if char in " \t":
            if word is not None:
                words.append(("".join(word), first_quoted))
                word = None
            continue
        if char in _SPECIAL:
            return None
        if word is None:
            word, first_quoted = [], char in "'\"\\"
        if char == "'":
            close = line.find("'", position)
            if close < 0:
                return None
            word.append(line[position:close])
            position = close + 1
        elif char == '"':
            after = _double_quoted(line, position, word)
            if after is None:
                return None
            position = after
        elif char == "\\":
            if position >= end or line[position] == "\n":
                return None
            word.append(line[position])
            position += 1
        else:
            word.append(char)
    if word is not None:
        words.append(("".join(word), first_quoted))
    return words


def _double_quoted(line: str, position: int, word: list[str]) -> int | None:
    """Append the text up to the closing quote to ``word``; return the position after it; None if the line needs a shell."""
    while position < len(line):
        char = line[position]
        if char == '"':
            return position + 1
        if char in "$`":
            return None
        if char == "\\" and position + 1 < len(line) and line[position + 1] in '"\\$`\n':
            if line[position + 1] == "\n":
                return None
            position += 1
            char = line[position]
        word.append(char)
        position += 1
    return None
