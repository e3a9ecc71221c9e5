"""Makes the transport that a rack is reached by; importing this imports none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.config import RackConfig, Settings
from exacell.reach import transport_name
from exacell.transport.base import Transport

if TYPE_CHECKING:
    from exacell.transport.ssh import SshTransport


def make_transport(rack: RackConfig, settings: Settings) -> Transport:
    """Return a new transport for a rack: what the session's settings say, else the rack's own choice, else ssh.

    Raises:
        ConfigError: the program behind it is not there, or what it needs to know is missing or wrong.
    """
    name = transport_name(rack.reach, settings.transport)
    from exacell.transport.ssh import SshTransport

    if name == "openssh":
        from exacell.transport.openssh import OpensshTransport

        return OpensshTransport(rack, settings)
    if name == "ssh":
        return SshTransport(rack, settings)
    from exacell.transport.composite import CompositeTransport

    if name == "dcli":
        from exacell.transport.dcli import DcliTransport

        dcli = DcliTransport(rack, settings)
        return CompositeTransport(dcli, SshTransport(rack, settings), dcli.capabilities)
    if name == "clush":
        from exacell.transport.clush import ClushTransport

        return CompositeTransport(
            ClushTransport(rack, settings), SshTransport(rack, settings), ClushTransport.capabilities
        )
    from exacell.transport.exacli import ExacliTransport

    exacli = ExacliTransport(rack, settings)
    return CompositeTransport(exacli, SshTransport(rack, settings), exacli.capabilities)


def over_ssh(transport: Transport, rack: RackConfig, settings: Settings) -> SshTransport:
    """Return what asks for host keys and trusts them: ``transport`` itself where it is ours over SSH, else a new one.

    The other transports' programs read the same known_hosts.
    """
    from exacell.transport.ssh import SshTransport

    return transport if isinstance(transport, SshTransport) else SshTransport(rack, settings)
