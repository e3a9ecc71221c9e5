"""What is known of an emulated rack from outside, and the configuration file with which ``-r NAME`` uses it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.names import GRID_HOME, fold
from exacell.emulator.basics.store import rack_files, write_text


@dataclass(frozen=True, kw_only=True)
class AsmInfo:
    """One ASM cluster of an emulated rack."""

    name: str
    nodes: tuple[str, ...]
    databases: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RackInfo:
    """Information about an emulated rack.

    Attributes:
        speed: rack seconds that pass in one wall second.
        ssh_config: the file with which ssh, scp and sftp reach the rack's hosts.
        started: when the running process started, ISO 8601; empty when it does not run.
        down: the hosts that are switched off or are starting.
        no_shells: why the running rack's hosts have no shells; empty if they have shells.
    """

    name: str
    running: bool
    pid: int | None
    cells: tuple[str, ...]
    dbnodes: tuple[str, ...]
    databases: tuple[str, ...]
    asm: tuple[AsmInfo, ...]
    model: str
    release: str
    mode: str
    speed: float
    seed: int
    ssh_config: Path
    started: str
    down: tuple[str, ...]
    no_shells: str


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
