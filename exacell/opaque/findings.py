"""What a carried text would do: the CellCLI changes in it, and what of it was not read. Pure."""

from __future__ import annotations

from dataclasses import field

from exacell.cellcli.nodes import Change, Grant
from exacell.core.values import dataclass


@dataclass(frozen=True, kw_only=True)
class FoundStatement:
    """A changing CellCLI statement and how it was written."""

    text: str
    statement: Change | Grant


@dataclass
class Findings:
    """What a text would do.

    Attributes:
        changes: CellCLI's changing statements in order.
        unread: a phrase for each thing that was not read; it begins with the first word or sign of that.
        losses: what happens to which disk group in what is not read.
        instead: the way to do in exacell what was not read; empty when there is none to name.
    """

    changes: list[FoundStatement] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    losses: dict[str, str] = field(default_factory=dict)
    instead: str = ""

    @property
    def harmless(self) -> bool:
        """Whether everything was read, and nothing of it changes anything."""
        return not self.changes and not self.unread
