"""Compare two intervals between snapshots, such as a run with the flash log and one without it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from exacell.core.units import format_duration
from exacell.core.values import dataclass
from exacell.measure.explain import Explanation, Figure
from exacell.measure.proportion import Share, apart, rounded


@dataclass(frozen=True, kw_only=True)
class Interval:
    """The interval between two snapshots.

    Attributes:
        name: as the user writes it, ``before..after``.
        seconds: its length; 0 if the rack has no figure.
        explained: kind → its explanation.
    """

    name: str
    seconds: float
    explained: Mapping[str, Explanation]

    def figures(self, kind: str) -> dict[str, Figure]:
        """Return figure name → figure of a kind; empty if the rack has none."""
        return {figure.name: figure for figure in self.explained[kind].figures}


COLUMNS = ("figure", "unit", "a", "b", "difference", "low", "high", "ratio", "means")

_SHARES = {
    "flashlog": (
        "flashWins",
        "races",
        "of the redo writes that used the flash log flash answered first in",
        "no redo write used the flash log",
    ),
    "flashcache": (
        "hits",
        "smallReads",
        "of the small reads the flash cache had",
        "no small read asked the flash cache",
    ),
}
"""Kind → its main share, the total of that share, its sentence, and the sentence for a total of 0."""

NO_PROOF = (
    "Two intervals are two single runs: what else differed between them is in it, and the intervals of confidence come from "
    "counting alone. An experiment makes runs in turn and says what holds."
)


def sentences(a: Interval, b: Interval) -> Iterator[str]:
    """Yield sentences that compare the second interval with the first; the main share of each kind comes first."""
    void = [
        f"{one.name}: {one.explained[kind].sentences[0]}" for one in (a, b) for kind in a.explained if not one.seconds
    ]
    if void:
        yield f"There is no comparison. {' '.join(void)}"
        return
    for kind in a.explained:
        one, other = a.figures(kind), b.figures(kind)
        means = [figures["redoWriteMean"].value for figures in (one, other) if "redoWriteMean" in figures]
        if len(means) == 2:
            yield (
                f"A redo write took {means[1]:,.0f} µs on average in {b.name} and {means[0]:,.0f} µs in {a.name} "
                f"({100 * (means[1] / means[0] - 1):+.1f} %), from the cell's taking it to its answer."
            )
        name, whole, what, nothing = _SHARES[kind]
        shares = [_share(figures.get(name)) for figures in (one, other)]
        if shares[0] is not None and shares[1] is not None:
            yield _both(a, b, what, shares[0], shares[1])
            continue
        for side, found in zip((a, b), shares, strict=True):
            told = f"{what} {found}" if found is not None else nothing
            if found is None and whole not in side.figures(kind):
                told = "the share is not known, because a counter is missing on a cell: explain says which"
            yield f"In {side.name} {told}."
    yield NO_PROOF


def _both(a: Interval, b: Interval, what: str, one: Share, other: Share) -> str:
    found = apart(one, other)
    return (
        f"In {b.name} {what} {rounded(other.percent, other)} %, in {a.name} in {rounded(one.percent, one)} %: "
        f"{found.percent:+.{_digits(found)}f} points (95 %: {found.low:+.{_digits(found)}f} to "
        f"{found.high:+.{_digits(found)}f})."
    )


def _digits(found: Share) -> int:
    return len(rounded(found.percent, found).partition(".")[2])


def _share(figure: Figure | None) -> Share | None:
    if figure is None or figure.low is None or figure.high is None:
        return None
    return Share(float(figure.value), figure.low, figure.high)


def rows(kind: str, a: Interval, b: Interval) -> Iterator[dict[str, Any]]:
    """Yield a row for each figure of either interval: shares and means unchanged, counts per second."""
    one, other = a.figures(kind), b.figures(kind)
    for name in dict.fromkeys((*one, *other)):
        figure = one.get(name) or other[name]
        counted = figure.unit not in ("%", "us")
        values = [
            None if found is None else found.value / side.seconds if counted else found.value
            for side, found in ((a, one.get(name)), (b, other.get(name)))
        ]
        row: dict[str, Any] = {
            "figure": name,
            "unit": f"{figure.unit}/s" if counted else figure.unit,
            "a": _short(values[0]),
            "b": _short(values[1]),
            "means": figure.means,
        }
        if values[0] is not None and values[1] is not None:
            if figure.unit == "%":
                row["difference"] = _short(values[1] - values[0])
            elif values[0]:
                row["ratio"] = _short(values[1] / values[0])
        shares = _share(one.get(name)), _share(other.get(name))
        if shares[0] is not None and shares[1] is not None:
            found = apart(shares[0], shares[1])
            row |= {"low": _short(found.low), "high": _short(found.high)}
        yield row


def _short(value: float | None) -> float | None:
    return None if value is None else round(float(value), 4)


def lasted(one: Interval) -> str:
    """Return the length of an interval, as a phrase."""
    return f"{format_duration(one.seconds)} between two collections" if one.seconds else "no figure for the rack"
