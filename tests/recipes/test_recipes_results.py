"""What a recipe's reading statements answer, in one table."""

from __future__ import annotations

from exacell.change.reciperun import _told_apart
from exacell.output.result import Column, Result

COLUMNS = (Column("cell"), Column("seconds", "number"))


def result(**values: str) -> Result:
    """One answer of two cells whose records hold more than the table shows."""
    return Result(records=[{"cell": cell, "seconds": 60, "passport": cell, **values} for cell in "ab"], columns=COLUMNS)


def test_results_of_one_shape_are_told_apart() -> None:
    """What is the same within each result and differs between them is shown, behind the cell; nothing else is added."""
    halves = [result(begin="on", kind="flashlog"), result(begin="off", kind="flashlog")]
    assert [column.name for column in _told_apart(halves)] == ["cell", "begin", "seconds"]


def test_a_single_result_keeps_its_columns() -> None:
    """The table of one statement is the statement's own."""
    assert _told_apart([result(begin="on")]) == COLUMNS
