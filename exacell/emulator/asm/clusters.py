"""All ASM clusters of a rack together: what its cells know of them, and to which cluster a database node belongs.

The headers on the grid disks are shared by all clusters; everything else belongs to one cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exacell.core.errors import EmulatorError
from exacell.emulator.asm.default import new_asm
from exacell.emulator.asm.instance import Asm
from exacell.emulator.state.asm_view import AsmDiskView
from exacell.emulator.storage.disk_groups import Header
from exacell.emulator.work.sessions import WorkingRack


class AsmClusters:
    """The clusters of one rack, by name in their order; at least one."""

    def __init__(self, rack: WorkingRack, clusters: Mapping[str, Asm]) -> None:
        """Attach the clusters to the rack."""
        self._clusters = dict(clusters)
        rack.asm = self if len(self._clusters) > 1 else self.all[0]

    @classmethod
    def default(cls, rack: WorkingRack) -> AsmClusters:
        """Return the clusters of a new rack, with disk groups, databases and files."""
        headers: dict[tuple[str, str], Header] = {}
        return cls(rack, {cluster.name: new_asm(rack, cluster, headers) for cluster in rack.clusters})

    @classmethod
    def from_states(cls, rack: WorkingRack, states: Mapping[str, dict[str, Any]]) -> AsmClusters:
        """Return the clusters that :meth:`to_states` stored."""
        headers: dict[tuple[str, str], Header] = {}
        return cls(rack, {c.name: Asm.from_state(rack, states[c.name], c, headers) for c in rack.clusters})

    def to_states(self) -> dict[str, dict[str, Any]]:
        """Return each cluster as JSON-able data."""
        return {name: asm.to_state() for name, asm in self._clusters.items()}

    @property
    def all(self) -> tuple[Asm, ...]:
        """Return the clusters."""
        return tuple(self._clusters.values())

    def of_node(self, node: str) -> Asm:
        """Return the cluster of a database node.

        Raises:
            EmulatorError: no cluster has such a node.
        """
        for asm in self.all:
            if node in asm.nodes:
                return asm
        raise EmulatorError(
            f"{node} is a node of no ASM cluster", hint="its clusters were told with clusters= at the start"
        )

    def disk(self, cell: str, griddisk: str) -> AsmDiskView | None:
        """Return what the cluster that uses a grid disk knows of it; if none uses it, what the cluster that last did knows."""
        views = [view for asm in self.all if (view := asm.disk(cell, griddisk)) is not None]
        return next((view for view in views if view.mode_status != "DROPPED"), views[0] if views else None)

    def grid_disk_changed(self, cell: str, griddisk: str, what: str) -> None:
        """Report the change of a grid disk to every cluster, first to the one that uses it."""
        for asm in sorted(self.all, key=lambda asm: not asm.uses(cell, griddisk)):
            asm.grid_disk_changed(cell, griddisk, what)
