"""What a carried text would do: the CellCLI changes in it, and what of it was not read; the error of what can't be read. Pure."""

from __future__ import annotations

from dataclasses import field

from exacell.cellcli.nodes import Change, Grant
from exacell.core.errors import ExacellError
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


class UnreadError(ExacellError):
    """A text holds something that exacell does not read, so that nobody can say what it would do.

    Attributes:
        sign: the first word or sign that was not read.
        why: what is the matter with it, in a phrase.
        instead: the way to do it in exacell; empty when there is none to name.
    """

    def __init__(self, sign: str, why: str, instead: str = "") -> None:
        sign = sign or "''"  # What is not seen is no name for anything.
        shown = sign if len(sign) <= 60 else f"{sign[:57]}..."
        super().__init__(f"{shown}: {why}", hint=instead)
        self.sign = sign
        self.why = why
        self.instead = instead
