"""Commands for the weekly care of cells that only read: health, alerts, services, versions, quarantines; ``can offline`` and
``check patch``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from time import time
from typing import Any

from exacell.care.alerts import ALERTS, alerts_of, short_message
from exacell.care.asmhealth import with_asm
from exacell.care.health import (
    AREAS,
    FULL,
    NO_ANSWER,
    PLAIN,
    TITLES,
    Finding,
    Level,
    Observed,
    all_online,
    examine,
    silent,
    words,
    worst,
)
from exacell.care.readiness import obstacles, readiness
from exacell.care.since import broken, changed, compared_with, moment, told as kept_form
from exacell.change.leftbehind import unnoted
from exacell.core.background import Meanwhile
from exacell.core.cellset import fold
from exacell.core.errors import ExitCode, RefusedError
from exacell.core.units import counted
from exacell.journal.left import DISKS, GRID_DISKS, SERVICES, note_back
from exacell.language.registry import Call
from exacell.output.care import advice_lines, check_lines, headlines, health_lines, matrix_lines
from exacell.output.result import Column, Result
from exacell.output.tables import table_lines
from exacell.plan import facts as f
from exacell.plan.asmfacts import Operation
from exacell.session.answers import Answers
from exacell.session.factreading import asm_facts
from exacell.session.given import Request, Services, Session
from exacell.session.hung import PATIENCE
from exacell.session.store import Store, StoreError
from exacell.transport.base import State
from exacell.transport.capabilities import refuse_statement

_ABOUT = 90
"""Maximum number of characters of an alert's message in a table."""

MOST_WAYS = 8
"""Maximum number of lines of advice below a matrix, so that it fits on one screen."""


def observe(session: Session, services: Services, request: Request) -> tuple[dict[str, Observed], Answers]:
    """Return the answers of every selected cell to the statements of health.

    A cell with an incomplete answer, such as one whose CELLSRV is stopped, is asked a shorter list of statements. If it
    stopped in the middle of its answer, it gets at most ten seconds for that, since the same statement may hang again.
    """
    cells = session.cells()
    first = services.query(*FULL, cells=cells, timeout=request.read_timeout)
    seen = {cell: Observed(cell=cell, tables=dict(zip(FULL, a.tables, strict=True))) for cell, a in first.good.items()}
    again = [cell for cell, answer in first.answers.items() if answer.reply.stdout.strip() and answer.problem]
    late = {cell for cell in again if first.answers[cell].reply.state is State.TIMED_OUT}
    answers = dict(first.answers)
    short = min(request.read_timeout or PATIENCE, PATIENCE)
    for asked, seconds in (([cell for cell in again if cell not in late], request.read_timeout), (sorted(late), short)):
        if asked:
            second = services.query(*PLAIN, cells=asked, timeout=seconds)
            for cell, answer in second.good.items():
                seen[cell] = Observed(cell=cell, tables=dict(zip(PLAIN, answer.tables, strict=True)))
            answers.update(second.answers)
    session.selection.remember(cells, [cell for cell in cells if cell not in seen])
    return {cell: seen[cell] for cell in cells if cell in seen}, Answers(answers=answers)


def show_health(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per cell: a word per area, and the findings as sentences.

    For a cell that did not answer, the area of services contains this, the findings contain the reason, and the other areas
    are null.
    """
    asking = Meanwhile(partial(asm_facts, session, services, request.read_timeout))
    seen, answers = observe(session, services, request)
    asm, unasked = asking.result()
    mute = {cell: answer.problem for cell, answer in answers.answers.items() if cell not in seen}
    findings = with_asm({**examine(seen), **{cell: (silent(problem),) for cell, problem in mute.items()}}, asm or ())
    online = {cell: (GRID_DISKS,) for cell, told in seen.items() if all_online(told)}
    untold = unnoted(session, services, note_back(services.journal, session.need_rack().name, DISKS, online))
    acted = [(cell, item) for cell, found in findings.items() for item in headlines(found) if item.word != NO_ANSWER]
    acted.sort(key=lambda one: -one[1].level.rank)
    advice = advice_lines(((cell, item.said, item.way) for cell, item in acted), MOST_WAYS, rest="findings")
    # A cell that hangs needs attention first: it has its line in the matrix.
    rows: list[dict[str, Any]] = [
        {
            "cell": cell,
            **words(findings[cell], None if cell in mute else "ok"),
            "findings": tuple(item.said for item in findings[cell]),
        }
        for cell in answers.answers
    ]
    if since := call.flag_text("since"):
        return _changed_since(session, since, findings, answers, unasked)
    untold = (*untold, *unasked, *_kept(session, findings))

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        if width is None:
            return matrix_lines(shown, findings, AREAS, color=color, header=header)
        return iter(health_lines(shown, findings, TITLES, width=width, color=color))

    shown = [{**row, **{area: row[area] or "-" for area in AREAS}} for row in rows]
    broken = any(worst(found) is Level.BAD for found in findings.values())
    well = f"{_counted(len(seen))} well" + (" of those that answered" if answers.problems else "")
    well = well if seen and all(item.level is Level.OK for _, item in acted) else ""
    return Result(
        records=rows,
        columns=[Column("cell"), *(Column(area) for area in AREAS)],
        fold=True,
        data=True,
        draw=draw if rows else None,
        notes=[*([well] if well else []), *advice, *_mending(answers), *untold],
        problems=answers.problems,
        exit_code=ExitCode.FAILED if broken and answers.exit_code is ExitCode.DONE else answers.exit_code,
    )


def _kept(session: Session, findings: Mapping[str, Sequence[Finding]]) -> list[str]:
    """Store the findings for later comparisons; return why that failed. The health is shown in any case."""
    try:
        store = Store(session.home.state_dir / "store.db")
        store.keep_health(
            session.need_rack().name, time(), {cell: kept_form(found) for cell, found in findings.items()}
        )
    except StoreError as error:
        return [f"not kept for --since: {error.message}"]
    return []


def _changed_since(
    session: Session,
    since: str,
    findings: Mapping[str, Sequence[Finding]],
    answers: Answers,
    unasked: Sequence[str],
) -> Result:
    """Return one record per finding that is new or gone since ``since``."""
    begin = moment(since, datetime.now().astimezone())
    rack = session.need_rack()
    before = Store(session.home.state_dir / "store.db").health_at(rack.name, begin, rack.cells)
    found = changed(before, findings)
    unkept = _kept(session, findings)
    rows = [{"cell": c.cell, "area": c.area, "change": c.change, "finding": c.finding} for c in found]
    said = compared_with(before, tuple(findings), begin)
    at = datetime.fromtimestamp(begin).astimezone()
    notes = [] if rows else [f"nothing changed since {at:%Y-%m-%d %H:%M} on {counted(len(findings), 'cell')}"]
    code = ExitCode.FAILED if broken(found) else ExitCode.DRIFT if found else ExitCode.DONE
    return Result(
        records=rows,
        columns=[Column("cell"), Column("area"), Column("change"), Column("finding")],
        fold=True,
        data=True,
        notes=[*notes, *([said] if said else []), *unasked, *unkept],
        problems=answers.problems,
        exit_code=answers.exit_code if answers.exit_code is not ExitCode.DONE else code,
    )


def _counted(cells: int) -> str:
    return "1 cell is" if cells == 1 else f"{cells} cells are"


def _mending(answers: Answers) -> list[str]:
    """Return the advice for cells whose Management Server is down; empty if there are none."""
    # Source: reference cellcli.md 2.4, CellCLI prints CELL-01514 if it can't reach MS.
    down = [cell for cell, answer in answers.answers.items() if "CELL-01514" in answer.problem]
    return [f"{fold(down)}: MS is not running: type `on {fold(down)} restart service ms`"] if down else []


def show_alerts(services: Services, request: Request, call: Call) -> Result:
    """Return one record per alert sequence."""
    answers = services.query(ALERTS, timeout=request.read_timeout)
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
            f"`on {first['cell']} list alerthistory {first['name']} detail` shows what to do; `on "
            f"{first['cell']} ack alert {first['name']}` marks it as seen"
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


def _cell_table(services: Services, request: Request, statement: str, names: Sequence[str]) -> tuple[Result, Answers]:
    answers = services.query(statement, timeout=request.read_timeout)
    rows = [{"cell": row["cell"], **{name: row.get(name) for name in names}} for row in answers.rows()]
    columns = [Column("cell"), *(Column(name) for name in names)]
    result = Result(
        records=rows, columns=columns, fold=True, data=True, problems=answers.problems, exit_code=answers.exit_code
    )
    return result, answers


def show_services(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per cell: its status, and those of CELLSRV, MS and RS.

    Raises:
        RefusedError: the transport does not list the status of services.
    """
    names = ("status", "cellsrvStatus", "msStatus", "rsStatus")
    text = f"list cell attributes name, {', '.join(names)}"
    refuse_statement(services.transport.capabilities, text)
    result, answers = _cell_table(services, request, text, names)
    stopped = [
        f"`online cell {row['cell']}` starts CELLSRV and brings its disks online"
        for row in result.records
        if str(row["cellsrvStatus"]).lower() == "stopped"
    ]

    running = {
        str(row["cell"]): [name for name in ("cellsrv", "ms", "rs") if str(row[f"{name}Status"]).lower() == "running"]
        for row in result.records
    }
    problem = note_back(services.journal, session.need_rack().name, SERVICES, running)
    return Result(
        records=result.records,
        columns=result.columns,
        fold=True,
        data=True,
        notes=[*stopped[:3], *_mending(answers), *unnoted(session, services, problem)],
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
"""Columns of the table, which stays narrow; -o json has all attributes."""


def show_versions(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per cell; notes contain the versions of ASM instances, and the differences between cells."""
    result, _ = _cell_table(services, request, f"list cell attributes name, {', '.join(_VERSIONS)}", _VERSIONS)
    columns = [Column("cell"), *(Column(name, title=title) for name, title in _VERSION_TITLES.items())]
    notes = []
    releases = sorted({str(row["releaseVersion"]) for row in result.records})
    if len(releases) > 1:
        notes.append(
            f"{len(releases)} releases: {', '.join(releases)}; `check patch` shows whether the other "
            "cells can be patched"
        )
    asm, problems = asm_facts(session, services)
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


def show_quarantine(services: Services, request: Request, call: Call) -> Result:
    """Return one record per quarantine and cell."""
    answers = services.query(f"list quarantine attributes {', '.join(_QUARANTINE)}", timeout=request.read_timeout)
    rows = [{"cell": row["cell"], **{name: row.get(name) for name in _QUARANTINE}} for row in answers.rows()]
    note = "nothing is in quarantine"
    note += f" on the {counted(len(answers.good), 'cell')} that answered" if answers.problems else ""
    if rows:
        first = rows[0]
        note = (
            f"`on {first['cell']} list quarantine {first['name']} detail` shows it in full; when the cause is "
            f"patched, type `on {first['cell']} drop quarantine {first['name']}`"
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


def can_offline(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per cell: offline yes or no, the grid disks that prevent it, the reasons."""
    rack = session.need_rack()
    text = call.text_arg("cell")
    cells = tuple(session.selection.resolve(text)) if text else session.cells()
    facts, problems = _gate_facts(session, services, request)
    asm, said = asm_facts(session, services)
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
            text = f"{fold(silent)}: no answer, so nothing is known about its disks"
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
        notes = [f"`offline cell {rows[0]['cell']}` takes it offline; `online cell {rows[0]['cell']}` brings it back"]
        if len(rows) > 1:
            notes = ["each of them can, one at a time: `offline cell NAME`, later `online cell NAME`"]
    columns = [Column("cell"), Column("offline"), Column("gridDisks", "number"), Column("heldBack", "number")]
    no = any(cell["offline"] == "no" for cell in rows)
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


def _gate_facts(session: Session, services: Services, request: Request) -> tuple[dict[str, Any], list[str]]:
    """Return the gate's facts of every cell of the rack that answers, and one line for each cell that does not."""
    wanted = (f.CELL, f.GRIDDISK, f.FLASHCACHE)
    answers = services.query(*wanted, cells=session.need_rack().cells, timeout=request.read_timeout)
    found = {cell: f.build(cell, wanted, answer.tables) for cell, answer in answers.good.items()}
    again = [cell for cell, answer in answers.answers.items() if answer.problem and answer.reply.stdout.strip()]
    plain = (f.CELL, f.GRIDDISK_PLAIN)
    # If CELLSRV is stopped, a cell answers only statements that need no ASM; that is enough.
    second = services.query(*plain, cells=again, timeout=request.read_timeout) if again else None
    for cell, answer in second.good.items() if second is not None else ():
        found[cell] = f.build(cell, plain, answer.tables)
    problems = [line for line in answers.problems if line.partition(":")[0] not in found]
    return {cell: found[cell] for cell in session.need_rack().cells if cell in found}, problems


def check_patch(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per check: its subject, the verdict, the facts found, and the next thing to do (null for none).

    Raises:
        RefusedError: no cell answered.
    """
    seen, answers = observe(session, services, request)
    if not seen:
        raise RefusedError("no cell gave an answer: " + "; ".join(answers.problems[:3]))
    asm, said = asm_facts(session, services)
    silent = [cell for cell in session.cells() if cell not in seen]
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
        note = f"ready, but look at {things}: {warned[0].check}: {warned[0].way}"
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
