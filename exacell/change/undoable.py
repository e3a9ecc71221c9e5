"""Which changes of a rack can be taken back: those that did something, or were stopped before they did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from exacell.change.pending import newest_stopped
from exacell.errors import RefusedError

if TYPE_CHECKING:
    from exacell.context import Context
    from exacell.journal.record import Entry


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
        if older < number and row.body["plan"].get("inverse"):
            return f"undo {older} takes back change {older} ({row.body.get('statement')})"
    return ""


def _to_undo(ctx: Context) -> Iterator[tuple[int, Entry]]:
    """Yield the changes that did something and are neither an undo nor undone, newest first: number and plan row.

    The newest is one of them when it was stopped before anything was sent: taking it back ends it.
    """
    rack = ctx.need_rack().name
    entries = ctx.journal.entries(rack=rack)
    newest, waiting = ctx.journal.newest_plan(rack), newest_stopped(ctx.journal, rack)
    stopped_last = waiting.change if waiting is not None and waiting == newest else 0
    gone = {e.change for e in entries if e.kind == "undone"}
    ended = {e.change for e in entries if e.kind == "end"}
    for entry in reversed(entries):
        if "plan" not in entry.body:  # Only a plan's row holds one, and that of opaque work does not.
            continue
        root = int(entry.body.get("finishes") or entry.change)
        if root in gone or str(entry.body.get("origin")).startswith("undo "):
            continue
        # One that never ended, or the newest when it was stopped, is ended by undo, whether or not anything was sent.
        open_still = entry.change not in ended or entry.change == stopped_last
        if open_still or _did_something(entries, root):
            yield root, entry


_SAID_NO = ("CELL-", "ORA-")
"""How a reason begins that is a target's own: then nothing was done there."""


def _did_something(entries: Sequence[Entry], root: int) -> bool:
    """Whether any statement of the change or of those that went on with it was done, or may have been."""
    own = {root} | {e.change for e in entries if e.body.get("finishes") == root}
    maybe: dict[tuple[int, str, str], bool] = {}
    for entry in entries:
        if entry.change in own and entry.kind in ("intent", "outcome"):
            body = entry.body
            sent = entry.kind == "intent" or body.get("state") in ("done", "unknown")
            half = body.get("state") == "failed" and not str(body.get("reason")).startswith(_SAID_NO)
            # An intent does not say that it mends; its outcome does.
            maybe[(entry.change, entry.target, str(body.get("what")))] = (sent or half) and not body.get("mending")
    return any(maybe.values())
