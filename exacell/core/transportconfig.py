"""How a rack is reached when not over exacell's own SSH: the transport's name and what its program needs to know."""

from __future__ import annotations

from exacell.core.errors import ConfigError
from exacell.core.toml_table import TomlTable
from exacell.core.values import dataclass

AUTO = "auto"
"""What ``set transport`` calls the rack's own choice."""

TRANSPORTS = ("ssh", "openssh", "dcli", "exacli", "clush")


@dataclass(frozen=True, kw_only=True)
class Reach:
    """The rack's keys about its transport.

    Attributes:
        transport: one of TRANSPORTS; empty takes ssh.
        dcli, exacli: the program, as a path or as a name that PATH knows.
        cookie_jar: exacli's file of cookies; empty for exacli's own default.
        cloud: exacli's login is a cloud customer's, who may do less.
        gateways: hosts behind which clush finds the cells; empty with ``topology``.
        topology: a file in ClusterShell's topology format.
    """

    transport: str = ""
    dcli: str = "dcli"
    exacli: str = "exacli"
    cookie_jar: str = ""
    cloud: bool = False
    gateways: tuple[str, ...] = ()
    topology: str = ""


def read_reach(table: TomlTable) -> Reach:
    """Return what a rack's table says.

    Raises:
        ConfigError: a value is wrong, or both gateways and topology are given.
    """
    reach = Reach(
        transport=table.choice("transport", "", ("", *TRANSPORTS)),
        dcli=table.text("dcli", Reach.dcli),
        exacli=table.text("exacli", Reach.exacli),
        cookie_jar=table.text("cookie_jar", ""),
        cloud=table.flag("cloud", False),
        gateways=table.names("gateways"),
        topology=table.text("topology", ""),
    )
    if reach.gateways and reach.topology:
        raise ConfigError(f"{table.where}: gateways and topology say the same thing: keep one of them")
    return reach


def transport_name(reach: Reach, setting: str) -> str:
    """Return the transport that a rack is reached by: what the session says, else the rack's own, else ssh."""
    return setting if setting != AUTO else reach.transport or "ssh"
