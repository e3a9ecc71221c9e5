"""Change control: saved plans, resume, retry, drift and baselines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exacell.errors import RefusedError, StatementError
from exacell.language.registry import Call, Effect, Flag, Kind, Param, command
from exacell.output.result import Column, Result
from exacell.session.execute import execute

if TYPE_CHECKING:
    from exacell.context import Context
    from exacell.language.registry import Value

GROUP = "change control"

_STATEMENT = Param(
    name="statement", kind=Kind.STATEMENT, positional=True, required=True, rest=True, help="a changing statement"
)


@command(
    "plan",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="show what a statement would do; as=NAME keeps the plan for apply",
    details="A kept plan remembers everything that was read for it, the cells, and how it was to roll; apply refuses it when "
    "any of what was read has moved. Flags of apply win.",
    example="plan as=monday resize flashcache size=288g",
    params=(Param(name="as", kind=Kind.PLAN, help="keep it under this name"), _STATEMENT),
    recipe_ok=False,
)
def plan(ctx: Context, call: Call) -> Result:
    """Return the planned steps; nothing is sent."""
    from datetime import UTC, datetime

    from exacell.cellcli.secrets import holds_secret
    from exacell.cellset import fold
    from exacell.change.changing import UNSENT
    from exacell.language.line import with_call_flags
    from exacell.plan.saved import SavedPlan, flatten, kept_flags, stages_json
    from exacell.store import Store

    line = with_call_flags(call.text_arg("statement"), {**call.flags, "dry-run": True})
    if call.text_arg("as") and holds_secret(line.text):
        raise RefusedError("a kept plan holds no password or key; nothing was kept", hint="plan it without as=")
    if line.effect is not Effect.WRITE:
        if line.effect is Effect.READ:
            raise StatementError(f"'{line.text}' changes nothing, so there is nothing to plan")
        raise StatementError(f"'{line.text}' is no single change that a plan can hold", hint=_SHOWN)
    result = execute(ctx, line)
    name = call.text_arg("as")
    said = "nothing was sent"
    if name and result.planned is not None:
        facts = result.planned.facts
        # Applied from another session it must mean the same cells.
        some = () if set(ctx.cells()) == set(ctx.need_rack().cells) else ctx.cells()
        on = f"on {line.on} " if line.on else f"on {fold(some)} " if some else ""
        saved = SavedPlan(
            name=name,
            rack=ctx.need_rack().name,
            statement=on + line.text,
            cells=tuple(facts),
            facts={cell: flatten(fact) for cell, fact in facts.items()},
            stages=stages_json(result.planned.plan),
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            flags=kept_flags(line.flags),
        )
        Store(ctx.home.state_dir / "store.db").save_plan(saved)
        said = f"nothing was sent; kept as {name}: apply {name} carries it out"
    # Nobody typed the -n that the note speaks of.
    return replace(result, notes=[said if note == UNSENT else note for note in result.notes])


_SHOWN = "-n behind dcli, sh, copy and run shows what of it changes cells"


@command(
    "rehearse",
    group=GROUP,
    effect=Effect.READ,
    summary="carry a statement or a recipe out on an emulated copy of the rack as it is now, and show what it would leave",
    details="The copy gets every value that somebody can have set on the cells, their disks, caches, logs, IORM plans, "
    "thresholds, alerts and other objects, and the disk groups; it ends with the rehearsal. A value that it can't have is named, "
    "and nothing is rehearsed then. Passwords and keys stay on the rack. The rack is only read and its journal gets nothing. "
    "What would be refused on the rack is refused on the copy. "
    "Counters and timing are the emulator's own, and so is every answer: it proves the plan, not the hardware.",
    example="rehearse resize flashcache size=288g",
    params=(_STATEMENT,),
    recipe_ok=False,
)
def rehearse(ctx: Context, call: Call) -> Result:
    """Return one record per attribute that would be another one afterwards."""
    from exacell.language.line import with_call_flags
    from exacell.rehearsing import rehearse as try_out

    line = with_call_flags(call.text_arg("statement"), {**call.flags, "yes": True})
    if line.effect is not Effect.WRITE and not (line.call is not None and line.call.command.words == ("run",)):
        raise StatementError(f"'{line.text}' changes nothing that a copy could show, so there is nothing to rehearse")
    return try_out(ctx, line)


@command(
    "apply",
    group=GROUP,
    effect=Effect.WRITE,
    summary="carry out a kept plan, refused when what it was made from has moved",
    example="apply monday -y",
    params=(Param(name="name", kind=Kind.PLAN, positional=True, required=True, help="of the plan"),),
    recipe_ok=False,
)
def apply(ctx: Context, call: Call) -> Result:
    """Return one record per target with its outcome."""
    from exacell.language.line import with_call_flags
    from exacell.plan.saved import Expected

    saved = ctx.services.store().find_plan(ctx.need_rack().name, call.text_arg("name"))
    line = with_call_flags(saved.statement, saved.flags_with(call.flags))
    expected = Expected(saved)
    try:
        return execute(ctx, line, replace(ctx.request, expected=expected))
    except RefusedError as error:
        if expected.moved is None or expected.moved is error:
            raise
        raise expected.moved from error  # It says more than what the planner makes of it.


@command(
    "plans",
    group=GROUP,
    effect=Effect.READ,
    summary="the kept plans of this rack",
    example="plans",
)
def plans(ctx: Context, call: Call) -> Result:
    """Return one record per plan."""
    found = ctx.services.store().plans(ctx.need_rack().name)
    rows = [{"cell": None, "name": p.name, "made": p.made, "cells": len(p.cells), "statement": p.line} for p in found]
    return Result(records=rows, columns=[Column(n) for n in ("name", "made", "cells", "statement")], data=True)


@command(
    "resume",
    group=GROUP,
    effect=Effect.WRITE,
    summary="finish what a crash, a kill, a lost link or Ctrl-C left unfinished",
    details="First it is found out what became of statements whose end was not recorded. Then each unfinished change is "
    "planned again from what is on the cells now, so that what is done is not done twice; the new plan is shown and confirmed "
    "like any other. undo takes an unfinished change back instead.",
    example="resume -y",
    params=(Param(name="change", kind=Kind.CHANGE, positional=True, help="only this one"),),
    flags=(Flag(name="abandon", help="leave the change as it is; it is not offered again"),),
    recipe_ok=False,
)
def resume(ctx: Context, call: Call) -> Result:
    """Return the outcomes of all resumed changes."""
    from exacell.change.resuming import resume as go_on

    return go_on(ctx, _own_flags(call), change=call.int_arg("change"), abandon=call.flag("abandon"))


@command(
    "retry failed",
    group=GROUP,
    effect=Effect.WRITE,
    summary="repeat the last change on exactly the cells on which it failed",
    example="retry failed -y",
    recipe_ok=False,
)
def retry(ctx: Context, call: Call) -> Result:
    """Return the outcomes on those cells."""
    from exacell.change.resuming import retry as once_more

    return once_more(ctx, call.flags)


def _own_flags(call: Call) -> dict[str, Value]:
    return {name: value for name, value in call.flags.items() if name != "abandon"}


@command(
    "undo",
    group=GROUP,
    effect=Effect.WRITE,
    summary="take a change back: sizes, grid disks, empty disk groups, IORM plans",
    details="Without a number the newest change of this rack that was done and not undone. Refused when the change can't be "
    "taken back, or when what it left has been changed since. The inverse is planned, shown and confirmed like any other "
    "statement. What the cache held does not come back.",
    example="undo 12 -y",
    params=(Param(name="change", kind=Kind.CHANGE, positional=True, help="its number, as journal show tells"),),
    recipe_ok=False,
)
def undo(ctx: Context, call: Call) -> Result:
    """Return one record per target with its outcome."""
    from exacell.change.undoable import newest_to_undo
    from exacell.change.undoing import undo as take_back

    number = call.int_arg("change")
    return take_back(ctx, [newest_to_undo(ctx) if number is None else number], call.flags)


@command(
    "undo run",
    group=GROUP,
    effect=Effect.WRITE,
    summary="in a recipe's finally: put back what this run changed; at the prompt, what this session changed",
    example="undo run",
)
def undo_run(ctx: Context, call: Call) -> Result:
    """Return one record per target with its outcome."""
    from exacell.change.undoing import undo as take_back

    rack = ctx.need_rack().name
    here = [number for number in ctx.session.changes if ctx.journal.entries(rack=rack, change=number)]
    return take_back(ctx, here, call.flags)


@command(
    "pending",
    group=GROUP,
    effect=Effect.READ,
    summary="what earlier changes left behind: unfinished, caching off, services stopped, disks offline, unconfirmed",
    details="Every start of exacell says the same in one line each, from the journal alone. pending asks the cells first: what "
    "was started, activated or switched on by other hands is left out, here and at later starts.",
    example="pending",
)
def pending(ctx: Context, call: Call) -> Result:
    """Return one record for each."""
    from exacell.change.lookingback import look

    left, notes = look(ctx)
    rows = [
        {
            "cell": None,
            "change": p.change,
            "state": p.state,
            "statement": p.statement or None,
            "mend": p.mend,
            "says": p.sentence,
        }
        for p in left
    ]
    columns = [*(Column(n) for n in ("change", "state", "mend")), Column("says", "prose")]
    return Result(records=rows, columns=columns, data=True, notes=list(notes))
