"""Experiments with three levels and more: each against the first, in one family whose false alarms are held together."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import permutations, product
from math import log

import pytest

from exacell.measure.experiments.family import family
from exacell.measure.experiments.permutation import permuted
from exacell.measure.experiments.record import Experiment, Measured, Pause, from_json, to_json
from exacell.measure.experiments.reported import finding
from exacell.measure.experiments.said import block_rows, schedule_lines, sentences, verdict_rows
from exacell.measure.experiments.schedule import ORDERS, schedule
from tests.support.trials import EMPTY

LEVELS = ("1280", "512", "256")
DESIGN = replace(EMPTY.design, factor="setting", of="/sys/x/max_sectors_kb", said="max_sectors_kb", measure="fio",
                 db="", on="@ini", levels=LEVELS)  # fmt: skip
THREE = replace(EMPTY, design=DESIGN, now="1280")


def measured(values: dict[str, float], *, runs: int = 22, empty: Experiment = THREE) -> Experiment:
    """Return an experiment whose first runs were measured, with values that go up and down by a microsecond."""
    found = [
        Measured(
            number=run.number, block=run.block, pair=run.pair, level=run.level, count=10, at="2026-11-27T10:00:00+00:00",
            value=values[run.level] + (run.number * 7 % 5) / 4,
        )
        for run in empty.schedule[:runs]
    ]  # fmt: skip
    return replace(empty, runs=tuple(found))


@pytest.mark.parametrize("order", ORDERS)
def test_each_block_has_each_level_once_in_drawn_order(order: str) -> None:
    """All orders of three levels are drawn about as often; in order abba the second of two blocks turns the first one round."""
    seen: Counter[tuple[str, ...]] = Counter()
    for seed in range(300):
        runs = schedule(LEVELS, blocks=4, order=order, seed=seed, pairs=0, now="1280")
        blocks = [tuple(run.level for run in runs if run.block == block) for block in range(1, 5)]
        assert all(sorted(block) == sorted(LEVELS) for block in blocks)
        if order == "abba":
            assert blocks[1] == blocks[0][::-1] and blocks[3] == blocks[2][::-1]
        seen[blocks[0]] += 1
    assert set(seen) == set(permutations(LEVELS)) and min(seen.values()) > 30


@pytest.mark.parametrize("order", ORDERS)
def test_of_two_levels_it_is_the_permutation_test(order: str) -> None:
    """One comparison alone has the p that an experiment with two levels has."""
    rows = [{"a": 0.0, "b": value} for value in (0.3, -0.1, 0.2, 0.4, 0.1, 0.25, -0.05)]
    assert family(rows, "a", order)["b"] == pytest.approx(permuted([row["b"] for row in rows], order).p)


def test_false_alarms_are_not_more_than_p_says() -> None:
    """Over all 216 schedules of three blocks with the same values, p is at most x in at most x of them, for each x."""
    slots = ((0.0, 1.7, 2.9), (0.4, 0.1, 3.3), (2.2, 0.0, 0.9))
    found = []
    for dealt in product(*(permutations(own) for own in slots)):
        rows = [dict(zip("abc", own, strict=True)) for own in dealt]
        found.append(min(family(rows, "a", "random").values()))
    assert len(found) == 216
    assert all(sum(p <= x for p in found) <= x * len(found) + 1e-9 for x in set(found))


def test_a_large_difference_does_not_hide_a_small_one() -> None:
    """Beside a level that takes twenty times as long another's 3 % are found, and the one that does alike is not called."""
    rows = [
        {"sas": 0.0 + n, "twenty": log(20) + n, "three": 0.03 + n + (place % 3) / 500, "same": n + (-1) ** place / 100}
        for place, n in enumerate((0.1, -0.2, 0.05, 0.3, -0.1, 0.0, 0.15))
    ]
    found = family(rows, "sas", "random")
    assert found["twenty"] <= 0.05 and found["three"] <= 0.05 and found["same"] > 0.05


def test_each_level_has_its_sentence_against_the_first() -> None:
    """The verdicts come first, one a level; the p is said to be of all comparisons together, the intervals to be of each."""
    found = measured({"1280": 500, "512": 530, "256": 500})
    said = list(sentences(found))
    assert said[0].startswith("There is a difference: with max_sectors_kb 512, an I/O of fio takes 6.0 % more time")
    assert said[1].startswith("There is no difference larger than 2 % on average: with max_sectors_kb 256")
    assert "of all 2 comparisons together" in " ".join(said) and "95 % by itself" in " ".join(said)
    rows = verdict_rows(found)
    assert [(row["level"], row["against"], row["finding"]) for row in rows] == [
        ("512", "1280", "different"), ("256", "1280", "no difference that matters"),
    ]  # fmt: skip
    assert found.verdict().finding == "different"
    few = list(sentences(measured({"1280": 500, "512": 530, "256": 500}, runs=19)))
    assert few[0].startswith("Not enough data: 5 blocks, and a verdict needs 6 at least")


def test_a_block_has_a_column_for_each_level_and_a_cut_one_does_not_count() -> None:
    """Values and differences stand under the levels' names; a block of which a run is missing is begun anew."""
    found = measured({"1280": 500, "512": 530, "256": 490}, runs=21)
    rows = block_rows(found)
    assert len(rows) == 5 and {"1280Us", "512Us", "256Us", "512Percent", "256Percent"} <= set(rows[0])
    assert [run.number for run in found.left] == [20, 21, 22] and len(found.whole().runs) == 19
    assert from_json(json.loads(json.dumps(to_json(found)))) == found


def test_the_schedule_says_what_is_compared_and_how_many_blocks_that_needs() -> None:
    """Before it begins: each against which one, and the blocks below which the family can't come to 5 %."""
    lines = "\n".join(schedule_lines(THREE, None, ""))
    assert "max_sectors_kb 512 and 256, each against 1280 on @ini" in lines
    assert "2 comparisons" in lines and "6 blocks at least" in lines
    abba = replace(THREE, design=replace(DESIGN, order="abba"))
    assert "11 blocks at least in order abba" in "\n".join(schedule_lines(abba, None, ""))


def test_the_report_has_a_line_for_each_level() -> None:
    """The runs in time have a line for each level, the blocks' differences one for each that is tried."""
    told = finding(measured({"1280": 500, "512": 530, "256": 490}), [])
    assert [series.name for series in told.charts[0].series][:3] == [f"max_sectors_kb {level}" for level in LEVELS]
    names = [series.name for series in told.charts[1].series]
    assert names[:2] == ["max_sectors_kb 512 against 1280", "max_sectors_kb 256 against 1280"]
    assert told.figures is not None
    assert {"difference (512)", "difference (256)", "p (512)"} <= {row["figure"] for row in told.figures.rows}
    assert [side.name for side in told.sides] == [f"max_sectors_kb {level}" for level in LEVELS]


def test_giving_way_at_one_of_many_levels_is_no_fair_part_of_it() -> None:
    """Only the comparison whose level gave way has no verdict."""
    found = measured({"1280": 500, "512": 530, "256": 530})
    at = [run.number for run in found.schedule if run.block and run.level == "512"]
    pauses = tuple(Pause(run=number, seconds=9.0, micros=9.0, again=True, level="512") for number in at)
    kinds = [row["finding"] for row in verdict_rows(replace(found, pauses=pauses))]
    assert kinds[0].startswith("no verdict: gave way") and kinds[1] == "different"
