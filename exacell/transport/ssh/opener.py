"""Opens SSH connections: fabric reads ssh_config and connects; host keys are judged before anything of ours is sent.

Imports fabric and paramiko, which takes a tenth of a second even after :func:`exacell.transport.ssh.fabric_import.import_fabric`:
import this module only when a connection is wanted.

What fabric leaves to us, and why: its default accepts every host key, on gateways too; it opens one gateway connection
a target (a jump host refuses the eleventh, MaxStartups) and walks a ProxyJump list backwards; its ProxyCommand spins
when the command has ended. So sockets, those through gateways too, are made here and handed to fabric's Connection.
"""

from __future__ import annotations

import functools
import logging
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fabric
import paramiko
from paramiko.auth_strategy import AuthFailure, AuthStrategy

from exacell.core.errors import ConfigError, TransportError
from exacell.core.values import dataclass
from exacell.transport.rack_transport import LoginRefusedError
from exacell.transport.ssh.connection import (
    Connection,
    HostKeyError,
    Progress,
    handshake_problem,
    login_late,
    reason,
)
from exacell.transport.ssh.hostkeys import HostKey, KnownHostsCache, Trust, Verdict, is_revoked_by
from exacell.transport.ssh.reader import Reader
from exacell.transport.ssh.route import Hop, KeyRing, KeyStrategy, Route, jump_hops
from exacell.transport.ssh.sockets import EagerSocket, break_off, connect, end, resolve, through_command
from exacell.transport.ssh.sshconfig import SshConfigFiles
from exacell.transport.ssh.wire import Wire, prefer_framed, supported

# Without a handler of its own, paramiko's warnings and tracebacks would reach stderr through logging's last resort.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

_SIGNATURES = {"ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256")}
_GRACE_S = 0.5
"""Seconds by which a stage is allowed to outlast the timeout inside it, whose message is the better one."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """The host key a host offers now, and what known_hosts says of it.

    Attributes:
        trust_file: the known_hosts file that trusting it writes.
        hashed: whether HashKnownHosts asks for hashed names there.
    """

    route: Route
    verdict: Verdict
    trust_file: Path
    hashed: bool

    @property
    def problem(self) -> str:
        """One line with the way out; empty when the key is known."""
        port = f" -p {self.route.port}" if self.route.port != 22 else ""
        return self.verdict.problem(self.route.target, scan=f"ssh-keyscan{port} {self.route.host}")


class Opener:
    """Opens connections as one rack's ssh_config says. Thread-safe; gateways are shared between targets.

    Args:
        ssh_config: read instead of the user's and the system's file.
        connect_timeout: seconds for a TCP connection, twice that for a login. None: what ssh_config's ConnectTimeout
            says, else ``default_timeout``.
        reader: gets the connections once they are logged in; None leaves each to a thread of its own.
    """

    def __init__(
        self,
        *,
        ssh_config: Path | None,
        connect_timeout: float | None = None,
        default_timeout: float = 5.0,
        reader: Reader | None = None,
    ) -> None:
        self._reader = reader if supported() else None
        self._path = ssh_config
        self._timeout = connect_timeout
        self.default_timeout = default_timeout
        self._files: SshConfigFiles | None = None
        self._ring = KeyRing()
        self._known = KnownHostsCache()
        self.host_keys: dict[str, str] = {}
        self._connections = FabricConnections()
        self._build = threading.Lock()
        self._gateways: dict[tuple[str, ...], tuple[threading.Lock, list[Connection]]] = {}

    def open(self, target: str, user: str | None, progress: Progress) -> Connection:
        """Return a new connection to ``target``.

        Args:
            user: the login; None takes ssh_config's User or the operator's own name.

        Raises:
            LoginRefusedError: no key logs in.
            HostKeyError: the host key is not known to be right.
            TransportError: anything else: name, network, login.
            ConfigError: the ssh_config is wrong.
        """
        return self._open(*self._route(target, user), progress)

    def offer(self, target: str, progress: Progress) -> Offer:
        """Return the key that ``target`` offers, without logging in.

        Raises:
            TransportError, ConfigError: as for :meth:`open`.
        """
        _, route = self._route(target, None)
        sock, on_close = self._socket(route, progress)
        transport = None
        seconds, started = route.login_timeout, time.monotonic()
        try:
            progress(login_late(route), seconds + _GRACE_S, functools.partial(break_off, sock))
            transport = self._transport(route, sock)
            transport.start_client(timeout=seconds)
            return self._judge(route, transport.get_remote_server_key())
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise TransportError(handshake_problem(error, route, time.monotonic() - started)) from error
        finally:
            if transport is not None:
                transport.close()
            end(sock)
            on_close()

    def close(self) -> None:
        """End the shared gateway connections."""
        for lock, connections in list(self._gateways.values()):
            with lock:
                while connections:
                    connections.pop().close()

    def _route(
        self, target: str, user: str | None, port: int | None = None, via: tuple[str, ...] = ()
    ) -> tuple[FabricConnection, Route]:
        with self._build:
            if self._files is None:
                self._files = SshConfigFiles.read(self._path)
            try:
                text = self._files.text_for(target, user=user)
                fabric_connection = self._connections.make(target, user=user, port=port, ssh_config=text)
                timeout = float(fabric_connection.ssh_config.get("connecttimeout") or self.default_timeout)
            except (paramiko.ConfigParseError, ValueError, KeyError) as error:
                raise ConfigError(
                    f"ssh_config for {target}: {reason(error)}", hint=f"ssh -G {target} shows how ssh reads it"
                ) from error
        jump = str(fabric_connection.ssh_config.get("proxyjump") or "none")
        return fabric_connection, Route(
            target=target,
            host=fabric_connection.host,
            port=fabric_connection.port,
            user=fabric_connection.user,
            options=dict(fabric_connection.ssh_config),
            hops=via or jump_hops(jump, host=fabric_connection.host, target=target),
            connect_timeout=self._timeout or timeout,
        )

    def _open(self, fabric_connection: FabricConnection, route: Route, progress: Progress) -> Connection:
        sock, on_close = self._socket(route, progress)
        strategy = KeyStrategy(ring=self._ring, ssh_config=route.options, username=route.user)
        seconds, started = route.login_timeout, time.monotonic()
        try:
            progress(login_late(route), seconds + _GRACE_S, functools.partial(break_off, sock))
            # The client's own tables stay empty, so every key comes to the policy.
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
                # The server took the key and wants a second factor too.
                raise LoginRefusedError(strategy.refusal(route, second_factor=True))
        except BaseException as error:
            transport = fabric_connection.client.get_transport()
            fabric_connection.client.close()
            if not isinstance(transport, Wire):
                end(sock)
            on_close()
            if isinstance(error, AuthFailure) and strategy.was_refused(error):
                raise LoginRefusedError(strategy.refusal(route)) from error
            if isinstance(error, paramiko.SSHException | EOFError | OSError):
                raise TransportError(handshake_problem(error, route, time.monotonic() - started)) from error
            raise
        return Connection(
            fabric_connection, user=route.user, fingerprint=tried[-1].source.pkey.fingerprint, on_close=on_close
        )

    def _transport(self, route: Route, sock: Any) -> paramiko.Transport:
        """Return a transport that asks first for the kind of host key that is known."""
        transport: paramiko.Transport
        if self._reader is not None and isinstance(sock, socket.socket):
            transport = Wire(sock, self._reader)
            prefer_framed(transport)
        else:
            transport = paramiko.Transport(sock)
        known = self._known.get(route.known_hosts).key_types(route.key_names)
        options = transport.get_security_options()
        usual = tuple(options.key_types)
        wanted = [name for kind in known for name in _SIGNATURES.get(kind, (kind,)) if name in usual]
        options.key_types = (*wanted, *(name for name in usual if name not in wanted))
        return transport

    def _judge(self, route: Route, offered: paramiko.PKey) -> Offer:
        key = HostKey.from_blob(offered.asbytes())
        verdict = self._known.get(route.known_hosts).judge(route.key_names, key)
        self.host_keys[route.target] = key.fingerprint
        revoked = route.revoked_file
        if revoked is not None and is_revoked_by(revoked, key):
            verdict = Verdict(trust=Trust.REVOKED, name=route.key_names[0], key=key, where=(str(revoked),))
        files = route.user_known_hosts
        return Offer(
            route=route,
            verdict=verdict,
            trust_file=files[0] if files else Path("~/.ssh/known_hosts").expanduser(),
            hashed=route.option("hashknownhosts").lower() == "yes",
        )

    def _socket(self, route: Route, progress: Progress) -> tuple[Any, Callable[[], None]]:
        """Return a connected socket-like object, and what ends that which carries it."""
        if route.hops:
            return self._tunnel(route, progress), _nothing
        command = route.option("proxycommand")
        if command:
            return through_command(command)
        return _tcp(route, progress), _nothing

    def _tunnel(self, route: Route, progress: Progress) -> socket.socket | paramiko.Channel:
        """Return a connection to the route's host over the shared connection to its last hop."""
        name = route.hops[-1]
        with self._build:
            lock, connections = self._gateways.setdefault(route.hops, (threading.Lock(), []))
        seconds = route.connect_timeout
        progress(f"gateway {name} is still being connected to", 3 * seconds + _GRACE_S, _nothing)
        try:
            with lock:
                if connections and not connections[0].alive:
                    connections.pop().close()
                if not connections:
                    hop = Hop.parse(name)
                    connections.append(
                        self._open(*self._route(hop.host, hop.user, hop.port, route.hops[:-1]), progress)
                    )
                connection = connections[0]
            progress(f"gateway {name} did not reach {route.place} within {seconds:g}s", seconds + _GRACE_S, _nothing)
            return connection.open_tunnel(route.host, route.port, seconds)
        except HostKeyError:
            raise  # Its message says which host to trust.
        except TransportError as error:
            # LoginRefusedError too: another login on the target would not help.
            raise TransportError(f"gateway {name}: {error.message}") from error


class _Policy(paramiko.MissingHostKeyPolicy):
    """Judges each offered key; raises unless it is known."""

    def __init__(self, judge: Callable[[paramiko.PKey], Offer]) -> None:
        self._judge = judge

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        """Raise HostKeyError with the way out when ``key`` is not known."""
        problem = self._judge(key).problem
        if problem:
            raise HostKeyError(problem)


def _tcp(route: Route, progress: Progress) -> EagerSocket:
    """Return a TCP connection to the route's host, to the first of its addresses that takes it."""
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
    """Abort a stage that nothing can interrupt."""


_TOKENS = paramiko.SSHConfig.TOKENS_BY_CONFIG_KEY


class FabricConnection(fabric.Connection):  # type: ignore[misc]  # fabric publishes no types
    """A connection that logs in by a strategy of its own; made by :class:`FabricConnections`."""

    _logs_in_by: AuthStrategy | None = None

    def __setattr__(self, name: str, value: object) -> None:
        # Never into the configuration, which is shared.
        object.__setattr__(self, name, value)

    @property
    def authentication(self) -> SimpleNamespace:
        """What fabric asks about logging in."""
        strategy = self._logs_in_by
        return SimpleNamespace(strategy_class=None if strategy is None else lambda **_: strategy)

    def log_in(self, strategy: AuthStrategy, **how: object) -> Any:
        """Open the connection; ``how`` goes to :meth:`paramiko.SSHClient.connect`. Returns what that returns."""
        self._logs_in_by = strategy
        self.connect_timeout = None
        self.connect_kwargs = how
        return self.open()


class FabricConnections:
    """Makes connections that share one configuration. One thread at a time may do so: fabric's objects race."""

    def __init__(self) -> None:
        self._config = fabric.Config(lazy=True, ssh_config=paramiko.SSHConfig())

    def make(self, target: str, *, user: str | None, port: int | None, ssh_config: str) -> FabricConnection:
        """Return a connection to ``target`` that is not open yet.

        Args:
            ssh_config: the text that decides about the target.

        Raises:
            ConfigParseError, ValueError, KeyError: the text is wrong.
        """
        options = paramiko.SSHConfig.from_text(ssh_config)
        # paramiko finds out for each option what each token stands for, the own host's name by DNS; here only for what
        # stands in the text. Source: paramiko 5.1, config.py, _tokenize.
        options.TOKENS_BY_CONFIG_KEY = {
            key: [token for token in tokens if token in ssh_config] for key, tokens in _TOKENS.items()
        }
        self._config.base_ssh_config = options
        # An empty connect_kwargs would be the shared one.
        return FabricConnection(
            target, user=user, port=port, config=self._config, gateway=False, connect_kwargs={"compress": False}
        )
