"""What became of a change that did not come to its end: its rows, those of the changes that finished it, and reality.

A process may have died between a statement's intent and its outcome. What the statement was to prove is read back, and an
outcome is written that says ``done``, ``not done`` or ``unknown``; nothing here changes a cell.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from exacell.cellset import fold
from exacell.change.probe import NO_ANSWER, Prober
from exacell.errors import RefusedError
from exacell.journal.actor import actor
from exacell.journal.record import Entry, Journal, Row
from exacell.journal.running import runs
from exacell.plan.model import Step, step_from_json
from exacell.units import format_duration

if TYPE_CHECKING:
    from exacell.asm import AsmClient
    from exacell.config import RackConfig
    from exacell.console import Console
    from exacell.fleet import Fleet


class Looks(Protocol):
    """What settling needs of a session: its rack, what reaches its cells and ASM, and whom to tell."""

    @property
    def journal(self) -> Journal:
        """Where the outcomes are written."""

    @property
    def console(self) -> Console:
        """Told when something is waited for."""

    @property
    def interrupted(self) -> threading.Event:
        """The user's wish not to wait."""

    @property
    def fleet(self) -> Fleet:
        """Asks the cells."""

    def asm(self, name: str = "") -> AsmClient:
        """Return what asks an ASM cluster."""

    def need_rack(self) -> RackConfig:
        """Return the rack."""


def plan_row(journal: Journal, rack: str, change: int) -> Entry:
    """Return the row that holds a change's plan.

    Raises:
        RefusedError: the journal has no such change of the rack.
    """
    row = next((e for e in journal.entries(rack=rack, change=change) if e.kind == "plan"), None)
    if row is None:
        raise RefusedError(f"the journal has no change {change} of rack {rack}", hint="journal show")
    return row


def root_of(journal: Journal, rack: str, change: int) -> int:
    """Return the change that ``change`` went on with (resume, retry failed), else ``change`` itself.

    Raises:
        RefusedError: the journal has no such change of the rack.
    """
    finishes = plan_row(journal, rack, change).body.get("finishes")
    return int(finishes) if finishes else change


def chain(journal: Journal, rack: str, change: int) -> list[Entry]:
    """Return the rows of a change and behind them those of the changes that went on with it, in order."""
    rows = list(journal.entries(rack=rack, change=change))
    for later in journal.finishing(rack, change):
        rows += journal.entries(rack=rack, change=later)
    return rows


def intended_on(journal: Journal, rack: str, change: int, statement: str) -> frozenset[str]:
    """Return the targets to which a change, or one that went on with it, has sent a statement or was about to."""
    rows = chain(journal, rack, change)
    return frozenset(e.target for e in rows if e.kind == "intent" and e.body.get("statement") == statement)


def sent_by(journal: Journal, rack: str, change: int) -> frozenset[str]:
    """Return the statements that a change, or one that went on with it, has sent or was about to, to whatever target."""
    return frozenset(str(e.body.get("statement")) for e in chain(journal, rack, change) if e.kind == "intent")


def done_on(journal: Journal, rack: str, change: int, what: str) -> frozenset[str]:
    """Return the targets on which a change, or one that went on with it, did the step ``what`` and has not failed in it since."""
    states = states_of(chain(journal, rack, change))
    return frozenset(target for (target, step), state in states.items() if step == what and state == "done")


def inverse_of(journal: Journal, rack: str, change: int) -> dict[str, tuple[str, ...]]:
    """Return the statements that take back a change and what went on with it, per target."""
    found: dict[str, tuple[str, ...]] = {}
    for row in chain(journal, rack, change):
        if row.kind == "plan" and "plan" in row.body:
            for target, statements in row.body["plan"].get("inverse", {}).items():
                found.setdefault(target, tuple(statements))
    return found


def attempts(journal: Journal, rack: str, change: int) -> list[Entry]:
    """Return the plan rows of the changes that were made to take ``change`` back, oldest first."""
    return journal.with_origin(rack, f"undo {change}")


def refuse_running(journal: Journal, rack: str, change: int) -> None:
    """Raise when a living process is carrying the change out, or one that goes on with it.

    Raises:
        RefusedError: names the process.
    """
    rows = chain(journal, rack, change)
    ended = {row.change for row in rows if row.kind == "end"}
    for row in rows:
        if row.kind == "plan" and row.change not in ended and runs(journal, row):
            here = row.body.get("host") == actor()["host"]
            raise RefusedError(
                f"change {row.change} ({row.body.get('statement')}) is being carried out by process {row.body.get('pid')} "
                f"on {row.body.get('host')}",
                hint="let it end, or end that process first"
                + ("" if here else "; if it has ended: unlock --takeover, and then this again"),
            )


def unsettled(entries: Sequence[Entry]) -> dict[tuple[str, str], Entry]:
    """Return (target, what) → intent for each statement that has no outcome, or one that is not known."""
    waiting: dict[tuple[str, str], Entry] = {}
    intents: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        key = (entry.target, str(entry.body.get("what")))
        if entry.kind == "intent":
            waiting[key] = intents[key] = entry
        elif entry.kind == "outcome":
            waiting.pop(key, None)
            if entry.body.get("state") == "unknown" and key in intents:
                waiting[key] = intents[key]
    return waiting


def drops_to_come(entries: Sequence[Entry]) -> list[str]:
    """Return a line for each statement that drops a cache, was never answered and is not known to be done, by its cells.

    That its effect is not there does not prove that it will not come: who goes on has to know.
    """
    waiting: dict[tuple[str, str], str] = {}
    for entry in entries:
        statement = str(entry.body.get("statement", ""))
        key = (entry.target, str(entry.body.get("what")))
        if entry.body.get("cachingOff") and statement.upper().startswith(
            "DROP "
        ):  # An intent; outcomes have no statement.
            waiting[key] = statement
        elif key in waiting and not _may_come(entry):
            del waiting[key]
    cells: dict[str, list[str]] = {}
    for (cell, _), statement in waiting.items():
        cells.setdefault(statement, []).append(cell)
    return [
        f"{statement} was not answered on {fold(names)}: if it is still carried out there, it drops the cache that is there "
        "then; make sure that it has ended (restart service ms there, where CellCLI hangs)"
        for statement, names in cells.items()
    ]


def _may_come(outcome: Entry) -> bool:
    """Whether a statement may be carried out behind this row: its answer was lost, and what was read does not show it."""
    return outcome.body.get("state") == "unknown" or bool(
        outcome.body.get("settled") and outcome.body.get("state") != "done"
    )


def states_of(entries: Sequence[Entry]) -> dict[tuple[str, str], str]:
    """Return (target, what) → how the step of one change ended, ``no outcome`` for an intent that has none."""
    states: dict[tuple[str, str], str] = {}
    for entry in entries:
        key = (entry.target, str(entry.body.get("what")))
        if entry.kind == "intent":
            states.setdefault(key, "no outcome")
        elif entry.kind == "outcome" and not entry.body.get("mending"):
            states[key] = str(entry.body.get("state"))
    return states


LATE_LOOKS = 12
"""So many looks a DROP without an answer is given from when it was sent: a minute on real cells."""


def _pause(event: threading.Event, seconds: float) -> None:
    event.wait(seconds)


def settle(ctx: Looks, change: int, *, wait: bool = True) -> dict[str, int]:
    """Find out what became of the statements of a change whose end nobody recorded, journal it, and return how many
    were found ``done``, ``not done`` and ``unknown``.

    Args:
        wait: what drops a cache and was sent just now is looked for a while longer: it may be on its way still. An
            interruption ends that.

    Raises:
        JournalError: it can't be recorded.
    """
    rack = ctx.need_rack().name
    counts: dict[str, int] = {}
    rows = chain(ctx.journal, rack, change)
    for number in dict.fromkeys(row.change for row in rows):
        own = [row for row in rows if row.change == number]
        open_intents = unsettled(own)
        plan = next((row.body["plan"] for row in own if "plan" in row.body), None)
        if plan is None:
            continue
        steps = {(s.target, s.what): (s, mending) for s, mending in steps_of(plan)}
        wanted = [steps[key] for key in open_intents if key in steps]
        states = _look(ctx, [step for step, _ in wanted])
        dropping = [(step, open_intents[(step.target, step.what)]) for step, _ in wanted if _drops(step)]
        if wait:
            _look_longer(ctx, dropping, states)
        else:  # Whoever waits shall find it open.
            early = {(s.target, s.what) for s, _ in dropping if states[(s.target, s.what)][0] == "not done"}
            wanted = [(s, mending) for s, mending in wanted if (s.target, s.what) not in early]
        found = [_outcome(step, *states[(step.target, step.what)], mending=mending) for step, mending in wanted]
        if found:
            ctx.journal.append(rack, number, found)
        for (step, _), row in zip(wanted, found, strict=True):
            if step.statement:  # Of others it is only known that they were not waited for.
                state = str(row.body["state"])
                counts[state] = counts.get(state, 0) + 1
    return counts


def _drops(step: Step) -> bool:
    return step.caching_off and step.statement.upper().startswith("DROP ")


def _look_longer(
    ctx: Looks, sent: Sequence[tuple[Step, Entry]], states: dict[tuple[str, str], tuple[str, str]]
) -> None:
    """Look again, into ``states``, at what is not done yet of what was sent less than some looks ago."""
    poll = ctx.need_rack().poll
    now = datetime.now(UTC)
    left = {}
    for step, row in sent:
        age = (now - datetime.fromisoformat(row.at)).total_seconds()
        left[(step.target, step.what)] = LATE_LOOKS - max(0, int(age / poll))
    steps = [step for step, _ in sent]
    for look in range(LATE_LOOKS):
        steps = [s for s in steps if states[(s.target, s.what)][0] == "not done" and left[(s.target, s.what)] > look]
        if not steps or ctx.interrupted.is_set():
            return
        if not look:
            names = fold(dict.fromkeys(step.target for step in steps))
            most = format_duration(max(left.values()) * poll)
            ctx.console.say(f"a DROP that was not answered on {names} may be on its way: looked for for up to {most}")
        _pause(ctx.interrupted, poll)
        states.update(_look(ctx, steps))


def steps_of(plan: Mapping[str, Any]) -> list[tuple[Step, bool]]:
    """Return the steps of a journalled plan in order, each with whether it mends."""
    return [
        (step_from_json(item), stage["gate"] == "mend") for stage in plan.get("stages", ()) for item in stage["steps"]
    ]


def _look(ctx: Looks, steps: Sequence[Step]) -> dict[tuple[str, str], tuple[str, str]]:
    """Return (target, what) → state and reason, from what each step was to prove; an interruption waits for no silent cell."""
    clusters = {step.asm for step in steps if step.asm and step.proves}
    prober = Prober(ctx.fleet, {name: ctx.asm(name) for name in clusters})
    states: dict[tuple[str, str], tuple[str, str]] = {}
    for step in steps:
        key = (step.target, step.what)
        if not step.proves:
            states[key] = ("unknown", "nothing was to prove it")
            continue
        moving = tuple(hope for hope in step.hopes if hope.object == "asm.operation")
        checks = (*step.proves, *moving)
        failures = (
            prober.asm(step.asm, checks, first=step.target, cancel=ctx.interrupted)
            if step.asm
            else prober.cells({step.target: checks}, ctx.interrupted)[step.target]
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
            states[key] = ("unknown", f"under way still: {next(iter(unproven.values()))}")
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
