"""The rack's lock: taken, given back, shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from exacell.change.pending import pending
from exacell.change.racklock import LockedError, describe, lock_of
from exacell.journal.actor import actor
from exacell.journal.record import Row
from exacell.language.registry import Call
from exacell.output.changes import lock_sentence
from exacell.output.result import Column, Result
from exacell.output.style import wrapped

if TYPE_CHECKING:
    from exacell.session.context import Context


def lock(ctx: Context, call: Call) -> Result:
    """Return one record about the lock.

    Raises:
        RefusedError: somebody else holds it.
        JournalError: the reason can't be recorded.
    """
    lock = lock_of(ctx.need_rack(), ctx.home.state_dir)
    flags = ctx.flags_of(call)
    reason, ticket = (str(flags.get(name) or "") for name in ("reason", "ticket"))
    reason = "; ".join(filter(None, (call.text_arg("reason"), reason)))
    if reason or ticket:
        ctx.journal.refuse_damaged()
    new = lock.take(kept=True)
    if new and (reason or ticket):
        _record(ctx, "lock", reason, ticket)
    notes = [] if new else [f"rack {lock.rack} was yours already"]
    return _told(describe(lock.holder(), lock), notes)


def _record(ctx: Context, statement: str, reason: str, ticket: str) -> None:
    """Journal something about the lock that sends nothing to cells."""
    rack = ctx.need_rack().name
    change = ctx.journal.begin(rack, {"statement": statement, "reason": reason, "ticket": ticket, **actor()})
    ctx.journal.append(rack, change, [Row(kind="end", body={"exitCode": 0})])


def unlock(ctx: Context, call: Call) -> Result:
    """Return a note that says who held it.

    Raises:
        LockedError: somebody else holds it.
        JournalError: a takeover could not be recorded; the lock stays.
    """
    lock, rack = lock_of(ctx.need_rack(), ctx.home.state_dir), ctx.need_rack().name
    takeover = call.flag("takeover")
    if takeover:
        ctx.journal.refuse_damaged()  # It tells who took over from whom.
    forgotten: list[str] = []
    try:
        lock.holder()
        forgotten = [holder.trace for holder in lock.left_by_others()] if takeover else []
        held = str(lock.give_back(takeover=takeover) or "")
    except LockedError:
        if not takeover:
            raise
        lock.give_back(takeover=True)
        held = "somebody whom its damaged file does not tell"
    elsewhere = _elsewhere(ctx, rack) if takeover and not held else ""
    if forgotten and not held and not elsewhere:
        return Result(notes=[f"rack {rack} is not locked", *(f"told no more: {said}" for said in forgotten)])
    if not held and not elsewhere:
        return Result(notes=[f"rack {rack} is not locked"])
    if takeover:
        statement = f"unlock --takeover from {held or elsewhere}"
        _record(ctx, statement, call.flag_text("reason"), call.flag_text("ticket"))
    if not held:
        return Result(notes=[f"rack {rack} is not locked; {elsewhere} counts as ended now: resume goes on with it"])
    return Result(notes=[f"rack {rack} was locked by {held}; it is free now"])


def _elsewhere(ctx: Context, rack: str) -> str:
    """Return who, on other hosts, is carrying changes of the rack out as far as the journal tells; empty for nobody."""
    found = [item.change for item in pending(ctx.journal, rack) if item.state == "elsewhere"]
    return f"change {', '.join(map(str, found))} of another host" if found else ""


def show_lock(ctx: Context, call: Call) -> Result:
    """Return one record."""
    lock = lock_of(ctx.need_rack(), ctx.home.state_dir)
    row = describe(lock.holder(), lock)
    return _told(row, [holder.trace for holder in lock.left_by_others()])


def _told(row: Mapping[str, object], notes: Sequence[str] = ()) -> Result:
    """Return a record about the lock, for eyes as a sentence."""

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        yield from wrapped(lock_sentence(row, zone=None), width)

    names = (
        ("rack", "locked", "user", "host", "pid", "since", "change", "kept", "lives")
        if row["locked"]
        else ("rack", "locked")
    )
    return Result(records=[row], columns=[Column(name) for name in names], data=True, notes=notes, draw=draw)
