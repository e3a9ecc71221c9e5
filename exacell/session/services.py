"""What is open in a session: the fleet and the ASM clients of its rack, its journal, its console, what was learned."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING

from exacell.core.cellset import CellSet, fold, grouped
from exacell.core.config import AsmConfig, RackConfig, transport_name, trusted_group
from exacell.core.errors import ConfigError, ExitCode, StatementError
from exacell.core.trust import refuse_untrusted

if TYPE_CHECKING:
    from exacell.core.config import RackConfig
    from exacell.journal.record import Journal
    from exacell.language.line import Line
    from exacell.output.console import Console
    from exacell.session.answers import Answers
    from exacell.session.asm import AsmClient
    from exacell.session.completion.names import NameCache
    from exacell.session.fleet import Fleet
    from exacell.session.recognition import Recognition
    from exacell.session.state import Session
    from exacell.session.store import Store
    from exacell.transport.base import Transport
    from exacell.transport.held.place import Hold


class Services:
    """What a session's statements use; each is opened on first use. Any thread may ask; two that ask at once get the same.

    Args:
        session: whose rack, settings and mode decide what is opened.
        console: whom to tell and to ask.
        transport: used for every rack instead of what its configuration says, and never closed; None for none.
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
        self.asks_holder = False
        """Whether reads may go to the rack's holder of connections: for command lines, which have no open ones."""
        self.fallbacks = Fallbacks()
        self._session = session
        self._given = transport
        self._transport: Transport | None = None
        self._fleet: Fleet | None = None
        self._asm: dict[str, AsmClient] = {}
        self._lock = threading.RLock()
        self._learned: dict[str, NameCache] = {}
        self._recognition: Recognition | None = None
        session.changed = self._changed

    def aside(
        self, fleet: Fleet, *, same_interruption: bool = False, console: Console | None = None
    ) -> tuple[Session, Services]:
        """Return a session beside this one for a single statement: over ``fleet``, with a selection and (unless it is to
        end with this one's) an interruption of its own, so that neither disturbs the other."""
        other = copy.copy(self)
        other._recognition = self.recognition
        other._session = self._session.beside(same_interruption=same_interruption)
        other._fleet = fleet
        other.console = console or self.console
        return other._session, other

    @cached_property
    def journal(self) -> Journal:
        """The durable record of changes."""
        from exacell.journal.record import Journal

        journal = Journal(self._session.home.state_dir / "journal.db")
        journal.hosts = self._hosts
        return journal

    def _hosts(self, rack: str) -> tuple[str, ...]:
        now = self._session.rack
        return (*now.cells, *now.host_names) if now is not None and now.name == rack else ()

    def store(self) -> Store:
        """Return the kept plans, snapshots and IORM plans, for somebody who acts upon what they say.

        Raises:
            ConfigError: others can write them.
        """
        from exacell.session.store import Store

        path = self._session.home.state_dir / "store.db"
        refuse_untrusted(path, trusted_group(self._session.home))
        return Store(path)

    def _changed(self, rack: str) -> Mapping[str, Iterable[str]]:
        from exacell.session.lastchange import last_change  # Only @ok and @failed ask the journal.

        last = last_change(self.journal, rack)
        return {"ok": last.ok, "failed": last.failed}

    # -- the current rack ----------------------------------------------------------------------------------------

    @property
    def transport(self) -> Transport:
        """The connections of the current rack.

        Raises:
            ConfigError: the rack's transport cannot be had.
        """
        session = self._session
        rack = session.need_rack()
        with self._lock:
            if self._transport is None:
                if self._given is not None:
                    self._transport = self._given
                else:
                    from exacell.transport.factory import make_transport

                    self._transport = make_transport(rack, session.settings, self._hold_asked(rack))
                self.recognition.over(self._transport)
            self._transport.read_only = session.read_only
            if self.more_to_come:
                self._transport.expects_more = True
            return self._transport

    def hold(self) -> Hold | None:
        """Return the holder of connections that the current rack has or could have; None where it can have none: the rack
        is not reached as the configuration says, or not over ssh."""
        from exacell.transport.held.place import OF_CONNECTIONS, hold_of, supported  # Few racks have one.

        session = self._session
        rack, config = session.need_rack(), session.config
        as_configured = config.racks.get(rack.name) == rack and not any(
            getattr(session.settings, name) != getattr(config.settings, name) for name in OF_CONNECTIONS
        )
        over_ssh = transport_name(rack.reach, session.settings.transport) == "ssh"
        if not (supported and as_configured and over_ssh):
            return None
        wished = rack.hold if config.hold is None else config.hold or None
        return hold_of(session.home, rack, config.settings, wished)

    def _hold_asked(self, rack: RackConfig) -> Hold | None:
        """Return the holder that reads are to ask; None where there is none to ask."""
        config = self._session.config
        wished = rack.hold if config.hold is None else config.hold
        if not self.asks_holder or config.hold == 0.0:
            return None
        if not wished and not (self._session.home.state_dir / "hold").is_dir():
            return None
        hold = self.hold()
        return hold if hold is not None and (hold.seconds or hold.socket.exists()) else None

    @property
    def recognition(self) -> Recognition:
        """What knows hosts of production racks again."""
        from exacell.session.recognition import Recognition

        with self._lock:
            if self._recognition is None:
                self._recognition = Recognition(
                    self._session, lambda: self.fleet, self.store, lambda text: self.console.say(text)
                )
            return self._recognition

    @property
    def awaited(self) -> CellSet:
        """The hosts, cells among them, that anybody waits for now; empty where none is, or that is not known.

        Whoever draws the screen asks for it, so it takes no lock: one may be held as long as connections are closed.
        """
        transport = self._transport
        return CellSet(transport.awaited) if transport is not None else CellSet()

    def waiting(self) -> str:
        """Return ``waiting for exa1db01``, or ``waiting for the answer`` where nobody is waited for."""
        awaited = self.awaited
        return f"waiting for {awaited if len(awaited) else 'the answer'}"

    @property
    def fleet(self) -> Fleet:
        """Statements to the cells of the current rack."""
        from exacell.session.fleet import Fleet
        from exacell.session.hung import KeptHung

        session, transport = self._session, self.transport
        with self._lock:
            if self._fleet is None:
                rack = session.need_rack()
                patience = rack.command_timeout or session.settings.timeout
                self._fleet = Fleet(transport, patience=patience, kept=KeptHung(session.home, rack.name))
            return self._fleet

    def query(
        self,
        *statements: str,
        timeout: float | None,
        cells: Sequence[str] | None = None,
        exact: bool = False,
        in_pieces: bool = False,
    ) -> Answers:
        """Return typed records for LIST statements from the selected cells, one round trip a cell.

        Args:
            timeout: seconds that each cell has; None for the setting's.
            cells: asked instead of the selected ones.
            exact: they are statements that the user typed.
            in_pieces: answers may be large; see :meth:`Fleet.query`.
        """
        session = self._session
        answers = self.fleet.query(
            cells or session.cells(), statements, timeout=timeout, exact=exact, in_pieces=in_pieces,
            cancel=session.interrupted,
        )  # fmt: skip
        good = answers.good
        session.selection.remember(answers.answers, [c for c in answers.answers if c not in good])
        self.fallbacks.note_ids(answers.ids(statements))
        self.fallbacks.tell(self.transport, session.need_rack(), self.console)
        return answers

    def asm(self, name: str = "") -> AsmClient:
        """Return the ASM cluster ``name``, or the rack's only one; says once when it is reached another way than the cells.

        Raises:
            ConfigError: there is none of that name, none at all, or several and none was named.
        """
        from exacell.session.asm import AsmClient

        cluster = _cluster_of(self._session.need_rack(), name)
        transport = self.transport
        with self._lock:
            if cluster.name not in self._asm:
                able = transport.capabilities
                if not able.nodes:
                    self.console.say(f"{able.name} reaches only cells; the ASM cluster {cluster.name} needs ssh")
                self._asm[cluster.name] = AsmClient(transport, cluster)
            return self._asm[cluster.name]

    def warm(self) -> None:
        """Begin to open the connections of the selected cells in the background; problems wait for the first use."""
        if self._given is not None or self._session.rack is None:
            return
        self.transport.warm(tuple(self._session.selected()))

    def connect(self, name: str) -> RackConfig:
        """Make ``name`` the current rack; its connections open on first use. See :meth:`Session.connect`."""
        rack = self._session.connect(name)
        self.close()
        return rack

    def set_mode(self, *, read_only: bool) -> None:
        """Switch between read-only and read-write; enforced in the transport. See :meth:`Session.set_mode`."""
        self._session.set_mode(read_only=read_only, ask=self.console.ask)
        if self._transport is not None:
            self._transport.read_only = read_only

    def close(self) -> None:
        """End the connections; the next statement opens them anew."""
        if self._transport is not None:
            self.recognition.note()
            self.recognition.over(None)
        with self._lock:
            if self._transport is not None and self._transport is not self._given:
                self._transport.close()
            self._transport, self._fleet = None, None
            self._asm = {}

    @property
    def learned(self) -> NameCache:
        """What was learned from the current rack, on disk."""
        session = self._session
        name = session.rack.name if session.rack is not None else ""
        if name not in self._learned:
            from exacell.session.completion.knowledge import name_cache

            self._learned[name] = name_cache(session.home, session.rack)
        return self._learned[name]


def _cluster_of(rack: RackConfig, name: str) -> AsmConfig:
    """Return the ASM cluster ``name`` of ``rack``, its only one where the name is empty.

    Raises:
        ConfigError: there is none of that name, none at all, or several and none was named.
    """
    if not rack.asm:
        raise ConfigError(
            f"rack {rack.name} has no database nodes, so ASM can't be queried",
            hint=f"name them in the rack's file: [asm.main] nodes=…, home=…, sid=… ({rack.source or rack.name})",
        )
    if not name and len(rack.asm) > 1:
        raise ConfigError(f"rack {rack.name} has the ASM clusters {', '.join(rack.asm)}: say asm=NAME")
    name = name or next(iter(rack.asm))
    if name not in rack.asm:
        raise ConfigError(f"rack {rack.name} has no ASM cluster {name}: it has {', '.join(rack.asm)}")
    return rack.asm[name]


def no_companion(line: Line, code: ExitCode) -> Sequence[str]:
    """Say nothing: a session without a tutorial."""
    return ()


def _nowhere(text: str) -> ExitCode:
    raise StatementError("it can't be run here", hint="run it at the prompt or on the command line")


class Fallbacks:
    """Remembers what was said."""

    def __init__(self) -> None:
        self._logins: frozenset[str] = frozenset()
        self._single: set[str] = set()
        self._twins: set[tuple[str, ...]] = set()
        self._ids: dict[str, str] = {}

    def tell(self, transport: Transport, rack: RackConfig, console: Console) -> None:
        """Say which cells took no login for reads, which take a start of CellCLI for each read, and which names lead to one
        cell; each once."""
        new = transport.read_fallback - self._logins
        if new:
            self._logins |= new
            console.say(f"{fold(new)}: {rack.read_user} can't log in; reads run as {rack.write_user} with cellcli -m")
        single = transport.single_reads
        for reason in dict.fromkeys(single.values()):
            cells = [cell for cell, why in single.items() if why == reason and cell not in self._single]
            if cells:
                self._single.update(cells)
                console.say(f"{fold(cells)}: every read starts a new CellCLI ({reason})")
        self._tell_twins(rack, transport.host_keys, "show one host key", console)
        if not rack.emulated:  # There ids are made up.
            self._tell_twins(rack, self._ids, "have one id", console)

    def note_ids(self, ids: Mapping[str, str]) -> None:
        """Remember the ids that cells have named in an answer to LIST CELL."""
        self._ids.update((cell, told) for cell, told in ids.items() if told)

    def _tell_twins(self, rack: RackConfig, shown: Mapping[str, str], what: str, console: Console) -> None:
        for twins in grouped((shown[cell], cell) for cell in rack.cells if cell in shown).values():
            if len(twins) > 1 and tuple(twins) not in self._twins:
                self._twins.add(tuple(twins))
                console.say(
                    f"{fold(twins)} {what}, so they are one cell, and its answer counts {len(twins)} times "
                    "here: correct a name or an address in the rack's configuration, DNS or ssh_config"
                )
