"""What every transport looks at before it sends anything: its program, read-only, each target once, what it can carry."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from exacell.core.cellset import fold
from exacell.core.errors import ConfigError, RefusedError
from exacell.transport.base import Capabilities, Request
from exacell.transport.capabilities import refuse_requests


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


def required_program(setting: str, program: str, *, example: str) -> str:
    """Return the path of the program without which a transport can't work.

    Args:
        setting: of the rack's configuration that names it, which is the transport's name, too.
        program: what the setting says: a name or a path.
        example: a path as it often is.

    Raises:
        ConfigError: there is none.
    """
    found = shutil.which(program)
    if found is None:
        raise ConfigError(
            f"the transport {setting} needs the program {program}, which is not there",
            hint=f'name it in the rack\'s configuration: {setting} = "{example}"',
        )
    return found
