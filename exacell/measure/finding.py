"""What a measurement comes to, as a value: the verdict, its figures and what they rest on. Pure.

Snapshots, sets of trace files, imported runs and experiments give one; a comparison shows it on the terminal, a report writes
it into one file. Nobody who gives one knows how it is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from exacell.core.values import dataclass
from exacell.measure.histogram import Histogram


class Form(StrEnum):
    """How a chart shows its series."""

    CURVE = "curve"
    """Over an axis of numbers, such as the load."""
    TIMELINE = "timeline"
    """Over time, a sign for each value."""
    POINTS = "points"
    """Separate repetitions, such as runs and blocks: signs that no line joins."""
    BARS = "bars"
    """A bar for each name of ``Chart.names``, which series give by its place: x is 0, 1, 2 …"""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point that is named: the peak, the knee."""

    x: float
    y: float
    label: str


@dataclass(frozen=True, kw_only=True)
class Series:
    """One line, or one colour of bars.

    Attributes:
        points: (x, y), x ascending.
        mean: of the points with the ends of its interval, or the mean alone three times; None where none is drawn.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    marks: tuple[Mark, ...] = ()
    mean: tuple[float, float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Series over one pair of axes.

    Attributes:
        x, y: what the axes show, with the unit.
        log_x, log_y: on a logarithmic axis; all values on it are above 0.
        names: of BARS, what each place of x is; of POINTS, the names of places where they have some.
    """

    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    form: Form = Form.CURVE
    log_x: bool = False
    log_y: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """A sample as counts of values; a report shows it up to its tail, and packs it as CSV.

    Attributes:
        unit: of its values: ``µs``.
        what: which values these are; only distributions of the same thing stand in one chart.
        binned: the values are the upper ends of bins, so that quantiles are exact to a bin.
    """

    name: str
    what: str
    unit: str
    counts: Histogram
    binned: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    """Records of one shape.

    Attributes:
        columns: those that are shown, in order, and of those only numbers are aligned right.
        rows: values by column; None for what there is not.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the things that are compared.

    Attributes:
        name: as the user calls it.
        about: what it is, a phrase.
        passport: under which conditions it was measured, by name.
    """

    name: str
    about: str = ""
    passport: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change of the journal that belongs to the measurement.

    Attributes:
        at: ISO 8601.
        chained: the hash of its last entry in the journal's chain.
    """

    id: str
    at: str
    statement: str
    outcome: str
    chained: str = ""


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A file that the measurement rests on, as it was read."""

    name: str
    content: bytes


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a measurement comes to.

    Attributes:
        title: what was looked at, a phrase.
        sentences: the first is the verdict; what it does not say comes behind it.
        figures: the table below the sentences on a terminal.
        tables: further ones, in a report only.
        sides: what was compared, the first is what the other is compared with.
        repeat: the statements that do the same again.
        notes: what the reader should know of how it was made.
        records: for programs; ``figures`` where it is empty.
        failed: there is no verdict, because something has no figure.
    """

    title: str
    sentences: tuple[str, ...]
    figures: Table | None = None
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    distributions: tuple[Distribution, ...] = ()
    sides: tuple[Side, ...] = ()
    changes: tuple[Change, ...] = ()
    repeat: tuple[str, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    notes: tuple[str, ...] = ()
    records: tuple[Mapping[str, Any], ...] = ()
    failed: bool = False

    @property
    def verdict(self) -> str:
        """The sentence that a reader takes along; empty where nothing is said."""
        return self.sentences[0] if self.sentences else ""


def differences(sides: tuple[Side, ...]) -> dict[str, tuple[str, ...]]:
    """Return by name the conditions that are not the same on all sides, with each side's value, "not told" where it has none."""
    names = dict.fromkeys(name for side in sides for name in side.passport)
    told = {name: tuple(side.passport.get(name, "not told") for side in sides) for name in names}
    return {name: values for name, values in told.items() if len(set(values)) > 1}
