"""The plan that says who has examined alerts. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.care.alerts import Alert
from exacell.core.units import counted
from exacell.plan.model import Change, Check, Plan, Stage, Step


def ack_plan(rack: str, alerts: Mapping[str, Sequence[Alert]], *, by: str, statement: str) -> Plan:
    """Return the plan that sets examinedBy of these alerts, by cell. Source: Oracle SAGUG, ALTER ALERTHISTORY."""
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
                changes=tuple(
                    Change(object="alert", name=name, attribute="examinedBy", before="-", after=by) for name in names
                ),
            )
        )
    notes = [
        f"{cell} {alert.name}: {alert.severity}: {alert.message}" for cell, found in alerts.items() for alert in found
    ]
    stage = Stage(title="say that they were seen", key="ack", steps=tuple(steps))
    return Plan(statement=statement, rack=rack, stages=(stage,), notes=tuple(notes[:10]))
