"""Estimates: what is known is counted, what is not is named, waves and gates add up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_factory import CELLS, cell, rack

from exacell.core.units import GIB, MIB
from exacell.output.plans import plan_lines
from exacell.plan import estimate as e
from exacell.plan.model import Gate, Plan, Stage, Step, Watch
from exacell.plan.planners.flashcache import flush_plan, resize_plan
from exacell.plan.rolling import Asked, roll
from exacell.session.saved import stages_json
from tests.support.every import every


def dirty(fact, size: float):
    return replace(fact, metrics={"FC_BY_DIRTY": (size, 1), "FC_BY_USED": (size, 1)})


USUAL = [
    ("ALTER FLASHCACHE ALL CANCEL FLUSH", e.OFTEN),
    ("ALTER FLASHCACHE ALL FLUSH", None),
    ("ALTER PMEMCACHE ALL FLUSH NOWAIT", None),
    ("alter flashcache all size=100g", None),
    ("DROP FLASHCACHE", 15.0),
    ("CREATE FLASHCACHE ALL size=288G", 15.0),
    ("ALTER GRIDDISK ALL INACTIVE", 30.0),
    ("ALTER GRIDDISK a, b ACTIVE", 120.0),
    ("ALTER CELL STARTUP SERVICES CELLSRV", 90.0),
    ("ALTER IORMPLAN dbplan=((name=a,share=1))", e.OFTEN),
    ("CREATE DISKGROUP X NORMAL REDUNDANCY DISK 'o/*/p_*'", 30.0),
    ("CALIBRATE FORCE", None),
    ("", None),
]


@every(USUAL)
def test_what_a_statement_usually_takes(statement: str, seconds: float | None) -> None:
    """A statement takes what its kind takes; one that depends on what nobody read has no figure."""
    assert e.step_seconds(Step(target="c", what="w", statement=statement)) == seconds


def test_a_followed_flush_without_dirty_bytes_has_no_figure() -> None:
    """Without FC_BY_DIRTY, or without hard disks to write to, nothing tells how long a flush takes."""
    assert e.step_seconds(Step(target="c", what="flush", statement="X", watch=Watch.FLUSH)) is None
    assert e.flush_seconds(replace(cell(), metrics={})) is None
    flash_only = replace(cell(), cell_disks=cell().flash_disks)
    assert e.flush_seconds(dirty(flash_only, GIB)) is None
    assert e.flush_note([replace(cell(), metrics={})]) == ""


def test_only_hard_disks_take_what_a_flush_writes() -> None:
    """Cell disks on PMEM take nothing of a flush: as many hard disks, as long, and as many are told."""
    fact = dirty(cell(), GIB)
    memory = tuple(replace(disk, name=f"PM_{disk.name}", flash=False, pmem=True) for disk in fact.flash_disks)
    more = replace(fact, cell_disks=(*fact.cell_disks, *memory))
    assert e.flush_seconds(more) == e.flush_seconds(fact)
    assert e.flush_note([more]) == e.flush_note([fact])


def test_a_flush_takes_as_long_as_its_slowest_cell() -> None:
    """The dirtiest cell decides; its arithmetic is told with the plan, and every step has its own cell's seconds."""
    facts = rack()
    hard = sum(1 for disk in cell().cell_disks if not disk.flash)
    sizes = dict(zip(facts, (1 * GIB, 3 * GIB, 2 * GIB), strict=True))
    facts = {name: dirty(fact, sizes[name]) for name, fact in facts.items()}
    plan = e.timed(flush_plan("t1", facts, recreate=False, statement="flush flashcache"))
    slowest = 3 * GIB / (e.FLUSH_RATE * hard) + e.COLLECTIONS
    assert plan.estimate == pytest.approx(slowest + e.OFTEN)
    assert {s.target: s.estimate for s in plan.stages[0].steps}[CELLS[1]] == pytest.approx(slowest)
    assert any(f"3G dirty on {CELLS[1]} to {hard} hard disks" in note for note in plan.notes)
    shown = "\n".join(plan_lines(plan, width=200))
    assert "Time: roughly" in shown and "when nothing fails" in shown and plan.untimed == ()


def test_what_nothing_tells_is_named() -> None:
    """A stage without a figure is named beside the sum of the others."""
    facts = {name: replace(fact, metrics={}) for name, fact in rack().items()}
    plan = e.timed(flush_plan("t1", facts, recreate=False, statement="flush flashcache"))
    assert plan.estimate == e.OFTEN
    assert plan.untimed == ("flush flashcache",)
    assert "how long 'flush flashcache' takes is not known and must be added" in "\n".join(plan_lines(plan, width=200))


def test_waves_add_up() -> None:
    """A rolled plan takes every wave's time, a look at each gate and the pauses between."""
    facts = {name: dirty(fact, GIB) for name, fact in rack().items()}
    plan = resize_plan("t1", facts, size=32 * GIB, statement="resize flashcache size=32g")
    together = e.estimate(plan).seconds
    rolled = roll(plan, Asked(size=1, pause=60.0), rack_cells=CELLS)
    assert e.estimate(rolled).seconds == pytest.approx(3 * (together + e.GATE) + 2 * 60.0)
    asked = e.timed(roll(plan, Asked(size=2, ask=True), rack_cells=CELLS))
    assert "2 waves and their gates, plus the time until somebody answers" in "\n".join(plan_lines(asked, width=200))


def test_mending_is_not_counted() -> None:
    """Stages that only run after a failure add nothing."""
    one = Stage(title="a", steps=(Step(target="c", what="a", statement="DROP FLASHCACHE"),))
    mend = Stage(title="b", gate=Gate.MEND, mends="a", unless="x", steps=one.steps)
    assert e.estimate(Plan(statement="s", rack="r", stages=(one, mend))).seconds == 15.0


def test_a_kept_plan_does_not_remember_how_long() -> None:
    """Dirty bytes move by themselves: two plans that differ in their estimates only are the same plan."""
    plans = [
        e.timed(flush_plan("t1", {CELLS[0]: dirty(cell(), size)}, recreate=False, statement="flush flashcache"))
        for size in (GIB, 2 * GIB)
    ]
    assert plans[0].estimate != plans[1].estimate
    assert stages_json(plans[0]) == stages_json(plans[1])


def test_many_cells_are_summed_up() -> None:
    """More than a handful of cells have one note: the sum, and the cell with most."""
    names = [f"exa1cel{number:02}" for number in range(1, 15)]
    facts = {name: dirty(cell(name), (number + 1) * MIB) for number, name in enumerate(names)}
    plan = flush_plan("t1", facts, recreate=False, statement="flush flashcache")
    (note,) = [note for note in plan.notes if "dirty in all" in note]
    assert note == "14 cells: 105M dirty in all, most on exa1cel14 (14M); 105M used"


@pytest.mark.parametrize(("moved", "disks", "seconds"), [(0, 36, 30.0), (36_000, 36, 130.0), (36_000, 12, 330.0)])
def test_a_rebalance_is_spread_over_its_disks(moved: int, disks: int, seconds: float) -> None:
    """What ASM moves is divided by what its disks take together."""
    assert e.rebalance_seconds(moved, disks) == pytest.approx(seconds)


def test_nothing_dirty_is_said_so() -> None:
    """A flush without anything to write should not do arithmetic with it."""
    facts = {f"exa1cel{n:02}": dirty(cell(f"exa1cel{n:02}"), 0) for n in range(1, 15)}
    notes = flush_plan("t1", facts, statement="x", recreate=False).notes
    assert notes[0] == "14 cells: nothing dirty; 0 used"
    assert notes[1] == "time of the flush: nothing is dirty: only the time until the next metrics"
