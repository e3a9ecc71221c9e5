"""Thresholds and alerts of an emulated cell. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Threshold:
    """Limits on a metric, ``CL_FSUT./`` for one object or ``CD_IO_UTIL`` for all.

    Attributes:
        occurrences: collections in a row that must cross it before it alerts.
        observation: collections whose values are averaged before they are compared.
        recent: the last ``observation`` values by object, oldest first.
        states: normal, warning or critical by object; ``streaks``: collections in a row that crossed it.
    """

    name: str
    comparison: str
    warning: float | None = None
    critical: float | None = None
    occurrences: int = 1
    observation: int = 1
    recent: dict[str, list[float]] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)
    streaks: dict[str, int] = field(default_factory=dict)


@dataclass(kw_only=True)
class Alert:
    """One member of a sequence of alerts.

    Attributes:
        end_time: None while the sequence is open.
        value: of the metric; None for an alert that is about no metric.
        description: empty when its message is all that describes it.
    """

    name: str
    sequence: int
    short_name: str
    begin_time: float
    sequence_begin: float
    severity: str
    message: str
    action: str
    owner: str
    value: float | None
    end_time: float | None = None
    examined_by: str = ""
    description: str = ""

    @property
    def stateless(self) -> bool:
        """Whether it stands alone, as an incident does, and never clears."""
        return "_" not in self.name
