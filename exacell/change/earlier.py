"""Read in the journal what earlier changes did: the change that they continued, their statements, and what can be taken back.

Nothing here asks a target or writes a row. A change can be taken back if it did something, or was stopped before it did.
"""

from __future__ import annotations

from collections.abc import Iterator

from exacell.change.pending import newest_stopped
from exacell.core.errors import RefusedError
from exacell.core.values import dataclass
from exacell.journal.actor import actor
from exacell.journal.record import Journal, runs
from exacell.journal.rows import Planned
from exacell.journal.state import ChangeState, by_change
from exacell.plan.model import Change, Plan
from exacell.recipes.record import Run
from exacell.session.given import Services, Session
from exacell.session.runs import changes_of_run, ended_runs


def plan_row(journal: Journal, rack: str, change: int) -> Planned:
    """Return the row that holds a change's plan.

    Raises:
        RefusedError: the journal has no such change of the rack.
    """
    row = journal.state(rack, change).plan
    if row is None:
        raise RefusedError(f"the journal has no change {change} of rack {rack}", hint="journal show")
    return row


def root_of(journal: Journal, rack: str, change: int) -> int:
    """Return the change that ``change`` continued (resume, retry failed), else ``change`` itself.

    Raises:
        RefusedError: the journal has no such change of the rack.
    """
    return plan_row(journal, rack, change).finishes or change


def intended_on(journal: Journal, rack: str, change: int, statement: str) -> frozenset[str]:
    """Return the targets to which a change, or one that continued it, has sent a statement or was about to."""
    return frozenset(row.target for row in journal.whole_state(rack, change).intents if row.statement == statement)


def sent_by(journal: Journal, rack: str, change: int) -> frozenset[str]:
    """Return the statements that a change, or one that continued it, has sent to any target or was about to."""
    return frozenset(row.statement for row in journal.whole_state(rack, change).intents)


def done_on(journal: Journal, rack: str, change: int, what: str) -> frozenset[str]:
    """Return the targets on which a change, or one that continued it, did the step ``what`` and has not failed in it since."""
    states = journal.whole_state(rack, change).states
    return frozenset(target for (target, step), state in states.items() if step == what and state == "done")


def inverse_of(journal: Journal, rack: str, change: int) -> dict[str, tuple[str, ...]]:
    """Return, by target, the statements that take back a change together with its continuations."""
    found: dict[str, tuple[str, ...]] = {}
    for row in journal.whole_state(rack, change).plans:
        found |= row.inverse  # The first one of a target, unless somebody changed the value later (changed_since).
    return found


@dataclass(frozen=True, kw_only=True)
class ChangedSince:
    """Values on one target that somebody else changed between a change and its continuation.

    Attributes:
        values: the changes still to be made, each with the value that the earlier change found.
        all_of_it: the continuation repeats all work of the earlier change on this target. Then the inverse of the continuation
            alone takes everything back.
    """

    target: str
    values: tuple[tuple[Change, str], ...]
    all_of_it: bool


def changed_since(state: ChangeState, plan: Plan) -> Iterator[ChangedSince]:
    """Yield, by target, the values that somebody has changed since a change; ``plan`` is the plan that continues it.

    Targets are left out if nobody can tell who changed them: a statement failed half-way there, or it is a host, whose kernel may
    have rounded the written value.

    Args:
        state: of the change, and of those that continued it.
    """
    known: dict[str, dict[_Attribute, list[str]]] = {}
    for step in (step for row in state.plans for step in row.wanted):
        for change in step.changes:
            known.setdefault(step.target, {}).setdefault(_attribute(change), []).extend((change.before, change.after))
    half = {
        target for (target, what), how in state.states.items() if how == "failed" and state.touched.get((target, what))
    }
    for target in (target for target in plan.targets if target in known and target not in half):
        steps = [step for step in plan.steps if step.target == target]
        found: dict[_Attribute, Change] = {}
        for change in (change for step in steps for change in step.changes):
            found.setdefault(_attribute(change), change)
        new = [
            (each, known[target][name][0])
            for name, each in found.items()
            if name in known[target] and each.before not in known[target][name]
        ]
        if new and all(step.kind.exact for step in steps):
            yield ChangedSince(
                target=target,
                values=tuple(new),
                all_of_it=known[target].keys() <= found.keys(),
            )


_Attribute = tuple[str, str, str]


def _attribute(change: Change) -> _Attribute:
    return change.object, change.name, change.attribute


def attempts(journal: Journal, rack: str, change: int) -> list[Planned]:
    """Return the plan rows of the changes that were made to take ``change`` back, oldest first."""
    return journal.with_origin(rack, f"undo {change}")


def refuse_running(journal: Journal, rack: str, change: int) -> None:
    """Raise RefusedError if a living process is carrying out the change, or one that continues it.

    Raises:
        RefusedError: names the process.
    """
    for state in by_change(journal.chain(rack, change)).values():
        row = state.plan
        if row is not None and state.end is None and runs(journal, row):
            here = row.who.host == actor()["host"]
            raise RefusedError(
                f"change {row.change} ({row.statement}) is being run by process {row.who.pid} on {row.who.host}",
                hint="wait until it ends, or end that process first"
                + ("" if here else "; if it has ended, type `unlock --takeover`, then this again"),
            )


def newest_to_undo(session: Session, services: Services) -> int:
    """Return the number of the newest change that can be taken back.

    An undo does not count, nor a change that was already undone, nor one that did nothing. The newest change also counts if it
    was stopped before it did anything.

    Raises:
        RefusedError: there is no such change.
    """
    rack = session.need_rack().name
    for number, _ in _to_undo(session, services):
        return number
    raise RefusedError(f"there is no change of rack {rack} to undo", hint="journal show")


def run_to_undo(session: Session, services: Services, number: int) -> Run | None:
    """Return the ended recipe run to which a change belongs, if any part of that run can be taken back; else None."""
    rack = session.need_rack().name
    key = next((plan.run for plan in services.journal.whole_state(rack, number).plans), "")
    for run in ended_runs(services.store(), rack) if key else ():
        if run.key == key:
            back = {change for change, row in _to_undo(session, services) if row.inverse}
            return (
                run if back.intersection(changes_of_run(services.store(), services.journal, rack, run.name)) else None
            )
    return None


def older_to_undo(session: Session, services: Services, number: int) -> str:
    """Return the statement that takes back the newest change before ``number`` that has an inverse; empty for none."""
    for older, row in _to_undo(session, services):
        if older < number and row.inverse:
            return f"`undo {older}` takes back change {older} ({row.statement})"
    return ""


def _to_undo(session: Session, services: Services) -> Iterator[tuple[int, Planned]]:
    """Yield (number, plan row) of the changes that did something and are neither an undo nor undone, newest first.

    The newest change also counts if it was stopped before anything was sent: taking it back ends it.
    """
    rack = session.need_rack().name
    changes = by_change(services.journal.entries(rack=rack))
    newest, waiting = services.journal.newest_plan(rack), newest_stopped(services.journal, rack)
    stopped_last = waiting.change if waiting is not None and waiting == newest else 0
    touched = {state.plan.root for state in changes.values() if state.plan is not None and any(state.touched.values())}
    for number, state in reversed(changes.items()):
        plan = state.plan
        if plan is None or plan.plan is None or plan.origin.startswith("undo "):
            continue
        if plan.root in changes and changes[plan.root].undone:
            continue
        # Undo ends a change that never ended, or the newest one if it was stopped, even if nothing was sent.
        if state.end is None or number == stopped_last or plan.root in touched:
            yield plan.root, plan
