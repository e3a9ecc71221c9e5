"""CellCLI's own changing statements of every kind: planned and guarded from what is on the cells."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_factory import CELLS, cell, rack, with_flash_grids
from plan_guarding import bare, flushed, guard, only

from exacell.cellcli.statement import Change, parse
from exacell.core.errors import RefusedError
from exacell.plan import facts as f
from exacell.plan.facts import CellFacts
from exacell.plan.guards.choice import facts_needed, guard_plan
from exacell.plan.model import Op, Risk, Undo
from tests.support.every import every


@every(
    [
        ("create threshold ct_io_wt_r.u warning=1, comparison='>'", Risk.NONE),
        ("drop alerthistory all", Risk.NONE),
        ("drop quarantine all", Risk.PERFORMANCE),
        ("grant role gd_monitor to user agarcia", Risk.NONE),
        ("create flashcache all size=1G", Risk.PERFORMANCE),
        ("create flashlog all size=512M", Risk.PERFORMANCE),
        ("create celldisk all", Risk.PERFORMANCE),
        ("alter flashcache all cancel flush", Risk.NONE),
        ("alter flashcache all flush nowait", Risk.PERFORMANCE),
        ("alter griddisk DATA_CD_00_exa1cel01 active", Risk.PERFORMANCE),
        ("alter griddisk DATA_CD_00_exa1cel01 cachingPolicy=none", Risk.PERFORMANCE),
        ("alter cell comment='x', location=here", Risk.NONE),
        ("alter cell comment='x', metricHistoryDays=7", Risk.PERFORMANCE),
        ("alter cell bbu drop for replacement comment='x'", Risk.PERFORMANCE),
        ("alter cell bbu reenable", Risk.PERFORMANCE),
        ("alter cell led on", Risk.NONE),
        ("alter cell donotserviceled off", Risk.NONE),
        ("alter cell validate mail", Risk.NONE),
        ("alter griddisk all comment='x'", Risk.NONE),
        ("alter griddisk all comment='x', cachingPolicy=none", Risk.PERFORMANCE),
        ("alter cell restart services ms", Risk.PERFORMANCE),
        ("alter celldisk all flush", Risk.PERFORMANCE),
    ]
)
def test_harmless_statements_go_to_every_cell(text: str, risk: Risk) -> None:
    """What takes nothing away is sent with the risk that it has, and needs no acceptance."""
    plan = guard(text, bare() if text.startswith("create flash") else cell())
    assert plan.risk is risk
    assert only(plan).statement
    assert not only(plan).needs
    assert not plan.loss


def test_what_is_not_understood_is_a_loss() -> None:
    """What exacell can't judge needs the loss accepted."""
    with pytest.raises(RefusedError, match="can't know what it deletes; nothing was sent"):
        guard("drop pmemlog all", cell())
    assert guard("drop pmemlog all", cell(), accepted=[CELLS[0]]).risk is Risk.DATA


def test_creating_what_is_not_known_takes_nothing() -> None:
    """CREATE of an object that has no guard of its own takes nothing away, unless it is forced."""
    assert guard("create pmemlog all", cell()).risk is Risk.PERFORMANCE
    statement = parse("create pmemlog all")
    assert isinstance(statement, Change)
    forced = replace(statement, flags=("FORCE",))
    with pytest.raises(RefusedError, match=r"can't know what it deletes \(FORCE\); nothing was sent"):
        guard_plan("t1", rack(), forced, text="x", accepted=(), headers=None)


def test_what_may_be_asked_is_in_the_plan() -> None:
    """Where somebody may be asked, the plan names what must be typed and why, and nothing else is needed there."""
    statement = parse("drop flashcache")
    assert isinstance(statement, Change)
    plan = guard_plan("t1", {CELLS[0]: cell()}, statement, text="x", accepted=(), headers=None, may_ask=True)
    assert plan.loss == (CELLS[0],)
    assert "may hold the only copy" in plan.loss_reasons[CELLS[0]]
    assert plan.risk is Risk.DATA


PROOFS = [
    ("create flashcache all size=20G", "flashcache", Op.COUNT),
    ("alter flashcache all size=20G", "flashcache", Op.COUNT),
    ("drop flashcache", "flashcache", Op.ABSENT),
    ("create flashlog all", "flashlog", Op.COUNT),
    ("drop flashlog", "flashlog", Op.ABSENT),
    ("create griddisk all flashdisk prefix=p", "griddisk", Op.COUNT),
    ("create griddisk g1 celldisk=FD_00_exa1cel01", "griddisk", Op.COUNT),
    ("drop griddisk ssd_FD_00_exa1cel01", "griddisk", Op.ABSENT),
    ("alter griddisk ssd_FD_00_exa1cel01 inactive", "griddisk", Op.EQ),
    ("alter griddisk all active", "griddisk", Op.EQ),
    ("alter iormplan dbplan=((name=SPOT,share=2))", "iormplan", Op.EQ),
    ("alter cell startup services cellsrv", "service", Op.EQ),
    ("alter cell restart services ms", "service", Op.EQ),
]


@every(PROOFS)
def test_what_can_be_read_back_is(text: str, kind: str, op: Op) -> None:
    """A statement whose end can be seen on the cell carries the proof, so that a lost answer can be settled."""
    fact = bare() if text.startswith("create flash") else with_flash_grids(flushed())
    proofs = only(guard(text, fact)).proves
    assert (proofs[0].object, proofs[0].op) == (kind, op)


BACK = [
    ("alter flashcache all flush", cell(), {CELLS[0]: ("alter flashcache all cancel flush",)}),
    ("drop flashcache", flushed(), {CELLS[0]: ("resize flashcache size=40G",)}),
    ("alter flashcache all size=20G", flushed(), {CELLS[0]: ("resize flashcache size=40G",)}),
    ("drop pmemcache", cell(), {}),
]


@pytest.mark.parametrize(("text", "fact", "inverse"), BACK)
def test_a_plan_says_what_takes_it_back(text: str, fact: CellFacts, inverse: dict[str, tuple[str, ...]]) -> None:
    """A flush by hand is taken back on each of its cells by CANCEL FLUSH; what can't be taken back names no statement."""
    assert guard(text, fact).inverse == inverse


def test_facts_needed() -> None:
    """A guard asks for what it judges by, and for nothing where a cell may not answer at all."""
    assert f.GRIDDISK in facts_needed(parse("drop griddisk all prefix=x"))
    assert f.FLASHCACHE in facts_needed(parse("drop flashcache"))
    assert f.IORMPLAN in facts_needed(parse('alter iormplan dbplan=""'))
    assert facts_needed(parse("alter cell startup services all")) == ()
    assert facts_needed(parse("grant role x to user y")) == (f.CELL,)
    for text in ("drop griddisk x", "drop flashcache", "drop threshold x", "alter cell comment='x'"):
        assert f.CELL in facts_needed(parse(text))


def test_no_inverse_is_said() -> None:
    """A statement of CellCLI's own says that it can't be undone."""
    step = only(guard("alter cell comment='x'", replace(cell(), iorm=None)))
    assert step.undo is Undo.IMPOSSIBLE
    assert step.inverse
