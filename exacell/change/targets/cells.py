"""Cells: asked and changed through CellCLI, all of them at once."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from exacell.cellcli import messages
from exacell.cellcli.messages import always_prints
from exacell.cellcli.reply import errors as reply_errors, successes
from exacell.cellcli.statement import parse
from exacell.change.running import Outcome, StepResult
from exacell.change.targets.base import (
    NO_ANSWER,
    NOT_YET,
    DirectWay,
    Failed,
    Going,
    Wanted,
    failures,
    meaning,
    upon_look,
)
from exacell.core.background import unless_interrupted
from exacell.core.errors import ExacellError
from exacell.core.values import replace
from exacell.plan import facts as f
from exacell.plan.ageing import ages
from exacell.plan.checks import PLANS
from exacell.plan.gate import UNMOUNTED
from exacell.plan.model import Check, Op, Step
from exacell.session.answers import Answer, problem_of
from exacell.session.fleet import Fleet
from exacell.session.upon import Upon
from exacell.transport.base import Reply, State

_STATEMENTS: Mapping[str, str] = {
    "cell": f.CELL,
    "service": "list cell attributes name, cellsrvStatus, msStatus, rsStatus",
    "pmemcache": f.PMEMCACHE,
    "xrmemcache": f.XRMEMCACHE,
    "pmem": "list cell attributes name, pmemCacheMode",
    "flashcache": f.FLASHCACHE,
    "flashlog": f.FLASHLOG,
    "celldisk": f.CELLDISK,
    "griddisk": f.GRIDDISK,
    "plain griddisk": f.GRIDDISK_PLAIN,
    "ASM griddisk": "list griddisk attributes name, asmDiskSize",
    "iormplan": f.IORMPLAN,
    "metriccurrent": f.FLASH_METRICS,
    "physicaldisk": f.FLASH_PHYSICALDISK,
    "alerthistory": "list alerthistory attributes name, examinedBy",
    "flashlogmetric": "list metriccurrent where name = 'FL_BY_KEEP'",
}

_ANY_ATTRIBUTE = frozenset(("cell", "celldisk", "griddisk", "iormplan"))
"""Objects whose attributes may all appear in checks."""


class Cells(DirectWay):
    """The way to cells."""

    def failed(self, wanted: Wanted, cancel: threading.Event | None) -> Failed:
        """Return the checks that fail, asked in one round trip."""
        return failed_on_cells(self.fleet, {cell: checks for cell, (_, checks) in wanted.items()}, cancel)

    def send(self, steps: Sequence[Step], going: Going) -> list[StepResult]:
        """Send each cell its statement; where a proof may have become stale, the cell's CellCLI looks first."""
        by_cell = {step.target: step for step in steps}
        going.waiting(by_cell)
        replies: list[Reply] = []
        pairs = self.fleet.transport.capabilities.pairs
        looking = {cell: upon(step) for cell, step in by_cell.items() if pairs and ages(step.statement)}
        plain = {cell: step.statement for cell, step in by_cell.items() if cell not in looking}
        if looking:
            sent = self.fleet.send_upon(
                looking, ours=going.ours, timeout=going.timeout, within=going.within, on_reply=going.answered
            )
            replies += sent.replies.values()
        if plain:
            sent = self.fleet.send(plain, ours=going.ours, timeout=going.timeout, on_reply=going.answered)
            replies += sent.replies.values()
        return [judge(by_cell[reply.target], reply) for reply in replies]

    def still(self, step: Step) -> tuple[Check, ...]:
        """Return the proofs of a step; for disks that it took offline, ASM may also show nothing about them.

        ASM does so if their disk group was dismounted since, for example because another cell failed meanwhile: these disks are
        where they were.
        """
        return tuple(map(_or_unmounted, step.proves)) if step.offline else step.proves


def _or_unmounted(check: Check) -> Check:
    if check.attribute != "asmModeStatus" or check.op not in (Op.EQ, Op.IN):
        return check
    values = check.value if isinstance(check.value, tuple) else (check.value,)
    return replace(check, op=Op.IN, value=(*values, UNMOUNTED))


def failed_on_cells(
    fleet: Fleet, wanted: Mapping[str, Iterable[Check]], cancel: threading.Event | None = None
) -> Failed:
    """Return for each cell the checks that fail, asked in one round trip; see :meth:`Way.failed`."""
    checks = {cell: list(items) for cell, items in wanted.items()}
    lists = lists_for([check for items in checks.values() for check in items])
    if not lists:
        return {cell: {} for cell in checks}
    answers = _answers(fleet, list(checks), list(lists.values()), cancel)
    found: Failed = {}
    for cell, items in checks.items():
        answer = answers.get(cell)
        if answer is None:
            found[cell] = {NO_ANSWER: NOT_YET}
        elif answer.problem:
            found[cell] = {NO_ANSWER: answer.problem}
        else:
            found[cell] = judged(items, lists, answer.tables)
    return found


def _answers(
    fleet: Fleet, cells: Sequence[str], statements: Sequence[str], cancel: threading.Event | None
) -> Mapping[str, Answer]:
    """Return the cells' answers; once ``cancel`` is set, only those that have arrived."""
    if cancel is None:
        return fleet.query(cells, statements).answers
    came: dict[str, Answer] = {}
    look = partial(fleet.query, cells, statements, on_answer=lambda answer: came.update({answer.cell: answer}))
    every = unless_interrupted(look, cancel)
    return dict(came) if every is None else every.answers


def upon(step: Step) -> Upon:
    """Return a step's statement with the look that its cell's CellCLI takes first.

    The look decides whether the statement is still needed and whether its preconditions hold.
    """
    checks = (*step.only_if, *step.needs)
    lists = lists_for(checks)
    return Upon(
        statement=step.statement,
        lists=tuple(lists.values()),
        judge=lambda tables: meaning(step, judged(checks, lists, tables)),
    )


def lists_for(checks: Sequence[Check]) -> dict[str, str]:
    """Return the LIST statement for each object in the checks, by object."""
    return {name: _statement(name, checks) for name in sorted({check.object for check in checks})}


def judged(
    checks: Sequence[Check], objects: Iterable[str], tables: Iterable[Sequence[Mapping[str, Any]]]
) -> dict[int, str]:
    """Return the checks that a cell's answers do not fulfil: place of the check → reason.

    Args:
        objects: the objects of ``tables``, in the same order, as in :func:`lists_for`.
    """
    return failures(checks, {name: _normal(name, rows) for name, rows in zip(objects, tables, strict=True)})


def _statement(name: str, checks: Iterable[Check]) -> str:
    """Return the LIST for an object, with the attributes of the checks that LIST does not show by default."""
    statement = _STATEMENTS[name]
    if name not in _ANY_ATTRIBUTE:
        return statement
    listed = statement.lower().replace(",", " ").split()
    named = dict.fromkeys(check.attribute for check in checks if check.object == name)
    return ", ".join([statement, *(attribute for attribute in named if attribute.lower() not in listed)])


def _normal(name: str, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows with each IORM plan as one text, which checks compare by its meaning."""
    if name != "iormplan":
        return list(rows)
    return [{**row, **{key: _text(value) for key, value in row.items() if key.lower() in PLANS}} for row in rows]


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(str(item) for item in value)
    return "" if value is None else str(value)


def judge(step: Step, reply: Reply) -> StepResult:
    """Return a step's result, judged by CellCLI's text per object, not by the exit status alone."""
    return upon_look(_judge(step, reply), reply)


def _judge(step: Step, reply: Reply) -> StepResult:
    who = reply.fingerprint
    found = reply_errors(reply.stdout) or reply_errors(reply.stderr)
    if found:
        reason = "; ".join(f"{e.code}: {e.message}" for e in found[:3])
        return StepResult(step=step, outcome=Outcome.FAILED, reason=reason, said=reply.stdout, fingerprint=who)
    if reply.state in (State.UNREACHABLE, State.NOT_ATTEMPTED):
        return StepResult(step=step, outcome=Outcome.REFUSED, reason=problem_of(reply))
    if reply.state is not State.OK:
        reason = problem_of(reply)
        return StepResult(step=step, outcome=Outcome.UNKNOWN, reason=reason, said=reply.stdout, fingerprint=who)
    if _is_mute(step, reply):
        return StepResult(step=step, outcome=Outcome.UNKNOWN, reason=messages.NO_ANSWER, fingerprint=who)
    count = len(successes(reply.stdout))
    if count < step.expect:
        reason = f"{count} of {step.expect} objects are done: {problem_of(reply)}"
        return StepResult(step=step, outcome=Outcome.UNKNOWN, reason=reason, said=reply.stdout, fingerprint=who)
    return StepResult(step=step, outcome=Outcome.DONE, said=reply.stdout, fingerprint=who)


def _is_mute(step: Step, reply: Reply) -> bool:
    """Return whether a cell printed nothing at all for a statement that always prints something."""
    if reply.stdout.strip() or reply.stderr.strip():
        return False
    try:
        return always_prints(parse(step.statement))
    except ExacellError:
        return False  # This is not a CellCLI statement; it may be a command for the host's shell.
