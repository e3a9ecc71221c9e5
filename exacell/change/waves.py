"""Whether and how a statement's plan rolls: what its flags ask for, and what its rack demands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from exacell.core.cellset import fold
from exacell.core.errors import RefusedError
from exacell.journal.caching_off import FLASHCACHE
from exacell.plan.gate import first_cells, flushed_cells
from exacell.plan.rolling import Asked, roll

if TYPE_CHECKING:
    from exacell.language.registry import Value
    from exacell.plan.model import Plan
    from exacell.plan.planned import Planned
    from exacell.session.context import Context


def asked(flags: Mapping[str, Value], *, gently: bool = False) -> Asked:
    """Return what the flags say about rolling; ``gently`` when they are those of another statement.

    Raises:
        RefusedError: they contradict each other.
    """
    rolling, pause, timeout = flags.get("rolling"), flags.get("pause"), flags.get("timeout")
    size = 1 if rolling is True else rolling if isinstance(rolling, int) else None
    if flags.get("no-rolling"):
        if size:
            raise RefusedError("--rolling and --no-rolling exclude each other; nothing was sent")
        size = 0
    return Asked(
        size=size,
        canary=str(flags.get("canary") or ""),
        pause=float(pause) if isinstance(pause, (int, float)) else None,
        ask=pause == "ask",
        on_error=str(flags.get("on-error") or ""),
        within=float(timeout) if isinstance(timeout, (int, float)) else None,
        gently=gently,
    )


def _refuse_shut_out(planned: Planned, canary: str) -> None:
    """Refuse a canary whose gate only the cells open that wait for it: their flush is in force until their own turn."""
    plan = planned.plan
    holding = [cell for cell in flushed_cells(planned.facts) if cell in plan.targets and cell != canary]
    if canary in plan.targets and holding:
        hold = "holds its gate" if len(holding) == 1 else "hold its gate"
        raise RefusedError(
            f"{plan.statement}: the canary {canary} can't go first: {fold(holding)} {hold} closed, whose flush is in force "
            "until their own turn; nothing was sent",
            hint="without --canary they go first",
        )


def rolled(ctx: Context, planned: Planned, flags: Mapping[str, Value]) -> Plan:
    """Return the plan with its cells in waves where that was asked for, or the rack or the plan demands it.

    Raises:
        RefusedError: it was asked for and can't be done.
    """
    rack, plan = ctx.need_rack(), planned.plan
    _refuse_shut_out(planned, str(flags.get("canary") or ""))
    creating = {step.target for step in plan.steps if step.caching_on and step.cache == FLASHCACHE}
    return roll(
        plan,
        asked(flags, gently=ctx.request.origin.startswith("undo ")),
        rack_cells=rack.cells,
        clusters=tuple(rack.asm),
        production=rack.production,
        first=first_cells(planned.facts, creating),
    )
