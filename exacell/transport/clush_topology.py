"""The hosts between this one and the cells, as ClusterShell's tree wants them. Imports ClusterShell."""

from __future__ import annotations

import os
import shlex
import socket
from collections.abc import Sequence

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet
from ClusterShell.Topology import TopologyError, TopologyGraph, TopologyParser, TopologyTree

from exacell.core.config import RackConfig
from exacell.core.errors import ConfigError


def ssh_script(rack: RackConfig, gateways: Sequence[str], user: str) -> str:
    """Return the shell script that ClusterShell runs as ssh, here and on the gateways.

    A login is ClusterShell's for all hosts; so it is put in here, for cells only: who logs in on the gateways is what
    ssh_config says. The rack's own ssh_config counts wherever its file is.
    """
    config = str(rack.ssh_config) if rack.ssh_config else ""
    file = shlex.quote(config)
    use = f'[ -r {file} ] && set -- -F {file} "$@"; ' if config else ""
    gateways = "|".join(shlex.quote(gateway) for gateway in gateways) or "''"
    return (
        "host=; word=; for next do host=$word; word=$next; done; "
        f'case $host in {gateways}) ;; *) set -- -l {shlex.quote(user)} "$@" ;; esac; {use}exec ssh "$@"'
    )


def read_topology(rack: RackConfig) -> TopologyTree | None:
    """Return the tree from this host over the rack's gateways to its cells; None when it names neither them nor a file.

    Raises:
        ConfigError: the file is not there, or ClusterShell can't make a tree of what is said.
    """
    if not (rack.reach.gateways or rack.reach.topology):
        return None
    root = socket.gethostname().split(".")[0]
    try:
        if rack.reach.topology:
            path = os.path.expanduser(rack.reach.topology)
            if not os.path.isfile(path):
                raise ConfigError(
                    f"rack {rack.name}: the topology file {path} is not there",
                    hint="mend topology in the rack's configuration",
                )
            return TopologyParser(path).tree(root)
        graph = TopologyGraph()
        gateways = NodeSet.fromlist(rack.reach.gateways, resolver=RESOLVER_NOGROUP)
        graph.add_route(NodeSet(root, resolver=RESOLVER_NOGROUP), gateways)
        graph.add_route(gateways, NodeSet.fromlist(rack.cells, resolver=RESOLVER_NOGROUP))
        return graph.to_tree(root)
    except TopologyError as error:
        raise ConfigError(
            f"rack {rack.name}: ClusterShell can't make a tree of its gateways: {error}",
            hint="mend gateways or topology in the rack's configuration",
        ) from error


def gateway_names(rack: RackConfig, topology: TopologyTree | None) -> tuple[str, ...]:
    """Return the hosts of the tree between this one and the cells; empty without a tree."""
    if rack.reach.gateways or topology is None:
        return rack.reach.gateways
    inner = [group for group in topology.groups if group.children() and group.parent is not None]
    return tuple(str(name) for group in inner for name in group.nodeset)
