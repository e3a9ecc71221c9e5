"""How often words are used at the prompt, kept on disk, so that completion offers them first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from exacell.core.errors import StatementError
from exacell.core.paths import replace_file
from exacell.language.words import split_words
from exacell.session.history import is_secret

_MOST = 3000
"""Counts that are kept; when there are more, the rarest go."""


class Usage:
    """Counts of words behind the first word of their statement. A missing or damaged file means none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._counts: Counter[str] | None = None

    @property
    def _known(self) -> Counter[str]:
        if self._counts is None:
            try:
                data = json.loads(self._path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                data = {}
            pairs = data.items() if isinstance(data, dict) else ()
            self._counts = Counter({key: count for key, count in pairs if isinstance(count, int)})
        return self._counts

    def count(self, first: str, word: str) -> int:
        """Return how often ``word`` was used in statements that begin with ``first`` (empty: as first word)."""
        return self._known[f"{first} {word.lower()}"]

    def note(self, statement: str) -> None:
        """Count the words of a statement that was entered, and keep the counts for the next session; not with a secret."""
        if is_secret(statement):
            return
        known = self._known
        known.update(set(words_of(statement)))
        if len(known) > _MOST:
            self._counts = known = Counter(dict(known.most_common(_MOST * 3 // 4)))
        with suppress(OSError):
            replace_file(self._path, json.dumps(known))


def words_of(statement: str) -> Iterator[str]:
    """Yield ``first word`` pairs of a statement, lower case: its words, keys of settings and items of lists."""
    try:
        words = [word for word in split_words(statement) if not word.quoted]
    except StatementError:
        return
    if words and words[0].value.lower() == "on":
        words = words[2:]
    if not words:
        return
    first = words[0].value.lower()
    yield f" {first}"
    for word in words[1:]:
        if word.raw.startswith("("):
            continue
        key, equals, value = word.value.lower().partition("=")
        for item in (*key.split(","), value if equals else ""):
            if item:
                yield f"{first} {item}"
