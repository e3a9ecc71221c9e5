"""Two intervals beside each other: shares with the interval of their difference, counts a second, and no proof claimed."""

from __future__ import annotations

import pytest

from exacell.measure.explain import Explanation, Figure
from exacell.measure.proportion import apart, share
from exacell.measure.sidebyside import NO_PROOF, Interval, rows, sentences


def figure(name: str, value: float, unit: str, share_of: float = 0) -> Figure:
    found = share(value * share_of / 100, share_of)
    limits = {"low": found.low, "high": found.high} if found is not None else {}
    return Figure(name=name, value=value, unit=unit, means="what it is", **limits)


def interval(name: str, seconds: float, *figures: Figure) -> Interval:
    return Interval(
        name=name, seconds=seconds, explained={"flashlog": Explanation(sentences=("Void.",), figures=figures)}
    )


@pytest.mark.parametrize(
    ("one", "other", "points", "low", "high"),
    [
        ((48, 80), (56, 70), 20.0, 5.24, 33.39),
        ((3, 10), (9, 10), 60.0, 17.05, 80.90),
        ((2, 7), (6, 7), 57.14, 5.82, 80.62),
        ((0, 20), (10, 10), 100.0, 67.91, 100.0),
        ((0, 10), (10, 10), 100.0, 60.75, 100.0),
    ],
)
def test_the_difference_of_two_shares_is_newcombes(
    one: tuple[float, float], other: tuple[float, float], points: float, low: float, high: float
) -> None:
    """The published examples of method 10 come out, small counts and shares of 0 and 1 among them."""
    first, second = share(*one), share(*other)
    assert first is not None and second is not None
    found = apart(first, second)
    assert (found.percent, found.low, found.high) == (
        pytest.approx(points, abs=0.006), pytest.approx(low, abs=0.006), pytest.approx(high, abs=0.006),
    )  # fmt: skip


def test_both_shares_are_told_with_the_interval_of_their_difference() -> None:
    """Means first, then the shares, and last that this is no proof; counts of unequal intervals are compared a second."""
    a = interval(
        "a1..a2",
        100,
        figure("redoWriteMean", 500, "us"),
        figure("flashWins", 40, "%", 1000),
        figure("races", 1000, "writes"),
    )
    b = interval(
        "b1..b2",
        50,
        figure("redoWriteMean", 550, "us"),
        figure("flashWins", 50, "%", 1000),
        figure("races", 1000, "writes"),
    )
    said = list(sentences(a, b))
    assert said[0].startswith("A redo write took 550 µs on average in b1..b2 and 500 µs in a1..a2 (+10.0 %)")
    assert said[1].endswith("50.0 %, in a1..a2 in 40.0 %: +10.0 points (95 %: +5.6 to +14.3).")
    assert said[-1] == NO_PROOF
    found = {row["figure"]: row for row in rows("flashlog", a, b)}
    assert (found["races"]["unit"], found["races"]["a"], found["races"]["b"], found["races"]["ratio"]) == (
        "writes/s",
        10,
        20,
        2,
    )
    assert found["flashWins"]["difference"] == 10 and found["flashWins"]["low"] == pytest.approx(5.64, abs=0.01)
    assert found["redoWriteMean"]["ratio"] == 1.1


def test_a_share_of_nothing_is_said_to_be_none() -> None:
    """Where one interval has no redo write that used the flash log, that is said, and its column is empty."""
    a, b = interval("a", 60, figure("flashWins", 40, "%", 1000)), interval("b", 60, figure("races", 0, "writes"))
    assert "In b no redo write used the flash log." in list(sentences(a, b))
    assert [row["b"] for row in rows("flashlog", a, b)] == [None, 0]


def test_an_interval_without_a_figure_is_no_comparison() -> None:
    """Counters that began anew in one of them leave one sentence with the reason."""
    (said,) = sentences(interval("a", 60), interval("b", 0))
    assert said == "There is no comparison. b: Void."
