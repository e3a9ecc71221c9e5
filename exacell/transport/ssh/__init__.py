"""The default transport: SSH connections kept open, one channel a command, every target accounted for.

Importing this module is cheap; fabric and paramiko come with the first connection. A command is sent at most once, with
one exception: a read whose kept connection turns out to be dead before any byte came back is sent again on a new one.
Writes never are.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from exacell.config import RackConfig, Settings
from exacell.errors import ConfigError, RefusedError, TransportError
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, Role, State
from exacell.transport.capabilities import SSH
from exacell.transport.capture import SPILL, Capture, End, Ending, Store, execute, hang_up
from exacell.transport.exchange_drivers import StreamPair, over_channel, wait_until_ours
from exacell.transport.fanout import FanOut, Flight
from exacell.transport.local import LocalRunner
from exacell.transport.login import Login, login_for
from exacell.transport.rack_transport import RackTransport, read_only_cellcli
from exacell.transport.replies import PROBLEMS, broken_off_reply, kept_answer, late_reply, reply_of, timed_out
from exacell.transport.ssh.hostkeys import Trust, append_key
from exacell.transport.ssh.reader import Reader
from exacell.transport.ssh.upload import send_files
from exacell.values import dataclass

if TYPE_CHECKING:
    import paramiko

    from exacell.transport.ssh.connection import Link
    from exacell.transport.ssh.opener import Offer, Opener

_GRACE_S = 0.5
"""Seconds by which a stage may outlast the timeout inside it, whose message is the better one."""
_PATIENCE = 9
"""Connect timeouts that another statement's connecting may take: name, connection and login, for two logins."""


@dataclass
class _Slot:
    """The place of one kept connection; its lock is held while one is being opened."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    link: Link | None = None
    lives: int = 0


class SshTransport(RackTransport):
    """Reaches one rack's cells and database nodes; see :class:`exacell.transport.base.Transport`.

    Args:
        local: runs what needs no SSH. Default: this host, when it is one of the rack's database nodes.

    Attributes:
        long_lived: whether reads may go to a CellCLI that is kept open.
        expects_more: whether already the first read on each connection goes there; so it is after :meth:`warm`.
    """

    capabilities = SSH

    def __init__(
        self,
        rack: RackConfig,
        settings: Settings | None = None,
        *,
        read_only: bool = False,
        local: LocalRunner | None = None,
    ) -> None:
        super().__init__(rack, settings, read_only=read_only)
        self._local = local or LocalRunner(rack)
        self._slots: dict[tuple[str, str | None], _Slot] = {}
        self._opener: Opener | None = None
        self._reader = Reader()
        self.long_lived = True

    @property
    def single_reads(self) -> dict[str, str]:
        """Targets where no CellCLI can be kept open, so that each read starts one, and why."""
        with self._lock:
            slots = list(self._slots.items())
        return {
            target: slot.link.sessions.problem
            for (target, _), slot in slots
            if slot.link is not None and slot.link.sessions is not None and slot.link.sessions.problem
        }

    def lives(self, target: str) -> int:
        """Return how often ``target`` has been connected to for reads: what was true of an earlier life may not be now."""
        with self._lock:
            user = self.rack.write_user if target in self._fallback else self.rack.read_user
            slot = self._slots.get((target, user))
        return slot.lives if slot is not None else 0

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Send all requests and return one reply for each target; see Transport.

        Raises:
            RefusedError: a request changes something and the transport is read-only.
            ValueError: two requests name the same target.
        """
        self._check(requests)
        return FanOut(
            requests, self._perform, limit=self.limit, on_reply=on_reply, cancel=cancel, start=self._start
        ).run()

    def close(self) -> None:
        """End all connections; commands under way end as failed. The next ``run`` connects anew."""
        with self._lock:
            slots, self._slots = list(self._slots.values()), {}
            opener, self._opener = self._opener, None
            self._fallback.clear()
        for slot in slots:
            link = slot.link
            if link is not None:
                link.close()
        if opener is not None:
            opener.close()
        self._reader.stop()

    def warm(self, targets: Sequence[str], role: Role = Role.READ) -> threading.Thread:
        """Open connections in the background and return the thread that does; problems show when they are used."""
        self.expects_more = True
        thread = threading.Thread(target=self.logins, args=(targets, role), name="exacell warm", daemon=True)
        thread.start()
        return thread

    def logins(self, targets: Sequence[str], role: Role) -> FleetResult:
        """Log in to targets on behalf of ``role``, run nothing, and return who could; what is open stays open."""

        def connect(flight: Flight) -> Reply:
            try:
                self._connect(flight, flight.request, login_for(self.rack, flight.request.target, role))
            except (TransportError, ConfigError) as error:
                return flight.reply(State.UNREACHABLE, error.message)
            return flight.reply(State.OK)

        requests = [Request(target=target, command="", role=role) for target in dict.fromkeys(targets)]
        return FanOut(requests, connect, limit=self.limit).run()

    def host_key(self, target: str) -> Offer:
        """Return the key that ``target`` (or a gateway) offers now and the verdict on it; nobody logs in.

        Raises:
            TransportError: it cannot be reached.
            ConfigError: the ssh_config is wrong.
        """
        return self._get_opener().offer(target, lambda late, seconds, abort: None)

    def trust(self, offer: Offer) -> str:
        """Write the offered key into the user's known_hosts and return the line written; empty if it was known.

        Raises:
            RefusedError: the key is changed or revoked: that takes an editor, not a word.
            TransportError: the file cannot be written.
        """
        if offer.verdict.trust in (Trust.CHANGED, Trust.REVOKED):
            raise RefusedError(offer.problem)
        if offer.verdict.trust is Trust.KNOWN:
            return ""
        return append_key(offer.trust_file, offer.verdict.name, offer.verdict.key, hashed=offer.hashed)

    def _get_opener(self) -> Opener:
        _import_opening()
        from exacell.transport.ssh.opener import Opener

        with self._lock:
            if self._opener is None:
                self._opener = Opener(
                    ssh_config=self.rack.ssh_config,
                    connect_timeout=self.rack.connect_timeout,
                    default_timeout=self.settings.connect_timeout,
                    reader=self._reader,
                )
            self._opener.default_timeout = self.settings.connect_timeout
            return self._opener

    def _start(self, flight: Flight) -> bool:
        """Send a request on its kept connection and return True; False when that would have to be opened first."""
        request = flight.request
        if request.upload is not None or self._local.takes(request):
            return False
        try:
            login = self._login(request)
        except ConfigError:
            return False
        falls_back = self._falls_back(request)
        user = self.rack.write_user if falls_back and request.target in self._fallback else login.user
        slot = self._slots.get((request.target, user))
        link = slot.link if slot is not None else None
        if link is None or link.wire is None or not link.alive:
            return False
        command = read_only_cellcli(request.command) if user != login.user else login.command(request.command)
        self._ask(flight, link, command, kept=True)
        return True

    def _perform(self, flight: Flight, *, alone: bool = False) -> Reply | None:
        """Connect and send one request; runs in a worker. None when the answer comes without one.

        Args:
            alone: no CellCLI that is kept is asked.
        """
        request = flight.request
        if self._local.takes(request):
            return self._local.run(flight, self.seconds(request))
        try:
            login = self._login(request)
            link, kept, command = self._connect(flight, request, login)
            if link.wire is not None and request.upload is None:
                (self._send if alone and request.pair is None else self._ask)(flight, link, command, kept=kept)
                return None
            return self._run_in_worker(flight, link, command, kept=kept)
        except (TransportError, ConfigError) as error:
            return flight.reply(State.UNREACHABLE, error.message)

    def _ask(self, flight: Flight, link: Link, command: str, *, kept: bool) -> None:
        """Have a long-lived CellCLI answer, where the request allows it and one is worth it, else send the command."""
        from exacell.transport.ssh.kept_cellcli import Question, Session

        request, wire, sessions = flight.request, link.wire, link.sessions
        assert wire is not None and sessions is not None
        feed = request.feed
        if request.pair is not None:
            self._send_paired(flight, link, kept=kept)
            return
        if request.role is not Role.READ or request.login is not None or feed is None or not self.long_lived:
            self._send(flight, link, command, kept=kept)
            return
        link.reads += 1
        if sessions.problem or (link.reads == 1 and not self.expects_more):
            self._send(flight, link, command, kept=kept)
            return
        seconds = self.seconds(request)
        ends, limit = time.monotonic() + seconds, self.settings.max_answer
        asked: list[Session] = []

        def late() -> Reply:
            partial = asked[0].partial if asked else b""
            return timed_out(flight, link, seconds, partial.decode("utf-8", "backslashreplace"))

        def stop() -> None:
            for session in asked:
                wire.reader.call(session.end, of=wire)

        def answered(answer: bytes | Store) -> None:
            if request.on_output is not None:
                _hear(flight, answer if isinstance(answer, bytes) else answer.text.encode())
            flight.finish(lambda: kept_answer(flight, link, answer))

        def broken_off(end: End) -> None:
            flight.finish(broken_off_reply(flight, end, limit))

        def lost(reason: str) -> None:
            # The deadline stays: a cell that does not answer is told of when its time is over, whoever was asked.
            if not flight.abandoned:
                self._send(flight, link, command, kept=kept, ends=ends)

        def ask() -> None:
            question = Question(
                statements=feed.statements, on_answer=answered, on_lost=lost, limit=limit, on_limit=broken_off
            )
            session = sessions.ask(feed, question)
            if session is None:
                self._send(flight, link, command, kept=kept)
            else:
                asked.append(session)

        flight.stage(seconds, abort=stop, late=late)
        wire.reader.call(ask, of=wire)

    def _send(self, flight: Flight, link: Link, command: str, *, kept: bool, ends: float | None = None) -> None:
        """Send ``command`` as a stream of the link's wire; the reader's thread sees it through to its reply.

        Args:
            ends: a :func:`time.monotonic` moment by which the answer has to be there; None: its seconds begin when it
                is sent.
        """
        from exacell.transport.ssh.stream import Stream

        request, wire = flight.request, link.wire
        assert wire is not None
        hear = None if request.on_output is None else functools.partial(_hear, flight)
        capture = Capture(hear, limit=self.settings.max_answer)
        seconds = self.seconds(request)

        def may_be_sent() -> None:
            # Whose flight was answered meanwhile has been told that nothing was sent: this cancels it.
            flight.stage(seconds if ends is None else ends - time.monotonic(), abort=stream.cancel, late=late)

        def late() -> Reply:
            if stream.exit_status is not None:
                # It ended; something that it left running holds its output open.
                return reply_of(flight, link, Ending(end=End.STATUS, exit_status=stream.exit_status), capture)
            large = request.in_pieces and len(capture.output) > SPILL
            return timed_out(flight, link, seconds, "" if large else capture.stdout, capture.stderr)

        def ended(ending: Ending) -> None:
            if stream.refused:
                flight.finish(flight.reply(State.NOT_ATTEMPTED, stream.refused))
            elif ending.end is End.LOST and kept and (not stream.sent or (capture.empty and not request.role.changes)):
                # The connection was dead already. What was not sent may be sent anew, and so may a read.
                flight.go_on(functools.partial(self._perform, alone=True))
            elif ending.end is End.NO_CHANNEL:
                problem = PROBLEMS[ending.end].format(refusal=stream.refusal)
                flight.finish(flight.reply(State.UNREACHABLE, problem))
            elif ending.end is End.LOST and not stream.sent:
                flight.finish(flight.reply(State.UNREACHABLE, f"the connection was lost ({link.last_words})"))
            else:
                flight.finish(lambda: reply_of(flight, link, ending, capture))

        stream = Stream(
            wire, command, capture, stdin=(request.stdin or "").encode("utf-8", "surrogateescape"), on_end=ended
        )
        capture.on_limit = stream.break_off
        stream.on_channel = may_be_sent
        stream.ours = request.ours
        patience = self.connect_timeout
        problem = f"the connection is silent for {patience:g}s"
        flight.stage(patience + _GRACE_S, abort=stream.cancel, late=lambda: flight.reply(State.UNREACHABLE, problem))
        stream.start(patience, link.close)

    def _send_paired(self, flight: Flight, link: Link, *, kept: bool) -> None:
        """Have a program of its own take a look and the statement upon it; the reader's thread sees both through."""
        from exacell.transport.ssh.stream import Stream

        pair, wire = flight.request.pair, link.wire
        assert pair is not None and wire is not None

        def again() -> bool:
            if kept:
                flight.go_on(functools.partial(self._perform, alone=True))
            return kept

        driver = StreamPair(flight, link, self.seconds(flight.request), again=again)
        program = self._login(flight.request).command(pair.program)
        stream = driver.stream = Stream(wire, program, driver, stdin=None, on_end=driver.ended)
        stream.on_open = driver.opened
        stream.on_channel = lambda: flight.stage(pair.within, abort=stream.cancel, late=driver.late)
        patience = self.connect_timeout
        problem = f"the connection is silent for {patience:g}s"
        flight.stage(patience + _GRACE_S, abort=stream.cancel, late=lambda: flight.reply(State.UNREACHABLE, problem))
        stream.start(patience, link.close)

    def _run_in_worker(self, flight: Flight, link: Link, command: str, *, kept: bool) -> Reply:
        """Run a request on a connection with a thread of its own, or an upload on any."""
        request, seconds = flight.request, self.seconds(flight.request)
        try:
            channel = self._open_channel(flight, link)
        except TransportError:
            # Nothing was sent: even a write may go to a new connection.
            if not kept or link.alive:
                raise
            return self._again(flight)
        if request.pair is not None:
            pair = replace(request.pair, program=self._login(request).command(request.pair.program))
            return over_channel(flight, link, channel, pair, seconds, functools.partial(hang_up, channel))
        why = wait_until_ours(request)
        if why:
            hang_up(channel)
            return flight.reply(State.NOT_ATTEMPTED, why)
        capture = Capture(request.on_output, limit=self.settings.max_answer)
        late = late_reply(flight, link, channel, capture, seconds)
        flight.stage(seconds, abort=functools.partial(hang_up, channel), late=late)
        if request.upload is not None:
            ending = send_files(channel, request.upload, capture)
        else:
            ending = execute(channel, command, request.stdin, capture)
        if ending.end is End.LOST and kept and capture.empty and not request.role.changes:
            return self._again(flight)
        return reply_of(flight, link, ending, capture)

    def _again(self, flight: Flight) -> Reply:
        """Run a request anew, on a connection that is opened for it."""
        login = self._login(flight.request)
        link, _, command = self._connect(flight, flight.request, login)
        return self._run_in_worker(flight, link, command, kept=False)

    def _login(self, request: Request) -> Login:
        return Login(user=request.login) if request.login else login_for(self.rack, request.target, request.role)

    def _connect(self, flight: Flight, request: Request, login: Login) -> tuple[Link, bool, str]:
        """Return a live link, whether it was kept from before, and the command as it has to be sent on it."""
        _import_opening()
        from exacell.transport.ssh.connection import AuthRefusedError

        target, write_user = request.target, self.rack.write_user
        falls_back = self._falls_back(request)
        if falls_back and target in self.read_fallback:
            return (*self._kept_link(flight, target, write_user), read_only_cellcli(request.command))
        try:
            return (*self._kept_link(flight, target, login.user), login.command(request.command))
        except AuthRefusedError as refused:
            if not falls_back:
                raise
            try:
                link, kept = self._kept_link(flight, target, write_user)
            except AuthRefusedError:
                raise TransportError(f"{refused.message}; {write_user} is refused too") from refused
        self._fell_back([target])
        return link, kept, read_only_cellcli(request.command)

    def _kept_link(self, flight: Flight, target: str, user: str | None) -> tuple[Link, bool]:
        """Return the open link of this login, opening it when there is none, and whether it was open already."""
        key = (target, user)
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())

        def progress(late: str, seconds: float, abort: Callable[[], None]) -> None:
            flight.stage(seconds, abort=abort, late=lambda: flight.reply(State.UNREACHABLE, late))

        patience = _PATIENCE * self.connect_timeout
        progress("another statement is still connecting to it", patience, _nothing)
        with slot.lock:
            if slot.link is not None and slot.link.alive:
                return slot.link, True
            opener = self._get_opener()
            link = opener.open(target, user, progress)
            slot.link = link
            slot.lives += 1
        with self._lock:
            closed = self._slots.get(key) is not slot
        if closed:
            link.close()
            raise TransportError("the connections were closed meanwhile")
        return link, False

    def _open_channel(self, flight: Flight, link: Link) -> paramiko.Channel:
        seconds = self.connect_timeout
        problem = f"the connection is silent for {seconds:g}s"
        flight.stage(seconds + _GRACE_S, abort=link.close, late=lambda: flight.reply(State.UNREACHABLE, problem))
        return link.open_channel(seconds)


def _import_opening() -> None:
    from exacell.transport.ssh.fabric_import import import_fabric

    import_fabric()
    import exacell.transport.ssh.opener  # noqa: F401


def _hear(flight: Flight, piece: bytes) -> None:
    """Tell who listens of a piece of output; what goes wrong there ends the flight, not the connection it came by."""
    try:
        if flight.request.on_output is not None:
            flight.request.on_output(piece)
    except BaseException as error:  # Handed to the caller of run(), who raises it.
        flight.finish(error)


def _nothing() -> None:
    """Abort a stage that nothing can interrupt."""
