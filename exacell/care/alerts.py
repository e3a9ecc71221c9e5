"""Group alert records into alerts, and plan the change that marks them as examined. Pure.

One alert is one sequence; it is open until it is cleared or somebody has examined it. A stateful alert has the members
``3_1``, ``3_2`` …, and the last member has its current state; a stateless one, ``7``, is open until it is examined. Source:
reference cellcli.md 2.3; Oracle SAGUG, "ALTER ALERTHISTORY", "LIST ALERTHISTORY".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.plan.facts import text_of
from exacell.plan.model import Change, Check, Plan, Stage, Step, Undo

ALERTS = "list alerthistory attributes name, beginTime, endTime, severity, alertMessage, examinedBy"
"""The statement that reads the alerts of each cell."""

_RANK = {"critical": 0, "warning": 1, "info": 2, "clear": 3}


@dataclass(frozen=True, kw_only=True)
class Alert:
    """The last member of one sequence, or a stateless alert.

    Attributes:
        name: name of the last member, ``3_2``.
        severity: lower case; ``clear`` if the condition is over.
        begin: time when this member began, as read.
        end: time when it ended; empty if it has not.
        examined_by: who has examined any member of it; empty for nobody.
    """

    name: str
    severity: str
    begin: str
    end: str
    message: str
    examined_by: str

    @property
    def stateful(self) -> bool:
        """Return whether it clears by itself when its condition is over."""
        return "_" in self.name

    @property
    def open(self) -> bool:
        """Return whether it still needs attention: it is not clear, has not ended, and was not examined if it is stateless."""
        if self.severity == "clear" or self.end:
            return False
        return self.stateful or not self.examined_by

    @property
    def critical(self) -> bool:
        """Return whether it is open and critical."""
        return self.open and self.severity == "critical"

    @property
    def rank(self) -> tuple[bool, int]:
        """Return a sort key that puts open alerts before others, and worse severities before less severe ones."""
        return not self.open, _RANK.get(self.severity, 2)


def alerts_of(rows: Iterable[Mapping[str, Any]]) -> tuple[Alert, ...]:
    """Return the alerts in records of :data:`ALERTS`: the worst first, then the newest."""
    sequences: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        name = text_of(row, "name")
        # A stateless alert must not be grouped with a sequence of the same number.
        sequences.setdefault(name.partition("_")[0] + "_" if "_" in name else name, []).append(row)
    newest = sorted([_last(members) for members in sequences.values()], key=lambda alert: alert.begin, reverse=True)
    return tuple(sorted(newest, key=lambda alert: alert.rank))


def short_message(message: str, most: int = 40) -> str:
    """Return an alert's subject in at most ``most`` characters: its first sentence, or for a crossed threshold the metric, its
    object and its values.
    """
    labels = r"(?:Metric Name|Object Name|Current Value|Threshold Value)\s*:\s*"
    _, found, tail = message.partition("Metric Name")
    text = " ".join(re.sub(labels, "", found + tail).split()) if found else headline(message, len(message))
    return text if len(text) <= most else text[: most - 3] + "..."


def headline(message: str, most: int = 90) -> str:
    """Return an alert's first sentence in at most ``most`` characters; for a crossed threshold with the metric and its values."""
    text = message if "Metric Name" in message else message.partition(". ")[0].removesuffix(".")
    return text if len(text) <= most else text[: most - 3] + "..."


def _last(members: list[Mapping[str, Any]]) -> Alert:
    row = max(members, key=lambda member: _number(text_of(member, "name")))
    return Alert(
        name=text_of(row, "name"),
        severity=text_of(row, "severity").lower(),
        begin=text_of(row, "beginTime"),
        end=text_of(row, "endTime"),
        message=" ".join(text_of(row, "alertMessage").split()),
        examined_by=next((by for by in (text_of(member, "examinedBy") for member in members) if by), ""),
    )


def _number(name: str) -> int:
    tail = name.rpartition("_")[2]
    return int(tail) if tail.isdigit() else 0


def ack_plan(rack: str, alerts: Mapping[str, Sequence[Alert]], *, by: str, statement: str) -> Plan:
    """Return the plan that sets examinedBy of these alerts, which are grouped by cell. Source: Oracle SAGUG, ALTER
    ALERTHISTORY.
    """
    steps = []
    for cell, found in alerts.items():
        names = tuple(alert.name for alert in found)
        steps.append(
            Step(
                target=cell,
                statement=f'ALTER ALERTHISTORY {", ".join(names)} examinedBy="{by}"',
                what=f"acknowledge {counted(len(names), 'alert')}",
                proves=(Check(object="alerthistory", attribute="examinedBy", value=by, where={"name": names}),),
                expect=len(names),
                undo=Undo.IMPOSSIBLE,
                inverse="an alert stays acknowledged",
                changes=tuple(
                    Change(object="alert", name=name, attribute="examinedBy", before="-", after=by) for name in names
                ),
            )
        )
    notes = [
        f"{cell} {alert.name}: {alert.severity}: {alert.message}" for cell, found in alerts.items() for alert in found
    ]
    stage = Stage(title="mark them as seen", key="ack", steps=tuple(steps))
    return Plan(statement=statement, rack=rack, stages=(stage,), notes=tuple(notes[:10]))
