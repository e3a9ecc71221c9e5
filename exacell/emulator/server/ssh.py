"""The SSH servers of an emulated rack: one loopback listener for each host; sessions run our programs or a real shell."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import struct
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import cast

import asyncssh
from asyncssh import (
    OPEN_ADMINISTRATIVELY_PROHIBITED,
    OPEN_CONNECT_FAILED,
    ChannelOpenError,
    SSHAcceptor,
    SSHServer,
    SSHServerChannel,
    SSHServerConnection,
    SSHServerConnectionOptions,
    SSHServerProcess,
    SSHTCPSession,
)

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.store import RackFiles
from exacell.emulator.hosts.host_shell import run_shell
from exacell.emulator.hosts.identity import host_key
from exacell.emulator.hosts.kinds import DBNODE
from exacell.emulator.hosts.sftp import HomeSFTPServer
from exacell.emulator.hosts.shell import Host, Login
from exacell.emulator.hosts.simple_command import simple_command
from exacell.emulator.server.driver import ConsoleLost, LineBuffer
from exacell.emulator.server.host_shells import HostShells
from exacell.emulator.server.programs import Programs
from exacell.emulator.server.sessions import VARIABLE, Sessions
from exacell.emulator.state.fault_book import FaultBook, Kind

LOG = logging.getLogger("exacell.emulator")

_READ = 65536
_LOGIN_S = 120
"""Seconds that a login may take: sshd_config(5), LoginGraceTime. 300 logins at once on a busy machine need more than 30 seconds.
"""
_CLOSE_S = 5.0
"""Seconds that a channel may take to close after its session has ended."""
_NOT_EXECUTED = 126
"""Exit status of shells for a file that exists but can't be run."""
_FAILED = 255
"""Exit status of sshd when it can't start the login's shell."""
_ACCEPTED_ENVIRONMENT = ("LANG", "LC_")
"""Variables that a client may set, as AcceptEnv has them in Oracle Linux's sshd_config."""


class ChannelConsole:
    """The channel of an exec request, used as a program's console."""

    def __init__(self, channel: SSHServerProcess[bytes]) -> None:
        self._channel = channel
        self._lines = LineBuffer()

    async def write(self, text: str, *, err: bool) -> None:
        """Send text, waiting while the client doesn't read."""
        writer = self._channel.stderr if err else self._channel.stdout
        try:
            writer.write(text.encode("utf-8", "surrogateescape"))
            await writer.drain()
        except (OSError, asyncssh.Error) as error:
            raise ConsoleLost(str(error)) from error

    async def cut(self) -> None:
        """Break the client's connection."""
        cut_connection(self._channel)

    async def read_line(self, prompt: str) -> str | None:
        """Show the prompt and return the next line; signals and breaks from the client end the program."""
        if prompt:
            await self.write(prompt, err=False)
        while True:
            complete, line = self._lines.next()
            if complete:
                return line
            try:
                self._lines.feed(await self._channel.stdin.read(_READ))
            except (OSError, asyncssh.Error, asyncssh.BreakReceived, asyncssh.SignalReceived) as error:
                raise ConsoleLost(str(error)) from error


def cut_connection(channel: SSHServerProcess[bytes]) -> None:
    """Break the connection of a session without an SSH message."""
    channel.channel.get_connection().abort()


class HostServer(SSHServer):
    """Authentication on one emulated host: only known logins, and only by the public keys in their home directories.

    Args:
        open_ones: the host's connections; this one is added and later removed.
        beyond: the destinations to which a database node forwards connections.
    """

    def __init__(
        self,
        host: Host,
        public_keys: str,
        faults: FaultBook,
        open_ones: set[SSHServerConnection],
        beyond: Destinations,
    ) -> None:
        self._host = host
        self._beyond = beyond
        self._public_keys = public_keys
        self._faults = faults
        self._open = open_ones
        self._connection: SSHServerConnection | None = None

    def connection_made(self, conn: SSHServerConnection) -> None:
        """Store the connection, for the login's keys; close it at once if the host refuses connections."""
        self._connection = conn
        self._open.add(conn)
        if self._faults.refuses(self._host.name):
            # Without lingering the client gets a reset, which is as near to a closed port as an open port can come.
            conn.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the host's connections."""
        if self._connection is not None:
            self._open.discard(self._connection)

    def begin_auth(self, username: str) -> bool:
        """Load the login's authorized_keys; a login without keys can't log in."""
        assert self._connection is not None
        login = self._host.login(username)
        if login is None:
            return True
        self._host.prepare(self._public_keys)
        try:
            keys = asyncssh.import_authorized_keys(login.authorized_keys(self._public_keys))
        except (OSError, ValueError) as error:
            LOG.warning("no login as %s on %s: its authorized_keys: %s", username, self._host.name, error)
        else:
            self._connection.set_authorized_keys(keys)
        return True

    def public_key_auth_supported(self) -> bool:
        """Return True: every login is asked for a key, even one that has no keys or does not exist."""
        return True

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> Awaitable[SSHTCPSession[bytes]]:
        """Forward a client's connection to another host of the rack, as a jump host does.

        Raises:
            ChannelOpenError: this host does not forward connections, or there is no such host.
        """
        assert self._connection is not None
        if self._host.kind is not DBNODE:
            raise ChannelOpenError(OPEN_ADMINISTRATIVELY_PROHIBITED, "open failed")
        port = self._beyond.port(dest_host, dest_port)
        if port is None:
            raise ChannelOpenError(OPEN_CONNECT_FAILED, f"no host of the rack: {dest_host}:{dest_port}")
        forwarded = self._connection.forward_connection("127.0.0.1", port)
        return cast("Awaitable[SSHTCPSession[bytes]]", forwarded)  # as asyncssh itself takes it


class RackServers:
    """The listeners of all hosts of a rack."""

    def __init__(
        self,
        files: RackFiles,
        hosts: Mapping[str, Host],
        programs: Programs,
        public_keys: str,
        *,
        faults: FaultBook,
        sessions: Sessions,
        shells: HostShells,
    ) -> None:
        self._files = files
        self._hosts = hosts
        self._programs = programs
        self._public_keys = public_keys
        self._shells = shells
        shells.on_connection = self._serve_from_inside
        self._faults = faults
        self._keys = sessions
        self._acceptors: dict[str, list[SSHAcceptor]] = {name: [] for name in hosts}
        self._unknown: set[str] = set()
        self._beyond = Destinations(ports={}, addresses={})
        self._sessions: set[asyncio.Task[None]] = set()
        self._open: Mapping[str, set[SSHServerConnection]] = {name: set() for name in hosts}
        faults.on_restart = self.drop

    async def listen(
        self,
        sockets: Mapping[str, socket.socket],
        addresses: Mapping[str, str],
        more: Mapping[str, socket.socket] = MappingProxyType({}),
    ) -> None:
        """Serve every host on its socket.

        Args:
            addresses: the hosts' addresses on the storage network, by which they reach each other.
            more: further sockets by host.
        """
        ports = {name: bound.getsockname()[1] for name, bound in sockets.items()}
        self._beyond = Destinations(ports=ports, addresses=addresses)
        for name in self._hosts:
            options = self._options(name)
            for bound in (sockets[name], *([more[name]] if name in more else [])):
                self._acceptors[name].append(await asyncssh.listen(sock=bound, options=options))
                # Connections inherit it: without it, an ended connection of this run blocks the port for a minute.
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.offer_keys()

    def _options(self, name: str) -> SSHServerConnectionOptions:
        """Return the options with which a host serves a connection."""
        host = self._hosts[name]
        return SSHServerConnectionOptions(
            server_host_keys=[host_key(self._files, name, other=name in self._unknown)],
            server_factory=partial(HostServer, host, self._public_keys, self._faults, self._open[name], self._beyond),
            process_factory=partial(self._session, host),
            sftp_factory=partial(_sftp, host),
            allow_scp=True,
            encoding=None,
            line_editor=False,
            login_timeout=_LOGIN_S,
            gss_host=None,
            password_auth=False,
            kbdint_auth=False,
            host_based_auth=False,
            agent_forwarding=False,
            x11_forwarding=False,
        )

    async def _serve_from_inside(self, name: str, connection: socket.socket) -> None:
        """Serve a connection from behind the fence of another host of the rack."""
        try:
            await asyncssh.run_server(connection, options=self._options(name))
        except (OSError, asyncssh.Error, TimeoutError) as error:
            LOG.debug("a connection to %s from inside the rack ended early: %s", name, error)
            connection.close()

    def offer_keys(self) -> None:
        """Make every host show its present host key: its own, or with that fault a key that nobody knows."""
        wanted = {name for name in self._hosts if self._faults.holds(name, Kind.HOST_KEY)}
        for name in wanted ^ self._unknown:
            key = host_key(self._files, name, other=name in wanted)
            for acceptor in self._acceptors[name]:
                acceptor.update(server_host_keys=[key])
        self._unknown = wanted

    def drop(self, name: str) -> None:
        """Break every open connection to a host, as its restart does, once the present event has been handled."""
        for connection in self._open[name]:
            asyncio.get_running_loop().call_soon(connection.abort)

    async def close(self) -> None:
        """Stop listening, end all sessions and connections, and wait until they are gone."""
        acceptors = [acceptor for some in self._acceptors.values() for acceptor in some]
        for acceptor in acceptors:
            acceptor.close()
        for session in list(self._sessions):
            session.cancel()
        if self._sessions:
            await asyncio.wait(self._sessions)
        for acceptor in acceptors:
            await acceptor.wait_closed()

    async def _session(self, host: Host, channel: SSHServerProcess[bytes]) -> None:
        """Run one exec or shell request; when the client disconnects, the program or shell ends."""
        login = host.login(channel.get_extra_info("username"))
        assert login is not None
        work = asyncio.ensure_future(self._run(login, channel))
        self._sessions.add(work)
        # Both are watched: a channel whose input nobody reads does not notice that its connection is gone.
        closed = asyncio.ensure_future(channel.wait_closed())
        disconnected = asyncio.ensure_future(channel.get_extra_info("connection").wait_closed())
        try:
            await asyncio.wait((work, closed, disconnected), return_when=asyncio.FIRST_COMPLETED)
        finally:
            work.cancel()
            disconnected.cancel()
            with suppress(asyncio.CancelledError):
                await work
            self._sessions.discard(work)
            channel.close()
            await asyncio.wait((closed,), timeout=_CLOSE_S)
            closed.cancel()

    async def _run(self, login: Login, channel: SSHServerProcess[bytes]) -> None:
        key = self._keys.enter(partial(cut_connection, channel))
        try:
            status = await self._status(login, channel, key)
        except (ConsoleLost, asyncssh.Error, ConnectionError) as error:
            LOG.debug("session of %s on %s ended early: %s", login.user, login.host.name, error)
            return
        except OSError:
            LOG.exception("no shell for %s on %s", login.user, login.host.name)
            status = _FAILED
        finally:
            self._keys.leave(key)
        if status < 0:
            # As sshd reports it; ssh makes 255 of it.
            channel.exit_with_signal(signal.Signals(-status).name.removeprefix("SIG"))
        else:
            channel.exit(status & 0xFF)

    async def _status(self, login: Login, channel: SSHServerProcess[bytes], key: str) -> int:
        if channel.subsystem is not None:
            await ChannelConsole(channel).write("subsystem request failed on channel 0\n", err=True)
            return _FAILED
        tty = channel.term_type is not None
        extra = {
            name: value for name, value in channel.env.items() if name.startswith(_ACCEPTED_ENVIRONMENT)
        } | _connection_environment(channel)
        extra[VARIABLE] = key
        if tty:
            extra["TERM"] = channel.term_type or "dumb"
        environment = login.environment(extra=extra)
        refused = refusal(login, channel.command)
        if refused:
            await ChannelConsole(channel).write(refused, err=True)
            return _FAILED
        if login.host.restricted and login.user in LOGINS and channel.command is None:
            console = ChannelConsole(channel)
            return await self._programs.run(
                "cellcli", login, (), console, env=environment, files=login.files(), tty=tty
            )
        simple = None if tty or channel.command is None else simple_command(channel.command)
        if simple is not None and login.host.kind.answers(simple.words[0]):
            env = environment | dict(simple.environment)
            console = ChannelConsole(channel)
            return await self._programs.run(
                simple.program, login, simple.words[1:], console, env=env, files=login.files(), tty=False
            )
        try:
            fence = await self._shells.fence(login.host)
        except (EmulatorError, TimeoutError) as error:
            await ChannelConsole(channel).write(
                no_shell(channel.command, login.host.kind.programs, str(error)), err=True
            )
            return _NOT_EXECUTED
        argv = login.shell_command(channel.command, tty=tty)
        return await run_shell(channel, fence, argv, cwd=login.home, environment=environment, tty=tty)


def no_shell(command: str | None, programs: Sequence[str], reason: str) -> str:
    """Return the message that says why a command line is not run."""
    first = (command or "").split(None, 1)[0] if command and command.strip() else "a login shell"
    return (
        f"{first}: not run: this machine allows no fence around emulated hosts ({reason}), and without one "
        f"only plain {', '.join(programs)} run\n"
    )


def _sftp(host: Host, channel: SSHServerChannel[bytes]) -> HomeSFTPServer:
    login = host.login(channel.get_extra_info("username"))
    assert login is not None
    kind = RestrictedSFTPServer if host.restricted and login.user in LOGINS else HomeSFTPServer
    return kind(channel, host.files.tree(host.name), login.home)


def _connection_environment(channel: SSHServerProcess[bytes]) -> dict[str, str]:
    """Return the variables in which sshd tells a session its client's address."""
    peer, own = channel.get_extra_info("peername"), channel.get_extra_info("sockname")
    if not peer or not own:
        return {}
    return {
        "SSH_CLIENT": f"{peer[0]} {peer[1]} {own[1]}",
        "SSH_CONNECTION": f"{peer[0]} {peer[1]} {own[0]} {own[1]}",
    }


_SSH = 22
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, kw_only=True)
class Destinations:
    """The hosts and ports to which a database node forwards clients' connections as a jump host: only the rack's own.

    Source: RFC 4254, 7.2; ssh(1), -J and -W; sshd_config(5), AllowTcpForwarding. Whether the sshd of storage cells forwards
    is not published: emulated cells do not.

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


LOGINS = frozenset(("celladmin", "cellmonitor"))
ALLOWED = frozenset(("cellcli", "date", "df", "hostname", "id", "uname", "uptime", "whoami"))


def refusal(login: Login, command: str | None) -> str:
    """Return why a restricted login may not run a command line; empty if it may. ``command`` None means an interactive session.

    Such logins of cells exist from 26.1 on. Source: reference cellcli.md 8 (26.1). The list of commands and the text of a refusal
    are not published.
    """
    if not login.host.restricted or login.user not in LOGINS or command is None:
        return ""
    simple = simple_command(command)
    if simple is not None and simple.words[0] in ALLOWED and not simple.environment:
        return ""
    first = command.split(None, 1)[0] if command.strip() else command
    return f"{first}: not allowed for {login.user} on this system\n"


class RestrictedSFTPServer(HomeSFTPServer):
    """SFTP and SCP that refuse every file."""

    def named(self, path: bytes) -> str:
        """Refuse every path.

        Raises:
            asyncssh.SFTPPermissionDenied: always.
        """
        raise asyncssh.SFTPPermissionDenied("copying files is not allowed for this login")
