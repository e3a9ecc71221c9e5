"""TCP connections begun while the SSH library is still being imported: the hosts' servers start meanwhile.

An import takes a tenth of a second, and a server about ten milliseconds a connection before it says its first word; on a
command line that asks once, these overlap here. Only what ssh_config says plainly is begun early: no gateway, no proxy
command, no Match. Whatever goes wrong here is nobody's problem: the usual way then connects anew and says why it can't.
"""

from __future__ import annotations

import re
import select
import socket
import threading
import time
from collections.abc import Iterable

from exacell.errors import TransportError
from exacell.transport.sockets import EagerSocket, resolve, tune

Place = tuple[str, int]

_LINE = re.compile(r"\s*([A-Za-z]+)(?:\s*=\s*|\s+)(.*?)\s*")
_NEEDS_MORE = frozenset({"match", "proxycommand", "proxyjump", "canonicalizehostname", "bindaddress", "bindinterface"})


def plain_place(text: str, target: str) -> Place | None:
    """Return host and port of ``target`` by ssh_config text for it alone, None when more than that has to be known."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is not None:
            found.setdefault(match[1].lower(), match[2].strip('"'))
    if any(found.get(word, "none").lower() not in ("none", "no") for word in _NEEDS_MORE):
        return None
    host, port = found.get("hostname", target).replace("%h", target), found.get("port", "22")
    return (host, int(port)) if "%" not in host and port.isdecimal() else None


class EarlyConnections:
    """Connections that were begun; each is taken once. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun: dict[Place, EagerSocket] = {}
        self._closings = 0

    def begin(self, places: Iterable[Place]) -> None:
        """Begin to connect to all places, in the background where a name has to be resolved first."""
        with self._lock:
            closings = self._closings
        threading.Thread(target=self._begin, args=(list(places), closings), name="exacell early", daemon=True).start()

    def take(self, place: Place, deadline: float) -> EagerSocket | None:
        """Return a connected socket, None when there is none that connects by ``deadline`` (monotonic)."""
        with self._lock:
            sock = self._begun.pop(place, None)
        if sock is None:
            return None
        left = max(0.0, deadline - time.monotonic())
        ready = select.poll()
        ready.register(sock, select.POLLOUT)
        if not ready.poll(left * 1000) or sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            sock.close()
            return None
        sock.settimeout(max(0.001, left))
        return sock

    def close(self) -> None:
        """Close what nobody took, and what is still being begun."""
        with self._lock:
            self._closings += 1
            begun, self._begun = list(self._begun.values()), {}
        for sock in begun:
            sock.close()

    def _begin(self, places: list[Place], closings: int) -> None:
        for place in dict.fromkeys(places):
            try:
                sock = _begun(place)
            except (TransportError, OSError, IndexError):
                continue
            with self._lock:
                wanted = closings == self._closings and place not in self._begun
                if wanted:
                    self._begun[place] = sock
            if not wanted:
                sock.close()


def _begun(place: Place) -> EagerSocket:
    """Return a socket that connects to a place in the background."""
    family, address = resolve(*place)[0]
    sock = EagerSocket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.connect_ex(address)
        tune(sock)
    except OSError:
        sock.close()
        raise
    return sock
