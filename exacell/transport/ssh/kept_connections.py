"""Keep a rack's open connections: one per target and login, opened when needed. Imports fabric and paramiko."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import paramiko

from exacell.core.belonging import Identity
from exacell.core.errors import TransportError
from exacell.core.values import dataclass, field
from exacell.transport.base import State
from exacell.transport.fanout import Abort, Flight
from exacell.transport.rack_transport import Login, RackTransport
from exacell.transport.ssh.connection import Connection
from exacell.transport.ssh.opener import Offer, Opener
from exacell.transport.ssh.reader import Reader

GRACE_S = 0.5
"""A stage may last so many seconds longer than the timeout inside it, because that has the better message."""
_PATIENCE = 9
"""How long to wait for a login by another statement, in connect timeouts: name, connection and login, for two logins."""


@dataclass
class _Slot:
    """One kept connection; its lock is held while it is being opened."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    connection: Connection | None = None
    lives: int = 0


class KeptConnections:
    """The connections of one transport. Thread-safe.

    Args:
        transport: the owner: its rack, its timeouts, and for which targets its reads use the write login.
        reader: reads the connections.
    """

    def __init__(self, transport: RackTransport, reader: Reader) -> None:
        self._transport = transport
        self._reader = reader
        self._lock = threading.Lock()
        self._slots: dict[tuple[str, str | None], _Slot] = {}
        self._opener: Opener | None = None

    @property
    def single_reads(self) -> dict[str, str]:
        """Return target → why no CellCLI can be kept open there, so that each read starts one."""
        with self._lock:
            slots = list(self._slots.items())
        return {
            target: slot.connection.sessions.problem
            for (target, _), slot in slots
            if slot.connection is not None and slot.connection.sessions is not None and slot.connection.sessions.problem
        }

    @property
    def host_keys(self) -> dict[str, str]:
        """Return target → the host key it has shown."""
        return dict(self._opener.host_keys) if self._opener is not None else {}

    @property
    def places(self) -> frozenset[Path]:
        """Return the files read so far that decide how targets are reached and trusted; see :attr:`Opener.places`."""
        return self._opener.places if self._opener is not None else frozenset()

    @property
    def open(self) -> int:
        """Return how many connections are open."""
        with self._lock:
            slots = list(self._slots.values())
        return sum(slot.connection is not None and slot.connection.alive for slot in slots)

    def shown(self, target: str, *, addresses: bool) -> Identity:
        """Return the known identity of ``target``; see :meth:`Opener.shown`."""
        return self._get_opener().shown(target, addresses=addresses)

    def lives(self, target: str, user: str | None) -> int:
        """Return how often the connection of a login was opened."""
        with self._lock:
            slot = self._slots.get((target, user))
        return slot.lives if slot is not None else 0

    def any_to(self, target: str) -> bool:
        """Return whether a connection to ``target`` is open, for any login."""
        with self._lock:
            slots = [slot for (name, _), slot in self._slots.items() if name == target]
        return any(slot.connection is not None for slot in slots)

    def ready(self, target: str, user: str | None) -> Connection | None:
        """Return the open connection of a login, without waiting, if the shared reader reads it; else None."""
        slot = self._slots.get((target, user))
        connection = slot.connection if slot is not None else None
        return connection if connection is not None and connection.wire is not None and connection.alive else None

    def offer(self, target: str) -> Offer:
        """Return the host key that ``target`` offers now.

        Raises:
            TransportError, ConfigError: see :meth:`Opener.offer`.
        """
        return self._get_opener().offer(target, lambda late, seconds, abort: None)

    def connect(self, flight: Flight, login: Login) -> tuple[Connection, bool, str]:
        """Return an open connection, whether it was open already, and the command to send on it.

        Raises:
            TransportError, ConfigError: see :meth:`Opener.open`.
        """
        request = flight.request

        def log_in(user: str | None) -> tuple[Connection, bool]:
            return self._kept(flight, request.target, user)

        (connection, kept), command = self._transport.logged_in(request, login, log_in)
        return connection, kept, command

    def open_channel(self, flight: Flight, connection: Connection) -> paramiko.Channel:
        """Return a new channel of a connection for a flight.

        Raises:
            TransportError: no channel could be opened.
        """
        self.await_channel(flight, connection.close)
        return connection.open_channel(self._transport.connect_timeout)

    def await_channel(self, flight: Flight, abort: Abort) -> float:
        """Declare the stage in which a flight waits for a channel, and return the seconds that this may take."""
        seconds = self._transport.connect_timeout
        problem = f"the connection is silent for {seconds:g}s"
        flight.stage(seconds + GRACE_S, abort=abort, late=lambda: flight.reply(State.UNREACHABLE, problem))
        return seconds

    def close(self) -> None:
        """Close all connections; the next use opens new ones."""
        with self._lock:
            slots, self._slots = list(self._slots.values()), {}
            opener, self._opener = self._opener, None
        for slot in slots:
            connection = slot.connection
            if connection is not None:
                connection.close()
        if opener is not None:
            opener.close()

    def _kept(self, flight: Flight, target: str, user: str | None) -> tuple[Connection, bool]:
        """Return the connection of a login, opened if necessary, and whether it was open already."""
        key = (target, user)
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())

        def progress(late: str, seconds: float, abort: Callable[[], None]) -> None:
            flight.stage(seconds, abort=abort, late=lambda: flight.reply(State.UNREACHABLE, late))

        progress("another statement is still connecting to it", _PATIENCE * self._transport.connect_timeout, _nothing)
        with slot.lock:
            if slot.connection is not None and slot.connection.alive:
                return slot.connection, True
            opener = self._get_opener()
            connection = opener.open(target, user, progress)
            if connection.sessions is not None:
                connection.sessions.idle_s, connection.sessions.turn_s = self._transport.idle_s, self._transport.turn_s
                connection.sessions.again_s = self._transport.again_s
            if connection.wire is not None and self._transport.acknowledged_ms:
                connection.wire.acknowledged_within(self._transport.acknowledged_ms)
            slot.connection = connection
            slot.lives += 1
        with self._lock:
            closed = self._slots.get(key) is not slot
        if closed:
            connection.close()
            raise TransportError(
                "the connections were closed meanwhile", hint="type the statement again; exacell connects again"
            )
        return connection, False

    def _get_opener(self) -> Opener:
        rack, settings = self._transport.rack, self._transport.settings
        with self._lock:
            if self._opener is None:
                self._opener = Opener(
                    ssh_config=rack.ssh_config,
                    no_programs=rack.no_programs,
                    connect_timeout=rack.connect_timeout,
                    default_timeout=settings.connect_timeout,
                    reader=self._reader,
                )
            self._opener.default_timeout = settings.connect_timeout
            return self._opener


def _nothing() -> None:
    """Do nothing: this stage can't be interrupted."""
