"""Charts on a terminal: what is drawn, and between which limits."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from exacell.measure.finding import Chart, Form, Series
from exacell.output.charts import chart_lines, round_steps

SIZES = st.floats(min_value=-1e9, max_value=1e9).map(lambda value: 0.0 if abs(value) < 1e-9 else value)


@pytest.mark.parametrize(
    ("most", "least", "steps"),
    [
        (10.0, 0.0, [0.0, 2.5, 5.0, 7.5, 10.0]),
        (0.0, 0.0, [0.0, 1.0]),
        (0.0, -18.3, [-20.0, -15.0, -10.0, -5.0, 0.0]),
        (5.0, -18.3, [-20.0, -10.0, 0.0, 10.0]),
    ],
)
def test_steps_are_round_and_hold_0(most: float, least: float, steps: list[float]) -> None:
    """From the least value or 0 to the largest or 0."""
    assert round_steps(most, least) == steps


@given(SIZES, SIZES)
def test_steps_reach_both_ends(one: float, other: float) -> None:
    """No value lies outside of the first and the last step, and there are few of them."""
    steps = round_steps(max(one, other), min(one, other))
    near = 1e-6 * max(abs(one), abs(other), 1e-9)
    assert steps[0] <= min(one, other, 0.0) + near and steps[-1] >= max(one, other, 0.0) - near
    assert 2 <= len(steps) <= 8 and 0.0 in steps


@given(
    st.lists(st.lists(SIZES, min_size=1, max_size=9), min_size=1, max_size=4),
    st.sampled_from([Form.POINTS, Form.TIMELINE]),
)
def test_any_values_are_drawn(series: list[list[float]], form: Form) -> None:
    """Negative ones too: the letter of each series is in its chart, and in the legend."""
    chart = Chart(
        title="t",
        x="x",
        y="y",
        form=form,
        series=tuple(
            Series(
                name=f"s{n}",
                points=tuple((float(x), y) for x, y in enumerate(ys)),
                mean=(ys[0], ys[0], ys[0]) if n else None,
            )
            for n, ys in enumerate(series)
        ),
    )
    shown = "\n".join(chart_lines(chart, 90, color=False, unicode=True))
    assert all(f"{letter * 2} s{n}" in shown for n, letter in zip(range(len(series)), "abcd", strict=False))
