"""Names learned from a rack (databases, disk groups, prefixes), kept on disk for completion; may be old, never asked."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from exacell.language.registry import Kind


class NameCache:
    """A JSON file of kind → names. A missing or damaged file is an empty cache: nothing depends on it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def _read(self) -> dict[str, list[str]]:
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return data["names"] if isinstance(data, dict) and isinstance(data.get("names"), dict) else {}

    def get(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of that kind, sorted; empty when none were learned."""
        return tuple(self._read().get(kind.value, ()))

    def learn(self, found: Mapping[Kind, Iterable[str]]) -> None:
        """Replace the names of each kind in ``found``; a cache that can't be written is left as it is."""
        names = self._read()
        names.update({kind.value: sorted(set(values)) for kind, values in found.items()})
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary.write_text(json.dumps({"at": int(time.time()), "names": names}), encoding="utf-8")
            os.replace(temporary, self._path)
