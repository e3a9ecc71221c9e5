"""Start CELLSRV where a change that did not come to its end has stopped it: nothing can be planned for such a cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from exacell.cellset import fold
from exacell.errors import ExitCode
from exacell.journal import Entry
from exacell.language.line import with_call_flags
from exacell.plan import facts as f
from exacell.settling import chain

if TYPE_CHECKING:
    from exacell.context import Context
    from exacell.language.registry import Value
    from exacell.output.result import Result

_STOPS = re.compile(r"ALTER\s+CELL\s+(SHUTDOWN|RESTART)\s+SERVICES\s+(CELLSRV|ALL)", re.IGNORECASE)
_STARTS = re.compile(r"ALTER\s+CELL\s+STARTUP\s+SERVICES\s+(CELLSRV|ALL)", re.IGNORECASE)


def stopped_by(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return the cells on which rows of a change say that CELLSRV may have been stopped and was not started again."""
    stopped: dict[str, None] = {}
    starting: set[str] = set()
    for entry in entries:
        statement = str(entry.body.get("statement"))
        if entry.kind == "intent" and _STOPS.match(statement):
            stopped[entry.target] = None
            starting.discard(entry.target)
        elif entry.kind == "intent":
            if _STARTS.match(statement):
                starting.add(entry.target)
        elif entry.kind == "outcome" and entry.target in starting and entry.body.get("state") == "done":
            starting.discard(entry.target)
            stopped.pop(entry.target, None)
    return tuple(stopped)


def start_again(ctx: Context, change: int, flags: Mapping[str, Value], origin: str) -> Result | None:
    """Start CELLSRV, planned and confirmed like any change, where ``change`` stopped it and it is stopped still.

    Returns:
        None when every cell's CELLSRV runs now, or can't be asked; else what the start came to, and nothing else can be
        planned yet (it failed, or it was only shown).

    Raises:
        RefusedError: nobody agreed.
    """
    known = set(ctx.need_rack().cells)
    maybe = [cell for cell in stopped_by(chain(ctx.journal, ctx.need_rack().name, change)) if cell in known]
    if not maybe:
        return None
    answers = ctx.fleet.query(maybe, [f.CELL]).good
    down = [c for c, a in answers.items() if f.build(c, [f.CELL], a.tables).cellsrv.lower() == "stopped"]
    if not down:
        return None
    statement = f"on {fold(down)} alter cell startup services cellsrv"
    ctx.console.say(f"change {change} left CELLSRV stopped on {fold(down)}; first: {statement}")
    before = ctx.origin, ctx.finishing
    ctx.origin, ctx.finishing = origin, 0
    try:
        result = ctx.execute(with_call_flags(statement, flags))
    finally:
        ctx.origin, ctx.finishing = before
    if flags.get("dry-run") or ctx.options.dry_run:
        ctx.console.say("what is left of the change can be planned when CELLSRV runs")
        return result
    return None if result.exit_code is ExitCode.DONE else result
