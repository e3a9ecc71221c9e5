"""Which connections a database node forwards as a jump host: only those to the rack's own hosts.

Source: RFC 4254, 7.2; ssh(1), -J and -W; sshd_config(5), AllowTcpForwarding. Whether the sshd of storage cells forwards
is not published: emulated cells do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_SSH = 22
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, kw_only=True)
class Destinations:
    """The hosts and ports to which clients' connections are forwarded.

    Attributes:
        ports: the loopback port of each host's listener, by name.
        addresses: the hosts' addresses on the storage network, by name.
    """

    ports: Mapping[str, int]
    addresses: Mapping[str, str]

    def port(self, host: str, port: int) -> int | None:
        """Return the loopback port of the listener that ``host`` and ``port`` mean; None if it is not a host of the rack.

        Clients with the rack's ssh_config name the listener's own port; clients on the rack name a host or address and port 22.
        """
        if host in _LOOPBACK:
            return port if port in self.ports.values() else None
        names = {address: name for name, address in self.addresses.items()}
        name = names.get(host, host.partition(".")[0] if not host[:1].isdigit() else host)
        return self.ports.get(name) if port == _SSH else None
