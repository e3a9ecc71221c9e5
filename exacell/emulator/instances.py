"""Which instance a session is connected to: the ASM of a node, or a database's instance there."""

from __future__ import annotations

from dataclasses import dataclass

from exacell.emulator.asm.instance import Asm
from exacell.emulator.databases import Database


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One running instance: the ASM of a node, or a database's instance there."""

    asm: Asm
    node: int
    database: Database | None = None

    @property
    def name(self) -> str:
        """The instance's name, which is its ORACLE_SID."""
        return f"{self.database.name if self.database else '+ASM'}{self.node + 1}"

    @property
    def started(self) -> float:
        """Rack time of its start."""
        return self.database.started if self.database else self.asm.started
