"""Plans that take journalled changes back: the recorded inverses, last step first. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from exacell.cellcli import iorm
from exacell.errors import RefusedError
from exacell.plan.model import Check, Op, Plan, Risk, Stage, Step, Undo


class JournalRow(Protocol):
    """What a row of the journal says: its kind, its target, and a body of JSON."""

    @property
    def kind(self) -> str:
        """Of the row: plan, intent, outcome, end or observed."""

    @property
    def target(self) -> str:
        """The cell or node, empty for a whole change."""

    @property
    def body(self) -> Mapping[str, Any]:
        """The row's own words."""


def undo_plan(rack: str, changes: Sequence[Sequence[JournalRow]], *, statement: str) -> Plan:
    """Return the plan that takes ``changes`` back, newest first.

    Args:
        changes: the journal's rows of each change, oldest change first.

    Raises:
        RefusedError: a step that was done has no inverse; names it and why.
    """
    stages: list[Stage] = []
    for rows in reversed(list(changes)):
        stages += _stages(rows)
    impossible = [step for stage in stages for step in stage.steps if step.undo is Undo.IMPOSSIBLE]
    if impossible:
        first = impossible[0]
        raise RefusedError(
            f"{statement}: '{first.what}' on {first.target} cannot be undone, because {first.inverse}; nothing was sent"
        )
    done = {} if stages else {"rack": "there is nothing to take back"}
    return Plan(statement=statement, rack=rack, stages=tuple(stages), done=done)


def _stages(rows: Sequence[JournalRow]) -> list[Stage]:
    """One stage per intent wave, in reverse; steps that were not done or change nothing are left out."""
    intents = [row for row in rows if row.kind == "intent"]
    outcomes = {(row.target, str(row.body.get("what"))): row for row in rows if row.kind == "outcome"}
    stages: dict[str, list[Step]] = {}
    for row in intents:
        what = str(row.body.get("what"))
        outcome = outcomes.get((row.target, what))
        if outcome is None or outcome.body.get("state") != "done" or row.body.get("undo") == Undo.NOTHING:
            continue
        if outcome.body.get("mending"):
            continue
        stages.setdefault(what, []).append(_inverse(row, what))
    return [
        Stage(title=f"take back: {what}", key=f"undo{number}", steps=tuple(steps))
        for number, (what, steps) in enumerate(reversed(list(stages.items())))
    ]


def _inverse(row: JournalRow, what: str) -> Step:
    inverse = str(row.body.get("inverse") or "")
    undo = Undo(str(row.body.get("undo")))
    return Step(
        target=row.target,
        asm=str(row.body.get("asm") or ""),
        statement=inverse if undo is Undo.STATEMENT else "",
        what=what if undo is Undo.IMPOSSIBLE else f"take back: {what}",
        needs=_guard(inverse),
        risk=Risk.PERFORMANCE,
        undo=Undo.IMPOSSIBLE if undo is Undo.IMPOSSIBLE else Undo.STATEMENT,
        inverse=inverse if undo is Undo.IMPOSSIBLE else str(row.body.get("statement") or ""),
    )


def _guard(inverse: str) -> tuple[Check, ...]:
    """The fact that makes an inverse safe: a grid disk that nobody uses, a disk group without files."""
    dropping = re.fullmatch(r"DROP GRIDDISK (\S+)", inverse)
    if dropping:
        names = tuple(dropping[1].split(","))
        return (
            Check(
                object="griddisk",
                attribute="asmModeStatus",
                op=Op.IN,
                value=("UNUSED", "DROPPED"),
                where={"name": names},
                why="a grid disk that ASM uses is never dropped",
            ),
        )
    group = re.fullmatch(r"DROP DISKGROUP (\S+)", inverse)
    if group:
        return (
            Check(object="asm.diskgroup", attribute="files", value=0, where={"name": group[1]}, why="it has files"),
        )
    return ()
