"""What an experiment keeps and says, and what would make it unfair: pure, from what cells and runs told."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from exacell.commands.declared import experiments as declared
from exacell.measure.experiments import fairness
from exacell.measure.experiments.record import Design, Experiment, Measured, from_json, to_json
from exacell.measure.experiments.said import FACTORS, MEASURES, block_rows, same_line, schedule_lines, sentences
from exacell.measure.experiments.schedule import ORDERS
from exacell.measure.snapshot import CellCounters

DESIGN = Design(
    factor="flashlog", levels=("on", "off"), db="SPOT", blocks=6, order="abba", seed=1, pairs=2, matters=2.0,
    measure="commits", seconds=60.0,
)  # fmt: skip
EMPTY = Experiment(
    name="e1", rack="t1", statement="experiment …", design=DESIGN, began="2026-11-27T10:00:00+00:00", now="on"
)

PASSPORT = {
    "release": "19.3.2.0.0.190918",
    "flashCacheMode": "writeback",
    "model": "Oracle Corporation SUN FIRE X4270 M2 SERVER High Performance",
    "cacheSize": "391378894848",
    "flashLog": "512M normal",
    "memoryLog": "none",
    "dbPlan": "((name=SPOT,share=8),(name=default,share=1))",
}


def cells(*passports: dict[str, str], **counters: float) -> dict[str, CellCounters]:
    return {
        f"cel{number:02}": CellCounters(collected=1, values=counters, passport={**PASSPORT, **told})
        for number, told in enumerate(passports, start=1)
    }


def measured(on: float, off: float, *, runs: int = 16) -> Experiment:
    """Return an experiment whose first runs were measured, with values that alternate by half a microsecond."""
    found = [
        Measured(
            number=run.number, block=run.block, pair=run.pair, level=run.level, count=1000, at="2026-11-27T10:00:00+00:00",
            value=(on if run.level == "on" else off) + (run.number % 3) / 2,
        )
        for run in EMPTY.schedule[:runs]
    ]  # fmt: skip
    return replace(EMPTY, runs=tuple(found))


def test_what_is_kept_comes_back_from_json() -> None:
    """Through the store's JSON an experiment is the same, with all its runs."""
    found = replace(measured(530, 500), noticed=("a",), who={"pid": "1"}, passports={"cel01": PASSPORT})
    assert from_json(json.loads(json.dumps(to_json(found)))) == found


def test_a_block_that_was_cut_off_is_begun_anew() -> None:
    """Of a pair or block only whole ones count; what is left holds both runs of the broken one."""
    broken = measured(530, 500, runs=9)
    assert len(broken.blocks) == 2 and len(broken.same) == 2 and len(broken.whole().runs) == 8
    assert [run.number for run in broken.left] == list(range(9, 17))
    assert measured(530, 500).left == ()


VERDICTS = [
    (530.0, 500.0, 16, "There is a difference: with flash log on, log file sync of SPOT takes 6.0 % more time than with it off"),
    (500.0, 530.0, 16, "takes 5.7 % less time than with it off (95 %: -"),
    (505.0, 500.0, 16, "There is a difference, and none that matters (less than 2 %)"),
    (500.0, 500.0, 16, "There is no difference larger than 2 %: "),
    (530.0, 500.0, 14, "Not enough data: 5 blocks, and a verdict needs 6 at least (so far log file sync takes 6.0 % more time"),
    (530.0, 500.0, 0, "Not enough data: 0 blocks, and a verdict needs 6 at least."),
]  # fmt: skip


@pytest.mark.parametrize(("on", "off", "runs", "says"), VERDICTS)
def test_the_first_sentence_is_the_verdict(on: float, off: float, runs: int, says: str) -> None:
    """The sentence names the difference and its direction, or says what is ruled out or missing."""
    assert says in next(sentences(measured(on, off, runs=runs)))


def test_sentences_tell_how_sure_it_is_and_what_was_not_fair() -> None:
    """Behind the verdict stand what was not alike, once with its runs, the test, and the spread without a difference."""
    noticed = (
        "disk group DATA is being rebalanced (REBAL)",
        "run 7: cel01: release: a → b",
        "run 8: cel01: release: a → b",
    )
    told = list(sentences(replace(measured(530, 500), noticed=noticed)))
    assert told[1] == (
        "This was not a fair comparison: disk group DATA is being rebalanced (REBAL); "
        "another condition in runs 7, 8 than in the first: cel01: release: a → b."
    )
    assert "in 3.1 % of all cases (sign-flip test over the blocks)" in told[2]
    assert "two runs at on spread by" in told[3] and "(A/A, 2 pairs)" in told[3]
    assert [row["block"] for row in block_rows(measured(530, 500))] == [1, 2, 3, 4, 5, 6]


def test_the_schedule_tells_all_that_will_happen() -> None:
    """Order, runs, what is measured, what can be detected, how long it takes and what comes back."""
    lines = schedule_lines(replace(EMPTY, design=replace(DESIGN, reset="@reset_cold", settle=30.0)), 1.0, "e0")
    text = "\n".join(lines)
    assert "A/A stretch: 4 runs at on, as it is now" in text and "6 blocks, abba, seed 1: " in text
    assert "@reset_cold · wait 30s · wait 1m00s, as the load comes" in text
    assert "a difference of 1.7 %, four times out of five, if the two runs of a block spread by 1 %, as in e0" in text
    assert "Time: 24m00s, 16 times the reset" in text and "as it is now (on)" in lines[-1]
    few = schedule_lines(replace(EMPTY, design=replace(DESIGN, blocks=5)), None, "")
    assert any("nothing: a verdict needs 6 blocks" in line for line in few)
    assert "6 blocks detect" in same_line(measured(530, 500))


def test_what_is_declared_is_what_there_is() -> None:
    """The choices that completion offers are those that are carried out."""
    assert (tuple(FACTORS), ORDERS, tuple(MEASURES)) == (declared.FACTORS, declared.ORDERS, declared.MEASURES)


IMPOSSIBLE = [
    ({}, {}, ""),
    ({"memoryLog": "10G normal"}, {}, "can't show anything on cel01: databases from 19c on write"),
    ({"flashLog": "none"}, {}, "can't show anything on cel01: there is no flash log"),
    ({"release": "20.1.0.0.0", "model": "ORACLE SERVER X8-2L High Capacity"}, {}, "Smart Flash Log Write-Back"),
    ({}, {"FL_RQ_W": 100.0, "FL_IO_W_SKIP_LOG_ON_FAST_DEV": 90.0}, "the redo logs are on flash themselves"),
]  # fmt: skip


@pytest.mark.parametrize(("told", "counters", "why"), IMPOSSIBLE)
def test_what_can_not_show_anything_is_named_beforehand(
    told: dict[str, str], counters: dict[str, float], why: str
) -> None:
    """Where the redo does not depend on the flash log the reason is known before the first run."""
    found = fairness.cannot_show(cells(told, **counters))
    assert (why in found[0]) if why else found == []


def test_cells_that_differ_are_told() -> None:
    """A cell of another cache size is named with both sizes; equal cells are not."""
    (line,) = fairness.unlike_cells(cells({}, {"cacheSize": "309237645312"}, {}))
    assert line == "cells are not alike: flash cache size: 364.5G on cel[01,03]; 288G on cel02"
    assert fairness.unlike_cells(cells({}, {}, {})) == []


def test_other_load_and_a_filling_cache_are_told() -> None:
    """Other databases count from a fifth of the requests on, a cache until it is nearly full, unless each run is reset."""
    assert fairness.others_busy({"SPOT": 1000, "ERP": 100}, "spot") == []
    assert fairness.others_busy({"SPOT": 10, "ERP": 20}, "spot") == []
    (busy,) = fairness.others_busy({"SPOT": 1000, "ERP": 3000, "CRM": 10}, "spot")
    assert "75% of the requests" in busy and "ERP 3,000/s" in busy
    used = {"cel01": (10.0, 100.0), "cel02": (95.0, 100.0)}
    (filling,) = fairness.filling(used, reset=False)
    assert "cel01 is still filling (10% in use)" in filling
    assert fairness.filling(used, reset=True) == []


LEVELS = [
    (("((name=SPOT,share=8))",), "on"),
    (("((name=SPOT,share=8,flashLog=off))",), "off"),
    (("((name=ERP,share=1),(name=default,flashLog=off))",), "off"),
    (("",), "on"),
    (("((name=SPOT,flashLog=off))", "((name=SPOT,share=8))"), ""),
]


@pytest.mark.parametrize(("plans", "level"), LEVELS)
def test_the_level_now_is_what_the_plan_means(plans: tuple[str, ...], level: str) -> None:
    """Without a directive of its own a database has what DEFAULT says, and flash logging is on unless something says off."""
    assert fairness.level_now({str(place): plan for place, plan in enumerate(plans)}, "spot") == level


def test_the_factor_itself_is_no_other_condition() -> None:
    """Switching the flash log of the database is no change of conditions; a share, a mode or a silent cell is."""
    before = {cell: dict(found.passport) for cell, found in cells({}, {}).items()}
    switched = {"dbPlan": "((name=SPOT,share=8,flashLog=off),(name=default,share=1))"}
    assert fairness.changed(before, cells(switched, switched), "SPOT") == []
    other = {"dbPlan": "((name=SPOT,share=4,flashLog=off),(name=default,share=1))"}
    assert fairness.changed(before, cells(other, {"flashCacheMode": "writethrough"}), "SPOT") == [
        "cel02: flash cache mode: writeback → writethrough",
        "cel01: IORM dbPlan: SPOT share: 8 → 4",
    ]
    assert fairness.changed(before, cells({}), "SPOT") == ["cel02: no answer"]


def test_outliers_are_told_for_each_level_where_cells_counted_them() -> None:
    """Writes, outliers and prevented ones add up over the blocks of a level; a cell that collected nothing makes no figure."""
    before = cells({}, {}, FL_RQ_W=10, FL_SKIP_OUTLIERS=1)
    after = {
        cell: replace(
            found, collected=2, values={"FL_RQ_W": 110.0, "FL_SKIP_OUTLIERS": 4.0, "FL_PREVENTED_OUTLIERS": 2.0}
        )
        for cell, found in before.items()
    }
    assert fairness.outliers(before, after) == (200, 6, 4)
    assert fairness.outliers(before, before) == (None, None, None)
    assert fairness.outliers(before, {**after, "cel02": replace(after["cel02"], started=5)}) == (None, None, None)
    counted = measured(530, 500)
    runs = [
        replace(run, redo=100, outliers=int(run.level == "off"), prevented=int(run.level == "on"))
        for run in counted.runs
    ]
    told = list(sentences(replace(counted, runs=tuple(runs))))
    assert (
        "0 in 600 redo writes with flash log on (6 more were prevented), 6 in 600 redo writes with flash log off."
        in told[3]
    )
