"""Share what all transports of a rack need: checks before anything is sent, the login for each request,
and reads whose login is refused."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from exacell.core.config import RackConfig, Settings
from exacell.core.errors import ConfigError, TransportError
from exacell.core.values import dataclass, replace
from exacell.transport.base import FleetResult, Gate, Ours, Request, Role, Transport
from exacell.transport.capabilities import check_requests
from exacell.transport.fanout import FanOut

Opened = TypeVar("Opened")


class LoginRefusedError(TransportError):
    """The host was reached, but accepts none of the user's keys for this login."""


def read_only_cellcli(command: str) -> str:
    """Return ``command`` with ``cellcli`` set to change nothing (``-m``), for reads that run as the write login."""
    return f"cellcli -m {command[8:]}" if command.startswith("cellcli ") else command


class RackTransport(Transport):
    """The base of every transport; see :class:`exacell.transport.base.Transport`.

    Attributes:
        capabilities: what it can carry.
        settings: timeouts and fan-out, unless the rack sets them; may be replaced at any time.
        long_lived: whether reads may go to a CellCLI that is kept open, if the transport can keep one.
        connects: whether a request may wait for a connection to its host; False: the request is UNREACHABLE if no connection is
            open.
        idle_s: seconds after which an unused CellCLI that was kept open is closed.
        turn_s: seconds that a read may wait for its turn at such a CellCLI; 0: it starts a CellCLI for itself instead.
        again_s: seconds after which a connection on which no CellCLI could be kept open tries again; 0: never.
        acknowledged_ms: milliseconds in which a host must acknowledge data, or its connection is given up; 0: the system's
            usual time.
        read_only: see Transport.
    """

    long_lived = True
    connects = True
    idle_s = 300.0
    turn_s = 0.0
    again_s = 0.0
    acknowledged_ms = 0

    def __init__(self, rack: RackConfig, settings: Settings | None = None, *, read_only: bool = False) -> None:
        self.rack = rack
        self.settings = settings or Settings()
        self.read_only = read_only
        self._lock = threading.Lock()
        self._fallback: set[str] = set()
        self._runs: list[FanOut] = []

    @property
    def read_fallback(self) -> frozenset[str]:
        """Return the targets whose read login was refused, so that reads use the write login, rewritten to change nothing."""
        with self._lock:
            return frozenset(self._fallback)

    @property
    def awaited(self) -> tuple[str, ...]:
        """Return the targets that have not ended, of all present runs."""
        with self._lock:
            return tuple(dict.fromkeys(target for run in self._runs for target in run.left))

    def _carried_out(self, run: FanOut) -> FleetResult:
        """Carry out a run; meanwhile :attr:`awaited` contains its targets."""
        with self._lock:
            self._runs.append(run)
        try:
            return run.run()
        finally:
            with self._lock:
                self._runs.remove(run)

    def break_off(self, cancel: threading.Event, error: BaseException) -> None:
        """Abort the runs that were given ``cancel``, because nobody waits for them any more. They raise ``error``."""
        with self._lock:
            runs = [run for run in self._runs if run.waits_upon(cancel)]
        for run in runs:
            run.break_off(error)

    @property
    def limit(self) -> int:
        """Return how many targets are worked on at a time."""
        return self.rack.fanout or self.settings.fanout

    @property
    def connect_timeout(self) -> float:
        """Return how many seconds connecting to a target may take."""
        return self.rack.connect_timeout or self.settings.connect_timeout

    def _check(self, requests: Sequence[Request]) -> None:
        """Raise an error if one of the requests may not be sent.

        Raises:
            RefusedError: a request changes something, and the transport is read-only or the target belongs to a production rack
                that is read-only here; or the transport can't carry a request.
            ValueError: two requests have the same target.
        """
        check_requests(requests, rack=self.rack.name, read_only=self.read_only, capabilities=self.capabilities)
        changing = [request.target for request in requests if request.role.changes]
        if changing and self.gate is not None:
            self.gate.pass_all(changing)

    def _gated(self, requests: Sequence[Request]) -> list[Request]:
        """Return the requests; each one that changes something also checks its target's identity right before it is sent."""
        gate = self.gate
        return [_asking(one, gate) if gate is not None and one.role.changes else one for one in requests]

    def seconds(self, request: Request) -> float:
        """Return how many seconds a request may run."""
        return request.timeout or self.rack.command_timeout or self.settings.timeout

    def falls_back(self, request: Request) -> bool:
        """Return whether a read may run as the write login if its own is refused."""
        return request.role is Role.READ and self.rack.read_user != self.rack.write_user and request.login is None

    def logged_in(self, request: Request, login: Login, log_in: Callable[[str | None], Opened]) -> tuple[Opened, str]:
        """Return the connection for a request, and the command to send there.

        A read whose own login is refused uses the write login, rewritten to change nothing; so do all later reads there.

        Args:
            log_in: returns the connection of a user, or raises LoginRefusedError.

        Raises:
            LoginRefusedError: the login is refused, and the request has no other login.
            TransportError: the other login is refused too; also what ``log_in`` raises.
        """
        falls_back, write_user = self.falls_back(request), self.rack.write_user
        if falls_back and request.target in self.read_fallback:
            return log_in(write_user), read_only_cellcli(request.command)
        try:
            return log_in(login.user), login.command(request.command)
        except LoginRefusedError as refused:
            if not falls_back:
                raise
            try:
                opened = log_in(write_user)
            except LoginRefusedError:
                raise TransportError(
                    f"{refused.message}; {write_user} is refused too",
                    hint="read_user= and write_user= in the rack's configuration name them; their keys must be "
                    "on the cell",
                ) from refused
        self.fell_back([request.target])
        return opened, read_only_cellcli(request.command)

    def fell_back(self, targets: Iterable[str]) -> None:
        """Note that reads of these targets use the write login from now on."""
        with self._lock:
            self._fallback.update(targets)

    def forget_fallback(self) -> None:
        """Let reads try the read login again everywhere."""
        with self._lock:
            self._fallback.clear()


def _asking(request: Request, gate: Gate) -> Request:
    """Return a request whose ``ours`` also checks whether its target may be changed."""
    why_not = partial(gate.why_not, request.target)

    def asked(ours: Ours | None) -> Ours:
        return why_not if ours is None else lambda: why_not() or ours()

    pair = request.pair and replace(request.pair, ours=asked(request.pair.ours))
    return replace(request, ours=asked(request.ours), pair=pair)


@dataclass(frozen=True, kw_only=True)
class Login:
    """The login and account of a request.

    Attributes:
        user: the user who logs in; None leaves that to ssh_config and the operator's own name.
        become: the user as whom the command runs through sudo; empty for the login itself.
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
        ConfigError: the role is ASM's and no ASM cluster of the rack names the node, or it is a host's and no group contains
            the host.
    """
    if role is Role.READ:
        return Login(user=rack.read_user)
    if role is Role.WRITE:
        return Login(user=rack.write_user)
    if role in (Role.HOST_READ, Role.HOST_WRITE):
        groups = rack.groups_of(target)
        if not groups:
            raise ConfigError(f"no group of rack {rack.name} has a host {target}: see [racks.{rack.name}.hosts.NAME]")
        user = groups[0].user or None
        return Login(user=None, become=groups[0].user) if groups[0].sudo else Login(user=user)
    cluster = rack.asm_of(target)
    if cluster is None:
        raise ConfigError(
            f"no ASM cluster of rack {rack.name} has a node {target}: add it to nodes in [racks.{rack.name}.asm.NAME]"
        )
    return Login(user=None, become=cluster.user) if cluster.sudo else Login(user=cluster.user)


def login_of(rack: RackConfig, request: Request) -> Login:
    """Return the login for a request: its own, or else that of its role.

    Raises:
        ConfigError: as for :func:`login_for`.
    """
    return Login(user=request.login) if request.login else login_for(rack, request.target, request.role)


def required_program(setting: str, program: str, *, example: str) -> str:
    """Return the path of a program that a transport needs.

    Args:
        setting: the rack's configuration setting that names it, and the transport's name.
        program: the value of the setting: a name or a path.
        example: a typical path.

    Raises:
        ConfigError: there is no such program.
    """
    from shutil import which  # Only the transports that start a program ask.

    found = which(program)
    if found is None:
        raise ConfigError(
            f"the transport {setting} needs the program {program}, which does not exist",
            hint=f'name it in the rack\'s configuration: {setting} = "{example}"',
        )
    return found
