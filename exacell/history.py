"""The prompt's history on disk: one entry a line, newest last, readable by its owner only, without secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from exacell.paths import ensure_dir

_SECRET = re.compile(
    r"\bpassword\s*=|\bidentified\s+by\b|\bsecret\s*=|\bsecurityKey\s*=|\bassign\s+key\b", re.IGNORECASE
)
_KEEP = 20_000
_NEWLINE = {"\\": "\\\\", "\n": "\\n"}


def history_file(state_dir: Path) -> Path:
    """Return where the history is kept; the file need not exist."""
    return state_dir / "history"


def is_secret(text: str) -> bool:
    """Return whether ``text`` may hold a password or a key and must not be kept."""
    return bool(_SECRET.search(text))


def read_history(path: Path) -> list[str]:
    """Return the entries, oldest first, those of several lines as they were; empty when there is no file."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    return [_unescape(line) for line in text.splitlines()[-_KEEP:] if line]


def append_history(path: Path, entry: str) -> None:
    """Add one entry unless it holds a secret; the file is created with mode 0600."""
    if is_secret(entry) or not entry.strip():
        return
    ensure_dir(path.parent)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with open(descriptor, "w", encoding="utf-8") as stream:
        stream.write(entry.replace("\\", _NEWLINE["\\"]).replace("\n", _NEWLINE["\n"]) + "\n")


def newest_first(entries: Sequence[str]) -> list[str]:
    """Return the entries newest first, each text once."""
    return list(dict.fromkeys(reversed(entries)))


def _unescape(line: str) -> str:
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], line)
