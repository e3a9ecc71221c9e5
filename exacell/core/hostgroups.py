"""Groups of hosts that are not cells, from a rack's configuration: database nodes, initiators, load clients.

exacell reaches a group's hosts over SSH as the group's user. They have no CellCLI.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from exacell.core.cellset import CellSet
from exacell.core.errors import ConfigError
from exacell.core.toml_table import TomlTable
from exacell.core.values import dataclass

DB = "db"
"""The group that every rack with database nodes has."""

TAKEN = ("all", "cells", "ok", "failed", "up", "down")
"""Names of groups of cells that every rack has; a group of hosts can't have such a name."""


FACT_KINDS = ("kernel", "cpu", "numa", "block", "scsi", "multipath", "iscsi", "net", "irq", "module")
"""Kinds of facts about a host, in the order in which they are shown."""


@dataclass(frozen=True, kw_only=True)
class HostGroup:
    """One group of hosts.

    Attributes:
        nodes: names in the order of the configuration, as ssh resolves them.
        user: the user who logs in; with ``sudo``, the user to whom the login changes with ``sudo -n -u``; empty: as in
            ssh_config.
        allow_commands: names of opaque commands that may run on these hosts even on a production rack.
    """

    name: str
    nodes: tuple[str, ...]
    user: str = ""
    sudo: bool = False
    allow_commands: tuple[str, ...] = ()


def read_host_groups(
    tables: Mapping[str, TomlTable], *, dbnodes: tuple[str, ...], cells: tuple[str, ...], groups: Iterable[str]
) -> Mapping[str, HostGroup]:
    """Return the groups of hosts in a rack's ``[hosts.NAME]`` tables, by name.

    Args:
        dbnodes: the rack's database nodes, which are the group ``db``.
        cells: the rack's cells.
        groups: the names of the rack's groups of cells.

    Raises:
        ConfigError: a group has no hosts or the name of a group of cells, or a host is a cell or has two logins.
    """
    found: dict[str, HostGroup] = {}
    for name, table in tables.items():
        if name in TAKEN or name in groups:
            raise ConfigError(f"{table.where}: @{name} is a group of cells already: give the hosts another name")
        nodes = table.names("nodes")
        if name == DB and dbnodes:
            if nodes and set(nodes) != set(dbnodes):
                raise ConfigError(f"{table.where}: @{DB} always means the dbnodes: leave nodes out")
            nodes = dbnodes
        if not nodes:
            raise ConfigError(f'{table.where}: group {name} has no hosts: set nodes = "ini[1-2]"')
        both = CellSet(nodes) & CellSet(cells)
        if both:
            raise ConfigError(
                f"{table.where}: {both} is a cell of the rack, so it can't be a host of group {name}",
                hint="remove it from one of the two",
            )
        found[name] = HostGroup(
            name=name,
            nodes=nodes,
            user=table.text("user", ""),
            sudo=table.flag("sudo", False),
            allow_commands=table.texts("allow_commands"),
        )
        if found[name].sudo and not found[name].user:
            raise ConfigError(f'{table.where}: sudo = true needs a user to become: user = "root"')
        table.finish()
        _refuse_two_logins(found, name, table.where)
    return MappingProxyType(found)


def _refuse_two_logins(found: Mapping[str, HostGroup], name: str, where: str) -> None:
    new = found[name]
    for other in found.values():
        both = CellSet(new.nodes) & CellSet(other.nodes)
        if both and (new.user, new.sudo) != (other.user, other.sudo):
            raise ConfigError(
                f"{where}: {both} is in the groups {other.name} and {name}, which log in differently: give both "
                "the same user and sudo"
            )
