"""Keep the learned names, values and releases of a rack on disk for completion; they may be old."""

from __future__ import annotations

import time
from _thread import RLock  # The same as threading.RLock, but faster to import.
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from exacell.core.paths import replace_file
from exacell.core.sharedfile import sure
from exacell.language.registry import Kind
from exacell.language.suggestion import Vocabulary

_MOST_VALUES = 12
"""An attribute with more values than this has no set of values that is worth offering."""


class NameCache:
    """A JSON file, read again after it has changed. A missing or damaged file is an empty cache; nothing depends on it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # In the prompt, one thread learns while another one completes.
        self._lock = RLock()
        self._stamp: tuple[int, int] | None = None
        self._data: dict[str, Any] = {}
        self._searched: dict[str, Any] | None = None
        self._vocabularies: dict[Kind, tuple[object, Vocabulary]] = {}
        self.forgotten = 0
        """How often the cache was emptied in this session."""

    def _read(self) -> dict[str, Any]:
        try:
            status = self._path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                import json  # Imported late: not needed if nothing has changed, nor when a shell completes a word.

                data = json.loads(sure(self._path).read_text(encoding="utf-8"))
                self._data = data if isinstance(data, dict) else {}
                self._stamp = stamp
        except (OSError, ValueError):
            self._stamp, self._data = None, {}
        return self._data

    def _part(self, name: str) -> dict[str, Any]:
        part = self._read().get(name)
        return part if isinstance(part, dict) else {}

    def get(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of a kind, sorted; empty if no names were learned."""
        return tuple(self._part("names").get(kind.value, ()))

    def vocabulary(self, kind: Kind) -> Vocabulary:
        """Return the names of a kind for completion, with phrases about them and the age of that knowledge."""
        with self._lock:
            data = self._read()
            if self._searched is not data:
                # Keep the result while the names are unchanged: a kind may have ten thousand names, and building it takes time.
                same = {one: made for one, made in self._vocabularies.items() if made[0] == self._of(one)}
                self._searched, self._vocabularies = data, same
            made = self._vocabularies.get(kind)
            of = self._of(kind)
        if made is None:
            made = of, Vocabulary(of[0], about=of[1])
            with self._lock:
                if self._searched is data:
                    self._vocabularies[kind] = made
        found = made[1]
        age = self.age()
        found.note = f"{kind}, seen {age}" if age and not found.about else ""
        return found

    def _of(self, kind: Kind) -> tuple[Sequence[str], Mapping[str, str]]:
        return self._part("names").get(kind.value, ()), self._part("about").get(kind.value) or {}

    def seen(self, subject: str, attribute: str) -> tuple[str, ...]:
        """Return the known values of an attribute; empty if there are none, or too many."""
        return tuple(self._part("values").get(f"{subject}.{attribute}".lower(), ()))

    def releases(self) -> Mapping[str, str]:
        """Return cell → release, for each cell that has reported it."""
        return dict(self._part("releases"))

    @property
    def learned_at(self) -> float | None:
        """Return when the whole rack was last read, in seconds since the epoch; None if never."""
        at = self._read().get("at")
        return float(at) if isinstance(at, (int, float)) else None

    def age(self, now: float | None = None) -> str:
        """Return how long ago the whole rack was last read, such as ``5m ago``; empty if never."""
        return "" if self.learned_at is None else age_of(self.learned_at, now)

    def learn(
        self,
        found: Mapping[Kind, Iterable[str]],
        *,
        about: Mapping[Kind, Mapping[str, str]] | None = None,
        values: Mapping[str, Iterable[str]] | None = None,
        releases: Mapping[str, str] | None = None,
        whole: bool = False,
    ) -> None:
        """Replace the names of each kind in ``found``; a file that can't be written stays as it is.

        Args:
            about: by kind, phrases about names; they replace the known ones.
            values: ``object.attribute`` → values it was seen with, added to those known.
            releases: cell → release, added to those known.
            whole: whether the whole rack was read, so that the cache's age starts now.
        """
        with self._lock:
            names = {**self._part("names"), **{kind.value: sorted(set(each)) for kind, each in found.items()}}
            phrases = {**self._part("about"), **{kind.value: dict(each) for kind, each in (about or {}).items()}}
            data = {
                "at": time.time() if whole else self._read().get("at"),
                "names": names,
                "about": phrases,
                "values": self._with_values(values or {}),
                "releases": {**self._part("releases"), **(releases or {})},
            }
            if data != self._read():
                self._write(data)

    def forget(self) -> None:
        """Empty the cache."""
        with self._lock:
            self.forgotten += 1
            self._write({})

    def _with_values(self, values: Mapping[str, Iterable[str]]) -> dict[str, Sequence[str]]:
        known: dict[str, Sequence[str]] = dict(self._part("values"))
        for key, each in values.items():
            merged = sorted({*known.get(key.lower(), ()), *each})
            known[key.lower()] = merged if len(merged) <= _MOST_VALUES else []
        return known

    def _write(self, data: dict[str, Any]) -> None:
        import json

        with suppress(OSError):
            status = replace_file(self._path, json.dumps(data))
            # These are the file's new content and state, so that the prompt need not read it again.
            self._data = data
            self._stamp = (status.st_mtime_ns, status.st_size)


def age_of(at: float, now: float | None = None) -> str:
    """Return how long ago ``at`` was, in seconds since the epoch: ``5m ago``."""
    seconds = (time.time() if now is None else now) - at
    for unit, letter in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= unit:
            return f"{seconds // unit:.0f}{letter} ago"
    return "just now"
