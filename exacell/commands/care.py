"""The weekly jobs on cells that only read: health, alerts, services, versions, quarantines; and whether a
cell may go offline, and the rack be patched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from exacell.care.alerts import ALERTS, alerts_of, short_message
from exacell.care.health import (
    AREAS,
    FULL,
    PLAIN,
    Level,
    Observed,
    all_online,
    examine,
    silent,
    silent_words,
    words,
    worst,
)
from exacell.care.readiness import obstacles, readiness
from exacell.change.leftbehind import unnoted
from exacell.core.cellset import fold
from exacell.core.errors import ExacellError, ExitCode, RefusedError
from exacell.core.units import counted
from exacell.journal.left import observe_online, observe_services
from exacell.language.registry import Call
from exacell.output.care import advice_lines, check_lines, headlines, matrix_lines
from exacell.output.result import Column, Result
from exacell.output.tables import table_lines
from exacell.plan import facts as f
from exacell.session.answers import Answers
from exacell.transport.capabilities import refuse_statement

if TYPE_CHECKING:
    from exacell.plan.asmfacts import AsmFacts, Operation
    from exacell.session.context import Context


_ABOUT = 90
"""Characters of an alert's message that a table shows."""

MOST_WAYS = 8
"""Lines of advice below a matrix: it stays on one screen."""


def observe(ctx: Context) -> tuple[dict[str, Observed], Answers]:
    """Return what every selected cell told; one whose CELLSRV is stopped is asked again for what it still knows."""
    cells = ctx.cells()
    first = ctx.query(*FULL, cells=cells)
    seen = {cell: Observed(cell=cell, tables=dict(zip(FULL, a.tables, strict=True))) for cell, a in first.good.items()}
    again = [cell for cell, answer in first.answers.items() if answer.reply.stdout.strip() and answer.problem]
    answers = dict(first.answers)
    if again:
        second = ctx.query(*PLAIN, cells=again)
        for cell, answer in second.good.items():
            seen[cell] = Observed(cell=cell, tables=dict(zip(PLAIN, answer.tables, strict=True)))
        answers.update(second.answers)
    ctx.remember(cells, [cell for cell in cells if cell not in seen])
    return {cell: seen[cell] for cell in cells if cell in seen}, Answers(answers=answers)


def show_health(ctx: Context, call: Call) -> Result:
    """Return one record per cell: a word per area, and the findings as sentences. Of a cell that gave no answer the one about
    services says so, with the reason among the findings; the others are null."""
    seen, answers = observe(ctx)
    findings = examine(seen)
    online = [cell for cell, told in seen.items() if all_online(told)]
    untold = unnoted(ctx, observe_online(ctx.journal, ctx.need_rack().name, online))
    acted = [(cell, item) for cell, found in findings.items() for item in headlines(found)]
    acted.sort(key=lambda one: -one[1].level.rank)
    advice = advice_lines(((cell, item.text, item.way) for cell, item in acted), MOST_WAYS, rest="findings")
    told: dict[str, dict[str, Any]] = {
        cell: {**words(found), "findings": tuple(item.text for item in found)} for cell, found in findings.items()
    }
    # A cell that hangs is the one to look at: it has its line in the matrix.
    mute = {cell: answer.problem for cell, answer in answers.answers.items() if cell not in seen}
    told |= {cell: {**silent_words(), "findings": (problem,)} for cell, problem in mute.items()}
    findings |= {cell: (silent(problem),) for cell, problem in mute.items()}
    rows = [{"cell": cell, **told[cell]} for cell in answers.answers]

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        return matrix_lines(shown, findings, AREAS, width=width, color=color, header=header)

    shown = [{**row, **{area: row[area] or "-" for area in AREAS}} for row in rows]
    broken = any(worst(found) is Level.BAD for found in findings.values())
    well = f"{_counted(len(seen))} well" + (" of those that answered" if answers.problems else "")
    well = well if seen and not advice else ""
    return Result(
        records=rows,
        columns=[Column("cell"), *(Column(area) for area in AREAS)],
        fold=True,
        data=True,
        draw=draw if rows else None,
        notes=[*(advice or ([well] if well else [])), *_mending(answers), *untold],
        problems=answers.problems,
        exit_code=ExitCode.FAILED if broken and answers.exit_code is ExitCode.DONE else answers.exit_code,
    )


def _counted(cells: int) -> str:
    return "1 cell is" if cells == 1 else f"{cells} cells are"


def _mending(answers: Answers) -> list[str]:
    """Return what brings back the answer of cells whose Management Server is down; nothing when there are none."""
    # Source: reference cellcli.md 2.4, CELL-01514 is what CellCLI says when it can't reach MS.
    down = [cell for cell, answer in answers.answers.items() if "CELL-01514" in answer.problem]
    return [f"{fold(down)}: MS does not run: on {fold(down)} restart service ms"] if down else []


def show_alerts(ctx: Context, call: Call) -> Result:
    """Return one record per alert sequence."""
    answers = ctx.query(ALERTS)
    which = call.text_arg("which")
    kept = [
        (cell, alert)
        for cell, answer in answers.good.items()
        for alert in alerts_of(answer.tables[0])
        if which == "all" or alert.critical or (which == "open" and alert.open)
    ]
    kept.sort(key=lambda one: one[1].rank)
    rows = [
        {
            "cell": cell,
            "name": alert.name,
            "severity": alert.severity,
            "beginTime": alert.begin,
            "examinedBy": alert.examined_by or None,
            "alertMessage": alert.message,
            "message": short_message(alert.message, _ABOUT),
        }
        for cell, alert in kept
    ]
    unseen = [row for row in rows if not row["examinedBy"]]
    notes = []
    if unseen:
        first = unseen[0]
        notes = [
            f"on {first['cell']} list alerthistory {first['name']} detail shows the action to take; "
            f"on {first['cell']} ack alert {first['name']} says that you have seen it"
        ]
    elif not rows and answers.good:
        where = f" on the {counted(len(answers.good), 'cell')} that answered" if answers.problems else ""
        notes = [f"no {'critical ' if which == 'critical' else ''}alert is open{where}"]
    return Result(
        records=rows,
        columns=[
            Column("cell"),
            Column("name"),
            Column("severity"),
            Column("beginTime", "time", title="began"),
            Column("examinedBy"),
            Column("message", "prose"),
        ],
        fold=True,
        data=True,
        notes=notes,
        problems=answers.problems,
        exit_code=answers.exit_code,
    )


def _cell_table(ctx: Context, statement: str, names: Sequence[str]) -> tuple[Result, Answers]:
    answers = ctx.query(statement)
    rows = [{"cell": row["cell"], **{name: row.get(name) for name in names}} for row in answers.rows()]
    columns = [Column("cell"), *(Column(name) for name in names)]
    result = Result(
        records=rows, columns=columns, fold=True, data=True, problems=answers.problems, exit_code=answers.exit_code
    )
    return result, answers


def show_services(ctx: Context, call: Call) -> Result:
    """Return one record per cell.

    Raises:
        RefusedError: the transport does not list the status of services.
    """
    names = ("status", "cellsrvStatus", "msStatus", "rsStatus")
    text = f"list cell attributes name, {', '.join(names)}"
    refuse_statement(ctx.transport.capabilities, text)
    result, answers = _cell_table(ctx, text, names)
    stopped = [
        f"online cell {row['cell']} starts CELLSRV and brings its disks back"
        for row in result.records
        if str(row["cellsrvStatus"]).lower() == "stopped"
    ]

    running = {
        str(row["cell"]): [name for name in ("cellsrv", "ms", "rs") if str(row[f"{name}Status"]).lower() == "running"]
        for row in result.records
    }
    problem = observe_services(ctx.journal, ctx.need_rack().name, running)
    return Result(
        records=result.records,
        columns=result.columns,
        fold=True,
        data=True,
        notes=[*stopped[:3], *_mending(answers), *unnoted(ctx, problem)],
        problems=result.problems,
        exit_code=result.exit_code,
    )


_VERSIONS = ("releaseVersion", "releaseImageStatus", "rollbackVersion", "rpmVersion", "kernelVersion", "makeModel")
_VERSION_TITLES = {
    "releaseVersion": "release",
    "releaseImageStatus": "image",
    "rollbackVersion": "rollback",
    "kernelVersion": "kernel",
}
"""What the table shows, so that it stays narrow; -o json has all."""


def show_versions(ctx: Context, call: Call) -> Result:
    """Return one record per cell; notes name the ASM instances' versions and what differs."""
    result, _ = _cell_table(ctx, f"list cell attributes name, {', '.join(_VERSIONS)}", _VERSIONS)
    columns = [Column("cell"), *(Column(name, title=title) for name, title in _VERSION_TITLES.items())]
    notes = []
    releases = sorted({str(row["releaseVersion"]) for row in result.records})
    if len(releases) > 1:
        notes.append(f"{len(releases)} releases: {', '.join(releases)}; check patch tells whether the rest can follow")
    asm, problems = asm_facts(ctx)
    for facts in asm or ():
        versions = ", ".join(sorted({instance.version for instance in facts.instances}))
        notes.append(f"ASM {facts.cluster}: {versions} on {len(facts.instances)} instances")
    return Result(
        records=result.records,
        columns=columns,
        fold=True,
        data=True,
        notes=[*notes, *problems],
        problems=result.problems,
        exit_code=result.exit_code,
    )


_QUARANTINE = ("name", "quarantineType", "quarantineReason", "dbUniqueName", "sqlID", "creationTime")


def show_quarantine(ctx: Context, call: Call) -> Result:
    """Return one record per quarantine and cell."""
    answers = ctx.query(f"list quarantine attributes {', '.join(_QUARANTINE)}")
    rows = [{"cell": row["cell"], **{name: row.get(name) for name in _QUARANTINE}} for row in answers.rows()]
    note = "nothing is in quarantine"
    note += f" on the {counted(len(answers.good), 'cell')} that answered" if answers.problems else ""
    if rows:
        first = rows[0]
        note = (
            f"on {first['cell']} list quarantine {first['name']} detail tells all of it; when the cause is patched: "
            f"on {first['cell']} drop quarantine {first['name']}"
        )
    columns = [Column("cell"), *(Column(name, "time" if name == "creationTime" else "text") for name in _QUARANTINE)]
    return Result(
        records=rows,
        columns=columns,
        fold=True,
        data=True,
        notes=[note] if answers.good else [],
        problems=answers.problems,
        exit_code=answers.exit_code,
    )


def asm_facts(ctx: Context) -> tuple[list[AsmFacts] | None, list[str]]:
    """Return what each ASM cluster of the rack tells, None when the rack has none; and why one can't be asked."""
    found, problems = [], []
    for name in ctx.need_rack().asm:
        try:
            found.append(ctx.asm(name).facts())
        except ExacellError as error:
            problems.append(error.message)
    return (found or None), problems


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
