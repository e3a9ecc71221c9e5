"""Makes the transport that a rack is reached by; of those that run another program, only the one that is wanted is imported."""

from __future__ import annotations

from exacell.core.config import RackConfig, Settings, transport_name
from exacell.transport.base import Transport
from exacell.transport.composite import CompositeTransport
from exacell.transport.ssh import SshTransport


def make_transport(rack: RackConfig, settings: Settings) -> Transport:
    """Return a new transport for a rack: what the session's settings say, else the rack's own choice, else ssh.

    Raises:
        ConfigError: the program behind it is not there, or what it needs to know is missing or wrong.
    """
    name = transport_name(rack.reach, settings.transport)
    if name == "ssh":
        return SshTransport(rack, settings)
    if name == "openssh":
        from exacell.transport.openssh import OpensshTransport

        return OpensshTransport(rack, settings)
    return CompositeTransport(_cells_only(name, rack, settings), SshTransport(rack, settings))


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
    return transport if isinstance(transport, SshTransport) else SshTransport(rack, settings)
