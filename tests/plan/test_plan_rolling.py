"""Rolled plans as values: waves, what demands them, what forbids them, and the gate between them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from plan_factory import CELLS, asm, cache, cell, grid, group, rack
from plan_guarding import guard

from exacell.core.errors import RefusedError
from exacell.core.units import GIB
from exacell.plan.facts import CellFacts
from exacell.plan.gate import closed, first_cells, offline_cells, spoken, unmounted
from exacell.plan.model import GATE_WITHIN, Gate, Plan, Rolling, as_data, rolling_from_json
from exacell.plan.planners.availability import offline_plan, online_plan, restart_plan
from exacell.plan.planners.diskgroup import drop_plan
from exacell.plan.planners.flashcache import flush_plan, resize_plan
from exacell.plan.rolling import Asked, flags_again, laps, moment, roll, takes_offline, why_not

ONE, TWO, THREE = CELLS


def flush() -> Plan:
    return flush_plan("t1", rack(), recreate=False, statement="flush flashcache")


def restart(service: str = "cellsrv", **changes: Any) -> Plan:
    return restart_plan("t1", rack(**changes), service=service, statement=f"restart service {service}")


def waves(plan: Plan, asked: Asked, **more: Any) -> tuple[tuple[str, ...], ...]:
    rolled = roll(plan, asked, rack_cells=CELLS, **more)
    return rolled.rolling.waves if rolled.rolling is not None else ()


# -- waves -----------------------------------------------------------------------------------------------------------

WAVES = [
    (Asked(), ()),
    (Asked(size=0), ()),
    (Asked(size=1), ((ONE,), (TWO,), (THREE,))),
    (Asked(size=2), ((ONE, TWO), (THREE,))),
    (Asked(size=9), (CELLS,)),
    (Asked(canary=TWO), ((TWO,), (ONE, THREE))),
    (Asked(size=1, canary=THREE), ((THREE,), (ONE,), (TWO,))),
]


@pytest.mark.parametrize(("asked", "expected"), WAVES)
def test_waves(asked: Asked, expected: tuple[tuple[str, ...], ...]) -> None:
    """Cells go in waves of the size asked for, the canary first and alone, in the plan's order; else all together."""
    assert waves(flush(), asked) == expected


@pytest.mark.parametrize("forced", [False, True])
def test_a_single_cell_waits_at_its_gate_unless_it_is_forced(forced: bool) -> None:
    """One cell that goes offline is a wave of its own; where its loss was accepted by name no gate holds it up."""
    text = f"alter cell shutdown services cellsrv{' ignore redundancy' if forced else ''}"
    plan = guard(text, cell(), accepted=[ONE])
    assert [step.forced for step in plan.steps] == [forced]
    assert waves(plan, Asked()) == (() if forced else ((ONE,),))


def test_production_rolls_one_cell_at_a_time() -> None:
    """A production rack rolls by default; --no-rolling and --rolling=N win."""
    assert waves(flush(), Asked(), production=True) == ((ONE,), (TWO,), (THREE,))
    assert waves(flush(), Asked(size=0), production=True) == ()
    assert waves(flush(), Asked(size=3), production=True) == (CELLS,)


def test_who_holds_the_gate_closed_goes_first() -> None:
    """A cell whose disks are away already goes before the others."""
    assert waves(restart(), Asked(), first=(THREE,)) == ((THREE,), (ONE,), (TWO,))


@pytest.mark.parametrize("size", [2, 3])
def test_who_goes_first_waits_for_nobody(size: int) -> None:
    """A cell that its own turn mends shares no wave with the others, whose flush its CREATE would wait for."""
    assert waves(flush(), Asked(size=size), first=(THREE,)) == ((THREE,), (ONE, TWO))


def test_cells_that_hold_each_others_gate_closed_go_together() -> None:
    """Cells without caching go in one first wave whatever the size: none could wait for the others, which their own turn
    mends. Where disks go offline each still goes alone."""
    for size in (1, 2):
        assert waves(flush(), Asked(size=size), first=CELLS) == (CELLS,)
    assert waves(flush(), Asked(size=1), first=(ONE, THREE)) == ((ONE, THREE), (TWO,))
    assert waves(flush(), Asked(), first=(TWO, THREE), production=True) == ((TWO, THREE), (ONE,))
    assert waves(flush(), Asked(size=1, canary=TWO), first=(ONE, THREE)) == ((TWO,), (ONE, THREE))
    assert waves(restart(), Asked(), first=(TWO, THREE)) == ((TWO,), (THREE,), (ONE,))


def test_offline_is_always_one_failure_group_at_a_time() -> None:
    """What takes disks offline rolls one cell at a time unasked; more at once is refused, together as well."""
    assert takes_offline(restart()) == CELLS
    assert waves(restart(), Asked()) == ((ONE,), (TWO,), (THREE,))
    for size in (0, 2, 3):
        with pytest.raises(RefusedError, match="several failure groups offline at once"):
            waves(restart(), Asked(size=size))
    assert waves(restart("ms"), Asked(size=0)) == ()


def test_who_has_restarted_only_gets_its_disks_back() -> None:
    """A cell that the attempt before restarted is not restarted again, unless its CELLSRV is down; the note names it."""
    away = cell(TWO, grid_disks=(grid(f"CD_00_{TWO}", status="inactive", asm_mode="OFFLINE"),))

    def again(*facts: CellFacts, service: str = "cellsrv") -> Plan:
        cells = {fact.cell: fact for fact in facts}
        return restart_plan("t1", cells, service=service, statement="x", restarted=(TWO,))

    def touched(plan: Plan) -> dict[str, tuple[str, ...]]:
        return {stage.key: tuple(step.target for step in stage.steps) for stage in plan.stages}

    plan = again(cell(ONE), away, cell(THREE))
    others, back = (ONE, THREE), {"active": CELLS, "active-again": CELLS}
    assert touched(plan) == {"inactive": others, "restart": others, **back}
    assert plan.notes == (f"{TWO}: CELLSRV already restarted; only the grid disks must come online",)
    assert touched(again(away)) == {"active": (TWO,), "active-again": (TWO,)} and not again(away).warnings
    assert touched(again(cell(ONE), replace(away, cellsrv="stopped")))["restart"] == (ONE, TWO)
    assert touched(again(cell(ONE), away, service="ms")) == {"restart": (ONE, TWO)}


def test_a_single_cell_that_goes_offline_has_a_gate_too() -> None:
    """offline cell is a wave of one, so that the gate before it must be open; online cell needs none."""
    plan = offline_plan("t1", cell(), statement="offline cell exa1cel01")
    assert waves(plan, Asked()) == ((ONE,),)
    away = cell(grid_disks=(grid("CD_00_exa1cel01", status="inactive", asm_mode="OFFLINE"),))
    assert waves(online_plan("t1", away, statement="x"), Asked()) == ()


def test_canary_must_be_touched() -> None:
    """A canary that the plan does not touch is refused with the cells that it may be."""
    with pytest.raises(RefusedError, match="the canary exa9 is not one of the cells") as caught:
        waves(flush(), Asked(canary="exa9"))
    assert ONE in caught.value.hint


@pytest.mark.parametrize("asked", [Asked(pause=5.0), Asked(ask=True), Asked(on_error="continue")])
def test_flags_between_waves_need_waves(asked: Asked) -> None:
    """--pause and --on-error are refused where all cells go together, and fine where something rolls."""
    with pytest.raises(RefusedError, match="for waves"):
        waves(flush(), asked)
    assert waves(flush(), asked, production=True)


def test_what_cannot_roll_says_why() -> None:
    """A plan that leaves caching off, or changes nothing on cells, can't roll; asked for it is refused, else it says so."""
    plan = flush()
    off = replace(plan, stages=plan.stages[:1])
    assert "leaves caching off" in why_not(off)
    with pytest.raises(RefusedError, match="it can't roll: it leaves caching off"):
        waves(off, Asked(size=1))
    unrolled = roll(off, Asked(), rack_cells=CELLS, production=True)
    assert unrolled.rolling is None
    assert "not rolled" in unrolled.warnings[-1]
    nodes = drop_plan(
        "t1", asm([group()]), "DATA", nodes={"exa1db01": "1", "exa1db02": "2"}, accepted=(), statement="x"
    )
    assert why_not(nodes) == "it changes nothing on cells"
    assert roll(nodes, Asked(), rack_cells=CELLS, production=True) is nodes
    between = replace(plan, stages=(plan.stages[0], nodes.stages[0], plan.stages[1]))
    assert "between the stages of the cells" in why_not(between)


def test_laps_go_through_all_stages_wave_by_wave() -> None:
    """Each wave goes through all of the cells' stages, mending included; what nodes do stands before or after."""
    plan = resize_plan("t1", rack(), size=36 * GIB, statement="x")
    nodes = drop_plan(
        "t1", asm([group()]), "DATA", nodes={"exa1db01": "1", "exa1db02": "2"}, accepted=(), statement="x"
    )
    whole = replace(plan, stages=(nodes.stages[0], *plan.stages, nodes.stages[1]))
    found = list(laps(roll(whole, Asked(size=2), rack_cells=CELLS)))
    assert [(lap.wave, lap.cells) for lap in found] == [(0, ()), (1, (ONE, TWO)), (2, (THREE,)), (0, ())]
    assert [lap.stages for lap in (found[0], found[3])] == [nodes.stages[:1], nodes.stages[1:2]]
    for lap in found[1:3]:
        assert [stage.key for stage in lap.stages] == [stage.key for stage in plan.stages]
        assert {step.target for stage in lap.stages for step in stage.steps} == set(lap.cells)
    assert [len(list(laps(plan)))] == [1]
    assert any(stage.gate is Gate.MEND for stage in found[1].stages)


def test_a_wave_is_not_empty_and_a_cell_not_in_two() -> None:
    """A Rolling value refuses nonsense."""
    for bad in (((ONE,), (ONE, TWO)), ((ONE,), ())):
        with pytest.raises(ValueError, match="no wave is empty"):
            Rolling(waves=bad)


def test_the_rest_is_rolled_as_the_first_part() -> None:
    """The flags that a journalled plan rolled with are found again from its row; none for one that did not roll."""
    rolled = roll(flush(), Asked(size=2, pause=3.0, on_error="continue", within=60.0), rack_cells=CELLS)
    assert flags_again(rolling_from_json(json.loads(json.dumps(as_data(rolled.rolling))))) == {
        "rolling": 2,
        "timeout": 60.0,
        "pause": 3.0,
        "on-error": "continue",
    }
    asking = roll(flush(), Asked(size=1, ask=True), rack_cells=CELLS)
    assert flags_again(asking.rolling)["pause"] == "ask"
    assert flags_again(flush().rolling) == {}


def test_what_nobody_said_of_waves_has_its_default() -> None:
    """A plan that rolls where nothing was said of it pauses for nothing and gives each gate its usual time."""
    rolled = roll(flush(), Asked(size=2), rack_cells=CELLS).rolling
    assert rolled is not None
    assert (rolled.pause, rolled.within) == (0.0, GATE_WITHIN)


# -- the gate --------------------------------------------------------------------------------------------------------

NO = "Cannot de-activate due to other offline disks in the diskgroup"
OPEN: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"grid_disks": ()}, True),
    ({"grid_disks": (grid("CD_00_exa1cel02", asm_mode="UNUSED"),)}, True),
    ({"grid_disks": (grid("CD_00_exa1cel02", asm_mode="SYNCING"),)}, False),
    ({"grid_disks": (grid("CD_00_exa1cel02", asm_mode="OFFLINE"),)}, False),
    ({"grid_disks": (grid("CD_00_exa1cel02", asm_mode=""),)}, False),
    ({"grid_disks": (grid("CD_00_exa1cel02", asm_mode="UNKNOWN"),)}, False),
    ({"flash_cache": None}, True),
    ({"flash_cache": cache(TWO, status="normal - flushing")}, False),
    ({"flash_cache": cache(TWO, status="normal - flushed")}, False),
    ({"flash_cache": cache(TWO, status="warning - degraded", degraded=("FD_00",))}, False),
]


@pytest.mark.parametrize(("changes", "is_open"), OPEN)
def test_gate_judges_the_other_cells(changes: dict[str, Any], is_open: bool) -> None:
    """Before a wave every disk in ASM use is ONLINE on the other cells and their flash is normal."""
    facts = {ONE: cell(), TWO: cell(TWO, **changes)}
    reasons = closed(facts, (ONE,), offline=False)
    assert (not reasons) is is_open
    assert all(item.target == TWO for item in reasons)


OWN: list[tuple[dict[str, Any], bool, bool]] = [
    ({}, True, True),
    ({"deactivation": NO}, True, False),
    ({"deactivation": NO}, False, True),
    ({"deactivation": "", "asm_mode": "ONLINE"}, True, False),
    ({"asm_mode": "SYNCING"}, True, False),
    ({"asm_mode": "OFFLINE", "status": "inactive", "deactivation": NO}, True, True),
    ({"asm_mode": "UNUSED", "deactivation": ""}, True, True),
]


@pytest.mark.parametrize(("changes", "offline", "is_open"), OWN)
def test_gate_judges_the_waves_own_disks(changes: dict[str, Any], offline: bool, is_open: bool) -> None:
    """A wave that takes disks offline needs Yes for each active one; what an earlier attempt left inactive may go on."""
    facts = {ONE: cell(grid_disks=(grid("CD_00_exa1cel01", **changes),)), TWO: cell(TWO)}
    assert (not closed(facts, (ONE,), offline=offline)) is is_open


def test_gate_asks_back_a_cache_that_an_earlier_wave_lost() -> None:
    """A cell on which an earlier wave failed must have its flash cache again; its own flash does not close its gate."""
    facts = {ONE: cell(flash_cache=cache(ONE, status="normal - flushed")), TWO: cell(TWO, flash_cache=None)}
    assert closed(facts, (ONE,), offline=False) == ()
    assert "flash cache is gone" in spoken(closed(facts, (ONE,), offline=False, cached=(TWO,)))


def test_gate_names_cell_object_and_attribute() -> None:
    """A closed gate says cell, disk, attribute, value and what is wanted; further cells are counted."""
    facts = {name: cell(name, grid_disks=(grid(f"CD_00_{name}", asm_mode="SYNCING"),)) for name in CELLS}
    text = spoken(closed(facts, (ONE,), offline=True), most=1)
    assert text == "exa1cel01: griddisk DATA_CD_00_exa1cel01: asmModeStatus is SYNCING, not ONLINE (and 2 more)"
    assert offline_cells(facts) == CELLS


def test_disk_groups_that_nobody_has_mounted() -> None:
    """Where cells say UNKNOWN of a disk group's disks, it is named once; disks of no group, or in use, name none."""
    lost = (grid("CD_00_x", asm_mode="UNKNOWN", asm_group="data"), grid("CD_01_x", "RECO", asm_mode="UNKNOWN"))
    odd = (grid("CD_00_y"), grid("CD_01_y", asm_mode="UNKNOWN", asm_group=""), grid("CD_02_y", asm_mode="OFFLINE"))
    assert unmounted({ONE: cell(grid_disks=lost), TWO: cell(TWO, grid_disks=(*lost, *odd))}) == ("DATA", "RECO")
    assert unmounted({TWO: cell(TWO, grid_disks=odd)}) == ()


# -- what a gate says ------------------------------------------------------------------------------------------------

REASONS = [
    ({"asm_mode": "OFFLINE"}, "asmModeStatus is OFFLINE, not ONLINE"),
    ({"asm_mode": ""}, "asmModeStatus is unknown, not ONLINE"),
    ({"deactivation": NO}, f"asmDeactivationOutcome is {NO}, not Yes"),
    ({"deactivation": ""}, "asmDeactivationOutcome is unknown, not Yes"),
]


@pytest.mark.parametrize(("changes", "said"), REASONS)
def test_gate_says_what_it_waits_on(changes: dict[str, Any], said: str) -> None:
    """The reason has the value that was read, ``unknown`` where the cell gave none, on the wave's cells and the others."""
    facts = {ONE: cell(grid_disks=(grid("CD_00_exa1cel01", **changes),))}
    assert spoken(closed(facts, (ONE,), offline=True)) == f"exa1cel01: griddisk DATA_CD_00_exa1cel01: {said}"
    if "asm_mode" in changes:
        assert spoken(closed(facts, (TWO,), offline=True)) == f"exa1cel01: griddisk DATA_CD_00_exa1cel01: {said}"


def test_what_leaves_disks_offline_does_not_roll() -> None:
    """Several cells whose disks would go offline to stay so are refused: no gate would open for the second."""
    whole = restart()
    leaving = replace(whole, stages=whole.stages[:1])
    assert "leaves disks offline" in why_not(leaving)
    with pytest.raises(RefusedError, match="leaves disks offline") as caught:
        waves(leaving, Asked())
    assert caught.value.hint == "change one cell at a time: `on CELL …`"
    assert why_not(whole) == ""


def test_rolling_what_has_no_cells_is_refused() -> None:
    """A canary or --rolling for a plan of database nodes alone is refused; an empty stage in between is no obstacle."""
    nodes = drop_plan(
        "t1", asm([group()]), "DATA", nodes={"exa1db01": "1", "exa1db02": "2"}, accepted=(), statement="x"
    )
    with pytest.raises(RefusedError, match="it changes nothing on cells"):
        waves(nodes, Asked(size=1))
    with pytest.raises(RefusedError, match="is not one of the cells"):
        waves(nodes, Asked(canary=ONE))
    plan = flush()
    empty = replace(plan, stages=(plan.stages[0], replace(plan.stages[0], steps=(), key="none"), *plan.stages[1:]))
    assert why_not(empty) == ""
    off_all = replace(plan, stages=plan.stages[:1])
    with pytest.raises(RefusedError, match="can't roll"):
        waves(off_all, Asked(canary=ONE))


def test_what_another_statement_asked_for_is_gentle() -> None:
    """An undo rolls as its change did where it can; where it can't it goes together and says so, unless disks go offline."""
    plan = flush()
    assert waves(plan, Asked(size=1, gently=True)) == ((ONE,), (TWO,), (THREE,))
    stays_off = Plan(statement="s", rack="t1", stages=plan.stages[:1])
    with pytest.raises(RefusedError, match="can't roll"):
        roll(stays_off, Asked(size=1), rack_cells=CELLS)
    together = roll(stays_off, Asked(size=1, gently=True), rack_cells=CELLS)
    assert together.rolling is None and any("all cells together" in warning for warning in together.warnings)
    assert waves(restart(), Asked(size=1, pause=60.0, gently=True)) == ((ONE,), (TWO,), (THREE,))
    none = Plan(statement="s", rack="t1")
    assert roll(none, Asked(pause=60.0, on_error="continue", gently=True), rack_cells=CELLS) is none


def test_a_pause_without_waves_is_gently_dropped() -> None:
    """What another statement's flags say about waves is no error where nothing rolls; for one cell it never is."""
    plan = flush()
    assert roll(plan, Asked(pause=60.0, gently=True), rack_cells=CELLS) is plan
    alone = flush_plan("t1", rack(ONE), recreate=False, statement="flush flashcache")
    assert roll(alone, Asked(pause=60.0, on_error="continue"), rack_cells=CELLS) is alone


@pytest.mark.parametrize(("count", "more"), [(12, False), (13, True)])
def test_a_wrong_canary_names_at_most_a_dozen_cells(count: int, more: bool) -> None:
    """The cells that may be the canary are named, a dozen of them at most, and that there are more is told."""
    names = [f"c{number:02}" for number in range(count)]
    plan = flush_plan("t1", rack(*names), recreate=False, statement="flush flashcache")
    with pytest.raises(RefusedError) as caught:
        roll(plan, Asked(canary="exa9"), rack_cells=names)
    assert caught.value.hint == "they are: " + ", ".join(names[:12]) + (" …" if more else "")


@pytest.mark.parametrize(("size", "said"), [(0, "all cells together"), (2, "2 cells at a time")])
def test_two_failure_groups_are_too_many(size: int, said: str) -> None:
    """Of two cells whose disks go offline both at once are refused, saying what was asked for."""
    plan = restart_plan("t1", rack(ONE, TWO), service="cellsrv", statement="restart")
    with pytest.raises(RefusedError, match=f"restart: {said} would take disks of several failure groups offline"):
        waves(plan, Asked(size=size))


def test_one_cell_that_stays_offline_holds_up_nobody() -> None:
    """Where the disks of just one of several cells stay offline, the plan goes together unless rolling was asked for."""
    away = restart().stages[0]
    plan = Plan(
        statement="s",
        rack="t1",
        stages=(replace(away, steps=away.steps[:1]), replace(restart("ms").stages[0], key="ms")),
    )
    assert takes_offline(plan) == (ONE,)
    assert "disks offline" in roll(plan, Asked(), rack_cells=CELLS).warnings[-1]
    with pytest.raises(RefusedError, match="disks offline") as caught:
        roll(plan, Asked(size=1), rack_cells=CELLS)
    assert caught.value.hint == "--no-rolling changes all cells together"


def test_waves_are_all_there_is_where_nodes_do_nothing() -> None:
    """A rolled plan of cells alone has no part before or after its waves."""
    assert [lap.wave for lap in laps(roll(flush(), Asked(size=1), rack_cells=CELLS))] == [1, 2, 3]


def test_a_pool_disk_closes_a_gate_only_where_it_can_not_be_spared() -> None:
    """A disk of an Exascale pool is never ONLINE in ASM, and should still not go offline before its outcome is Yes."""
    disk = grid("CD_00", asm_mode="UNUSED", asm_group="", pool="P1")
    for outcome, is_open in (("Yes", True), ("", False)):
        facts = {ONE: cell(ONE, grid_disks=(replace(disk, deactivation=outcome),)), TWO: cell(TWO, grid_disks=(disk,))}
        assert (not closed(facts, (ONE,), offline=True)) is is_open
        assert not closed(facts, (ONE,), offline=False)


def test_a_cell_that_does_not_cache_goes_before_the_others() -> None:
    """A cell whose flush was left in force closes the others' gates, so its wave comes first; a sick cache changes no order."""
    off = cell(CELLS[1], flash_cache=cache(CELLS[1], status="normal - flushed"))
    sick = cell(CELLS[2], flash_cache=cache(CELLS[2], status="warning - degraded"))
    away = cell(grid_disks=(grid("CD_00_exa1cel01", status="inactive", asm_mode="OFFLINE"),))
    assert first_cells({CELLS[0]: cell(), CELLS[1]: off, CELLS[2]: sick}) == (CELLS[1],)
    assert first_cells({CELLS[0]: away, CELLS[1]: off}) == (CELLS[0], CELLS[1])
    assert first_cells({CELLS[0]: cell(flash_cache=None)}) == ()


def test_a_cell_whose_cache_a_change_dropped_goes_before_the_others() -> None:
    """Where the plan creates the cache that a cell lacks, no other cell's is flushed before; elsewhere that is no reason."""
    facts = {CELLS[0]: cell(), CELLS[1]: cell(flash_cache=None), CELLS[2]: cell(flash_cache=None)}
    assert first_cells(facts, CELLS) == CELLS[1:]
    assert first_cells(facts, (CELLS[0], CELLS[2], "exa1cel99")) == (CELLS[2],)


@pytest.mark.parametrize(
    ("left", "ours"),
    [
        ({"flash_cache": None}, True),
        ({"flash_cache": cache(CELLS[1], status="normal - flushed")}, True),
        ({"flash_cache": cache(CELLS[1], status="warning - flushing")}, True),
        ({"flash_cache": cache(CELLS[1], status="warning - degraded")}, False),
        ({"grid_disks": (grid("CD_00_exa1cel02", asm_mode="SYNCING"),), "flash_cache": None}, False),
    ],
)
def test_what_no_waiting_mends(left: dict[str, Any], ours: bool) -> None:
    """Only caching that an earlier wave of this change left off; whose it is not, and what gets well by itself, may end."""
    facts = {CELLS[0]: cell(), CELLS[1]: replace(cell(CELLS[1]), **left)}
    (found,) = closed(facts, CELLS[:1], offline=False, cached=(CELLS[1],))
    assert (found.target, found.ours) == (CELLS[1], ours)
    assert not any(item.ours for item in closed(facts, CELLS[:1], offline=False))


NOW = datetime(2026, 11, 24, 22, 30, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("05:00", "2026-11-25T05:00+01:00"),
        ("5:00", "2026-11-25T05:00+01:00"),
        ("22:31", "2026-11-24T22:31+01:00"),
        ("2026-11-26 05:00", "2026-11-26T05:00+01:00"),
        ("2026-11-25T05:00+00:00", "2026-11-25T05:00+00:00"),
    ],
)
def test_a_last_moment_is_the_next_one(text: str, wanted: str) -> None:
    """A time of day is the next one, a date is what it says, in the host's zone unless it has its own."""
    assert moment(text, NOW) == wanted


@pytest.mark.parametrize("text", ["22:30", "17:00", "2026-11-24 05:00", "25:00", "5", "soon", "5:0"])
def test_a_last_moment_that_is_past_or_none_is_refused(text: str) -> None:
    """A job that starts late has missed its window: it does not get the next day's."""
    with pytest.raises(RefusedError, match=r"is in the past: it is 2026-11-24 22:30|give a time of day"):
        moment(text, NOW)


def test_a_last_moment_needs_waves() -> None:
    """Where all cells go together nothing can stop between them: refused, with the way out."""
    with pytest.raises(RefusedError, match="--not-after is for waves") as refused:
        roll(flush(), Asked(not_after="x"), rack_cells=CELLS)
    assert "--rolling" in str(refused.value.hint)
