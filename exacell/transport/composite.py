"""Two transports as one: the cells over a program that reaches cells only, ASM's database nodes over ssh."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, Role, Transport

_NODES = (Role.ASM_READ, Role.ASM_WRITE)


class CompositeTransport(Transport):
    """See :class:`exacell.transport.base.Transport`; ``capabilities`` are those of what reaches the cells."""

    def __init__(self, cells: Transport, nodes: Transport) -> None:
        self._cells = cells
        self._nodes = nodes
        self.capabilities = cells.capabilities

    @property
    def read_fallback(self) -> frozenset[str]:
        """Targets whose read login was refused; see the transports."""
        return self._cells.read_fallback

    @property
    def read_only(self) -> bool:
        """See Transport."""
        return self._cells.read_only

    @read_only.setter
    def read_only(self, value: bool) -> None:
        self._cells.read_only = value
        self._nodes.read_only = value

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Send each request over its own way, the nodes' first, and return the replies in the order of the requests."""
        nodes = [request for request in requests if request.role in _NODES]
        cells = [request for request in requests if request.role not in _NODES]
        replies: dict[str, Reply] = {}
        if nodes:
            replies.update(self._nodes.run(nodes, on_reply=on_reply, cancel=cancel).replies)
        if cells:
            replies.update(self._cells.run(cells, on_reply=on_reply, cancel=cancel).replies)
        return FleetResult(targets=tuple(request.target for request in requests), replies=replies)

    def close(self) -> None:
        """End the connections of both."""
        self._cells.close()
        self._nodes.close()
