"""Thresholds and alerts of an emulated cell. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Threshold:
    """Limits on a metric: ``CL_FSUT./`` for one object or ``CD_IO_UTIL`` for all objects.

    Attributes:
        occurrences: collections in a row that must cross the limit before an alert begins.
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
        value: the metric's value; None for an alert that is not about a metric.
        description: empty when the message alone describes the alert.
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
        """Return whether the alert stands alone, as an incident does, and never clears."""
        return "_" not in self.name
