"""Compute the state of a change from its rows, and find statements that reset counters. Pure.

:class:`ChangeState` has for each step whether it was sent, its outcome, and whether that is unknown; and for the change whether
it ended, was stopped, or was taken back. It is made from the rows of one change, or of a change and the changes that continued
it, in order.

:func:`resets` finds statements that reset counters: flushes, new caches and logs, restarts of CELLSRV.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from exacell.core.errors import ExitCode
from exacell.core.values import dataclass, field
from exacell.journal.rows import Ended, Entry, Intent, Outcome, Planned, StepRow

if TYPE_CHECKING:
    from exacell.plan.model import Step


Key = tuple[str, str]
"""(target, step)."""

GOOD = ("done", "not needed")
"""States of a step without remaining work."""

OPEN = "no outcome"
"""State of a step whose end was not recorded."""

SAID_NO = ("CELL-", "ORA-")
"""Beginnings of a target's own error: then nothing was done there."""

_SERVICES = re.compile(r"ALTER\s+CELL\s+(SHUTDOWN|STARTUP|RESTART)\s+SERVICES\s+(CELLSRV|MS|RS|ALL)", re.IGNORECASE)
_ALL = ("cellsrv", "ms", "rs")


def services_of(statement: str) -> tuple[str, tuple[str, ...]]:
    """Return a statement's action on services, such as ``SHUTDOWN``, and the services (``cellsrv``, ``ms``); empty for none."""
    action = _SERVICES.match(statement)
    if action is None:
        return "", ()
    return action[1].upper(), _ALL if action[2].upper() == "ALL" else (action[2].lower(),)


@dataclass(frozen=True, kw_only=True)
class ChangeState:
    """The state of a change.

    Attributes:
        plans: its plan row, followed by those of the changes that continued it.
        intents: every statement that was sent, or was about to be, in order.
        states: the state of each step, :data:`OPEN` if its end was not recorded; mending steps are left out.
        unanswered: the intents without any outcome.
        unsettled: the intents without an outcome, or with an unknown one.
        to_come: the statements that drop a cache, were never answered and are not known to be done: they may still happen.
        touched: for each step, whether it was sent and had an effect, or may have had one.
        did: the steps that were done, including mending ones.
        mended: the targets on which a mending step was done.
        cellsrv: the cells on which CELLSRV may have been stopped and was not started again.
        ends: the rows about its end, or about its undo.
    """

    plans: list[Planned] = field(default_factory=list)
    intents: list[Intent] = field(default_factory=list)
    states: dict[Key, str] = field(default_factory=dict)
    unanswered: dict[Key, Intent] = field(default_factory=dict)
    unsettled: dict[Key, Intent] = field(default_factory=dict)
    to_come: dict[Key, str] = field(default_factory=dict)
    touched: dict[Key, bool] = field(default_factory=dict)
    did: set[Key] = field(default_factory=set)
    mended: set[str] = field(default_factory=set)
    cellsrv: dict[str, None] = field(default_factory=dict)
    ends: list[Entry] = field(default_factory=list)
    _sent: dict[Key, Intent] = field(default_factory=dict, repr=False)
    _starting: set[str] = field(default_factory=set, repr=False)

    @classmethod
    def of(cls, rows: Iterable[Entry]) -> ChangeState:
        """Return the state of a change from its rows, followed by those of the changes that continued it."""
        found = cls()
        for row in rows:
            found._play(row)
        return found

    def _play(self, row: Entry) -> None:
        if isinstance(row, Planned):
            self.plans.append(row)
        elif isinstance(row, Intent):
            self._intent(row)
        elif isinstance(row, Outcome):
            self._outcome(row)
        elif isinstance(row, Ended) or row.kind == "undone":
            self.ends.append(row)

    def _intent(self, row: Intent) -> None:
        key = row.key
        self.intents.append(row)
        self.states.setdefault(key, OPEN)
        self._sent[key] = self.unanswered[key] = self.unsettled[key] = row
        self.touched[key] = True
        if row.caching_off and row.statement.upper().startswith("DROP "):
            self.to_come[key] = row.statement
        else:
            self.to_come.pop(key, None)
        verb, services = services_of(row.statement)
        if "cellsrv" in services and verb == "STARTUP":
            self._starting.add(row.target)
        elif "cellsrv" in services:
            self.cellsrv[row.target] = None
            self._starting.discard(row.target)

    def _outcome(self, row: Outcome) -> None:
        key, done, unknown = row.key, row.state == "done", row.state == "unknown"
        if not row.mending:
            self.states[key] = row.state
        self.unanswered.pop(key, None)
        self.unsettled.pop(key, None)
        if unknown and key in self._sent:
            self.unsettled[key] = self._sent[key]
        # If its answer was lost and its effect is not seen, it may still be carried out.
        if not unknown and (done or not row.settled):
            self.to_come.pop(key, None)
        half = row.state == "failed" and not row.reason.startswith(SAID_NO)
        self.touched[key] = (done or unknown or half) and not row.mending  # An intent does not show whether it mends.
        if done:
            self.did.add(key)
            if row.mending:
                self.mended.add(row.target)
            if row.target in self._starting:
                self._starting.discard(row.target)
                self.cellsrv.pop(row.target, None)

    @property
    def plan(self) -> Planned | None:
        """Return its plan row; None if there is none."""
        return next(iter(self.plans), None)

    @property
    def end(self) -> Ended | None:
        """Return its end row; None if it never ended."""
        return next((row for row in reversed(self.ends) if isinstance(row, Ended)), None)

    @property
    def undone(self) -> bool:
        """Return whether it was taken back."""
        return any(row.kind == "undone" for row in self.ends)

    @property
    def stopped(self) -> bool:
        """Return whether it was interrupted, or stopped between two statements, and not taken back."""
        end = self.ends[-1] if self.ends else None
        if not isinstance(end, Ended):
            return False
        return bool(end.stopped) or (end.exit_code == ExitCode.INTERRUPTED and "abandoned" not in end.done)

    @property
    def targets(self) -> frozenset[str]:
        """Return the targets to which a statement was sent, or was about to be."""
        return frozenset(row.target for row in self.intents)

    @property
    def carried(self) -> list[tuple[Step, str]]:
        """Return (step, state) for the steps of its own plan that do not mend; the state is empty if the step never began."""
        plan = self.plan
        return [(step, self.states.get((step.target, step.what), "")) for step in (plan.wanted if plan else ())]

    @property
    def left(self) -> frozenset[str]:
        """Return the targets on which a step of its own plan is not done."""
        return frozenset(step.target for step, state in self.carried if state not in GOOD)

    @property
    def finished(self) -> dict[str, bool]:
        """Return target → whether all of its planned and sent steps are done, in the plan's order."""
        found: dict[str, bool] = {}
        for key in [*((step.target, step.what) for step, _ in self.carried), *self.states]:
            found[key[0]] = found.get(key[0], True) and self.states.get(key) in GOOD
        return found


def by_change(rows: Iterable[Entry]) -> dict[int, ChangeState]:
    """Return number → state of each change by itself, in the rows' order."""
    found: dict[int, ChangeState] = {}
    for row in rows:
        found.setdefault(row.change, ChangeState())._play(row)
    return found


def paired(rows: Iterable[Entry]) -> Iterator[tuple[Entry, Intent | None]]:
    """Yield (row, intent) for rows of any changes: each outcome with its intent if there is one, other rows with None."""
    sent: dict[tuple[int, Key], Intent] = {}
    for row in rows:
        if isinstance(row, Intent):
            sent[row.change, row.key] = row
        yield row, sent.get((row.change, row.key)) if isinstance(row, StepRow) else None


FLASHCACHE, FLASHLOG = "flashcache", "flashlog"

_NEVER = ("failed", "not done", "refused", "not needed")
"""States of a statement that, as far as is known, did nothing, or was never sent."""

_RESETS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    r"\bSERVICES?\s+(?:CELLSRV|ALL)\b|\bservice\s+celld\s+\w*st(?:art|op)\b|\bsystemctl\s+\w*st(?:art|op)\s+celld\b": (
        "stopped or started CELLSRV",
        (FLASHCACHE, FLASHLOG),
    ),
    r"\b(?:reboot|shutdown\s+-|poweroff|init\s+[06])": ("restarted the host", (FLASHCACHE, FLASHLOG)),
    r"\bALTER\s+(?:FLASHCACHE|CELLDISK|GRIDDISK)\b[^;]*\bFLUSH\b": ("flushed, or ended a flush", (FLASHCACHE,)),
    r"\b(?:CREATE|DROP)\s+FLASHCACHE\b|\bALTER\s+FLASHCACHE\b[^;]*\b(?:SIZE|CELLDISK)\s*=": (
        "created the flash cache again",
        (FLASHCACHE,),
    ),
    r"\bALTER\s+CELL\b[^;]*\bFLASHCACHEMODE\s*=": ("changed the flash cache's mode", (FLASHCACHE,)),
    r"\b(?:CREATE|DROP)\s+FLASHLOG\b": ("created the flash log again", (FLASHLOG,)),
    r"\b(?:CREATE|DROP)\s+CELL\b": ("created the cell again", (FLASHCACHE, FLASHLOG)),
}
"""Part of a statement's text → its effect, and the counters that it resets.

Source: reference cellcli.md 4 and 6.2: FC_* are reset by CANCEL FLUSH and a new cache, FL_* by a new log, all by
a restart of CELLSRV.
"""


@dataclass(frozen=True, kw_only=True)
class Reset:
    """A change that reset counters of a cell, or may have: its answer may have been lost.

    Attributes:
        kinds: the kinds of counters: ``flashcache``, ``flashlog``.
    """

    change: int
    cell: str
    did: str
    kinds: tuple[str, ...]

    def __str__(self) -> str:
        return f"change {self.change} {self.did} in the meantime"

    @property
    def of_all(self) -> bool:
        """Return whether every counter of the cell was reset."""
        return len(self.kinds) > 1


def resets(rows: Iterable[Entry]) -> list[Reset]:
    """Return the statements that reset counters, in the rows' order; statements that a cell refused are left out.

    Args:
        rows: intents and outcomes, in order. If an intent is missing, its outcome counts instead.
    """
    found: dict[tuple[int, tuple[str, str]], list[Reset]] = {}
    for row in rows:
        if not isinstance(row, StepRow):
            continue
        key = (row.change, row.key)
        if isinstance(row, Outcome) and row.state in _NEVER:
            found.pop(key, None)
        elif key not in found:
            text = f"{row.statement} {row.what}"
            found[key] = [
                Reset(change=row.change, cell=row.target, did=did, kinds=kinds)
                for pattern, (did, kinds) in _RESETS.items()
                if re.search(pattern, text, re.IGNORECASE)
            ]
    return [reset for some in found.values() for reset in some]
