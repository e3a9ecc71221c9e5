"""Read the data for a shell's completion from cache files: the declared statements, and the racks' names, cells and groups.

To import the statements and to read the configuration would take longer than all its other work."""

from __future__ import annotations

import marshal
import os
import pickle
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exacell.core.errors import ConfigError
from exacell.core.paths import Home, replace_file
from exacell.core.sharedfile import sure
from exacell.core.values import dataclass
from exacell.language.registry import MODULES, adopt, commands

if TYPE_CHECKING:
    from exacell.core.config import RackConfig


CELLIP = "/etc/oracle/cell/network-config/cellip.ora"
"""The same as in exacell.core.config, which is not imported here; a test compares the two."""

_FORM = 3
"""The format of the kept file; a file in another format is written again."""


@dataclass(frozen=True, kw_only=True)
class KeptRack:
    """The names of a rack that completion needs: ``groups`` maps ``@name`` without the @ to cells, ``asm`` names its ASM
    clusters, ``host_groups`` its groups of hosts."""

    name: str
    cells: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    asm: tuple[str, ...] = ()
    host_groups: tuple[str, ...] = ()
    host_names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class KeptRacks:
    """The racks by name, the default rack's name (empty: none), and the rack found on this host."""

    racks: Mapping[str, KeptRack]
    default: str = ""
    on_host: KeptRack | None = None

    def chosen(self, wanted: str) -> KeptRack | None:
        """Return the rack ``wanted``, else the default one, else the only one, else the host's; None if there is none."""
        if wanted or self.default:
            return self.racks.get(wanted or self.default)
        return next(iter(self.racks.values())) if len(self.racks) == 1 else self.on_host


def kept_racks(home: Home, env: Mapping[str, str], cellip: str = CELLIP) -> KeptRacks:
    """Return the configured racks, from the kept file if the source files have not changed since, else from the sources.

    A kept file that can't be read or written only costs time.

    Raises:
        ConfigError: the configuration can't be read.
    """
    sources = [str(home.config_file), *_rack_files(home), cellip, _cell_group(env)]
    stamp, path = [_FORM, *(_stamp(source) for source in sources)], home.cache_dir / "racks.marshal"
    try:
        status = path.stat()
        mine = status.st_uid == os.getuid() and not status.st_mode & 0o022
        kept = marshal.loads(sure(path).read_bytes()) if mine else None
    except (OSError, ValueError, TypeError, EOFError):
        kept = None
    if not isinstance(kept, dict) or kept.get("stamp") != stamp:
        kept = {"stamp": stamp, **_read(home, env, cellip)}
        _write(path, kept)
    on_host = kept["on_host"]
    return KeptRacks(
        racks={name: _rack(name, each) for name, each in kept["racks"].items()},
        default=env.get("EXACELL_RACK") or kept["default"],
        on_host=_rack(on_host["name"], on_host) if on_host else None,
    )


def _rack(name: str, kept: Mapping[str, Any]) -> KeptRack:
    return KeptRack(
        name=name,
        cells=tuple(kept["cells"]),
        groups=kept["groups"],
        asm=tuple(kept["asm"]),
        host_groups=tuple(kept["host_groups"]),
        host_names=tuple(kept["host_names"]),
    )


def _rack_files(home: Home) -> list[str]:
    directory = str(home.racks_dir)
    try:
        return sorted(os.path.join(directory, name) for name in os.listdir(directory) if name.endswith(".toml"))
    except OSError:
        return []


def _cell_group(env: Mapping[str, str]) -> str:
    return os.path.join(env.get("HOME") or os.path.expanduser("~"), "cell_group")


def _stamp(source: str) -> list[str | int]:
    try:
        status = os.stat(source)
    except OSError:
        return [source]
    return [source, status.st_mtime_ns, status.st_size]


def _read(home: Home, env: Mapping[str, str], cellip: str) -> dict[str, Any]:
    from exacell.core.config import Config, load
    from exacell.core.racks import Nearby, which_rack

    config = load(home, {})
    racks = {name: _kept(rack) for name, rack in config.racks.items()}
    found = None
    with suppress(ConfigError):  # No file on this host names cells.
        found = which_rack(Config(), env={}, nearby=Nearby(cellip=Path(cellip), cell_group=Path(_cell_group(env))))
    on_host = {"name": found.name, **_kept(found)} if found else None
    return {"default": config.default_rack, "racks": racks, "on_host": on_host}


def _kept(rack: RackConfig) -> dict[str, Any]:
    groups = {name: tuple(cells) for name, cells in rack.groups.items()}
    return {
        "cells": tuple(rack.cells),
        "host_groups": tuple(rack.host_groups),
        "host_names": rack.host_names,
        "groups": groups,
        "asm": tuple(rack.asm),
    }


def _write(path: Path, kept: dict[str, Any]) -> None:
    with suppress(OSError):
        replace_file(path, marshal.dumps(kept))


def use_kept(cache_dir: Path) -> None:
    """Load the statements of the kept file into the registry; a file that is missing or out of date is written again.

    The file is used only if it belongs to this user alone and holds the times and sizes of exactly these source files.
    A file that can't be read or written only costs time.
    """
    path, stamp = cache_dir / "commands.pickle", _sources()
    if not stamp:
        return
    try:
        status = path.stat()
        if status.st_uid == os.getuid() and not status.st_mode & 0o022:
            kept, ready = pickle.loads(sure(path).read_bytes())
            if kept == stamp:
                adopt(ready)
                return
    except (OSError, ValueError, TypeError, AttributeError, ImportError, EOFError, IndexError, pickle.UnpicklingError):
        pass  # The file is written again below.
    with suppress(OSError):
        replace_file(path, pickle.dumps((stamp, list(commands().values()))))


def _sources() -> tuple[tuple[str, int, int], ...]:
    """Return name, time and size of each source file that declares statements or is used for them; empty if one is
    missing."""
    here = Path(__file__).parents[2]
    tables = [here / "language" / "registry.py", here / "change" / "dcli" / "offered.py"]
    files = [*tables, *(here / "commands" / "declared" / f"{name}.py" for name in MODULES)]
    try:
        statuses = [(path, path.stat()) for path in files]
    except OSError:
        return ()
    return tuple((str(path), status.st_mtime_ns, status.st_size) for path, status in statuses)
