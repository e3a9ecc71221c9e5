"""Turn a plan's outcomes into records: one per target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from exacell.cellcli.secrets import masked
from exacell.change.running import Outcome, Report, StepResult
from exacell.core.cellset import told_together
from exacell.core.units import counted
from exacell.measure.importers.calibrate import claims_cell, read_cell
from exacell.measure.importers.drive import Driven, driven
from exacell.measure.importers.model import Point
from exacell.output.result import HOST, Column, Record
from exacell.plan.estimate import stage_seconds
from exacell.plan.guards.steps import risk_of, taken_back
from exacell.plan.model import Gate, Plan, Step
from exacell.plan.planners.reads import ReadLoad
from exacell.plan.targets import ASM, CELL, DATABASE, KINDS, Kind
from exacell.session.dbclient import load_in
from exacell.transport.base import State


def _steps(plan: Plan) -> Iterable[tuple[str, Step]]:
    for stage in plan.stages:
        if stage.gate is not Gate.MEND:
            yield from ((stage.title, step) for step in stage.steps)


def planned_records(plan: Plan) -> list[Record]:
    """Return one record per step that would be carried out; ``seconds`` is the estimate for its stage, null if unknown.

    ``step`` is the stage's number, in the order in which they are carried out.
    """
    number = {title: place for place, title in enumerate(dict.fromkeys(title for title, _ in _steps(plan)), 1)}
    seconds = {stage.title: None if (s := stage_seconds(stage)) is None else round(s) for stage in plan.stages}
    waves = {c: n for n, wave in enumerate(plan.rolling.waves, 1) for c in wave} if plan.rolling is not None else {}
    return [
        {
            **_who(step.target, step.kind.column),
            **({"wave": waves.get(step.target)} if waves else {}),
            "step": number[title],
            "stage": title,
            "outcome": "planned",
            "statement": masked(step.statement) or None,
            "risk": str(risk_of(plan, step)),
            "seconds": seconds[title],
            "undo": _taken_back(plan, step),
        }
        for title, step in _steps(plan)
    ]


def _taken_back(plan: Plan, step: Step) -> str | None:
    """Return the statement that takes the step back, with secrets masked as on the screen; None if there is none."""
    back = taken_back(plan, step)
    return None if back is None else masked(str(back))


def planned_columns(plan: Plan) -> tuple[Column, ...]:
    """Return the columns of the table of planned steps; the plan itself shows how long they take."""
    targets = _target_names(step.kind for step in plan.steps)
    waves = [*(["wave"] if plan.rolling is not None else []), *(["step"] if len(targets) > 1 else [])]
    names = (*waves, "stage", "outcome", "statement", "risk", "undo")
    return (*(_target_column(plan, name) for name in targets), *map(Column, names))


def _target_column(plan: Plan, name: str) -> Column:
    """Return the column of a plan's targets, headed ``host`` if they are hosts other than cells."""
    hosts = name == HOST.name and {step.kind.heading for step in plan.steps} == {HOST.title}
    return HOST if hosts else Column(name)


def _target_names(kinds: Iterable[Kind]) -> list[str]:
    """Return the fields that name targets of these kinds; cells are listed above nodes, whichever comes first."""
    used = {kind.column for kind in kinds}
    return [name for name in dict.fromkeys(kind.column for kind in KINDS) if name in used]


def _who(target: str, column: str) -> dict[str, str | None]:
    """Return the first fields of an outcome's record: the cell's name, or null and the database node's name."""
    return {column: target} if column == CELL.column else {CELL.column: None, column: target}


_IDLE = ("nothing to do", str(State.NOT_APPLICABLE))
"""Outcomes of a target to which nothing is sent."""


def idle_records(plan: Plan, nodes: Sequence[str] = ()) -> list[Record]:
    """Return one record per target on which there is nothing to do, or to which the statement does not apply.

    Args:
        nodes: the rack's database nodes, to distinguish them from cells.
    """
    rows: list[Record] = [
        {**_who(target, (ASM if target in nodes else CELL).column), "outcome": _IDLE[0], "detail": why}
        for target, why in plan.done.items()
    ]
    rows += [{"cell": cell, "outcome": _IDLE[1], "detail": why} for cell, why in plan.skipped.items()]
    return rows


def idle_sentences(rows: Sequence[Record]) -> list[str]:
    """Return the text of :func:`idle_records`, equal targets together; empty if a row is about work that was done."""
    if any(row.get("outcome") not in _IDLE for row in rows):
        return []
    return told_together((row["cell"] or row["node"], f"{row['outcome']}: {row['detail']}") for row in rows)


def idle_columns(rows: Sequence[Record], *, hosts: bool = False) -> tuple[Column, ...]:
    """Return the columns of the table of :func:`idle_records`.

    Args:
        hosts: targets that are not database nodes are hosts other than cells.
    """
    names = [name for name in ("cell", "node") if any(row.get(name) for row in rows)]
    who = [HOST if hosts and name == "cell" else Column(name) for name in names]
    return (*who, Column("outcome"), Column("detail", "prose"))


def outcome_columns(plan: Plan, report: Report) -> tuple[Column, ...]:
    """Return the columns of the table of the outcomes."""
    names = _target_names(step.kind for step in plan.steps) or [CELL.column]
    sizes = ["dirtyAfterFlush", "usedAfterFlush"] if report.flushed else []
    texts = (*(_target_column(plan, name) for name in names), Column("outcome"), Column("detail", "prose"))
    return (*texts, *(Column(name, "size") for name in sizes))


def ended_records(plan: Plan, report: Report) -> list[Record]:
    """Return one record per target: its worst step, or done; targets that failed come last."""
    rows: list[Record] = []
    bad_rows: list[Record] = []
    for target in plan.targets:
        results = [r for r in report.results if r.step.target == target and not r.mending]
        if not results:
            continue
        bad = next((r for r in results if not r.outcome.good), None)
        sent = sum(1 for r in results if r.outcome is Outcome.DONE and r.step.statement)
        flushed = report.flushed.get(target)
        detail = f"{counted(sent, 'statement')}, {_shown(results)}"
        if bad is not None:
            detail = f"{bad.step.what}: {bad.reason}"
            if bad.outcome is Outcome.NOT_SENT and sent:
                of = sum(1 for r in results if r.step.statement)
                detail = f"{sent} of {counted(of, 'statement')} done, then not sent: {detail}"
            mended = [
                r
                for r in report.results
                if r.step.target == target and r.mending and r.step.statement and r.outcome is not Outcome.NOT_NEEDED
            ]
            detail += "".join(f"; {r.step.what}: {_mended(r)}" for r in mended)
        row: dict[str, Any] = {
            **_who(target, _target_names(r.step.kind for r in results)[-1]),
            "outcome": _word(bad.outcome, sent) if bad is not None else str(Outcome.DONE),
            "detail": masked(detail),
        }
        if flushed is not None and flushed.done:
            row |= {"dirtyAfterFlush": flushed.dirty, "usedAfterFlush": flushed.used}
        (bad_rows if bad else rows).append(row)
    return [*rows, *bad_rows]


def _mended(result: StepResult) -> str:
    """Return the outcome of a mending step, and why it was not sent."""
    return f"{result.outcome}: {result.reason}" if result.outcome is Outcome.NOT_SENT else str(result.outcome)


def measured(report: Report) -> list[str]:
    """Return one line per cell with CALIBRATE's figures for all disks of a kind, and one per node with a load's figures."""
    said = [
        (result.step.target, read_cell(result.said, result.step.target).points)
        for result in report.results
        if result.step.statement.startswith("CALIBRATE") and claims_cell(result.said)
    ]
    return [
        *(f"{cell}: {'; '.join(filter(None, map(_rates, points)))}" for cell, points in said),
        *(f"{node}: {load.sentence}" for node, load in loads(report)),
    ]


def loads(report: Report) -> list[tuple[str, Driven]]:
    """Return (node, figures) for each load that a plan has run to its end."""
    found: list[tuple[str, Driven]] = []
    for result in report.results:
        load = (
            load_in(result.step.statement) if result.step.kind is DATABASE and result.outcome is Outcome.DONE else None
        )
        if load is None:
            continue
        reads = load if isinstance(load, ReadLoad) else None
        times = load.times if isinstance(load, ReadLoad) else load.commits
        work, keys = (str(reads.what), reads.keys) if reads is not None else ("commits", 0)
        one = driven(result.said, work=work, sessions=load.sessions, times=times, keys=keys)
        if one is not None:
            found.append((result.step.target, one))
    return found


def _rates(point: Point) -> str:
    if not point.series.startswith("all "):
        return ""  # A LUN: the printed text is in the journal.
    return f"{point.series} {point.figures.get('iops', 0):,.0f} IOPS and {point.figures.get('mbPerS', 0):,.0f} MB/s"


def _shown(results: Sequence[StepResult]) -> str:
    """Return how done statements are described: "verified" after reading back, else that only their answers are known."""
    sent = [r.step for r in results if r.outcome is Outcome.DONE and r.step.statement]
    bare = sent and not any(r.step.proves or r.step.watch for r in results if r.outcome is Outcome.DONE)
    return "as the target answered; there is nothing to read back" if bare else "verified"


STOPPED = "stopped"
"""The outcome on a target where some statements were done and the rest was not sent."""


def _word(outcome: Outcome, sent: int) -> str:
    return STOPPED if outcome is Outcome.NOT_SENT and sent else str(outcome)
