"""Hold one open SSH connection, run one command or upload on a plain channel of it in linear time, and describe what can go
wrong. Imports paramiko."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Any, Protocol

import paramiko
from paramiko import SFTPClient, SSHException

from exacell.core.errors import TransportError
from exacell.transport.base import Upload
from exacell.transport.capture import Capture, End, Ending
from exacell.transport.ssh.endpoint import Tunnel, Variables
from exacell.transport.ssh.kept_cellcli import Sessions
from exacell.transport.ssh.route import Route
from exacell.transport.ssh.sftp import NO_SFTP, write_files
from exacell.transport.ssh.wire import Wire

_KEEPALIVE_S = 30
_MOVE_S = 5.0
_NO_SERVER = ("banner", "protocol version")
"""What paramiko reports if the other side hangs up at once or speaks another protocol."""


class HostKeyError(TransportError):
    """The host's key is unknown, changed or revoked, or confirmed in a way that is not supported."""


class Progress(Protocol):
    """Called with each stage of an opening before the stage may block."""

    def __call__(self, late: str, seconds: float, abort: Callable[[], None]) -> None:
        """Note a stage.

        Args:
            late: the problem, if the stage takes longer than ``seconds``.
            abort: ends the stage from another thread.
        """


class Connection:
    """One open, authenticated connection.

    Attributes:
        user: the user who is logged in.
        fingerprint: of the key that logged in, ``SHA256:…``.
        sessions: the long-lived CellCLIs on the wire.
        reads: how many reads were sent on it.
        locale: the variables of SendEnv, which are sent with commands whose text is for a person.
        wire: the transport whose reading the shared reader does, with commands as streams; None for a connection
            with its own thread.
    """

    def __init__(self, connection: Any, *, route: Route, fingerprint: str, on_close: Callable[[], None]) -> None:
        self._on_close = on_close
        self._transport: paramiko.Transport = connection.transport
        self.user = route.user
        self.locale = route.locale
        self.fingerprint = fingerprint
        transport = self._transport
        self.wire: Wire | None = None
        self.sessions: Sessions | None = None
        self.reads = 0
        if isinstance(transport, Wire) and transport.moving and transport.moved.wait(_MOVE_S):
            self.wire = transport
            self.sessions = Sessions(transport)
        else:
            transport.set_keepalive(_KEEPALIVE_S)

    @property
    def alive(self) -> bool:
        """Return whether the connection was still up at the last check."""
        return self._transport.is_active()

    @property
    def last_words(self) -> str:
        """Return one line on how the connection ended."""
        error = self._transport.get_exception()
        return reason(error) if error is not None else "it was closed"

    @property
    def banner(self) -> str:
        """Return the server's text before the login, empty if there was none."""
        shown = self._transport.get_banner()
        return shown.decode("utf-8", "backslashreplace") if isinstance(shown, bytes) else str(shown or "")

    def open_tunnel(self, host: str, port: int, seconds: float) -> socket.socket | paramiko.Channel:
        """Return a connection from the host to ``host``: a socket if the shared reader reads this connection.

        Raises:
            TransportError: refused, or not reached in time, or the connection is dead; a silent connection is closed.
        """
        if self.wire is None:
            return self.open_channel(seconds, to=(host, port))
        return Tunnel(self.wire, host, port).open(seconds)

    def open_channel(self, seconds: float, *, to: tuple[str, int] | None = None) -> paramiko.Channel:
        """Return a new session channel, or a tunnel ``to`` (host, port).

        Raises:
            TransportError: refused; or the connection is dead or silent for ``seconds``, and is closed.
        """
        try:
            if to is None:
                return self._transport.open_session(timeout=seconds)
            return self._transport.open_channel("direct-tcpip", dest_addr=to, src_addr=("", 0), timeout=seconds)
        except paramiko.ChannelException as error:
            what = "a session" if to is None else f"a tunnel to {to[0]} port {to[1]}"
            raise TransportError(
                f"the SSH server refused {what}: {error.text}",
                hint="its sshd_config decides: MaxSessions, AllowTcpForwarding",
            ) from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            self.close()
            raise TransportError(
                f"the connection was lost ({reason(error)})", hint="type the statement again; exacell connects again"
            ) from error

    def close(self) -> None:
        """Close the connection, and with it every channel on it. May be called from any thread, also twice; never waits."""
        self._transport.close()
        if self.wire is not None and self.wire.reader.is_current():
            # The program of the connection, a ProxyCommand, may take a second to end.
            threading.Thread(target=self._on_close, name="exacell close", daemon=True).start()
        else:
            self._on_close()


def reason(error: BaseException) -> str:
    """Return one line on ``error``, never empty."""
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def login_late(route: Route) -> str:
    """Return one line on a login that took too long."""
    if route.proxy is not None:
        return f"no login within {route.login_timeout:g}s through ProxyCommand '{route.proxy.command}'"
    return (
        f"{route.place} accepted the connection but did not finish the login within {route.login_timeout:g}s: "
        "its sshd hangs or is overloaded"
    )


def handshake_problem(error: BaseException, route: Route, seconds: float, said: str = "") -> str:
    """Return one line on why key exchange with ``route`` failed after ``seconds``.

    Args:
        said: how the route's ProxyCommand failed; empty if there is none, or if it printed nothing.
    """
    if seconds >= route.login_timeout:
        return login_late(route) if not said else f"no login within {route.login_timeout:g}s: {said}"
    if isinstance(error, paramiko.ssh_exception.IncompatiblePeer):
        return (
            f"{route.place} and exacell have no SSH algorithm in common ({reason(error)}): type `set transport openssh`; "
            "what ssh itself refuses, ssh_config must allow (KexAlgorithms, Ciphers, MACs, HostKeyAlgorithms)"
        )
    text = reason(error)
    closed = isinstance(error, EOFError) or any(sign in text for sign in _NO_SERVER)
    if said and (closed or isinstance(error, OSError)):
        return said
    if closed:
        way = f" (through ProxyCommand '{route.proxy.command}')" if route.proxy is not None else ""
        return (
            f"{route.place} closed the connection during the login{way}: its sshd refuses this host "
            "(MaxStartups, hosts.deny), or it is not an SSH server"
        )
    return f"the SSH login at {route.place} failed: {text}{f'; {said}' if said else ''}"


_PIECE = 1 << 20
_INLINE_STDIN = 16 << 10
"""Bytes of standard input that are sent before reading. More is sent by a thread: otherwise a command that answers before
it has read everything, and exacell, could block each other."""


_LAST_WORDS_S = 1.0
"""How long a dying transport may take to report it, on a busy host."""


class Bell(threading.Event):
    """Set by either stream's buffer; an empty buffer of one stream does not clear it for the other."""

    def clear(self) -> None:
        """Do nothing: only the reading thread clears it, with :meth:`rearm`."""

    def rearm(self) -> None:
        """Clear the event, before the buffers are checked."""
        super().clear()


def listen(channel: paramiko.Channel) -> Bell:
    """Return an event that is set when something arrives on either stream of a channel."""
    bell = Bell()
    channel.in_buffer.set_event(bell)
    channel.in_stderr_buffer.set_event(bell)
    return bell


def execute(
    channel: paramiko.Channel, command: str, stdin: str | None, capture: Capture, env: Variables = ()
) -> Ending:
    """Run ``command`` on a new session channel, read its output to the end into ``capture``, and close the channel.

    Args:
        stdin: sent to the command, then end-of-file; None: end-of-file at once.
        env: variables for the command; the server may ignore them.
    """
    bell = listen(channel)
    try:
        try:
            for name, value in env:
                channel.set_environment_variable(name, value)
            channel.exec_command(command)
        except (SSHException, EOFError, OSError):
            return Ending(end=End.LOST if is_dead(channel.get_transport()) else End.REFUSED)
        _feed(channel, (stdin or "").encode("utf-8", "surrogateescape"))
        _drain(channel, bell, capture)
        if capture.broken_off is not None:
            return Ending(end=capture.broken_off)
        return ending_of(channel)
    finally:
        hang_up(channel)


def ending_of(channel: paramiko.Channel) -> Ending:
    """Return how a command ended, after its output has ended.

    A status may come before the rest of the output; if the connection was lost after that, output may be missing.
    """
    status = channel.recv_exit_status()
    if status >= 0 and (channel.eof_received or not is_dead(channel.get_transport())):
        return Ending(end=End.STATUS, exit_status=status)
    return Ending(end=End.LOST if is_dead(channel.get_transport()) else End.NO_STATUS)


def hang_up(channel: paramiko.Channel) -> None:
    """Close ``channel``, even if its connection has died meanwhile. Any wait on it ends."""
    with contextlib.suppress(SSHException, EOFError, OSError):
        channel.close()


def is_dead(transport: paramiko.Transport) -> bool:
    """Return whether the connection of a failed channel is gone."""
    # A dying transport first ends its channels and only then reports that it is inactive; its thread is about to end.
    transport.join(_LAST_WORDS_S)
    return not transport.is_active()


def _feed(channel: paramiko.Channel, data: bytes) -> None:
    if len(data) <= _INLINE_STDIN:
        _send(channel, data)
    else:
        threading.Thread(target=_send, args=(channel, data), name="exacell stdin", daemon=True).start()


def _send(channel: paramiko.Channel, data: bytes) -> None:
    try:
        channel.sendall(data)
        channel.shutdown_write()
    except (OSError, EOFError):
        # The command ended, or the connection died, before all was sent; the ending shows which of the two.
        return


def _drain(channel: paramiko.Channel, bell: Bell, capture: Capture) -> None:
    while True:
        bell.rearm()
        # Checked before the buffers: the end is announced only after all output is in them.
        ended = channel.eof_received or channel.closed
        arrived = False
        while channel.recv_ready():
            capture.take(channel.recv(_PIECE))
            arrived = True
        while channel.recv_stderr_ready():
            capture.take_error(channel.recv_stderr(_PIECE))
            arrived = True
        if ended or capture.broken_off is not None:
            return
        if not arrived:
            bell.wait()


def send_files(channel: paramiko.Channel, upload: Upload, capture: Capture) -> Ending:
    """Send the files on a new session channel and close it; the status is 1 if some files could not be written.

    Messages about a file, in scp's words, go to the standard error in ``capture``; the other files are still sent.
    """
    try:
        try:
            channel.invoke_subsystem("sftp")
            client = SFTPClient(channel)
        except (*NO_SFTP, OSError):
            return Ending(end=End.LOST if is_dead(channel.get_transport()) else End.REFUSED)
        try:
            return Ending(end=End.STATUS, exit_status=write_files(client, upload, capture))
        except NO_SFTP:
            return Ending(end=End.LOST)
    finally:
        hang_up(channel)
