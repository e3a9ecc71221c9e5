"""Read the cells to find those for which a condition is true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.cellcli.condition import Condition, is_condition, parse_condition
from exacell.cellcli.fold import for_cell
from exacell.core.cellset import CellSet, fold
from exacell.core.errors import CellSetError, RefusedError

if TYPE_CHECKING:
    from exacell.session.services import Services
    from exacell.session.state import Session


def use_cells(session: Session, services: Services, text: str) -> CellSet:
    """Select cells for all later statements; see :meth:`Selection.use`. For ``where …`` the cells are read first."""
    session.need_rack()
    bare = text.strip().removeprefix("(").removesuffix(")").strip()
    return session.selection.use(cells_of(session, services, bare, strict=False) if is_condition(bare) else text)


def cells_of(session: Session, services: Services, text: str, *, strict: bool) -> str:
    """Return a cell set unchanged; for a condition, return the cells for which it is true; see :func:`cells_where`."""
    return ",".join(cells_where(session, services, text, strict=strict)) if is_condition(text) else text


def cells_where(session: Session, services: Services, text: str, *, strict: bool) -> CellSet:
    """Return the selected cells for which ``where …`` is true now; ``{cell}`` in it is each cell's own name.

    Args:
        strict: whether a cell without an answer is an error; if not, a message names it and it is left out.

    Raises:
        StatementError: ``text`` is not a condition.
        RefusedError: with ``strict``, a cell gave no answer.
        CellSetError: the condition is true for no cell.
    """
    condition = parse_condition(text)
    answers = services.fleet.query(session.cells(), (condition.statement,), exact=True, cancel=session.interrupted)
    if answers.problems:
        silent = fold(set(answers.answers) - set(answers.good))
        if strict:
            raise RefusedError(
                f"'{text}' can't be checked on {silent}: {answers.problems[0]}; nothing was sent",
                hint="give the cells' names instead, or leave these cells out with `use` first",
            )
        services.console.say(f"left out, because '{text}' can't be checked there: {'; '.join(answers.problems)}")
    found = CellSet(
        cell for cell, answer in answers.good.items() if _own(condition, text, cell).holds(answer.tables[0])
    )
    if not len(found):
        raise CellSetError(
            f"'{text}' is not true on any of {fold(answers.good) or 'the cells'}",
            hint="`list` shows the values",
        )
    return found


def _own(condition: Condition, text: str, cell: str) -> Condition:
    own = for_cell(text, cell)
    return condition if own == text else parse_condition(own)
