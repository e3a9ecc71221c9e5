"""The configuration file with which ``-r NAME`` uses an emulated rack."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from exacell.core.errors import EmulatorError
from exacell.emulator.names import GRID_HOME, fold
from exacell.emulator.store import rack_files, write_text

if TYPE_CHECKING:
    from exacell.emulator.control import RackInfo


def rack_file(home: Path, name: str) -> Path:
    """Return the path of the configuration file with which ``-r name`` uses the emulated rack; it is written at every start."""
    return Path(os.path.abspath(home)) / "racks.d" / f"{name}.toml"


def refuse_real_rack(home: Path, name: str) -> None:
    """Raise EmulatorError if a configuration file of that name describes a real rack.

    Raises:
        EmulatorError: the file describes a real rack, or can't be read.
    """
    import tomllib

    path = rack_file(home, name)
    try:
        described = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except ValueError as error:
        raise EmulatorError(f"{path} can't be read: {error}", hint="mend or remove it") from error
    if described.get("emulated") is not True:
        raise EmulatorError(f"{path} describes a real rack: an emulated one needs another name than {name}")


def write_rack_file(home: Path, info: RackInfo) -> None:
    """Write the configuration file of an emulated rack: its hosts, its ASM clusters, and the way to them by ssh."""
    lines = [
        f"# The emulated rack {info.name}; written at every start of it.",
        f"cells = {json.dumps(fold(info.cells))}",
    ]
    if info.dbnodes:
        lines.append(f"dbnodes = {json.dumps(fold(info.dbnodes))}")
    lines += [f"ssh_config = {json.dumps(str(info.ssh_config), ensure_ascii=False)}", "emulated = true"]
    # Oracle's own programs for the rack, for `set transport dcli` and `set transport exacli`.
    programs = rack_files(home, info.name).bin("path")
    jar = rack_files(home, info.name).root / "cookies"
    for key, path in (("dcli", programs / "dcli"), ("exacli", programs / "exacli"), ("cookie_jar", jar)):
        lines.append(f"{key} = {json.dumps(str(path), ensure_ascii=False)}")
    for cluster in info.asm:
        lines += [
            "",
            f"[asm.{cluster.name}]",
            f"nodes = {json.dumps(fold(cluster.nodes))}",
            f"home = {json.dumps(GRID_HOME)}",
            'sid = "+ASM1"',
            'user = "grid"',
            f"databases = {json.dumps(list(cluster.databases))}",
        ]
    path = rack_file(home, info.name)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_text(path, "\n".join(lines) + "\n")
