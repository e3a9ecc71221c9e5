"""Parse files of hosts in statements: ``@db:/tmp/x``, ``/tmp/fio/*.json``. Pure."""

from __future__ import annotations

import re

from exacell.core.errors import StatementError
from exacell.language.words import split_words

_PATH = re.compile(r"/[A-Za-z0-9_./:,@%+=*?\[\] -]*[A-Za-z0-9_./:,@%+=*?\[\]-]", re.ASCII)
_SYSTEM = frozenset(("dev", "proc", "sys", "run"))


def file_named(text: str) -> tuple[str, str] | None:
    """Return (hosts, path) of a text that is one word and names a file; hosts is empty if not given. None for other text."""
    words = split_words(text)
    if len(words) != 1:
        return None
    hosts, colon, path = words[0].value.rpartition(":/")
    return (hosts, f"/{path}") if colon or words[0].value.startswith("/") else None


def read_remote_path(text: str) -> str:
    """Return the path of a file on a host, or a pattern for several files.

    Raises:
        StatementError: the path is not absolute, contains a character that is not allowed, or may lead to a device.
    """
    parts = [part for part in text.split("/") if part]
    if not _PATH.fullmatch(text) or not parts or ".." in parts:
        raise StatementError(
            f"'{text[:200]}' is not an absolute path of plain characters",
            hint="write it like /tmp/fio/*.json; put a path with blanks in quotes; other characters are not allowed",
        )
    if parts[0] in _SYSTEM:
        raise StatementError(
            f"{text}: files in /{parts[0]} can't be copied", hint="`facts` and `show setting` read the kernel's values"
        )
    return text
