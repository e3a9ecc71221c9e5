"""Prepare a plan for the screen: without the passwords and keys in its statements and on the cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import Any

from exacell.cellcli.secrets import MASK, is_secret_name, masked
from exacell.plan.model import Plan


def without_secrets(plan: Plan) -> Plan:
    """Return the plan with every secret masked; the same plan if it has none."""
    found: Plan = _without(plan)
    return found


def _without(value: Any) -> Any:
    if isinstance(value, Enum) or value is None or isinstance(value, (int, float)):
        return value
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        return {key: _without(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_without(item) for item in value)
    if not hasattr(value, "__dataclass_fields__"):
        return value
    own = vars(value)
    about = is_secret_name(str(own.get("attribute") or ""))
    changed = {
        name: after
        for name, before in own.items()
        if (after := MASK if about and name in _VALUES and isinstance(before, str) and before else _without(before))
        != before
    }
    return replace(value, **changed) if changed else value


_VALUES = ("value", "before", "after")
