"""Take journalled changes back: the inverse statements of each plan, newest change first.

An inverse is a statement like any other: it is planned from what is there now, guarded, shown, confirmed and journalled.
Before that, what the change left behind must still be there; if somebody changed it since, undo refuses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exacell.cellset import fold
from exacell.errors import ExitCode, RefusedError
from exacell.journal import Entry
from exacell.language.line import with_call_flags
from exacell.output.result import Record, Result, worst
from exacell.plan.model import Step, step_from_json
from exacell.probe import Prober

if TYPE_CHECKING:
    from exacell.context import Context
    from exacell.language.registry import Value


@dataclass(frozen=True, kw_only=True)
class Done:
    """What a change really did: its statement, and per target the steps that were done, in order."""

    change: int
    statement: str
    steps: Mapping[str, tuple[Step, ...]]
    inverse: Mapping[str, tuple[str, ...]]


def read_change(entries: Sequence[Entry]) -> Done:
    """Return what the rows of one change say was done.

    Raises:
        RefusedError: they hold no plan.
    """
    plan_row = next((e for e in entries if e.kind == "plan"), None)
    body: Mapping[str, Any] = plan_row.body if plan_row is not None else {}
    if plan_row is None or "plan" not in body:
        raise RefusedError(
            f"change {entries[0].change if entries else '?'} has no plan in the journal, so nothing to undo"
        )
    outcomes = {
        (e.target, str(e.body.get("what"))): str(e.body.get("state"))
        for e in entries
        if e.kind == "outcome" and not e.body.get("mending")
    }
    steps: dict[str, list[Step]] = {}
    for stage in body["plan"]["stages"]:
        if stage["gate"] == "mend":
            continue
        for item in stage["steps"]:
            step = step_from_json(item)
            if outcomes.get((step.target, step.what)) == "done" and step.statement:
                steps.setdefault(step.target, []).append(step)
    inverse = {target: tuple(found) for target, found in body["plan"].get("inverse", {}).items()}
    return Done(
        change=plan_row.change,
        statement=str(body.get("statement")),
        steps={target: tuple(found) for target, found in steps.items()},
        inverse=inverse,
    )


def undo(ctx: Context, changes: Sequence[int], flags: Mapping[str, Value]) -> Result:
    """Take back the changes with these numbers, newest first, and return the outcomes.

    Raises:
        RefusedError: one of them can't be taken back, or what it left has moved; nothing was sent for that one.
    """
    rack = ctx.need_rack().name
    found = [read_change(ctx.journal.entries(rack=rack, change=number)) for number in sorted(changes, reverse=True)]
    for done in found:
        _refuse_impossible(done)
    records: list[Record] = []
    problems: list[str] = []
    notes: list[str] = []
    codes: list[ExitCode] = []
    before = ctx.origin
    try:
        for done in found:
            if not done.steps:
                ctx.console.say(
                    f"change {done.change} ({done.statement}) changed nothing, so there is nothing to take back"
                )
                continue
            _refuse_moved(ctx, done)
            ctx.origin = f"undo {done.change}"
            for statement in _statements(ctx, done):
                ctx.console.say(f"undo change {done.change} ({done.statement}): {statement}")
                result = ctx.execute(with_call_flags(statement, flags))
                records += result.records
                problems += result.problems
                notes += result.notes
                codes.append(result.exit_code)
                if result.exit_code not in (ExitCode.DONE, ExitCode.CHANGES):
                    return Result(records=records, notes=notes, problems=problems, exit_code=worst(codes), fold=True)
    finally:
        ctx.origin = before
    return Result(records=records, notes=notes, problems=problems, exit_code=worst(codes), fold=True)


def _refuse_impossible(done: Done) -> None:
    """Refuse when a cell that the change left something on, or the change as a whole, has no inverse."""
    if not done.steps:
        return
    left = {target: [s for s in steps if s.undo != "nothing"] for target, steps in done.steps.items()}
    # A disk group's inverse is one statement for all nodes.
    bare = [t for t, steps in left.items() if t not in done.inverse and any(not s.asm for s in steps)]
    if done.inverse and not bare:
        return
    steps = [step for target in bare or left for step in left[target]]
    reason = next((step.inverse for step in steps if step.undo == "impossible" and step.inverse), "")
    if not steps:
        reason = "it left nothing behind"
    where = f" on {fold(bare)}" if bare and done.inverse else ""
    raise RefusedError(
        f"change {done.change} ({done.statement}) cannot be undone{where}: {reason or 'no inverse was recorded'}; "
        "nothing was sent"
    )


def _refuse_moved(ctx: Context, done: Done) -> None:
    """Refuse when what the last step of each target proved does not hold any more."""
    rack = ctx.need_rack()
    clusters = {step.asm for steps in done.steps.values() for step in steps if step.asm}
    prober = Prober(ctx.fleet, {name: ctx.asm(name) for name in clusters})
    last = {target: steps[-1] for target, steps in done.steps.items()}
    cells = {target: step.proves for target, step in last.items() if not step.asm and target in rack.cells}
    failures = prober.cells(cells)
    for target, step in last.items():
        if step.asm:
            failures[target] = prober.asm(step.asm, step.proves)
    for target, failed in failures.items():
        if failed:
            raise RefusedError(
                f"undo of change {done.change} ({done.statement}): {target}: {next(iter(failed.values()))}; it has been "
                "changed since; nothing was sent",
                hint="undo the later change first, or make the new change by hand",
            )


def _statements(ctx: Context, done: Done) -> list[str]:
    """Return the inverse statements in order, with ON for the cells on which the change was done."""
    cells = ctx.need_rack().cells
    groups: dict[tuple[str, ...], list[str]] = {}
    for target, statements in done.inverse.items():
        if target in done.steps:
            groups.setdefault(statements, []).append(target)
    found = []
    for statements, targets in groups.items():
        on = [target for target in targets if target in cells]
        found += [f"on {fold(on)} {statement}" if on else statement for statement in statements]
    return found
