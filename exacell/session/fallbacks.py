"""What reads have to do without on some cells, said once a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.core.cellset import fold

if TYPE_CHECKING:
    # Imported where they are used: the prompt stands before most of this is loaded.
    from exacell.core.config import RackConfig
    from exacell.output.console import Console
    from exacell.transport.base import Transport


class Fallbacks:
    """Remembers what was said."""

    def __init__(self) -> None:
        self._logins: frozenset[str] = frozenset()
        self._single: set[str] = set()

    def tell(self, transport: Transport, rack: RackConfig, console: Console) -> None:
        """Say which cells took no login for reads, and which take a start of CellCLI for each read; each cell once."""
        new = transport.read_fallback - self._logins
        if new:
            self._logins |= new
            console.say(f"{fold(new)}: {rack.read_user} can't log in; reads run as {rack.write_user} with cellcli -m")
        single = transport.single_reads
        for reason in dict.fromkeys(single.values()):
            cells = [cell for cell, why in single.items() if why == reason and cell not in self._single]
            if cells:
                self._single.update(cells)
                console.say(f"{fold(cells)}: every read starts a CellCLI of its own ({reason})")
