"""Change control: saved plans, resume, retry, drift and baselines."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from exacell.cellcli.secrets import holds_secret
from exacell.change.changing import UNSENT
from exacell.change.execute import execute
from exacell.change.leftovers import look
from exacell.change.resuming import resume as go_on, retry as once_more
from exacell.change.settling import newest_to_undo
from exacell.change.undoing import undo as take_back
from exacell.commands.rehearsal.trial import rehearse as try_out
from exacell.core.cellset import fold
from exacell.core.errors import RefusedError, StatementError
from exacell.language.line import with_call_flags
from exacell.language.registry import Call, Effect
from exacell.output.result import Column, Result
from exacell.session.saved import (
    Expected,
    SavedPlan,
    flatten,
    kept_flags,
    stages_json,
)
from exacell.session.store import Store

if TYPE_CHECKING:
    from exacell.language.registry import Value
    from exacell.session.context import Context


def plan(ctx: Context, call: Call) -> Result:
    """Return the planned steps; nothing is sent."""
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


def rehearse(ctx: Context, call: Call) -> Result:
    """Return one record per attribute that would be another one afterwards."""
    line = with_call_flags(call.text_arg("statement"), {**call.flags, "yes": True})
    if line.effect is not Effect.WRITE and not (line.call is not None and line.call.command.words == ("run",)):
        raise StatementError(f"'{line.text}' changes nothing that a copy could show, so there is nothing to rehearse")
    return try_out(ctx, line)


def apply(ctx: Context, call: Call) -> Result:
    """Return one record per target with its outcome."""
    saved = ctx.services.store().find_plan(ctx.need_rack().name, call.text_arg("name"))
    line = with_call_flags(saved.statement, saved.flags_with(call.flags))
    expected = Expected(saved)
    try:
        return execute(ctx, line, replace(ctx.request, expected=expected))
    except RefusedError as error:
        if expected.moved is None or expected.moved is error:
            raise
        raise expected.moved from error  # It says more than what the planner makes of it.


def plans(ctx: Context, call: Call) -> Result:
    """Return one record per plan."""
    found = ctx.services.store().plans(ctx.need_rack().name)
    rows = [{"cell": None, "name": p.name, "made": p.made, "cells": len(p.cells), "statement": p.line} for p in found]
    return Result(records=rows, columns=[Column(n) for n in ("name", "made", "cells", "statement")], data=True)


def resume(ctx: Context, call: Call) -> Result:
    """Return the outcomes of all resumed changes."""
    return go_on(ctx, _own_flags(call), change=call.int_arg("change"), abandon=call.flag("abandon"))


def retry(ctx: Context, call: Call) -> Result:
    """Return the outcomes on those cells."""
    return once_more(ctx, call.flags)


def _own_flags(call: Call) -> dict[str, Value]:
    return {name: value for name, value in call.flags.items() if name != "abandon"}


def undo(ctx: Context, call: Call) -> Result:
    """Return one record per target with its outcome."""
    number = call.int_arg("change")
    return take_back(ctx, [newest_to_undo(ctx) if number is None else number], call.flags)


def undo_run(ctx: Context, call: Call) -> Result:
    """Return one record per target with its outcome."""
    rack = ctx.need_rack().name
    here = [number for number in ctx.session.changes if ctx.journal.entries(rack=rack, change=number)]
    return take_back(ctx, here, call.flags)


def pending(ctx: Context, call: Call) -> Result:
    """Return one record for each."""
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
