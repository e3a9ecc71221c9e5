"""How often verdicts of experiments are right: python benchmarks/verdicts.py; fixed seeds, two minutes.

Experiments are simulated run by run: values whose logarithms depend on the run before, AR(1), at three strengths, in both
orders. Exit status 1 when a promise of docs/measuring.md is broken:

* without a difference, the false-alarm rate of 10,000 experiments: the lower 99 % limit is 5 % at most;
* with a difference of the size that is called detectable, at least 80 % are found, "not enough data" counting as not found;
* that size is at most 1.2 times the analytic one of a paired t test;
* the 95 % interval holds the planted difference in 90 to 99 % of 200 seeds;
* fewer than 6 blocks are "not enough data", whatever they hold.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from math import exp, log1p, sqrt

from exacell.measure.experiments.power import FEWEST, analytic, detectable
from exacell.measure.experiments.schedule import ORDERS, schedule
from exacell.measure.experiments.verdict import Block, Finding, Verdict, judge

SPREAD = 0.01
"""Standard deviation of the logarithm of a run's value."""
STRENGTHS = (0.0, 0.5, 0.9)
FOUND = (Finding.DIFFERENT, Finding.NEGLIGIBLE)
EXPERIMENTS, SEEDS, FINDINGS = 10_000, 200, 2_000
Z99 = 2.3263478740408408


def values(rng: random.Random, strength: float) -> Iterator[float]:
    """Yield the logarithms of runs' values at one level."""
    state = rng.gauss(0, 1)
    while True:
        yield SPREAD * state
        state = strength * state + sqrt(1 - strength * strength) * rng.gauss(0, 1)


def simulate(seed: int, *, blocks: int, order: str, strength: float, planted: float) -> Verdict:
    """Return the verdict on one simulated experiment whose second level is ``planted`` percent above the first."""
    drift = values(random.Random(f"verdicts|{seed}"), strength)
    runs = schedule(("a", "b"), blocks=blocks, order=order, seed=seed, pairs=3, now="a")
    measured = {run: exp(next(drift) + (log1p(planted / 100) if run.level == "b" else 0.0)) for run in runs}
    same: dict[int, list[float]] = {}
    pairs: dict[int, dict[str, float]] = {}
    first: dict[int, str] = {}
    for run, value in measured.items():
        if run.pair:
            same.setdefault(run.pair, []).append(value)
        else:
            pairs.setdefault(run.block, {})[run.level] = value
            first.setdefault(run.block, run.level)
    found = [Block(a=pairs[n]["a"], b=pairs[n]["b"], b_first=first[n] == "b") for n in pairs]
    return judge(found, order=order, matters=2.0, same=[(one, other) for one, other in same.values()])


def lower_limit(part: int, whole: int) -> float:
    """Return the lower 99 % limit of a share: Wilson's, one-sided."""
    p, z = part / whole, Z99
    middle = (p + z * z / (2 * whole)) / (1 + z * z / whole)
    return middle - z * sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole)) / (1 + z * z / whole)


def main() -> int:
    """Print a line for each promise and return the exit status."""
    broken = 0

    def told(good: bool, text: str) -> None:
        nonlocal broken
        broken += not good
        print(f"{'kept  ' if good else 'BROKEN'} {text}", flush=True)

    for blocks in (6, 12):
        for order in ORDERS:
            size = detectable(blocks, order)
            ratio = size / analytic(blocks)
            told(
                ratio <= 1.2,
                f"{blocks} blocks, {order}: detectable {size:.3f} spreads, {ratio:.3f} of the analytic size",
            )
            for strength in STRENGTHS:
                at = {"blocks": blocks, "order": order, "strength": strength}
                where = f"{blocks} blocks, {order}, AR(1) {strength}"
                alarms = sum(simulate(seed, planted=0.0, **at).finding in FOUND for seed in range(EXPERIMENTS))
                limit = lower_limit(alarms, EXPERIMENTS)
                told(limit <= 0.05, f"{where}: {alarms / EXPERIMENTS:.2%} false alarms, at least {limit:.2%}")
                of_pair = SPREAD * sqrt(2 * (1 - strength))
                planted = 100 * (exp(size * of_pair) - 1)
                seen = sum(simulate(seed, planted=planted, **at).finding in FOUND for seed in range(FINDINGS))
                told(seen >= 0.8 * FINDINGS, f"{where}: {seen / FINDINGS:.1%} of {planted:.2f} % found")
                held = 0
                for seed in range(SEEDS):
                    verdict = simulate(seed, planted=6.0, **at)
                    held += verdict.low is not None and verdict.high is not None and verdict.low <= 6.0 <= verdict.high
                told(0.9 <= held / SEEDS <= 0.99, f"{where}: {held / SEEDS:.1%} of intervals hold the planted 6 %")
    few = [
        simulate(seed, blocks=blocks, order=order, strength=0.0, planted=900.0).finding
        for blocks in range(1, FEWEST)
        for order in ORDERS
        for seed in range(20)
    ]
    told(set(few) == {Finding.NOT_ENOUGH}, f"1 to {FEWEST - 1} blocks: {len(few)} experiments, no verdict on any")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
