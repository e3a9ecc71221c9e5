"""Create the transport of a rack; the module of a transport is imported only if it is wanted."""

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
    """Return a new transport for a rack: the one in the session's settings, else the one that the rack names, else ssh.

    Args:
        hold: the rack's holder of connections, if reads over ssh are to ask it.

    Raises:
        ConfigError: the program it needs is missing, or its configuration is missing or wrong.
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
    from exacell.transport.ssh import SshTransport  # Not needed for answers from a holder.

    return SshTransport(rack, settings)


def _refuse_programs(config: Path, why: str) -> None:
    """Raise RefusedError if an ssh_config names a program that a program other than exacell would start.

    Raises:
        RefusedError: the message names the line.
    """
    from exacell.transport.ssh.programs import OWN_FILES
    from exacell.transport.ssh.sshconfig import SshConfigFiles, programs_named

    named = programs_named(SshConfigFiles.read(config))
    if named:
        raise RefusedError(
            f"{named[0]} names a program for this machine, and {why}; nothing was started", hint=OWN_FILES
        )


def _cells_only(name: str, rack: RackConfig, settings: Settings) -> Transport:
    """Return a transport that reaches only cells."""
    if name == "dcli":
        from exacell.transport.dcli import DcliTransport

        return DcliTransport(rack, settings)
    if name == "clush":
        from exacell.transport.clush import ClushTransport

        return ClushTransport(rack, settings)
    from exacell.transport.exacli import ExacliTransport

    return ExacliTransport(rack, settings)


def over_ssh(transport: Transport, rack: RackConfig, settings: Settings) -> SshTransport:
    """Return the transport that asks for host keys and trusts them: ``transport`` itself if it is exacell's SSH, else a new one.

    The programs of the other transports read the same known_hosts.
    """
    from exacell.transport.ssh import SshTransport

    return transport if isinstance(transport, SshTransport) else SshTransport(rack, settings)


_NODES = (Role.ASM_READ, Role.ASM_WRITE, Role.HOST_READ, Role.HOST_WRITE)


class CompositeTransport(Transport):
    """Two transports, for cells and for other hosts; ``capabilities`` are those of the cells' transport."""

    def __init__(self, cells: Transport, nodes: Transport) -> None:
        self._cells = cells
        self._nodes = nodes
        self.capabilities = cells.capabilities

    @property
    def read_fallback(self) -> frozenset[str]:
        """Return the cells whose read login was refused; see Transport."""
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
        """Return the identity of ``target`` that exacell's SSH knows; see Transport."""
        return self._nodes.shows(target, addresses=addresses)

    @property
    def host_keys(self) -> Mapping[str, str]:
        """Return the host keys of the targets that exacell's SSH has connected to."""
        return self._nodes.host_keys

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Send the requests to nodes and hosts first, then those to cells, and return the replies in the requests' order."""
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
        """Return the targets that have not ended, of both transports."""
        return (*self._nodes.awaited, *self._cells.awaited)

    def close(self) -> None:
        """Close the connections of both transports."""
        self._cells.close()
        self._nodes.close()
