"""An IORM plan of a form that exacell does not know: whose it is is told, and nothing is planned, or proven, by it."""

from __future__ import annotations

import pytest
from engine_desk import Desk, told
from engine_fakes import CELLS, Bench

from exacell.care.health import Observed, examine, words
from exacell.change.targets.cells import failed_on_cells
from exacell.commands.iorm import show
from exacell.core.errors import ExitCode, RefusedError
from exacell.language.line import parse_line
from exacell.plan import facts as f
from exacell.plan.model import Check
from exacell.session.factreading import read_facts
from exacell.session.sampling import read_counters

ONE, TWO, THREE = CELLS
STRANGE = "plan: SPOT first"


@pytest.fixture
def desk(bench: Bench) -> Desk:
    """A session on cells of which the second one's plan is of an unknown form."""
    bench.transport.cells[TWO].tables["iormplan"][0]["dbPlan"] = STRANGE
    return Desk(bench)


def test_nothing_is_planned_by_it(desk: Desk) -> None:
    """A plan needs every cell's facts: it is refused with the cell's name and the text."""
    with pytest.raises(RefusedError) as refused:
        read_facts(desk.session, desk, desk.request, f.CELL, f.IORMPLAN)
    assert told(refused.value).startswith(f"{TWO}: the IORM plan cannot be read at '{STRANGE}'; nothing was sent | ")


def test_nothing_is_proven_by_it(desk: Desk) -> None:
    """A check of the plan fails on that cell and tells what stands there, and is judged on the others all the same."""
    check = Check(object="iormplan", attribute="dbPlan", value="((name=SPOT,share=8))")
    failed = failed_on_cells(desk.fleet, dict.fromkeys(CELLS, (check,)))
    assert failed[ONE] == failed[THREE] == {}
    assert STRANGE in failed[TWO][0]


def test_show_iorm_shows_the_other_cells(desk: Desk) -> None:
    """The other cells' plans are shown, and the one that can't be is told with its cell."""
    line = parse_line("show iorm")
    assert line is not None and line.call is not None
    result = show(desk.session, desk, desk.request, line.call)
    assert [row["cell"] for row in result.records] == [ONE, THREE]
    assert list(result.problems) == [f"{TWO}: the IORM plan cannot be read at '{STRANGE}'"]
    assert result.exit_code is ExitCode.FAILED


def test_snap_keeps_it_as_it_is(desk: Desk) -> None:
    """Counters are read of all cells, and of that one the plan's text is kept beside them."""
    counters, problems, code = read_counters(desk.session, desk, desk.request, "flashcache")
    assert (list(counters), problems, code) == (list(CELLS), (), ExitCode.DONE)
    assert counters[TWO].passport["dbPlan"] == STRANGE


def test_health_calls_it_different() -> None:
    """A cell whose plan can't be read holds another one than most cells; the rest of its health is judged."""
    plans = {ONE: "((name=SPOT,share=8))", TWO: STRANGE, THREE: "name=SPOT,share=8"}
    seen = {
        cell: Observed(cell=cell, tables={f.IORMPLAN: [{"name": "p", "dbPlan": text, "objective": "auto"}]})
        for cell, text in plans.items()
    }
    assert [words(found)["iorm"] for found in examine(seen).values()] == ["ok", "differs", "ok"]
