"""What an experiment keeps and says, and what would make it unfair: pure, from what cells and runs told."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial

import pytest

from exacell.change.factors import FACTORS, factor_and_subject, factor_of, level_of, statements
from exacell.commands.declared import experiments as declared
from exacell.core.errors import StatementError
from exacell.language.line import parse_line
from exacell.language.registry import Effect
from exacell.measure.experiments import fairness
from exacell.measure.experiments.power import analytic, detectable
from exacell.measure.experiments.record import Design, Pause, from_json, to_json
from exacell.measure.experiments.said import (
    MEASURES,
    block_rows,
    same_line,
    schedule_lines,
    sentences,
    time_left,
    verdict_rows,
)
from exacell.measure.experiments.schedule import ORDERS, fewest
from exacell.plan.dbchange import read_change
from tests.support.every import every
from tests.support.trials import DESIGN, EMPTY, PASSPORT, cells, measured


def test_what_is_kept_comes_back_from_json() -> None:
    """Through the store's JSON an experiment is the same, with all its runs."""
    found = replace(
        measured(530, 500), noticed=("a",), who={"pid": "1"}, passports={"cel01": PASSPORT},
        design=replace(DESIGN, workload=("cells", "racks")), pauses=(Pause(run=1, seconds=2.5, micros=3.0, again=True),),
    )  # fmt: skip
    assert from_json(json.loads(json.dumps(to_json(found)))) == found
    old = to_json(found)
    old["design"]["workload"] = "cells"
    assert from_json(old).design.workload == ("cells",)


def test_a_block_that_was_cut_off_is_begun_anew() -> None:
    """Of a pair or block only whole ones count; what is left holds both runs of the broken one."""
    broken = measured(530, 500, runs=9)
    assert len(broken.blocks) == 2 and len(broken.same) == 2 and len(broken.whole().runs) == 8
    assert [run.number for run in broken.left] == list(range(9, 17))
    assert measured(530, 500).left == ()


VERDICTS = [
    (530.0, 500.0, 16, "There is a difference: with flash log on, log file sync of SPOT takes 6.0 % more time "
                       "on average than"),
    (500.0, 530.0, 16, "takes 5.7 % less time on average than with it off (95 %: -"),
    (505.0, 500.0, 16, "There is a difference, but it is too small to matter on average (less than 2 %): "),
    (500.0, 500.0, 16, "There is no difference larger than 2 % on average: "),
    (530.0, 500.0, 14, "Not enough data: 5 blocks, and a verdict needs 6 at least (so far log file sync takes "
                       "6.0 % more time"),
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
    assert (
        "in 3.1 % of all cases (permutation test over the schedules that could have been drawn, 64 of them)" in told[2]
    )
    assert "at 5 % or less; 6 blocks can give 3.1 % at the least" in told[2]
    assert "two runs at on spread by" in told[3] and "(A/A, 2 pairs)" in told[3]
    assert [row["block"] for row in block_rows(measured(530, 500))] == [1, 2, 3, 4, 5, 6]


def test_the_schedule_tells_all_that_will_happen() -> None:
    """Order, runs, what is measured, what can be detected, how long it takes and what comes back."""
    lines = schedule_lines(replace(EMPTY, design=replace(DESIGN, reset="@reset_cold", settle=30.0)), 1.0, "e0")
    text = "\n".join(lines)
    assert "A/A stretch: 4 runs at on, as it is now" in text and "6 blocks, random, seed 1: " in text
    assert "@reset_cold · wait 30s · wait 1m00s, as the load comes" in text
    assert (
        "a difference of 1.9 %, four times out of five, if the two runs of a block spread by 1 %, as in e0; "
        "p can be 3.1 % at the least" in text
    )
    assert "Time: 24m00s, 16 times the reset" in text and "goes back to its present value (on)" in lines[-1]
    few = schedule_lines(replace(EMPTY, design=replace(DESIGN, blocks=5)), None, "")
    assert any("nothing: a verdict needs 6 blocks" in line for line in few)
    assert "6 blocks detect" in same_line(measured(530, 500))


@every([(blocks, order) for order in ORDERS for blocks in range(fewest(order), 61)])
def test_a_design_that_finds_much_less_than_a_t_test_says_what_finds_more(blocks: int, order: str) -> None:
    """Either so many blocks find what is at most 1.2 times what a paired t test of as many finds, or the schedule names the
    blocks and the order that do."""
    lines = schedule_lines(replace(EMPTY, design=replace(DESIGN, blocks=blocks, order=order)), 1.0, "e0")
    (line,) = (line for line in lines if "four times out of five" in line)
    more = re.search(r"; ([0-9]+) blocks in order random find ([0-9.]+) %$", line)
    if detectable(blocks, order) <= 1.2 * analytic(blocks):
        assert more is None, line
        return
    assert more is not None, line
    better = int(more[1])
    assert detectable(better, "random") <= 1.2 * analytic(better) and better - blocks in (0, 1)
    assert float(more[2]) == pytest.approx(detectable(better, "random"), rel=0.06)


def test_what_is_declared_is_what_there_is() -> None:
    """The choices that completion offers are those that are carried out."""
    shown = tuple(f"{name}:" if factor.of else name for name, factor in FACTORS.items())
    assert (shown, ORDERS, tuple(MEASURES)) == (declared.FACTORS, declared.ORDERS, declared.MEASURES)
    assert all(set(factor.measures) <= set(MEASURES) for factor in FACTORS.values())


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
    assert line == "cells differ: flash cache size: 364.5G on cel[01,03]; 288G on cel02"
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


@pytest.mark.parametrize(
    ("factor", "levels", "told"),
    [
        ("cell_flash_cache", ("KEEP", "DEFAULT", "NONE"), True),
        ("cell_flash_cache", ("default", "keep"), True),
        ("cell_flash_cache", ("keep", "none"), False),
        ("flashlog", ("on", "off"), False),
    ],
)
def test_keep_against_default_is_told_to_need_a_full_cache(factor: str, levels: tuple[str, ...], told: bool) -> None:
    """Before: that caches are not full, or are emptied before each run; after each run: those that were not full. Full ones,
    and comparisons without both clauses, are not named."""
    roomy, full = {"cel01": (10.0, 100.0), "cel02": (95.0, 100.0)}, {"cel02": (95.0, 100.0)}
    before = fairness.may_have_room(factor, levels, roomy, reset=False)
    assert len(before) == told and all("that of cel01 is not" in line for line in before)
    assert fairness.may_have_room(factor, levels, full, reset=False) == []
    emptied = fairness.may_have_room(factor, levels, full, reset=True)
    assert len(emptied) == told and all("empties it before each run" in line for line in emptied)
    known = cells({"cacheSize": "100"}, {"cacheSize": "100"})
    after = fairness.had_room(factor, levels, {"cel01": 10.0, "cel02": 95.0}, known)
    assert len(after) == told and all("that of cel01 was not" in line for line in after)
    assert fairness.had_room(factor, levels, {"cel01": 91.0, "cel02": 95.0}, known) == []


LEVELS = [
    (("((name=SPOT,share=8))",), "on"),
    (("((name=SPOT,share=8,flashLog=off))",), "off"),
    (("((name=ERP,share=1),(name=default,flashLog=off))",), "off"),
    (("",), "on"),
    (("((name=SPOT,flashLog=off))", "((name=SPOT,share=8))"), ""),
    (("((name=SPOT,type=database,flashLog=off),(name=SPOT,type=profile,share=8))",), "off/on"),
]


@pytest.mark.parametrize(("plans", "level"), LEVELS)
def test_the_level_now_is_what_the_plan_means(plans: tuple[str, ...], level: str) -> None:
    """Without a directive of its own a database has what DEFAULT says, and flash logging is on unless something says off."""
    assert level_of(replace(DESIGN, db="spot"), plans) == level


FACTOR_CASES = [
    ("flashlog", ("off", "on"), ["disable flashlog db=SPOT", "enable flashlog db=SPOT"]),
    (
        "cell_flash_cache:app.orders", ("keep", "none"),
        [f"sql db=SPOT 'alter table app.orders storage (cell_flash_cache {level})'" for level in ("keep", "none")],
    ),
    ("iorm:objective", ("auto", "balanced"), ["set iorm objective=auto", "set iorm objective=balanced"]),
    ("iorm:flashCache", ("off", "on"), ["set iorm db=SPOT flashCache=off", "set iorm db=SPOT flashCache=on"]),
    (
        "parameter:db_flash_cache_file", ("A=1", "b"),
        [
            "sql db=SPOT \"alter system set db_flash_cache_file = 'A=1'\"",
            "sql db=SPOT 'alter system set db_flash_cache_file = b'",
        ],
    ),
    (
        "setting:/sys/block/sdb/queue/max_sectors_kb", ("1280", "4096"),
        [f"on @ini set setting /sys/block/sdb/queue/max_sectors_kb={kb}" for kb in (1280, 4096)],
    ),
]  # fmt: skip


def designed(text: str, levels: tuple[str, str]) -> Design:
    """Return the design of an experiment with that factor."""
    factor, of = factor_and_subject(text)
    return replace(DESIGN, factor=factor, of=of, levels=levels, on="@ini" if factor == "setting" else "")


@pytest.mark.parametrize(("text", "levels", "sent"), FACTOR_CASES)
def test_each_level_of_each_factor_is_a_statement_that_exacell_plans(
    text: str, levels: tuple[str, str], sent: list[str]
) -> None:
    """What brings a factor to its levels reads as a change, and never as text that exacell can't read."""
    assert statements(designed(text, levels)) == sent
    for statement in sent:
        line = parse_line(statement)
        assert line is not None and line.call is not None and line.effect in (Effect.WRITE, Effect.OPAQUE)
        if line.effect is Effect.OPAQUE:
            assert line.call.command.name == "sql" and read_change(line.call.text_arg("text")) is not None


LEFT = [
    (replace(DESIGN, workload=(), seconds=60.0, settle=5.0), (), 12, ", about 13m00s left"),
    (replace(DESIGN, workload=("drive",), seconds=0.0, settle=5.0), (), 12, ""),
    (replace(DESIGN, workload=("drive",)), (50.0, 70.0), 12, ", about 12m00s left"),
    (replace(DESIGN, workload=(), seconds=60.0), (0.02,), 12, ""),
    (replace(DESIGN, workload=()), (3600.0,), 1, ", about 1h00m left"),
]  # fmt: skip


@pytest.mark.parametrize(("design", "lasted", "runs", "said"), LEFT)
def test_the_time_left_follows_from_the_runs_so_far(
    design: Design, lasted: tuple[float, ...], runs: int, said: str
) -> None:
    """Each run that is left counts as long as those before it on average, the first one as long as it settles and measures;
    where neither is known, and below a second, nothing is said."""
    assert time_left(design, lasted, runs) == said


NO_FACTORS = [
    ("flashlog:x", ("on", "off"), "factor=flashlog:x is unknown"),
    ("iorm", ("on", "off"), "factor=iorm is unknown; use flashlog, cell_flash_cache:OWNER.TABLE"),
    ("weather:sun", ("on", "off"), "factor=weather:sun is unknown"),
    ("flashlog", ("on", "maybe"), "flash log can be on, off"),
    ("cell_flash_cache:orders", ("keep", "none"), "write the table as OWNER.NAME"),
    ("cell_flash_cache:a.b) x (c.d", ("keep", "none"), "write the table as OWNER.NAME"),
    ("parameter:sga_target", ("1", "2"), "sets only parameters that affect nothing but speed"),
    ("parameter:sga_target", ("1", "2"), "it does not know this one"),
    ("parameter:open_cursors", ("300", "four"), "'four' is not such a value of this one"),
    ("parameter:open_cursors", ("1\n2", "2"), "one line of printable characters"),
    ("setting:/etc/passwd", ("1", "2"), "is not the path of a setting"),
    ("setting:/sys/block/sda/queue/scheduler", ("a;b", "2"), "is not a value of a setting"),
]


@pytest.mark.parametrize(("text", "levels", "why"), NO_FACTORS)
def test_what_exacell_does_not_plan_is_no_factor(text: str, levels: tuple[str, str], why: str) -> None:
    """An unknown factor, a level that it can't have, and text that could be more than a name or a value are refused."""
    with pytest.raises(StatementError, match=re.escape(why)):
        statements(designed(text, levels))


def test_the_factor_itself_is_no_other_condition() -> None:
    """Switching the flash log of the database is no change of conditions; a share, a mode or a silent cell is."""
    before = {cell: dict(found.passport) for cell, found in cells({}, {}).items()}
    switched = {"dbPlan": "((name=SPOT,share=8,flashLog=off),(name=default,share=1))"}
    own = partial(factor_of(DESIGN).own, DESIGN)
    assert fairness.changed(before, cells(switched, switched), own) == []
    other = {"dbPlan": "((name=SPOT,share=4,flashLog=off),(name=default,share=1))"}
    assert fairness.changed(before, cells(other, {"flashCacheMode": "writethrough"}), own) == [
        "cel02: flash cache mode: writeback → writethrough",
        "cel01: IORM dbPlan: SPOT share: 8 → 4",
    ]
    assert fairness.changed(before, cells({}), own) == ["cel02: no answer"]
    cached = designed("iorm:flashcache", ("off", "on"))
    assert fairness.changed(before, cells(switched, switched), partial(factor_of(cached).own, cached)) != []
    objective = designed("iorm:objective", ("auto", "balanced"))
    spread = cells({"objective": "auto"}, {"objective": "balanced"})
    assert fairness.changed(before, spread, partial(factor_of(objective).own, objective)) == []


def test_a_table_s_clause_shows_nothing_where_nothing_of_it_is_cached() -> None:
    """Without a flash cache, or with the database kept out of it, KEEP against NONE can't show anything."""
    clause = designed("cell_flash_cache:app.orders", ("keep", "none"))
    assert list(factor_of(clause).cannot(clause, cells({}, {}))) == []
    assert list(factor_of(clause).cannot(clause, cells({}, {"cacheSize": "none"}))) == [
        "there is no flash cache on cel02"
    ]
    (why,) = factor_of(clause).cannot(clause, cells({"dbPlan": "((name=SPOT,flashCache=off))"}))
    assert why == "IORM does not let SPOT use the flash cache of cel01 (flashCache=off)"


def test_a_level_that_is_neither_is_given_back_and_not_run_at() -> None:
    """Where the thing has a third value now, the A/A stretch runs at the level that is compared with, and that is said."""
    third = replace(EMPTY, design=designed("setting:/sys/block/sdb/queue/max_sectors_kb", ("1280", "4096")), now="512")
    assert {run.level for run in third.schedule if run.pair} == {"4096"}
    lines = schedule_lines(third, None, "")
    assert "  A/A stretch: 4 runs at 4096" in lines and lines[-1].endswith("goes back to its present value (512)")


def test_what_was_noticed_in_runs_that_are_made_anew_is_not_told_of_those_that_count() -> None:
    """A disturbance of a run that was left out is no reproach to the run in its place, in one block as in several."""
    found = measured(530, 500)
    first, second, *_ = (run.number for run in found.schedule if run.block == 1)
    others = (
        "cells differ: release",
        "run 1: a flush",
        f"run {second + 1}: a flush",
        "at the end a rebalance",
    )
    found = replace(found, noticed=(*others, f"run {first}: a flush", f"run {second}: a flush"))
    left = found.without((1, 0))
    assert left.noticed == others
    assert {run.number for run in found.runs} - {run.number for run in left.runs} == {first, second}
    cut = replace(found, runs=tuple(run for run in found.runs if run.number != second))
    assert cut.whole() == left and found.whole() == found


def test_giving_way_is_told_with_the_verdict() -> None:
    """How often, how long, why, and which runs were made anew stand behind the verdict and in its figures."""
    pauses = (Pause(run=3, seconds=90.0, micros=31_000.0), Pause(run=5, seconds=0.0, micros=25_000.0, again=True))
    found = replace(measured(530, 500), design=replace(DESIGN, limit=0.02), pauses=pauses)
    (told,) = [line for line in sentences(found) if line.startswith("It gave way")]
    assert "2 times, 1m30s in all" in told and "longer than 20 ms on average (up to 31 ms)" in told
    assert "1 run lay in such a time, and its block was repeated" in told
    figures = verdict_rows(found)[0]
    assert (figures["pauses"], figures["pausedSeconds"], figures["madeAnew"]) == (2, 90.0, 1)


def test_what_came_on_the_way_is_told_once() -> None:
    """Of the reasons at the end those count whose kind was not there at the beginning, whatever their figures are."""
    before = [
        "other databases have 30% of the requests to the cells (ERP 100/s)",
        "cells differ: release: a; b",
    ]
    now = [
        "other databases have 45% of the requests to the cells (ERP 200/s)",
        "disk group DATA is being rebalanced (REBAL)",
    ]
    assert fairness.new_among(now, before) == now[1:]
    assert fairness.new_among(now, [*before, "disk group RECO is being rebalanced (REBAL)"]) == now[1:]


def test_redo_is_judged_on_the_slowest_cell() -> None:
    """Now by the cells' own rate, over a run by what was counted in it; cells that collected nothing say nothing."""
    first, second = cells({}, {}, FL_RQ_W=10, FL_RQ_TM_W=4000), cells({}, {}, FL_RQ_W=110, FL_RQ_TM_W=54000)
    slow = {**second, "cel02": replace(second["cel02"], values={"FL_RQ_W": 110.0, "FL_RQ_TM_W": 2_004_000.0})}
    assert fairness.redo_since(first, slow) == 20_000 and fairness.redo_since(first, first) == 0
    assert fairness.redo_now({**first, **cells({}, FL_RQ_TM_W_RQ=900)}) == 900 and fairness.redo_now({}) == 0


def test_a_tables_clause_is_read_under_a_heading_that_no_release_cuts() -> None:
    """SQL*Plus before 12.2 cuts a heading to the width of its column, which has 7 characters here."""
    design = replace(DESIGN, factor="cell_flash_cache", of="APP.KEYS", levels=("keep", "none"))
    reading = factor_of(design).reading(design)
    assert f"cell_flash_cache {reading.column} from" in reading.statement and len(reading.column) <= 7


@pytest.mark.parametrize(
    ("workload", "told"),
    [
        (("emulator load t1 db=SPOT for=60s",), "Time: 16 times the workload (16m00s of load), and"),
        (("drive db=SPOT commits=10 for=1.5m", "emulator load t1 for=30s db=SPOT"), "(32m00s of load)"),
        (("run commit_load db=SPOT",), "Time: 16 times the workload, and"),
        (("wait until all flashcache.status = normal for=1h",), "Time: 16 times the workload, and"),
    ],
)
def test_the_time_of_loads_is_told_before_they_begin(workload: tuple[str, ...], told: str) -> None:
    """What loads for a known time is multiplied by the runs; of other statements nobody knows how long they take."""
    lines = schedule_lines(replace(EMPTY, design=replace(DESIGN, workload=workload)), None, "")
    assert told in "\n".join(lines)
