"""The transport of one-shot command lines whose rack has a holder of connections; see :mod:`exacell.transport.held`.

The holder gives a correct answer or none. If it does not answer at once and for certain, this process asks over its own
connections, as without a holder. A change is never sent to the holder. For the holder's answers neither fabric nor paramiko is
imported.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from exacell.core.belonging import Identity
from exacell.core.config import RackConfig, Settings
from exacell.core.values import replace
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, Role, Transport
from exacell.transport.capabilities import SSH, check_requests
from exacell.transport.held.frames import (
    LARGEST,
    FrameError,
    Heard,
    Seen,
    batches_of,
    decode,
    encode,
    heard_reply,
    is_answer,
    told_batches,
)
from exacell.transport.held.place import PATIENCE, Hold, call

if TYPE_CHECKING:
    from exacell.transport.ssh import SshTransport


class HeldTransport(Transport):
    """Asks the rack's holder, and uses our own connections for everything that it does not answer; see :class:`Transport`.

    Args:
        hold: the holder; if it has ``seconds`` and no holder runs, one is started.
    """

    capabilities = SSH

    def __init__(self, rack: RackConfig, settings: Settings, hold: Hold) -> None:
        self._rack, self._settings, self._hold = rack, settings, hold
        self._lock = threading.Lock()
        self._transport: SshTransport | None = None
        self._usable = True
        self._mine: set[str] = set()
        """The targets that were asked over our own connections: those stay with them."""
        self._seen: dict[str, Seen] = {}
        self._awaited: dict[str, None] = {}

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Send all requests, over the holder if it answers, and return one reply for each target; see Transport."""
        check_requests(requests, rack=self._rack.name, read_only=self.read_only, capabilities=SSH)
        held = [request for request in requests if self._usable and request.target not in self._mine]
        replies = self._held(held, on_reply, cancel) if held else {}
        left = [request for request in requests if request.target not in replies]
        if left:
            self._mine.update(request.target for request in left)
            replies.update(self._own().run(left, on_reply=on_reply, cancel=cancel).replies)
        return FleetResult(targets=tuple(request.target for request in requests), replies=replies)

    def _held(
        self, requests: Sequence[Request], on_reply: ReplyHandler | None, cancel: threading.Event | None
    ) -> dict[str, Reply]:
        """Return the certain answers of the holder: for all requests, for some, or for none."""
        batches = batches_of(requests, self._seconds)
        if batches is None:
            return {}
        replies: dict[str, Reply] = {}
        ask = {"what": "ask", "identity": self._hold.identity, "batches": told_batches(batches)}
        targets = {request.target for request in requests}
        self._awaited.update(dict.fromkeys(targets))
        try:
            for heard, descriptor in talk(self._hold, ask, cancel):
                reply = _whole(heard, descriptor)
                if reply.target not in targets or reply.target in replies:
                    raise FrameError("it answered for a cell that was not asked")
                if not is_answer(reply):
                    continue
                self._seen[reply.target] = heard.seen
                replies[reply.target] = reply
                self._awaited.pop(reply.target, None)
                if on_reply is not None:
                    on_reply(reply)
        except (FileNotFoundError, ConnectionRefusedError):
            self._usable = False
            self._start(requests)
        except (OSError, FrameError):
            self._usable = False
        finally:
            for target in targets:
                self._awaited.pop(target, None)
        return replies

    def _start(self, requests: Sequence[Request]) -> None:
        """Start a holder for later command lines; this one does not wait for it."""
        if self._hold.seconds is None:
            return
        from exacell.transport.held.starting import start  # Once in so many idle minutes.

        with suppress(OSError):  # `hold on` says why; a read needs none.
            start(self._hold, [request.target for request in requests], self._hold.seconds, os.environ)

    def _seconds(self, request: Request) -> float:
        return request.timeout or self._rack.command_timeout or self._settings.timeout

    def _own(self) -> SshTransport:
        """Return our own connections, with the settings of this transport."""
        from exacell.transport.ssh import SshTransport  # What a holder answers needs none of it.

        with self._lock:
            if self._transport is None:
                self._transport = SshTransport(self._rack, self._settings)
            own = self._transport
        own.read_only, own.gate = self.read_only, self.gate
        own.expects_more = own.expects_more or self.expects_more
        return own

    # -- what else a transport is asked ----------------------------------------------------------------------------

    @property
    def read_fallback(self) -> frozenset[str]:
        """Targets whose read login was refused; see Transport."""
        own = self._transport.read_fallback if self._transport is not None else frozenset()
        return own | {target for target, seen in self._seen.items() if seen.fallback}

    @property
    def awaited(self) -> tuple[str, ...]:
        """The targets without an answer yet, of all present runs."""
        return (*tuple(self._awaited), *(self._transport.awaited if self._transport is not None else ()))

    @property
    def single_reads(self) -> Mapping[str, str]:
        """Targets where no CellCLI can be kept open, and why."""
        own = self._transport.single_reads if self._transport is not None else {}
        return {**{target: seen.single for target, seen in self._seen.items() if seen.single}, **own}

    @property
    def host_keys(self) -> Mapping[str, str]:
        """The host key of each target, as shown to the holder or to this process."""
        own = self._transport.host_keys if self._transport is not None else {}
        return {**{target: seen.host_key for target, seen in self._seen.items() if seen.host_key}, **own}

    def shows(self, target: str, *, addresses: bool = False) -> Identity:
        """Return what identifies ``target``; see Transport."""
        seen = self._seen.get(target)
        if seen is None or addresses or target in self._mine:
            return self._own().shows(target, addresses=addresses)
        return Identity(keys=frozenset(seen.keys))

    def lives(self, target: str) -> int:
        """Return how often ``target`` was connected to for reads, by the holder and here."""
        own = self._transport.lives(target) if self._transport is not None else 0
        return own + (self._seen[target].lives if target in self._seen else 0)

    def logins(self, targets: Sequence[str], role: Role) -> FleetResult | None:
        """Log in with connections of our own; see Transport."""
        self._mine.update(targets)
        return self._own().logins(targets, role)

    def close(self) -> None:
        """End our own connections; the holder's stay."""
        with self._lock:
            own, self._transport = self._transport, None
        self._usable, self._mine, self._seen = True, set(), {}
        if own is not None:
            own.close()


def talk(hold: Hold, ask: Mapping[str, object], cancel: threading.Event | None) -> Iterator[tuple[Heard, int | None]]:
    """Send a request to a holder and yield each reply as it comes, with its descriptor; the connection ends after the last.

    Raises:
        OSError: no holder runs, it ends, or it is silent for a while.
        FrameError: it refuses the request, or its message can't be read.
    """
    with call(hold) as line:
        line.sendall(encode(ask))
        told = cancel is None
        while True:
            frame, descriptor = hear(line)
            if not told and cancel is not None and cancel.is_set():
                line.sendall(encode({"what": "stop"}))
                told = True
            if "reply" in frame:
                yield heard_reply(frame["reply"]), descriptor
            elif "over" in frame:
                return
            elif "no" in frame:
                raise FrameError(str(frame["no"]))


def hear(line: socket.socket) -> tuple[dict[str, object], int | None]:
    """Return the next frame of a holder, and the descriptor that came with it.

    Raises:
        OSError: it is silent for a while, or has ended.
        FrameError: the message is not a frame.
    """
    try:
        data, descriptors, flags, _ = socket.recv_fds(line, LARGEST, 1)
    except TimeoutError:
        # This process itself may have been stopped: what came meanwhile is there.
        line.setblocking(False)
        data, descriptors, flags, _ = socket.recv_fds(line, LARGEST, 1)
        line.settimeout(PATIENCE)
    descriptor = descriptors[0] if descriptors else None
    if not data:
        raise ConnectionResetError("the holder has ended")
    if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
        raise FrameError("a frame is too large")
    return decode(data), descriptor


def _whole(heard: Heard, descriptor: int | None) -> Reply:
    """Return the reply, completed with the text or rows that came as a descriptor."""
    if (descriptor is None) is not (heard.carried == ""):
        raise FrameError("a reply does not say what its descriptor is")
    if descriptor is None:
        return heard.reply
    from exacell.transport.capture import Spooled  # Small answers, which most are, need none of it.

    spooled = Spooled(open(descriptor, "rb", buffering=0))  # noqa: SIM115 - lives as the answer does
    return (
        replace(heard.reply, large=spooled) if heard.carried == "large" else replace(heard.reply, stdout=spooled.text)
    )
