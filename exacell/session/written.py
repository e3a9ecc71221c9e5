"""List every place on this machine that exacell writes to by itself, and the data that are lost if it is removed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import gettempdir

from exacell.core.paths import Home
from exacell.core.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Place:
    """A file, or a folder with all that is in it.

    Attributes:
        path: its path, with ``*`` for several files.
        what: what it holds, in a few words.
        lost: what is lost if it is removed; empty for nothing.
    """

    path: Path
    what: str
    lost: str = ""

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files or folders that exist there now, with unfinished copies that a killed process left."""
        names = (self.path.name, *(f"{self.path.name}{end}" for end in _DRAFTS))
        return tuple(sorted({path for name in names for path in self.path.parent.glob(name)}))

    @property
    def size(self) -> int | None:
        """Return their size in bytes; None if there are none."""
        return sum(map(_size, self.files)) if self.files else None


def _size(path: Path) -> int:
    try:
        if not path.is_dir() or path.is_symlink():
            return path.lstat().st_size
        return sum(each.lstat().st_size for each in path.rglob("*") if not each.is_dir())
    except OSError:
        return 0  # It has just been removed, or belongs to another user.


_DRAFTS = (".[0-9]*.[0-9]*",)
"""The endings of a draft's name, after the file's name; a complete draft takes the file's place, see
:func:`exacell.core.paths.replace_file`."""

_CONFIG = (
    ("config.toml", "racks and settings", "what you wrote"),
    ("racks.d", "one file for each rack", "what you wrote; those of emulated racks come again"),
    ("recipes", "your recipes", "what you wrote"),
    ("aliases", "your aliases", "what you wrote"),
)
_STATE = (
    ("journal.*", "the journal: who changed what, when", "who changed what, and undo"),
    ("store.db*", "snapshots, baselines, kept plans, imports, experiments", "what you kept"),
    ("runs", "files and answers that runs of recipes kept", "what runs kept"),
    ("history", "what was typed at the prompt", "the prompt's history"),
    ("usage.json", "which words you type often, for completion", ""),
    ("tutorial.json", "how far you are in the tutorial", ""),
    ("guardians", "logs of processes that take a change back by themselves", ""),
    ("locks", "locks of emulated racks", ""),
    ("hold", "sockets and logs of holders of connections", ""),
    ("emulator", "emulated racks", "emulated racks; stop them first"),
    ("crash-*.txt", "details of mistakes in exacell itself, for a report", ""),
)
_CACHE = (
    ("names", "names of objects, for completion", ""),
    ("racks.marshal", "configured racks, for completion", ""),
    ("commands.pickle", "statements, for completion", ""),
    ("hung", "which cells did not answer in time", ""),
    ("releases", "which release each cell had", ""),
)
_HERE = ((".exacell[.-]*", "drafts beside the files of `> FILE` and `copy from`: those in this folder", ""),)
_TEMPORARY = (
    ("exacell-ssh-*", "settings and sockets for ssh, while it runs", ""),
    ("exacell-*.scl", "a line of the prompt, while an editor has it", ""),
    ("exacell-*.txt", "details of mistakes in exacell itself, where the other folder can't be written", ""),
)


def _unpacked() -> Path | None:
    """Return the pattern of the folders into which the one-file program unpacks itself; None for other installations."""
    folder = Path(sys.executable).parent.parent
    return folder.parent / "exacell-*" if (folder / "licences" / "CONTENTS").is_file() else None


def places(home: Home, locks: Sequence[Path]) -> Iterator[Place]:
    """Yield every place, even if nothing is there.

    Args:
        locks: the lock files of the configured racks.
    """
    here, temporary = Path.cwd(), Path(gettempdir())
    own = ((home.config_dir, _CONFIG), (home.state_dir, _STATE), (home.cache_dir, _CACHE))
    for folder, known in (*own, (here, _HERE), (temporary, _TEMPORARY)):
        for name, what, lost in known:
            yield Place(path=folder / name, what=what, lost=lost)
    if (program := _unpacked()) is not None:
        yield Place(path=program, what="the program, unpacked; it comes again at the next start")
    for lock in dict.fromkeys(locks):
        if home.state_dir not in lock.parents:
            yield Place(path=lock, what="who changes a rack now, for all users of this machine")
