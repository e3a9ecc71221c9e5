"""What a statement gets: the session's state, what is open, and the request that it is carried out for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from exacell.session.request import Request
from exacell.session.services import Services
from exacell.session.state import Options, Session

if TYPE_CHECKING:
    # Imported where they are used: the prompt stands before most of this is loaded.
    from contextlib import AbstractContextManager

    from exacell.core.background import Interruption
    from exacell.core.cellset import CellSet
    from exacell.core.config import Config, RackConfig, Settings
    from exacell.core.paths import Home
    from exacell.journal.record import Journal
    from exacell.language.registry import Call, Value
    from exacell.output.console import Console
    from exacell.session.answers import Answers
    from exacell.session.asm import AsmClient
    from exacell.session.fleet import Fleet
    from exacell.session.selection import Selection
    from exacell.transport.base import Transport

__all__ = ["Context", "Options"]


class Context:
    """A session, its services and one request.

    Attributes:
        session: the state that all statements share.
        services: what is open.
        request: the statement that is carried out now, with what surrounds it.
    """

    def __init__(
        self,
        *,
        home: Home,
        config: Config,
        console: Console,
        options: Options,
        env: Mapping[str, str] | None = None,
        transport: Transport | None = None,
    ) -> None:
        self.session = Session(home=home, config=config, options=options, env=env)
        self.services = Services(self.session, console, transport)
        self.request = Request()

    def on_behalf(self, request: Request) -> Context:
        """Return the same session and services for another request."""
        other = copy.copy(self)
        other.request = request
        return other

    def aside(self, fleet: Fleet, *, same_interruption: bool = False, console: Console | None = None) -> Context:
        """Return a session beside this one for a single statement: over ``fleet``, with a selection and (unless it is to
        end with this one's) an interruption of its own, so that neither disturbs the other."""
        other = copy.copy(self)
        other.session, other.services = self.services.aside(fleet, same_interruption=same_interruption, console=console)
        return other

    # -- the session ---------------------------------------------------------------------------------------------

    @property
    def home(self) -> Home:
        """The session's folders."""
        return self.session.home

    @property
    def config(self) -> Config:
        """The racks that are configured."""
        return self.session.config

    @property
    def options(self) -> Options:
        """What stood before the statement on the command line."""
        return self.session.options

    @property
    def env(self) -> Mapping[str, str]:
        """The environment's variables."""
        return self.session.env

    @property
    def settings(self) -> Settings:
        """What ``set`` changes."""
        return self.session.settings

    @property
    def rack(self) -> RackConfig | None:
        """The current rack; None for none."""
        return self.session.rack

    @property
    def read_only(self) -> bool:
        """Whether the session may only read."""
        return self.session.read_only

    @property
    def interrupted(self) -> Interruption:
        """The user's wish that no more is begun."""
        return self.session.interrupted

    @property
    def selection(self) -> Selection:
        """The selected cells of the current rack."""
        return self.session.selection

    def need_rack(self) -> RackConfig:
        """Return the current rack, choosing it on first need; see :meth:`Session.need_rack`."""
        return self.session.need_rack()

    def selected(self) -> CellSet:
        """Return the cells that statements go to now."""
        return self.session.selected()

    def cells(self) -> tuple[str, ...]:
        """Return the selected cells in natural order; see :meth:`Session.cells`."""
        return self.session.cells()

    def resolve(self, text: str) -> CellSet:
        """Return the cells of the rack that ``text`` names; see :meth:`Selection.resolve`."""
        return self.session.selection.resolve(text)

    def remember(self, asked: Iterable[str], failed: Iterable[str]) -> None:
        """Keep which of the cells ``asked`` failed, for ``@down`` and ``@failed``."""
        self.session.selection.remember(asked, failed)

    def flags_of(self, call: Call) -> dict[str, Value]:
        """Return the flags of a statement together with those given once for all statements; its own win."""
        return self.session.options.over(call.flags)

    # -- the services --------------------------------------------------------------------------------------------

    @property
    def console(self) -> Console:
        """Whom to tell and to ask."""
        return self.services.console

    @property
    def journal(self) -> Journal:
        """The durable record of changes."""
        return self.services.journal

    @property
    def transport(self) -> Transport:
        """The connections of the current rack, opened on first use."""
        return self.services.transport

    @property
    def fleet(self) -> Fleet:
        """Statements to the cells of the current rack."""
        return self.services.fleet

    @property
    def while_changing(self) -> Callable[[], AbstractContextManager[None]]:
        """Entered while a plan is carried out."""
        return self.services.while_changing

    def asm(self, name: str = "") -> AsmClient:
        """Return the ASM cluster ``name``, or the rack's only one; see :meth:`Services.asm`."""
        return self.services.asm(name)

    def query(
        self, *statements: str, cells: Sequence[str] | None = None, exact: bool = False, in_pieces: bool = False
    ) -> Answers:
        """Return typed records for LIST statements from the selected cells, one round trip a cell.

        ``exact`` is for statements that the user typed, ``in_pieces`` for answers that may be large; see :meth:`Fleet.query`.
        """
        return self.services.query(
            *statements, timeout=self.request.read_timeout, cells=cells, exact=exact, in_pieces=in_pieces
        )

    # -- both ----------------------------------------------------------------------------------------------------

    def connect(self, name: str) -> RackConfig:
        """Make ``name`` the current rack; its connections open on first use. See :meth:`Session.connect`."""
        return self.services.connect(name)

    def set_mode(self, *, read_only: bool) -> None:
        """Switch between read-only and read-write; enforced in the transport. See :meth:`Session.set_mode`."""
        self.services.set_mode(read_only=read_only)
