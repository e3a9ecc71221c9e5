"""What all transports of a rack have in common: what is refused before anything is sent, who logs in
where, and reads whose login is refused."""

from __future__ import annotations

import shlex
import shutil
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
    """The host was reached and takes none of the user's keys for this login."""


def read_only_cellcli(command: str) -> str:
    """Return ``command`` with ``cellcli`` told to change nothing (``-m``): for reads that run as the write login."""
    return f"cellcli -m {command[8:]}" if command.startswith("cellcli ") else command


class RackTransport(Transport):
    """The base of every transport; see :class:`exacell.transport.base.Transport`.

    Attributes:
        capabilities: what it can carry.
        settings: timeouts and fan-out where the rack sets none; may be replaced at any time.
        long_lived: whether reads may go to a CellCLI that is kept open, where the transport can keep one.
        connects: whether a request may wait until its host is connected to; False: it is UNREACHABLE where nothing is open.
        idle_s: seconds after which a CellCLI that is kept open and that nobody asks is closed.
        turn_s: seconds that a read may wait for its turn at such a CellCLI; 0: it starts one of its own instead.
        acknowledged_ms: milliseconds in which a host has to acknowledge what is sent, else its connection is given up; 0: as
            long as usual.
        read_only: see Transport.
    """

    long_lived = True
    connects = True
    idle_s = 300.0
    turn_s = 0.0
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
        """Targets whose read login was refused, so that reads run as the write login, rewritten to change nothing."""
        with self._lock:
            return frozenset(self._fallback)

    @property
    def awaited(self) -> tuple[str, ...]:
        """The targets that have not ended, of all runs of the moment."""
        with self._lock:
            return tuple(dict.fromkeys(target for run in self._runs for target in run.left))

    def _carried_out(self, run: FanOut) -> FleetResult:
        """Carry a run out; meanwhile it is known whom it waits for."""
        with self._lock:
            self._runs.append(run)
        try:
            return run.run()
        finally:
            with self._lock:
                self._runs.remove(run)

    def break_off(self, cancel: threading.Event, error: BaseException) -> None:
        """Break off the runs that were given ``cancel``: nobody waits for them any more. They raise ``error``."""
        with self._lock:
            runs = [run for run in self._runs if run.waits_upon(cancel)]
        for run in runs:
            run.break_off(error)

    @property
    def limit(self) -> int:
        """How many targets are worked on at a time."""
        return self.rack.fanout or self.settings.fanout

    @property
    def connect_timeout(self) -> float:
        """Seconds that connecting to a target may take."""
        return self.rack.connect_timeout or self.settings.connect_timeout

    def _check(self, requests: Sequence[Request]) -> None:
        """Return when all requests may be sent.

        Raises:
            RefusedError: a request changes something, and the transport is read-only or the target is a production rack's and
                closed; or the transport can't carry one.
            ValueError: two requests have the same target.
        """
        check_requests(requests, rack=self.rack.name, read_only=self.read_only, capabilities=self.capabilities)
        changing = [request.target for request in requests if request.role.changes]
        if changing and self.gate is not None:
            self.gate.pass_all(changing)

    def _gated(self, requests: Sequence[Request]) -> list[Request]:
        """Return the requests, of which each that changes something asks once more who its target is, right before it leaves."""
        gate = self.gate
        return [_asking(one, gate) if gate is not None and one.role.changes else one for one in requests]

    def seconds(self, request: Request) -> float:
        """Return for how long a request may run."""
        return request.timeout or self.rack.command_timeout or self.settings.timeout

    def falls_back(self, request: Request) -> bool:
        """Return whether a read may run as the write login where its own is refused."""
        return request.role is Role.READ and self.rack.read_user != self.rack.write_user and request.login is None

    def logged_in(self, request: Request, login: Login, log_in: Callable[[str | None], Opened]) -> tuple[Opened, str]:
        """Return what a request goes over, and its command as it has to be sent there.

        A read whose own login is refused goes as the write login, rewritten to change nothing; so do all later reads there.

        Args:
            log_in: returns the connection of a user, or raises LoginRefusedError.

        Raises:
            LoginRefusedError: the login is refused, and the request has no other.
            TransportError: the other is refused, too; and what ``log_in`` raises.
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
        """Take note that reads of these targets run as the write login from now on."""
        with self._lock:
            self._fallback.update(targets)

    def forget_fallback(self) -> None:
        """Try the read login everywhere again."""
        with self._lock:
            self._fallback.clear()


def _asking(request: Request, gate: Gate) -> Request:
    """Return a request that asks, beside what it asks anyhow, whether its target may be changed."""
    why_not = partial(gate.why_not, request.target)

    def asked(ours: Ours | None) -> Ours:
        return why_not if ours is None else lambda: why_not() or ours()

    pair = request.pair and replace(request.pair, ours=asked(request.pair.ours))
    return replace(request, ours=asked(request.ours), pair=pair)


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
        ConfigError: an ASM role on a node that no ASM cluster of the rack names, or a host's role on what is in no group.
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
    """Return the login for a request: its own, else that of its role.

    Raises:
        ConfigError: as for :func:`login_for`.
    """
    return Login(user=request.login) if request.login else login_for(rack, request.target, request.role)


def required_program(setting: str, program: str, *, example: str) -> str:
    """Return the path of the program without which a transport can't work.

    Args:
        setting: of the rack's configuration that names it, which is the transport's name, too.
        program: what the setting says: a name or a path.
        example: a path as it often is.

    Raises:
        ConfigError: there is none.
    """
    found = shutil.which(program)
    if found is None:
        raise ConfigError(
            f"the transport {setting} needs the program {program}, which is not there",
            hint=f'name it in the rack\'s configuration: {setting} = "{example}"',
        )
    return found
