"""Open SSH connections: fabric reads ssh_config and connects; host keys are judged before exacell sends a command.

Imports fabric and paramiko, which takes a tenth of a second even after :func:`exacell.transport.ssh.fabric_import.import_fabric`:
import this module only when a connection is needed.

Some things are not left to fabric: by default it accepts every host key, on gateways too; it opens one gateway connection
per target (a jump host refuses the eleventh, MaxStartups) and follows a ProxyJump list backwards; its ProxyCommand loops
when the command has ended. So sockets, also those through gateways, are made here and passed to fabric's Connection.
"""

from __future__ import annotations

import functools
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fabric
import paramiko
from fabric.connection import derive_shorthand
from paramiko.auth_strategy import AuthFailure, AuthStrategy

from exacell.core.belonging import Identity
from exacell.core.errors import ConfigError, TransportError, descriptors_run_out
from exacell.core.values import dataclass
from exacell.transport.rack_transport import LoginRefusedError
from exacell.transport.ssh.answer import PROGRAM_S, SshConfig
from exacell.transport.ssh.certificates import Certificate
from exacell.transport.ssh.connection import (
    Connection,
    HostKeyError,
    Progress,
    handshake_problem,
    login_late,
    reason,
)
from exacell.transport.ssh.hostkeys import HostKey, KnownHostsCache, Shown, Trust, Verdict, is_revoked_by
from exacell.transport.ssh.reader import Reader
from exacell.transport.ssh.resolving import Answer, local_user
from exacell.transport.ssh.route import Hop, KeyRing, KeyStrategy, Route, jump_hops
from exacell.transport.ssh.sockets import EagerSocket, Piped, break_off, connect, end, resolve
from exacell.transport.ssh.wire import Asking, Wire, leave_out_weak, prefer_framed, supported

# Without a handler, logging's default would write paramiko's warnings and tracebacks to stderr.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

_SIGNATURES = {"ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256")}
_PROGRAMS_S = 2 * PROGRAM_S + 1
_GRACE_S = 0.5
"""A stage may last so many seconds longer than the timeout inside it, because that has the better message."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """The host key that a host offers now, and its verdict by known_hosts.

    Attributes:
        trust_file: the known_hosts file to which ``trust`` writes it.
        hashed: whether HashKnownHosts asks for hashed names there.
    """

    route: Route
    verdict: Verdict
    trust_file: Path
    hashed: bool

    @property
    def problem(self) -> str:
        """Return one line with the problem and the way out; empty if the key is known."""
        port = f" -p {self.route.port}" if self.route.port != 22 else ""
        return self.verdict.problem(self.route.target, scan=f"ssh-keyscan{port} {self.route.host}")


class Opener:
    """Opens connections by one rack's ssh_config. Thread-safe; targets share gateways.

    Args:
        ssh_config: the file to read instead of the user's and the system's.
        no_programs: why no program that it names may be started; empty if they may.
        connect_timeout: seconds for a TCP connection, twice that for a login. None: ssh_config's ConnectTimeout,
            else ``default_timeout``.
        reader: gets the connections after the login; None means that each has its own thread.
    """

    def __init__(
        self,
        *,
        ssh_config: Path | None,
        no_programs: str = "",
        connect_timeout: float | None = None,
        default_timeout: float = 5.0,
        reader: Reader | None = None,
    ) -> None:
        self._reader = reader if supported() else None
        self._path, self._no_programs = ssh_config, no_programs
        self._timeout = connect_timeout
        self.default_timeout = default_timeout
        self._config: SshConfig | None = None
        self._ring = KeyRing()
        self._known = KnownHostsCache()
        self._offered: dict[str, tuple[Route, HostKey]] = {}
        self._connections = FabricConnections()
        self._build = threading.Lock()
        self._gateways: dict[tuple[str, ...], tuple[threading.Lock, list[Connection]]] = {}

    def open(self, target: str, user: str | None, progress: Progress) -> Connection:
        """Return a new connection to ``target``.

        Args:
            user: the login; None means ssh_config's User or the operator's own name.

        Raises:
            LoginRefusedError: no key logs in.
            HostKeyError: the host key is not known, or known to be wrong.
            TransportError: the name lookup, the network or the login failed.
            ConfigError: the ssh_config is wrong.
        """
        try:
            return self._open(*self._route(target, user, progress), progress)
        except OSError as error:
            raise descriptors_run_out(error) or error from error

    @property
    def places(self) -> frozenset[Path]:
        """Return the files of ssh_config and known_hosts that were read or looked for, and the folders of Include."""
        config = self._config
        return self._known.places | frozenset(config.places if config is not None else ())

    def offer(self, target: str, progress: Progress) -> Offer:
        """Return the key that ``target`` offers now, without logging in.

        Raises:
            TransportError, ConfigError: as for :meth:`open`.
        """
        _, route = self._route(target, None, progress)
        sock, piped = self._socket(route, progress)
        transport = None
        seconds, started = route.login_timeout, time.monotonic()
        try:
            progress(login_late(route), seconds + _GRACE_S, functools.partial(break_off, sock))
            transport = self._transport(route, sock)
            transport.start_client(timeout=seconds)
            return self._judge(route, transport.get_remote_server_key())
        except (paramiko.SSHException, EOFError, OSError) as error:
            said = piped.problem if piped is not None else ""
            raise TransportError(handshake_problem(error, route, time.monotonic() - started, said)) from error
        finally:
            if transport is not None:
                transport.close()
            end(sock)
            if piped is not None:
                piped.stop()

    def shown(self, target: str, *, addresses: bool = False) -> Identity:
        """Return the known identity of ``target`` without connecting: the host key that it has shown, and the keys of other
        types in known_hosts; or all its keys in known_hosts if it has shown none.

        Args:
            addresses: whether to find its address too.

        Raises:
            TransportError, ConfigError: as for :meth:`open`.
        """
        route, key = self._offered.get(target) or (
            self._route(target, None, lambda late, seconds, abort: None)[1],
            None,
        )
        pins = self._known.get(route.known_hosts).pins(route.key_names)
        keys = pins if key is None else (key, *(pin for pin in pins if pin.key_type != key.key_type))
        return Identity(
            keys=frozenset(one.fingerprint for one in keys), addresses=_addresses(route) if addresses else frozenset()
        )

    @property
    def host_keys(self) -> dict[str, str]:
        """Return target → the fingerprint of the host key it has shown."""
        return {target: key.fingerprint for target, (_, key) in list(self._offered.items())}

    def close(self) -> None:
        """Close the shared gateway connections."""
        for lock, connections in list(self._gateways.values()):
            with lock:
                while connections:
                    connections.pop().close()

    def _route(
        self, target: str, user: str | None, progress: Progress, port: int | None = None, via: tuple[str, ...] = ()
    ) -> tuple[FabricConnection, Route]:
        progress(
            f"programs of ssh_config on this machine (Match exec, ssh -G) did not end within {_PROGRAMS_S:g}s",
            _PROGRAMS_S,
            _nothing,
        )
        with self._build:
            if self._config is None:
                self._config = SshConfig(self._path, refused=self._no_programs)
        shorthand = derive_shorthand(target)
        answer = self._config.answer(
            shorthand["host"], user=user or shorthand["user"], port=port or _number(shorthand["port"])
        )
        if not answer.user:
            raise ConfigError(
                f"{target}: user id {os.getuid()} has no name on this machine, and no login is given",
                hint="give -l LOGIN, or User in ssh_config",
            )
        with self._build:
            try:
                fabric_connection = self._connections.make(target, user=user, port=port, answer=answer)
            except ValueError as error:
                raise ConfigError(f"{target}: {reason(error)}") from error
        return fabric_connection, Route(
            target=shorthand["host"],
            host=answer.host,
            port=answer.port,
            user=answer.user,
            options=answer.options,
            lists=answer.lists,
            hops=via or jump_hops(answer.options.get("proxyjump", "none"), host=answer.host, target=target),
            connect_timeout=self._timeout or float(answer.options.get("connecttimeout") or self.default_timeout),
            proxy=answer.proxy,
        )

    def _open(self, fabric_connection: FabricConnection, route: Route, progress: Progress) -> Connection:
        sock, piped = self._socket(route, progress)
        strategy = KeyStrategy(ring=self._ring, route=route, username=route.user)
        seconds, started = route.login_timeout, time.monotonic()
        try:
            progress(login_late(route), seconds + _GRACE_S, functools.partial(break_off, sock))
            # The client's own tables stay empty, so that every key is passed to the policy.
            fabric_connection.client.set_missing_host_key_policy(_Policy(functools.partial(self._judge, route)))
            tried = fabric_connection.log_in(
                strategy,
                sock=sock,
                timeout=seconds,
                banner_timeout=seconds,
                auth_timeout=seconds,
                transport_factory=lambda sock, **_: self._transport(route, sock),
            )
            if not fabric_connection.transport.is_authenticated():
                # The server accepted the key but wants a second factor.
                raise LoginRefusedError(strategy.refusal(route, second_factor=True))
        except BaseException as error:
            took = time.monotonic() - started
            failed = isinstance(error, paramiko.SSHException | EOFError | OSError)
            said = piped.problem if piped is not None and failed else ""
            transport = fabric_connection.client.get_transport()
            fabric_connection.client.close()
            if not isinstance(transport, Wire):
                end(sock)
            if piped is not None:
                piped.stop()
            if isinstance(error, AuthFailure) and strategy.was_refused(error):
                raise LoginRefusedError(strategy.refusal(route)) from error
            if failed:
                raise TransportError(handshake_problem(error, route, took, said)) from error
            raise
        on_close = _nothing if piped is None else piped.stop
        return Connection(
            fabric_connection, route=route, fingerprint=tried[-1].source.pkey.fingerprint, on_close=on_close
        )

    def _transport(self, route: Route, sock: Any) -> paramiko.Transport:
        """Return a transport that first asks for the types of host keys that are known."""
        transport: Asking
        if self._reader is not None and isinstance(sock, socket.socket):
            transport = Wire(sock, self._reader)
            prefer_framed(transport)
        else:
            transport = Asking(sock)
        leave_out_weak(transport)
        hosts = self._known.get(route.known_hosts)
        known = hosts.key_types(route.key_names)
        transport.wants_certificate = hosts.has_authority(route.key_names)
        options = transport.get_security_options()
        usual = tuple(options.key_types)
        wanted = [name for kind in known for name in _SIGNATURES.get(kind, (kind,)) if name in usual]
        options.key_types = (*wanted, *(name for name in usual if name not in wanted))
        return transport

    def _judge(self, route: Route, offered: paramiko.PKey) -> Offer:
        key = HostKey.from_blob(offered.asbytes())
        shown = None
        if offered.public_blob is not None:
            found = Certificate.read(offered.public_blob.key_blob)
            shown = Shown(authority=found.authority, problem=found.problem(route.key_names[-1], time.time()))
        verdict = self._known.get(route.known_hosts).judge(route.key_names, key, shown)
        self._offered[route.target] = route, key
        revoked = route.revoked_file
        signer = shown.authority if shown is not None else None
        if revoked is not None and any(is_revoked_by(revoked, one) for one in (key, signer) if one is not None):
            verdict = Verdict(trust=Trust.REVOKED, name=route.key_names[0], key=key, where=(str(revoked),))
        files = route.user_known_hosts
        return Offer(
            route=route,
            verdict=verdict,
            trust_file=files[0] if files else Path(os.path.expanduser("~/.ssh/known_hosts")),
            hashed=route.option("hashknownhosts").lower() == "yes",
        )

    def _socket(self, route: Route, progress: Progress) -> tuple[Any, Piped | None]:
        """Return a connected socket-like object, and the ProxyCommand behind it, if there is one."""
        if route.hops:
            return self._tunnel(route, progress), None
        if route.proxy is not None:
            piped = Piped(route.proxy)
            return piped.sock, piped
        return _tcp(route, progress), None

    def _tunnel(self, route: Route, progress: Progress) -> socket.socket | paramiko.Channel:
        """Return a connection to the route's host through the shared connection to its last hop."""
        name = route.hops[-1]
        with self._build:
            lock, connections = self._gateways.setdefault(route.hops, (threading.Lock(), []))
        seconds = route.connect_timeout
        progress(f"the connection to gateway {name} is still being made", 3 * seconds + _GRACE_S, _nothing)
        try:
            with lock:
                if connections and not connections[0].alive:
                    connections.pop().close()
                if not connections:
                    hop = Hop.parse(name)
                    connections.append(
                        self._open(*self._route(hop.host, hop.user, progress, hop.port, route.hops[:-1]), progress)
                    )
                connection = connections[0]
            progress(f"gateway {name} did not reach {route.place} within {seconds:g}s", seconds + _GRACE_S, _nothing)
            return connection.open_tunnel(route.host, route.port, seconds)
        except HostKeyError:
            raise  # The message of this error names the host to trust.
        except TransportError as error:
            # LoginRefusedError too: another login on the target would not help.
            raise TransportError(f"gateway {name}: {error.message}") from error


class _Policy(paramiko.MissingHostKeyPolicy):
    """Judges each offered key, and raises HostKeyError unless it is known."""

    def __init__(self, judge: Callable[[paramiko.PKey], Offer]) -> None:
        self._judge = judge

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        """Raise HostKeyError with the way out if ``key`` is not known."""
        problem = self._judge(key).problem
        if problem:
            raise HostKeyError(problem)


def _addresses(route: Route) -> frozenset[str]:
    """Return ``address:port`` of a route's host; behind gateways with their names, because private addresses repeat."""
    if route.hops or route.proxy is not None:
        way = ",".join(route.hops) or (route.proxy.command if route.proxy is not None else "")
        return frozenset({f"{way} {route.host}:{route.port}"})
    found = resolve(route.host, route.port, route.option("addressfamily", "any").lower())
    return frozenset(f"{address[0]}:{address[1]}" for _, address in found)


def _tcp(route: Route, progress: Progress) -> EagerSocket:
    """Return a TCP connection to the route's host, at the first of its addresses that accepts it."""
    seconds = route.connect_timeout
    progress(f"the name {route.host} was not resolved within {seconds:g}s: DNS does not answer", seconds, _nothing)
    problem: TransportError | None = None
    deadline = time.monotonic() + seconds
    for family, address in resolve(route.host, route.port, route.option("addressfamily", "any").lower()):
        sock = EagerSocket(family, socket.SOCK_STREAM)
        left = max(0.0, deadline - time.monotonic())
        progress(
            f"no answer from {route.place} within {seconds:g}s", left + _GRACE_S, functools.partial(break_off, sock)
        )
        try:
            connect(sock, address, host=route.host, port=route.port, deadline=deadline, seconds=seconds)
        except TransportError as error:
            sock.close()
            problem = problem or error
            continue
        return sock
    raise problem or TransportError(
        f"host name {route.host} has no address", hint="check the name, DNS or HostName in ssh_config"
    )


def _nothing() -> None:
    """Do nothing: this stage can't be interrupted."""


class FabricConnection(fabric.Connection):  # type: ignore[misc]  # fabric publishes no types
    """A connection with its own login strategy; made by :class:`FabricConnections`."""

    _logs_in_by: AuthStrategy | None = None

    def __setattr__(self, name: str, value: object) -> None:
        # Never set it in the configuration, which is shared.
        object.__setattr__(self, name, value)

    @property
    def authentication(self) -> SimpleNamespace:
        """Return the strategy for logging in, for which fabric asks."""
        strategy = self._logs_in_by
        return SimpleNamespace(strategy_class=None if strategy is None else lambda **_: strategy)

    def log_in(self, strategy: AuthStrategy, **how: object) -> Any:
        """Open the connection and return the result of :meth:`paramiko.SSHClient.connect`, which gets ``how``."""
        self._logs_in_by = strategy
        # With a strategy fabric does not pass the name to paramiko, which then asks the system for one, and the system may have
        # none.
        self.client.connect = functools.partial(self.client.connect, username=self.user)
        self.connect_timeout = None
        self.connect_kwargs = how
        return self.open()


class FabricConnections:
    """Makes connections that share one configuration. Only one thread at a time may call it: fabric's objects race."""

    def __init__(self) -> None:
        # fabric asks for the operator's name for a default that is never used here, and fails if there is none.
        fabric.config.get_local_user = local_user
        self._config = fabric.Config(lazy=True, ssh_config=paramiko.SSHConfig())

    def make(self, target: str, *, user: str | None, port: int | None, answer: Answer) -> FabricConnection:
        """Return a connection to ``target`` that is not open yet.

        Args:
            answer: the settings of ssh_config for it.

        Raises:
            ValueError: the target contains a login or a port that differs from ``user`` or ``port``.
        """
        found = {"hostname": answer.host, "user": answer.user, "port": str(answer.port)}
        self._config.base_ssh_config = SimpleNamespace(lookup=lambda _: found)
        # An empty connect_kwargs would be replaced by the shared one.
        return FabricConnection(
            target, user=user, port=port, config=self._config, gateway=False, connect_kwargs={"compress": False}
        )


def _number(text: object) -> int | None:
    return int(str(text)) if text else None
