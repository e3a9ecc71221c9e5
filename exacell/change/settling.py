"""Find out the outcome of a change's statements whose end nobody recorded.

A process may have died between a statement's intent and its outcome. Then the statement's proof is read back, and an outcome
``done``, ``not done`` or ``unknown`` is written; nothing here changes a cell.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime

from exacell.change.targets.base import NO_ANSWER
from exacell.change.targets.kinds import Targets, opened
from exacell.core.cellset import fold, grouped
from exacell.core.units import format_duration
from exacell.journal.record import Row
from exacell.journal.rows import Intent
from exacell.journal.state import ChangeState, by_change
from exacell.plan.model import Step
from exacell.session.given import Services, Session


def drops_to_come(state: ChangeState) -> list[str]:
    """Return a line, with its cells, for each statement that drops a cache, was never answered and is not known to be done.

    A missing effect does not prove that the DROP will not happen later: the user who continues has to know.
    """
    cells = grouped((statement, cell) for (cell, _), statement in state.to_come.items())
    return [
        f"{statement} was not answered on {fold(names)}: if it still happens, it drops the cache that is there "
        "at that time; make sure that it has ended (if CellCLI hangs there, type `restart service ms`)"
        for statement, names in cells.items()
    ]


LATE_LOOKS = 12
"""Number of looks at a DROP without an answer, counted from when it was sent: a minute on real cells."""


def _pause(event: threading.Event, seconds: float) -> None:
    event.wait(seconds)


def settle(session: Session, services: Services, change: int, *, wait: bool = True) -> dict[str, int]:
    """Find out the outcomes of a change's statements whose end nobody recorded, and journal them.

    Returns:
        how many were found ``done``, ``not done`` and ``unknown``.

    Args:
        wait: look longer at a statement that was sent just now and drops a cache: it may still happen. An interruption ends
            this wait.

    Raises:
        JournalError: the outcomes can't be recorded.
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
        else:  # A later process that waits must find the statement open.
            early = {(s.target, s.what) for s, _ in dropping if states[(s.target, s.what)][0] == "not done"}
            wanted = [(s, mending) for s, mending in wanted if (s.target, s.what) not in early]
        found = [_outcome(step, *states[(step.target, step.what)], mending=mending) for step, mending in wanted]
        if found:
            services.journal.append(rack, number, found)
        for step, _ in wanted:
            if step.statement:  # Of other targets we only know that nobody waited for them.
                ended = states[(step.target, step.what)][0]
                counts[ended] = counts.get(ended, 0) + 1
    return counts


def _look_longer(
    session: Session,
    services: Services,
    sent: Sequence[tuple[Step, Intent]],
    states: dict[tuple[str, str], tuple[str, str]],
) -> None:
    """Look again at statements that were sent recently and are not done yet; update ``states``."""
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
    """Return (target, what) → (state, reason), from each step's proof; after an interruption silent cells are not waited for."""
    targets = Targets(services.fleet, opened(session, services, (step for step in steps if step.proves)))
    states: dict[tuple[str, str], tuple[str, str]] = {}
    for step in steps:
        key = (step.target, step.what)
        if not step.proves:
            states[key] = ("unknown", "there was no check for it")
            continue
        moving = tuple(hope for hope in step.hopes if hope.object == "asm.operation")
        checks = (*step.proves, *moving)
        failures = targets.failed({step.target: (step, checks)}, session.interrupted)[step.target]
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
