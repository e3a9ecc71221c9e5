"""Which targets a dcli command line means, in dcli's order: the group file first, then ``-c``, the first of equals wins.

Besides dcli's plain names, folded ones (``exa1cel[01-14]``) and the rack's groups (``@all``) are taken.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from exacell.change.dcli.options import DcliOptions, environment_error
from exacell.core.cellset import CellSet
from exacell.core.errors import CellSetError, ConfigError
from exacell.core.groupfile import parse_group_file
from exacell.core.values import dataclass

_HOST = re.compile(r"[A-Za-z0-9_.:@%-]+")


@dataclass(frozen=True, kw_only=True)
class Target:
    """One target: ``label`` as it was written, which stands before its lines, and the ``host`` that is connected to.

    The host is empty where a name is missing between commas: nothing can be reached there.
    """

    label: str
    host: str


def targets_of(options: DcliOptions, resolve: Callable[[str], Iterable[str]]) -> tuple[Target, ...]:
    """Return the targets in order without repeats; empty when none is named.

    Args:
        resolve: returns the members of ``@group``.

    Raises:
        DcliExit: the group file can't be read, or a name is no host name.
    """
    try:
        labels = [*_from_file(options.group_file), *_from_list(options.hosts, resolve)]
    except (ConfigError, CellSetError) as error:
        raise environment_error(error.message) from error
    return tuple(Target(label=label, host=_host(label)) for label in dict.fromkeys(labels))


def target(name: str) -> Target:
    """Return the target that ``name`` alone means."""
    return Target(label=name, host=_host(name))


def _host(label: str) -> str:
    # The login of -l wins over the one in user@host, as with ssh. Source: reference dcli.md, section 3.
    return label.rpartition("@")[2]


def _from_file(name: str) -> tuple[str, ...]:
    if not name:
        return ()
    try:
        text = Path(name).expanduser().read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise ConfigError(f"the group file {name} can't be read: {error.strerror}") from error
    lines = [line.strip() for line in text.splitlines()]
    if not any(line and not line.startswith("#") for line in lines):
        return ()
    return parse_group_file(text, name, logins=True)


def _from_list(values: Iterable[str], resolve: Callable[[str], Iterable[str]]) -> Iterator[str]:
    for value in filter(None, values):
        for item in _items(value):
            if not item:
                yield item
            elif item.startswith("@"):
                yield from resolve(item)
            elif "[" in item and not _is_address(item):
                yield from CellSet.parse(item)
            elif _HOST.fullmatch(item):
                yield item
            else:
                raise ConfigError(f"'{item}' is not a host name")


def _items(value: str) -> Iterator[str]:
    """Yield the stripped items between commas outside of brackets; empty ones are targets, too, that nobody can reach."""
    return (item.strip() for item in re.split(r",(?![^\[]*\])", value))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return False
    return True
