"""Which changes of a rack can be taken back: those that did something, or were stopped before they did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from exacell.change.pending import newest_stopped
from exacell.core.errors import RefusedError
from exacell.journal.state import by_change

if TYPE_CHECKING:
    from exacell.journal.rows import Planned
    from exacell.session.context import Context


def newest_to_undo(ctx: Context) -> int:
    """Return the number of the newest change that did something, or was stopped before it did, and is neither an undo
    nor undone.

    Raises:
        RefusedError: there is none.
    """
    rack = ctx.need_rack().name
    for number, _ in _to_undo(ctx):
        return number
    raise RefusedError(f"there is no change of rack {rack} to undo", hint="journal show")


def older_to_undo(ctx: Context, number: int) -> str:
    """Return the statement that takes back the newest change before ``number`` that has an inverse; empty for none."""
    for older, row in _to_undo(ctx):
        if older < number and row.inverse:
            return f"undo {older} takes back change {older} ({row.statement})"
    return ""


def _to_undo(ctx: Context) -> Iterator[tuple[int, Planned]]:
    """Yield the changes that did something and are neither an undo nor undone, newest first: number and plan row.

    The newest is one of them when it was stopped before anything was sent: taking it back ends it.
    """
    rack = ctx.need_rack().name
    changes = by_change(ctx.journal.entries(rack=rack))
    newest, waiting = ctx.journal.newest_plan(rack), newest_stopped(ctx.journal, rack)
    stopped_last = waiting.change if waiting is not None and waiting == newest else 0
    touched = {state.plan.root for state in changes.values() if state.plan is not None and any(state.touched.values())}
    for number, state in reversed(changes.items()):
        plan = state.plan
        if plan is None or plan.plan is None or plan.origin.startswith("undo "):
            continue
        if plan.root in changes and changes[plan.root].undone:
            continue
        # One that never ended, or the newest when it was stopped, is ended by undo, whether or not anything was sent.
        if state.end is None or number == stopped_last or plan.root in touched:
            yield plan.root, plan
