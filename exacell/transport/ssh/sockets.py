"""TCP connections for SSH: every address tried, no delayed packets, a dead peer noticed."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Callable
from typing import Any

from exacell.core.errors import TransportError

_EAGER_READS = 40
"""Reads acknowledged at once: the login and the first command. sshd writes its first channel's answer in small pieces
and waits 40 ms for a delayed acknowledgement otherwise; only the receiver can cure that. Source: reference fanout.md 5.
"""

_USER_TIMEOUT_MS = 30_000
_KEEPALIVE = (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))

_FAREWELL_S = 1.0

FAMILIES = {"any": socket.AF_UNSPEC, "inet": socket.AF_INET, "inet6": socket.AF_INET6}
"""ssh_config's AddressFamily words."""


class EagerSocket(socket.socket):
    """A TCP socket that acknowledges its first reads at once."""

    _eager = _EAGER_READS

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        """Return received bytes as any socket does."""
        if self._eager:
            self._eager -= 1
            self._quickack()
        return super().recv(bufsize, flags)

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0, /) -> int:
        """Receive into ``buffer`` as any socket does."""
        if self._eager:
            self._eager -= 1
            self._quickack()
        return super().recv_into(buffer, nbytes, flags)

    def _quickack(self) -> None:
        option = getattr(socket, "TCP_QUICKACK", None)
        if option is not None:
            # A socket that was closed meanwhile reports that in recv, with the better message.
            with contextlib.suppress(OSError):
                self.setsockopt(socket.IPPROTO_TCP, option, 1)


def resolve(host: str, port: int, family: str = "any") -> list[tuple[socket.AddressFamily, tuple[object, ...]]]:
    """Return the addresses of ``host`` in the resolver's order. May block for as long as DNS does.

    Raises:
        TransportError: the name has no address.
    """
    try:
        # As bytes, a plain name needs no codec for others, which takes longer to import than a name to be found.
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
            hint="ping and ssh from here tell whether it is the network or the host",
        ) from error


def tune(sock: socket.socket) -> None:
    """Have a socket send at once and notice within half a minute that its other side is gone."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _USER_TIMEOUT_MS)


def end(sock: Any) -> None:
    """Close a socket or a channel so that a thread blocked in it wakes; closing twice is fine."""
    break_off(sock)
    sock.close()


def break_off(sock: Any) -> None:
    """Wake who waits in a socket or a channel of somebody else: nothing comes any more, and its owner closes it."""
    if not isinstance(sock, socket.socket):
        sock.close()
        return
    # Not connected (any more): there is nobody to wake then.
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def through_command(command: str) -> tuple[socket.socket, Callable[[], None]]:
    """Return a socket whose other end is a ProxyCommand's standard input and output, and what ends the command.

    Raises:
        TransportError: the command cannot be started.
    """
    ours, theirs = socket.socketpair()
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {command}"],
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        raise TransportError(
            f"ProxyCommand '{command}' cannot be started: {error.strerror or error}",
            hint="ssh_config names it; run it by hand",
        ) from error
    finally:
        theirs.close()

    def stop() -> None:
        process.terminate()
        try:
            process.wait(_FAREWELL_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    return ours, stop
