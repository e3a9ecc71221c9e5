"""What a planner hands over: its plan, and the facts it was made from. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from exacell.core.values import dataclass
from exacell.plan.facts import CellFacts
from exacell.plan.model import Plan


@dataclass(frozen=True)
class Planned:
    """What a statement that changes something comes to before anything is sent.

    Attributes:
        facts: what was read for the plan, by cell; none where it needs no fact of a cell.
        afterwards: said when the plan was carried out, or shown.
    """

    plan: Plan
    facts: Mapping[str, CellFacts] = field(default_factory=dict)
    afterwards: str = ""
