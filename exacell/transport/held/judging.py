"""Which reads a holder of connections sends. Pure.

A list of what is allowed: LIST and DESCRIBE, one line each, that CellCLI's own grammar reads as such, for cells of the rack.
It stands apart from the holder, so that it is tested without a process.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from exacell.cellcli.framing import can_be_fed
from exacell.cellcli.statement import Describe, List, parse
from exacell.core.errors import StatementError
from exacell.transport.held.frames import Batch

LONGEST_S = 86400.0
"""Seconds that a read may take."""


def refusal(batches: Sequence[Batch], cells: Collection[str]) -> str:
    """Return why a holder refuses batches; empty if it accepts them.

    Args:
        cells: the cells of its rack.
    """
    asked = [cell for batch in batches for cell in batch.cells]
    if not asked or len(set(asked)) != len(asked):
        return "each cell is asked once"
    strangers = [cell for cell in asked if cell not in cells]
    if strangers:
        return f"{strangers[0]} is not a cell of this rack"
    for batch in batches:
        if not 0 < batch.seconds <= LONGEST_S:
            return f"a read may take up to {LONGEST_S:g} seconds"
        if not batch.statements:
            return "there is no statement"
        why = next((why for statement in batch.statements if (why := _no_read(statement))), "")
        if why:
            return why
    return ""


def _no_read(statement: str) -> str:
    """Return why a statement is not a read; empty if it is one."""
    try:
        reads = can_be_fed(statement) and isinstance(parse(statement), List | Describe)
    except StatementError:
        reads = False
    return "" if reads else "only LIST and DESCRIBE are carried"
