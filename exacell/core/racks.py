"""Find the rack of a command line: by its name, by its cells, or by files of this host that name cells.

:func:`which_rack` tries these ways in a fixed order. The files are dcli's group files and a database node's cellip.ora. A
group file has one target per line; blanks around it, empty lines and lines that start with ``#`` are ignored. A ``#`` after a
name is an error, because dcli does not treat it as a comment and would send it to a shell. A folded name such as
``exa1cel[01-03]`` is accepted, too. Source: dcli 1.4 to 3.5 as run, reference dcli.md section 3.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from exacell.core.cellset import CellSet, known_as
from exacell.core.config import RACK_NAME, Config, RackConfig
from exacell.core.errors import CellSetError, ConfigError, why_unreadable
from exacell.core.meant import closest, did_you_mean
from exacell.core.patterns import pattern
from exacell.core.values import dataclass

_HOST = pattern(r"[A-Za-z0-9_.:\[\],-]+")
_WITH_LOGIN = pattern(rf"(?:[A-Za-z0-9_.-]+@)?{_HOST.pattern}")
_CELLIP = pattern(r"""cell\s*=\s*"([^"]*)"\s*""", re.IGNORECASE)


def parse_group_file(text: str, source: str, *, logins: bool = False) -> tuple[str, ...]:
    """Return the names in a group file, in file order and without repeats.

    Args:
        logins: whether ``user@host`` is allowed as a name.

    Raises:
        ConfigError: a line is not a host name, or there are no names.
    """
    names: dict[str, None] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if not (_WITH_LOGIN if logins else _HOST).fullmatch(line):
            raise ConfigError(
                f"{source}:{number}: '{line}' is not a host name: write one name on each line and comments on "
                "separate lines; -l gives the login"
            )
        try:
            names.update(dict.fromkeys(CellSet.parse(line) if "[" in line else (line,)))
        except CellSetError as error:
            raise ConfigError(f"{source}:{number}: {error.message}") from error
    if not names:
        raise ConfigError(f"{source} names no cell: write one name on each line")
    return tuple(names)


def parse_cellip(text: str, source: str) -> tuple[str, ...]:
    """Return the cells of a cellip.ora in file order, the first address of each.

    Lines have the form ``cell="192.168.10.3"`` or ``cell="192.168.10.3;192.168.10.4"``, a cell's two addresses. Source:
    reference asm.md, section on asm_diskstring.

    Raises:
        ConfigError: a line has another form, or there are no lines.
    """
    cells: dict[str, None] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        match = _CELLIP.fullmatch(line)
        address = match[1].split(";")[0].strip() if match else ""
        if not _HOST.fullmatch(address):
            raise ConfigError(f"{source}:{number}: '{line}' is not of the form cell=\"192.168.10.3;192.168.10.4\"")
        cells[address] = None
    if not cells:
        raise ConfigError(f"{source} names no cell", hint='write a line for each: cell="192.168.10.3;192.168.10.4"')
    return tuple(cells)


def read_group_file(path: Path) -> tuple[str, ...]:
    """Return the names in the group file at ``path``; see :func:`parse_group_file`."""
    return parse_group_file(_text(path), str(path))


def read_cellip(path: Path) -> tuple[str, ...]:
    """Return the cells in the cellip.ora at ``path``; see :func:`parse_cellip`."""
    return parse_cellip(_text(path), str(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {why_unreadable(error)}") from error


_FEW_RACKS = 3

CELLIP_PATH = Path("/etc/oracle/cell/network-config/cellip.ora")
"""The file in which a database node lists its cells; other hosts don't have it. Source: Oracle SAGUG, "Configuring cells for
ASM".
"""


def named_cells(cells: str | None, group_file: Path | None) -> tuple[str, ...]:
    """Return the cells of ``-g`` and ``-c`` together: the file first, then the list, without repeats, as dcli does.

    Raises:
        ConfigError: the file can't be read, or a line in it is not a host name.
        CellSetError: ``cells`` is not a cell set.
    """
    listed = read_group_file(group_file) if group_file is not None else ()
    return tuple(dict.fromkeys((*listed, *(CellSet.parse(cells) if cells is not None else ()))))


class NoRackError(ConfigError):
    """No rack is given; the message names the ways to choose one on the command line."""


def way_to_a_rack(names: Iterable[str]) -> str:
    """Return how to choose one of the configured racks at the prompt."""
    known = sorted(names)
    if not known:
        return (
            "type `emulator start demo`, then `connect demo`, for a rack to try it on; `help docs "
            "config.example` shows how to describe your own"
        )
    if len(known) <= _FEW_RACKS:
        return " or ".join(f"connect {name}" for name in known)
    return f"connect one of {', '.join(known)}"


@dataclass(frozen=True, kw_only=True)
class Nearby:
    """Files of this host that name cells: ``cellip.ora`` of a database node, and ``cell_group`` (None: the one in HOME)."""

    cellip: Path = CELLIP_PATH
    cell_group: Path | None = None


_NEARBY = Nearby()


def which_rack(
    config: Config,
    *,
    rack: str | None = None,
    cells: str | None = None,
    group_file: Path | None = None,
    env: Mapping[str, str] | None = None,
    nearby: Nearby = _NEARBY,
    login: str | None = None,
    ssh_config: Path | None = None,
) -> RackConfig:
    """Return the rack that the command line selects.

    In this order: ``rack`` (-r); EXACELL_RACK or ``default_rack``, unless ``cells`` or ``group_file`` name a cell that
    it does not have; the cells named by ``cells`` (-c) and ``group_file`` (-g); the cells in ``cellip.ora`` of
    a database node; those in ``~/cell_group``. Named cells belong to the configured rack that contains them, with its marks and
    its lock; if no rack contains them, they become a rack of their own. :func:`named_cells` returns the selected cells within the
    rack.

    Args:
        env: environment with EXACELL_RACK and HOME. Default: the process environment.
        nearby: the files of this host that name cells.
        login: the login on all cells, for reads and writes (-l).
        ssh_config: replaces the rack's own (--ssh-config).

    Raises:
        ConfigError: there is no such rack, a named cell is not in the given rack, the named cells belong to more than one
            configured rack, or nothing selects a rack.
    """
    variables = os.environ if env is None else env
    names = named_cells(cells, group_file)
    found = _chosen(config, rack or "", variables.get("EXACELL_RACK") or config.default_rack, names)
    if found is None and names:
        found = _owner(config, names) or RackConfig(name="cells", cells=names, source="-c/-g")
    if found is None:
        cellip_path = nearby.cellip
        home_group = nearby.cell_group or Path(variables.get("HOME") or os.path.expanduser("~")) / "cell_group"
        found = _found_on_host(config, cellip_path, home_group)
    if found is None:
        raise NoRackError(
            "no rack is chosen: give -r RACK, set EXACELL_RACK or default_rack in config.toml, name cells with -c or "
            f"-g, or have {cellip_path} or {home_group}",
            hint="to try it without cells, type `exacell demo`" if not config.racks else _known(config),
        )
    if login:
        found = replace(found, read_user=login, write_user=login)
    return replace(found, ssh_config=ssh_config) if ssh_config is not None else found


def _chosen(config: Config, wanted: str, default: str, names: tuple[str, ...]) -> RackConfig | None:
    """Return the rack that is asked for; if none is, the default rack, provided that it has all ``names``."""
    name = wanted or default
    if not name or (not wanted and names and name not in config.racks):
        return None
    if name in config.partial:
        raise ConfigError(
            f"config.toml mentions rack {name}, but its cells are neither there nor in a file in racks.d",
            hint=f'if it is an emulated rack, type `exacell emulator start {name}`; else set cells = "…" in '
            f"[racks.{name}]",
        )
    if name not in config.racks:
        known = _known(config) or "no rack is configured"
        raise ConfigError(f"there is no rack {name}; {known}", hint=_closest(config, name))
    rack = config.racks[name]
    strangers = CellSet(_as_known(names, rack)) - CellSet((*rack.cells, *rack.dbnodes))
    if strangers and wanted:
        raise ConfigError(f"rack {name} has no {strangers}; its cells are {CellSet(rack.cells)}")
    return None if strangers else rack


def _as_known(names: Iterable[str], rack: RackConfig) -> tuple[str, ...]:
    """Return names in the rack's spelling: short or in full."""
    return tuple(known_as(name, (*rack.cells, *rack.dbnodes)) for name in names)


def _owner(config: Config, names: tuple[str, ...]) -> RackConfig | None:
    """Return the configured rack that has all ``names``; None if no rack has any of them.

    Emulated racks are skipped, since their names may be those of a real rack; they must be selected by name.

    Raises:
        ConfigError: several racks have them, or a rack has only some of them.
    """
    racks = [
        rack
        for rack in config.racks.values()
        if not rack.emulated and {*rack.cells, *rack.dbnodes} & {*_as_known(names, rack)}
    ]
    if not racks:
        return None
    known = ", ".join(sorted(rack.name for rack in racks))
    names = _as_known(names, racks[0])
    strangers = CellSet(names) - CellSet((*racks[0].cells, *racks[0].dbnodes))
    if len(racks) > 1:
        raise ConfigError(
            f"{CellSet(names)} belong to several racks: {known}; a statement goes to one rack",
            hint="choose one: -r RACK",
        )
    if strangers:
        mine = CellSet(names) - strangers
        raise ConfigError(
            f"{mine} is in rack {known}, {strangers} is not; a statement goes to one rack",
            hint=f"-c '{mine}' and -c '{strangers}', one after the other",
        )
    return racks[0]


def _found_on_host(config: Config, cellip_path: Path, cell_group_path: Path) -> RackConfig | None:
    """Return the rack that the files of a database node name; None if there are no such files.

    Raises:
        ConfigError: they name some but not all cells of a configured rack.
    """
    if cellip_path.is_file():
        found = RackConfig(name="cellip", cells=read_cellip(cellip_path), source=str(cellip_path))
    elif cell_group_path.is_file():
        found = RackConfig(name="cell_group", cells=read_group_file(cell_group_path), source=str(cell_group_path))
    else:
        return None
    owner = _owner(config, found.cells)
    if owner is not None and {*owner.cells} != {*_as_known(found.cells, owner)}:
        raise ConfigError(
            f"{found.source} names {CellSet(found.cells)}, which is not all of rack {owner.name}",
            hint=f"for the whole rack, give -r {owner.name}",
        )
    return owner or found


def _known(config: Config) -> str:
    return f"configured racks: {', '.join(sorted(config.racks))}" if config.racks else ""


def _closest(config: Config, name: str) -> str:
    # In a name of two letters, one different letter may be a slip or mean another rack.
    close = closest(name, config.racks, limit=1, alike=0.6 if len(name) > 2 else 0.5)
    asked = [did_you_mean(close)] if close else []
    if RACK_NAME.fullmatch(name) and (not close or len(name) <= 2):
        asked.append(f"if it is an emulated rack, start it: `exacell emulator start {name}`")
    return " ".join(asked)
