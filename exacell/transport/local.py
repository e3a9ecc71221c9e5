"""Run commands on this host without SSH, for a database node on which exacell runs."""

from __future__ import annotations

import os
import pwd
import socket

from exacell.core.config import RackConfig
from exacell.core.errors import TransportError
from exacell.transport.base import Reply, Request, Role, State
from exacell.transport.exchange import over_process, wait_until_ours
from exacell.transport.fanout import Flight
from exacell.transport.local_process import Ended, LocalProcess
from exacell.transport.rack_transport import login_for
from exacell.transport.replies import reply_of_program


def own_names() -> frozenset[str]:
    """Return the names of this host: the kernel's, and its first label."""
    name = socket.gethostname().lower()
    return frozenset({name, name.split(".")[0]})


class LocalRunner:
    """Runs ASM requests of one rack whose target is this host.

    Args:
        names: this host's names; ignored for an emulated rack, whose hosts are never this one.
    """

    def __init__(self, rack: RackConfig, *, names: frozenset[str] | None = None) -> None:
        self._rack = rack
        self._names = frozenset[str]() if rack.emulated else (own_names() if names is None else names)

    def is_here(self, target: str) -> bool:
        """Return whether a target is this host, by its name."""
        return bool({target.lower(), target.lower().split(".")[0]} & self._names)

    def takes(self, request: Request) -> bool:
        """Return whether this request needs no SSH: an ASM role, this host, and an account that exacell can use."""
        if request.role not in (Role.ASM_READ, Role.ASM_WRITE) or self._rack.asm_of(request.target) is None:
            return False
        if not self.is_here(request.target):
            return False
        login = login_for(self._rack, request.target, request.role)
        return bool(login.become) or os.geteuid() == 0 or _own_user() == login.user

    def run(self, flight: Flight, seconds: float) -> Reply:
        """Run the flight's command in /bin/sh as the ASM owner and return its reply."""
        request = flight.request
        login = login_for(self._rack, request.target, request.role)
        own = _own_user()
        other = None if login.become or login.user == own else login.user
        asked = request.command if request.pair is None else request.pair.program
        command = asked if login.become == own else login.command(asked)
        try:
            account = pwd.getpwnam(other) if other is not None else None
            child = LocalProcess(
                ["/bin/sh", "-c", command],
                stdin=request.stdin,
                account=account,
                on_output=request.on_output,
                locale=request.locale,
            )

            def reply(ended: Ended) -> Reply:
                return reply_of_program(flight, ended, None)

            def late() -> Reply:
                return flight.reply(State.TIMED_OUT, f"no end within {seconds:g}s; the command was killed")

            if request.pair is not None:
                return over_process(flight, child, request.pair, seconds, reply)
            flight.stage(seconds, abort=child.kill, late=late)
            why = wait_until_ours(request)
            return flight.reply(State.NOT_ATTEMPTED, why) if why else reply(child.run())
        except (TransportError, KeyError) as error:
            return flight.reply(State.UNREACHABLE, f"the command cannot be started here as {other or 'you'}: {error}")


def _own_user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
