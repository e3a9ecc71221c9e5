"""Answers over all cells while some of them are still missing."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from exacell.core.cellset import CellSet
from exacell.core.errors import ExacellError
from exacell.language.line import parse_line
from exacell.output.result import Result
from exacell.prompt import partial as sofar_module
from exacell.prompt.background import Behind
from exacell.prompt.partial import SoFar, one_answer


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


class Slow:
    """A session whose statements take until they are let, and say that too little is there."""

    def __init__(self) -> None:
        self.let = threading.Event()

    def aside(self, replay: Any, console: Any) -> Slow:
        """Return itself."""
        return self

    def execute(self) -> Result:
        """Fail when it is let."""
        assert self.let.wait(120)
        raise ExacellError("no cell has answered")


def test_what_was_wanted_while_an_answer_was_worked_out_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells that answer while too little is judged are told of when that is over: no later reply would do it."""
    monkeypatch.setattr(sofar_module, "execute", lambda ctx, line: ctx.execute())
    told, slow, line = threading.Event(), Slow(), parse_line("check patch")
    sofar = SoFar(told.set)
    for _ in range(2):
        assert sofar.wanted(CellSet(["c2"]))
        sofar.begin(slow, line, SimpleNamespace())  # type: ignore[arg-type]
    assert not told.is_set()
    slow.let.set()
    assert told.wait(120) and not sofar.ready


def test_the_next_part_is_worked_out_when_one_was_shown() -> None:
    """Cells that answered while a part waited to be shown make the next one, although no other cell answers any more."""
    done: list[str] = []
    runner = SimpleNamespace(show_so_far=lambda reading, before: done.append("shown"))
    reading = SimpleNamespace(prepare=lambda: done.append("next"))
    Behind(SimpleNamespace(), runner, SimpleNamespace())._show_part(reading)  # type: ignore[arg-type]
    assert done == ["shown", "next"]
