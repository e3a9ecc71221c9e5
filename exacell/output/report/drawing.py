"""Charts as SVG, by pygal: colours come from the page, so that they are light, dark and on paper as the page is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import ceil, floor, log10
from typing import Any

from exacell.measure.finding import Chart, Distribution, Form
from exacell.output.charts import round_steps

COLOURS = 6
"""Colours that the page has: ``--c0`` and on."""

_DASHES = ("", "7, 3", "2, 3", "9, 3, 2, 3", "4, 2", "1, 2")
"""One a series, so that they are told apart in black and white."""

_WIDTH, _HEIGHT = 760, 400
_BAR, _AROUND, _LEGENDS = 26, 90, 2
_SCRIPT = re.compile(r"<script.*?</script>|<!--.*?-->", re.DOTALL)


def charts_of(charts: Sequence[Chart], distributions: Sequence[Distribution]) -> Iterator[tuple[str, str]]:
    """Yield caption and SVG of each chart, first the distributions, those of one thing in one chart."""
    kinds = sorted(distributions, key=lambda one: (one.what, one.unit))
    groups = groupby(kinds, key=lambda one: (one.what, one.unit))
    for number, ((what, unit), group) in enumerate(groups, 1):
        yield f"{what}, {unit}: what share is at most so long", _distribution(f"d{number}", list(group), unit)
    for place, chart in enumerate(charts, 1):
        yield f"{chart.title}: {chart.y}", _chart(f"c{place}", chart)


def _config(series: int, **more: Any) -> dict[str, Any]:
    from pygal.style import Style  # Only reports draw with it.

    style = Style(
        background="transparent",
        plot_background="transparent",
        foreground="var(--ink)",
        foreground_strong="var(--ink)",
        foreground_subtle="var(--faint)",
        colors=tuple(f"var(--c{place % COLOURS})" for place in range(series)),
        font_family="inherit",
        label_font_size=12,
        major_label_font_size=12,
        legend_font_size=13,
        value_font_size=12,
        value_label_font_size=12,
        title_font_size=14,
    )
    return {
        "js": [],
        "style": style,
        "disable_xml_declaration": True,
        "legend_at_bottom": True,
        "legend_at_bottom_columns": _LEGENDS,
        "truncate_legend": -1,
        "truncate_label": -1,
        "explicit_size": False,
        "width": _WIDTH,
        "height": _HEIGHT,
        "margin_right": 60,
        "no_data_text": "no data",
        "print_labels": True,
        "dots_size": 3,
        "value_formatter": spelt,
        **more,
    }


def spelt(value: float | None) -> str:
    """Return a number as an axis and a table show it."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.4g}"


def _svg(chart: Any, name: str) -> str:
    chart.uuid = name
    return _SCRIPT.sub("", chart.render(is_unicode=True))


def _xy(x: str, y: str, series: int, **more: Any) -> Any:
    from pygal import XY

    rows = ceil(series / _LEGENDS)
    bottom = 20 + 20 * rows  # pygal leaves no room for a legend below a title of x.
    return XY(
        **_config(
            series, x_title=x, y_title=y, show_x_guides=True, margin_bottom=bottom, height=_HEIGHT + bottom, **more
        )
    )


def _log_labels(low: float, high: float) -> list[dict[str, Any]]:
    """Return the labels of a logarithmic axis: powers of ten, with 2 and 5 between them where there are few."""
    first, last = floor(log10(low)), ceil(log10(high))
    factors = (1, 2, 5) if last - first <= 3 else (1,)
    values = [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
    return [{"value": log10(value), "label": spelt(value)} for value in values if log10(value) <= last]


def _chart(name: str, chart: Chart) -> str:
    if chart.form is Form.BARS:
        return _bars(name, chart)
    across: Callable[[float], float] = log10 if chart.log_x else float
    up: Callable[[float], float] = log10 if chart.log_y else float
    drawn = _xy(chart.x, chart.y, len(chart.series))
    heights = [y for series in chart.series for _, y in series.points]
    if chart.log_y and heights:
        drawn.y_labels = _log_labels(min(heights), max(heights))
    elif heights:
        drawn.config.range = (min(*heights, 0.0), max(*heights, 0.0) * 1.05 or 1)
    for number, series in enumerate(chart.series):
        marks = {mark.x: mark.label for mark in series.marks}
        points = [{"value": (across(x), up(y)), "label": marks.get(x, "")} for x, y in series.points]
        drawn.add(series.name, points, stroke_style={"width": 2, "dasharray": _DASHES[number % COLOURS]})
    xs = sorted({x for series in chart.series for x, _ in series.points})
    if chart.form is Form.TIMELINE and not chart.names and xs:
        xs = round_steps(xs[-1])
    shown = xs[:: len(xs) // 12 + 1]
    names = dict(enumerate(chart.names))
    drawn.x_labels = [{"value": across(x), "label": names.get(int(x), spelt(x))} for x in shown]
    return _svg(drawn, name)


def _bars(name: str, chart: Chart) -> str:
    from pygal import HorizontalBar

    rows = len(chart.names) * max(1, len(chart.series))
    drawn = HorizontalBar(
        **_config(
            len(chart.series),
            height=rows * _BAR + _AROUND + 20 * len(chart.series),
            print_values=True,
            max_scale=5,
            show_legend=len(chart.series) > 1,
            margin_bottom=30,
            x_title=chart.y,
        )
    )
    # Bars are laid from the bottom up, so the first one is given last.
    drawn.x_labels = list(reversed(chart.names))
    for series in chart.series:
        values = {int(place): value for place, value in series.points}
        drawn.add(series.name, [values.get(place) for place in reversed(range(len(chart.names)))])
    return _svg(drawn, name)


_NINES = ((0.0, "0"), (0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"), (0.9999, "99.99 %"),
          (0.99999, "99.999 %"), (0.999999, "99.9999 %"), (0.9999999, "99.99999 %"))  # fmt: skip


def _distribution(name: str, group: Sequence[Distribution], unit: str) -> str:
    """Draw quantiles over the share that is at most so long, each further nine as wide as the one before: the tail is seen."""
    drawn = _xy("share that is at most so long", unit, len(group), dots_size=1.5)
    lines = [(one.name, [(x, y) for x, y in tail_points(one) if y > 0]) for one in group]
    counted = [point for _, points in lines for point in points]
    for number, (title, points) in enumerate(lines):
        style = {"width": 2, "dasharray": _DASHES[number % COLOURS]}
        drawn.add(title, [(x, log10(y)) for x, y in points], stroke_style=style)
    if counted:
        furthest = max(x for x, _ in counted)
        drawn.y_labels = _log_labels(min(y for _, y in counted), max(y for _, y in counted))
        drawn.x_labels = [{"value": nines(p), "label": label} for p, label in _NINES if nines(p) <= furthest + 0.5]
    return _svg(drawn, name)


def nines(p: float) -> float:
    """Return the place of a share on the axis: 0.9 is 1, 0.99 is 2."""
    return -log10(1 - p) if p else 0.0


def tail_points(one: Distribution) -> list[tuple[float, float]]:
    """Return (place on the axis of nines, quantile) from the least to the greatest value that was counted."""
    last = log10(one.counts.n) if one.counts.n > 1 else 0.0
    steps = [step / 10 for step in range(int(last * 10) + 1)]
    found = [(x, one.counts.quantile(1 - 10**-x)) for x in steps]
    return [*found, (max(last, 0.1), float(one.counts.values[-1]))]
