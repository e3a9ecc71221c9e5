"""Saved plans: what a plan was made from, and whether that has moved since. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from exacell.errors import RefusedError
from exacell.plan.facts import CellFacts
from exacell.plan.model import Plan

_MOVING = ("metrics",)
"""Facts that move by themselves; steps that depend on them read them again right before they run."""


@dataclass(frozen=True, kw_only=True)
class SavedPlan:
    """A statement with the plan it led to and the facts it was made from.

    Attributes:
        cells: the cells it was planned for.
        facts: ``cell`` → path of an attribute → value, as text.
        stages: the stages as canonical JSON.
        made: when, ISO 8601 UTC.
    """

    name: str
    rack: str
    statement: str
    cells: tuple[str, ...]
    facts: Mapping[str, Mapping[str, str]]
    stages: str
    made: str


def stages_json(plan: Plan) -> str:
    """Return a plan's stages as canonical JSON; its notes may hold figures that move by themselves."""
    return json.dumps(asdict(plan)["stages"], sort_keys=True, separators=(",", ":"))


def flatten(fact: CellFacts) -> dict[str, str]:
    """Return path → value as text for everything that does not move by itself."""
    flat: dict[str, str] = {}
    for name, value in asdict(fact).items():
        if name not in _MOVING and name != "cell":
            _walk(name, value, flat)
    return flat


def _walk(path: str, value: Any, flat: dict[str, str]) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            _walk(f"{path}.{key}", item, flat)
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            name = item.get("name") if isinstance(item, Mapping) else None
            _walk(f"{path}[{name or place}]", item, flat)
    else:
        flat[path] = "" if value is None else str(value)


def refuse_moved(saved: SavedPlan, facts: Mapping[str, CellFacts]) -> None:
    """Raise when a fact is another than the saved plan was made from.

    Raises:
        RefusedError: names cell, attribute, old and new value.
    """
    for cell, fact in facts.items():
        before, now = saved.facts.get(cell), flatten(fact)
        if before is None:
            raise RefusedError(f"plan {saved.name} was not made for {cell}; nothing was sent", hint=_AGAIN)
        for path in sorted({*before, *now}):
            old, new = before.get(path, "absent"), now.get(path, "absent")
            if old != new:
                raise RefusedError(
                    f"plan {saved.name}: {cell}: {path} was {old or 'empty'} and is {new or 'empty'}; nothing was sent",
                    hint=_AGAIN,
                )


def refuse_other_plan(saved: SavedPlan, plan: Plan) -> None:
    """Raise when the statement would do something else now than when it was saved.

    Raises:
        RefusedError: the steps differ.
    """
    if stages_json(plan) != saved.stages:
        raise RefusedError(
            f"plan {saved.name}: '{saved.statement}' would do something else now; nothing was sent", hint=_AGAIN
        )


_AGAIN = "plan it again: plan as=NAME <statement>"
