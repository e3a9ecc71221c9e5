"""What a change has come to: one fold over its rows, and what its statements made begin anew. Pure.

:class:`ChangeState` tells of each step whether it was sent, how it ended, what is not known of it, and of the change
whether it ended, was stopped, or was taken back. It is made of the rows of one change, or of those of a change and of the
changes that went on with it, in order.

:func:`resets` finds statements that make counters begin anew: flushes, new caches and logs, restarts of CELLSRV.
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
"""Target and step."""

GOOD = ("done", "not needed")
"""States of a step of which nothing is left to do."""

OPEN = "no outcome"
"""State of a step whose end was never recorded."""

SAID_NO = ("CELL-", "ORA-")
"""How a reason begins that is a target's own: then nothing was done there."""

_SERVICES = re.compile(r"ALTER\s+CELL\s+(SHUTDOWN|STARTUP|RESTART)\s+SERVICES\s+(CELLSRV|MS|RS|ALL)", re.IGNORECASE)
_ALL = ("cellsrv", "ms", "rs")


def services_of(statement: str) -> tuple[str, tuple[str, ...]]:
    """Return what a statement does to which services: ``SHUTDOWN`` and ``cellsrv``, ``ms``; two empty ones for nothing."""
    action = _SERVICES.match(statement)
    if action is None:
        return "", ()
    return action[1].upper(), _ALL if action[2].upper() == "ALL" else (action[2].lower(),)


@dataclass(frozen=True, kw_only=True)
class ChangeState:
    """How a change stands.

    Attributes:
        plans: its plan row, and behind it those of the changes that went on with it.
        intents: everything that was sent, or was about to be, in order.
        states: how each step ended, :data:`OPEN` for one whose end nobody recorded; what mends another step is left out.
        unanswered: the intents without any outcome.
        unsettled: the intents without an outcome, or with one that is not known.
        to_come: the statements that drop a cache, were never answered and are not known to be done: they may yet come.
        touched: of each step whether it was sent and something of it was done, or may have been.
        did: the steps that were done, those that mend among them.
        mended: the targets on which something was mended.
        cellsrv: the cells on which CELLSRV may have been stopped and was not started again.
        ends: the rows that say that it ended, or was taken back.
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
        """Return how a change stands, from its rows, with those of the changes that went on with it behind them."""
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
        # Where its answer was lost and what was read does not show it, it may still be carried out.
        if not unknown and (done or not row.settled):
            self.to_come.pop(key, None)
        half = row.state == "failed" and not row.reason.startswith(SAID_NO)
        self.touched[key] = (done or unknown or half) and not row.mending  # An intent does not say that it mends.
        if done:
            self.did.add(key)
            if row.mending:
                self.mended.add(row.target)
            if row.target in self._starting:
                self._starting.discard(row.target)
                self.cellsrv.pop(row.target, None)

    @property
    def plan(self) -> Planned | None:
        """The row of its plan; None where there is none."""
        return next(iter(self.plans), None)

    @property
    def end(self) -> Ended | None:
        """The row of its end; None when it never ended."""
        return next((row for row in reversed(self.ends) if isinstance(row, Ended)), None)

    @property
    def undone(self) -> bool:
        """Return whether it was taken back."""
        return any(row.kind == "undone" for row in self.ends)

    @property
    def stopped(self) -> bool:
        """Return whether the user interrupted it, or something stopped it between two statements, and it was not taken back."""
        end = self.ends[-1] if self.ends else None
        if not isinstance(end, Ended):
            return False
        return bool(end.stopped) or (end.exit_code == ExitCode.INTERRUPTED and "abandoned" not in end.done)

    @property
    def targets(self) -> frozenset[str]:
        """What something was sent to, or was about to be."""
        return frozenset(row.target for row in self.intents)

    @property
    def carried(self) -> list[tuple[Step, str]]:
        """The steps of its own plan that were to be done in any case, each with how it ended; empty where it never began."""
        plan = self.plan
        return [(step, self.states.get((step.target, step.what), "")) for step in (plan.wanted if plan else ())]

    @property
    def left(self) -> frozenset[str]:
        """The targets on which not every step of its own plan is done."""
        return frozenset(step.target for step, state in self.carried if state not in GOOD)

    @property
    def finished(self) -> dict[str, bool]:
        """Target → whether all that the plan had for it, or that was sent to it, is done; in the plan's order."""
        found: dict[str, bool] = {}
        for key in [*((step.target, step.what) for step, _ in self.carried), *self.states]:
            found[key[0]] = found.get(key[0], True) and self.states.get(key) in GOOD
        return found


def by_change(rows: Iterable[Entry]) -> dict[int, ChangeState]:
    """Return how each change stands by itself, by its number, in the rows' order."""
    found: dict[int, ChangeState] = {}
    for row in rows:
        found.setdefault(row.change, ChangeState())._play(row)
    return found


def paired(rows: Iterable[Entry]) -> Iterator[tuple[Entry, Intent | None]]:
    """Yield rows of whatever changes, each outcome with the intent that it answers where there is one."""
    sent: dict[tuple[int, Key], Intent] = {}
    for row in rows:
        if isinstance(row, Intent):
            sent[row.change, row.key] = row
        yield row, sent.get((row.change, row.key)) if isinstance(row, StepRow) else None


FLASHCACHE, FLASHLOG = "flashcache", "flashlog"

_NEVER = ("failed", "not done", "refused", "not needed")
"""States of a statement that did nothing, as far as that is known, or that never left."""

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
"""What a statement's text holds → what it did, and which counters begin anew.

Source: reference cellcli.md 4 and 6.2: FC_* begin anew with CANCEL FLUSH and a new cache, FL_* with a new log, all with CELLSRV.
"""


@dataclass(frozen=True, kw_only=True)
class Reset:
    """A change that made counters of a cell begin anew, or may have: its answer may have been lost.

    Attributes:
        kinds: of counters: ``flashcache``, ``flashlog``.
    """

    change: int
    cell: str
    did: str
    kinds: tuple[str, ...]

    def __str__(self) -> str:
        return f"change {self.change} {self.did} in between"

    @property
    def of_all(self) -> bool:
        """Return whether every counter of the cell begins anew."""
        return len(self.kinds) > 1


def resets(rows: Iterable[Entry]) -> list[Reset]:
    """Return what made counters begin anew, in the rows' order; what a cell refused to do is left out.

    Args:
        rows: intents and outcomes, in order. An outcome without its intent counts as its intent would.
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
