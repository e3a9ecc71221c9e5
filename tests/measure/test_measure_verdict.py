"""What blocks of runs show: differences that are there are named, others are not, and too few blocks are no verdict."""

from __future__ import annotations

from math import exp, log

import pytest
from hypothesis import given, strategies as st

from benchmarks import verdicts
from exacell.measure.experiments.power import FEWEST, analytic, detectable
from exacell.measure.experiments.schedule import ORDERS, schedule
from exacell.measure.experiments.verdict import Block, Finding, judge, sign_flip


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
    assert judge(of(*percents), order="abba", matters=2.0).finding is finding


def test_the_interval_is_students_in_random_order_and_wider_in_abba() -> None:
    """Six differences of mean 6 % and known spread have the interval that R's t.test prints for their logarithms."""
    blocks = of(6.1, 5.8, 6.3, 5.9, 6.0, 6.2)
    logs = [block.difference for block in blocks]
    mean = sum(logs) / 6
    deviation = (sum((each - mean) ** 2 for each in logs) / 5) ** 0.5
    half = 2.570581835636197 * deviation / 6**0.5  # qt(0.975, 5)
    plain, wide = (judge(blocks, order=order, matters=2.0) for order in ("random", "abba"))
    assert plain.low == pytest.approx(100 * (exp(mean - half) - 1), rel=1e-9)
    assert plain.high == pytest.approx(100 * (exp(mean + half) - 1), rel=1e-9)
    assert plain.effect == wide.effect == pytest.approx(100 * (exp(mean) - 1))
    assert plain.low is not None and wide.low is not None and wide.low < plain.low


SIGNS = [((1, 2, 3, 4, 5, 6), 2 / 64), ((1, 2, 3, 4, 5, -1), 6 / 64), ((1, -1), 1.0), ((1, 2, 3), 2 / 8)]


@pytest.mark.parametrize(("differences", "p"), SIGNS)
def test_sign_flips_are_counted(differences: tuple[float, ...], p: float) -> None:
    """Patterns of signs whose sum is as far from 0 are counted, by hand for these."""
    assert sign_flip(differences) == pytest.approx(p)


def test_drawn_sign_flips_agree_with_all_of_them() -> None:
    """Where patterns are drawn, the probability is near that of the same differences in a set whose patterns are all tried."""
    differences = [0.3, 1.0, -0.2, 0.8, 0.5, -0.4, 0.9, 0.1, 0.7, -0.1, 0.2, 0.6, 0.4, -0.3]
    assert sign_flip([*differences, 0.0]) == pytest.approx(sign_flip(differences), abs=0.01)


@given(st.lists(st.floats(0.5, 2.0), min_size=FEWEST, max_size=9), st.sampled_from(ORDERS))
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
    assert [doubt.what for doubt in judge(falling, order="abba", matters=2.0).doubts] == ["trend"]
    carried = of(5.0, -5.1, 5.2, -4.9, 4.8, -5.2)
    assert [doubt.what for doubt in judge(carried, order="abba", matters=2.0).doubts] == ["carry-over"]
    assert judge(of(6.1, 5.8, 6.3, 5.9, 6.0, 6.2), order="abba", matters=2.0).doubts == ()


def test_blocks_that_spread_more_than_the_same_level_are_doubted() -> None:
    """Blocks ten times as uneven as the A/A stretch raise a doubt; as uneven as it, none."""
    calm = [(500.0, 502.0), (501.0, 499.5), (500.0, 499.0)]
    wild = of(9.0, -7.0, 4.0, -8.0, 11.0, -3.0)
    assert "spread" in [doubt.what for doubt in judge(wild, order="abba", matters=2.0, same=calm).doubts]
    even = judge(of(6.1, 5.8, 6.3, 5.9, 6.0, 6.2), order="abba", matters=2.0, same=calm)
    assert even.doubts == () and even.same_spread == pytest.approx(0.31, abs=0.02)


@pytest.mark.parametrize(("blocks", "by_r"), [(6, 1.435), (12, 0.889)])
def test_the_analytic_size_is_the_paired_t_tests(blocks: int, by_r: float) -> None:
    """power.t.test(n = 6, power = 0.8, type = "paired") asks for a delta of about 1.43 spreads, n = 12 for 0.89."""
    assert analytic(blocks) == pytest.approx(by_r, abs=0.001)
    assert all(analytic(blocks) < detectable(blocks, order) <= 1.2 * analytic(blocks) for order in ORDERS)


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


@pytest.mark.parametrize("order", ORDERS)
def test_false_alarms_and_finds_of_a_few_hundred_experiments(order: str) -> None:
    """Of 400 experiments without a difference few alarm, of 200 with the detectable size most find it (all of it:
    benchmarks/verdicts.py)."""
    at = {"blocks": 6, "order": order, "strength": 0.5}
    alarms = sum(verdicts.simulate(seed, planted=0.0, **at).finding in verdicts.FOUND for seed in range(400))
    assert verdicts.lower_limit(alarms, 400) <= 0.05
    planted = 100 * (exp(detectable(6, order) * verdicts.SPREAD) - 1)
    assert sum(verdicts.simulate(seed, planted=planted, **at).finding in verdicts.FOUND for seed in range(200)) >= 150
