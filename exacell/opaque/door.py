"""The one door for text that exacell did not read: on which racks it may be sent, and what a refusal says. Pure.

Every carrier comes through here: ``sh``, ``dcli`` with its scripts, ``copy``, ``host``, SQL, and what files and recipes say
for a shell. docs/reliability.md lists them.
"""

from __future__ import annotations

from collections.abc import Sequence

from exacell.core.errors import RefusedError
from exacell.core.units import and_more
from exacell.core.values import dataclass

ACCEPT = "--accept-opaque"


@dataclass(frozen=True, kw_only=True)
class Door:
    """What is known of the rack that unread work would go to.

    Attributes:
        rack: its name; empty where there is none.
        allows: its configuration says ``opaque = "allow"``.
    """

    rack: str = ""
    production: bool = False
    read_only: bool = False
    allows: bool = False

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
                hint=instead or "say it in exacell's statements or in CellCLI",
            )
        if self.read_only:
            return RefusedError(
                f"rack {self.rack} is read-only, and this is no read that exacell knows: {named}; {undone}",
                hint=instead or "set mode rw",
            )
        if accepted or self.allows:
            return None
        place = f" on {where}" if where else ""
        hint = f"{instead}; {accept}" if instead else accept
        return RefusedError(f"exacell can't tell what this does{place}: {named}; {undone}", hint=hint)
