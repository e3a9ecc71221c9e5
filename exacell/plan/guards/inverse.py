"""What takes an ALTER of plain attributes back: the values that the cells held before, where LIST told them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from exacell.cellcli.schema import Kind, objects
from exacell.plan.guards.steps import NO_INVERSE
from exacell.plan.model import Change, Plan, Step, Undo

_TEXT = frozenset((Kind.STRING, Kind.TEXT))
"""Kinds whose values stand in quotes, and may be set to nothing."""

_WORDS = frozenset((Kind.ENUM, Kind.INT, Kind.NUMBER))

_NEVER = frozenset(("name", "availableTo"))
"""Attributes that decide who finds an object, or may use it."""


def with_inverse(plan: Plan) -> Plan:
    """Return the plan whose steps of plain attributes have the statements that bring the old values back.

    Only steps that say what becomes of each attribute, and have no other inverse, are given one.
    """
    back: dict[str, tuple[str, ...]] = {}
    stages = tuple(replace(stage, steps=tuple(_step(step, back) for step in stage.steps)) for stage in plan.stages)
    return replace(plan, stages=stages, inverse={**back, **plan.inverse}) if back else plan


def _step(step: Step, back: dict[str, tuple[str, ...]]) -> Step:
    """Return a step with its inverse, which is also put into ``back``; the given one when there is none."""
    statements = _statements(step.changes) if step.inverse == NO_INVERSE else ()
    if not statements:
        return step
    back[step.target] = statements
    return replace(step, undo=Undo.STATEMENT, inverse="; ".join(statements))


def _statements(changes: Sequence[Change]) -> tuple[str, ...]:
    """Return one statement for the objects that get the same back; none where a value can't be given back as it was told."""
    settings: dict[tuple[str, str], list[str]] = {}
    for change in changes:
        text = _setting(change)
        if not text:
            return ()
        settings.setdefault((change.object, change.name), []).append(text)
    alike: dict[tuple[str, str], list[str]] = {}
    for (kind, name), texts in settings.items():
        alike.setdefault((kind, ", ".join(texts)), []).append(name)
    return tuple(
        f"ALTER {kind.upper()} {'' if kind == 'cell' else ','.join(names) + ' '}{text}"
        for (kind, text), names in alike.items()
    )


def _setting(change: Change) -> str:
    """Return ``attribute=value`` as it was before, empty when that can't be said."""
    attribute = objects()[change.object.upper()].attributes[change.attribute.lower()]
    value = "" if change.before == "-" else change.before
    if attribute.name in _NEVER or "'" in value:
        return ""
    if attribute.kind in _TEXT:
        return f"{attribute.name}='{value}'"
    return f"{attribute.name}={value}" if attribute.kind in _WORDS and value else ""
