"""What is open in a session: the fleet and the ASM clients of its rack, its journal, its console, what was learned."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING

from exacell.core.cellset import fold
from exacell.core.config import trusted_group
from exacell.core.errors import ExitCode, StatementError
from exacell.core.trust import refuse_untrusted
from exacell.session.opened import Opened, cluster_of

if TYPE_CHECKING:
    from exacell.core.config import RackConfig
    from exacell.journal.record import Journal
    from exacell.language.line import Line
    from exacell.output.console import Console
    from exacell.session.asm import AsmClient
    from exacell.session.completion.names import NameCache
    from exacell.session.fleet import Fleet
    from exacell.session.state import Session
    from exacell.session.store import Store
    from exacell.transport.base import Transport


class Services:
    """What a session's statements use; each is opened on first use.

    Args:
        transport: used for every rack instead of what its configuration says; None for none.
    """

    def __init__(self, session: Session, console: Console, transport: Transport | None = None) -> None:
        self.console = console
        self.run_nested: Callable[[str], ExitCode] = _nowhere
        """Runs a statement, or opens what the surface opens without one; set by the surface."""
        self.companion: Callable[[Line, ExitCode], Sequence[str]] = no_companion
        """Told of every statement that has ended; what it returns is said below the answer. The tutorial's."""
        self.while_changing: Callable[[], AbstractContextManager[None]] = nullcontext
        """Entered while a plan is carried out; the surface decides what a signal to end then does."""
        self.more_to_come = False
        """Whether the rack's cells will be read more than once, so that a CellCLI on each is worth keeping."""
        self.fallbacks = Fallbacks()
        self._session = session
        self._opened = Opened(transport)
        self._learned: dict[str, NameCache] = {}

    def over(self, session: Session, fleet: Fleet, console: Console | None = None) -> Services:
        """Return the same services for another session on the rack, with ``fleet`` as the fleet."""
        other = copy.copy(self)
        other._session, other._opened = session, self._opened.over(fleet)
        if console is not None:
            other.console = console
        return other

    @cached_property
    def journal(self) -> Journal:
        """The durable record of changes."""
        from exacell.journal.record import Journal

        return Journal(self._session.home.state_dir / "journal.db")

    def store(self) -> Store:
        """Return the kept plans, snapshots and IORM plans, for somebody who acts upon what they say.

        Raises:
            ConfigError: others can write them.
        """
        from exacell.session.store import Store

        path = self._session.home.state_dir / "store.db"
        refuse_untrusted(path, trusted_group(self._session.home))
        return Store(path)

    @property
    def transport(self) -> Transport:
        """The connections of the current rack."""
        session = self._session
        return self._opened.transport(
            session.need_rack(), session.settings, read_only=session.read_only, more_to_come=self.more_to_come
        )

    @property
    def fleet(self) -> Fleet:
        """Statements to the cells of the current rack."""
        return self._opened.fleet(self.transport)

    def asm(self, name: str = "") -> AsmClient:
        """Return the ASM cluster ``name``, or the rack's only one.

        Raises:
            ConfigError: there is none of that name, none at all, or several and none was named.
        """
        cluster = cluster_of(self._session.need_rack(), name)
        return self._opened.asm(cluster, self.transport, self.console)

    def warm(self) -> None:
        """Begin to open the connections of the selected cells in the background; problems wait for the first use."""
        if self._opened.given or self._session.rack is None:
            return
        self.transport.warm(tuple(self._session.selected()))

    def set_mode(self) -> None:
        """Let what is open carry writes, or refuse them, as the session's mode says."""
        self._opened.set_mode(read_only=self._session.read_only)

    def close(self) -> None:
        """End the connections; the next statement opens them anew."""
        self._opened.close()

    @property
    def learned(self) -> NameCache:
        """What was learned from the current rack, on disk."""
        session = self._session
        name = session.rack.name if session.rack is not None else ""
        if name not in self._learned:
            from exacell.session.completion.knowledge import name_cache

            self._learned[name] = name_cache(session.home, session.rack)
        return self._learned[name]


def no_companion(line: Line, code: ExitCode) -> Sequence[str]:
    """Say nothing: a session without a tutorial."""
    return ()


def _nowhere(text: str) -> ExitCode:
    raise StatementError("there is no surface to run it on")


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
