"""What drift compares: everything that cells and ASM tell of what makes a cell what it is, in neutral form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.cellcli.secrets import masked
from exacell.change.probe import asm_records
from exacell.core.errors import ExacellError, ExitCode
from exacell.output.result import worst
from exacell.plan.drift import ASM, STATEMENTS, neutral, of_asm

if TYPE_CHECKING:
    from exacell.session.context import Context


def read_cells(ctx: Context) -> tuple[dict[str, dict[str, str]], list[str], ExitCode]:
    """Return the facts of the selected cells: cell → ``object name attribute`` → value; the problems, and what they come to."""
    answers = ctx.query(*STATEMENTS.values())
    facts = {
        cell: {name: masked(value) for name, value in neutral(cell, answer.tables).items()}
        for cell, answer in answers.good.items()
    }
    return facts, list(answers.problems), answers.exit_code


def read_all(ctx: Context) -> tuple[dict[str, dict[str, str]], list[str], ExitCode]:
    """Return the same of the selected cells and, under ``ASM name``, of the rack's ASM clusters."""
    facts, problems, code = read_cells(ctx)
    groups, silent = read_groups(ctx)
    return {**facts, **groups}, [*problems, *silent], worst([code, ExitCode.FAILED]) if silent else code


def read_groups(ctx: Context) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return what is compared of the disk groups of the rack's ASM clusters, under ``ASM name``, and the problems."""
    facts: dict[str, dict[str, str]] = {}
    problems: list[str] = []
    for name in ctx.need_rack().asm:
        try:
            facts[ASM + name] = of_asm(asm_records(ctx.asm(name).facts())["asm.diskgroup"])
        except ExacellError as error:
            problems.append(f"{ASM}{name}: {error.message}")
    return facts, problems
