"""The finding about one import, and the comparison of two. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import exp, fsum, log
from typing import Any

from exacell.core.errors import RefusedError
from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.measure.finding import Artifact, Chart, Distribution, Finding, Form, Mark, Series, Side, Table
from exacell.measure.importers.kinds import KINDS
from exacell.measure.importers.levels import Level, Ratio, curves, knee, levels, peak, ratio
from exacell.measure.importers.model import LESS, Binned, Run, named, unit_of
from exacell.measure.importers.parts import joined

_DESCRIBED, _BARS = 4, 20
"""Maximum number of series that are described in sentences, and of bars in a chart; the table has all of them."""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """Files of one program that were imported under one name.

    Attributes:
        runs: one per file.
        files: the files that they were read from.
    """

    name: str
    runs: tuple[Run, ...]
    files: tuple[Artifact, ...] = ()

    @property
    def kind(self) -> str:
        """Return the kind of program."""
        return self.runs[0].kind

    @property
    def load(self) -> str:
        """Return the unit of its load, such as sessions; empty if it has no load."""
        return next((run.load for run in self.runs if run.load), "")

    def conditions(self) -> dict[str, str]:
        """Return the conditions that must be equal in an import that it is compared with."""
        return joined([run.same for run in self.runs])

    def side(self) -> Side:
        """Return the import as one side of a report."""
        forms = dict.fromkeys(run.form for run in self.runs)
        about = f"{KINDS[self.kind].title} ({', '.join(forms)}), {counted(len(self.files) or len(self.runs), 'file')}"
        passport = {"program": KINDS[self.kind].title, **self.conditions(), **joined([run.told for run in self.runs])}
        return Side(name=self.name, about=about, passport=passport)


def amount(value: float) -> str:
    """Return a number with as many digits as a reader needs."""
    size = abs(value)
    return f"{value:,.0f}" if size >= 100 or value == int(value) else f"{value:,.1f}" if size >= 10 else f"{value:.3g}"


_OF_ANYTHING = ("%", "per second")
"""Units such as percent that don't show what is counted, so the name of the figure is written, too."""


def _of(level: Level, figure: str) -> str:
    value, unit = level.figure(figure), unit_of(figure).name
    if unit in _OF_ANYTHING and figure != "perSecond":
        return f"{figure} {amount(value or 0.0)} {unit}"
    if unit:
        return f"{amount(value or 0.0)} {unit}"
    return amount(value or 0.0) if figure == "value" else f"{figure} {amount(value or 0.0)}"


def alone(found: Imported) -> Finding:
    """Return the finding about one import."""
    lines = levels(found.runs)
    side = found.side()
    said = list(_curves_said(lines, found.load))
    if not curves(lines):
        said += [
            f"{_at(level, found.load)}: {_of(level, level.main())}{_ranging(level, level.main())}{_time_said(level)}."
            for level in lines[:_DESCRIBED]
            if level.values
        ]
        if len(lines) > _DESCRIBED:
            said.append(f"{len(lines) - _DESCRIBED} further series and loads are in the table.")
    said = [*_warnings(found), *said, *_apart_said(lines)]
    said.append(f"{side.about}, {counted(sum(len(run.points) for run in found.runs), 'point')}.")
    rows = [_row(level, found.load) for level in lines]
    figures = list(
        dict.fromkeys(name for row in rows for name in row if name not in ("cell", "series", "load", "values"))
    )
    columns = ("series", *(("load",) if found.load else ()), *figures)
    return Finding(
        title=f"{found.name}: {KINDS[found.kind].title}",
        sentences=tuple(said),
        figures=Table(title="What was measured", columns=columns, rows=tuple(rows)),
        charts=tuple(charts([("", found, lines)])),
        distributions=tuple(distributions("", found.runs)),
        sides=(side,),
        artifacts=found.files,
        notes=tuple(_notes(found)),
    )


def _notes(found: Imported) -> Iterator[str]:
    """Yield each note once, with its files if it is not about all of them."""
    of: dict[str, dict[str, None]] = {}
    for run in found.runs:
        for text in run.notes:
            of.setdefault(text, {})[run.source] = None
    for text, sources in of.items():
        yield text if len(sources) == len(found.runs) else f"{named(list(sources))}: {text}"


def notes_of(sets: Sequence[Imported]) -> Iterator[str]:
    """Yield each note of several imports once, with the imports if it is not about all of them."""
    of: dict[str, list[str]] = {}
    for found in sets:
        for text in dict.fromkeys(_notes(found)):
            of.setdefault(text, []).append(found.name)
    for text, names in of.items():
        yield text if len(names) == len(sets) else f"{named(names)}: {text}"


def _warnings(found: Imported) -> Iterator[str]:
    several = len(found.runs) > 1
    if odd := _mixed(found.runs):
        yield f"Its runs are not alike, so they are not repetitions: {'; '.join(odd)}."
    for run in found.runs:
        for text in run.warnings:
            yield f"{run.source}: {text}." if several else f"{text}."


_NAMED = ("rw", "bs", "bsrange", "bssplit")
"""Conditions that are part of a series' name; runs with other values are series of their own."""


def _mixed(runs: Sequence[Run]) -> list[str]:
    """Return the conditions that differ between the runs of one import."""
    names = dict.fromkeys(name for run in runs for name in run.same if name not in _NAMED)
    values = {name: list(dict.fromkeys(run.same[name] for run in runs if name in run.same)) for name in names}
    return [f"{name}: {', '.join(found)}" for name, found in values.items() if len(found) > 1]


def _at(level: Level, load: str) -> str:
    return level.series + (
        f" at {_load(level.load, load)}" if level.load is not None else " at an unknown load" if load else ""
    )


def _load(value: float, load: str) -> str:
    """Return a load with its noun, in the singular for 1: "1 session", "8 I/Os outstanding"."""
    noun, blank, rest = load.partition(" ")
    return f"{value:g} {noun.removesuffix('s') if value == 1 else noun}{blank}{rest}"


def _ranging(level: Level, figure: str) -> str:
    values = level.values[figure]
    kind = "samples" if level.samples else "runs"
    return f", {amount(min(values))} to {amount(max(values))} in {len(values)} {kind}" if len(values) > 1 else ""


_BESIDE = ("readMibPerS", "writeMibPerS")
"""Figures of samples that are shown beside the main one, with their lowest and highest."""


def _time_said(level: Level) -> str:
    """Return the latency and throughput of samples, each with its lowest and highest, since a mean alone hides a peak; for a
    cache, the share of reads that it served.
    """
    told = [level.time(), *_BESIDE] if level.samples else ["hitPercent"]
    return "".join(
        f"; {said if (said := _of(level, figure)).startswith(figure) else f'{figure} {said}'}{_ranging(level, figure)}"
        for figure in told
        if figure and figure != level.main() and level.figure(figure)
    )


def _curves_said(lines: Sequence[Level], load: str) -> Iterator[str]:
    for name, line in list(curves(lines).items())[:_DESCRIBED]:
        top, bend = peak(line), knee(line)
        rate = top.rate()
        yield (
            f"{name}: at most {_of(top, rate)}, at {_load(top.load or 0.0, load)}; the knee is at {bend.load:g} with "
            f"{_of(bend, rate)}: more load gives little after it."
        )


def _apart_said(lines: Sequence[Level]) -> Iterator[str]:
    for level in lines:
        figure = level.main()
        if level.apart.get(figure):
            set_apart = ", ".join(amount(value) for value in level.apart[figure])
            yield f"{level.series}: set apart is {set_apart} {unit_of(figure).name or figure} ({level.why})."


def _row(level: Level, load: str) -> dict[str, Any]:
    return {
        "cell": None,
        "series": level.series,
        **_load_of(level, load),
        **{name: round(level.figure(name) or 0.0, 3) for name in level.values},
        **{f"{name}Apart": round(values[0], 3) for name, values in level.apart.items()},
    }


def _load_of(level: Level, load: str) -> dict[str, Any]:
    """Return the load of a row; ``unknown`` if it has no load but other rows have one."""
    if not load:
        return {}
    return {"load": "unknown" if level.load is None else int(level.load) if level.load % 1 == 0 else level.load}


def distributions(before: str, runs: Sequence[Run]) -> Iterator[Distribution]:
    """Yield the distributions of runs, with ``before`` in front of their names."""
    for run in runs:
        for one in run.distributions:
            counts: Binned = one
            yield Distribution(
                name=f"{before} {counts.name}".strip(),
                what=counts.what,
                unit=counts.unit,
                counts=counts.counts,
            )


# -- two sets ----------------------------------------------------------------------------------------------------------


def unlike(a: Imported, b: Imported) -> list[str]:
    """Return the conditions that should be equal but differ; conditions that only one of them has are ignored."""
    first, second = a.conditions(), b.conditions()
    return [
        f"{name}: {first[name]} → {second[name]}" for name in first if name in second and first[name] != second[name]
    ]


def pair(a: Imported, b: Imported, *, anyway: bool = False) -> Finding:
    """Return the comparison of ``b`` with ``a``, level by level.

    Raises:
        RefusedError: they are of different programs, were measured under other conditions, or have no level in common.
    """
    if a.kind != b.kind:
        raise RefusedError(
            f"{a.name} is of {KINDS[a.kind].title} and {b.name} of {KINDS[b.kind].title}: they measure different things",
            hint="compare two runs of the same program",
        )
    differs = unlike(a, b)
    if differs and not anyway:
        raise RefusedError(
            f"{a.name} and {b.name} differ in more than the load: {'; '.join(differs)}",
            hint="the comparison would show this too; --anyway compares them and says so",
        )
    before = {level.key: level for level in levels(a.runs)}
    after = {level.key: level for level in levels(b.runs)}
    common = [key for key in before if key in after]
    if not common:
        raise RefusedError(_nothing_common(a, b, before, after))
    rows = [row for key in common for row in _compared(before[key], after[key], a.load)]
    said = [f"They are not alike, so the figures show that, too: {'; '.join(differs)}."] if differs else []
    said += [f"{one.name}: {text}" for one in (a, b) for text in _warnings(one)]
    said += _pair_said(a, b, [before[key] for key in common], [after[key] for key in common])
    for one, lines in ((a, before), (b, after)):
        said += [f"{one.name}: {text}" for text in _apart_said(list(lines.values()))]
    left = [
        f"only in {one.name}: {', '.join(_at(lines[key], one.load) for key in lines if key not in common)}"
        for one, lines in ((a, before), (b, after))
        if len(lines) > len(common)
    ]
    columns = ("series", *(("load",) if a.load else ()), "figure", "unit", "a", "b", "ratio", "low", "high", "basis")
    return Finding(
        title=f"{a.name} and {b.name}: {KINDS[a.kind].title}",
        sentences=tuple(said),
        figures=Table(title=f"{b.name} (b) beside {a.name} (a)", columns=columns, rows=tuple(rows)),
        charts=tuple(charts([(a.name, a, list(before.values())), (b.name, b, list(after.values()))])),
        distributions=(*distributions(a.name, a.runs), *distributions(b.name, b.runs)),
        sides=(a.side(), b.side()),
        artifacts=(*a.files, *b.files),
        notes=(*left, *notes_of([a, b])),
    )


def _nothing_common(a: Imported, b: Imported, before: dict[Any, Level], after: dict[Any, Level]) -> str:
    series = {level.series for level in before.values()} & {level.series for level in after.values()}
    if series:
        return f"{a.name} and {b.name} have no load in common: each was measured at others"
    names = [", ".join(list(dict.fromkeys(level.series for level in lines.values()))[:5]) for lines in (before, after)]
    return f"{a.name} and {b.name} have nothing in common: {a.name} holds {names[0]}, {b.name} {names[1]}"


def _compared(a: Level, b: Level, load: str) -> Iterator[dict[str, Any]]:
    for figure in a.values:
        if figure not in b.values:
            continue
        found = ratio(a, b, figure)
        yield {
            "cell": None,
            "series": a.series,
            **_load_of(a, load),
            "figure": figure,
            "unit": unit_of(figure).name,
            "a": round(a.figure(figure) or 0.0, 3),
            "b": round(b.figure(figure) or 0.0, 3),
            "ratio": None if found is None else round(found.value, 4),
            "low": None if found is None or found.low is None else round(found.low, 4),
            "high": None if found is None or found.high is None else round(found.high, 4),
            "basis": "" if found is None else found.basis,
        }


def _pair_said(a: Imported, b: Imported, before: Sequence[Level], after: Sequence[Level]) -> Iterator[str]:
    lines = _curves_in_both(before, after)
    for name, (line, other) in list(lines.items())[:_DESCRIBED]:
        yield from _curve_pair(a, b, name, line, other)
    shown = [(one, two) for one, two in zip(before, after, strict=True) if one.main() in two.values]
    found = [ratio(one, two, one.main()) for one, two in shown]
    if not lines:
        for (one, two), times in list(zip(shown, found, strict=True))[:_DESCRIBED]:
            yield _level_pair(a, b, one, two, times)
        if len(shown) > _DESCRIBED:
            yield f"{len(shown) - _DESCRIBED} further series are in the table."
    sure = [times for times in found if times is not None and times.low is not None]
    if lines and sure:
        more = sum(1 for times in sure if times.differs)
        yield f"At {more} of {counted(len(sure), 'load')} the difference is more than chance makes (95 %, from {sure[0].basis})."
    runs = [max(level.runs() for level in levels) for levels in (before, after)]
    if runs == [1, 1]:
        yield "This compares one run with one other: import several files of each, and their spread shows what chance does."
    elif min(runs) == 1 < max(runs) and not sure:
        single = (a, b)[runs.index(1)]
        yield f"{single.name} is a single run: import several files of it, too, and their spread shows what chance does."
    yield "Only runs in turn show whether the change made the difference: a, b, b, a."


def _curves_in_both(before: Sequence[Level], after: Sequence[Level]) -> dict[str, tuple[list[Level], list[Level]]]:
    """Return name → levels of the curves in both imports: those at which both have the rate of the first, three or more."""
    second = {one.key: two for one, two in zip(before, after, strict=True)}
    found: dict[str, tuple[list[Level], list[Level]]] = {}
    for name, line in curves(before).items():
        rate = line[0].rate()
        both = [(one, second[one.key]) for one in line if rate in one.values and rate in second[one.key].values]
        if len(both) >= 3:
            found[name] = [one for one, _ in both], [two for _, two in both]
    return found


def _curve_pair(a: Imported, b: Imported, name: str, line: Sequence[Level], other: Sequence[Level]) -> Iterator[str]:
    rate = line[0].rate()
    tops, bends = (peak(line), peak(other)), (knee(line), knee(other))
    most = [top.figure(rate) or 0.0 for top in tops]
    times = f", {most[1] / most[0]:.2f} times as much" if most[0] > 0 else ""
    yield (
        f"{name}: {b.name} reaches {_of(tops[1], rate)} at {_load(tops[1].load or 0.0, a.load)}, "
        f"{a.name} {_of(tops[0], rate)} at {tops[0].load:g}{times}."
    )
    logs = [
        log(found.value) for one, two in zip(line, other, strict=True) if (found := ratio(one, two, rate)) is not None
    ]
    if logs:
        middle = exp(fsum(logs) / len(logs))
        loads = [bend.load or 0.0 for bend in bends]
        moved = f"stays at {loads[0]:g}" if loads[0] == loads[1] else f"moves from {loads[0]:g} to {loads[1]:g}"
        yield (
            f"Over {len(logs)} common loads it is {middle:.2f} times on average, from {exp(min(logs)):.2f} to "
            f"{exp(max(logs)):.2f}; the knee {moved}."
        )


def _level_pair(a: Imported, b: Imported, one: Level, two: Level, found: Ratio | None) -> str:
    figure = one.main()
    said = f"{_at(one, a.load)}: {_of(two, figure)} in {b.name}, {_of(one, figure)} in {a.name}"
    if found is None:
        return f"{said}."
    said = f"{said}: {found.value:.3g} times"
    if found.low is None or found.high is None:
        return f"{said}."
    better = unit_of(figure).better
    within = "" if found.basis.endswith("runs") else " within a run"
    judged = f"no more than chance makes{within}"
    if found.differs:
        judged = f"more than chance makes{within}"
        if better:
            judged += ", and better" if (found.value > 1) != (better == LESS) else ", and worse"
    return f"{said} (95 %: {found.low:.3g} to {found.high:.3g}, from {found.basis}), {judged}."


# -- charts ------------------------------------------------------------------------------------------------------------


def charts(sets: Sequence[tuple[str, Imported, list[Level]]]) -> Iterator[Chart]:
    """Yield charts of rate and latency over load if there are curves, otherwise of samples over time, otherwise bars of the main
    figure.

    Args:
        sets: a prefix for the names of its series, the import, and its levels.
    """
    lines = [(before, found) for before, _, found in sets]
    load = sets[0][1].load
    if all(curves(found) for _, found in lines):
        for rates in (True, False):
            yield from _curve(lines, load, rates=rates)
    elif any(run.samples for run in sets[0][1].runs):
        yield from _timeline(lines)
    else:
        yield from _bars(lines)


def _curve(lines: Sequence[tuple[str, list[Level]]], load: str, *, rates: bool) -> Iterator[Chart]:
    series, figure = [], ""
    for before, found in lines:
        for name, line in list(curves(found).items())[:_DESCRIBED]:
            own = line[0].rate() if rates else line[0].time()
            figure = figure or own
            points = tuple(
                (level.load or 0.0, value)
                for level in line
                if own == figure and (value := level.figure(own)) is not None
            )
            marks = _marks(line, own) if rates else ()
            if points:
                series.append(Series(name=f"{before} {name}".strip(), points=points, marks=marks))
    if series:
        loads = [x for one in series for x, _ in one.points]
        yield Chart(
            title=f"{figure} over load",
            x=load,
            y=_axis(figure),
            series=tuple(series),
            log_x=min(loads) > 0 and max(loads) / min(loads) >= 16,
        )


def _axis(figure: str) -> str:
    unit = unit_of(figure).name
    return f"{figure}, {unit}" if unit else figure


def _marks(line: Sequence[Level], figure: str) -> tuple[Mark, ...]:
    return tuple(
        Mark(x=level.load or 0.0, y=level.figure(figure) or 0.0, label=label)
        for label, level in (("peak", peak(line)), ("knee", knee(line)))
    )


def _timeline(lines: Sequence[tuple[str, list[Level]]]) -> Iterator[Chart]:
    figure = lines[0][1][0].main()
    series = [
        Series(name=f"{before} {level.series}".strip(), points=tuple(enumerate(level.sampled[figure], 1)))
        for before, found in lines
        for level in found
        if figure in level.sampled
    ]
    yield Chart(
        title=f"{figure} in the order of samples",
        x="sample",
        y=_axis(figure),
        series=tuple(series),
        form=Form.TIMELINE,
    )


_APART = 1000
"""Largest ratio of the largest to the smallest bar of a chart, so that each bar is visible."""


def _bars(lines: Sequence[tuple[str, list[Level]]]) -> Iterator[Chart]:
    """Yield one bar chart: the main figure of most series, for one import or for three and more; for two imports its ratio.

    A figure without a unit of its own, which vscsiStats uses for bytes and for microseconds, is not drawn on one axis.
    """
    mains = [level.main() for _, found in lines for level in found if level.values]
    if not mains:
        return
    figure = max(dict.fromkeys(mains), key=mains.count)
    values = [
        {_label(level): level.figure(figure) or 0.0 for level in found if figure in level.values} for _, found in lines
    ]
    if len(values) == 2:
        both = {name: values[1][name] / value for name, value in values[0].items() if value > 0 and name in values[1]}
        title = f"{figure}, {lines[1][0]} over {lines[0][0]}"
        if both:
            yield _bar_chart(title, "times", list(both)[:_BARS], {title: both})
        return
    shown = [value for each in values for value in each.values()]
    if shown and unit_of(figure).name and max(shown) <= _APART * min(shown):
        names = list(dict.fromkeys(name for each in values for name in each))[:_BARS]
        series = {before or figure: each for (before, _), each in zip(lines, values, strict=True)}
        yield _bar_chart(figure, _axis(figure), names, series)


def _label(level: Level) -> str:
    return level.series if level.load is None else f"{level.series} at {level.load:g}"


def _bar_chart(title: str, y: str, names: Sequence[str], series: Mapping[str, Mapping[str, float]]) -> Chart:
    """Return a chart with bars for each name, one for each series that has it."""
    return Chart(
        title=title,
        x="",
        y=y,
        series=tuple(
            Series(name=name, points=tuple((float(place), of[each]) for place, each in enumerate(names) if each in of))
            for name, of in series.items()
        ),
        form=Form.BARS,
        names=tuple(names),
    )
