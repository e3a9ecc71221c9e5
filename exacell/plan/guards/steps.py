"""What every guarded CellCLI statement is made of: its step on each cell, and the acceptance that it may need. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.cellcli.statement import Statement, render
from exacell.plan.facts import CellFacts
from exacell.plan.model import Change, Check, Plan, Risk, Stage, Step, Undo

Checks = Mapping[str, tuple[Check, ...]]
"""Checks by cell; a cell without an entry has none."""

NO_INVERSE = "exacell keeps no inverse of CellCLI's own statement"
"""Why a statement of CellCLI's own can't be undone, where nothing else is known."""


def guarded_step(cell: str, statement: Statement, risk: Risk, **more: object) -> Step:
    """Return the step that sends the statement to one cell; ``more`` are Step's own keywords."""
    values: dict[str, object] = {
        "target": cell,
        "statement": render(statement),
        "what": render(statement)[:60],
        "risk": risk,
        "expect": 0,
        "undo": Undo.IMPOSSIBLE,
        "inverse": NO_INVERSE,
        **more,
    }
    return Step(**values)  # type: ignore[arg-type]  # the keywords are Step's own


def guarded_plan(rack: str, text: str, steps: Sequence[Step], **more: object) -> Plan:
    """Return the plan of one stage; ``more`` are Plan's own keywords."""
    stage = Stage(title="send the statement", key="send", steps=tuple(steps))
    return Plan(statement=text, rack=rack, stages=(stage,), **more)  # type: ignore[arg-type]  # the keywords are Plan's own


def simple(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: Statement,
    text: str,
    risk: Risk,
    *,
    proves: tuple[Check, ...] = (),
) -> Plan:
    """Return the plan of a statement that needs nothing."""
    return guarded_plan(rack, text, [guarded_step(cell, statement, risk, proves=proves) for cell in facts])


def lossy(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: Statement,
    text: str,
    reasons: Mapping[str, str],
    *,
    needs: Checks | None = None,
    always: Checks | None = None,
    proves: Checks | None = None,
    changes: Mapping[str, tuple[Change, ...]] | None = None,
    warnings: tuple[str, ...] = (),
    back: str = "",
    **more: object,
) -> Plan:
    """Return the plan that needs each cell in ``reasons`` accepted by its name.

    Args:
        needs: what stands in for the acceptance on the other cells, read again right before.
        always: what no acceptance replaces.
        changes: what each cell's plan shows of before and after.
        back: exacell's statement that takes the change back, empty for none.
    """
    steps = [
        guarded_step(
            cell,
            statement,
            Risk.DATA if cell in reasons else Risk.PERFORMANCE,
            needs=((always or {}).get(cell, ())) + (() if cell in reasons else (needs or {}).get(cell, ())),
            proves=(proves or {}).get(cell, ()),
            changes=(changes or {}).get(cell, ()),
            **more,
        )
        for cell in facts
    ]
    return guarded_plan(
        rack,
        text,
        steps,
        loss=tuple(reasons),
        loss_reasons=dict(reasons),
        warnings=warnings,
        inverse=dict.fromkeys(facts, (back,)) if back else {},
    )
