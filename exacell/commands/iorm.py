"""The IORM plan: shown, changed one directive at a time, kept under a name and restored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from exacell.errors import ExitCode, ReplyError, StatementError
from exacell.factreading import read_facts
from exacell.language.registry import Call, Effect, Kind, Param, command
from exacell.output.result import Column, Result, worst
from exacell.plan.planned import Planned
from exacell.units import counted

if TYPE_CHECKING:
    from exacell.cellcli.directive_names import DirectiveName
    from exacell.cellcli.iorm import IormPlan
    from exacell.context import Context

NONE = "none"
"""As exacell.cellcli.directive_names has it, which need not be read for completion; a test compares the two."""
_SWITCH = ("on", "off")
_ATTRIBUTES = (
    Param(name="share", kind=Kind.INT, help="of the I/O, beside the other databases' shares: 1 to 32"),
    Param(name="limit", kind=Kind.INT, help="at most so many percent of each disk: 1 to 100"),
    Param(name="level", kind=Kind.INT, help="1 to 8, with allocation"),
    Param(name="allocation", kind=Kind.INT, help="percent of its level: 0 to 100"),
    Param(name="flashCache", kind=Kind.CHOICE, choices=_SWITCH, help="may use the flash cache"),
    Param(name="flashCacheMin", kind=Kind.SIZE, help="so much of the flash cache is its own"),
    Param(name="flashCacheLimit", kind=Kind.SIZE, help="at most so much of the flash cache"),
    Param(name="flashCacheSize", kind=Kind.SIZE, help="exactly so much of the flash cache"),
    Param(name="flashLog", kind=Kind.CHOICE, choices=_SWITCH, help="may use the flash log"),
)
"""What a directive may hold, for completion; later releases have more."""

GROUP = "IORM"

_DB = Param(name="db", kind=Kind.DIRECTIVE, required=True, help="database, as LIST DATABASE names it; default; other")
_WHICH = (
    Param(
        name="role",
        kind=Kind.CHOICE,
        choices=("primary", "standby", NONE),
        help="which of its directives: the one for this role, or the one without",
    ),
    Param(
        name="type",
        kind=Kind.CHOICE,
        choices=("database", "profile"),
        help="whether db= is a database's or a profile's name",
    ),
    Param(
        name="asmcluster",
        kind=Kind.NAME,
        words=(NONE,),
        help="which of its directives: the one for this ASM cluster, or the one without",
    ),
)
"""What tells directives of one name apart. Source: reference cellcli.md 7.1."""
_SEVERAL = (
    "Where the plan has several directives of that name, or only a profile's, role=, type= and asmcluster= say which one is "
    "meant; role=none is the one without a role. Nothing is guessed."
)


def _wanted(call: Call) -> DirectiveName:
    from exacell.cellcli.directive_names import DirectiveName

    return DirectiveName(
        name=call.text_arg("db"),
        role=call.text_arg("role"),
        kind=call.text_arg("type"),
        asmcluster=call.text_arg("asmcluster"),
    )


@command(
    "show iorm",
    group=GROUP,
    effect=Effect.READ,
    summary="the objective and every directive of the database plan, per cell",
    details="Cells that hold the same plan are shown once; the odd one stands out. saved= shows what save iorm kept instead.",
    example="show iorm",
    params=(Param(name="saved", kind=Kind.IORM, help="what save iorm kept under this name"),),
)
def show(ctx: Context, call: Call) -> Result:
    """Return one record per cell and directive; a cell without directives has one record with a null name."""
    from exacell.cellcli.iorm import IormPlan
    from exacell.plan import facts as f

    saved = call.text_arg("saved")
    if saved:
        return _show_saved(ctx, saved)
    answers = ctx.query(f.IORMPLAN, f.DATABASE)
    held: dict[str, tuple[str, IormPlan]] = {}
    unread: list[str] = []
    for cell, answer in answers.good.items():
        try:
            fact = f.build(cell, (f.IORMPLAN, f.DATABASE), answer.tables)
        except ReplyError as error:
            unread.append(f"{cell}: {error.message}")
            continue
        held[cell] = (fact.objective, fact.iorm or IormPlan())
        names = [directive.name for directive in held[cell][1].directives]
        ctx.services.learned.learn({Kind.DB: fact.databases, Kind.DIRECTIVE: names})
    code = worst([answers.exit_code, ExitCode.FAILED if unread else ExitCode.DONE])
    return replace(_table(held), problems=(*answers.problems, *unread), exit_code=code)


def _show_saved(ctx: Context, name: str) -> Result:
    from exacell.cellcli.iorm import parse
    from exacell.store import Store

    found = Store(ctx.home.state_dir / "store.db").find_iorm(ctx.need_rack().name, name)
    return _table({cell: (body["objective"], parse(body["dbPlan"])) for cell, body in found.items()})


def _table(held: Mapping[str, tuple[str, IormPlan]]) -> Result:
    """Return one record per cell and directive; a cell without directives has one record with a null name."""
    rows: list[dict[str, object]] = []
    names: dict[str, None] = {}
    identity = [
        key for key in ("role", "type", "asmcluster") if any(d.get(key) for _, p in held.values() for d in p.directives)
    ]
    for cell, (objective, plan) in held.items():
        for directive in plan.directives:
            who = {key: directive.get(key) for key in identity}
            others = {a.name: a.value for a in directive.attributes if a.key not in ("name", *identity)}
            names |= dict.fromkeys((*identity, *others))
            rows.append({"cell": cell, "objective": objective, "name": directive.name, **who, **others})
        if not plan.directives:
            rows.append({"cell": cell, "objective": objective, "name": None})
    columns = (Column("cell"), Column("objective"), Column("name"), *(Column(name) for name in names))
    return Result(records=rows, columns=columns, fold=True, data=True)


@command(
    "set iorm",
    group=GROUP,
    effect=Effect.WRITE,
    summary="set attributes of one database's directive, or the objective; every other word stays",
    details="Reads the database plan of all cells (they must agree), changes this one directive, sends the whole plan back "
    "and reads it again. A database that had no directive of its own gets one with what it inherited. db=default and "
    f"db=other are the directives for all others. {_SEVERAL}",
    example="set iorm db=SPOT share=8 limit=50 -y",
    params=(
        Param(name="db", kind=Kind.DIRECTIVE, help="database, as LIST DATABASE names it; default; other"),
        Param(
            name="objective",
            kind=Kind.CHOICE,
            choices=("basic", "auto", "low_latency", "balanced", "high_throughput"),
            help="what IORM optimizes for, on the whole cell",
        ),
        *_WHICH,
    ),
    open_keys=True,
    offers=_ATTRIBUTES,
)
def set_iorm(ctx: Context, call: Call) -> Planned:
    """Return one record per cell with its outcome.

    Raises:
        StatementError: nothing is set, or attributes without db=.
    """
    from exacell.plan import facts as f
    from exacell.plan.iorm import set_plan

    db, objective = call.text_arg("db"), call.text_arg("objective")
    unowned = (*call.extra, *(param.name for param in _WHICH if call.text_arg(param.name)))
    if not db and unowned:
        raise StatementError(f"set iorm {unowned[0]}=…: whose? say db=NAME")
    if not (call.extra or objective):
        raise StatementError(
            f"set iorm{f' db={db}' if db else ''}: nothing to set",
            hint="for example: set iorm db=SPOT share=8 limit=50",
        )
    facts = read_facts(ctx, f.CELL, f.IORMPLAN, f.DATABASE)
    plan = set_plan(
        ctx.need_rack().name,
        facts,
        wanted=_wanted(call) if db else None,
        settings=call.extra,
        objective=objective,
        statement=call.text,
    )
    return Planned(plan, facts)


@command(
    "unset iorm",
    group=GROUP,
    effect=Effect.WRITE,
    summary="take attributes out of a database's directive, or the whole directive",
    details=f"Without an attribute the directive goes, and the database gets what DEFAULT or OTHER say. {_SEVERAL}",
    example="unset iorm limit db=SPOT -y",
    params=(
        Param(
            name="attributes",
            kind=Kind.NAMES,
            positional=True,
            choices=tuple(attribute.name for attribute in _ATTRIBUTES),
            help="such as limit, or limit,flashCacheMin",
        ),
        Param(name="db", kind=Kind.DIRECTIVE, required=True, help="whose directive"),
        *_WHICH,
    ),
)
def unset_iorm(ctx: Context, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    from exacell.plan import facts as f
    from exacell.plan.iorm import unset_plan

    given = call.args.get("attributes")
    names = tuple(str(name) for name in given) if isinstance(given, tuple) else ()
    facts = read_facts(ctx, f.CELL, f.IORMPLAN, f.DATABASE)
    plan = unset_plan(ctx.need_rack().name, facts, wanted=_wanted(call), attributes=names, statement=call.text)
    return Planned(plan, facts)


@command(
    "reset iorm",
    group=GROUP,
    effect=Effect.WRITE,
    summary="empty the database plan on every cell: no directive is left",
    details="The objective, category and cluster plans stay as they are. Cells may hold different plans before; undo gives "
    "each its own back.",
    example="reset iorm -y",
)
def reset_iorm(ctx: Context, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    from exacell.cellcli.iorm import IormPlan
    from exacell.plan import facts as f
    from exacell.plan.iorm import Goal, goal_plan

    facts = read_facts(ctx, f.CELL, f.IORMPLAN)
    goals = dict.fromkeys(facts, Goal(dbplan=IormPlan()))
    return Planned(goal_plan(ctx.need_rack().name, facts, goals, call.text), facts)


@command(
    "save iorm",
    group=GROUP,
    effect=Effect.LOCAL,
    dry_runs=False,
    summary="keep the database plan and objective of every selected cell under a name, for restore iorm",
    example="save iorm as=before_test",
    params=(Param(name="as", kind=Kind.IORM, required=True, help="its name; an older one is replaced"),),
)
def save_iorm(ctx: Context, call: Call) -> Result:
    """Return a note.

    Raises:
        RefusedError: a cell gave no answer.
    """
    from exacell.cellcli.iorm import IormPlan, render
    from exacell.plan import facts as f
    from exacell.store import Store

    facts = read_facts(ctx, f.IORMPLAN)
    held = {
        cell: {"dbPlan": render(fact.iorm or IormPlan()), "objective": fact.objective} for cell, fact in facts.items()
    }
    name = call.text_arg("as")
    Store(ctx.home.state_dir / "store.db").save_iorm(ctx.need_rack().name, name, held)
    plans = len({text["dbPlan"] for text in held.values()})
    several = f", {plans} different plans" if plans > 1 else ""
    return Result(notes=[f"IORM plan {name}: {counted(len(held), 'cell')}{several}; restore iorm {name}"])


@command(
    "restore iorm",
    group=GROUP,
    effect=Effect.WRITE,
    summary="give every selected cell back the database plan and objective that were kept under a name",
    example="restore iorm before_test -y",
    params=(Param(name="name", kind=Kind.IORM, positional=True, required=True, help="as save iorm was told"),),
)
def restore_iorm(ctx: Context, call: Call) -> Planned:
    """Return one record per cell with its outcome.

    Raises:
        RefusedError: a selected cell is not among those that were kept.
    """
    from exacell.cellcli.iorm import parse
    from exacell.cellset import fold
    from exacell.errors import RefusedError
    from exacell.plan import facts as f
    from exacell.plan.iorm import Goal, goal_plan

    rack, name = ctx.need_rack().name, call.text_arg("name")
    held = ctx.services.store().find_iorm(rack, name)
    missing = [cell for cell in ctx.cells() if cell not in held]
    if missing:
        raise RefusedError(
            f"IORM plan {name} was kept for {fold(held)}, not for {fold(missing)}; nothing was sent",
            hint=f"on {fold(held)} restore iorm {name}",
        )
    facts = read_facts(ctx, f.CELL, f.IORMPLAN)
    goals = {c: Goal(dbplan=parse(held[c]["dbPlan"]), objective=held[c]["objective"]) for c in facts}
    return Planned(goal_plan(rack, facts, goals, call.text), facts)


def _toggle(ctx: Context, call: Call, *, on: bool) -> Planned:
    from exacell.plan import facts as f
    from exacell.plan.iorm import flashlog_plan

    facts = read_facts(ctx, f.CELL, f.IORMPLAN, f.DATABASE)
    plan = flashlog_plan(ctx.need_rack().name, facts, wanted=_wanted(call), on=on, statement=call.text)
    return Planned(plan, facts)


_DETAILS = (
    "Reads the database plan of all cells (they must agree), changes this one directive, sends the whole plan back and "
    f"reads it again. A database that had no directive of its own gets one with what it inherited. {_SEVERAL}"
)


@command(
    "enable flashlog",
    group=GROUP,
    effect=Effect.WRITE,
    summary="let a database use the flash log",
    details=_DETAILS,
    example="enable flashlog db=SPOT -y",
    params=(_DB, *_WHICH),
)
def enable(ctx: Context, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    return _toggle(ctx, call, on=True)


@command(
    "disable flashlog",
    group=GROUP,
    effect=Effect.WRITE,
    summary="keep a database's redo writes out of the flash log",
    details=_DETAILS,
    example="disable flashlog db=SPOT -y",
    params=(_DB, *_WHICH),
)
def disable(ctx: Context, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    return _toggle(ctx, call, on=False)
