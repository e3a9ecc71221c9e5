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
    found: list[Stage] = []
    for what, steps in reversed(list(stages.items())):
        first = tuple(_deactivation(step) for step in steps if _dropped_disks(step.statement))
        if first:
            found.append(Stage(title="deactivate the grid disks", key=f"undo{len(found)}", steps=first))
        found.append(Stage(title=f"take back: {what}", key=f"undo{len(found)}", steps=tuple(steps)))
    return found


def _inverse(row: JournalRow, what: str) -> Step:
    inverse = str(row.body.get("inverse") or "")
    undo = Undo(str(row.body.get("undo")))
    if undo is Undo.IMPOSSIBLE:
        return Step(target=row.target, what=what, undo=undo, inverse=inverse)
    sent = str(row.body.get("statement") or "")
    return Step(
        target=row.target,
        asm=str(row.body.get("asm") or ""),
        statement=inverse,
        what=f"take back: {what}",
        needs=_needs(sent, inverse),
        proves=_proofs(inverse),
        risk=Risk.PERFORMANCE,
        undo=Undo.STATEMENT,
        inverse=sent,
    )


def _dropped_disks(statement: str) -> tuple[str, ...]:
    dropping = re.fullmatch(r"DROP GRIDDISK (\S+)", statement)
    return tuple(dropping[1].split(",")) if dropping else ()


def _deactivation(step: Step) -> Step:
    """The step before grid disks are dropped: a cell drops no active one. Source: Oracle SAGUG, drop-griddisk."""
    names = _dropped_disks(step.statement)
    return Step(
        target=step.target,
        statement=f"ALTER GRIDDISK {','.join(names)} INACTIVE",
        what=f"deactivate {len(names)} grid disks",
        needs=(_unused(names),),
        proves=(Check(object="griddisk", attribute="status", value="inactive", where={"name": names}),),
        expect=len(names),
        undo=Undo.STATEMENT,
        inverse=f"ALTER GRIDDISK {','.join(names)} ACTIVE",
    )


def _unused(names: tuple[str, ...]) -> Check:
    return Check(
        object="griddisk",
        attribute="asmModeStatus",
        op=Op.IN,
        value=("UNUSED", "DROPPED"),
        where={"name": names},
        why="a grid disk that ASM uses is never taken away",
    )


def _dbplan(statement: str) -> str | None:
    """The IORM plan that a statement sets, in its canonical spelling; None when it sets none."""
    match = re.fullmatch(r"ALTER IORMPLAN dbplan=(.*)", statement, re.IGNORECASE | re.DOTALL)
    return iorm.render(iorm.parse(match[1])) if match else None


def _needs(sent: str, inverse: str) -> tuple[Check, ...]:
    """The facts that make an inverse safe: nobody uses the disks, the group has no files, the plan is still ours."""
    names = _dropped_disks(inverse)
    if names:
        return (_unused(names),)
    group = re.fullmatch(r"DROP DISKGROUP (\S+)", inverse)
    if group:
        where = {"name": group[1]}
        return (
            Check(object="asm.diskgroup", attribute="files", value=0, where=where, why="it has files"),
            Check(object="asm.diskgroup", attribute="clients", value=(), where=where, why="databases use it"),
        )
    ours = _dbplan(sent)
    if ours is not None and _dbplan(inverse) is not None:
        why = "it was changed since, and taking it back would undo that too"
        return (Check(object="iormplan", attribute="dbPlan", value=ours, why=why),)
    return ()


def _proofs(inverse: str) -> tuple[Check, ...]:
    """What is read back to prove an inverse; empty where the target's own text has to do."""
    names = _dropped_disks(inverse)
    if names:
        return (Check(object="griddisk", op=Op.ABSENT, where={"name": names}),)
    switched = re.fullmatch(r"ALTER GRIDDISK (\S+) (ACTIVE|INACTIVE)", inverse)
    if switched:
        where = {"name": tuple(switched[1].split(","))}
        return (Check(object="griddisk", attribute="status", value=switched[2].lower(), where=where),)
    group = re.match(r"(DROP|CREATE) DISKGROUP (\w+)", inverse)
    if group:
        gone = Op.ABSENT if group[1] == "DROP" else Op.COUNT
        value = None if group[1] == "DROP" else 1
        return (Check(object="asm.diskgroup", op=gone, value=value, where={"name": group[2]}),)
    plan = _dbplan(inverse)
    return (Check(object="iormplan", attribute="dbPlan", value=plan),) if plan is not None else ()
