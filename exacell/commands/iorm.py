"""The IORM plan: show it, and switch flash logging for one database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.language.registry import Call, Effect, Kind, Param, command
from exacell.output.result import Column, Result

if TYPE_CHECKING:
    from exacell.context import Context

GROUP = "IORM"

_DB = Param(name="db", kind=Kind.DB, required=True, help="database, as LIST DATABASE names it")


@command(
    "show iorm",
    group=GROUP,
    effect=Effect.READ,
    summary="the objective and every directive of the database plan, per cell",
    details="Cells that hold the same plan are shown once; the odd one stands out.",
    example="show iorm",
)
def show(ctx: Context, call: Call) -> Result:
    """Return one record per cell and directive; a cell without directives has one record with a null name."""
    from exacell.plan import facts as f

    answers = ctx.query(f.IORMPLAN, f.DATABASE)
    rows: list[dict[str, object]] = []
    names: dict[str, None] = {}
    for cell, answer in answers.good.items():
        fact = f.build(cell, (f.IORMPLAN, f.DATABASE), answer.tables)
        ctx.learned.learn({Kind.DB: fact.databases})
        directives = fact.iorm.directives if fact.iorm else ()
        for directive in directives:
            others = {a.name: a.value for a in directive.attributes if a.key != "name"}
            names |= dict.fromkeys(others)
            rows.append({"cell": cell, "objective": fact.objective, "name": directive.name, **others})
        if not directives:
            rows.append({"cell": cell, "objective": fact.objective, "name": None})
    columns = (Column("cell"), Column("objective"), Column("name"), *(Column(name) for name in names))
    return Result(
        records=rows, columns=columns, fold=True, data=True, problems=answers.problems, exit_code=answers.exit_code
    )


def _toggle(ctx: Context, call: Call, *, on: bool) -> Result:
    from exacell.plan import facts as f
    from exacell.plan.iorm import flashlog_plan

    facts = ctx.facts(f.CELL, f.IORMPLAN, f.DATABASE)
    plan = flashlog_plan(ctx.need_rack().name, facts, db=call.text_arg("db"), on=on, statement=call.text)
    return ctx.change(plan, call)


_DETAILS = (
    "Reads the database plan of all cells (they must agree), changes this one directive, sends the whole plan back and "
    "reads it again. A database that had no directive of its own gets one with what it inherited."
)


@command(
    "enable flashlog",
    group=GROUP,
    effect=Effect.WRITE,
    summary="let a database use the flash log",
    details=_DETAILS,
    example="enable flashlog db=SPOT -y",
    params=(_DB,),
)
def enable(ctx: Context, call: Call) -> Result:
    """Return one record per cell with its outcome."""
    return _toggle(ctx, call, on=True)


@command(
    "disable flashlog",
    group=GROUP,
    effect=Effect.WRITE,
    summary="keep a database's redo writes out of the flash log",
    details=_DETAILS,
    example="disable flashlog db=SPOT -y",
    params=(_DB,),
)
def disable(ctx: Context, call: Call) -> Result:
    """Return one record per cell with its outcome."""
    return _toggle(ctx, call, on=False)
