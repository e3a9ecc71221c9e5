"""The sentences of an experiment, before it begins and when it has ended, and the table of its blocks. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import fsum, log1p
from typing import Any

from exacell.core.units import counted, format_duration, parse_duration
from exacell.measure.experiments.fairness import in_run
from exacell.measure.experiments.power import detectable, finds_more
from exacell.measure.experiments.record import Design, Experiment, block_runs
from exacell.measure.experiments.schedule import fewest, least_p, tossed
from exacell.measure.experiments.tail import beside_the_mean, hit_sentences, outlier_sentences, outliers, size_sentences
from exacell.measure.experiments.verdict import Doubt, Finding, Verdict, percent

MEASURES: Mapping[str, str] = {
    "commits": "log file sync",
    "redo": "log file parallel write",
    "reads": "cell single block physical read",
    "flashlog": "a redo request on the cells",
    "fio": "an I/O of fio",
}
"""What can be measured: three wait events of the database, FL_RQ_TM_W over FL_RQ_W of all cells, or fio's own result."""

EVENTS = ("commits", "redo", "reads")
"""Measures that are waits of the database."""


def schedule_lines(experiment: Experiment, spread: float | None, spread_of: str) -> list[str]:
    """Return the whole schedule, as it is shown before the user is asked.

    Args:
        spread: percent, from an earlier experiment on the same subject; None without one.
        spread_of: name of that experiment.
    """
    d, runs = experiment.design, experiment.left
    lines = [f"Experiment {experiment.name} on {experiment.rack}: {d.said} {against(d)}{whose(d)}"]
    same = [run for run in runs if run.pair]
    if same:
        as_now = ", as it is now" if experiment.same_level == experiment.now else ""
        lines.append(f"  A/A stretch: {counted(len(same), 'run')} at {experiment.same_level}{as_now}")
    blocks: dict[int, list[str]] = {}
    for run in runs:
        if run.block:
            blocks.setdefault(run.block, []).append(run.level)
    orders = " · ".join(" ".join(levels) for levels in blocks.values())
    lines.append(f"  {counted(len(blocks), 'block')}, {d.order}, seed {d.seed}: {orders}")
    lines.append(f"  Each run: {_each(d)}")
    lines.append(f"  Measured: {_measured(d)}")
    if d.limit:
        lines.append(
            f"  Gives way: waits before a run while a redo write takes longer than {_took(d.limit)} on average on a cell, all "
            "databases together (FL_RQ_TM_W_RQ); a disturbed block is repeated"
        )
    lines.append(f"  Can detect: {_can_detect(d, spread, spread_of)}")
    if len(d.tried) > 1:
        lines.append(
            f"  Together: {len(d.tried)} comparisons, with a risk of at most 5 % that one of them is wrong (max-T), so "
            f"each detects somewhat less than one alone; for that {_needed(d, ' blocks')}"
        )
    lines.append(f"  Time: {_time(d, len(runs))}")
    of = whose(d, "of") if d.on or d.factor == "flashlog" else ""
    lines.append(f"  At the end, in any case: the {d.said}{of} goes back to its present value ({experiment.now})")
    return lines


def against(d: Design) -> str:
    """Return a phrase that names the tried levels and the base."""
    *more, last = d.tried
    return f"{', '.join(more)} and {last}, each against {d.base}" if more else f"{last} against {d.base}"


def whose(d: Design, word: str = "for") -> str:
    """Return a phrase that names the database or the hosts."""
    return f" on {d.on}" if d.on else f" {word} {d.db}" if d.db else ""


def _took(seconds: float) -> str:
    return f"{1000 * seconds:g} ms"


def _each(d: Design) -> str:
    parts = [d.reset, f"wait {format_duration(round(d.settle))}" if d.settle else ""]
    parts += [f"warm-up: the same, {d.warm} times at most, until the hit rate is stable"] if d.warm else []
    parts += d.workload or [f"wait {format_duration(round(d.seconds))}, as the load comes"]
    return " · ".join(part for part in parts if part)


def _measured(d: Design) -> str:
    if d.measure == "flashlog":
        return f"the mean time of {MEASURES[d.measure]}, of all databases (FL_RQ_TM_W / FL_RQ_W)"
    if d.measure == "fio":
        return "the mean latency that fio reports, over all of its jobs and hosts"
    return f"the mean wait for {MEASURES[d.measure]} on all instances of {d.db}"


def _can_detect(d: Design, spread: float | None, spread_of: str) -> str:
    least = f"p can be {_chance(least_p(d.blocks, d.order))} at the least"
    if d.blocks < fewest(d.order):
        return f"nothing: a verdict needs {_needed(d, ' blocks')}; {least}"
    size = detectable(d.blocks, d.order)
    assumed = 1.0 if spread is None else spread
    found = percent(size * log1p(assumed / 100))
    where = f"spread by {assumed:.2g} %" + (
        f", as in {spread_of}" if spread is not None else " (the A/A stretch shows how far)"
    )
    better = finds_more(d.blocks, d.order)
    instead = ""
    if better is not None:
        less = percent(detectable(*better) * log1p(assumed / 100))
        instead = f"; {better[0]} blocks in order {better[1]} find {less:.2g} %"
    return (
        f"a difference of {found:.2g} %, four times out of five, if the two runs of a block {where}; {least}{instead}"
    )


def _needed(d: Design, what: str = "") -> str:
    """Return how many blocks a verdict needs, and which order needs fewer."""
    least = f"{fewest(d.order)}{what} at least"
    shared = f" in order {d.order}, where two share one coin, and {fewest('random')} in order random"
    return least + (shared if fewest(d.order) > fewest("random") else "")


def _chance(p: float) -> str:
    return "less than 0.01 %" if p < 1e-4 else f"{100 * p:.2g} %" if p < 0.995 else "100 %"


def same_line(experiment: Experiment) -> str:
    """Return a sentence about the smallest difference that the blocks can detect, according to the finished A/A stretch."""
    d, spread = experiment.design, experiment.verdict().same_spread
    assert spread is not None
    size = "nothing"
    if d.blocks >= fewest(d.order):
        size = f"{percent(detectable(d.blocks, d.order) * log1p(spread / 100)):.2g} %"
    return f"A/A stretch: two runs at {experiment.same_level} spread by {spread:.2g} %; with that {d.blocks} blocks detect {size}"


def _time(d: Design, runs: int) -> str:
    known = runs * (d.settle + (0.0 if d.workload else d.seconds))
    parts = [format_duration(round(known))] if known else []
    if d.workload:
        load = _load_seconds(d.workload)
        of_load = f" ({format_duration(round(runs * load))} of load)" if load else ""
        parts.append(f"{runs} times the workload{of_load}")
    if d.warm:
        parts.append(f"{2 * runs} to {d.warm * runs} times the same to warm up")
    if d.reset:
        parts.append(f"{runs} times the reset")
    return ", ".join(parts) + ", and some seconds a run"


def _load_seconds(workload: Sequence[str]) -> float:
    """Return the seconds of load in a run's ``for=`` parameters, by the clock of its rack; 0.0 for none."""
    return fsum(parse_duration(found[1]) for text in workload if (found := _LOAD.match(text)))


_LOAD = re.compile(r"(?:emulator load|drive) (?:.* )?for=([0-9]+(?:\.[0-9]+)?(?:ms|[smhd])?)(?: |$)", re.IGNORECASE)
"""A statement that loads a database for a time given in one unit."""


def sentences(experiment: Experiment) -> Iterator[str]:
    """Yield the results as sentences, the verdict first."""
    verdict, d = experiment.verdict(), experiment.design
    several = list(zip(experiment.comparisons, experiment.verdicts().values(), strict=True))
    for one, its in several:
        yield _verdict(one, its)
    if experiment.noticed:
        yield "This was not a fair comparison: " + "; ".join(_noticed(experiment.noticed)) + "."
    if experiment.minded:
        yield f"By release: {'; '.join(experiment.minded)}."
    if len(several) > 1:
        yield from _surely_together(experiment)
    elif verdict.p is not None:
        yield from _surely(verdict, d)
    if verdict.same_spread is not None:
        same = len(experiment.same)
        own = "" if verdict.spread is None else f"; the differences within blocks spread by {verdict.spread:.2g} %"
        yield (
            f"Without any difference, two runs at {experiment.same_level} spread by {verdict.same_spread:.2g} % "
            f"(A/A, {counted(same, 'pair')}){own}."
        )
    yield from _gave_way(experiment)
    for one, _ in several:
        yield from outlier_sentences(one)
    yield from hit_sentences(experiment)
    yield from size_sentences(experiment)
    for one, its in several:
        of = f" ({one.design.tried[0]} against {d.base})" if len(several) > 1 else ""
        yield from (_doubt(doubt, of) for doubt in its.doubts)


def _gave_way(experiment: Experiment) -> Iterator[str]:
    """Yield sentences about the pauses for production: their number, length, level and reason."""
    pauses = experiment.pauses
    if pauses:
        again = [pause for pause in pauses if pause.again]
        most = round(max(pause.micros for pause in pauses) / 1000, 1)
        yield (
            f"It gave way {counted(len(pauses), 'time')}, {format_duration(sum(pause.seconds for pause in pauses))} in all, "
            f"while a redo write took longer than {_took(experiment.design.limit)} on average (up to {most:,g} ms): "
            f"{_at_levels(experiment)}; "
            + (
                f"{counted(len(again), 'run')} lay in such a time, and its block was repeated."
                if len(again) == 1
                else f"{len(again)} runs lay in such a time, and their blocks were repeated."
                if again
                else "no block lay in such a time."
            )
        )


def _at_levels(experiment: Experiment) -> str:
    """Return the number of pauses at each level, and how many of these runs were repeated."""
    told = []
    for level, (times, again) in experiment.gave_way.items():
        told.append(f"{counted(times, 'time')} at {level}" + (f" ({again} repeated)" if again else ""))
    return ", ".join(told)


def _noticed(lines: Sequence[str]) -> Iterator[str]:
    """Yield each notice once, with the runs in which it occurred; of a share that varies, the highest value."""
    runs: dict[str, list[int]] = {}
    seen: dict[str, str] = {}
    for line in lines:
        number, what = in_run(line)
        kind = _SHARE.sub("", what) if number else what
        runs.setdefault(kind, [])
        if number:
            runs[kind].append(int(number))
        if kind not in seen or _share_of(what) > _share_of(seen[kind]):
            seen[kind] = what
    for kind, numbers in runs.items():
        many = "runs" if len(numbers) > 1 else "run"
        what = seen[kind]
        if not numbers:
            yield what
        elif "→" in what or " at its end, not " in what:
            yield f"another condition in {many} {_ranges(numbers)} than in the first: {what}"
        else:
            yield f"in {many} {_ranges(numbers)}: {what}"


_SHARE = re.compile(r" (\d+)% of the requests.*")
"""The part of a line about other databases that differs from run to run."""


def _share_of(what: str) -> int:
    found = _SHARE.search(what)
    return int(found[1]) if found else -1


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers of runs as text; three or more in a row are written as first to last."""
    rows: list[list[int]] = []
    for number in sorted(set(numbers)):
        if rows and rows[-1][-1] == number - 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    parts = [f"{row[0]} to {row[-1]}" if len(row) > 2 else ", ".join(map(str, row)) for row in rows]
    return ", ".join(parts)


def _verdict(experiment: Experiment, found: Verdict) -> str:
    d = experiment.design
    (tried,), base = d.tried, d.base
    what, name = MEASURES[d.measure], d.said
    of = "" if d.measure == "fio" else f" of {d.db}"
    seen = "" if found.effect is None else f" (so far {what} takes {_longer(found.effect)} with {name} {tried})"
    if found.finding is Finding.NOT_ENOUGH:
        few = f"; p can be {_chance(found.least)} at the least" if found.blocks else ""
        return f"Not enough data: {counted(found.blocks, 'block')}, and a verdict needs {_needed(d)}{seen}{few}."
    beside = beside_the_mean(experiment)
    if found.finding is Finding.LOPSIDED:
        return (
            f"No verdict: it gave way to production at one level far more often than at the other ({_at_levels(experiment)}), so "
            f"what is left of that level is its quiet times{seen}{beside}."
        )
    assert found.effect is not None and found.low is not None and found.high is not None
    told = (
        f"with {name} {tried}, {what}{of} takes {_longer(found.effect)} on average than with it {base} "
        f"(95 %: {found.low:+.1f} % to {found.high:+.1f} %), {found.blocks} blocks{beside}"
    )
    if found.finding is Finding.DIFFERENT:
        return f"There is a difference: {told}."
    if found.finding is Finding.NEGLIGIBLE:
        return (
            f"There is a difference, but it is too small to matter on average (less than {found.matters:g} %): {told}."
        )
    if found.finding is Finding.SAME:
        return f"There is no difference larger than {found.matters:g} % on average: {told}."
    return f"No difference was found on average, but one larger than {found.matters:g} % can't be ruled out: {told}."


def _longer(value: float) -> str:
    return f"{abs(value):.1f} % {'more' if value >= 0 else 'less'} time"


_ALL_TRIED = 1 << 14
"""Number of schedules up to which the test tries all of them."""


def _surely(found: Verdict, d: Design) -> Iterator[str]:
    assert found.p is not None and found.detectable is not None
    ways = 2 ** tossed(found.blocks, d.order)
    of_them = f", {ways:,} of them" if ways <= _ALL_TRIED else ""
    yield (
        f"If the levels made no difference, the random order alone would give one as large in {_chance(found.p)} of all "
        f"cases (permutation test over the schedules that could have been drawn{of_them}). "
        f"It is called a difference at 5 % or less; {found.blocks} blocks can give {_chance(found.least)} at the least. "
        f"With this spread they find a difference of {found.detectable:.2g} % four times out of five."
    )


def _surely_together(experiment: Experiment) -> Iterator[str]:
    """Yield how sure each of several comparisons is."""
    known = {level: found for level, found in experiment.verdicts().items() if found.p is not None}
    if not known:
        return
    told = ", ".join(f"{level} {_chance(found.p or 0.0)}" for level, found in known.items())
    sizes = [found.detectable for found in known.values() if found.detectable is not None]
    most = f" With this spread one comparison alone finds {max(sizes):.2g} % four times out of five." if sizes else ""
    yield (
        f"If the levels made no difference, the random order alone would give one as large: {told} of all cases (max-T "
        f"over the schedules that could have been drawn, of all {len(experiment.design.tried)} comparisons together). It "
        f"is called a difference at 5 % or less. Each interval is one of 95 % by itself.{most}"
    )


def _doubt(doubt: Doubt, of: str = "") -> str:
    sure = f"by chance once in {round(1 / doubt.p):,}" if doubt.p > 1e-9 else "never by chance"
    if doubt.what == "trend":
        return (
            f"Doubt{of}: both levels changed by {doubt.percent:+.1f} % from the first to the last block ({sure}): "
            "a longer settle= may help."
        )
    if doubt.what == "carry-over":
        return (
            f"Doubt{of}: it matters which level runs first ({abs(doubt.percent):.1f} %, {sure}): "
            "the first run of a block affects the second; use settle= or reset=."
        )
    return (
        f"Doubt{of}: blocks spread {doubt.percent:.0f} % more than the A/A stretch: switching itself may disturb, "
        "or other load came."
    )


def verdict_rows(experiment: Experiment) -> list[dict[str, Any]]:
    """Return a row with the verdict's figures for each comparison, for programs; a missing figure is null."""
    found = list(zip(experiment.comparisons, experiment.verdicts().items(), strict=True))
    several = len(found) > 1
    return [
        {
            "experiment": experiment.name,
            **({"level": level, "against": experiment.design.base} if several else {}),
            **_figures(one, verdict),
        }
        for one, (level, verdict) in found
    ]


def _figures(experiment: Experiment, verdict: Verdict) -> dict[str, Any]:
    percents = {
        "effect": verdict.effect,
        "low": verdict.low,
        "high": verdict.high,
        "matters": verdict.matters,
        "spread": verdict.spread,
        "sameSpread": verdict.same_spread,
        "detectable": verdict.detectable,
    }
    return {
        "finding": str(verdict.finding),
        "blocks": verdict.blocks,
        **{f"{name}Percent": None if value is None else round(value, 4) for name, value in percents.items()},
        "p": verdict.p,
        "leastP": verdict.least,
        **_outlier_figures(experiment),
        "byRelease": list(experiment.minded),
        "notFair": list(dict.fromkeys(experiment.noticed)),
        "pauses": len(experiment.pauses),
        "pausedSeconds": round(sum(pause.seconds for pause in experiment.pauses), 1),
        "madeAnew": sum(pause.again for pause in experiment.pauses),
        "gaveWay": {level: times for level, (times, _) in experiment.gave_way.items()},
    }


def _outlier_figures(experiment: Experiment) -> dict[str, Any]:
    found = outliers(experiment)
    names = ("outliers", "outliersBase", "outliersLow", "outliersHigh")
    values = (*found.counts, found.low, found.high) if found.blocks else (None,) * len(names)
    return dict(zip(names, values, strict=True))


def block_rows(experiment: Experiment) -> list[dict[str, Any]]:
    """Return a row for each block: its order, both values in microseconds, and the difference in percent."""
    d = experiment.design
    rows = []
    for block, runs in block_runs(experiment):
        values = {run.level: run.value for run in runs}
        rows.append(
            {
                "cell": None,
                "block": block,
                "order": " ".join(run.level for run in runs),
                **{f"{level}Us": round(values[level], 1) for level in d.levels},
                **{difference_of(d, level): round(100 * (values[level] / values[d.base] - 1), 2) for level in d.tried},
                "count": sum(run.count for run in runs),
                "at": runs[-1].at,
            }
        )
    return rows


def columns_of(design: Design) -> Sequence[tuple[str, str]]:
    """Return name and kind of the columns of :func:`block_rows`."""
    differences = (difference_of(design, level) for level in design.tried)
    numbers = (*(f"{level}Us" for level in design.levels), *differences, "count")
    return [("block", "number"), ("order", "text"), *((name, "number") for name in numbers)]


def difference_of(design: Design, level: str) -> str:
    """Return the name of the column with a level's difference from the base."""
    return f"{level}Percent" if len(design.tried) > 1 else "differencePercent"


def time_left(design: Design, lasted: Sequence[float], runs: int) -> str:
    """Return the time that the remaining runs may take, as ``, about 40m left``: each as long as the earlier ones on average;
    without earlier runs, as long as the design's settle time and measurement. Empty if neither is known, or for less than a
    second.

    Args:
        lasted: seconds of each earlier run.
        runs: number of runs that are left.
    """
    known = 0.0 if design.workload else design.settle + design.seconds
    left = runs * (sum(lasted) / len(lasted) if lasted else known)
    return f", about {format_duration(round(left))} left" if left >= 1 else ""
