"""Show the rack's hosts that are not cells, and their groups; and find the hosts that a statement's ON names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.core.errors import StatementError
from exacell.output.result import HOST, Column, Result

if TYPE_CHECKING:
    from exacell.language.registry import Call
    from exacell.session.state import Session


def hosts_of(session: Session, call: Call) -> tuple[str, ...]:
    """Return the hosts of the statement.

    Raises:
        StatementError: its ON names no hosts.
    """
    found = tuple(session.selection.hosts)
    if not found:
        groups = list(session.need_rack().host_groups)
        name = call.command.name
        raise StatementError(
            f"{name} is for hosts, not cells: give them with ON",
            hint=f"on @{groups[0]} {name} …"
            if groups
            else "the rack has no hosts: dbnodes= or [hosts.NAME] in its configuration gives them",
        )
    return found


def hosts(session: Session) -> Result:
    """Return one record per host that is not a cell: its groups, and the login user."""
    rack = session.need_rack()
    records = []
    for name in rack.host_names:
        groups = rack.groups_of(name)
        user = groups[0].user
        records.append(
            {
                "cell": name,
                "groups": tuple(f"@{group.name}" for group in groups),
                "login": f"sudo to {user}" if groups[0].sudo else user or "ssh's own",
            }
        )
    notes = (
        () if records else (f"rack {rack.name} has no hosts: dbnodes= or [hosts.NAME] in its configuration gives them",)
    )
    return Result(records=records, columns=(HOST, Column("groups"), Column("login")), fold=True, data=True, notes=notes)
