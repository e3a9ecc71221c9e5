"""What every transport looks at before it sends anything: read-only, each target once, and what it can carry."""

from __future__ import annotations

from collections.abc import Sequence

from exacell.cellset import fold
from exacell.errors import RefusedError
from exacell.transport.base import Request
from exacell.transport.capabilities import Capabilities, refuse_requests


def check_requests(requests: Sequence[Request], *, rack: str, read_only: bool, capabilities: Capabilities) -> None:
    """Return when all requests may be sent; see :meth:`exacell.transport.base.Transport.run`.

    Raises:
        RefusedError: a request changes something and the transport is read-only, or it can't carry one.
        ValueError: two requests name the same target.
    """
    targets = [request.target for request in requests]
    if len(set(targets)) != len(targets):
        raise ValueError("two requests name the same target")
    writes = [request.target for request in requests if request.role.changes]
    if read_only and writes:
        raise RefusedError(f"rack {rack} is read-only: nothing was sent to {fold(writes)}", hint="set mode rw")
    refuse_requests(requests, capabilities)
