"""The ASM clusters that share the cells of one rack, with the database nodes, databases and grid disks of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exacell.core.errors import EmulatorError

ONLY = "main"
"""Name of the cluster on a rack that has only one."""
MOST = 8


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """One ASM cluster.

    Attributes:
        name: its name in ``asm=``.
        key: the name in availableTo under which cells know it.
        suffix: the ending of its disk groups' names, C1 in DATAC1. Empty if there is only one cluster.
        databases: those that run on its nodes.
    """

    name: str
    key: str
    suffix: str
    nodes: tuple[str, ...]
    databases: tuple[str, ...]

    @property
    def data(self) -> str:
        """Return the name of the disk group for data files, which is also the prefix of its grid disks."""
        return f"DATA{self.suffix}"

    @property
    def reco(self) -> str:
        """Return the name of the disk group for recovery files, which is also the prefix of its grid disks."""
        return f"RECO{self.suffix}"

    @property
    def clients(self) -> tuple[str, ...]:
        """Return the availableTo of its grid disks; with only one cluster it is empty: all clients may use them."""
        return (self.key,) if self.suffix else ()

    def instances(self) -> dict[str, list[str]]:
        """Return the SIDs that run on each node."""
        return {
            node: [f"{name}{number}" for name in ("+ASM", *(database.upper() for database in self.databases))]
            for number, node in enumerate(self.nodes, start=1)
        }

    def may_use(self, available_to: Sequence[str]) -> bool:
        """Return whether the cluster may use a grid disk with this availableTo.

        Source: Oracle SAGUG, create-griddisk, availableTo: the clients that may use the grid disk; all when it is not set.
        """
        return not available_to or self.key.lower() in (client.lower() for client in available_to)


def make_clusters(count: int, nodes: Sequence[str], databases: Sequence[str]) -> tuple[Cluster, ...]:
    """Divide database nodes (in order) and databases (in turn) among ``count`` clusters, and return the clusters.

    Raises:
        EmulatorError: ``count`` is larger than the number of nodes, or than eight.
    """
    if not 1 <= count <= min(MOST, len(nodes)):
        raise EmulatorError(
            f"clusters={count} is not possible: 1 to {MOST}, and each needs a database node, of which there are {len(nodes)}"
        )
    if count == 1:
        only = Cluster(name=ONLY, key="+asm", suffix="", nodes=tuple(nodes), databases=tuple(databases))
        return (only,)
    each, more = divmod(len(nodes), count)
    found: list[Cluster] = []
    first = 0
    for number in range(count):
        last = first + each + (number < more)
        found.append(
            Cluster(
                name=f"c{number + 1}",
                key=f"c{number + 1}",
                suffix=f"C{number + 1}",
                nodes=tuple(nodes[first:last]),
                databases=tuple(databases[number::count]),
            )
        )
        first = last
    return tuple(found)
