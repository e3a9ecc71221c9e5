"""The result of a measurement as a value: the verdict, its figures, and the data behind them. Pure.

Snapshots, sets of trace files, imported runs and experiments produce findings; a comparison shows one on the terminal, a
report writes it into one file. The code that produces a finding does not depend on how it is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from exacell.core.values import dataclass
from exacell.measure.histogram import Histogram


class Form(StrEnum):
    """The form of a chart."""

    CURVE = "curve"
    """Over an axis of numbers, such as the load."""
    TIMELINE = "timeline"
    """Over time, with a sign for each value."""
    POINTS = "points"
    """Separate repetitions, such as runs and blocks: signs without connecting lines."""
    BARS = "bars"
    """A bar for each name of ``Chart.names``; x in the series is the index of the name: 0, 1, 2 …"""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point with a name: the peak, the knee."""

    x: float
    y: float
    label: str


@dataclass(frozen=True, kw_only=True)
class Series:
    """One line, or one colour of bars.

    Attributes:
        points: (x, y), x ascending.
        mean: mean of the points and the ends of its interval, or the mean three times without interval; None: it is not drawn.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    marks: tuple[Mark, ...] = ()
    mean: tuple[float, float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Series over one pair of axes.

    Attributes:
        x, y: titles of the axes, with the unit.
        log_x, log_y: whether the axis is logarithmic; all its values must be above 0.
        names: for BARS the name of each x; for POINTS names of x values, if they have some.
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
    """A sample as counts of values; a report shows it up to its tail, and contains it as CSV.

    Attributes:
        unit: unit of the values: ``µs``.
        what: the quantity; only distributions of the same quantity share a chart.
    """

    name: str
    what: str
    unit: str
    counts: Histogram


@dataclass(frozen=True, kw_only=True)
class Table:
    """Records of one shape.

    Attributes:
        columns: the columns that are shown, in order; only columns with nothing but numbers are aligned right.
        rows: column → value; None for a missing value.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the items that are compared.

    Attributes:
        name: the user's name for it.
        about: a phrase that describes it.
        passport: condition → its value during the measurement.
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
    """A file that the measurement is based on, as it was read."""

    name: str
    content: bytes


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The result of a measurement.

    Attributes:
        title: what was measured, a phrase.
        sentences: the verdict, then further sentences.
        figures: the table below the sentences on a terminal.
        tables: more tables, only in a report.
        sides: the items that were compared; the others are compared with the first.
        repeat: the statements that repeat the measurement.
        notes: notes for the reader about how it was made.
        records: records for programs; if empty, ``figures`` is used.
        failed: whether there is no verdict, because a figure is missing.
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
        """Return the most important sentence; empty if there are no sentences."""
        return self.sentences[0] if self.sentences else ""


def differences(sides: tuple[Side, ...]) -> dict[str, tuple[str, ...]]:
    """Return condition → its value on each side, for conditions that differ; "not told" for a side without a value."""
    names = dict.fromkeys(name for side in sides for name in side.passport)
    told = {name: tuple(side.passport.get(name, "not told") for side in sides) for name in names}
    return {name: values for name, values in told.items() if len(set(values)) > 1}
