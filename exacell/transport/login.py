"""Who logs in where: the rack's configuration maps a request's role to a login."""

from __future__ import annotations

import shlex

from exacell.core.config import RackConfig
from exacell.core.errors import ConfigError
from exacell.core.values import dataclass
from exacell.transport.base import Request, Role


@dataclass(frozen=True, kw_only=True)
class Login:
    """How a request reaches its account.

    Attributes:
        user: who logs in; None leaves that to ssh_config and the operator's own name.
        become: whom the command runs as through sudo; empty when that is the login itself.
    """

    user: str | None
    become: str = ""

    def command(self, command: str) -> str:
        """Return the remote command line: ``command`` itself, or wrapped in ``sudo -n -u``, which never asks."""
        if not self.become:
            return command
        return f"sudo -n -u {shlex.quote(self.become)} -- /bin/sh -c {shlex.quote(command)}"


def login_for(rack: RackConfig, target: str, role: Role) -> Login:
    """Return the login for ``role`` on ``target``.

    Raises:
        ConfigError: an ASM role on a node that no ASM cluster of the rack names.
    """
    if role is Role.READ:
        return Login(user=rack.read_user)
    if role is Role.WRITE:
        return Login(user=rack.write_user)
    cluster = rack.asm_of(target)
    if cluster is None:
        raise ConfigError(
            f"no ASM cluster of rack {rack.name} has a node {target}: add it to nodes in [racks.{rack.name}.asm.NAME]"
        )
    return Login(user=None, become=cluster.user) if cluster.sudo else Login(user=cluster.user)


def login_of(rack: RackConfig, request: Request) -> Login:
    """Return the login for a request: its own, else that of its role.

    Raises:
        ConfigError: as for :func:`login_for`.
    """
    return Login(user=request.login) if request.login else login_for(rack, request.target, request.role)
