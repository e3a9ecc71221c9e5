"""Hold the lock and write the journal around dcli's work on one rack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from exacell.change.dcli.hosts import Group, Target
from exacell.change.dcli.output import UNREACHABLE, Outcome, exit_status
from exacell.change.dcli.verdict import Judgement
from exacell.change.probe import seen
from exacell.change.racklock import lock_in
from exacell.change.running import REPLY_KEPT, look_row, why_late
from exacell.core.errors import BrokenOffError, ExitCode, JournalError
from exacell.core.values import dataclass, field
from exacell.journal.actor import actor
from exacell.journal.left import caching_now
from exacell.journal.record import Row
from exacell.language.registry import Value


@dataclass
class Record:
    """One change in the journal: the whole command, and one intent and one outcome per target.

    Attributes:
        text: the whole command line.
        what: its first word.
        details: further fields of the change's row.
    """

    group: Group
    judgement: Judgement
    text: str
    flags: Mapping[str, Value]
    change: int = 0
    what: str = "dcli"
    details: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._codes: list[int] = []

    @contextmanager
    def open(self) -> Iterator[Record]:
        """Hold the rack's lock and keep the change open; its end is recorded whenever the block is left.

        Raises:
            JournalError: the journal can't be written; nothing was sent.
            BrokenOffError: the journal can't be written any more; targets may have been reached before that.
            RefusedError: somebody else holds the lock; nothing was sent.
        """
        session, services, request = self.group.session, self.group.services, self.group.request
        lock = lock_in(session)
        with lock.held(), services.while_changing():
            self.change = services.journal.begin(
                self.group.rack.name,
                {
                    "statement": self.text,
                    "reason": str(self.flags.get("reason") or ""),
                    "ticket": str(self.flags.get("ticket") or ""),
                    "origin": request.origin,
                    **request.part,
                    **actor(),
                    "risk": self.judgement.risk,
                    "opaque": list(self.judgement.opaque),
                    "cellcli": [plan.statement for plan in self.judgement.plans],
                    **self.details,
                },
            )
            lock.tell(self.change)
            session.changes.append(self.change)
            code = int(ExitCode.INTERRUPTED)
            try:
                try:
                    yield self
                    code = max(self._codes, default=int(ExitCode.FAILED))
                finally:
                    self._append([*self._observed(), Row(kind="end", body={"exitCode": code})])
            except JournalError as error:
                way_out = "look at the targets: exacell can't go on with it"
                raise BrokenOffError(self.change, self.text, error, way_out) from error

    def intend(self, batch: Sequence[Target]) -> None:
        """Record that the work on these targets begins."""
        ours = [t.label for t in batch if t in self.group.targets]
        self._append([Row(kind="intent", target=label, body=self._body()) for label in ours])

    def ended(self, outcomes: Sequence[Outcome]) -> None:
        """Record the outcomes of the targets."""
        names = {t.label for t in self.group.targets}
        ours = [outcome for outcome in outcomes if outcome.target in names]
        self._codes.append(exit_status(ours))
        self._append([Row(kind="outcome", target=o.target, body=self._body() | outcome_of(o)) for o in ours])

    def leave_open(self) -> None:
        """Note that nobody follows some targets to their end: the change ends as interrupted."""
        self._codes.append(int(ExitCode.INTERRUPTED))

    def _append(self, rows: Sequence[Row]) -> None:
        if rows:
            self.group.services.journal.append(self.group.rack.name, self.change, rows)

    def _body(self) -> dict[str, object]:
        return {
            "what": self.what,
            "statement": self.text,
            "undo": "impossible",
            "inverse": f"what {self.what} carried is not undone by exacell",
            "cachingOff": self.judgement.caching_off,
            "cachingOn": self.judgement.caching_on,
            "cache": self.judgement.cache,
        }

    def _observed(self) -> list[Row]:
        """Return a row with the present caching state of each cell, if the work switched caching off; done after every change."""
        if not self.judgement.caching_off:
            return []
        cache = self.judgement.cache
        return caching_now(cache, seen(self.group.services.fleet, self.group.cells, cache))


def outcome_of(outcome: Outcome) -> dict[str, object]:
    """Return the fields of a target's outcome row."""
    if outcome.refused:
        state, reason = "refused", outcome.refused
    elif not outcome.ran:
        state, reason = "unknown", "no result"
    elif outcome.status == UNREACHABLE:
        state, reason = "unknown", outcome.said.strip() or "exit status 255"
    elif outcome.status:
        state, reason = "failed", why_late(outcome.looked) or f"exit status {outcome.status}"
    else:
        state, reason = "done", ""
    reply = "\n".join(outcome.lines)[:REPLY_KEPT]
    row = {"state": state, "reason": reason, "reply": reply, "fingerprint": outcome.fingerprint}
    return row | look_row(outcome.looked)
