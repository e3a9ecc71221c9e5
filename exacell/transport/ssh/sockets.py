"""Make TCP connections for SSH: every address is tried, packets are not delayed, and a dead peer is noticed."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import tempfile
import time
from typing import Any

from exacell.core.errors import TransportError
from exacell.transport.ssh.programs import Program, in_shell, start

_EAGER_READS = 40
"""How many reads are acknowledged at once: the login and the first command. sshd writes its first channel's answer in small
pieces and otherwise waits 40 ms for a delayed acknowledgement; only the receiver can prevent that. Source: reference fanout.md 5.
"""

_USER_TIMEOUT_MS = 30_000
"""How long sent data may stay without an acknowledgement."""

_KEEPALIVE = (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))
"""A silent peer is asked after 15 s and then every 5 s; after three unanswered questions, 30 s, it is gone."""

_FAREWELL_S = 1.0
"""Seconds that a ProxyCommand gets to end by itself."""

_MOST_SAID = 4096
"""How many bytes of a ProxyCommand's standard error a message shows."""

FAMILIES = {"any": socket.AF_UNSPEC, "inet": socket.AF_INET, "inet6": socket.AF_INET6}
"""ssh_config's words for AddressFamily."""


class EagerSocket(socket.socket):
    """A TCP socket that acknowledges its first reads at once."""

    _eager = _EAGER_READS

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        """Return received bytes."""
        if self._eager:
            self._eager -= 1
            self._quickack()
        return super().recv(bufsize, flags)

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0, /) -> int:
        """Receive into ``buffer`` and return the number of bytes."""
        if self._eager:
            self._eager -= 1
            self._quickack()
        return super().recv_into(buffer, nbytes, flags)

    def _quickack(self) -> None:
        option = getattr(socket, "TCP_QUICKACK", None)
        if option is not None:
            # If the socket was closed meanwhile, recv reports it with a better message.
            with contextlib.suppress(OSError):
                self.setsockopt(socket.IPPROTO_TCP, option, 1)


def resolve(host: str, port: int, family: str = "any") -> list[tuple[socket.AddressFamily, tuple[object, ...]]]:
    """Return the addresses of ``host`` in the resolver's order. May block as long as DNS does.

    Raises:
        TransportError: the name has no address.
    """
    try:
        # As bytes, a plain name needs no codec, whose import would take longer than the name lookup.
        name = host.encode() if host.isascii() and all(0 < len(part) < 64 for part in host.split(".")) else host
        found = socket.getaddrinfo(name, port, FAMILIES.get(family, socket.AF_UNSPEC), socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise TransportError(
            f"host name {host} cannot be resolved ({reason}): check the name, DNS or HostName in ssh_config"
        ) from error
    return [(item[0], item[4]) for item in found]


def connect(
    sock: EagerSocket, address: tuple[object, ...], *, host: str, port: int, deadline: float, seconds: float
) -> None:
    """Connect ``sock`` and set its options.

    Args:
        deadline: a :func:`time.monotonic` moment, ``seconds`` after the first attempt for this host.

    Raises:
        TransportError: refused, unreachable, or no answer in time.
    """
    sock.settimeout(max(0.001, deadline - time.monotonic()))
    place = f"{host} port {port}"
    try:
        sock.connect(address)
        tune(sock)
    except TimeoutError as error:
        raise TransportError(
            f"no answer from {place} within {seconds:g}s: the host is down, or a firewall drops packets"
        ) from error
    except ConnectionRefusedError as error:
        raise TransportError(f"{place} refused the connection: sshd does not run there") from error
    except OSError as error:
        raise TransportError(
            f"{place} cannot be reached: {error.strerror or error}",
            hint="try `ping` and `ssh` in a shell: they show whether it is the network or the host",
        ) from error


def tune(sock: socket.socket) -> None:
    """Set a socket to send at once, and to notice within half a minute that its other side is gone."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _USER_TIMEOUT_MS)


def end(sock: Any) -> None:
    """Close a socket or a channel, and wake a thread that is blocked in it; may be called twice."""
    break_off(sock)
    sock.close()


def break_off(sock: Any) -> None:
    """Wake a thread that waits in a socket or channel of another owner: end the data there; the owner closes it."""
    if not isinstance(sock, socket.socket):
        sock.close()
        return
    # Not connected (any more): no thread waits then.
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


class Piped:
    """A running ProxyCommand and its standard error so far; ``sock`` is connected to its input and output."""

    def __init__(self, program: Program) -> None:
        """Start ``program``.

        Raises:
            TransportError: the command cannot be started.
            ConfigError: it may not run.
        """
        self.program = program
        # A file never blocks the command, even if it writes much.
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # Closed by stop().
        self.sock, theirs = socket.socketpair()
        try:
            argv = in_shell(f"exec {program.command}")
            self._process = start(program, argv, stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=self._said)
        except BaseException:
            self.sock.close()
            self._said.close()
            raise
        finally:
            theirs.close()

    @property
    def problem(self) -> str:
        """Return one line about how the command failed, with its own words; empty if it printed nothing and did not fail."""
        try:
            # Its output has ended, so it is about to end.
            status = self._process.wait(_FAREWELL_S)
        except subprocess.TimeoutExpired:
            status = None
        words = self._words()
        if not status and not words:
            return ""
        ended = "" if status is None else f" ended with {_status(status)}"
        return f"ProxyCommand '{self.program.command}'{ended}{': ' if words else ''}{words}"

    def _words(self) -> str:
        self._said.seek(0)
        lines = self._said.read(_MOST_SAID).decode("utf-8", "backslashreplace").splitlines()
        return "; ".join(text for text in (" ".join(line.split()) for line in lines) if text)

    def stop(self) -> None:
        """End the command."""
        self._process.terminate()
        try:
            self._process.wait(_FAREWELL_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._said.close()


def _status(status: int) -> str:
    return f"status {status}" if status >= 0 else f"signal {-status}"
