"""Changes that are taken back by themselves unless somebody confirms them in time, as the journal tells of them.

``--confirm-within=30m`` leaves a ``deadline`` row behind the change. A guardian process (:mod:`exacell.change.guardian`) writes
a ``guardian`` row when it begins to wait, a ``reverting`` row before it takes the change back and a ``reverted`` row when
it has tried; ``confirm`` writes a ``confirmed`` row. Rows are in one order for everybody: the first of ``reverting`` and
``confirmed`` wins.
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
"""Kinds of rows that say whether a change waits for a confirmation."""

LONGEST = 7 * 24 * 3600.0
"""Seconds within which a change can be asked to be confirmed; a guardian that waits longer is forgotten by everybody."""


@dataclass(frozen=True, kw_only=True)
class Deadline:
    """A change that waits to be confirmed.

    Attributes:
        until: when it is taken back, UTC.
        group: the first change of the recipe's run that it belongs to, which waits as a whole; its own number otherwise.
        in_run: whether it belongs to a run.
        runner: while the run goes on, who runs it; None when it is over.
        guardian: who said that it waits; None when nobody did.
        reverting: whether it is being taken back, so that confirming comes too late.
        failed: why taking it back failed, empty when that was not tried or goes on.
        again: whether the guardian means to try it again.
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
        """Return whether a process waits for the deadline; True for one of another host, which can't be told from here."""
        return self.guardian is not None and alive(self.guardian)

    def overdue(self, now: datetime) -> bool:
        """Return whether the deadline has passed; that of a run only counts when nobody runs it any more."""
        return now >= self.until and not (self.runner is not None and alive(self.runner))

    def sentence(self, now: datetime) -> str:
        """Return one line that says what waits, and the statements that end it."""
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
    """Return what a row leaves of a waiting change; None when it waits no more."""
    match entry:
        case Entry(kind="guardian"):
            return replace(item, guardian=entry.who, reverting=False, failed="")
        case Entry(kind="reverting"):
            return replace(item, reverting=True, failed="")
        case Reverted() if entry.state != "done":
            return replace(item, reverting=False, failed=entry.reason or "unknown", again=entry.again)
        case Confirmed() if item.reverting and not entry.unguarded:
            return item  # It came too late: the guardian had begun.
        case _:
            return None


def open_deadlines(journal: Journal, rack: str) -> tuple[Deadline, ...]:
    """Return the changes of a rack that wait to be confirmed, oldest first.

    Those are among them whose process was killed when they had ended and before it could leave a deadline behind them.
    """
    rows = journal.of_kinds(rack, KINDS)
    known = {row.change for row in rows}
    left = {row.root: row for row in journal.plans_to_confirm(rack)}
    missing = (_missing(journal, change, plan) for change, plan in left.items() if change not in known)
    found = [*deadlines(rows), *(item for item in missing if item is not None)]
    return tuple(sorted(found, key=lambda item: item.change))


def _missing(journal: Journal, change: int, plan: Planned) -> Deadline | None:
    """Return the deadline that a change was to have and never got, None where there is no reason for one.

    Args:
        plan: the row of the plan that finished it, which is another change's when it was gone on with.
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
    """Record that a change waits to be confirmed for so many seconds from now, and return until when.

    Args:
        run: the first change of the recipe's run to which it belongs; 0 for none.
        going_on: the run goes on, in this process.
    """
    until = datetime.now(UTC) + timedelta(seconds=seconds)
    body = {"until": until.isoformat(timespec="milliseconds"), "within": seconds, "statement": statement, **actor()}
    group = {"run": run, "open": going_on} if run else {}
    journal.append(rack, change, [Row(kind="deadline", body={**body, **group})])
    return until


@dataclass
class WaitingRun:
    """The changes of one run of a recipe that are to be confirmed, or taken back, as a whole.

    Attributes:
        within: seconds from the end of the run.
        changes: number → statement, in the order in which they were made.
    """

    within: float
    changes: dict[int, str] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """The change whose guardian is the run's; 0 before there is one."""
        return next(iter(self.changes), 0)

    def go_on(self, journal: Journal, rack: str, run: str) -> None:
        """Take in the changes that an earlier process made in the run and that still wait: they wait for its end again.

        Args:
            run: as the journal tells it.
        """
        own = {row.root: row for row in journal.of_run(rack, run)}
        for item in open_deadlines(journal, rack):
            if item.change in own:
                self.changes[item.change] = item.statement
                set_deadline(journal, rack, item.change, item.statement, self.within, run=self.first, going_on=True)

    def over(self, journal: Journal, rack: str) -> datetime | None:
        """Let the time begin for all changes that still wait, and return until when; None when none does."""
        waiting = {item.change for item in open_deadlines(journal, rack)}
        until = None
        for change, statement in self.changes.items():
            if change in waiting:
                until = set_deadline(journal, rack, change, statement, self.within, run=self.first)
        return until


def confirm(journal: Journal, rack: str, change: int | None) -> tuple[Deadline, ...]:
    """Keep a change, every one that waits when ``change`` is None, and return what waited.

    Raises:
        RefusedError: that change does not wait, or none does.
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
        # Of a run the first one that waits decides for all: nothing is confirmed behind one that is being taken back.
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
    """Record that a change is about to be taken back; returns False when it was confirmed before that."""
    journal.append(rack, change, [Row(kind="reverting", body=actor())])
    return any(item.change == change for item in open_deadlines(journal, rack))


def note_reverted(journal: Journal, rack: str, change: int, *, reason: str = "", again: bool = False) -> None:
    """Record that a waiting change was taken back, or why that failed; nothing when it does not wait.

    Args:
        again: the guardian means to try it again; until then it can be confirmed.
    """
    if any(item.change == change for item in open_deadlines(journal, rack)):
        state = "failed" if reason else "done"
        body = {"state": state, "reason": reason, "again": again, **actor()}
        journal.append(rack, change, [Row(kind="reverted", body=body)])


def refuse_ungathered(line: Line) -> None:
    """Raise when ``--confirm-within`` stands behind something that exacell can't take back because it can't read it.

    Raises:
        RefusedError: it does.
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
    """Raise when a plan could not be taken back at its deadline.

    Raises:
        RefusedError: it has no inverse on some target, naming why; or the time makes no sense.
    """
    # Every start reads what is pending; only a change needs the plan's types.
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
    bare = [s for s in changing if s.target not in plan.inverse and not s.asm]
    if plan.inverse and not bare:
        return
    told = bare or plan.steps
    reason = next((s.inverse for s in told if s.undo is Undo.IMPOSSIBLE and s.inverse), "no inverse is known")
    where = fold(tuple(dict.fromkeys(s.target for s in told)))
    raise RefusedError(
        f"{begin}: it could not be taken back on {where}, because {reason}; nothing was sent",
        hint="without --confirm-within it is carried out and not taken back",
    )
