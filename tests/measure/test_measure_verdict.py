"""What blocks of runs show: differences that are there are named, others are not, and too few blocks are no verdict."""

from __future__ import annotations

from itertools import product
from math import exp, isclose, log

import pytest
from hypothesis import given, strategies as st

from benchmarks import verdicts
from exacell.measure.experiments.permutation import permuted
from exacell.measure.experiments.power import analytic, detectable, reached
from exacell.measure.experiments.schedule import ORDERS, coins, fewest, least_p, schedule, tossed
from exacell.measure.experiments.verdict import Block, Finding, judge


def of(*percents: float, b_first: tuple[bool, ...] = ()) -> list[Block]:
    """Return blocks whose second level is so many percent above a first one of 500."""
    firsts = b_first or tuple(place % 2 == 1 for place in range(len(percents)))
    return [Block(a=500.0, b=500.0 * (1 + p / 100), b_first=f) for p, f in zip(percents, firsts, strict=True)]


CASES = [
    ("a difference", (6.1, 5.8, 6.3, 5.9, 6.0, 6.2), Finding.DIFFERENT),
    ("a small one that is sure", (0.9, 1.1, 1.0, 1.05, 0.95, 1.0), Finding.NEGLIGIBLE),
    ("none", (0.2, -0.3, 0.1, -0.1, 0.3, -0.2), Finding.SAME),
    ("too much noise to tell", (9.0, -7.0, 4.0, -8.0, 11.0, -3.0), Finding.OPEN),
    ("five blocks", (6.1, 5.8, 6.3, 5.9, 6.0), Finding.NOT_ENOUGH),
    ("nothing", (), Finding.NOT_ENOUGH),
]


@pytest.mark.parametrize(("percents", "finding"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_findings(percents: tuple[float, ...], finding: Finding) -> None:
    """Each kind of outcome is told from the others, with 2 % as what matters."""
    assert judge(of(*percents), order="random", matters=2.0).finding is finding


SIGNS = [
    ((1, 2, 3, 4, 5, 6), "random", 2 / 64),
    ((1, 2, 3, 4, 5, -1), "random", 6 / 64),
    ((1, -1), "random", 1.0),
    ((1, 2, 3), "random", 2 / 8),
    ((1, 2, 3, 4, 5, 6), "abba", 2 / 8),
    ((1, 2, 3), "abba", 2 / 4),
    ((0, 0, 0, 0, 0, 0), "random", 1.0),
    ((), "random", 1.0),
]


@pytest.mark.parametrize(("differences", "order", "p"), SIGNS)
def test_p_counts_the_schedules_that_could_have_been_drawn(
    differences: tuple[float, ...], order: str, p: float
) -> None:
    """Of six blocks there are 64 schedules where each has its coin and 8 in order abba; counted by hand for these."""
    assert permuted(differences, order).p == pytest.approx(p)


def p_by_schedules(differences: list[float], order: str, shift: float) -> float:
    """Return p of the differences less a shift, by turning them as every schedule would have."""
    own, places = [each - shift for each in differences], coins(len(differences), order)
    every = [
        abs(sum(-each if heads[coin] else each for each, (coin, _) in zip(own, places, strict=True)))
        for heads in product((False, True), repeat=tossed(len(differences), order))
    ]
    return sum(found >= abs(sum(own)) * (1 - 1e-12) for found in every) / len(every)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=8), st.sampled_from(ORDERS), st.sampled_from((0.95, 0.9, 0.5)))
def test_the_interval_holds_the_shifts_that_the_test_does_not_refuse(
    differences: list[float], order: str, level: float
) -> None:
    """Just inside of each end the test lets a shift stand, just outside it refuses it; and 0 is outside where p is small."""
    drawn = permuted(differences, order)
    assert isclose(drawn.p, p_by_schedules(differences, order, 0.0))
    interval = drawn.interval(level)
    if interval is None:
        assert least_p(len(differences), order) > 1 - level
        return
    low, high = interval
    assert low <= drawn.mean <= high and (not low <= 0 <= high) == (drawn.p <= 1 - level + 1e-12)
    for end, away in ((low, -1e-6), (high, 1e-6)):
        assert p_by_schedules(differences, order, end + away) <= 1 - level + 1e-12
        if low < drawn.mean < high:
            assert p_by_schedules(differences, order, end - away) > 1 - level


@pytest.mark.parametrize("order", ORDERS)
def test_drawn_schedules_agree_with_all_of_them(order: str) -> None:
    """Where schedules are drawn, p and interval are near those of the same differences where all schedules are tried."""
    differences = [0.3, 1.0, -0.2, 0.8, 0.5, -0.4, 0.9, 0.1, 0.7, -0.1, 0.2, 0.6, 0.4, -0.3] * (
        2 if order == "abba" else 1
    )
    few, many = permuted(differences, order), permuted([*differences, 0.0, 0.0], order)
    assert len(few.lows) == 2**13 - 1 and len(many.lows) == 20_000
    assert many.p == pytest.approx(few.p, abs=0.01)
    ends = few.interval(), many.interval()
    assert ends[0] is not None and ends[1] is not None
    shrunk = [end * len(differences) / (len(differences) + 2) for end in ends[0]]
    assert list(ends[1]) == pytest.approx(shrunk, abs=0.05)


FEW = [
    ("random", 5, 1 / 16, 6),
    ("random", 6, 1 / 32, 6),
    ("abba", 6, 1 / 4, 11),
    ("abba", 10, 1 / 16, 11),
    ("abba", 11, 1 / 32, 11),
]


@pytest.mark.parametrize(("order", "blocks", "least", "needed"), FEW)
def test_so_many_blocks_can_give_so_small_a_p_and_no_verdict_where_that_is_above_5_percent(
    order: str, blocks: int, least: float, needed: int
) -> None:
    """The least p is that of the schedule that ran and its mirror; where it is above 5 % any blocks are not enough data."""
    assert least_p(blocks, order) == least and fewest(order) == needed
    found = judge(of(*(6.0 + 0.01 * n for n in range(blocks))), order=order, matters=2.0)
    assert found.least == least and (found.finding is Finding.NOT_ENOUGH) == (blocks < needed)
    assert found.p == (None if blocks < needed else least)


@given(st.lists(st.floats(0.5, 2.0), min_size=11, max_size=13), st.sampled_from(ORDERS))
def test_swapped_levels_give_the_mirrored_verdict(ratios: list[float], order: str) -> None:
    """Whatever is measured, calling the levels the other way round changes the sign of everything and nothing else."""
    one = judge([Block(a=1.0, b=r) for r in ratios], order=order, matters=2.0)
    other = judge([Block(a=r, b=1.0) for r in ratios], order=order, matters=2.0)
    assert (one.finding, one.p) == (other.finding, pytest.approx(other.p))
    for mine, its in ((one.effect, other.effect), (one.low, other.high), (one.high, other.low)):
        assert mine is not None and its is not None
        assert log(1 + mine / 100) == pytest.approx(-log(1 + its / 100), abs=1e-9)


def test_a_trend_and_a_carry_over_are_doubted() -> None:
    """A level that falls from block to block, and a second run that always gains, are named; an even series is not."""
    falling = [Block(a=500.0 - 20 * n + n % 2, b=505.0 - 20 * n, b_first=n % 2 == 1) for n in range(6)]
    assert [doubt.what for doubt in judge(falling, order="random", matters=2.0).doubts] == ["trend"]
    carried = of(5.0, -5.1, 5.2, -4.9, 4.8, -5.2)
    assert [doubt.what for doubt in judge(carried, order="random", matters=2.0).doubts] == ["carry-over"]
    assert judge(of(6.1, 5.8, 6.3, 5.9, 6.0, 6.2), order="random", matters=2.0).doubts == ()


def test_blocks_that_spread_more_than_the_same_level_are_doubted() -> None:
    """Blocks ten times as uneven as the A/A stretch raise a doubt; as uneven as it, none."""
    calm = [(500.0, 502.0), (501.0, 499.5), (500.0, 499.0)]
    wild = of(9.0, -7.0, 4.0, -8.0, 11.0, -3.0)
    assert "spread" in [doubt.what for doubt in judge(wild, order="random", matters=2.0, same=calm).doubts]
    even = judge(of(6.1, 5.8, 6.3, 5.9, 6.0, 6.2), order="random", matters=2.0, same=calm)
    assert even.doubts == () and even.same_spread == pytest.approx(0.31, abs=0.02)


@pytest.mark.parametrize(("blocks", "by_r"), [(6, 1.435), (7, 1.273), (12, 0.889)])
def test_the_analytic_size_is_the_paired_t_tests(blocks: int, by_r: float) -> None:
    """power.t.test(n = 6, power = 0.8, type = "paired") asks for a delta of about 1.43 spreads, 7 for 1.27, 12 for 0.89."""
    assert analytic(blocks) == pytest.approx(by_r, abs=0.001)
    assert detectable(blocks, "random") <= 1.2 * analytic(blocks, alpha=reached(blocks, "random"))
    assert blocks == 6 or analytic(blocks) < detectable(blocks, "random") <= 1.2 * analytic(blocks)
    assert detectable(24, "abba") <= 1.2 * analytic(24) and reached(6, "random") == 1 / 32


@pytest.mark.parametrize("order", ORDERS)
def test_a_schedule_holds_each_level_once_a_block(order: str) -> None:
    """Pairs at the present level come first, then blocks; abba turns every second block round; a seed gives one schedule."""
    runs = schedule(("on", "off"), blocks=7, order=order, seed=3, pairs=2, now="off")
    assert [(run.pair, run.level) for run in runs[:4]] == [(1, "off"), (1, "off"), (2, "off"), (2, "off")]
    blocks = {n: [run.level for run in runs if run.block == n] for n in range(1, 8)}
    assert all(sorted(levels) == ["off", "on"] for levels in blocks.values())
    assert [run.number for run in runs] == list(range(1, 19))
    assert runs == schedule(("on", "off"), blocks=7, order=order, seed=3, pairs=2, now="off")
    if order == "abba":
        assert all(blocks[n] == blocks[n + 1][::-1] for n in (1, 3, 5))
    orders = {
        tuple(run.level for run in schedule(("on", "off"), blocks=7, order=order, seed=s, pairs=0, now="on"))
        for s in range(40)
    }
    assert len(orders) > 8


@pytest.mark.parametrize("blocks", [6, 7])
@pytest.mark.parametrize("kind", verdicts.DISTURBANCES)
def test_false_alarms_and_finds_of_a_few_hundred_experiments(kind: str, blocks: int) -> None:
    """Of 400 experiments without a difference few alarm under any disturbance, of 200 with the detectable size most find it (all
    of it: benchmarks/verdicts.py)."""
    given = {"blocks": blocks, "order": "random", "kind": kind}
    alarms = sum(verdicts.simulate(seed, planted=0.0, **given).finding in verdicts.FOUND for seed in range(400))
    assert verdicts.limit(alarms, 400, -verdicts.Z99) <= reached(blocks, "random")
    if kind == "AR(1) 0":
        planted = 100 * (exp(detectable(blocks, "random") * 2**0.5 * verdicts.SPREAD) - 1)
        assert sum(verdicts.simulate(s, planted=planted, **given).finding in verdicts.FOUND for s in range(200)) >= 150


def test_abba_under_a_period_of_four_runs_calls_no_more_differences_than_chance_makes() -> None:
    """Where a load comes and goes with the blocks of abba, 12 of them name a difference no more often than 3.1 % of the time."""
    found = [
        verdicts.simulate(seed, planted=0.0, blocks=12, order="abba", kind="period of 4 runs").finding in verdicts.FOUND
        for seed in range(400)
    ]
    assert verdicts.limit(sum(found), 400, -verdicts.Z99) <= 1 / 32
