"""Which cells hung: they did not answer a read in time when they were asked last, so nobody waits as long for them again."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace

from exacell.transport.base import FleetResult, Reply, Request, Role, State

PATIENCE = 10.0
"""Seconds, at most, that a cell which hung is given to say its release before anything else is asked of it: a CellCLI starts
in one to three. Source: reference cellcli.md 1.1."""

MUTE = (State.UNREACHABLE, State.TIMED_OUT, State.NOT_ATTEMPTED)
"""States of a reply in which the cell itself said nothing: what is asked next would wait as long again."""


class Hanging:
    """The cells of a rack that hung. Thread-safe.

    Args:
        patience: seconds that a read may take; the attribute is what a cell that hung gets, not more than PATIENCE.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience = min(patience, PATIENCE)
        self._cells: set[str] = set()
        self._lock = threading.Lock()

    def among(self, cells: Iterable[str]) -> list[str]:
        """Return those of ``cells`` that hung and have said nothing since, in the order given."""
        with self._lock:
            return [cell for cell in cells if cell in self._cells]

    def learn(self, requests: Sequence[Request], result: FleetResult) -> None:
        """Take note of the cells that did not answer a read in time, and of those that said something."""
        reads = {request.target for request in requests if request.role is Role.READ}
        with self._lock:
            for reply in result.replies.values() if reads else ():
                if reply.target in reads and reply.state is State.TIMED_OUT:
                    self._cells.add(reply.target)
                elif reply.target in reads and reply.state not in MUTE:
                    self._cells.discard(reply.target)

    def still(self, reply: Reply, seconds: float) -> Reply:
        """Return the reply of a cell that hung and was asked again for so long, with that in its problem."""
        if reply.state is not State.TIMED_OUT:
            return reply
        return replace(
            reply, problem=f"no answer within {seconds:g}s; it hung when it was asked before, so it got no longer"
        )
