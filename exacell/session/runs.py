"""Keep runs of recipes and the state of their lines in the store, and find them there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from exacell.core.errors import RefusedError
from exacell.core.meant import ask_for
from exacell.journal.actor import actor, alive
from exacell.journal.record import Journal
from exacell.journal.rows import Actor
from exacell.recipes.record import ABANDONED, DONE, FAILED, RUNNING, STOPPED, LineState, Run, from_json, to_json

if TYPE_CHECKING:
    from exacell.session.store import Store


def keep_run(store: Store, run: Run) -> None:
    """Keep a run in its present state; an older state is replaced."""
    store.keep_run(run.rack, run.name, run.began, run.state, to_json(run))


def new_name(store: Store, rack: str) -> str:
    """Return a name that no run of the rack has."""
    known = store.runs(rack, lambda body: str(body["name"]))
    return next(name for number in range(1, len(known) + 2) if (name := f"r{number}") not in known)


def unfinished_runs(store: Store, rack: str) -> list[Run]:
    """Return the runs that were killed, or whose ``finally`` failed, newest first."""
    return list(reversed(store.runs(rack, from_json, RUNNING, STOPPED)))


def ended_runs(store: Store, rack: str) -> list[Run]:
    """Return the runs that came to their end or were abandoned, newest first."""
    return list(reversed(store.runs(rack, from_json, DONE, ABANDONED)))


def did_not_end_well(store: Store, rack: str, key: str) -> bool:
    """Return whether a run stopped early or was abandoned, or a line of it failed; False if no run has that key."""
    found = [run for run in store.runs(rack, from_json) if run.key == key]
    failed = any(line.state == FAILED for line in store.run_lines(rack, key).values())
    return any(run.state != DONE for run in found) or failed


def changes_of_run(store: Store, journal: Journal, rack: str, name: str) -> list[int]:
    """Return the numbers of the changes that a run made, oldest first.

    Raises:
        RefusedError: there is no run with that name, or it has not ended.
    """
    known = {run.name.lower(): run for run in store.runs(rack, from_json)}
    run = known.get(name.lower())
    if run is None:
        newest = [each.name for each in list(known.values())[-3:]]
        raise RefusedError(
            f"rack {rack} has no recipe run {name}",
            hint=ask_for(name, known)
            or (f"the newest are {', '.join(reversed(newest))}" if newest else "none has changed anything yet"),
        )
    if run.state in (RUNNING, STOPPED):
        lives = run_lives(journal, run)
        how = "is being carried out" if lives else "has not ended"
        raise RefusedError(
            f"run {run.name} ({run.statement}) {how}; nothing was sent",
            hint=""
            if lives
            else "`resume` continues it, `resume --abandon` runs only its finally; then it can be undone",
        )
    return list(dict.fromkeys(row.root for row in journal.of_run(rack, run.key) if not row.undoes))


def run_lives(journal: Journal, run: Run) -> bool:
    """Return whether a process other than this one may be carrying a run out.

    A process of another host can't be checked: it counts as ended if somebody has taken over the rack's lock since.
    """
    who, me = Actor.of(run.who), Actor.of(actor())
    if run.state != RUNNING or who.process == me.process:
        return False
    return alive(who) if who.host == me.host else journal.taken_over(run.rack) <= run.head


def left_runs(store: Store, journal: Journal, rack: str) -> list[tuple[Run, str]]:
    """Return the runs that did not end and that no process carries out any more, newest first.

    Each comes with a line that describes it and names the statements to continue it.
    """
    return [
        (run, _line_about(run, store.run_lines(rack, run.key)))
        for run in unfinished_runs(store, rack)
        if not run_lives(journal, run)
    ]


def _line_about(run: Run, lines: Mapping[str, LineState]) -> str:
    done = sum(1 for state in lines.values() if state.state == DONE)
    if run.state == STOPPED:
        failed = max((state for state in lines.values() if state.state == FAILED), key=lambda state: state.at)
        return f"run {run.name} ({run.statement}): its finally failed ({failed.said}): `resume` tries it again"
    return (
        f"run {run.name} ({run.statement}) stopped after {done} of its lines: `resume` continues it, `resume "
        f"--abandon` runs only its finally"
    )


class Track:
    """The state of each line of a run, in the store: a line is stored as begun before it is carried out.

    Attributes:
        run: the run whose lines they are.
        lines: place → its state, for each line that was begun.
        again: whether opaque work whose end is unknown may be carried out again.
    """

    def __init__(self, store: Store, journal: Journal, run: Run) -> None:
        self.run, self.again = run, False
        self._store, self._journal = store, journal
        self.lines = store.run_lines(run.rack, run.key)

    def note(self, place: str, state: str, said: str = "") -> None:
        """Store the state of a line.

        Raises:
            StoreError: it can't be stored.
        """
        at, head = datetime.now(UTC).isoformat(timespec="milliseconds"), newest_row(self._journal)
        self.lines[place] = LineState(state=state, at=at, said=said, head=head)
        self._store.keep_line(self.run.rack, self.run.key, place, self.lines[place])

    def take(self, state: str) -> None:
        """Store the run with a state, as one that this process carries out."""
        who = {name: str(value) for name, value in actor().items()}
        self.run = replace(self.run, state=state, who=who, head=newest_row(self._journal))
        keep_run(self._store, self.run)


def newest_row(journal: Journal) -> int:
    """Return the number of the journal's newest row; 0 for none."""
    return (journal.kept_head() or (0, ""))[0]
