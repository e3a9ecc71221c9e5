"""What planners work from: facts of the selected cells, read fresh, complete or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from exacell.errors import RefusedError
from exacell.plan import facts as f
from exacell.plan.saved import refuse_moved

if TYPE_CHECKING:
    from exacell.context import Context


def read_facts(ctx: Context, statements: Sequence[str], cells: Sequence[str]) -> dict[str, f.CellFacts]:
    """Return the facts that LIST statements tell of ``cells``, in that order, and keep them for saved plans.

    Raises:
        RefusedError: a cell gave no answer, since a plan needs them all; or a saved plan is being applied and
            something that it was made from has moved.
    """
    if not statements:
        return {cell: f.CellFacts(cell=cell) for cell in cells}
    releases = ctx.fleet.releases(cells)
    groups: dict[tuple[str, ...], list[str]] = {}
    for cell in cells:
        groups.setdefault(tuple(f.statements_for(*statements, release=releases.get(cell, ""))), []).append(cell)
    found: dict[str, f.CellFacts] = {}
    problems: list[str] = []
    for wanted, group in groups.items():
        answers = ctx.query(*wanted, cells=group)
        problems += answers.problems
        found |= {cell: f.build(cell, wanted, a.tables) for cell, a in answers.good.items()}
    if problems:
        raise RefusedError(
            f"{problems[0]}{f' (and {len(problems) - 1} more)' if len(problems) > 1 else ''}; nothing was sent",
            hint=ctx.not_running(problems)
            or "a change is planned with facts of every selected cell: mend it, or leave it out with use or ON",
        )
    ctx.last_facts = {cell: found[cell] for cell in cells}
    if ctx.expected is not None:
        refuse_moved(ctx.expected, ctx.last_facts)
    return ctx.last_facts
