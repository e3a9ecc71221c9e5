"""The default transport: SSH connections that stay open, one channel per command, one reply per target.

fabric opens the connections, and one reader of exacell reads them all. Only this package uses private names of paramiko:
:mod:`~exacell.transport.ssh.wire` and :mod:`~exacell.transport.ssh.packets` list them; if one is missing, each
connection keeps paramiko's own thread. Importing this package is cheap; fabric and paramiko are imported with the first
connection.

A command is sent at most once, with one exception: a read whose kept connection turns out to be dead before any byte came
back is sent again on a new one. Changes are never sent again.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from exacell.core.belonging import Identity
from exacell.core.collecting import loading
from exacell.core.config import RackConfig, Settings
from exacell.core.errors import ConfigError, RefusedError, TransportError
from exacell.core.values import replace
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, Role, State
from exacell.transport.capabilities import SSH
from exacell.transport.fanout import FanOut, Flight
from exacell.transport.local import LocalRunner
from exacell.transport.rack_transport import RackTransport, login_for
from exacell.transport.ssh.hostkeys import Trust, append_key, own_host_keys
from exacell.transport.ssh.reader import Reader
from exacell.transport.ssh.room import make_room

if TYPE_CHECKING:
    from exacell.transport.ssh.opener import Offer
    from exacell.transport.ssh.sending import Sender


class SshTransport(RackTransport):
    """Reaches one rack's cells and database nodes, and any other host; see :class:`exacell.transport.base.Transport`.

    Args:
        local: runs requests that need no SSH. Default: this host, if it is one of the rack's database nodes.

    Attributes:
        expects_more: whether even the first read on each connection goes to a CellCLI that is kept open; :meth:`warm` sets it
            to True.
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
        self._reader = Reader()
        self._sender: Sender | None = None

    @property
    def single_reads(self) -> Mapping[str, str]:
        """Return target → why no CellCLI can be kept open there, so that each read starts one."""
        return self._sender.connections.single_reads if self._sender is not None else {}

    @property
    def host_keys(self) -> Mapping[str, str]:
        """Return target → the host key it has shown, for targets that were connected to."""
        return self._sender.connections.host_keys if self._sender is not None else {}

    @property
    def places(self) -> frozenset[Path]:
        """Return the files of ssh_config and known_hosts that were read or looked for so far, and the folders of Include."""
        return self._sender.connections.places if self._sender is not None else frozenset()

    @property
    def open_connections(self) -> int:
        """Return how many connections are open."""
        return self._sender.connections.open if self._sender is not None else 0

    def shows(self, target: str, *, addresses: bool = False) -> Identity:
        """Return the host keys of ``target``, shown or in known_hosts; for this host itself, its own keys too."""
        shown = self._sending().connections.shown(target, addresses=addresses)
        return replace(shown, keys=shown.keys | own_host_keys()) if self._local.is_here(target) else shown

    def lives(self, target: str) -> int:
        """Return how often ``target`` has been connected to for reads: facts from an earlier connection may be outdated."""
        if self._sender is None:
            return 0
        user = self.rack.write_user if target in self.read_fallback else self.rack.read_user
        return self._sender.connections.lives(target, user)

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
            TransportError: this process may not open so many connections; nothing has been sent.
            ValueError: two requests have the same target.
        """
        self._check(requests)
        requests = self._gated(requests)
        connections = self._sender.connections if self._sender is not None else None
        make_room(sum(connections is None or not connections.any_to(request.target) for request in requests))
        return self._carried_out(
            FanOut(requests, self._perform, limit=self.limit, on_reply=on_reply, cancel=cancel, start=self._start)
        )

    def close(self) -> None:
        """Close all connections; commands in progress end as failed. The next ``run`` opens new ones."""
        self.forget_fallback()
        if self._sender is not None:
            self._sender.connections.close()
        self._reader.stop()

    def warm(self, targets: Sequence[str], role: Role = Role.READ) -> threading.Thread:
        """Open connections in a background thread and return that thread; problems are reported when they are used."""
        self.expects_more = True
        thread = threading.Thread(target=self.logins, args=(targets, role), name="exacell warm", daemon=True)
        thread.start()
        return thread

    def logins(self, targets: Sequence[str], role: Role) -> FleetResult:
        """Log in to targets for ``role``, run nothing, and return one reply per target; the connections stay open."""

        def connect(flight: Flight) -> Reply:
            try:
                login = login_for(self.rack, flight.request.target, role)
                self._sending().connections.connect(flight, login)
            except (TransportError, ConfigError) as error:
                return flight.reply(State.UNREACHABLE, error.message)
            return flight.reply(State.OK)

        requests = [Request(target=target, command="", role=role) for target in dict.fromkeys(targets)]
        return self._carried_out(FanOut(requests, connect, limit=self.limit))

    def host_key(self, target: str) -> Offer:
        """Return the key that ``target`` (or a gateway) offers now, and the verdict on it, without a login.

        Raises:
            TransportError: the host cannot be reached.
            ConfigError: the ssh_config is wrong.
        """
        return self._sending().connections.offer(target)

    def trust(self, offer: Offer) -> str:
        """Write the offered key into the user's known_hosts and return the line written; empty if it was known.

        Raises:
            RefusedError: the key is changed or revoked: that needs an editor, and `trust` is not enough.
            TransportError: the file cannot be written.
        """
        if offer.verdict.trust in (Trust.CHANGED, Trust.REVOKED):
            raise RefusedError(offer.problem)
        if offer.verdict.trust is Trust.KNOWN:
            return ""
        return append_key(offer.trust_file, offer.verdict.name, offer.verdict.key, hashed=offer.hashed)

    def _start(self, flight: Flight) -> bool:
        """Send a request on its kept connection and return True; return False if a worker has to do more than that."""
        if self._sender is None or flight.request.upload is not None or self._local.takes(flight.request):
            return False
        return self._sender.start(flight)

    def _perform(self, flight: Flight) -> Reply | None:
        """Carry out a request in a worker; return None if the answer comes without the worker."""
        if self._local.takes(flight.request):
            return self._local.run(flight, self.seconds(flight.request))
        return self._sending().perform(flight)

    def _sending(self) -> Sender:
        """Return the sender; the first call imports fabric and paramiko, which takes a tenth of a second."""
        if self._sender is None:
            with loading():
                from exacell.transport.ssh.fabric_import import import_fabric

                import_fabric()
                from exacell.transport.ssh.sending import Sender

            with self._lock:
                self._sender = self._sender or Sender(self, self._reader)
        return self._sender
