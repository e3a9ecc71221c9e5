"""What a carried text would do: the CellCLI changes in it, and what of it was not read; and the one door for that: on which
racks it may be sent, and what a refusal says. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from exacell.cellcli.nodes import Change, Grant
from exacell.core.errors import ExacellError, RefusedError
from exacell.core.units import and_more
from exacell.core.values import dataclass


@dataclass(frozen=True, kw_only=True)
class FoundStatement:
    """A changing CellCLI statement and how it was written."""

    text: str
    statement: Change | Grant


@dataclass(frozen=True, kw_only=True)
class Absence:
    """What takes disks away from ASM in a text that is not read.

    Attributes:
        words: as they stand there.
        kind: of :data:`exacell.plan.planners.clock.STAYS`; empty where nothing tells when the disks are back.
        group: the disk group that loses them; empty for all that a cell has.
        elsewhere: the text may reach cells from where it runs.
    """

    words: str
    kind: str = ""
    group: str = ""
    elsewhere: bool = False


@dataclass
class Findings:
    """What a text would do.

    Attributes:
        changes: CellCLI's changing statements in order.
        unread: a phrase for each thing that was not read; it begins with the first word or sign of that.
        losses: what happens to which disk group in what is not read.
        absences: what in it takes disks away from ASM for a time.
        instead: the way to do in exacell what was not read; empty when there is none to name.
        programs: the commands that were read, as the table names them.
    """

    changes: list[FoundStatement] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    losses: dict[str, str] = field(default_factory=dict)
    absences: tuple[Absence, ...] = ()
    instead: str = ""
    programs: frozenset[str] = frozenset()

    @property
    def harmless(self) -> bool:
        """Whether everything was read, and nothing of it changes anything."""
        return not self.changes and not self.unread

    @property
    def asks_asm(self) -> bool:
        """Whether everything was read, and asmcmd is called, which needs the environment of Grid Infrastructure."""
        return self.harmless and "asmcmd" in self.programs

    @property
    def unseen(self) -> list[str]:
        """What is not read or changes something, a phrase each."""
        return [*self.unread, *(change.text for change in self.changes)]


class UnreadError(ExacellError):
    """A text holds something that exacell does not read, so that nobody can say what it would do.

    Attributes:
        sign: the first word or sign that was not read.
        why: what is the matter with it, in a phrase.
        instead: the way to do it in exacell; empty when there is none to name.
        place: where it stands in the text; empty where the sign itself says that.
    """

    def __init__(self, sign: str, why: str, instead: str = "", *, place: str = "") -> None:
        sign = sign or "''"  # What is not seen is no name for anything.
        shown = sign if len(sign) <= 60 else f"{sign[:57]}..."
        super().__init__(f"{shown}: {why}{place and f' ({place})'}", hint=instead)
        self.sign = sign
        self.why = why
        self.instead = instead
        self.place = place


ACCEPT = "--accept-opaque"


@dataclass(frozen=True, kw_only=True)
class Door:
    """What is known of the rack that unread work would go to.

    Attributes:
        rack: its name; empty where there is none.
        allows: its configuration says ``opaque = "allow"``.
        monitor: the session was begun with -m, so that it stays read-only.
    """

    rack: str = ""
    production: bool = False
    read_only: bool = False
    allows: bool = False
    monitor: bool = False

    def refusal(
        self, unread: Sequence[str], *, accepted: bool, where: str = "", undone: str, accept: str, instead: str = ""
    ) -> RefusedError | None:
        """Return why unread work must not go on; None where it may.

        Args:
            unread: a phrase for each thing that was not read; the first one is told.
            accepted: somebody said --accept-opaque.
            where: the cells, folded; empty for this machine.
            undone: what did not happen, such as ``nothing was sent``.
            accept: how to accept it, in one line.
            instead: how to do it in exacell; empty where that is not known.
        """
        named = f"{unread[0]}{and_more(len(unread))}"
        if self.production:
            return RefusedError(
                f"rack {self.rack} is a production rack, and exacell can't tell what this does: {named}; {undone}",
                hint=instead or "use exacell's statements or CellCLI",
            )
        if self.read_only:
            return RefusedError(
                f"rack {self.rack} is read-only, and exacell does not know this as a read: {named}; {undone}",
                hint=instead or ("start exacell without -m" if self.monitor else "set mode rw"),
            )
        if accepted or self.allows:
            return None
        place = f" on {where}" if where else ""
        hint = f"{instead}; {accept}" if instead else accept
        return RefusedError(f"exacell can't tell what this does{place}: {named}; {undone}", hint=hint)
