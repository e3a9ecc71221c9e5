"""Answers over all cells while some of them are still missing."""

from __future__ import annotations

import pytest

from exacell.cellset import CellSet
from exacell.language.line import parse_line
from exacell.repl.sofar import SoFar, one_answer


@pytest.mark.parametrize(
    ("missed", "late", "wanted"),
    [((), ("c1", "c2", "c3"), True), (("c1", "c2", "c3", "c4"), ("c1", "c2", "c3"), False),
     (("c1", "c2", "c3", "c4"), ("c1", "c2"), True), (("c1",), (), False), (("c1",), ("c1",), False)],
)  # fmt: skip
def test_another_part_is_shown_when_half_of_what_was_missing_has_come(
    missed: tuple[str, ...], late: tuple[str, ...], wanted: bool
) -> None:
    """The first part is always worth showing, a further one when at most half as many cells are missing, none at the end."""
    sofar = SoFar(lambda: None)
    sofar.without = CellSet(missed)
    assert sofar.wanted(CellSet(late)) is wanted


@pytest.mark.parametrize(
    ("text", "expected"),
    [("check patch", True), ("can offline exa1cel01", True), ("list cell", False), ("plan", False)],
)
def test_only_statements_with_one_answer_over_all_cells_are_told_as_a_whole(text: str, expected: bool) -> None:
    """What has an answer a cell is shown cell by cell instead."""
    line = parse_line(text)
    assert line is not None and one_answer(line) is expected
