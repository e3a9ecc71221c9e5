"""Makes the transport that a rack is reached by; of those that run another program, only the one that is wanted is imported."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from exacell.core.belonging import Identity
from exacell.core.config import RackConfig, Settings, transport_name
from exacell.core.errors import RefusedError
from exacell.transport.base import FleetResult, Gate, Reply, ReplyHandler, Request, Role, Transport

if TYPE_CHECKING:
    from exacell.transport.held.place import Hold
    from exacell.transport.ssh import SshTransport


def make_transport(rack: RackConfig, settings: Settings, hold: Hold | None = None) -> Transport:
    """Return a new transport for a rack: what the session's settings say, else the rack's own choice, else ssh.

    Args:
        hold: the rack's holder of connections, where reads over ssh are to ask one.

    Raises:
        ConfigError: the program behind it is not there, or what it needs to know is missing or wrong.
    """
    name = transport_name(rack.reach, settings.transport)
    if name == "ssh" and hold is not None:
        from exacell.transport.held.client import HeldTransport

        return HeldTransport(rack, settings, hold)
    if name == "ssh":
        return _ssh(rack, settings)
    if rack.no_programs and rack.ssh_config is not None:
        _refuse_programs(rack.ssh_config, rack.no_programs)
    if name == "openssh":
        from exacell.transport.openssh import OpensshTransport

        return OpensshTransport(rack, settings)
    return CompositeTransport(_cells_only(name, rack, settings), _ssh(rack, settings))


def _ssh(rack: RackConfig, settings: Settings) -> SshTransport:
    from exacell.transport.ssh import SshTransport  # What a holder answers needs none of it.

    return SshTransport(rack, settings)


def _refuse_programs(config: Path, why: str) -> None:
    """Return when an ssh_config names no program that another program than exacell would start.

    Raises:
        RefusedError: it does.
    """
    from exacell.transport.ssh.programs import OWN_FILES
    from exacell.transport.ssh.sshconfig import SshConfigFiles, programs_named

    named = programs_named(SshConfigFiles.read(config))
    if named:
        raise RefusedError(
            f"{named[0]} names a program for this machine, and {why}; nothing was started", hint=OWN_FILES
        )


def _cells_only(name: str, rack: RackConfig, settings: Settings) -> Transport:
    """Return a transport that reaches cells alone."""
    if name == "dcli":
        from exacell.transport.dcli import DcliTransport

        return DcliTransport(rack, settings)
    if name == "clush":
        from exacell.transport.clush import ClushTransport

        return ClushTransport(rack, settings)
    from exacell.transport.exacli import ExacliTransport

    return ExacliTransport(rack, settings)


def over_ssh(transport: Transport, rack: RackConfig, settings: Settings) -> SshTransport:
    """Return what asks for host keys and trusts them: ``transport`` itself where it is ours over SSH, else a new one.

    The other transports' programs read the same known_hosts.
    """
    from exacell.transport.ssh import SshTransport

    return transport if isinstance(transport, SshTransport) else SshTransport(rack, settings)


_NODES = (Role.ASM_READ, Role.ASM_WRITE, Role.HOST_READ, Role.HOST_WRITE)


class CompositeTransport(Transport):
    """See :class:`exacell.transport.base.Transport`; ``capabilities`` are those of what reaches the cells."""

    def __init__(self, cells: Transport, nodes: Transport) -> None:
        self._cells = cells
        self._nodes = nodes
        self.capabilities = cells.capabilities

    @property
    def read_fallback(self) -> frozenset[str]:
        """Targets whose read login was refused; see the transports."""
        return self._cells.read_fallback

    @property
    def read_only(self) -> bool:
        """See Transport."""
        return self._cells.read_only

    @read_only.setter
    def read_only(self, value: bool) -> None:
        self._cells.read_only = value
        self._nodes.read_only = value

    @property
    def gate(self) -> Gate | None:
        """See Transport."""
        return self._cells.gate

    @gate.setter
    def gate(self, value: Gate | None) -> None:
        self._cells.gate = self._nodes.gate = value

    def shows(self, target: str, *, addresses: bool = False) -> Identity:
        """Return what our own SSH knows of ``target``; see Transport."""
        return self._nodes.shows(target, addresses=addresses)

    @property
    def host_keys(self) -> Mapping[str, str]:
        """The host keys of the targets that our own SSH has connected to."""
        return self._nodes.host_keys

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Send each request over its own way, the nodes' first, and return the replies in the order of the requests."""
        nodes = [request for request in requests if request.role in _NODES]
        cells = [request for request in requests if request.role not in _NODES]
        replies: dict[str, Reply] = {}
        if nodes:
            replies.update(self._nodes.run(nodes, on_reply=on_reply, cancel=cancel).replies)
        if cells:
            replies.update(self._cells.run(cells, on_reply=on_reply, cancel=cancel).replies)
        return FleetResult(targets=tuple(request.target for request in requests), replies=replies)

    @property
    def awaited(self) -> tuple[str, ...]:
        """The targets that have not ended, over both."""
        return (*self._nodes.awaited, *self._cells.awaited)

    def close(self) -> None:
        """End the connections of both."""
        self._cells.close()
        self._nodes.close()
