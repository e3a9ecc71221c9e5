"""Remember which release each cell had, so that a later command line need not ask for it before a read in XML.

The release decides how the option for XML is spelled. A remembered one may be old: if an answer can't be read, the cell is
asked for its release, and then for the answer again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress

from exacell.core.paths import Home, replace_file
from exacell.core.sharedfile import sure


class KeptReleases:
    """The releases of one rack's cells, in a file that the user's command lines share. A file that can't be read or written, or
    holds anything else, counts as empty; when two processes write at once, the later one counts.

    Args:
        rack: its name.
    """

    def __init__(self, home: Home, rack: str) -> None:
        self._path = home.cache_dir / "releases"
        self._rack = rack

    def read(self) -> dict[str, str]:
        """Return release by cell."""
        return dict(self._all().get(self._rack, {}))

    def write(self, releases: Mapping[str, str]) -> None:
        """Store the releases of these cells, if they differ from what is stored."""
        kept = self._all()
        own = {**kept.get(self._rack, {}), **releases}
        if own != kept.get(self._rack):
            with suppress(OSError):
                replace_file(self._path, json.dumps({**kept, self._rack: own}))

    def _all(self) -> dict[str, dict[str, str]]:
        with suppress(OSError, ValueError):
            found = json.loads(sure(self._path).read_text(encoding="utf-8"))
            if isinstance(found, dict) and all(isinstance(rack, dict) for rack in found.values()):
                return {
                    str(name): {str(cell): str(release) for cell, release in rack.items()}
                    for name, rack in found.items()
                }
        return {}
