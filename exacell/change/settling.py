"""What became of a change that did not come to its end, and which changes can be taken back.

A process may have died between a statement's intent and its outcome. What the statement was to prove is read back, and an
outcome is written that says ``done``, ``not done`` or ``unknown``; nothing here changes a cell. Changes that did something, or
were stopped before they did, can be taken back.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from exacell.change.pending import newest_stopped
from exacell.change.probe import NO_ANSWER, Prober
from exacell.core.cellset import fold, grouped
from exacell.core.errors import RefusedError
from exacell.core.units import format_duration
from exacell.core.values import dataclass
from exacell.journal.actor import actor
from exacell.journal.record import Journal, Row, runs
from exacell.journal.rows import Intent, Planned
from exacell.journal.state import ChangeState, by_change
from exacell.plan.model import Change, Plan, Step
from exacell.recipes.record import Run
from exacell.session.dbclient import sql_targets
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
    """Return the change that ``change`` went on with (resume, retry failed), else ``change`` itself.

    Raises:
        RefusedError: the journal has no such change of the rack.
    """
    return plan_row(journal, rack, change).finishes or change


def intended_on(journal: Journal, rack: str, change: int, statement: str) -> frozenset[str]:
    """Return the targets to which a change, or one that went on with it, has sent a statement or was about to."""
    return frozenset(row.target for row in journal.whole_state(rack, change).intents if row.statement == statement)


def sent_by(journal: Journal, rack: str, change: int) -> frozenset[str]:
    """Return the statements that a change, or one that went on with it, has sent or was about to, to whatever target."""
    return frozenset(row.statement for row in journal.whole_state(rack, change).intents)


def done_on(journal: Journal, rack: str, change: int, what: str) -> frozenset[str]:
    """Return the targets on which a change, or one that went on with it, did the step ``what`` and has not failed in it since."""
    states = journal.whole_state(rack, change).states
    return frozenset(target for (target, step), state in states.items() if step == what and state == "done")


def inverse_of(journal: Journal, rack: str, change: int) -> dict[str, tuple[str, ...]]:
    """Return the statements that take back a change and what went on with it, per target."""
    found: dict[str, tuple[str, ...]] = {}
    for row in journal.whole_state(rack, change).plans:
        found |= row.inverse  # As the first one says, but where somebody changed it before a later one (changed_since).
    return found


@dataclass(frozen=True, kw_only=True)
class ChangedSince:
    """Values on one target that a change finds where it goes on with another one, though that neither found nor wrote them.

    Attributes:
        values: what is to be changed, each with what the earlier change found.
        all_of_it: all that the earlier change does there is to be done again, so that this one's inverse is enough.
    """

    target: str
    values: tuple[tuple[Change, str], ...]
    all_of_it: bool


def changed_since(state: ChangeState, plan: Plan) -> Iterator[ChangedSince]:
    """Yield what somebody has changed since a change, by target, as the plan tells that goes on with it.

    Where a statement failed half way, or a host's kernel may have rounded what was written, nobody can tell who it was.

    Args:
        state: of the change, and of those that went on with it.
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
        if new and not any(step.host for step in steps):
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
    """Raise when a living process is carrying the change out, or one that goes on with it.

    Raises:
        RefusedError: names the process.
    """
    for state in by_change(journal.chain(rack, change)).values():
        row = state.plan
        if row is not None and state.end is None and runs(journal, row):
            here = row.who.host == actor()["host"]
            raise RefusedError(
                f"change {row.change} ({row.statement}) is being carried out by process {row.who.pid} on "
                f"{row.who.host}",
                hint="wait until it ends, or end that process first"
                + ("" if here else "; if it has ended, type `unlock --takeover`, then this again"),
            )


def drops_to_come(state: ChangeState) -> list[str]:
    """Return a line for each statement that drops a cache, was never answered and is not known to be done, by its cells.

    That its effect is not there does not prove that it will not come: who goes on has to know.
    """
    cells = grouped((statement, cell) for (cell, _), statement in state.to_come.items())
    return [
        f"{statement} was not answered on {fold(names)}: if it still happens, it drops the cache that is there "
        "at that time; make sure that it has ended (if CellCLI hangs there, type `restart service ms`)"
        for statement, names in cells.items()
    ]


LATE_LOOKS = 12
"""So many looks a DROP without an answer is given from when it was sent: a minute on real cells."""


def _pause(event: threading.Event, seconds: float) -> None:
    event.wait(seconds)


def settle(session: Session, services: Services, change: int, *, wait: bool = True) -> dict[str, int]:
    """Find out what became of the statements of a change whose end nobody recorded, journal it, and return how many
    were found ``done``, ``not done`` and ``unknown``.

    Args:
        wait: what drops a cache and was sent just now is looked for a while longer: it may be on its way still. An
            interruption ends that.

    Raises:
        JournalError: it can't be recorded.
    """
    rack = session.need_rack().name
    counts: dict[str, int] = {}
    for number, state in by_change(services.journal.chain(rack, change)).items():
        open_intents = state.unsettled
        steps = {(s.target, s.what): (s, mending) for plan in state.plans for s, mending in plan.steps}
        wanted = [steps[key] for key in open_intents if key in steps]
        states = _look(session, services, [step for step, _ in wanted])
        dropping = [
            (step, open_intents[(step.target, step.what)])
            for step, _ in wanted
            if step.caching_off and step.statement.upper().startswith("DROP ")
        ]
        if wait:
            _look_longer(session, services, dropping, states)
        else:  # Whoever waits shall find it open.
            early = {(s.target, s.what) for s, _ in dropping if states[(s.target, s.what)][0] == "not done"}
            wanted = [(s, mending) for s, mending in wanted if (s.target, s.what) not in early]
        found = [_outcome(step, *states[(step.target, step.what)], mending=mending) for step, mending in wanted]
        if found:
            services.journal.append(rack, number, found)
        for step, _ in wanted:
            if step.statement:  # Of others it is only known that they were not waited for.
                ended = states[(step.target, step.what)][0]
                counts[ended] = counts.get(ended, 0) + 1
    return counts


def _look_longer(
    session: Session,
    services: Services,
    sent: Sequence[tuple[Step, Intent]],
    states: dict[tuple[str, str], tuple[str, str]],
) -> None:
    """Look again, into ``states``, at what is not done yet of what was sent less than some looks ago."""
    poll = session.need_rack().poll
    now = datetime.now(UTC)
    left = {}
    for step, row in sent:
        age = (now - datetime.fromisoformat(row.at)).total_seconds()
        left[(step.target, step.what)] = LATE_LOOKS - max(0, int(age / poll))
    steps = [step for step, _ in sent]
    for look in range(LATE_LOOKS):
        steps = [s for s in steps if states[(s.target, s.what)][0] == "not done" and left[(s.target, s.what)] > look]
        if not steps or session.interrupted.is_set():
            return
        if not look:
            names = fold(dict.fromkeys(step.target for step in steps))
            most = format_duration(max(left.values()) * poll)
            services.console.say(f"{names} did not answer a DROP: checking for up to {most} whether it still happens")
        _pause(session.interrupted, poll)
        states.update(_look(session, services, steps))


def _look(session: Session, services: Services, steps: Sequence[Step]) -> dict[tuple[str, str], tuple[str, str]]:
    """Return (target, what) → state and reason, from what each step was to prove; an interruption waits for no silent cell."""
    clusters = {step.asm for step in steps if step.asm and step.proves}
    prober = Prober(services.fleet, sql_targets(session, services, clusters))
    states: dict[tuple[str, str], tuple[str, str]] = {}
    for step in steps:
        key = (step.target, step.what)
        if not step.proves:
            states[key] = ("unknown", "there was no check for it")
            continue
        moving = tuple(hope for hope in step.hopes if hope.object == "asm.operation")
        checks = (*step.proves, *moving)
        failures = (
            prober.asm(step.asm, checks, first=step.target, cancel=session.interrupted)
            if step.asm
            else prober.cells({step.target: checks}, session.interrupted)[step.target]
        )
        ended = not moving or any(place >= len(step.proves) for place in failures)
        unproven = {place: why for place, why in failures.items() if place < len(step.proves)}
        if not unproven:
            states[key] = ("done", "found done")
        elif NO_ANSWER in failures:
            states[key] = ("unknown", failures[NO_ANSWER])
        elif ended:
            states[key] = ("not done", next(iter(unproven.values())))
        else:
            states[key] = ("unknown", f"still running: {next(iter(unproven.values()))}")
    return states


def _outcome(step: Step, state: str, reason: str, *, mending: bool) -> Row:
    body = {
        "what": step.what,
        "state": state,
        "reason": reason,
        "settled": True,
        "cachingOff": step.caching_off,
        "cachingOn": step.caching_on,
        "cache": step.cache,
        "mending": mending,
    }
    return Row(kind="outcome", target=step.target, body=body)


def newest_to_undo(session: Session, services: Services) -> int:
    """Return the number of the newest change that did something, or was stopped before it did, and is neither an undo
    nor undone.

    Raises:
        RefusedError: there is none.
    """
    rack = session.need_rack().name
    for number, _ in _to_undo(session, services):
        return number
    raise RefusedError(f"there is no change of rack {rack} to undo", hint="journal show")


def run_to_undo(session: Session, services: Services, number: int) -> Run | None:
    """Return the ended run of a recipe that a change is part of, where something of that run can be taken back; else None."""
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
    """Yield the changes that did something and are neither an undo nor undone, newest first: number and plan row.

    The newest is one of them when it was stopped before anything was sent: taking it back ends it.
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
        # One that never ended, or the newest when it was stopped, is ended by undo, whether or not anything was sent.
        if state.end is None or number == stopped_last or plan.root in touched:
            yield plan.root, plan
