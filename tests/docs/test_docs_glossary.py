"""docs/glossary.md has the words that people meet, and each of them once."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| \*\*(?P<word>[^*]+)\*\* \| (?P<means>[^|]+) \|$", re.M)


def test_each_word_stands_once_with_one_short_sentence() -> None:
    """No word has two meanings, and a meaning can be read at once."""
    rows = ROW.findall((ROOT / "docs/glossary.md").read_text())
    words = [word for word, _ in rows]
    assert len(rows) > 40 and len(set(words)) == len(words)
    assert not [word for word, means in rows if len(means) > 120 or means.endswith(".")]


def test_no_word_is_there_that_nobody_meets() -> None:
    """Each word is in help or in a page for users."""
    pages = [
        path
        for path in (ROOT / "docs").glob("*.md")
        if path.name not in ("glossary.md", "architecture.md", "decisions.md")
    ]
    text = " ".join(path.read_text() for path in [*pages, ROOT / "docs/man/exacell.1"]).lower()
    words = [word for word, _ in ROW.findall((ROOT / "docs/glossary.md").read_text())]
    assert not [word for word in words if not re.search(rf"\b{word.lower()}", text)]
