"""Find passwords and keys in a text, and mask them. Pure.

The names come from the schema (``data/secrets.tsv``); any name that looks like that of a password counts, too, since future
releases have names that no table knows. A text may be a CellCLI statement, or contain some, as commands and scripts do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from exacell.cellcli.schema import secrets
from exacell.cellcli.shellsecrets import Hint, shell_places
from exacell.core.patterns import pattern

MASK = "***"
"""Shown in place of a secret that was not kept."""

WORD = r"secret_[0-9a-f]{12}_not_kept"
"""Pattern of the words that replace secrets within a process; such a word is allowed wherever a value is."""

_WORDS = pattern(rf"""(["']?){WORD}\1""")

_NAMED_SO = r"\w*(?:pwd|passw\w*|passphrase\w*|privkeypw)|pw"
"""Names of passwords in any dialect. ``pwd`` alone is a shell variable, not a secret."""

_QUOTED = "|".join(
    (
        r'\\"(?:(?!\\").)*(?:\\"|$)',  # within a shell's quotes
        r"\\'(?:(?!\\').)*(?:\\'|$)",
        r'"(?:\\.|""|[^"\\])*(?:"|$)',
        r"'(?:\\.|''|[^'\\])*(?:'|$)",
        r"\{[^}]*(?:\}|$)",
    )
)
_BARE = r"""(?:\\.|[^\s,;()'"\\])+"""
_PROMPTED = pattern(r"""["'{]?\*["'}]?""")
"""A value for which CellCLI asks at its prompt. Source: Oracle SAGUG, create-user."""

_ASSIGNED = pattern(rf"=\s*(?P<value>{_QUOTED}|{_BARE})", re.DOTALL)
_HEX = pattern(r"\b[0-9A-Fa-f]{32,}\b")
"""A key as cells make and print it: 32 digits. Source: Oracle SAGUG, create-key."""


@cache
def _named() -> re.Pattern[str]:
    """Return the pattern of a secret's name with its value; ``=`` may be missing before a quoted value, as in a wrong
    statement.
    """
    names = "|".join(sorted((s.name for s in secrets() if s.place != "clause"), key=len, reverse=True))
    name = rf"(?<![\w$])(?!pwd\b)(?:{names}|{_NAMED_SO})"
    by = r"(?<![\w$])identified\s+(?:by|using)(?:\s+values)?\s+"
    value = rf"(?P<quoted>{_QUOTED})|(?P<bare>{_BARE})"
    return re.compile(
        rf"(?:{by}(?:(?P<byq>{_QUOTED})|(?P<by>{_BARE})))|(?:{name}\s*=\s*(?:{value}))|(?:{name}\s+(?P<loose>{_QUOTED}))",
        re.IGNORECASE | re.DOTALL,
    )


@cache
def _hinted() -> Hint:
    """Return a fast check: every text with a secret passes it, and most other texts don't."""
    names = [s.name for s in secrets() if s.place != "clause"]
    return Hint(
        rf"{'|'.join(names)}|{WORD}|\bpw\s*=|pwd|passw|passphrase|identified|assign\s+key",
        f"{' '.join(names).lower()} secret_ pw passw passphrase identified assign",
    )


_ASSIGN_KEY = pattern(r"\bassign\s+key\s+for\b[^;\n]*", re.IGNORECASE)


def places(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each secret in a text, with its quotes, from left to right.

    >>> [text[a:b] for text in ["alter cell smtpPwd='a b', smtpPort=25"] for a, b in places(text)]
    ["'a b'"]
    """
    if not _hinted().found_in(text):
        return []
    found = {match.span(match.lastgroup or 0) for match in _named().finditer(text)}
    for clause in _ASSIGN_KEY.finditer(text):
        found |= {match.span("value") for match in _ASSIGNED.finditer(text, clause.start(), clause.end())}
    return [span for span in sorted(found) if not _PROMPTED.fullmatch(text[slice(*span)])]


def may_hold(text: str) -> bool:
    """Return whether a text may contain a secret; fast, and False for nearly every text."""
    return bool(_hinted().found_in(text) or _HEX.search(text) or next(shell_places(text), None))


def all_places(text: str, *, kept: bool = False) -> list[tuple[int, int]]:
    """Return (start, end) of each secret in a text, from left to right and without overlaps; also those in shell commands,
    addresses and wrong statements about keys.

    Args:
        kept: whether to include places at which a mask or placeholder already replaces the secret.
    """
    found: list[tuple[int, int]] = []
    spans = [span for span in {*places(text), *shell_places(text)} if kept or not _KEPT.fullmatch(text[slice(*span)])]
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


_KEPT = pattern(rf"""["'\\]*(?:\*|\*\*\*|{WORD})["'\\]*""")
"""Pattern of a mask or placeholder in place of a secret, or of a request to ask for it."""


def without(text: str, told: str) -> str:
    """Return the message ``told`` about a text, with the secrets of that text masked."""
    found = {text[start:end].strip("\\\"'") for start, end in all_places(text)}
    # A message may contain a part of USER:PASSWORD or USER,PASSWORD.
    found |= {part for secret in found for part in re.split(r"[:%,\s\"']+", secret)[1:] if len(part) > 3}
    for secret in sorted(filter(None, found), key=len, reverse=True):
        told = told.replace(secret, MASK)
    return told


def holds_secret(text: str) -> bool:
    """Return whether a text contains a password or a key."""
    return any(text[start:end].strip("\\\"'") not in (MASK, "*", "") for start, end in all_places(text, kept=True))


def masked(text: str) -> str:
    """Return the text with :data:`MASK` in place of each secret.

    >>> masked('create user joe password="x y"; list user')
    'create user joe password=***; list user'
    """
    for start, end in reversed(all_places(text)):
        text = text[:start] + MASK + text[end:]
    return _WORDS.sub(MASK, text) if _hinted().found_in(text) else text


def replaced(text: str, instead: Any) -> str:
    """Return the text with each secret (with its quotes) replaced by the result of ``instead``."""
    for start, end in reversed(places(text)):
        text = text[:start] + instead(text[start:end]) + text[end:]
    return text


def is_secret_name(name: str) -> bool:
    """Return whether the value of an attribute with that name is a secret."""
    return bool(_named().fullmatch(f"{name}=x")) and name.isidentifier()


def masked_data(data: Any, *, reply: bool = False) -> Any:
    """Return JSON data with all its texts masked, and also the values of secret attributes, which are stored beside their names.

    Args:
        reply: whether it is a cell's answer, which may contain a key that the cell has made.
    """
    if isinstance(data, str):
        text = masked(data)
        return _HEX.sub(MASK, text) if reply else text
    if isinstance(data, Mapping):
        about = isinstance(data.get("attribute"), str) and is_secret_name(data["attribute"])
        return {
            key: MASK
            if isinstance(value, str) and value and (is_secret_name(str(key)) or (about and key in _VALUES))
            else masked_data(value, reply=reply or key == "reply")
            for key, value in data.items()
        }
    return list(_items(data, reply=reply)) if isinstance(data, Sequence) else data


_VALUES = ("value", "before", "after", "wanted", "was", "old", "new")
"""Keys of a record with ``attribute`` under which its value is stored."""


def _items(data: Sequence[Any], *, reply: bool) -> Iterator[Any]:
    named = len(data) > 1 and isinstance(data[0], str) and is_secret_name(data[0])
    for number, item in enumerate(data):
        yield MASK if named and number and isinstance(item, str) and item else masked_data(item, reply=reply)
