"""Drift: cells compared with each other and with what they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.errors import ExacellError, ExitCode, RefusedError, StatementError
from exacell.language.registry import Call, Effect, Flag, Kind, Param, command
from exacell.output.result import Column, Result, worst

if TYPE_CHECKING:
    from exacell.context import Context

GROUP = "change control"


ASM = "ASM "
"""Stands before an ASM cluster's name where cells' names stand."""


def _read_cells(ctx: Context) -> tuple[dict[str, dict[str, str]], list[str], ExitCode]:
    from exacell.plan.drift import STATEMENTS, neutral

    answers = ctx.query(*STATEMENTS.values())
    facts = {cell: neutral(cell, answer.tables) for cell, answer in answers.good.items()}
    return facts, list(answers.problems), answers.exit_code


def read_all(ctx: Context) -> tuple[dict[str, dict[str, str]], list[str], ExitCode]:
    """Return the facts of the selected cells and of the rack's ASM clusters."""
    from exacell.plan.drift import of_asm
    from exacell.probe import asm_records

    facts, problems, code = _read_cells(ctx)
    for name in ctx.need_rack().asm:
        try:
            facts[ASM + name] = of_asm(asm_records(ctx.asm(name).facts())["asm.diskgroup"])
        except ExacellError as error:
            problems.append(f"{ASM}{name}: {error.message}")
            code = worst([code, ExitCode.FAILED])
    return facts, problems, code


def _read_list(ctx: Context, text: str) -> tuple[dict[str, dict[str, str]], list[str], ExitCode]:
    """Return the facts that one LIST statement tells of the selected cells.

    Raises:
        StatementError: it is no LIST statement.
    """
    from exacell.cellcli.statement import List, parse, render
    from exacell.plan.drift import neutral

    statement = parse(text)
    if not isinstance(statement, List):
        raise StatementError(f"drift of='{text}': a LIST statement is needed, such as 'list lun detail'")
    answers = ctx.query(render(statement), exact=True)
    kind = statement.object.lower()
    facts = {cell: neutral(cell, answer.tables, (kind,)) for cell, answer in answers.good.items()}
    return facts, list(answers.problems), answers.exit_code


@command(
    "drift",
    group=GROUP,
    effect=Effect.READ,
    summary="where cells differ from each other, or from a saved baseline, by attribute",
    details="Every attribute of cells, flash cache, flash log, IORM plan, cell disks, grid disks, physical disks, LUNs and "
    "thresholds, and with a baseline the disk groups as well. Ids, serial numbers and times are left out, and a cell's own "
    "name in a value does not count. Without baseline= every cell is compared with what most cells have. Exit code 5 when "
    "something differs.",
    example="drift",
    params=(
        Param(name="baseline", kind=Kind.BASELINE, help="compare each cell with what it was"),
        Param(
            name="of", kind=Kind.TEXT, help="a LIST statement in quotes, instead of all that: 'list alertdefinition'"
        ),
    ),
)
def drift(ctx: Context, call: Call) -> Result:
    """Return one record per difference."""
    from exacell.plan.drift import between_cells, from_baseline
    from exacell.store import Store

    name, statement = call.text_arg("baseline"), call.text_arg("of")
    if name and statement:
        raise StatementError("drift: of= compares cells with each other, so it goes with no baseline=")
    if name:
        before = Store(ctx.home.state_dir / "store.db").find_baseline(ctx.need_rack().name, name)
        facts, problems, code = read_all(ctx)
        found = from_baseline(before, facts)
    else:
        facts, problems, code = _read_list(ctx, statement) if statement else _read_cells(ctx)
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
    cells = [target for target in facts if not target.startswith(ASM)]
    notes = [f"{len(cells)} cell{'' if len(cells) == 1 else 's'}, no drift"] if cells and not rows else []
    exit_code = worst([code, ExitCode.DRIFT]) if rows else code
    columns = [Column(n) for n in ("cell", "object", "name", "attribute", "value", "expected")]
    return Result(
        records=rows, columns=columns, data=True, fold=True, notes=notes, problems=problems, exit_code=exit_code
    )


@command(
    "save baseline",
    group=GROUP,
    effect=Effect.LOCAL,
    dry_runs=False,
    summary="keep what the cells are now, for drift baseline=",
    example="save baseline as=golden",
    params=(Param(name="as", kind=Kind.BASELINE, required=True, help="its name; an older one is replaced"),),
    flags=(Flag(name="partial", help="keep it even when a cell gave no answer"),),
)
def save_baseline(ctx: Context, call: Call) -> Result:
    """Return a note.

    Raises:
        RefusedError: a cell gave no answer and --partial was not given.
    """
    from exacell.store import Store

    facts, problems, _ = read_all(ctx)
    if problems and not call.flag("partial"):
        raise RefusedError(f"save baseline: {problems[0]}", hint="--partial keeps the others")
    cells = [target for target in facts if not target.startswith(ASM)]
    asm = " and ASM" if len(facts) > len(cells) else ""
    Store(ctx.home.state_dir / "store.db").save_baseline(ctx.need_rack().name, call.text_arg("as"), facts)
    return Result(notes=[f"baseline {call.text_arg('as')}: {len(cells)} cells{asm}"], problems=problems)
