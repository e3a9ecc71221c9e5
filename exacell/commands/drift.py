"""Drift: cells compared with each other and with what they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from exacell.errors import ExitCode, RefusedError, StatementError
from exacell.language.registry import Call, Effect, Flag, Kind, Param, command
from exacell.output.result import Column, Result, worst
from exacell.units import counted

if TYPE_CHECKING:
    from exacell.context import Context
    from exacell.plan.drift import Difference

GROUP = "change control"


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
    "name in a value does not count. Without baseline= every cell is compared with what most cells have. An object or cell that "
    "is missing or additional is one line; what another release does not have is none. The table says what is the same of "
    "several objects or cells once (DATA_CD_[00-11]_{cell}); the other formats have each. Exit code 5 when something differs.",
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
    from exacell.driftfacts import read_all, read_cells
    from exacell.plan.drift import ASM, between_cells, from_baseline, gone, told
    from exacell.store import Store

    name, statement = call.text_arg("baseline"), call.text_arg("of")
    if name and statement:
        raise StatementError("drift: of= compares cells with each other, so it goes with no baseline=")
    if name:
        before = Store(ctx.home.state_dir / "store.db").find_baseline(ctx.need_rack().name, name)
        facts, problems, code = read_all(ctx)
        found = [*told(from_baseline(before, facts), facts, before), *gone(before, ctx.need_rack().cells)]
    else:
        facts, problems, code = _read_list(ctx, statement) if statement else read_cells(ctx)
        found = told(between_cells(facts), facts)
    rows = [_row(d) for d in found]
    cells = [target for target in facts if not target.startswith(ASM)]
    notes = [f"{counted(len(cells), 'cell')}, no drift"] if cells and not rows else []
    exit_code = worst([code, ExitCode.DRIFT]) if rows else code
    columns = [Column(n) for n in ("cell", "object", "name", "attribute", "value", "expected")]

    def table(found: Sequence[Difference], width: int | None, color: bool, header: bool) -> Iterator[str]:
        from exacell.output.tables import table_lines

        lines = [_row(_readable(d)) for d in found]
        return table_lines(lines, columns, width=width, color=color, header=header)

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        from exacell.plan.drift import folded

        return table(folded(found), width, color, header)

    def apart(width: int | None, color: bool, header: bool) -> Iterator[str]:
        return table(found, width, color, header)

    return Result(
        records=rows, columns=columns, fold=True, data=True, notes=notes, problems=problems, exit_code=exit_code,
        draw=draw if rows else None, apart=apart if rows else None,
    )  # fmt: skip


def _readable(d: Difference) -> Difference:
    """Return a difference with sizes as LIST prints them, where they say the same."""
    from exacell.cellcli.schema import Kind as Type
    from exacell.cellcli.schema import find_object
    from exacell.units import format_size

    kind = find_object(d.object)
    attribute = None if kind is None else kind.attribute(d.attribute)
    if attribute is None or attribute.kind is not Type.SIZE:
        return d
    value, expected = (format_size(int(text)) if text.isdigit() else text for text in (d.value, d.expected))
    return replace(d, value=value, expected=expected)


def _row(d: Difference) -> dict[str, object]:
    """Return a record, in which a cell's own name stands again where it is of one cell."""
    from exacell.cellcli.ownname import for_cell
    from exacell.plan.drift import ASM

    one = not d.cell.startswith(ASM) and not any(mark in d.cell for mark in "[,")
    name, value, expected = (for_cell(text, d.cell) if one else text for text in (d.name, d.value, d.expected))
    return {
        "cell": d.cell, "object": d.object, "name": name, "attribute": d.attribute, "value": value or None,
        "expected": expected or None,
    }  # fmt: skip


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
    from exacell.driftfacts import read_all
    from exacell.plan.drift import ASM
    from exacell.store import Store

    facts, problems, _ = read_all(ctx)
    if problems and not call.flag("partial"):
        raise RefusedError(f"save baseline: {problems[0]}", hint="--partial keeps the others")
    cells = [target for target in facts if not target.startswith(ASM)]
    asm = " and ASM" if len(facts) > len(cells) else ""
    Store(ctx.home.state_dir / "store.db").save_baseline(ctx.need_rack().name, call.text_arg("as"), facts)
    return Result(notes=[f"baseline {call.text_arg('as')}: {counted(len(cells), 'cell')}{asm}"], problems=problems)
