"""Draw charts as SVG and HTML without a script: the page sets colours and sizes, so that they fit desk, phone, dark and paper.

Titles, legends and names of axes are text of the page, which wraps if there is no room; the SVG has numbers and marks.
Lines differ in dashes and signs as well as in colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import groupby
from math import ceil, floor, log10

from exacell.core.values import dataclass
from exacell.measure.finding import Chart, Distribution, Form, Series
from exacell.output.charts import round_steps

COLOURS = 6
"""How many colours the page has: ``--c0`` and so on."""

_DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "1 2")
_SIGNS = (
    "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "M-3-3h6v6h-6z",
    "M0-4L4 3H-4z",
    "M0-4L4 0L0 4L-4 0z",
    "M0 4L4-3H-4z",
    "M-4-1h3v-3h2v3h3v2h-3v3h-2v-3h-3z",
)
"""One sign for each series, to distinguish them in black and white; after six series, dashes and signs pair differently."""

_WIDTH, _HEIGHT = 480.0, 270.0
_LARGE, _SMALL = 15.0, 9.0
"""Sizes of text on a phone and elsewhere, in units of the SVG; the page sets them."""
_SIGN = 0.6
"""The width of a character relative to its size; a little more than in real fonts."""
_MOST_SIGNS = 40
"""The points of a line with more than this many don't each get a sign."""


def charts_of(charts: Sequence[Chart], distributions: Sequence[Distribution]) -> Iterator[str]:
    """Yield each chart as an HTML figure, the distributions first, those of the same quantity in one chart."""
    kinds = sorted(distributions, key=lambda one: (one.what, one.unit))
    for (what, unit), group in groupby(kinds, key=lambda one: (one.what, one.unit)):
        yield _distribution(f"{what}: share of the values that are at most so long", list(group), unit)
    for chart in charts:
        yield _bars(chart) if chart.form is Form.BARS else _chart(chart)


def spelt(value: float | None) -> str:
    """Return a number in the form of axes and tables."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.4g}"


@dataclass(frozen=True, kw_only=True)
class _Axis:
    """An axis from the value ``low`` to ``high``, drawn from ``begin`` to ``end``.

    Attributes:
        ticks: values with their labels, ascending.
    """

    low: float
    high: float
    begin: float
    end: float
    ticks: Sequence[tuple[float, str]]

    def at(self, value: float) -> float:
        """Return the position of a value."""
        return round(self.begin + (value - self.low) / ((self.high - self.low) or 1) * (self.end - self.begin), 1)


def _log_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return the ticks of a logarithmic axis: powers of ten, with 2 and 5 between them if there are few."""
    first, last = floor(log10(low)), max(ceil(log10(high)), floor(log10(low)) + 1)
    factors = (1, 2, 5) if last - first <= 3 else (1,)
    values = [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
    return [(log10(value), spelt(value)) for value in values if log10(value) <= last]


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return ticks at round numbers, including 0, from below the lowest to above the highest value."""
    return [(step, spelt(step)) for step in round_steps(high, low)]


def _chart(chart: Chart) -> str:
    across: Callable[[float], float] = log10 if chart.log_x else float
    up: Callable[[float], float] = log10 if chart.log_y else float
    heights = [y for series in chart.series for y in (*(y for _, y in series.points), *(series.mean or ()))]
    xs = sorted({x for series in chart.series for x, _ in series.points})
    if not xs:
        return _figure(chart.title, "", "<p>no data</p>", "", ())
    names = dict(enumerate(chart.names))
    if chart.form is Form.CURVE or names:
        ticks = [(across(x), names.get(int(x), spelt(x))) for x in xs]
    else:
        ticks = [(x, label) for x, label in _ticks(xs[0], xs[-1]) if xs[0] <= x <= xs[-1] or x == 0]
    return _drawn(
        chart,
        [[(across(x), up(y)) for x, y in series.points] for series in chart.series],
        ticks,
        _log_ticks(min(heights), max(heights)) if chart.log_y else _ticks(min(heights), max(heights)),
        joined=chart.form is not Form.POINTS,
        spread=bool(names),
    )


def _drawn(
    chart: Chart,
    lines: Sequence[Sequence[tuple[float, float]]],
    x_ticks: Sequence[tuple[float, str]],
    y_ticks: Sequence[tuple[float, str]],
    *,
    joined: bool = True,
    spread: bool = False,
) -> str:
    """Return the figure of series with points in axis units.

    Args:
        joined: whether the points of a series are joined by a line.
        spread: whether half a place is left free on both sides, as names need it.
    """
    left = 8 + _LARGE * _SIGN * max(len(label) for _, label in y_ticks)
    right = 4 + _LARGE * _SIGN * len(x_ticks[-1][1]) / 2 if x_ticks else 20
    xs = [x for line in lines for x, _ in line] + [x for x, _ in x_ticks]
    room = 0.5 if spread else 0.0
    x = _Axis(low=min(xs) - room, high=max(xs) + room, begin=left, end=_WIDTH - right, ticks=x_ticks)
    highest = max(
        y for y in (*(y for line in lines for _, y in line), *(y for one in chart.series for y in one.mean or ()))
    )
    y_ticks = [tick for tick in y_ticks if chart.log_y or tick[0] <= max(highest * 1.05, 0.0)] or y_ticks
    y = _Axis(
        low=y_ticks[0][0],
        high=max(y_ticks[-1][0], highest * (1 if chart.log_y else 1.03)),
        begin=_HEIGHT - 1.6 * _LARGE,
        end=2 + _LARGE if any(one.marks for one in chart.series) else 8.0,
        ticks=y_ticks,
    )
    body = "".join(
        (*_grid(x, y), *_series(chart.series, lines, x, y, joined=joined), *_marks(chart.series, lines, x, y))
    )
    return _figure(chart.title, chart.y, _svg(chart, body), chart.x, [
        (series.name, _key(place, joined=joined, mean=series.mean is not None)) for place, series in enumerate(chart.series)
    ])  # fmt: skip


def _svg(chart: Chart, body: str) -> str:
    told = "; ".join(
        f"{series.name}: {spelt(min(ys))} to {spelt(max(ys))}"
        + (f", mean {spelt(series.mean[0])}" if series.mean else "")
        for series in chart.series
        if (ys := [y for _, y in series.points])
    )
    label = escape(f"{chart.title}. {chart.y} over {chart.x}. {told}.")
    return f'<svg class="chart" role="img" aria-label="{label}" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}">{body}</svg>'


def _figure(title: str, y: str, drawn: str, x: str, legend: Sequence[tuple[str, str]]) -> str:
    """Return a figure: title, legend, the name of y above the drawing and that of x below it."""
    keys = "".join(f"<li>{key}{escape(name)}</li>" for name, key in legend)
    parts = (
        f"<figcaption>{escape(title)}</figcaption>",
        f'<ul class="legend">{keys}</ul>' if keys else "",
        f'<p class="axis">{escape(y)}</p>' if y else "",
        drawn,
        f'<p class="axis below">{escape(x)}</p>' if x else "",
    )
    return f"<figure>{''.join(parts)}</figure>"


def _grid(x: _Axis, y: _Axis) -> Iterator[str]:
    step = max(1, ceil(len(y.ticks) * 1.3 * _LARGE / (y.begin - y.end)))
    for place, (value, label) in enumerate(y.ticks):
        yield f'<path class="{"zero" if value == 0 else "grid"}" d="M{x.begin} {y.at(value)}H{x.end}"/>'
        if place % step == 0:
            yield f'<text class="y" x="{x.begin - 5}" y="{y.at(value)}">{escape(label)}</text>'
    wide = {place for place, _ in _fitting(x, _SMALL)}
    narrow = {place for place, _ in _fitting(x, _LARGE)}
    for place, (value, label) in enumerate(x.ticks):
        if place in wide | narrow:
            shown = " ".join(name for name, there in (("wide", wide), ("narrow", narrow)) if place in there)
            yield f'<text class="x {shown}" x="{x.at(value)}" y="{_HEIGHT - 4}">{escape(label)}</text>'


def _fitting(axis: _Axis, size: float) -> list[tuple[int, str]]:
    """Return the ticks, by place, whose labels fit beside each other: every one, every second, every third …"""
    ticks = list(enumerate(axis.ticks))
    for step in range(1, len(ticks) + 1):
        shown = ticks[::step]
        ends = [(axis.at(v) - len(t) * size * _SIGN / 2, axis.at(v) + len(t) * size * _SIGN / 2) for _, (v, t) in shown]
        if all(ends[place][1] + size / 2 < ends[place + 1][0] for place in range(len(ends) - 1)):
            return [(place, label) for place, (_, label) in shown]
    return []


def _series(
    series: Sequence[Series], lines: Sequence[Sequence[tuple[float, float]]], x: _Axis, y: _Axis, *, joined: bool
) -> Iterator[str]:
    for place, (one, line) in enumerate(zip(series, lines, strict=True)):
        drawn = []
        if one.mean is not None and line:
            middle, low, high = one.mean
            ends = max(x.at(line[0][0]) - 8, x.begin), min(x.at(line[-1][0]) + 8, x.end)
            if low < high:
                box = f'width="{ends[1] - ends[0]:.1f}" height="{y.at(low) - y.at(high):.1f}"'
                drawn.append(f'<rect class="interval" x="{ends[0]}" y="{y.at(high)}" {box}/>')
            drawn.append(f'<path class="line" d="M{ends[0]} {y.at(middle)}H{ends[1]}"{_dash(place)}/>')
        if joined and len(line) > 1:
            drawn.append(f'<path class="line" d="M{"L".join(f"{x.at(a)} {y.at(b)}" for a, b in line)}"{_dash(place)}/>')
        step = 1 if not joined else ceil(len(line) / _MOST_SIGNS) * (4 if len(line) > _MOST_SIGNS else 1)
        drawn += [
            f'<path class="sign" transform="translate({x.at(a)} {y.at(b)})" d="{_sign(place)}"/>'
            for a, b in line[::step]
        ]
        yield f'<g class="series c{place % COLOURS}">{"".join(drawn)}</g>'


def _dash(place: int) -> str:
    dash = _DASHES[(place + place // len(_DASHES)) % len(_DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _sign(place: int) -> str:
    return _SIGNS[(place + 2 * (place // len(_SIGNS))) % len(_SIGNS)]


def _key(place: int, *, joined: bool, mean: bool) -> str:
    line = f'<path class="line" d="M1 6H39"{_dash(place)}/>' if joined or mean else ""
    sign = f'<path class="sign" transform="translate(20 6)" d="{_sign(place)}"/>'
    return f'<svg class="key" aria-hidden="true" viewBox="0 0 40 12"><g class="series c{place % COLOURS}">{line}{sign}</g></svg>'


def _marks(
    series: Sequence[Series], lines: Sequence[Sequence[tuple[float, float]]], x: _Axis, y: _Axis
) -> Iterator[str]:
    """Yield the labels of marked points; labels that would overlap are moved apart."""
    taken: list[tuple[float, float, float, str]] = []
    for one, line in zip(series, lines, strict=True):
        places = {point[0]: placed for point, placed in zip(one.points, line, strict=True)}
        for mark in one.marks:
            if mark.x not in places:
                continue
            across, up = x.at(places[mark.x][0]), y.at(places[mark.x][1])
            long = len(mark.label) * _LARGE * _SIGN
            begin = min(max(across - long / 2, x.begin + 2), _WIDTH - long - 2)
            up = up - 8 if up - 8 - _LARGE > 0 else up + 6 + _LARGE
            if any(label == mark.label and abs(begin - start) + abs(up - at) < _LARGE for start, _, at, label in taken):
                continue  # The same label of another series, at the same place.
            while any(begin < end and start < begin + long and abs(up - at) < _LARGE for start, end, at, _ in taken):
                up += _LARGE
            taken.append((begin, begin + long, up, mark.label))
            yield f'<text class="mark" x="{begin + long / 2:.1f}" y="{up:.1f}">{escape(mark.label)}</text>'


def _bars(chart: Chart) -> str:
    """Return a list with a bar for each name and series, which fits any width; the longest bar fills it."""
    most = max((value for series in chart.series for _, value in series.points), default=0.0) or 1.0
    rows = []
    for place, name in enumerate(chart.names):
        for number, series in enumerate(chart.series):
            value = next((own for at, own in series.points if at == place), None)
            if value is None:
                continue
            called = f"{name}, {series.name}" if len(chart.series) > 1 else name
            bar = f'<rect x="0" y="0" width="{max(0.0, 100 * value / most):.2f}" height="10"/>'
            rows.append(
                f"<li><span>{escape(called)}</span> <b>{spelt(value)}</b>"
                f'<svg class="bar" aria-hidden="true" viewBox="0 0 100 10" preserveAspectRatio="none">'
                f'<g class="series c{number % COLOURS}">{bar}</g></svg></li>'
            )
    return _figure(chart.title, chart.y, f'<ul class="bars">{"".join(rows)}</ul>', chart.x, ())


_NINES = ((0.0, "0"), (0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"), (0.9999, "99.99 %"),
          (0.99999, "99.999 %"), (0.999999, "99.9999 %"), (0.9999999, "99.99999 %"))  # fmt: skip


def _distribution(title: str, group: Sequence[Distribution], unit: str) -> str:
    """Return a figure of quantiles over the share of values below them; 0.9, 0.99, 0.999 … are equally far apart."""
    series = tuple(Series(name=one.name, points=tuple((x, y) for x, y in tail_points(one) if y > 0)) for one in group)
    across = "share of the values; each further nine is as wide as the one before"
    chart = Chart(title=title, x=across, y=unit, series=series, log_y=True)
    counted = [point for one in series for point in one.points]
    if not counted:
        return _figure(title, "", "<p>no data</p>", "", ())
    furthest = max(x for x, _ in counted)
    return _drawn(
        chart,
        [[(x, log10(y)) for x, y in one.points] for one in series],
        [(nines(p), label) for p, label in _NINES if nines(p) <= furthest + 0.1],
        _log_ticks(min(y for _, y in counted), max(y for _, y in counted)),
    )


def nines(p: float) -> float:
    """Return the position of a share on the axis: 0.9 is 1, 0.99 is 2."""
    return -log10(1 - p) if p else 0.0


def tail_points(one: Distribution) -> list[tuple[float, float]]:
    """Return (position on the axis of nines, quantile) from the least to the greatest counted value."""
    last = log10(one.counts.n) if one.counts.n > 1 else 0.0
    steps = [step / 10 for step in range(int(last * 10) + 1)]
    found = [(x, one.counts.quantile(1 - 10**-x)) for x in steps]
    return [*found, (max(last, 0.1), float(one.counts.values[-1]))]
