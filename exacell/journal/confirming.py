"""Find in the journal the changes that are taken back automatically unless somebody confirms them in time.

``--confirm-within=30m`` adds a ``deadline`` row after the change. A guardian process (:mod:`exacell.change.guardian`) writes
a ``guardian`` row when it begins to wait, a ``reverting`` row before it takes the change back and a ``reverted`` row when
it has tried; ``confirm`` writes a ``confirmed`` row. All readers see the same order: the first of ``reverting`` and
``confirmed`` counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from exacell.core.cellset import fold
from exacell.core.errors import RefusedError
from exacell.core.units import format_duration
from exacell.core.values import dataclass, field, replace
from exacell.journal.actor import actor, alive
from exacell.journal.record import Journal, Row
from exacell.journal.rows import Actor, Confirmed, Entry, Planned, Reverted, Waiting

if TYPE_CHECKING:
    from exacell.language.line import Line
    from exacell.plan.model import Plan

KINDS = ("deadline", "guardian", "reverting", "confirmed", "reverted")
"""Kinds of rows that decide whether a change waits for a confirmation."""

LONGEST = 7 * 24 * 3600.0
"""The largest number of seconds for a confirmation; everybody would forget a guardian that waits longer."""


@dataclass(frozen=True, kw_only=True)
class Deadline:
    """A change that waits to be confirmed.

    Attributes:
        until: when it is taken back, UTC.
        group: the first change of its recipe's run, which waits as a whole; without a run its own number.
        in_run: whether it belongs to a run.
        runner: the process that runs the recipe; None if the run is over.
        guardian: the process that waits for the deadline; None if there is none.
        reverting: whether it is being taken back, so that it is too late to confirm it.
        failed: why taking it back failed; empty if that was not tried or is not over.
        again: whether the guardian will try again.
    """

    change: int
    statement: str
    until: datetime
    guardian: Actor | None
    group: int = 0
    in_run: bool = False
    runner: Actor | None = None
    reverting: bool = False
    failed: str = ""
    again: bool = False

    @property
    def guarded(self) -> bool:
        """Return whether a process waits for the deadline; True for a process of another host, which can't be checked."""
        return self.guardian is not None and alive(self.guardian)

    def overdue(self, now: datetime) -> bool:
        """Return whether the deadline has passed; the deadline of a run counts only once no process runs it."""
        return now >= self.until and not (self.runner is not None and alive(self.runner))

    def sentence(self, now: datetime) -> str:
        """Return one line about the waiting change, with the statements that end the wait."""
        more = ", with the later changes of its run," if self.in_run else ""
        begin = f"change {self.change} ({self.statement}){more}"
        at = f"{self.until.astimezone():%H:%M:%S}"
        if self.until.astimezone().date() != now.astimezone().date():
            at = f"{self.until.astimezone():%Y-%m-%d %H:%M:%S}"
        who = Actor(pid="?", host="?") if self.guardian is None else self.guardian
        ways = f"`confirm {self.change}` keeps it, `undo {self.change}` takes it back"
        if self.failed:
            again = f"; process {who.pid} tries it again" if self.again and self.guarded else ""
            return f"{begin} was not confirmed and could not be taken back: {self.failed}{again}; {ways}"
        if self.guarded:
            if self.reverting or self.overdue(now):
                by = f"process {who.pid} on {who.host}"
                return f"{begin} was not confirmed by {at} and is being taken back by {by}"
            return f"{begin} is taken back at {at}: `confirm {self.change}` keeps it"
        if self.reverting:
            return f"{begin} was being taken back when its guardian process ended: {ways}"
        if self.overdue(now):
            return f"{begin} was not confirmed by {at}, and its guardian has ended: {ways}"
        return f"{begin} waits to be confirmed by {at}, but its guardian has ended: {ways}"


def deadlines(entries: Iterable[Entry]) -> tuple[Deadline, ...]:
    """Return the changes that still wait, oldest first, from the rows of :data:`KINDS` in order."""
    waiting: dict[int, Deadline] = {}
    for entry in entries:
        if isinstance(entry, Waiting):
            group = entry.run or entry.change
            known = next((item for item in waiting.values() if item.in_run and item.group == group), None)
            waiting[entry.change] = Deadline(
                change=entry.change,
                statement=entry.statement,
                until=datetime.fromisoformat(entry.until),
                guardian=known.guardian if known is not None else None,
                group=group,
                in_run=bool(entry.run),
                runner=entry.who if entry.open else None,
            )
        elif entry.change in waiting:
            left = _after(waiting[entry.change], entry)
            if left is None:
                del waiting[entry.change]
            else:
                waiting[entry.change] = left
    return tuple(waiting[change] for change in sorted(waiting))


def _after(item: Deadline, entry: Entry) -> Deadline | None:
    """Return a waiting change after this row; None if it no longer waits."""
    match entry:
        case Entry(kind="guardian"):
            return replace(item, guardian=entry.who, reverting=False, failed="")
        case Entry(kind="reverting"):
            return replace(item, reverting=True, failed="")
        case Reverted() if entry.state != "done":
            return replace(item, reverting=False, failed=entry.reason or "unknown", again=entry.again)
        case Confirmed() if item.reverting and not entry.unguarded:
            return item  # The confirmation came too late: the guardian had begun.
        case _:
            return None


def open_deadlines(journal: Journal, rack: str) -> tuple[Deadline, ...]:
    """Return the changes of a rack that wait to be confirmed, oldest first.

    This includes changes whose process was killed after their end and before it could write the deadline.
    """
    rows = journal.of_kinds(rack, KINDS)
    known = {row.change for row in rows}
    left = {row.root: row for row in journal.plans_to_confirm(rack)}
    missing = (_missing(journal, change, plan) for change, plan in left.items() if change not in known)
    found = [*deadlines(rows), *(item for item in missing if item is not None)]
    return tuple(sorted(found, key=lambda item: item.change))


def _missing(journal: Journal, change: int, plan: Planned) -> Deadline | None:
    """Return the deadline that a change should have had and never got; None if it needs none.

    Args:
        plan: the row of the plan that finished it; it belongs to another change if the change was continued.
    """
    state = journal.state(plan.rack, plan.change)
    end = state.end
    if end is None or "abandoned" in end.done or alive(plan.who):
        return None
    if not state.did or journal.state(plan.rack, change).undone:
        return None
    until = datetime.fromisoformat(end.at) + timedelta(seconds=plan.confirm_within or 0.0)
    return Deadline(change=change, statement=plan.statement, until=until, guardian=None, group=change)


def set_deadline(
    journal: Journal, rack: str, change: int, statement: str, seconds: float, *, run: int = 0, going_on: bool = False
) -> datetime:
    """Record that a change must be confirmed within ``seconds`` from now, and return the time at which they end.

    Args:
        run: the first change of the recipe's run to which it belongs; 0 for none.
        going_on: the run continues, in this process.
    """
    until = datetime.now(UTC) + timedelta(seconds=seconds)
    body = {"until": until.isoformat(timespec="milliseconds"), "within": seconds, "statement": statement, **actor()}
    group = {"run": run, "open": going_on} if run else {}
    journal.append(rack, change, [Row(kind="deadline", body={**body, **group})])
    return until


@dataclass
class WaitingRun:
    """The changes of one recipe run that are confirmed, or taken back, as a whole.

    Attributes:
        within: seconds from the end of the run.
        changes: number → statement, in the order in which they were made.
    """

    within: float
    changes: dict[int, str] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """Return the change whose guardian serves the run; 0 before there is one."""
        return next(iter(self.changes), 0)

    def go_on(self, journal: Journal, rack: str, run: str) -> None:
        """Add the changes that an earlier process made in the run and that still wait; they wait for the run's end again.

        Args:
            run: the journal's key of the run.
        """
        own = {row.root: row for row in journal.of_run(rack, run)}
        for item in open_deadlines(journal, rack):
            if item.change in own:
                self.changes[item.change] = item.statement
                set_deadline(journal, rack, item.change, item.statement, self.within, run=self.first, going_on=True)

    def over(self, journal: Journal, rack: str) -> datetime | None:
        """Start the time limit for all changes that still wait, and return its end; None if no change waits."""
        waiting = {item.change for item in open_deadlines(journal, rack)}
        until = None
        for change, statement in self.changes.items():
            if change in waiting:
                until = set_deadline(journal, rack, change, statement, self.within, run=self.first)
        return until


def confirm(journal: Journal, rack: str, change: int | None) -> tuple[Deadline, ...]:
    """Keep a change, or every waiting one if ``change`` is None, and return the changes that waited.

    Raises:
        RefusedError: the change does not wait, or no change waits.
    """
    waiting = open_deadlines(journal, rack)
    groups = {item.group for item in waiting if item.change == change}
    chosen = tuple(item for item in waiting if change is None or item.change == change or item.group in groups)
    if not chosen:
        asked = (
            f"change {change} of rack {rack} is not waiting"
            if change is not None
            else f"no change of {rack} is waiting"
        )
        known = ", ".join(str(item.change) for item in waiting)
        raise RefusedError(
            f"{asked} to be confirmed", hint=f"waiting: {known}" if known else "`pending` shows what is waiting"
        )
    kept: list[Deadline] = []
    late: list[Deadline] = []
    for item in chosen:
        # In a run the first waiting change decides for all: if it is being taken back, no later one is confirmed.
        if any(item.group == other.group for other in late):
            continue
        journal.append(rack, item.change, [Row(kind="confirmed", body={**actor(), "unguarded": not item.guarded})])
        left = next((other for other in open_deadlines(journal, rack) if other.change == item.change), None)
        kept += [item] if left is None else []
        late += [left] if left is not None else []
    if late:
        told = "; ".join(item.sentence(datetime.now(UTC)) for item in late)
        also = f"; kept: {', '.join(str(item.change) for item in kept)}" if kept else ""
        raise RefusedError(f"{told}{also}", hint="too late to confirm: make the change again")
    return chosen


def note_reverting(journal: Journal, rack: str, change: int) -> bool:
    """Record that a change is about to be taken back; return False if it was confirmed before that."""
    journal.append(rack, change, [Row(kind="reverting", body=actor())])
    return any(item.change == change for item in open_deadlines(journal, rack))


def note_reverted(journal: Journal, rack: str, change: int, *, reason: str = "", again: bool = False) -> None:
    """Record that a waiting change was taken back, or why that failed; record nothing if it does not wait.

    Args:
        again: the guardian will try again; until then the change can be confirmed.
    """
    if any(item.change == change for item in open_deadlines(journal, rack)):
        state = "failed" if reason else "done"
        body = {"state": state, "reason": reason, "again": again, **actor()}
        journal.append(rack, change, [Row(kind="reverted", body=body)])


def refuse_ungathered(line: Line) -> None:
    """Raise RefusedError if ``--confirm-within`` is given for work that exacell can't read and so can't take back.

    Raises:
        RefusedError: it is.
    """
    from exacell.language.registry import Effect

    if not line.flags.get("confirm-within"):
        return
    if line.effect is Effect.OPAQUE:
        raise RefusedError(
            f"{line.text}: --confirm-within needs a change that exacell can take back, but it can't read this "
            "one; nothing was sent"
        )


def refuse_unrevertible(plan: Plan, seconds: float) -> None:
    """Raise RefusedError if a plan could not be taken back at its deadline.

    Raises:
        RefusedError: the plan has no inverse on some target, with the reason; or the time is not possible.
    """
    # Every start reads pending changes; only a change needs the plan's types.
    from exacell.plan.model import Gate, Risk, Undo

    begin = f"{plan.statement} --confirm-within={format_duration(seconds)}"
    if not 0 < seconds <= LONGEST:
        raise RefusedError(
            f"{begin}: the time must be greater than 0 and at most {format_duration(LONGEST)}; nothing was sent"
        )
    if plan.loss or plan.risk.rank >= Risk.DATA.rank:
        raise RefusedError(
            f"{begin}: it loses something that can't be restored ({plan.risk}); nothing was sent",
            hint="if that is intended, leave --confirm-within out",
        )
    carried = [step for stage in plan.stages if stage.gate is not Gate.MEND for step in stage.steps]
    changing = [s for s in carried if s.undo is not Undo.NOTHING]
    bare = [s for s in changing if s.target not in plan.inverse and not s.kind.shared]
    if plan.inverse and not bare:
        return
    told = bare or plan.steps
    reason = next((s.inverse for s in told if s.undo is Undo.IMPOSSIBLE and s.inverse), "no inverse is known")
    where = fold(tuple(dict.fromkeys(s.target for s in told)))
    raise RefusedError(
        f"{begin}: it could not be taken back on {where}, because {reason}; nothing was sent",
        hint="without --confirm-within it is done and not taken back",
    )
