"""Whether cells are ready for what comes next: to go offline, to be patched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from exacell.care.health import Level, examine
from exacell.care.readiness import obstacles, readiness
from exacell.commands.care import MOST_WAYS, asm_facts, observe
from exacell.core.cellset import fold
from exacell.core.errors import ExitCode, RefusedError
from exacell.language.registry import Call
from exacell.output.care import advice_lines, check_lines
from exacell.output.result import Column, Result
from exacell.output.tables import table_lines
from exacell.plan import facts as f

if TYPE_CHECKING:
    from exacell.plan.asmfacts import Operation
    from exacell.session.context import Context


def can_offline(ctx: Context, call: Call) -> Result:
    """Return one record per cell: offline yes or no, grid disks that hold it back, reasons."""
    rack = ctx.need_rack()
    text = call.text_arg("cell")
    cells = tuple(ctx.resolve(text)) if text else ctx.cells()
    facts, problems = _gate_facts(ctx)
    asm, said = asm_facts(ctx)
    running: list[Operation] | None = None if asm is None else [op for item in asm for op in item.running]
    rows: list[dict[str, Any]] = []
    lines: list[tuple[str, str, str]] = []
    silent = [other for other in rack.cells if other not in facts]
    for cell in cells:
        if cell not in facts:
            continue
        found = obstacles(cell, facts, running)
        used = [grid for grid in facts[cell].grid_disks if grid.asm_mode not in ("UNUSED", "DROPPED")]
        lines += [(cell, item.reason, item.way) for item in found]
        if silent:
            text = f"{fold(silent)} gave no answer, so that nobody knows what is missing there"
            lines.append((cell, text, "show health"))
        rows.append(
            {
                "cell": cell,
                "offline": "no" if found or silent else "yes",
                "gridDisks": len(used),
                "heldBack": len({disk for item in found for disk in item.disks}),
                "reasons": tuple(item.reason for item in found),
            }
        )
    notes = advice_lines(lines, MOST_WAYS, rest="reasons")
    if rows and not lines:
        notes = [f"offline cell {rows[0]['cell']} takes it offline; online cell {rows[0]['cell']} brings it back"]
        if len(rows) > 1:
            notes = ["each of them can, one at a time: offline cell NAME, online cell NAME"]
    columns = [Column("cell"), Column("offline"), Column("gridDisks", "number"), Column("heldBack", "number")]
    no = any(row["offline"] == "no" for row in rows)
    code = ExitCode.NOT_EXECUTED if problems and not rows else ExitCode.FAILED if no or problems else ExitCode.DONE
    return Result(
        records=rows,
        columns=columns,
        fold=True,
        data=True,
        notes=[*notes, *said],
        problems=problems,
        exit_code=code,
    )


def _gate_facts(ctx: Context) -> tuple[dict[str, Any], list[str]]:
    """Return the gate's facts of every cell of the rack that answers, and one line for each that does not."""
    wanted = (f.CELL, f.GRIDDISK, f.FLASHCACHE)
    answers = ctx.query(*wanted, cells=ctx.need_rack().cells)
    found = {cell: f.build(cell, wanted, answer.tables) for cell, answer in answers.good.items()}
    again = [cell for cell, answer in answers.answers.items() if answer.problem and answer.reply.stdout.strip()]
    plain = (f.CELL, f.GRIDDISK_PLAIN)
    # With CELLSRV stopped only what needs no ASM is told; that alone says enough.
    second = ctx.query(*plain, cells=again) if again else None
    for cell, answer in second.good.items() if second is not None else ():
        found[cell] = f.build(cell, plain, answer.tables)
    problems = [line for line in answers.problems if line.partition(":")[0] not in found]
    return {cell: found[cell] for cell in ctx.need_rack().cells if cell in found}, problems


def check_patch(ctx: Context, call: Call) -> Result:
    """Return one record per check."""
    seen, answers = observe(ctx)
    if not seen:
        raise RefusedError("no cell gave an answer: " + "; ".join(answers.problems[:3]))
    asm, said = asm_facts(ctx)
    silent = [cell for cell in ctx.cells() if cell not in seen]
    checks = readiness(seen, examine(seen), silent, asm)
    rows = [
        {"cell": None, "check": item.check, "verdict": str(item.level), "found": item.found, "next": item.way or None}
        for item in checks
    ]
    columns = [Column("check"), Column("verdict"), Column("found"), Column("next")]

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        lines = list(table_lines(rows, columns, header=header))
        if width is None or max(map(len, lines)) <= width:
            return iter(lines)
        return check_lines(checks, width, color=color)

    bad = [item for item in checks if item.level is Level.BAD]
    warned = [item for item in checks if item.level in (Level.WARN, Level.UNKNOWN)]
    if bad:
        note = f"not ready: {len(bad)} of {len(checks)} checks failed; begin with: {bad[0].way or bad[0].check}"
    elif warned:
        things = "one thing" if len(warned) == 1 else f"{len(warned)} things"
        note = f"ready, with {things} to look at: {warned[0].check}: {warned[0].way}"
    else:
        note = f"ready: {len(checks)} checks passed; now patchmgr's own prerequisites, one cell at a time"
    return Result(
        records=rows,
        columns=columns,
        data=True,
        draw=draw,
        notes=[note, *said],
        problems=answers.problems,
        exit_code=ExitCode.FAILED if bad else ExitCode.DONE,
    )
