"""Change control: saved plans, resume, retry, drift and baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.errors import ExitCode, RefusedError, StatementError
from exacell.language.registry import Call, Effect, Flag, Kind, Param, command
from exacell.output.result import Column, Result, worst

if TYPE_CHECKING:
    from exacell.context import Context
    from exacell.journal import Entry

GROUP = "change control"

_STATEMENT = Param(
    name="statement", kind=Kind.STATEMENT, positional=True, required=True, rest=True, help="a changing statement"
)


@command(
    "plan",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="show what a statement would do; as=NAME keeps the plan for apply",
    details="A kept plan remembers everything that was read for it; apply refuses it when any of that has moved.",
    example="plan as=monday resize flashcache size=288g",
    params=(Param(name="as", kind=Kind.NAME, help="keep it under this name"), _STATEMENT),
    recipe_ok=False,
)
def plan(ctx: Context, call: Call) -> Result:
    """Return the planned steps; nothing is sent."""
    from datetime import UTC, datetime

    from exacell.language.line import with_call_flags
    from exacell.plan.saved import SavedPlan, flatten, stages_json
    from exacell.store import Store

    line = with_call_flags(call.text_arg("statement"), {**call.flags, "dry-run": True})
    if line.effect is not Effect.WRITE:
        raise StatementError(f"'{line.text}' changes nothing, so there is nothing to plan")
    ctx.last_plan, ctx.last_facts = None, {}
    result = ctx.execute(line)
    name = call.text_arg("as")
    if name and ctx.last_plan is not None:
        on = f"on {line.on} " if line.on else ""
        saved = SavedPlan(
            name=name,
            rack=ctx.need_rack().name,
            statement=on + line.text,
            cells=tuple(ctx.last_facts),
            facts={cell: flatten(fact) for cell, fact in ctx.last_facts.items()},
            stages=stages_json(ctx.last_plan),
            made=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        Store(ctx.home.state_dir / "store.db").save_plan(saved)
        ctx.console.say(f"kept as {name}: apply {name}")
    return result


@command(
    "apply",
    group=GROUP,
    effect=Effect.WRITE,
    summary="carry out a kept plan, refused when what it was made from has moved",
    example="apply monday -y",
    params=(Param(name="name", kind=Kind.NAME, positional=True, required=True, help="of the plan"),),
    recipe_ok=False,
)
def apply(ctx: Context, call: Call) -> Result:
    """Return one record per target with its outcome."""
    from exacell.language.line import with_call_flags
    from exacell.store import Store

    saved = Store(ctx.home.state_dir / "store.db").find_plan(ctx.need_rack().name, call.text_arg("name"))
    line = with_call_flags(saved.statement, call.flags)
    ctx.expected = saved
    try:
        return ctx.execute(line)
    finally:
        ctx.expected = None


@command(
    "plans",
    group=GROUP,
    effect=Effect.READ,
    summary="the kept plans of this rack",
    example="plans",
)
def plans(ctx: Context, call: Call) -> Result:
    """Return one record per plan."""
    from exacell.store import Store

    found = Store(ctx.home.state_dir / "store.db").plans(ctx.need_rack().name)
    rows = [
        {"cell": None, "name": p.name, "made": p.made, "cells": len(p.cells), "statement": p.statement} for p in found
    ]
    return Result(records=rows, columns=[Column(n) for n in ("name", "made", "cells", "statement")], data=True)


@command(
    "resume",
    group=GROUP,
    effect=Effect.WRITE,
    summary="finish what a crash, a kill or a lost link left unfinished",
    details="Each unfinished change is planned again from what is on the cells now, so that what is done is not done "
    "twice; the new plan is shown and confirmed like any other.",
    example="resume -y",
    recipe_ok=False,
)
def resume(ctx: Context, call: Call) -> Result:
    """Return the outcomes of all resumed changes.

    Raises:
        RefusedError: the process of an unfinished change still runs.
    """
    from exacell.journal import alive

    rack = ctx.need_rack()
    open_changes = ctx.journal.unfinished(rack.name)
    if not open_changes:
        return Result(notes=["nothing is unfinished"])
    results = []
    for row in open_changes:
        if alive(row.body):
            raise RefusedError(
                f"change {row.change} ({row.body.get('statement')}) is being carried out by process {row.body.get('pid')} "
                f"on {row.body.get('host')}",
                hint="let it end, or end that process first",
            )
        results.append(_again(ctx, call, row, f"resume {row.change}", _targets(ctx, row)))
    return _together(results)


@command(
    "retry failed",
    group=GROUP,
    effect=Effect.WRITE,
    summary="repeat the last change on exactly the cells on which it failed",
    example="retry failed -y",
    recipe_ok=False,
)
def retry(ctx: Context, call: Call) -> Result:
    """Return the outcomes on those cells.

    Raises:
        RefusedError: the last change failed nowhere.
    """
    rack = ctx.need_rack().name
    entries = ctx.journal.entries(rack=rack)
    last = next((e for e in reversed(entries) if e.kind == "plan"), None)
    if last is None:
        raise RefusedError(f"there is no change of rack {rack} to retry")
    bad = [
        e.target
        for e in entries
        if e.change == last.change and e.kind == "outcome" and e.body.get("state") in ("failed", "refused", "unknown")
    ]
    if not bad:
        raise RefusedError(f"change {last.change} ({last.body.get('statement')}) failed on no cell")
    return _again(ctx, call, last, f"retry {last.change}", list(dict.fromkeys(bad)))


def _targets(ctx: Context, row: Entry) -> list[str]:
    stages = row.body.get("plan", {}).get("stages", [])
    return list(dict.fromkeys(step["target"] for stage in stages for step in stage["steps"]))


def _again(ctx: Context, call: Call, row: Entry, origin: str, targets: list[str]) -> Result:
    """Plan and carry out a journalled statement again on those of its targets that are cells."""
    from exacell.cellset import fold
    from exacell.language.line import with_call_flags
    from exacell.pending import note_resumed

    cells = [target for target in targets if target in ctx.need_rack().cells]
    statement = str(row.body.get("statement"))
    ctx.console.say(f"{origin}: {statement}" + (f" on {fold(cells)}" if cells else ""))
    line = with_call_flags(f"on {fold(cells)} {statement}" if cells else statement, call.flags)
    before, ctx.origin = ctx.origin, origin
    changes = len(ctx.changes)
    try:
        result = ctx.execute(line)
    finally:
        ctx.origin = before
    if len(ctx.changes) == changes and result.exit_code is ExitCode.DONE and not call.flag("dry-run"):
        note_resumed(ctx.journal, ctx.need_rack().name, statement, origin)
    return result


def _together(results: list[Result]) -> Result:
    return Result(
        records=[record for result in results for record in result.records],
        fold=True,
        data=True,
        notes=[note for result in results for note in result.notes],
        problems=[problem for result in results for problem in result.problems],
        exit_code=worst([result.exit_code for result in results]),
    )


def _read_drift(ctx: Context) -> tuple[dict[str, dict[str, str]], tuple[str, ...], ExitCode]:
    from exacell.plan.drift import STATEMENTS, neutral

    answers = ctx.query(*STATEMENTS.values())
    facts = {cell: neutral(cell, answer.tables) for cell, answer in answers.good.items()}
    return facts, answers.problems, answers.exit_code


@command(
    "undo",
    group=GROUP,
    effect=Effect.WRITE,
    summary="take a change back: sizes, grid disks, empty disk groups, IORM plans",
    details="Without a number the newest change of this rack that was done and not undone. Refused when the change can't be "
    "taken back, or when what it left has been changed since. The inverse is planned, shown and confirmed like any other "
    "statement. What the cache held does not come back.",
    example="undo 12 -y",
    params=(Param(name="change", kind=Kind.INT, positional=True, help="its number, as journal show tells"),),
    recipe_ok=False,
)
def undo(ctx: Context, call: Call) -> Result:
    """Return one record per target with its outcome."""
    from exacell.undoing import undo as take_back

    number = call.int_arg("change")
    rack = ctx.need_rack().name
    if number is None:
        number = _newest(ctx)
    elif not ctx.journal.entries(rack=rack, change=number):
        raise RefusedError(f"the journal has no change {number} of rack {rack}", hint="journal show")
    return take_back(ctx, [number], call.flags)


def _newest(ctx: Context) -> int:
    """Return the number of the newest change that did something and is neither an undo nor undone."""
    rack = ctx.need_rack().name
    entries = ctx.journal.entries(rack=rack)
    undone = {str(e.body.get("origin")) for e in entries if e.kind == "plan"}
    done = {e.change for e in entries if e.kind == "outcome" and e.body.get("state") == "done"}
    for entry in reversed(entries):
        if entry.kind != "plan" or entry.change not in done or f"undo {entry.change}" in undone:
            continue
        if not str(entry.body.get("origin") or "").startswith("undo "):
            return entry.change
    raise RefusedError(f"there is no change of rack {rack} to undo")


@command(
    "undo run",
    group=GROUP,
    effect=Effect.WRITE,
    summary="in a recipe's finally: put back what this run changed; at the prompt, what this session changed",
    example="undo run",
)
def undo_run(ctx: Context, call: Call) -> Result:
    """Return one record per target with its outcome."""
    from exacell.undoing import undo as take_back

    return take_back(ctx, ctx.changes, call.flags)


@command(
    "drift",
    group=GROUP,
    effect=Effect.READ,
    summary="where cells differ from each other, or from a saved baseline, by attribute",
    details="Ids and times are left out. Without baseline= every cell is compared with what most cells have. Exit code 5 "
    "when something differs.",
    example="drift",
    params=(Param(name="baseline", kind=Kind.NAME, help="compare each cell with what it was"),),
)
def drift(ctx: Context, call: Call) -> Result:
    """Return one record per difference."""
    from exacell.plan.drift import between_cells, from_baseline
    from exacell.store import Store

    facts, problems, code = _read_drift(ctx)
    name = call.text_arg("baseline")
    if name:
        found = from_baseline(Store(ctx.home.state_dir / "store.db").find_baseline(ctx.need_rack().name, name), facts)
    else:
        found = between_cells(facts)
    rows = [
        {
            "cell": d.cell,
            "object": d.object,
            "name": d.name,
            "attribute": d.attribute,
            "value": d.value or None,
            "expected": d.expected or None,
        }
        for d in found
    ]
    notes = [] if rows else [f"{len(facts)} cells, no drift"]
    exit_code = worst([code, ExitCode.DRIFT]) if rows else code
    columns = [Column(n) for n in ("cell", "object", "name", "attribute", "value", "expected")]
    return Result(
        records=rows, columns=columns, data=True, fold=True, notes=notes, problems=problems, exit_code=exit_code
    )


@command(
    "save baseline",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="keep what the cells are now, for drift baseline=",
    example="save baseline as=golden",
    params=(Param(name="as", kind=Kind.NAME, required=True, help="its name; an older one is replaced"),),
    flags=(Flag(name="partial", help="keep it even when a cell gave no answer"),),
)
def save_baseline(ctx: Context, call: Call) -> Result:
    """Return a note.

    Raises:
        RefusedError: a cell gave no answer and --partial was not given.
    """
    from exacell.store import Store

    facts, problems, _ = _read_drift(ctx)
    if problems and not call.flag("partial"):
        raise RefusedError(f"save baseline: {problems[0]}", hint="--partial keeps the others")
    Store(ctx.home.state_dir / "store.db").save_baseline(ctx.need_rack().name, call.text_arg("as"), facts)
    return Result(notes=[f"baseline {call.text_arg('as')}: {len(facts)} cells"], problems=problems)


@command(
    "lock",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="keep the rack for yourself until unlock; without it a change locks the rack while it runs",
    details="The others are told who holds it, from where, since when and why.",
    example="lock reason='benchmark until noon'",
    params=(Param(name="reason", kind=Kind.TEXT, default="kept by lock", help="why, for the others"),),
    recipe_ok=False,
)
def lock(ctx: Context, call: Call) -> Result:
    """Return one record about the lock.

    Raises:
        RefusedError: somebody else holds it.
    """
    from exacell.racklock import describe

    ctx.lock().take(call.text_arg("reason"), kept=True)
    return Result(records=[describe(ctx.lock().holder(), ctx.need_rack().name)])


@command(
    "unlock",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="give the rack's lock back; --takeover removes somebody else's",
    example="unlock",
    flags=(Flag(name="takeover", help="remove it although somebody else holds it"),),
    recipe_ok=False,
)
def unlock(ctx: Context, call: Call) -> Result:
    """Return a note that says who held it."""
    held = ctx.lock().give_back(takeover=call.flag("takeover"))
    rack = ctx.need_rack().name
    return Result(notes=[f"rack {rack} was locked by {held}; it is free now" if held else f"rack {rack} is not locked"])


@command(
    "show lock",
    group=GROUP,
    effect=Effect.READ,
    summary="who holds the rack's lock, from where, since when and why",
    example="show lock",
)
def show_lock(ctx: Context, call: Call) -> Result:
    """Return one record."""
    from exacell.racklock import describe

    return Result(records=[describe(ctx.lock().holder(), ctx.need_rack().name)], data=True)
