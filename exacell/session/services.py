"""Hold the open objects of a session: the fleet and the ASM clients of its rack, its journal, its console, learned names."""

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
    """Opens the objects of a session's statements on first use. Thread-safe: two threads that ask at once get the same object.

    Args:
        session: its rack, settings and mode decide what is opened.
        console: shows messages and asks questions.
        transport: used for every rack instead of the configured one, and never closed; None for none.
    """

    def __init__(self, session: Session, console: Console, transport: Transport | None = None) -> None:
        self.console = console
        self.run_nested: Callable[[str], ExitCode] = _nowhere
        """Runs a statement inside another one; without a statement it opens the prompt. The surface sets it."""
        self.companion: Callable[[Line, ExitCode], Sequence[str]] = no_companion
        """Called after each statement; the lines it returns are shown below the answer. The tutorial sets it."""
        self.while_changing: Callable[[], AbstractContextManager[None]] = nullcontext
        """Entered while a plan is carried out; the surface uses it to decide how SIGTERM and the like act then."""
        self.more_to_come = False
        """Whether the rack's cells will be read more than once, so that keeping a CellCLI open on each is worthwhile."""
        self.asks_holder = False
        """Whether reads may go to the rack's holder of connections; True for command lines, which have no open connections."""
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
        """Return a copy of this session and of its services, for a single statement over ``fleet``.

        The copy has its own selection and, unless ``same_interruption``, its own interruption, so that neither session disturbs
        the other.
        """
        other = copy.copy(self)
        other._recognition = self.recognition
        other._session = self._session.beside(same_interruption=same_interruption)
        other._fleet = fleet
        other.console = console or self.console
        return other._session, other

    @cached_property
    def journal(self) -> Journal:
        """Return the journal."""
        from exacell.journal.record import Journal

        journal = Journal(self._session.home.state_dir / "journal.db")
        journal.hosts = self._hosts
        return journal

    def _hosts(self, rack: str) -> tuple[str, ...]:
        now = self._session.rack
        return (*now.cells, *now.host_names) if now is not None and now.name == rack else ()

    def store(self) -> Store:
        """Return the store of kept plans, snapshots and IORM plans, for callers that act on its content.

        Raises:
            ConfigError: other users can write to it.
        """
        from exacell.session.store import Store

        path = self._session.home.state_dir / "store.db"
        refuse_untrusted(path, trusted_group(self._session.home))
        return Store(path)

    def _changed(self, rack: str) -> Mapping[str, Iterable[str]]:
        from exacell.session.lastchange import last_change  # Only @ok and @failed need the journal.

        last = last_change(self.journal, rack)
        return {"ok": last.ok, "failed": last.failed}

    # -- the current rack ----------------------------------------------------------------------------------------

    @property
    def transport(self) -> Transport:
        """Return the connections of the current rack.

        Raises:
            ConfigError: the rack's transport can't be used.
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
        """Return the holder of connections that the current rack has or could have; None if the rack is reached with other
        settings than the configured ones, or not over ssh."""
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
        """Return the holder that reads go to; None if there is none."""
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
        """Return the object that recognises hosts of production racks."""
        from exacell.session.recognition import Recognition

        with self._lock:
            if self._recognition is None:
                self._recognition = Recognition(
                    self._session, lambda: self.fleet, self.store, lambda text: self.console.say(text)
                )
            return self._recognition

    @property
    def awaited(self) -> CellSet:
        """Return the hosts and cells whose answer is awaited now; empty if there are none, or if that is not known.

        The thread that draws the screen calls this, so it takes no lock: a lock may be held while connections are closed.
        """
        transport = self._transport
        return CellSet(transport.awaited) if transport is not None else CellSet()

    def waiting(self) -> str:
        """Return e.g. ``waiting for exa1db01``, or ``waiting for the answer`` if no host is known."""
        awaited = self.awaited
        return f"waiting for {awaited if len(awaited) else 'the answer'}"

    @property
    def fleet(self) -> Fleet:
        """Return the fleet that sends statements to the cells of the current rack."""
        from exacell.session.fleet import Fleet
        from exacell.session.hung import KeptHung
        from exacell.session.keptreleases import KeptReleases

        session, transport = self._session, self.transport
        with self._lock:
            if self._fleet is None:
                rack = session.need_rack()
                patience = rack.command_timeout or session.settings.timeout
                self._fleet = Fleet(
                    transport,
                    patience=patience,
                    kept=KeptHung(session.home, rack.name),
                    kept_releases=KeptReleases(session.home, rack.name),
                )
            return self._fleet

    def query(
        self,
        *statements: str,
        timeout: float | None,
        cells: Sequence[str] | None = None,
        exact: bool = False,
        in_pieces: bool = False,
    ) -> Answers:
        """Return typed records for LIST statements from the selected cells, in one round trip per cell.

        Args:
            timeout: seconds that each cell has; None means the setting.
            cells: cells to ask instead of the selected ones.
            exact: send the statements unchanged, because the user typed them.
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
        """Return the ASM cluster ``name``, or the rack's only one; shows one message if the transport reaches only cells.

        Raises:
            ConfigError: the rack has no cluster of that name, or none at all, or ``name`` is empty and there are several.
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
        """Start to open the connections of the selected cells in the background; the first use reports problems."""
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
        """Close the connections; the next statement opens new ones."""
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
        """Return the names and values learned from the current rack, kept on disk."""
        session = self._session
        name = session.rack.name if session.rack is not None else ""
        if name not in self._learned:
            from exacell.session.completion.knowledge import name_cache

            self._learned[name] = name_cache(session.home, session.rack)
        return self._learned[name]


def _cluster_of(rack: RackConfig, name: str) -> AsmConfig:
    """Return the ASM cluster ``name`` of ``rack``, or its only one if the name is empty.

    Raises:
        ConfigError: the rack has no cluster of that name, or none at all, or ``name`` is empty and there are several.
    """
    if not rack.asm:
        raise ConfigError(
            f"rack {rack.name} has no database nodes, so ASM can't be queried",
            hint=f"name them in the rack's file: [asm.main] nodes=…, home=…, sid=… ({rack.source or rack.name})",
        )
    if not name and len(rack.asm) > 1:
        raise ConfigError(f"rack {rack.name} has the ASM clusters {', '.join(rack.asm)}: give asm=NAME")
    name = name or next(iter(rack.asm))
    if name not in rack.asm:
        raise ConfigError(f"rack {rack.name} has no ASM cluster {name}: it has {', '.join(rack.asm)}")
    return rack.asm[name]


def no_companion(line: Line, code: ExitCode) -> Sequence[str]:
    """Return no lines: for a session without a tutorial."""
    return ()


def _nowhere(text: str) -> ExitCode:
    raise StatementError("it can't be run here", hint="run it at the prompt or on the command line")


class Fallbacks:
    """Shows messages about how cells are reached, each only once."""

    def __init__(self) -> None:
        self._logins: frozenset[str] = frozenset()
        self._single: set[str] = set()
        self._twins: set[tuple[str, ...]] = set()
        self._ids: dict[str, str] = {}

    def tell(self, transport: Transport, rack: RackConfig, console: Console) -> None:
        """Show each of these once: cells on which reads log in as another user, cells that start a CellCLI for each read, and
        names that lead to the same cell."""
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
        if not rack.emulated:  # The ids of emulated cells are invented.
            self._tell_twins(rack, self._ids, "have one id", console)

    def note_ids(self, ids: Mapping[str, str]) -> None:
        """Store the ids that cells gave in an answer to LIST CELL."""
        self._ids.update((cell, told) for cell, told in ids.items() if told)

    def _tell_twins(self, rack: RackConfig, shown: Mapping[str, str], what: str, console: Console) -> None:
        for twins in grouped((shown[cell], cell) for cell in rack.cells if cell in shown).values():
            if len(twins) > 1 and tuple(twins) not in self._twins:
                self._twins.add(tuple(twins))
                console.say(
                    f"{fold(twins)} {what}, so they are the same cell, and its answer is counted {len(twins)} times "
                    f"here: correct a name or an address in the rack's configuration, DNS or ssh_config"
                )
