"""The instance to which a session is connected: the ASM instance of a node, or a database's instance there."""

from __future__ import annotations

from dataclasses import dataclass

from exacell.emulator.asm.instance import Asm
from exacell.emulator.io.device_io import share
from exacell.emulator.storage.databases import Database


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One running instance: the ASM of a node, or a database's instance there.

    Attributes:
        sid: number of the session that asks; 0 if no particular session does.
    """

    asm: Asm
    node: int
    database: Database | None = None
    sid: int = 0

    @property
    def name(self) -> str:
        """Return the instance's name, which is its ORACLE_SID."""
        return f"{self.database.name if self.database else '+ASM'}{self.node + 1}"

    def counted(self) -> dict[str, float]:
        """Return the instance's statistics: its even share of the database's common ones, and those that it counts itself."""
        if self.database is None:
            return {}
        nodes = self.asm.nodes
        shared = {
            name: share(value, self.node, len(nodes)) for name, value in self.asm.statistics(self.database).items()
        }
        own = self.asm.own_statistics(self.database, nodes[self.node])
        return {
            name: shared.get(name, 0) + own.get(name, 0) for name in (*shared, *(n for n in own if n not in shared))
        }

    @property
    def started(self) -> float:
        """Return the rack time at which it started."""
        return self.database.started if self.database else self.asm.started
