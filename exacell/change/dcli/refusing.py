"""Unread work at the door: refused where the rack says so, and a refusal stands in the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from exacell.core.errors import JournalError, RefusedError
from exacell.journal.actor import actor
from exacell.journal.reading import HERE
from exacell.journal.record import Row
from exacell.opaque.door import Door

if TYPE_CHECKING:
    from exacell.language.registry import Value
    from exacell.session.context import Context


def door_of(ctx: Context) -> Door:
    """Return what the session's rack says about unread work; of no rack, only what the session's mode says."""
    rack = ctx.rack
    if rack is None:
        return Door(read_only=ctx.read_only)
    return Door(rack=rack.name, production=rack.production, read_only=ctx.read_only, allows=rack.opaque == "allow")


def refuse_unread(
    ctx: Context,
    unread: Sequence[str],
    *,
    statement: str,
    flags: Mapping[str, Value],
    accept: str,
    where: str = "",
    undone: str = "nothing was sent",
    instead: str = "",
) -> None:
    """Return when unread work may go on here; journal that it was refused otherwise.

    Args:
        statement: as it was given.
        flags: the statement's: whether it was accepted, and why it is done.
        accept: how to accept it.

    Raises:
        RefusedError: the rack is read-only or in production, or nobody accepted it.
    """
    if not unread:
        return
    accepted = bool(flags.get("accept-opaque"))
    refusal = door_of(ctx).refusal(
        unread, accepted=accepted, where=where, undone=undone, accept=accept, instead=instead
    )
    if refusal is None:
        return
    journal_refusal(ctx, refusal, unread, statement=statement, flags=flags)
    raise refusal


def journal_accepted(ctx: Context, unread: Sequence[str], *, statement: str, flags: Mapping[str, Value]) -> None:
    """Record that a line with unread text for this machine goes on, before it does; what becomes of it is not looked at.

    Raises:
        JournalError: the journal can't be written; nothing was run.
    """
    rack = "" if ctx.rack is None else ctx.rack.name
    change = ctx.journal.begin(rack, _body(ctx, unread, statement, flags) | {"on": HERE})
    ctx.journal.append(rack, change, [Row(kind="end", body={"exitCode": 0})])


def _body(ctx: Context, unread: Sequence[str], statement: str, flags: Mapping[str, Value]) -> dict[str, object]:
    return {
        "statement": statement,
        "reason": str(flags.get("reason") or ""),
        "ticket": str(flags.get("ticket") or ""),
        "origin": ctx.request.origin,
        **actor(),
        "risk": "unknown",
        "opaque": list(unread),
    }


def journal_refusal(
    ctx: Context, refusal: RefusedError, unread: Sequence[str], *, statement: str, flags: Mapping[str, Value]
) -> None:
    """Record a refusal as a change of one row, unless nothing was to be sent; where the journal takes none, that is said and the
    refusal stands."""
    if flags.get("dry-run") or ctx.options.dry_run:
        return
    body = _body(ctx, unread, statement, flags) | {"refused": refusal.message}
    try:
        ctx.journal.note("" if ctx.rack is None else ctx.rack.name, Row(kind="refused", body=body))
    except JournalError as error:
        ctx.console.say(f"this refusal is not journalled: {error.message}")
