"""The directories of exacell's files: below EXACELL_HOME if it is set, otherwise the XDG base directories.

Nothing is read or written on import; :func:`ensure_dir` creates directories (0700) when something is written. Source: XDG Base
Directory Specification 0.8, "Environment variables": relative values are ignored.
"""

from __future__ import annotations

import os
from _thread import get_ident  # The function that threading exports under this name; this module must load fast.
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from exacell.core.errors import ConfigError
from exacell.core.values import dataclass

_PRIVATE = 0o700
_OWN = 0o600


def at_home(name: str | Path) -> Path:
    """Return the path with a ``~`` or ``~user`` at its beginning replaced; unchanged if there is no such user, as in a shell.

    ``Path.expanduser`` would raise an error instead.
    """
    return Path(os.path.expanduser(name))


@dataclass(frozen=True, kw_only=True)
class Home:
    """The three directories of one user's exacell; all are the same if EXACELL_HOME is set.

    Attributes:
        config_dir: files that the user writes: ``config.toml``, ``racks.d/``, own recipes.
        state_dir: data that must not be lost: journal, snapshots, history, emulated racks.
        cache_dir: data that can be read again: names for completion.
    """

    config_dir: Path
    state_dir: Path
    cache_dir: Path

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> Home:
        """Return the directories for ``env`` (default: the process environment); creates nothing.

        Raises:
            ConfigError: the user has no home directory, and EXACELL_HOME is not set.
        """
        variables = os.environ if env is None else env
        own = variables.get("EXACELL_HOME", "")
        if own:
            root = Path(os.path.abspath(os.path.expanduser(own)))
            return cls(config_dir=root, state_dir=root, cache_dir=root)
        return cls(
            config_dir=_xdg(variables, "XDG_CONFIG_HOME", ".config"),
            state_dir=_xdg(variables, "XDG_STATE_HOME", ".local/state"),
            cache_dir=_xdg(variables, "XDG_CACHE_HOME", ".cache"),
        )

    @property
    def config_file(self) -> Path:
        """Return the path of the user's configuration, which need not exist."""
        return self.config_dir / "config.toml"

    @property
    def racks_dir(self) -> Path:
        """Return the directory with one ``<rack>.toml`` per rack, as ``emulator start`` writes them; it need not exist."""
        return self.config_dir / "racks.d"

    @property
    def recipes_dir(self) -> Path:
        """Return the directory of the user's own recipes, which need not exist."""
        return self.config_dir / "recipes"


def _xdg(env: Mapping[str, str], variable: str, default: str) -> Path:
    value = env.get(variable, "")
    if os.path.isabs(value):
        return Path(value) / "exacell"
    home = env.get("HOME", "") or os.path.expanduser("~")
    if home == "~":
        raise ConfigError(
            f"user {os.geteuid()} has no home folder: HOME is not set, and this machine has no entry for the user",
            hint="set EXACELL_HOME to a folder of yours",
        )
    return Path(home) / default / "exacell"


def ensure_dir(path: Path) -> Path:
    """Create ``path`` and its missing parent directories, each readable by its owner only; return ``path``."""
    missing = [directory for directory in (path, *path.parents) if not directory.exists()]
    for directory in reversed(missing):
        directory.mkdir(mode=_PRIVATE, exist_ok=True)
    return path


def replace_file(path: Path, content: str | bytes, *, synced: bool = False) -> os.stat_result:
    """Replace a file's content and return the file's status; a reader sees the old or the new content, never a part.

    The file is readable by its owner only. If it can't be written, the old file is unchanged and no other file is left.

    Args:
        synced: whether the content must survive a power cut; for data that can't be created again.

    Raises:
        OSError: the file can't be written.
    """
    path = Path(os.path.realpath(path))  # A link stays a link.
    ensure_dir(path.parent)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{get_ident()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _OWN)
        with open(descriptor, "wb") as stream:
            os.fchmod(descriptor, _OWN)  # Independent of the umask.
            stream.write(content.encode() if isinstance(content, str) else content)
            if synced:
                stream.flush()
                os.fsync(descriptor)
        status = temporary.stat()
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
    return status
