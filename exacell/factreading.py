"""What planners work from: facts of the selected cells, read fresh, complete or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from exacell.errors import RefusedError
from exacell.plan import facts as f
from exacell.plan.saved import refuse_moved

if TYPE_CHECKING:
    from exacell.context import Context
    from exacell.fleet import Answers


def gather(
    query: Callable[[Sequence[str], Sequence[str]], Answers],
    releases: Callable[[Sequence[str]], Mapping[str, str]],
    statements: Sequence[str],
    cells: Sequence[str],
) -> tuple[dict[str, f.CellFacts], list[str]]:
    """Return the facts of the cells that answer, and ``cell: problem`` for each of the others.

    Args:
        query: asks cells for the records of LIST statements, one round trip a cell.
        releases: tells the releases of cells, which are asked for what theirs has.
    """
    if not statements:
        return {cell: f.CellFacts(cell=cell) for cell in cells}, []
    known = releases(cells)
    groups: dict[tuple[str, ...], list[str]] = {}
    for cell in cells:
        groups.setdefault(tuple(f.statements_for(*statements, release=known.get(cell, ""))), []).append(cell)
    found: dict[str, f.CellFacts] = {}
    problems: list[str] = []
    for wanted, group in groups.items():
        answers = query(group, wanted)
        problems += answers.problems
        found |= {cell: f.build(cell, wanted, a.tables) for cell, a in answers.good.items()}
    return found, problems


def read_facts(ctx: Context, statements: Sequence[str], cells: Sequence[str]) -> dict[str, f.CellFacts]:
    """Return the facts that LIST statements tell of ``cells``, in that order, and keep them for saved plans.

    Raises:
        RefusedError: a cell gave no answer, since a plan needs them all; or a saved plan is being applied and
            something that it was made from has moved.
    """

    def query(cells: Sequence[str], statements: Sequence[str]) -> Answers:
        return ctx.query(*statements, cells=cells)

    if not statements:
        return {cell: f.CellFacts(cell=cell) for cell in cells}
    found, problems = gather(query, ctx.fleet.releases, statements, cells)
    if problems:
        raise RefusedError(
            f"{problems[0]}{f' (and {len(problems) - 1} more)' if len(problems) > 1 else ''}; nothing was sent",
            hint=ctx.not_running(problems)
            or _stopped(ctx, [cell for cell in cells if cell not in found])
            or "a change is planned with facts of every selected cell: mend it, or leave it out with use or ON",
        )
    ctx.last_facts = {cell: found[cell] for cell in cells}
    if ctx.expected is not None:
        refuse_moved(ctx.expected, ctx.last_facts)
    return ctx.last_facts


def _stopped(ctx: Context, silent: Sequence[str]) -> str:
    """Return the way out when a cell told nothing because its CELLSRV is stopped; empty when that is not why."""
    asked = (f.CELL,)
    for cell, answer in ctx.fleet.query(silent, asked).good.items() if silent else ():
        if f.build(cell, asked, answer.tables).cellsrv.lower() == "stopped":
            return f"CELLSRV of {cell} is stopped: online cell {cell} starts it and brings its grid disks back"
    return ""
