"""Lists of cells in files: dcli's group files and a database node's cellip.ora.

A group file has one target a line; blanks around it, empty lines and lines that start with ``#`` do not count, and a
``#`` behind a name is no comment (dcli would send it to a shell), so it is an error here. A folded name such as
``exa1cel[01-03]`` is accepted too. Source: dcli 1.4 to 3.5 as run, reference dcli.md section 3.
"""

from __future__ import annotations

import re
from pathlib import Path

from exacell.core.cellset import CellSet
from exacell.core.errors import CellSetError, ConfigError, why_unreadable

_HOST = re.compile(r"[A-Za-z0-9_.:\[\],-]+")
_WITH_LOGIN = re.compile(rf"(?:[A-Za-z0-9_.-]+@)?{_HOST.pattern}")
_CELLIP = re.compile(r"""cell\s*=\s*"([^"]*)"\s*""", re.IGNORECASE)


def parse_group_file(text: str, source: str, *, logins: bool = False) -> tuple[str, ...]:
    """Return the names in a group file in file order, without repeats.

    Args:
        logins: whether ``user@host`` is a name, too.

    Raises:
        ConfigError: a line is no host name, or there is no name at all.
    """
    names: dict[str, None] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if not (_WITH_LOGIN if logins else _HOST).fullmatch(line):
            raise ConfigError(
                f"{source}:{number}: '{line}' is not a host name: one name a line, comments on lines of their own, the "
                "login with -l"
            )
        try:
            names.update(dict.fromkeys(CellSet.parse(line) if "[" in line else (line,)))
        except CellSetError as error:
            raise ConfigError(f"{source}:{number}: {error.message}") from error
    if not names:
        raise ConfigError(f"{source} names no cell: put one name on each line")
    return tuple(names)


def parse_cellip(text: str, source: str) -> tuple[str, ...]:
    """Return the cells of a cellip.ora in file order, the first address of each.

    Lines have the form ``cell="192.168.10.3"`` or ``cell="192.168.10.3;192.168.10.4"``, a cell's two addresses. Source:
    reference asm.md, section on asm_diskstring.

    Raises:
        ConfigError: a line has another form, or there is none.
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
        raise ConfigError(f"{source} names no cell")
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
