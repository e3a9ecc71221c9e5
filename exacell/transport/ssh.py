"""The default transport: SSH connections kept open, one channel a command, every target accounted for.

Importing this module is cheap; fabric and paramiko come with the first connection, or earlier in the background
(:func:`preload`). A command is sent at most once, with one exception: a read whose kept connection turns out to be dead
before any byte came back is sent again on a new one. Writes never are.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exacell.cellset import fold
from exacell.config import RackConfig, Settings
from exacell.errors import ConfigError, RefusedError, TransportError
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, Role, State
from exacell.transport.channel import Capture, End, Ending, execute, hang_up
from exacell.transport.fanout import FanOut, Flight
from exacell.transport.hostkeys import Trust, append_key
from exacell.transport.local import LocalRunner
from exacell.transport.login import Login, login_for
from exacell.transport.upload import send_files

if TYPE_CHECKING:
    import paramiko

    from exacell.transport.link import Link
    from exacell.transport.opening import Offer, Opener

RewriteRead = Callable[[str], str]

_GRACE_S = 0.5
"""Seconds by which a stage may outlast the timeout inside it, whose message is the better one."""
_PATIENCE = 9
"""Connect timeouts that another statement's connecting may take: name, connection and login, for two logins."""
_PROBLEMS = {
    End.STATUS: "exit status {status}",
    End.NO_STATUS: "the command ended without an exit status, as after a signal",
    End.REFUSED: "the SSH server refused to run a command for this login (a forced command or a closed shell)",
    End.LOST: "the connection was lost after the command was sent: whether it ran to its end is unknown",
}


def read_only_cellcli(command: str) -> str:
    """Return ``command`` with ``cellcli`` told to change nothing (``-m``): for reads that run as the write login."""
    return f"cellcli -m {command[8:]}" if command.startswith("cellcli ") else command


@dataclass
class _Slot:
    """The place of one kept connection; its lock is held while one is being opened."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    link: Link | None = None


class SshTransport:
    """Reaches one rack's cells and database nodes; see :class:`exacell.transport.base.Transport`.

    Args:
        rewrite_read: changes a read's command when it has to run as the write login (see ``read_fallback``).
        local: runs what needs no SSH. Default: this host, when it is one of the rack's database nodes.

    Attributes:
        settings: timeouts and fan-out where the rack sets none; may be replaced at any time.
        read_only: see Transport.
    """

    def __init__(
        self,
        rack: RackConfig,
        settings: Settings | None = None,
        *,
        read_only: bool = False,
        rewrite_read: RewriteRead = read_only_cellcli,
        local: LocalRunner | None = None,
    ) -> None:
        self.rack = rack
        self.settings = settings or Settings()
        self.read_only = read_only
        self._rewrite_read = rewrite_read
        self._local = local or LocalRunner(rack)
        self._lock = threading.Lock()
        self._slots: dict[tuple[str, str | None], _Slot] = {}
        self._opener: Opener | None = None
        self._fallback: set[str] = set()

    @property
    def read_fallback(self) -> frozenset[str]:
        """Targets whose read login was refused, so that reads run as the write login, rewritten to change nothing."""
        with self._lock:
            return frozenset(self._fallback)

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
        targets = [request.target for request in requests]
        if len(set(targets)) != len(targets):
            raise ValueError("two requests name the same target")
        writes = [request.target for request in requests if request.role.changes]
        if self.read_only and writes:
            raise RefusedError(
                f"rack {self.rack.name} is read-only: nothing was sent to {fold(writes)}", hint="set mode rw"
            )
        limit = self.rack.fanout or self.settings.fanout
        return FanOut(requests, self._perform, limit=limit, on_reply=on_reply, cancel=cancel).run()

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

    def warm(self, targets: Sequence[str], role: Role = Role.READ) -> threading.Thread:
        """Open connections in the background and return the thread that does; problems show when they are used."""

        def connect(flight: Flight) -> Reply:
            try:
                self._connect(flight, flight.request, login_for(self.rack, flight.request.target, role))
            except (TransportError, ConfigError) as error:
                return flight.reply(State.UNREACHABLE, error.message)
            return flight.reply(State.OK)

        requests = [Request(target=target, command="", role=role) for target in dict.fromkeys(targets)]
        fan_out = FanOut(requests, connect, limit=self.rack.fanout or self.settings.fanout)
        thread = threading.Thread(target=fan_out.run, name="exacell warm", daemon=True)
        thread.start()
        return thread

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
        from exacell.transport.opening import Opener

        with self._lock:
            if self._opener is None:
                self._opener = Opener(
                    ssh_config=self.rack.ssh_config,
                    connect_timeout=self.rack.connect_timeout,
                    default_timeout=self.settings.connect_timeout,
                )
            self._opener.default_timeout = self.settings.connect_timeout
            return self._opener

    def _perform(self, flight: Flight) -> Reply:
        """Work one flight through to its reply; runs in a worker thread."""
        request = flight.request
        seconds = request.timeout or self.rack.command_timeout or self.settings.timeout
        if self._local.takes(request):
            return self._local.run(flight, seconds)
        try:
            login = Login(user=request.login) if request.login else login_for(self.rack, request.target, request.role)
            for may_retry in (True, False):
                link, kept, command = self._connect(flight, request, login)
                retriable = kept and may_retry
                try:
                    channel = self._open_channel(flight, link)
                except TransportError:
                    # Nothing was sent: even a write may go to a new connection.
                    if retriable and not link.alive:
                        continue
                    raise
                capture = Capture(on_output=request.on_output)
                late = _late(flight, link, channel, capture, seconds)
                flight.stage(seconds, abort=functools.partial(hang_up, channel), late=late)
                if request.upload is not None:
                    ending = send_files(channel, request.upload, capture)
                else:
                    ending = execute(channel, command, request.stdin, capture)
                if ending.end is End.LOST and retriable and capture.empty and not request.role.changes:
                    continue
                return _reply(flight, link, ending, capture)
        except (TransportError, ConfigError) as error:
            return flight.reply(State.UNREACHABLE, error.message)
        raise AssertionError("the second attempt always ends in a reply")

    def _connect(self, flight: Flight, request: Request, login: Login) -> tuple[Link, bool, str]:
        """Return a live link, whether it was kept from before, and the command as it has to be sent on it."""
        from exacell.transport.link import AuthRefusedError

        target, write_user = request.target, self.rack.write_user
        own_login = request.login is not None
        falls_back = request.role is Role.READ and self.rack.read_user != write_user and not own_login
        if falls_back and target in self.read_fallback:
            return (*self._kept_link(flight, target, write_user), self._rewrite_read(request.command))
        try:
            return (*self._kept_link(flight, target, login.user), login.command(request.command))
        except AuthRefusedError as refused:
            if not falls_back:
                raise
            try:
                link, kept = self._kept_link(flight, target, write_user)
            except AuthRefusedError:
                raise TransportError(f"{refused.message}; {write_user} is refused too") from refused
        with self._lock:
            self._fallback.add(target)
        return link, kept, self._rewrite_read(request.command)

    def _kept_link(self, flight: Flight, target: str, user: str | None) -> tuple[Link, bool]:
        """Return the open link of this login, opening it when there is none, and whether it was open already."""
        key = (target, user)
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())

        def progress(late: str, seconds: float, abort: Callable[[], None]) -> None:
            flight.stage(seconds, abort=abort, late=lambda: flight.reply(State.UNREACHABLE, late))

        patience = _PATIENCE * (self.rack.connect_timeout or self.settings.connect_timeout)
        progress("another statement is still connecting to it", patience, _nothing)
        with slot.lock:
            if slot.link is not None and slot.link.alive:
                return slot.link, True
            opener = self._get_opener()
            link = opener.open(target, user, progress)
            slot.link = link
        with self._lock:
            closed = self._slots.get(key) is not slot
        if closed:
            link.close()
            raise TransportError("the connections were closed meanwhile")
        return link, False

    def _open_channel(self, flight: Flight, link: Link) -> paramiko.Channel:
        seconds = self.rack.connect_timeout or self.settings.connect_timeout
        problem = f"the connection is silent for {seconds:g}s"
        flight.stage(seconds + _GRACE_S, abort=link.close, late=lambda: flight.reply(State.UNREACHABLE, problem))
        return link.open_channel(seconds)


def preload() -> threading.Thread:
    """Import fabric and paramiko in the background and return the thread that does."""
    thread = threading.Thread(target=_import_opening, name="exacell preload", daemon=True)
    thread.start()
    return thread


def _import_opening() -> None:
    import exacell.transport.opening  # noqa: F401


def _nothing() -> None:
    """Abort a stage that nothing can interrupt."""


def _late(
    flight: Flight, link: Link, channel: paramiko.Channel, capture: Capture, seconds: float
) -> Callable[[], Reply]:
    def reply() -> Reply:
        if channel.exit_status_ready() and channel.exit_status >= 0:
            # It ended; something that it left running holds its output open.
            return _reply(flight, link, Ending(end=End.STATUS, exit_status=channel.exit_status), capture)
        return flight.reply(
            State.TIMED_OUT,
            f"no end within {seconds:g}s; what was sent may still be running there (set timeout raises the limit)",
            stdout=capture.stdout,
            stderr=capture.stderr,
            fingerprint=link.fingerprint,
        )

    return reply


def _reply(flight: Flight, link: Link, ending: Ending, capture: Capture) -> Reply:
    state = State.OK if ending.exit_status == 0 else State.FAILED
    return flight.reply(
        state,
        "" if state is State.OK else _PROBLEMS[ending.end].format(status=ending.exit_status),
        stdout=capture.stdout,
        stderr=capture.stderr,
        exit_status=ending.exit_status,
        fingerprint=link.fingerprint,
        banner=link.banner,
    )
