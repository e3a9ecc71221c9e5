"""Check the rights of logins on cells: which can log in and write, which only read, which run only CellCLI on newer releases.

All checks are made before anybody confirms a change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exacell.cellcli import framing
from exacell.core.cellset import fold
from exacell.core.errors import RefusedError
from exacell.core.units import and_more
from exacell.plan.facts import CellFacts
from exacell.transport.base import Request, Role

if TYPE_CHECKING:
    from exacell.plan.model import Plan
    from exacell.session.services import Services
    from exacell.session.state import Session
    from exacell.transport.base import FleetResult

READERS = frozenset(("cellmonitor",))
"""Logins of cells that may only read. Source: Oracle SAGUG, "Using CellCLI": cellmonitor can only view."""


def refuse_login(session: Session, services: Services, plan: Plan) -> None:
    """Raise RefusedError if the login for writes can't log in to a cell that the plan changes, or may change nothing there.

    Raises:
        RefusedError: before anybody confirms.
    """
    if any(step.statement.upper().startswith("CALIBRATE") for step in plan.steps):
        refuse_unless_root(session)
    cells = [step.target for step in plan.steps if step.statement and step.kind.cellcli]
    refuse_writer(session, services, tuple(dict.fromkeys(cells)))


def refuse_unless_root(session: Session) -> None:
    """Raise RefusedError if writes do not log in as root, as CALIBRATE needs. Source: Oracle SAGUG, CALIBRATE.

    Raises:
        RefusedError: nothing has been sent.
    """
    user = session.need_rack().write_user
    if user != "root":
        raise RefusedError(
            f"CALIBRATE needs root, but writes would log in as {user}; nothing was sent",
            hint="-l root logs in as root, if the cells allow that",
        )


def refuse_writer(session: Session, services: Services, cells: Sequence[str], login: str = "") -> None:
    """Raise RefusedError if a login can't log in to one of ``cells``, or may change nothing there.

    Args:
        login: the user; empty for the one that writes.

    Raises:
        RefusedError: before anybody confirms.
    """
    rack = session.need_rack()
    user = login or rack.write_user
    if not cells:
        return
    hint = "-l USER logs in as another user"
    if not login:
        hint += f"; to keep that, set write_user= in the rack's file ({rack.source or rack.name})"
    if user in READERS:
        raise RefusedError(f"writes would log in as {user}, who may only read; nothing was sent", hint=hint)
    tried = services.transport.logins(cells, Role.WRITE) if user == rack.write_user else None
    if tried is None:
        tried = _reading_as_writer(services, cells, user)
    # If a program of the cell answers, even only that its services are down, the login did work.
    problems = [reply for reply in tried.problems if not reply.stdout.startswith("CELL-")]
    if problems:
        said = f"{problems[0].target}: writes log in as {user}: {problems[0].problem}{and_more(len(problems))}"
        raise RefusedError(f"{said}; nothing was sent", hint=hint)


def _reading_as_writer(services: Services, cells: Sequence[str], login: str) -> FleetResult:
    """Read something with the login for writes, for transports that can't test a login alone."""
    command = framing.command(["list cell attributes name"])
    return services.fleet.run([Request(target=cell, command=command, role=Role.READ, login=login) for cell in cells])


RESTRICTED_SINCE = "26.1"
"""From this release on, the logins in RESTRICTED may run only CellCLI and a few reading commands. Source: reference
cellcli.md section 8."""

RESTRICTED = frozenset(("celladmin", "cellmonitor"))


def restricted_cells(session: Session, services: Services, cells: Sequence[str], login: str = "") -> tuple[str, ...]:
    """Return the members of ``cells`` on which a login can't run scripts, change files or receive files.

    Args:
        login: the user; empty for the one that writes.
    """
    if (login or session.need_rack().write_user) not in RESTRICTED or not cells:
        return ()
    releases = services.fleet.releases(cells)
    return tuple(c for c in cells if CellFacts(cell=c, release=releases.get(c, "")).at_least(RESTRICTED_SINCE))


_BARE = re.compile(r"[\w./=:, -]+")


def goes_bare(text: str, closed: Sequence[str]) -> bool:
    """Return whether to send a command without a subshell around it, because some of the cells allow only single commands."""
    return bool(closed) and _BARE.fullmatch(text) is not None


def refuse_restricted(session: Session, services: Services, what: str, cells: Sequence[str], login: str = "") -> None:
    """Raise RefusedError if the login may run only CellCLI and a few reading commands on one of ``cells``.

    Raises:
        RefusedError: the release of a cell restricts the login; raised before anybody confirms.
    """
    closed = restricted_cells(session, services, cells, login)
    if closed:
        user = login or session.need_rack().write_user
        raise RefusedError(
            f"{what}: {fold(closed)} run release {RESTRICTED_SINCE} or later, where {user} may run only CellCLI "
            "and a few commands that read: no scripts, no copies; nothing was sent",
            hint="-l USER logs in as another user",
        )
