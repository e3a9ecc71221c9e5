"""One open SSH connection, and the words for what can go wrong with one. Imports paramiko."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any, Protocol

import paramiko

from exacell.core.errors import TransportError
from exacell.transport.ssh.endpoint import Tunnel
from exacell.transport.ssh.kept_cellcli import Sessions
from exacell.transport.ssh.route import Route
from exacell.transport.ssh.wire import Wire

_KEEPALIVE_S = 30
_MOVE_S = 5.0
_NO_SERVER = ("banner", "protocol version")
"""What paramiko says when the other side hangs up at once or speaks something else."""


class HostKeyError(TransportError):
    """The host's key is unknown, changed, revoked, or vouched for in a way that is not supported."""


class Progress(Protocol):
    """Told of each stage of an opening before it may block."""

    def __call__(self, late: str, seconds: float, abort: Callable[[], None]) -> None:
        """Take note of a stage.

        Args:
            late: the problem, if it takes longer than ``seconds``.
            abort: ends it from another thread.
        """


class Connection:
    """One open, authenticated connection.

    Attributes:
        user: who is logged in.
        fingerprint: of the key that logged in, ``SHA256:…``.
        sessions: the long-lived CellCLIs on the wire.
        reads: how many reads were sent on it.
        wire: whose reading the transport's one reader does, and on which commands are streams; None for a connection
            with a thread of its own.
    """

    def __init__(self, connection: Any, *, user: str, fingerprint: str, on_close: Callable[[], None]) -> None:
        self._on_close = on_close
        self._transport: paramiko.Transport = connection.transport
        self.user = user
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
        """Whether the connection was still up when last heard of."""
        return self._transport.is_active()

    @property
    def last_words(self) -> str:
        """One line on how the connection ended."""
        error = self._transport.get_exception()
        return reason(error) if error is not None else "it was closed"

    @property
    def banner(self) -> str:
        """What the server showed before the login, empty when nothing."""
        shown = self._transport.get_banner()
        return shown.decode("utf-8", "backslashreplace") if isinstance(shown, bytes) else str(shown or "")

    def open_tunnel(self, host: str, port: int, seconds: float) -> socket.socket | paramiko.Channel:
        """Return a connection from there to ``host``: a socket where the one reader reads this connection.

        Raises:
            TransportError: refused, or not reached in time, or the connection is dead; a connection that is silent is closed.
        """
        if self.wire is None:
            return self.open_channel(seconds, to=(host, port))
        return Tunnel(self.wire, host, port).open(seconds)

    def open_channel(self, seconds: float, *, to: tuple[str, int] | None = None) -> paramiko.Channel:
        """Return a new session channel, or a tunnel ``to`` (host, port).

        Raises:
            TransportError: refused; or the connection is dead, or silent for ``seconds``, and is closed then.
        """
        try:
            if to is None:
                return self._transport.open_session(timeout=seconds)
            return self._transport.open_channel("direct-tcpip", dest_addr=to, src_addr=("", 0), timeout=seconds)
        except paramiko.ChannelException as error:
            what = "a session" if to is None else f"a tunnel to {to[0]} port {to[1]}"
            raise TransportError(f"the SSH server refused {what}: {error.text}") from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            self.close()
            raise TransportError(f"the connection was lost ({reason(error)})") from error

    def close(self) -> None:
        """End the connection; every channel on it ends too. From any thread, also twice, and the reader never waits."""
        self._transport.close()
        if self.wire is not None and self.wire.reader.is_current():
            # What carries the connection, a ProxyCommand, may take a second to end.
            threading.Thread(target=self._on_close, name="exacell close", daemon=True).start()
        else:
            self._on_close()


def reason(error: BaseException) -> str:
    """Return one line on ``error``, never empty."""
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def login_late(route: Route) -> str:
    """Return one line on a login that took too long."""
    return (
        f"{route.place} took the connection but did not finish the login within {route.login_timeout:g}s: its sshd "
        "hangs or is overloaded"
    )


def handshake_problem(error: BaseException, route: Route, seconds: float) -> str:
    """Return one line on why key exchange with ``route`` failed after ``seconds``."""
    if seconds >= route.login_timeout:
        return login_late(route)
    if isinstance(error, paramiko.ssh_exception.IncompatiblePeer):
        return f"{route.place} shares no algorithm with us ({reason(error)}): it is too old for this SSH library"
    text = reason(error)
    if isinstance(error, EOFError) or any(sign in text for sign in _NO_SERVER):
        return (
            f"{route.place} closed the connection during the login: sshd refuses us (MaxStartups, hosts.deny) or it is "
            "no SSH server"
        )
    return f"the SSH login at {route.place} failed: {text}"
