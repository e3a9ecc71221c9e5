"""OpenSSH's pattern lists, as ssh_config's Host lines and known_hosts use them.

``*`` stands for any text, ``?`` for one character, and nothing else is special: ``[10.0.0.1]:2222`` is a plain name. A
list matches when some pattern matches and no pattern after ``!`` does. Source: ssh_config(5), PATTERNS.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache


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
