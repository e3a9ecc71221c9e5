"""Prepare the journal's rows for people and programs: chosen, summed up by change, flattened, exported."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from typing import Any

from exacell.core.cellset import known_as, natural_key
from exacell.core.errors import StatementError, UnitError
from exacell.core.units import parse_duration
from exacell.core.values import dataclass
from exacell.journal.rows import (
    Actor,
    Ended,
    Entry,
    Gated,
    Headed,
    Intent,
    Observed,
    Outcome,
    Planned,
    Restarted,
    Reverted,
    StepRow,
)
from exacell.plan.model import Step


@dataclass(frozen=True, kw_only=True)
class Filter:
    """The changes that are wanted; empty or None means all.

    Attributes:
        since, until: a change is left out if all of its rows are outside; UTC.
        user: the operating-system user, or the user that used sudo.
        target: a cell or database node that a row is about.
        word: part of the statement, in any case.
        failed: only changes that did not end, or not with exit code 0.
    """

    since: datetime | None = None
    until: datetime | None = None
    user: str = ""
    target: str = ""
    ticket: str = ""
    word: str = ""
    failed: bool = False

    def wants(self, change: Outline) -> bool:
        """Return whether a change is wanted."""
        who = change.who
        return (
            self._in_time(change)
            and (not self.user or self.user in (who.user, who.sudo_user))
            and (not self.target or known_as(self.target, change.targets) in change.targets)
            and (not self.ticket or self.ticket == change.ticket)
            and self.word.lower() in change.statement.lower()
            and (not self.failed or change.code != 0)
        )

    def _in_time(self, change: Outline) -> bool:
        late = self.since is None or (change.latest is not None and change.latest >= self.since)
        return late and (self.until is None or (change.earliest is not None and change.earliest <= self.until))


class Outline:
    """The summary of a change for a line and for filters, gathered row by row; the rows themselves are not kept.

    Attributes:
        who, statement, reason, ticket, origin, risk: from the plan's row, or from the first row if there is no plan.
        problem: why a new journal was begun; None for other changes.
        finishes: the number of the change that this one continued; 0 for none.
        at: the first row's time as it is stored; ``earliest`` and ``latest`` are those of all readable times.
    """

    __slots__ = (
        "_ended", "_planned", "at", "change", "earliest", "finishes", "keys", "kind", "latest", "origin", "problem", "rack",
        "reason", "risk", "statement", "targets", "ticket", "undone", "who",
    )  # fmt: skip

    def __init__(self, first: Entry) -> None:
        self.rack, self.change, self.kind, self.at = first.rack, first.change, first.kind, first.at
        self.ticket = self.origin = self.risk = ""
        self.problem: str | None = None
        self.finishes = 0
        self._take(first)
        self.targets: set[str] = set()
        self.keys: set[str] = set()
        self.undone = self._planned = False
        self.earliest = self.latest = _time(first.at)
        self._ended: int | None = None
        self.add(first)

    def add(self, row: Entry) -> None:
        """Add the next row of the change."""
        if isinstance(row, Planned) and not self._planned:
            self._take(row)
            self._planned = True
        if isinstance(row, Ended):
            self._ended = row.exit_code or 0
        self.undone = self.undone or row.kind == "undone"
        if row.target:
            self.targets.add(row.target)
        if isinstance(row, Outcome) and row.fingerprint:
            self.keys.add(row.fingerprint)
        at = _time(row.at)
        if at is not None:
            self.earliest = at if self.earliest is None else min(self.earliest, at)
            self.latest = at if self.latest is None else max(self.latest, at)

    def _take(self, row: Entry) -> None:
        """Add a row's information about the change as a whole."""
        self.who, self.statement, self.reason = row.who, row.statement, row.reason
        if isinstance(row, Headed):
            self.ticket, self.origin, self.risk = row.ticket, row.origin, row.risk
        if isinstance(row, Planned):
            self.finishes = row.finishes
        elif isinstance(row, Restarted):
            self.problem = row.problem

    @property
    def code(self) -> int | None:
        """Return the exit code; None if the change did not end.

        A journal's restart and kept files count as 0, a refusal as 2.
        """
        return {"restart": 0, "refused": 2, "kept": 0}.get(self.kind, self._ended)


def _time(text: str) -> datetime | None:
    """Return the time of a row; None if it was overwritten with something else."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None


_DAYS = {"today": 0, "yesterday": 1}
"""Words for days, and how many days ago they began, at midnight."""


def moment(text: str, now: datetime | None = None) -> datetime | None:
    """Return the UTC moment of ``2h`` (ago), ``2026-03-01`` or ``2026-03-01T08:00``; None for empty.

    A date or time without a zone is in this host's zone; ``today`` and ``yesterday`` are the beginnings of these days.

    Raises:
        StatementError: it is neither a duration nor a date.
    """
    if not text:
        return None
    if text.lower() in _DAYS:
        day = (now or datetime.now(UTC)).astimezone().date() - timedelta(days=_DAYS[text.lower()])
        return datetime(day.year, day.month, day.day).astimezone(UTC)  # midnight of this host's zone
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        pass  # It is not a date, so it is a time ago.
    try:
        return (now or datetime.now(UTC)) - timedelta(seconds=parse_duration(text))
    except UnitError as error:
        raise StatementError(
            f"'{text}' must be today, yesterday, a time ago (2h, 7d) or a date (2026-03-01T08:00)"
        ) from error


def outlines_of(entries: Iterable[Entry]) -> dict[int, Outline]:
    """Return number → summary of each change, in order of first appearance."""
    found: dict[int, Outline] = {}
    for entry in entries:
        known = found.get(entry.change)
        if known is None:
            found[entry.change] = Outline(entry)
        else:
            known.add(entry)
    return found


def finished(changes: Mapping[int, Outline]) -> dict[int, int]:
    """Return change → the change that finished it (resume, retry failed).

    Only those of ``changes`` are included that did not end well by themselves.
    """
    found = {change.finishes: number for number, change in changes.items() if change.finishes and change.code == 0}
    return {root: number for root, number in found.items() if root in changes and changes[root].code != 0}


def summary(change: Outline, finished_by: int | None = None) -> dict[str, object]:
    """Return one record about a change.

    Args:
        finished_by: the number of the change that finished it, if another one did.
    """
    code, who = change.code, change.who
    state = "did not end" if code is None else f"exit {code}"
    if change.undone:
        state += ", undone"
    elif finished_by is not None:
        state += f", finished by {finished_by}"
    return {
        "cell": None,
        "rack": change.rack or None,
        "change": change.change,
        "at": change.at,
        "user": who.user or None,
        "sudoUser": who.sudo_user or None,
        "host": who.host or None,
        "from": who.came_from or None,
        "keys": sorted(change.keys) or None,
        "statement": change.statement or (None if change.problem is None else f"journal restart: {change.problem}"),
        "targets": _named(frozenset(change.targets)),
        "risk": change.risk or None,
        "ended": {"restart": "restarted", "refused": "refused"}.get(change.kind, state),
        "reason": change.reason or None,
        "ticket": change.ticket or None,
        "recipe": change.origin or None,
    }


@lru_cache(maxsize=256)
def _named(targets: frozenset[str]) -> str:
    """Return targets in natural order, separated by commas; cached, since thousands of changes share a few sets."""
    return ",".join(sorted(targets, key=natural_key))


class Common:
    """The common data of the rows of one change: its plan's row, and the proofs of each of its steps.

    Args:
        change: all rows of the change.
    """

    def __init__(self, change: Sequence[Entry]) -> None:
        self._plans = [row for row in change if isinstance(row, Planned)]
        self.plan = self._plans[0] if self._plans else None

    @cached_property
    def _steps(self) -> dict[tuple[str, str], Step]:
        steps: dict[tuple[str, str], Step] = {}
        for step, _ in (item for plan in self._plans for item in plan.steps):
            steps.setdefault((step.target, step.what), step)
        return steps

    def verified(self, entry: Entry) -> str:
        """Return the values that reading back has proved for a done step; empty without such values."""
        if not isinstance(entry, Outcome) or entry.state != "done":
            return ""
        step = self._steps.get(entry.key)
        return "" if step is None else "; ".join(check.sentence for check in step.proves)


def row_record(entry: Entry, common: Common) -> dict[str, object]:
    """Return one record about a row of a change, with the values that were read back to verify it."""
    body = {k: v for k, v in entry.body.items() if k != "plan"}
    verified = common.verified(entry)
    extra: dict[str, object] = {"verified": verified} if verified else {}
    if isinstance(entry, Ended):
        extra["state"] = f"exit {entry.exit_code}"
    return {
        "cell": None, "seq": entry.seq, "at": entry.at, "kind": entry.kind, "target": entry.target or None, **body, **extra
    }  # fmt: skip


def as_jsonl(rows: Iterable[Entry]) -> Iterator[str]:
    """Yield one JSON object per row, each on one line: all nine fields, the body as an object."""
    return (json.dumps(_whole(entry), sort_keys=False) for entry in rows)


def _whole(entry: Entry) -> dict[str, Any]:
    return {
        "seq": entry.seq, "at": entry.at, "rack": entry.rack, "change": entry.change, "kind": entry.kind,
        "target": entry.target, "body": dict(entry.body), "prev": entry.prev, "hash": entry.hash,
    }  # fmt: skip


CSV_COLUMNS = (
    "seq", "at", "rack", "change", "kind", "target", "user", "sudoUser", "host", "from", "pid", "fingerprint", "reason",
    "ticket", "recipe", "statement", "risk", "what", "sent", "undo", "state", "why", "verified", "reply", "hash",
)  # fmt: skip
"""The columns: ``reason`` is the operator's, ``why`` the outcome's; ``statement`` is the user's, ``sent`` went to the target."""


_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Characters that end a line for some readers only, control a terminal, or reverse a line; tab and line feed stay."""


def _spelt(value: object) -> object:
    """Return text with control and format characters written as escapes (``\x1b``), so that no reply can imitate another row."""
    if not isinstance(value, str) or value.isprintable():
        return value
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), value)


_KNOWN = 64
"""Number of changes whose plans are kept while rows become csv: rows of other processes' changes may be between theirs."""


def as_csv(rows: Iterable[Entry], plans_of: Callable[[int], Sequence[Entry]]) -> Iterator[str]:
    """Yield a title line and one line per row; who and why are repeated in every row of a change.

    Control characters are written as escapes; :func:`as_jsonl` has every text unchanged.

    Args:
        plans_of: reads the plan rows of a change from the journal, if ``rows`` does not have them at its beginning.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")

    def line(values: Iterable[object]) -> str:
        buffer.seek(0)
        buffer.truncate()
        writer.writerow(values)
        return buffer.getvalue().removesuffix("\n")

    yield line(CSV_COLUMNS)
    known: dict[int, Common] = {}
    for entry in rows:
        common = known.pop(entry.change, None)
        if common is None:
            # If a filter chose the whole change, its plan comes first; else the plan may be far back.
            common = Common([entry] if entry.kind == "plan" else plans_of(entry.change))
        elif entry.kind == "plan":
            common = Common(plans_of(entry.change))
        known[entry.change] = common  # The newest plan is last.
        if len(known) > _KNOWN:
            del known[next(iter(known))]
        flat = _flat(entry, common)
        yield line(_spelt(flat[name]) for name in CSV_COLUMNS)


def _flat(entry: Entry, common: Common) -> dict[str, object]:
    plan, who = common.plan, entry.who
    made = Actor() if plan is None else plan.who
    sent = entry if isinstance(entry, Intent) else None
    return {
        "seq": entry.seq, "at": entry.at, "rack": entry.rack, "change": entry.change, "kind": entry.kind,
        "target": entry.target, "user": who.user or made.user, "sudoUser": who.sudo_user or made.sudo_user,
        "host": who.host or made.host, "from": who.came_from or made.came_from, "pid": who.pid or made.pid,
        "fingerprint": entry.fingerprint if isinstance(entry, Outcome) else "",
        "reason": plan and plan.reason, "ticket": plan and plan.ticket, "recipe": plan and plan.origin,
        "statement": plan and plan.statement, "risk": plan and plan.risk,
        "what": entry.what if isinstance(entry, StepRow) else "", "sent": sent and sent.statement,
        "undo": sent and sent.inverse, "state": _state(entry), "why": _why(entry), "verified": common.verified(entry),
        "reply": (isinstance(entry, Outcome) and entry.reply) or entry.damaged, "hash": entry.hash,
    }  # fmt: skip


def _state(entry: Entry) -> str:
    if isinstance(entry, Ended):
        return f"exit {entry.exit_code}"
    if isinstance(entry, Observed):
        return entry.caching
    return entry.state if isinstance(entry, (Outcome, Reverted)) else ""


def _why(entry: Entry) -> str:
    if isinstance(entry, (Restarted, Ended)):
        return entry.problem
    return entry.reason if isinstance(entry, (StepRow, Gated)) else ""
