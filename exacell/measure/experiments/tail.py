"""Results that a mean does not show: outliers at each level, read hits, and the lengths of single waits. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.measure.experiments.permutation import permuted
from exacell.measure.experiments.record import Design, Experiment, block_runs, hits_at, sizes_at


@dataclass(frozen=True, kw_only=True)
class Outliers:
    """Redo writes over 500 ms that a database waited for, as cells count them, in the blocks whose two runs were both counted.

    Attributes:
        counts, writes, prevented: outliers, all redo writes, and outliers that the flash log prevented; each for the tried
            level and
            the base.
        blocks: the numbers of these blocks.
        missing: the runs of the other blocks that were not counted.
        low, high: 95 % interval of the number of outliers by which the tried level has more (below 0: fewer), from the
            permutation
            test; None if there are too few blocks.
    """

    counts: tuple[int, int]
    writes: tuple[int, int]
    prevented: tuple[int, int]
    blocks: tuple[int, ...]
    missing: tuple[int, ...] = ()
    low: float | None = None
    high: float | None = None


def outliers(experiment: Experiment) -> Outliers:
    """Return the outliers at both levels."""
    d = experiment.design
    whole, missing = [], []
    for block, runs in block_runs(experiment):
        if all(run.redo is not None and run.outliers is not None for run in runs):
            whole.append((block, {run.level: run for run in runs}))
        else:
            missing += [run.number for run in runs if run.redo is None or run.outliers is None]
    differences = [float((runs[d.levels[0]].outliers or 0) - (runs[d.levels[1]].outliers or 0)) for _, runs in whole]
    drawn = permuted(differences, d.order, seed=d.seed, places=[block - 1 for block, _ in whole]).interval()

    def both(name: str) -> tuple[int, int]:
        tried, base = (sum(getattr(runs[level], name) or 0 for _, runs in whole) for level in d.levels)
        return tried, base

    return Outliers(
        counts=both("outliers"),
        writes=both("redo"),
        prevented=both("prevented"),
        blocks=tuple(block for block, _ in whole),
        missing=tuple(missing),
        low=None if drawn is None else round(drawn[0] * len(whole), 6),
        high=None if drawn is None else round(drawn[1] * len(whole), 6),
    )


def of_flash_log(design: Design) -> bool:
    """Return whether the factor is flash logging, whose purpose is to avoid outliers, not to lower the mean."""
    return design.factor == "flashlog" or design.of.lower() == "flashlog"


def beside_the_mean(experiment: Experiment) -> str:
    """Return the part of the verdict about outliers; empty if the experiment is not about the flash log."""
    if not of_flash_log(experiment.design):
        return ""
    found = outliers(experiment)
    if not found.blocks or not sum(found.writes):
        return "; how many redo writes took over 500 ms was not counted"
    part = f", in {len(found.blocks)} blocks" if found.missing else ""
    if max(found.writes) > _UNEVEN * min(found.writes):
        part += f", of {found.writes[0]:,} and {found.writes[1]:,} writes"
    tried, base = found.counts
    if not tried and not base:
        return f"; no redo write over 500 ms at either level{part}"
    sure = "" if found.low is None or found.high is None else f" (95 %: {found.low:+,.0f} to {found.high:+,.0f})"
    return f"; {counted(tried, 'redo write')} over 500 ms in place of {base:,}{sure}{part}"


_UNEVEN = 1.1
"""Ratio of redo writes at two levels above which their counts alone are misleading."""


def outlier_sentences(experiment: Experiment) -> Iterator[str]:
    """Yield how many outliers there were at each level, and which runs are not included."""
    found = outliers(experiment)
    name, told = experiment.design.said, []
    for place, level in enumerate(experiment.design.levels):
        more = f" ({found.prevented[place]:,} more were prevented)" if found.prevented[place] else ""
        told.append(f"{found.counts[place]:,} in {found.writes[place]:,} redo writes with {name} {level}{more}")
    if found.blocks and all(found.writes):
        yield f"Outliers (over 500 ms), as the cells counted them for all databases: {', '.join(told)}."
    if found.missing and (found.blocks or of_flash_log(experiment.design)):
        runs = ", ".join(map(str, found.missing))
        what = "these sums leave out their blocks" if found.blocks else "so there are no sums"
        yield (
            f"Outliers were not counted in {'runs' if len(found.missing) > 1 else 'run'} {runs} (a cell collected nothing in it, "
            f"does not count them, or its counters restarted): {what}."
        )


def hit_sentences(experiment: Experiment) -> Iterator[str]:
    """Yield the share of reads that the flash cache served at each level, the largest first, if the database shows it."""
    found = sorted(hits_at(experiment).items(), key=lambda pair: -pair[1])
    if found:
        told = ", ".join(f"{share:.1%} with {level}" for level, share in found)
        yield f"Read hits of the flash cache, of all reads of {experiment.design.db}: {told}."


def size_sentences(experiment: Experiment) -> Iterator[str]:
    """Yield the lengths of single waits at each level, if the database shows them."""
    found = {level: sizes_at(experiment, level) for level in experiment.design.levels}
    if all(waits.n for waits in found.values()):
        told = (
            f"with {experiment.design.said} {level} half are shorter than {waits.quantile(0.5):,.0f} us, 99.9 % than "
            f"{waits.quantile(0.999):,.0f} us, and {waits.above(_HALF_SECOND):,} of {waits.n:,} took half a second or more"
            for level, waits in found.items()
        )
        yield f"Single waits by powers of two (V$EVENT_HISTOGRAM_MICRO), of which no test is made: {'; '.join(told)}."


_HALF_SECOND = 1 << 19
"""Microseconds: the power of two that is nearest to the cells' limit for an outlier."""


def size_rows(experiment: Experiment) -> list[dict[str, Any]]:
    """Return a row for each power of two microseconds: how many waits of each level are in that bin, as a number and per
    million; empty if the database does not show them.
    """
    found = {level: sizes_at(experiment, level) for level in experiment.design.levels}
    counts = {level: dict(zip(waits.values, waits.counts, strict=True)) for level, waits in found.items()}
    if not all(counts.values()):
        return []
    return [
        {
            "cell": None,
            "shorterThanUs": size,
            **{f"{level}Waits": its.get(size, 0) for level, its in counts.items()},
            **{
                f"{level}PerMillion": round(1e6 * its.get(size, 0) / found[level].n, 1) for level, its in counts.items()
            },
        }
        for size in sorted({size for its in counts.values() for size in its})
    ]
