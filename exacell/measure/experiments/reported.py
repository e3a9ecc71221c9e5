"""Turn an experiment into a finding, with everything that a report shows besides sentences. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from statistics import fmean, median
from typing import Any

from exacell.core.units import counted, format_duration
from exacell.core.values import dataclass
from exacell.measure.delta import told_by_all
from exacell.measure.experiments.record import Experiment, Measured, sizes_at, to_json
from exacell.measure.experiments.said import (
    MEASURES,
    against,
    block_rows,
    columns_of,
    difference_of,
    sentences,
    verdict_rows,
    whose,
)
from exacell.measure.experiments.tail import outliers, size_rows
from exacell.measure.experiments.verdict import Verdict
from exacell.measure.finding import Artifact, Change, Chart, Distribution, Finding, Form, Mark, Series, Side, Table

_FIGURES = ("figure", "value", "unit", "low", "high", "means")
_SAME = "A/A"


@dataclass(frozen=True, kw_only=True)
class Timed:
    """A run with its place in time.

    Attributes:
        end: seconds from the experiment's begin to the run's end, without pauses.
        before: seconds between the end of the run before (or the begin of the experiment) and its own begin.
        pause: the part of ``before`` that was a pause for production, or is longer than usual; 0.0 for none.
    """

    run: Measured
    end: float
    before: float
    pause: float


_PAUSE = 60.0
"""Seconds by which the time between two runs must be longer than usual to count as a pause."""


def timed(experiment: Experiment) -> list[Timed]:
    """Return the runs in order with their places in time; a run without a begin counts as having taken no time."""
    runs, last = experiment.runs, _seconds(experiment.began)
    gaps = []
    for run in runs:
        gaps.append(max(0.0, _seconds(run.began or run.at) - last))
        last = _seconds(run.at)
    usual = median(gaps) if gaps else 0.0
    found, now = [], 0.0
    for run, gap in zip(runs, gaps, strict=True):
        gave_way = sum(pause.seconds for pause in experiment.pauses if pause.run == run.number)
        pause = min(gap, max(gave_way, gap - usual if gap - usual > _PAUSE else 0.0))
        now += gap - pause + _seconds(run.at) - _seconds(run.began or run.at)
        found.append(Timed(run=run, end=now, before=gap, pause=pause))
    return found


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def finding(experiment: Experiment, changes: Sequence[Change], artifacts: Sequence[Artifact] = ()) -> Finding:
    """Return the finding of an experiment.

    Args:
        changes: changes of the journal, from the experiment's begin to its end.
        artifacts: files that belong to it besides its own record.
    """
    d = experiment.design
    blocks = tuple({name: row[name] for name in row if name != "cell"} for row in block_rows(experiment))
    left = len(experiment.left)
    runs, sizes = tuple(_run_rows(experiment)), tuple(size_rows(experiment))
    told = tuple(name for name in _RUNS if any(row[name] is not None for row in runs))
    return Finding(
        title=f"{experiment.rack}: experiment {experiment.name}, {d.said} {against(d)}{whose(d)}",
        sentences=(
            *sentences(experiment),
            *([_BY_SIZE if sizes else _MEANS_ALONE.get(d.measure, _MEANS_OF_WAITS)] if experiment.runs else ()),
        ),
        figures=Table(title="What was found", columns=_FIGURES, rows=tuple(_all_figures(experiment))),
        tables=(
            Table(title="Blocks", columns=(*(name for name, _ in columns_of(d)), "at"), rows=blocks),
            Table(title="Runs in order", columns=told, rows=runs),
            Table(
                title="Waits by size",
                columns=tuple(name for name in sizes[0] if name != "cell") if sizes else (),
                rows=sizes,
            ),
        ),
        distributions=tuple(
            Distribution(
                name=f"{d.said} {level}",
                what=MEASURES[d.measure],
                unit="µs",
                counts=sizes_at(experiment, level),
            )
            for level in (d.levels if sizes else ())
        ),
        charts=tuple(charts(experiment)),
        sides=tuple(_sides(experiment)),
        changes=tuple(changes),
        repeat=(experiment.statement,),
        artifacts=(*_own_files(experiment), *artifacts),
        notes=(f"{left} of {len(experiment.schedule)} runs were not made ({experiment.state})",) if left else (),
        records=tuple({"cell": None, **row} for row in verdict_rows(experiment)),
    )


def _all_figures(experiment: Experiment) -> Iterator[dict[str, Any]]:
    """Yield the figures of each comparison, with its level if there are several."""
    for one, (level, verdict) in zip(experiment.comparisons, experiment.verdicts().items(), strict=True):
        for row in _figures(one, verdict):
            named = f"{row['figure']} ({level})" if len(experiment.design.tried) > 1 else row["figure"]
            yield {**row, "figure": named}


def _figures(experiment: Experiment, found: Verdict) -> Iterator[dict[str, Any]]:
    """Yield the verdict's figures, with the spread of the A/A stretch next to the effect."""
    d = experiment.design
    base = f"{d.said} {d.base}"
    told: tuple[tuple[str, float | None, str], ...] = (
        ("difference", found.effect, f"in percent of {base}; low and high are its 95 % interval"),
        ("A/A spread", found.same_spread, f"of two runs at {experiment.same_level}, where there is no difference"),
        ("spread of blocks", found.spread, "standard deviation of a block's difference"),
        ("detectable", found.detectable, f"a difference that {found.blocks} blocks find four times out of five"),
        ("matters", found.matters, "a smaller difference is of no interest"),
    )
    for name, value, means in told:
        limits = {"low": found.low, "high": found.high} if name == "difference" else {}
        if value is not None:
            yield {"figure": name, "value": value, "unit": "%", **limits, "means": means}
    slow = outliers(experiment)
    if slow.blocks and sum(slow.writes):
        means = f"{slow.counts[0]:,} with {d.said} {d.tried[0]} in place of {slow.counts[1]:,}, of all databases"
        value, ends = slow.counts[0] - slow.counts[1], {"low": slow.low, "high": slow.high}
        yield {"figure": "redo writes over 500 ms", "value": value, "unit": "writes", **ends, "means": means}
    if found.p is not None:
        means = "how often the random order alone gives one as large (permutation test)"
        yield {"figure": "p", "value": found.p, "unit": "", "means": means}


_RUNS = (
    "run",
    "part",
    "level",
    "us",
    "count",
    "ended",
    "seconds",
    "pauseSeconds",
    "redoWrites",
    "outliers",
    "prevented",
)


def _run_rows(experiment: Experiment) -> Iterator[dict[str, Any]]:
    for each in timed(experiment):
        run = each.run
        yield {
            "run": run.number,
            "part": f"block {run.block}" if run.block else f"{_SAME} {run.pair}",
            "level": run.level,
            "us": round(run.value, 3),
            "count": run.count,
            "ended": run.at,
            "seconds": round(_seconds(run.at) - _seconds(run.began), 3) if run.began else None,
            "pauseSeconds": round(each.pause) or None,
            "redoWrites": run.redo,
            "outliers": run.outliers,
            "prevented": run.prevented,
        }


def charts(experiment: Experiment) -> Iterator[Chart]:
    """Yield the timeline of the runs, then the difference of each block beside that of each A/A pair."""
    if not experiment.runs:
        return
    d = experiment.design
    what, factor = MEASURES[d.measure], d.said
    found = timed(experiment)
    unit, each = ("minutes", 60) if found[-1].end > _SHORT else ("seconds", 1)
    levels = {f"{factor} {level}": [t for t in found if t.run.block and t.run.level == level] for level in d.levels}
    groups = {**levels, f"{_SAME}, {experiment.same_level}": [t for t in found if not t.run.block]}
    yield Chart(
        title=f"{what} of each run in time, pauses left out, and the mean of each level",
        x=f"{unit} since it began",
        y="µs on average",
        series=tuple(_dots(name, group, each) for name, group in groups.items() if group),
        form=Form.POINTS,
    )
    same = [100 * (other / one - 1) for one, other in experiment.same]
    rows, verdicts = block_rows(experiment), experiment.verdicts()
    differences = {level: [float(row[difference_of(d, level)]) for row in rows] for level in d.tried}
    series = (
        *(
            (f"{factor} {level} against {d.base}", enumerate(of, len(same)), _mean(verdicts[level]))
            for level, of in differences.items()
        ),
        (f"{_SAME}: the second run against the first", enumerate(same), None),
    )
    yield Chart(
        title="difference of each block, beside that of two runs at the same level (A/A)"
        + ("; the mean with its 95 % interval" if any(map(_mean, verdicts.values())) else ""),
        x=f"{_SAME} pairs, then blocks",
        y="difference in %",
        series=tuple(
            Series(name=name, points=points, mean=mean)
            for name, values, mean in series
            if (points := tuple((float(place), value) for place, value in values))
        ),
        form=Form.POINTS,
        names=(*(f"{_SAME} {pair}" for pair in range(1, len(same) + 1)), *(str(row + 1) for row in range(len(rows)))),
    )


def _mean(found: Verdict) -> tuple[float, float, float] | None:
    """Return the difference with its interval; None if there are too few blocks for one."""
    if found.effect is None or found.low is None or found.high is None:
        return None
    return found.effect, found.low, found.high


_MEANS_OF_WAITS = (
    "The database's counters give only the mean of each run: there is no distribution of single waits here, so no tail. Traces "
    "have both: trace on, trace collect, compare."
)
_BY_SIZE = (
    "The mean of each run is of the database's counters. How single waits are distributed is of V$EVENT_HISTOGRAM_MICRO, whose "
    "sizes are powers of two: it is known to a factor of two. Traces have each wait: trace on, trace collect, compare."
)
_MEANS_ALONE = {
    "flashlog": "The cells' counters give only the mean of each run: there is no distribution of single redo requests here.",
    "fio": "Only the mean of each run is kept: there is no distribution of single I/Os here. fio's json+ output has it: import "
    "fio, compare.",
}
"""Measure → why a report has no distribution of single values for it."""


_SHORT = 180
"""Length in seconds up to which an experiment's timeline is in seconds."""


def _dots(name: str, found: Sequence[Timed], unit: int) -> Series:
    mean = fmean(each.run.value for each in found)
    return Series(
        name=name,
        mean=(mean, mean, mean),
        points=tuple((each.end / unit, each.run.value) for each in found),
        marks=tuple(
            Mark(x=each.end / unit, y=each.run.value, label=f"after a pause of {format_duration(round(each.pause))}")
            for each in found
            if each.pause
        ),
    )


def _sides(experiment: Experiment) -> Iterator[Side]:
    """Yield the base, then the levels that are tried, with the conditions of the first run."""
    d = experiment.design
    conditions = told_by_all(experiment.passports)
    for level in (d.base, *d.tried):
        runs = [run for run in experiment.runs if run.block and run.level == level]
        waits = sum(run.count for run in runs)
        mean = f", {sum(run.value * run.count for run in runs) / waits:,.1f} µs on average" if waits else ""
        yield Side(
            name=f"{d.said} {level}",
            about=f"{counted(len(runs), 'run')}, {waits:,} counted{mean}",
            passport={f"{d.said}{whose(d, 'of')}": level, **conditions},
        )


def _own_files(experiment: Experiment) -> Iterator[Artifact]:
    """Yield the runs as a CSV file for R, and the stored experiment."""
    rows = [",".join("" if row[name] is None else str(row[name]) for name in _RUNS) for row in _run_rows(experiment)]
    yield Artifact(name="runs.csv", content="\n".join((",".join(_RUNS), *rows, "")).encode())
    body = json.dumps(to_json(experiment), ensure_ascii=False, indent=1)
    yield Artifact(name="experiment.json", content=f"{body}\n".encode())
