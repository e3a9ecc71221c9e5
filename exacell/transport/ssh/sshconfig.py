"""ssh_config as one target sees it: Includes followed, Host blocks decided, the rest left to fabric's parser; and its
patterns and tokens.

paramiko's parser knows neither Include nor any index, and takes 10 ms a host for a file of 300 Host blocks. So the
files are read once into blocks, and for each target only the text that can matter to it is handed on: Host blocks that
match become unconditional, the others vanish, Match blocks stay. Include works inside Host and Match blocks, where its
content is as conditional as the block. Source: ssh_config(5), Host, Match, Include; readconf.c (16 levels).
"""

from __future__ import annotations

import glob
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from exacell.core.errors import ConfigError, why_unreadable
from exacell.core.values import dataclass

USER_CONFIG = Path("~/.ssh/config")
SYSTEM_CONFIG = Path("/etc/ssh/ssh_config")

_DEPTH = 16
_SETTING = re.compile(r"\s*([A-Za-z]+)(?:\s*=\s*|\s+)(.*?)\s*")


@dataclass(frozen=True, kw_only=True)
class Block:
    """Lines that apply when every one of ``hosts`` (pattern lists) and of ``matches`` (Match criteria) does."""

    hosts: tuple[tuple[str, ...], ...] = ()
    matches: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


class SshConfigFiles:
    """The blocks of the ssh_config files that apply, in their order. Immutable, shared by threads."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = tuple(blocks)

    @classmethod
    def read(cls, own: Path | None) -> SshConfigFiles:
        """Return ``own`` alone when given (as ``ssh -F``), else the user's file followed by the system's.

        Raises:
            ConfigError: ``own`` or an included file cannot be read, or includes nest too deep.
        """
        if own is not None:
            return cls(list(_blocks(own, Path("~/.ssh"), Block(), 0)))
        blocks: list[Block] = []
        for path in (USER_CONFIG.expanduser(), SYSTEM_CONFIG):
            if path.is_file():
                blocks += _blocks(path, path.parent, Block(), 0)
        return cls(blocks)

    def text_for(self, target: str, *, user: str | None = None) -> str:
        """Return the ssh_config text that decides about ``target``.

        Args:
            user: the login that is certain already; it stands first and so wins over every User.
        """
        parts = [f"User {user}\n"] if user else []
        for block in self.blocks:
            if not all(matches_list(patterns, target) for patterns in block.hosts):
                continue
            parts.append(_header(block.matches))
            parts += [f"{line}\n" for line in block.lines]
        return "".join(parts)


def _header(criteria: tuple[str, ...]) -> str:
    wanted = [text for text in criteria if text.lower() != "all"]
    return f"Match {' '.join(wanted)}\n" if wanted else "Host *\n"


def _blocks(path: Path, base: Path, outer: Block, depth: int) -> Iterator[Block]:
    """Yield the blocks of one file and of what it includes; ``outer`` holds the conditions it is included under."""
    if depth > _DEPTH:
        raise ConfigError(
            f"{path}: Include nests deeper than {_DEPTH} levels",
            hint="one of these files includes itself: take that Include out",
        )
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise ConfigError(f"ssh_config {path} can't be read: {why_unreadable(error)}") from error
    current, lines = outer, list[str]()
    for number, raw in enumerate(text.splitlines(), 1):
        match = _SETTING.fullmatch(raw)
        if match is None or raw.lstrip().startswith("#"):
            continue
        keyword, value = match[1].lower(), match[2]
        if keyword not in ("host", "match", "include"):
            lines.append(raw.strip())
            continue
        yield _filled(current, lines)
        lines = []
        words = _words(value, f"{path}:{number}")
        if keyword == "host":
            current = Block(hosts=(*outer.hosts, tuple(words)), matches=outer.matches)
        elif keyword == "match":
            current = Block(hosts=outer.hosts, matches=(*outer.matches, value))
        else:
            for pattern in words:
                for included in sorted(glob.glob(os.path.join(base.expanduser(), os.path.expanduser(pattern)))):
                    yield from _blocks(Path(included), base, current, depth + 1)
    yield _filled(current, lines)


def _filled(block: Block, lines: list[str]) -> Block:
    return Block(hosts=block.hosts, matches=block.matches, lines=tuple(lines))


def _words(text: str, where: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}", hint="close the quote") from error


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern), re.DOTALL)


def is_literal(pattern: str) -> bool:
    """Return whether ``pattern`` can only match itself."""
    return "*" not in pattern and "?" not in pattern and not pattern.startswith("!")


def matches(pattern: str, name: str) -> bool:
    """Return whether one pattern (without ``!``) matches the whole ``name``; case counts."""
    if is_literal(pattern):
        return pattern == name
    return _compiled(pattern).fullmatch(name) is not None


def matches_list(patterns: Iterable[str], name: str) -> bool:
    """Return whether a pattern list matches ``name``: one pattern does, and none behind ``!`` does."""
    found = False
    for pattern in patterns:
        if pattern.startswith("!"):
            if matches(pattern[1:], name):
                return False
        elif not found:
            found = matches(pattern, name)
    return found


def expand_tokens(text: str, tokens: Mapping[str, str]) -> str:
    """Return ``text`` with ``%x`` replaced from ``tokens`` (keys are the letters) and ``%%`` by ``%``.

    An unknown token stays as it is, so that the error about the missing file shows it.
    """
    return re.sub(r"%(.)", lambda m: "%" if m[1] == "%" else tokens.get(m[1], m[0]), text)
