"""Run the process that takes a change back if nobody confirms it in time.

It is started with its own descriptors in its own session, so that it outlives the shell; it is never forked from a threaded
process. It knows how the shell reached the rack, reads the journal while it waits, and records there what it did. If it dies,
the next start of exacell reports that. A change is not taken back if somebody has set the same values again on purpose, even if
the values look unchanged.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from exacell.change.sentry import Errand
from exacell.core.background import uptime
from exacell.core.config import Settings
from exacell.core.errors import ExacellError, ExitCode, InterruptedByUserError, MovedError
from exacell.journal.actor import actor
from exacell.journal.confirming import Deadline, note_reverted, note_reverting, open_deadlines
from exacell.journal.record import Journal, Row
from exacell.journal.rows import Planned
from exacell.journal.state import ChangeState, by_change
from exacell.output.console import Progress
from exacell.session.request import Request

if TYPE_CHECKING:
    from exacell.plan.model import Plan


LOG = logging.getLogger("exacell.change.guardian")

LOOK = 5.0
"""Seconds between two checks of the clock and of whether the change was confirmed: hosts sleep, clocks are set."""

LATE = 1.0
"""Seconds between two looks at a run that continues after its deadline; its end sets a new deadline, which must not be missed."""

TRIES = (0.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Seconds before each attempt to take the change back: meanwhile a lock may be freed or a cell come back."""


class LogConsole:
    """A console that writes to the guardian's log; nobody answers its questions."""

    ending = False

    def say(self, text: str) -> None:
        """Log one line."""
        LOG.info("%s", text)

    data = say

    def tell(self, text: str, meaning: str = "") -> None:
        """Log one line, of any meaning."""
        self.say(text)

    def unhindered(self) -> AbstractContextManager[None]:
        """Return a context that does nothing: even if the log can't be written, the work continues."""
        return nullcontext()

    def show_plan(self, plan: Plan, *, brief: bool = False) -> None:
        """Log the plan's statement and steps."""
        LOG.info("plan: %s", plan.statement)
        for step in plan.steps:
            LOG.info("plan: %s: %s", step.target, step.statement or step.what)

    def confirm(self, question: str, details: Callable[[], None] | None = None) -> bool | None:
        """Return None: nobody can be asked."""
        return None

    def ask(self, question: str) -> str | None:
        """Return None: nobody can be asked."""
        return None

    def edit(self, path: Path, env: Mapping[str, str]) -> bool:
        """Return False: there is no terminal."""
        return False

    def progress(self, progress: Progress | None) -> None:
        """Show nothing; the journal records the progress."""

    def waiting(self, text: str | None) -> None:
        """Show nothing."""


def watch(
    journal: Journal,
    errand: Errand,
    revert: Callable[[Deadline], str],
    *,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ticks: Callable[[], float] | None = None,
    sleep: Callable[[float], object] = time.sleep,
    tries: Sequence[float] = TRIES,
) -> str:
    """Wait for the deadline of a change, or of a run that begins with it, then take it back.

    The deadline has come when the clock shows it or when as much time has passed: setting the clock back delays nothing.

    Returns:
        how it ended: confirmed, reverted or failed.

    Args:
        ticks: returns seconds that no change of the clock affects; None means seconds since the host started, including sleep.
        revert: takes the change back and returns why that failed, empty if it did not. MovedError ends the attempts: a value
            that somebody changed meanwhile does not come back by waiting. InterruptedByUserError ends them too: the guardian
            was asked to end.
    """
    journal.append(errand.rack, errand.change, [Row(kind="guardian", body=actor())])
    ticks = ticks or uptime
    ends: dict[datetime, float] = {}
    while (item := _mine(journal, errand)) is not None and not item.overdue(now()):
        # A run's deadline moves when the run ends; each deadline is counted from the moment it was first seen.
        left = ends.setdefault(item.until, ticks() + (item.until - now()).total_seconds()) - ticks()
        goes_on = not item.overdue(item.until)
        if left <= 0 and not goes_on:
            break
        due = min(left, (item.until - now()).total_seconds())
        sleep(max(0.01, min(LOOK, due)) if due > 0 else LATE)
    reason = ""
    for number, pause in enumerate(tries, 1):
        sleep(pause)
        item = _mine(journal, errand)
        if item is None or not note_reverting(journal, errand.rack, item.change):
            return "confirmed" if not reason else "ended by somebody else"
        hopeless = False
        try:
            reason = revert(item)
        except (MovedError, InterruptedByUserError) as error:
            reason, hopeless = error.message, True
        if not reason:
            note_reverted(journal, errand.rack, item.change)
            return "reverted"
        LOG.warning("change %s could not be taken back: %s", errand.change, reason)
        # The reason is recorded before the next attempt, so that an operator can decide.
        note_reverted(journal, errand.rack, item.change, reason=reason, again=number < len(tries) and not hopeless)
        if hopeless:
            break
    return "failed"


def _mine(journal: Journal, errand: Errand) -> Deadline | None:
    """Return the deadline of this guardian's change, or of the first change of its run that still waits; None without one."""
    return next((item for item in open_deadlines(journal, errand.rack) if item.group == errand.change), None)


_STOPPED_EARLY = "its guardian process was stopped before everything was taken back"


def take_back(errand: Errand, item: Deadline) -> str:
    """Undo the change over the rack's own transport and return why that failed, empty if it did not.

    SIGTERM or SIGQUIT while cells are changed acts like a first Ctrl-C: no cell is left half-changed or without caching.

    Raises:
        MovedError: somebody has since changed what the change left, even if it looks the same again now.
        InterruptedByUserError: the process was asked to end before everything was taken back.
    """
    from exacell.change.undoing import undo
    from exacell.session.opening import open_session
    from exacell.session.signalled import ending_well
    from exacell.session.state import Options

    why = f"not confirmed by {item.until.isoformat(timespec='seconds')}"
    console = LogConsole()
    try:
        session, services = open_session(Options(**{**errand.options, "yes": True}), console)  # type: ignore[arg-type]  # by name, as they were written down
        try:
            session.settings = replace(
                session.settings,
                **{name: value for name, value in errand.settings.items() if name in Settings.__dataclass_fields__},
            )
            session.need_rack()
            # The change was allowed when it was made; taking it back is part of it, also on a production rack.
            session.read_only = False
            session.opened.update(session.config.racks)
            changes = [o.change for o in open_deadlines(services.journal, errand.rack) if o.group == item.group]
            refuse_overtaken(services.journal, errand.rack, changes)
            with ending_well(session, console):
                result = undo(session, services, Request(), changes, {"yes": True, "reason": why})
        finally:
            services.close()
    except (MovedError, InterruptedByUserError):
        raise
    except ExacellError as error:
        if console.ending:
            raise InterruptedByUserError(f"{error.message}; {_STOPPED_EARLY}") from error
        return error.message
    for note in (*result.notes, *result.problems):
        LOG.info("%s", note)
    if result.exit_code is ExitCode.DONE:
        return ""
    if console.ending:
        raise InterruptedByUserError(_STOPPED_EARLY)
    return "; ".join(result.problems) or f"undo ended with exit code {int(result.exit_code)}"


def main(argv: Sequence[str]) -> int:
    """Run one guardian; ``argv`` holds the errand as JSON. Return 0 unless taking the change back failed."""
    from exacell.core.paths import Home
    from exacell.session.signalled import quitting_as_terminated

    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("paramiko").setLevel(logging.ERROR)
    errand = Errand(**json.loads(argv[0]))
    journal = Journal(Home.from_env().state_dir / "journal.db")
    LOG.info("process %s waits for the deadline of change %s on rack %s", os.getpid(), errand.change, errand.rack)
    try:
        with quitting_as_terminated():
            ended = watch(journal, errand, lambda item: take_back(errand, item))
    except ExacellError as error:
        LOG.error("%s", error.message)
        return int(error.exit_code)
    LOG.info("change %s: %s", errand.change, ended)
    return int(ExitCode.FAILED if ended == "failed" else ExitCode.DONE)


_PASSING = ("status",)
"""Attributes that do not count as set by a later change that proves them: a flush leaves the status as it was."""

_Fact = tuple[str, str, str]
"""(target, object, attribute)."""


def refuse_overtaken(journal: Journal, rack: str, changes: Collection[int]) -> None:
    """Raise MovedError if a later change has set the same values as these changes.

    Later changes do not count if they were undone, are an undo of such a change, or continued one of these changes or took it
    back.

    Raises:
        MovedError: names the later change; its operator wants the present state.
        JournalError: the journal can't be read.
    """
    rows = journal.plans_after(rack, min(changes, default=0))
    for number in sorted(changes):
        did = _proven(by_change(journal.chain(rack, number)))
        for row in rows:
            if row.change <= number or _belongs(row, changes) or row.undoes > number:
                continue
            later = by_change(journal.chain(rack, row.root))
            both = did & _proven(later)
            if both and not any(state.undone for state in later.values()):
                target, kind, attribute = min(both)
                who = row.who.sudo_user or row.who.user
                raise MovedError(
                    f"change {row.change} ({row.statement}) of {who} has set {kind} {attribute} of {target} after "
                    f"change {number}; nothing was sent",
                    hint=f"`undo {number}` takes it back anyway, `confirm {number}` keeps it",
                )


def _belongs(row: Planned, changes: Collection[int]) -> bool:
    return row.change in changes or row.finishes in changes or row.undoes in changes


def _proven(changes: Mapping[int, ChangeState]) -> set[_Fact]:
    """Return the facts that the done steps of changes have proven by reading back."""
    found: set[_Fact] = set()
    for change in changes.values():
        for step, state in change.carried:
            if step.statement and state == "done":
                found |= {(step.owner, check.object, check.attribute) for check in step.proves}
    return {fact for fact in found if fact[2] not in _PASSING}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
