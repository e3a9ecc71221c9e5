"""What is said at each start of what earlier changes left behind on the rack, as one's own journal tells."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from exacell.core.errors import JournalError

if TYPE_CHECKING:
    from exacell.session.context import Context


def left_behind(ctx: Context, *, warn: bool = False) -> tuple[str, ...]:
    """Return one line for each thing that an earlier change left behind, with the statement that mends it.

    Where there is nothing, the rack's lock tells the other operators so.

    Args:
        warn: the line is a warning of what the journal knows; it says so where other hands may have mended it since.
    """
    if ctx.rack is None or not any((ctx.home.state_dir / name).exists() for name in ("journal.db", "journal.head")):
        return ()
    from exacell.change.pending import pending

    try:
        left = pending(ctx.journal, ctx.rack.name)
        found = tuple(item.warning if warn else item.sentence for item in left)
        if not found:
            _left_nothing(ctx)
        return found
    except JournalError as error:
        # Reads go on; a change is refused with the same words when it is asked for.
        return (f"{error.message}; what earlier changes left behind is not known: {error.hint}",)


def unnoted(ctx: Context, problem: str) -> tuple[str, ...]:
    """Return the line for an observation that could not be journalled; none where :func:`left_behind` says why, which the
    surface tells before or behind every statement."""
    return () if not problem or any(line.startswith(problem) for line in left_behind(ctx)) else (problem,)


def _left_nothing(ctx: Context) -> None:
    """Tell the other operators no more that this one left something behind."""
    from exacell.change.racklock import LockedError, lock_of

    with suppress(LockedError):  # Said when a change takes the lock.
        lock_of(ctx.need_rack(), ctx.home.state_dir).leave(0)
