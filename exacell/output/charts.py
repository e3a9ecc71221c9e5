"""Draw charts on a terminal, by plotext. Pure but for that library, which is imported when a chart is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from types import ModuleType

from exacell.measure.finding import Chart, Form, Series

_MOST_COLUMNS, _LEAST_COLUMNS, _LINES = 100, 40, 18
_TICKS = 8
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

PLAIN = str.maketrans("─│┌┐└┘├┤┬┴┼▇", "-|+++++++++#")
"""ASCII characters for the frame and the bars."""


def chart_lines(chart: Chart, width: int, *, color: bool, unicode: bool) -> Iterator[str]:
    """Yield the lines of a chart; none if the terminal is too narrow, or there is nothing to draw.

    Args:
        width: the terminal's columns.
        unicode: whether the terminal shows more than ASCII.
    """
    drawn = [series for series in chart.series if series.points][: len(_LETTERS)]
    if not drawn or width < _LEAST_COLUMNS:
        return
    import plotext  # It takes a tenth of a second, and only charts need it.

    plotext.clear_figure()
    columns = min(width - 1, _MOST_COLUMNS)
    if chart.form is Form.BARS:
        _bars(plotext, chart, drawn, columns)
    else:
        _lines(plotext, chart, drawn, columns, unicode=unicode)
    text: str = plotext.build()
    text = text if color else plotext.uncolorize(text)
    for line in (text if unicode else text.translate(PLAIN)).splitlines():
        yield line.rstrip()


def _bars(plotext: ModuleType, chart: Chart, drawn: Sequence[Series], columns: int) -> None:
    rows = [
        (f"{name} ({series.name})" if len(drawn) > 1 else name, dict(series.points).get(float(place), 0.0))
        for place, name in enumerate(chart.names)
        for series in drawn
    ]
    widest = max(len(name) for name, _ in rows)
    names = [name.ljust(widest) for name, _ in rows]
    plotext.simple_bar(names, [value for _, value in rows], width=columns, title=chart.y)


def _lines(plotext: ModuleType, chart: Chart, drawn: Sequence[Series], columns: int, *, unicode: bool) -> None:
    """Draw each series as a line with a letter at its points, so that they can be told apart without colour."""
    plotext.theme("clear")
    plotext.plotsize(columns, _LINES)
    plotext.title(chart.y)
    plotext.xlabel(chart.x)
    xs = sorted({x for series in drawn for x, _ in series.points})
    ys = [y for series in drawn for y in (*(y for _, y in series.points), *(series.mean or ())[:1])]
    least, most = min(0.0, *ys), max(0.0, *ys)
    if chart.log_x:
        plotext.xscale("log")
    if chart.log_y:
        plotext.yscale("log")
    else:
        # A point outside the limits would leave its series without a marker, and plotext's legend fails without one.
        ticks = round_steps(most, least)
        plotext.ylim(min(ticks[0], least), max(ticks[-1], most))
        plotext.yticks(ticks, [f"{tick:,.10g}" for tick in ticks])
    shown = xs[:: len(xs) // _TICKS + 1]
    plotext.xticks(shown, [f"{x:g}" for x in shown])
    for letter, series in zip(_LETTERS, drawn, strict=False):
        x, y = [point[0] for point in series.points], [point[1] for point in series.points]
        if len(x) > 1 and (chart.form is not Form.POINTS or series.mean):
            level = y if series.mean is None else [series.mean[0]] * len(y)
            plotext.plot(x, level, marker="braille" if unicode else ".")
        marks = "".join(f", {mark.label} {_short(mark.y)} at {mark.x:g}" for mark in series.marks)
        plotext.scatter(x, y, marker=letter, label=f"{series.name}{marks}")


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def round_steps(most: float, least: float = 0.0) -> list[float]:
    """Return about five round numbers from 0, or from below ``least`` if that is negative, up to ``most`` or more."""
    span = max(most, 0.0) - min(least, 0.0)
    if span <= 0:
        return [0.0, 1.0]
    rough = span / 4
    size = 10.0 ** floor(log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough)
    first = -ceil(-least / step - 1e-9) if least < 0 else 0
    last = int(most / step - 1e-9) + 1 if most > 0 else 0
    return [step * place for place in range(first, last + 1)]
