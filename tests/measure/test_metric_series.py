"""A metric over time: counters become rates over the true interval, what began anew has none, the highest is named."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from exacell.measure.finding import Finding
from exacell.measure.metricseries import finding, lines_of

BEGAN = datetime(2026, 11, 27, 10, 0, tzinfo=UTC)


def rows(*values: float, item: str = "FLASHLOG", step: float = 60) -> list[dict[str, Any]]:
    return [
        {
            "metricObjectName": item,
            "metricValue": value,
            "unit": "IO requests",
            "collectionTime": (BEGAN + timedelta(seconds=place * step)).isoformat(),
        }
        for place, value in enumerate(values)
    ]


def found(*cells: list[dict[str, Any]], counter: bool = True) -> Finding:
    lines = [line for place, own in enumerate(cells, 1) for line in lines_of(f"cel{place:02}", own)]
    return finding("FL_RQ_W", "redo writes", lines, counter=counter)


def test_a_counter_is_its_rate_over_the_true_interval() -> None:
    """Collections 30 seconds apart give twice the rate of those a minute apart; the increase is the same."""
    minute, half = (found(rows(100, 160, 160, step=step)) for step in (60, 30))
    assert minute.figures is not None and half.figures is not None
    (one,), (two,) = minute.figures.rows, half.figures.rows
    assert (one["increase"], one["most"], one["least"], one["mean"]) == (60, 1, 0, 0.5)
    assert (two["increase"], two["most"]) == (60, 2)
    assert minute.sentences == (
        "FL_RQ_W (redo writes) grew by 60 IO requests on cel01 over 2m00s.",
        "The highest was 1 IO requests/s at 10:01 on cel01 FLASHLOG.",
    )


def test_a_counter_that_fell_has_no_rate_there() -> None:
    """A restart is told, no rate is below 0, and what came behind it counts."""
    said = found(rows(1000, 1060, 30, 90))
    assert said.figures is not None
    (row,) = said.figures.rows
    assert (row["increase"], row["fell"], row["least"], row["most"]) == (120, 1, 1, 1)
    assert said.sentences[-1] == "Counters on cel01 were reset; no rate includes that moment."
    assert [y for _, y in said.charts[0].series[0].points] == [1.0, 1.0]


def test_a_value_is_shown_as_it_is() -> None:
    """What is no counter has its range and its highest value, with cell and time; it may fall."""
    said = found(rows(5, 3, 4), rows(1, 9, 2), counter=False)
    assert said.sentences == (
        "FL_RQ_W (redo writes) was 1 to 9 IO requests on cel[01-02] over 2m00s.",
        "The highest was 9 IO requests at 10:01 on cel02 FLASHLOG.",
    )
    assert [series.points for series in said.charts[0].series] == [
        ((-2.0, 5.0), (-1.0, 3.0), (0.0, 4.0)),
        ((-2.0, 1.0), (-1.0, 9.0), (0.0, 2.0)),
    ]


@pytest.mark.parametrize(("counter", "says"), [(True, "grew by 0"), (False, "was 7 to 7")])
def test_one_collection_is_a_value_without_a_rate(counter: bool, says: str) -> None:
    """The current value alone is told; of a counter there is no rate, and no chart of one."""
    said = found(rows(7), counter=counter)
    assert says in said.sentences[0] and said.figures is not None
    assert said.figures.rows[0]["latest"] == 7 and len(said.charts[0].series) == (0 if counter else 1)


def test_of_many_lines_the_chart_has_the_highest() -> None:
    """With more than ten objects the chart has those with the highest values, and that is told."""
    many = [row for number in range(15) for row in rows(number, number, item=f"CD_{number:02}")]
    said = found(many, counter=False)
    assert said.notes == ("the chart has the 10 of 15 that were highest",)
    assert [series.name for series in said.charts[0].series] == [f"cel01 CD_{number:02}" for number in range(5, 15)]
    assert said.figures is not None and len(said.figures.rows) == 15


def test_rows_that_tell_nothing_are_left_out() -> None:
    """A row without a number or a time is no value; history and current value of one collection are one."""
    told = [*rows(1, 2), {**rows(9)[0], "metricValue": None}, {**rows(9)[0], "collectionTime": None}, *rows(1)]
    (line,) = lines_of("cel01", told)
    assert [value for _, value in line.values] == [1, 2]
