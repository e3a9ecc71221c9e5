"""How often verdicts of experiments are right: python benchmarks/verdicts.py; fixed seeds, half an hour (--quick: two minutes).

Experiments are simulated run by run, under what disturbs real ones: runs that depend on the one before (AR(1) at three
strengths), periods of 4 and 4.3 runs, a drift, steps, heavy tails. Exit status 1 when a promise of docs/measuring.md is broken:

* without a difference, the false-alarm rate of 20,000 experiments: the upper 99 % limit is 6 % at most;
* with a difference of the size that is called detectable, at least 80 % are found, "not enough data" counting as not found;
* that size is at most 1.2 times the analytic one of a paired t test at 5 %;
* the 95 % interval holds the planted difference in 90 to 99 %, of 2,000;
* a quick run has a tenth of the experiments, and calls shares and rates broken only where chance would not explain it (99 %);
* fewer blocks than can give 5 % are "not enough data", whatever they hold;
* of three levels and more one at least is called different without a reason in 5 % of 2,000 experiments at most, under four of
  the disturbances, whether all are alike or another one is far away: the lower 99 % limit of the rate is 5 % at most.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Mapping
from math import exp, fsum, log1p, pi, sin, sqrt

from exacell.measure.experiments.family import family
from exacell.measure.experiments.permutation import of_coins
from exacell.measure.experiments.power import analytic, detectable, findable, reached
from exacell.measure.experiments.schedule import ALPHA, ORDERS, fewest, schedule, tossed
from exacell.measure.experiments.verdict import Block, Finding, Verdict, judge

SPREAD = 0.01
"""Standard deviation of the logarithm of a run's value, but for what disturbs it."""
SHAPES = ((7, "random"), (12, "random"), (24, "abba"))
"""Blocks and orders that are tried: the default, more, and 24 in order abba, as two blocks share a coin there."""
FOUND = (Finding.DIFFERENT, Finding.NEGLIGIBLE)
EXPERIMENTS, FINDINGS = 20_000, 2_000
Z99 = 2.3263478740408408

Made = Callable[[random.Random, int], list[float]]
"""Makes the logarithms of so many runs' values, in units of SPREAD."""


def depending(strength: float) -> Made:
    """Return what makes runs that depend on the one before."""

    def made(rng: random.Random, runs: int) -> list[float]:
        found = [rng.gauss(0, 1)]
        while len(found) < runs:
            found.append(strength * found[-1] + sqrt(1 - strength * strength) * rng.gauss(0, 1))
        return found

    return made


def periodic(period: float) -> Made:
    """Return what makes runs under a load that comes and goes, three spreads up and down, beginning anywhere."""

    def made(rng: random.Random, runs: int) -> list[float]:
        phase = rng.random()
        return [rng.gauss(0, 1) + 3 * sin(2 * pi * (run / period + phase)) for run in range(runs)]

    return made


def drifting(rng: random.Random, runs: int) -> list[float]:
    """Return runs that get slower by half a spread each."""
    return [rng.gauss(0, 1) + run / 2 for run in range(runs)]


def stepping(rng: random.Random, runs: int) -> list[float]:
    """Return runs of which those between two of them are five spreads slower."""
    begin, end = sorted(rng.sample(range(runs + 1), 2))
    return [rng.gauss(0, 1) + 5 * (begin <= run < end) for run in range(runs)]


def heavy(rng: random.Random, runs: int) -> list[float]:
    """Return runs of which one in ten spreads ten times as far."""
    return [rng.gauss(0, 10 if rng.random() < 0.1 else 1) for _ in range(runs)]


DISTURBANCES: Mapping[str, Made] = {
    "AR(1) 0": depending(0.0),
    "AR(1) 0.5": depending(0.5),
    "AR(1) 0.9": depending(0.9),
    "period of 4 runs": periodic(4),
    "period of 4.3 runs": periodic(4.3),
    "drift": drifting,
    "steps": stepping,
    "heavy tails": heavy,
}


def simulated(
    seed: int, *, blocks: int, order: str, kind: str, planted: float
) -> tuple[list[Block], list[tuple[float, float]]]:
    """Return blocks and A/A pairs of an experiment whose second level is ``planted`` percent above the first."""
    runs = schedule(("a", "b"), blocks=blocks, order=order, seed=seed, pairs=3, now="a")
    logs = DISTURBANCES[kind](random.Random(f"verdicts|{seed}"), len(runs))
    away = log1p(planted / 100)
    values = [exp(SPREAD * own + (away if run.level == "b" else 0.0)) for run, own in zip(runs, logs, strict=True)]
    twos = list(zip(runs[::2], values[::2], values[1::2], strict=True))
    return (
        [
            Block(a=one, b=other) if run.level == "a" else Block(a=other, b=one, b_first=True)
            for run, one, other in twos
            if run.block
        ],
        [(one, other) for run, one, other in twos if run.pair],
    )


def simulate(seed: int, *, blocks: int, order: str, kind: str, planted: float) -> Verdict:
    """Return the verdict on one simulated experiment."""
    found, same = simulated(seed, blocks=blocks, order=order, kind=kind, planted=planted)
    return judge(found, order=order, matters=2.0, same=same)


def errs(seed: int, *, levels: int, blocks: int, order: str, kind: str, away: float) -> bool:
    """Return whether a level that does as the first one is called different, where the last is ``away`` percent above."""
    names = tuple("abcdef"[:levels])
    runs = schedule(names, blocks=blocks, order=order, seed=seed, pairs=0, now="a")
    logs = DISTURBANCES[kind](random.Random(f"verdicts|{seed}"), len(runs))
    own = [
        SPREAD * value + (log1p(away / 100) if run.level == names[-1] else 0.0)
        for run, value in zip(runs, logs, strict=True)
    ]
    dealt = [
        dict(sorted((run.level, value) for run, value in zip(runs, own, strict=True) if run.block == block))
        for block in range(1, blocks + 1)
    ]
    found = family(dealt, "a", order, seed=seed)
    return any(p <= ALPHA for level, p in found.items() if not (away and level == names[-1]))


def spread_of_coins(*, blocks: int, order: str, kind: str) -> float:
    """Return how far the mean difference of blocks that share a coin spreads: the root of its mean square, by other seeds."""
    squares = []
    for seed in range(10**6, 10**6 + FINDINGS):
        found, _ = simulated(seed, blocks=blocks, order=order, kind=kind, planted=0.0)
        squares += [(own / count) ** 2 for own, count in of_coins([block.difference for block in found], order)]
    return sqrt(fsum(squares) / len(squares))


def limit(part: int, whole: int, z: float) -> float:
    """Return the one-sided limit of a share, Wilson's: the lower one for a ``z`` below 0."""
    p = part / whole
    middle = (p + z * z / (2 * whole)) / (1 + z * z / whole)
    return middle + z * sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole)) / (1 + z * z / whole)


def reaches(part: int, whole: int, least: float, quick: bool) -> bool:
    """Return whether a share is as large as promised; of a quick run's few experiments its upper 99 % limit has to be."""
    return (limit(part, whole, Z99) if quick else part / whole) >= least


def several(experiments: int) -> int:
    """Print a line for each experiment of many levels, and return how many promises are broken."""
    broken = 0
    for levels, blocks, order in ((3, 6, "random"), (4, 6, "random"), (3, 12, "abba")):
        for kind in ("AR(1) 0", "AR(1) 0.9", "drift", "heavy tails"):
            for away in (0.0, 20.0):
                given = {"levels": levels, "blocks": blocks, "order": order, "kind": kind, "away": away}
                wrong = sum(errs(seed, **given) for seed in range(experiments))
                good = limit(wrong, experiments, -Z99) <= ALPHA
                broken += not good
                print(
                    f"{'kept  ' if good else 'BROKEN'} {levels} levels, {blocks} blocks, {order}, {kind}, "
                    f"{'one far away' if away else 'all alike'}: {wrong / experiments:.2%} false alarms",
                    flush=True,
                )
    return broken


def main(quick: bool = False) -> int:
    """Print a line for each promise and a row of a table for each disturbance, and return the exit status."""
    broken = 0
    experiments, findings = (EXPERIMENTS // 10, FINDINGS // 10) if quick else (EXPERIMENTS, FINDINGS)

    def told(good: bool, text: str) -> None:
        nonlocal broken
        broken += not good
        print(f"{'kept  ' if good else 'BROKEN'} {text}", flush=True)

    rows: dict[str, list[str]] = {kind: [] for kind in DISTURBANCES}
    for blocks, order in SHAPES:
        size, at = detectable(blocks, order), reached(blocks, order)
        ratio = size / analytic(blocks)
        told(
            ratio <= 1.2,
            f"{blocks} blocks, {order}: detectable {size:.3f} spreads, {ratio:.3f} of the analytic size at 5 %, "
            f"{size / analytic(blocks, alpha=at):.3f} of that at the {at:.1%} that so many blocks can give",
        )
        for kind in DISTURBANCES:
            given = {"blocks": blocks, "order": order, "kind": kind}
            where = f"{blocks} blocks, {order}, {kind}"
            alarms = sum(simulate(seed, planted=0.0, **given).finding in FOUND for seed in range(experiments))
            most = limit(alarms, experiments, Z99)
            least = limit(alarms, experiments, -Z99)
            told(
                (least if quick else most) <= 0.06,
                f"{where}: {alarms / experiments:.2%} false alarms, at most {most:.2%}",
            )
            planted = 100 * (exp(findable(tossed(blocks, order)) * spread_of_coins(**given)) - 1)
            seen = held = 0
            for seed in range(findings):
                verdict = simulate(seed, planted=planted, **given)
                seen += verdict.finding in FOUND
                assert verdict.low is not None and verdict.high is not None
                held += verdict.low <= planted <= verdict.high
            told(
                reaches(seen, findings, 0.8, quick),
                f"{where}: {seen / findings:.1%} of {planted:.2f} % found",
            )
            told(
                reaches(held, findings, 0.9, quick) and reaches(findings - held, findings, 0.01, quick),
                f"{where}: {held / findings:.1%} of intervals hold it",
            )
            rows[kind].append(f"{alarms / experiments:.1%} · {seen / findings:.0%} · {held / findings:.1%}")
    few = [
        simulate(seed, blocks=blocks, order=order, kind="AR(1) 0", planted=900.0).finding
        for order in ORDERS
        for blocks in range(1, fewest(order))
        for seed in range(20)
    ]
    told(set(few) == {Finding.NOT_ENOUGH}, f"fewer blocks than can give 5 %: {len(few)} experiments, no verdict on any")
    broken += several(findings)
    print(f"| | {' | '.join(f'{blocks} blocks, {order}' for blocks, order in SHAPES)} |")
    for kind, cells in rows.items():
        print(f"| {kind} | {' | '.join(cells)} |")
    return 1 if broken else 0


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="simulate experiments and count how often their verdicts are right")
    options.add_argument("--quick", action="store_true", help="fewer experiments: two minutes in place of half an hour")
    sys.exit(main(options.parse_args().quick))
