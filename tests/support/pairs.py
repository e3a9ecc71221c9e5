"""A pair carried out in memory, as transports carry it out over a wire: look, judgement, statement."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from exacell.transport.base import Reply, Request, State
from exacell.transport.exchange import Act, Exchange
from tests.support.clocks import Standing


def carried_out(request: Request, read: Callable[[str], str], send: Callable[[], Reply]) -> Reply:
    """Return the reply of a request that may have a pair.

    Args:
        read: returns what the program answers to the look.
        send: carries the statement out.
    """
    pair, target = request.pair, request.target
    if pair is None:
        why = request.ours() if request.ours is not None else ""
        return Reply(target=target, state=State.NOT_ATTEMPTED, problem=why) if why else send()
    # Nothing that takes time lies between look and statement here but the host's other work, which nobody judges.
    exchange = Exchange(pair, clock=Standing())
    while True:
        match exchange.next():
            case Act.LOOK:
                exchange.fed()
                exchange.take(read(pair.look).encode())
                if not exchange.judged:
                    return Reply(target=target, state=State.UNREACHABLE, problem="the look has no end")
            case Act.SEND if exchange.may():
                exchange.left()
                return replace(send(), looked=exchange.looked)
            case Act.SEND:
                exchange.barred()
            case Act.END:
                return Reply(target=target, state=State.NOT_ATTEMPTED, problem=exchange.refusal, looked=exchange.looked)
            case _:
                time.sleep(0.001)  # Whose the rack is is found out by another thread.
