"""The findings about a carried text (its CellCLI changes, and its unread parts), and the rule for which racks unread work may
be sent to. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from exacell.cellcli.nodes import Change, Grant
from exacell.core.errors import ExacellError, RefusedError
from exacell.core.units import and_more
from exacell.core.values import dataclass


@dataclass(frozen=True, kw_only=True)
class FoundStatement:
    """A CellCLI statement that changes something, and its text as written."""

    text: str
    statement: Change | Grant


@dataclass(frozen=True, kw_only=True)
class Absence:
    """A command in unread text that takes disks away from ASM.

    Attributes:
        words: the command as written.
        kind: key of :data:`exacell.plan.planners.clock.STAYS`; empty if it is not known when the disks come back.
        group: the disk group that loses them; empty for all disk groups of a cell.
        elsewhere: whether the text may reach cells other than the one on which it runs.
    """

    words: str
    kind: str = ""
    group: str = ""
    elsewhere: bool = False


@dataclass
class Findings:
    """What a text would do.

    Attributes:
        changes: its CellCLI statements that change something, in order.
        unread: a phrase for each part that was not read; it begins with the first word or sign of that part.
        losses: disk group → the loss that the unread parts would cause.
        absences: commands in the unread parts that take disks away from ASM for a time.
        instead: how to do the unread part in exacell; empty if no way is known.
        programs: the commands that were read, by their names in the table.
    """

    changes: list[FoundStatement] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    losses: dict[str, str] = field(default_factory=dict)
    absences: tuple[Absence, ...] = ()
    instead: str = ""
    programs: frozenset[str] = frozenset()

    @property
    def harmless(self) -> bool:
        """Return whether everything was read and nothing in it changes anything."""
        return not self.changes and not self.unread

    @property
    def asks_asm(self) -> bool:
        """Return whether everything was read and asmcmd is called, which needs the environment of Grid Infrastructure."""
        return self.harmless and "asmcmd" in self.programs

    @property
    def unseen(self) -> list[str]:
        """Return a phrase for each part that is not read or changes something."""
        return [*self.unread, *(change.text for change in self.changes)]


class UnreadError(ExacellError):
    """A text contains something that exacell does not read, so that its effect is not known.

    Attributes:
        sign: the first word or sign that was not read.
        why: why it was not read, as a phrase.
        instead: how to do it in exacell; empty if no way is known.
        place: its place in the text; empty if the sign itself shows the place.
    """

    def __init__(self, sign: str, why: str, instead: str = "", *, place: str = "") -> None:
        sign = sign or "''"  # Nothing visible would be a name for it.
        shown = sign if len(sign) <= 60 else f"{sign[:57]}..."
        super().__init__(f"{shown}: {why}{place and f' ({place})'}", hint=instead)
        self.sign = sign
        self.why = why
        self.instead = instead
        self.place = place


@dataclass(frozen=True, kw_only=True)
class Door:
    """The properties of a rack that decide whether unread work may be sent to it.

    Attributes:
        rack: its name; empty for none.
        allows: whether its configuration has ``opaque = "allow"``.
        monitor: whether the session was started with -m, so that it stays read-only.
    """

    rack: str = ""
    production: bool = False
    read_only: bool = False
    allows: bool = False
    monitor: bool = False

    def refusal(
        self, unread: Sequence[str], *, accepted: bool, where: str = "", undone: str, accept: str, instead: str = ""
    ) -> RefusedError | None:
        """Return the refusal of unread work; None if it may be sent.

        Args:
            unread: a phrase for each part that was not read; the message contains the first one.
            accepted: whether --accept-opaque was given.
            where: the cells, folded; empty for this machine.
            undone: what did not happen, such as ``nothing was sent``.
            accept: how to accept it, in one line.
            instead: how to do it in exacell; empty if no way is known.
        """
        named = f"{unread[0]}{and_more(len(unread))}"
        if self.production:
            return RefusedError(
                f"rack {self.rack} is a production rack, and exacell can't tell what this does: {named}; {undone}",
                hint=instead or "use exacell's statements or CellCLI",
            )
        if self.read_only:
            return RefusedError(
                f"rack {self.rack} is read-only, and exacell can't tell whether this only reads: {named}; {undone}",
                hint=instead or ("start exacell without -m" if self.monitor else "set mode rw"),
            )
        if accepted or self.allows:
            return None
        place = f" on {where}" if where else ""
        hint = f"{instead}; {accept}" if instead else accept
        return RefusedError(f"exacell can't tell what this does{place}: {named}; {undone}", hint=hint)
