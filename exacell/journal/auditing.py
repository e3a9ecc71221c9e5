"""The journal's rows for eyes and for programs: chosen, summed up by change, flattened, exported."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from typing import Any

from exacell.cellset import natural_key
from exacell.errors import StatementError, UnitError
from exacell.journal.record import Entry
from exacell.plan.model import step_from_json
from exacell.units import parse_duration
from exacell.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which changes are wanted; empty and None want all.

    Attributes:
        since, until: a change whose rows are all outside is left out; UTC.
        user: the operating-system user, or the one behind sudo.
        target: a cell or database node that a row is about.
        word: part of the statement, without regard to case.
        failed: only those that ended with another exit code than 0, or not at all.
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
        body = change.body
        return (
            self._in_time(change)
            and (not self.user or self.user in (body.get("user"), body.get("sudoUser")))
            and (not self.target or self.target in change.targets)
            and (not self.ticket or self.ticket == body.get("ticket"))
            and self.word.lower() in str(body.get("statement") or "").lower()
            and (not self.failed or change.code != 0)
        )

    def _in_time(self, change: Outline) -> bool:
        late = self.since is None or (change.latest is not None and change.latest >= self.since)
        return late and (self.until is None or (change.earliest is not None and change.earliest <= self.until))


_TOLD = (
    "user", "sudoUser", "host", "from", "statement", "old", "problem", "risk", "reason", "ticket", "origin", "finishes",
)  # fmt: skip
"""What of a plan's row an outline keeps."""


class Outline:
    """What a line says of a change, and what filters ask for, gathered row by row: the rows themselves are not kept.

    Attributes:
        body: of the plan's row, or of the first one where there is none, without the plan itself.
        at: the first row's time as it is stored; ``earliest`` and ``latest`` are of all that can be read.
    """

    __slots__ = (
        "_ended", "_planned", "at", "body", "change", "earliest", "keys", "kind", "latest", "rack", "targets", "undone",
    )  # fmt: skip

    def __init__(self, first: Entry) -> None:
        self.rack, self.change, self.kind, self.at = first.rack, first.change, first.kind, first.at
        self.body = _told(first)
        self.targets: set[str] = set()
        self.keys: set[str] = set()
        self.undone = self._planned = False
        self.earliest = self.latest = _time(first.at)
        self._ended: int | None = None
        self.add(first)

    def add(self, row: Entry) -> None:
        """Take the next row of the change into account."""
        if row.kind == "plan" and not self._planned:
            self.body, self._planned = _told(row), True
        if row.kind == "end":
            self._ended = int(row.body.get("exitCode") or 0)
        self.undone = self.undone or row.kind == "undone"
        if row.target:
            self.targets.add(row.target)
        if row.body.get("fingerprint"):
            self.keys.add(str(row.body["fingerprint"]))
        at = _time(row.at)
        if at is not None:
            self.earliest = at if self.earliest is None else min(self.earliest, at)
            self.latest = at if self.latest is None else max(self.latest, at)

    @property
    def code(self) -> int | None:
        """The exit code, None when the change did not end; a journal's restart counts as well ended, a refusal as 2."""
        return {"restart": 0, "refused": 2}.get(self.kind, self._ended)

    @property
    def finishes(self) -> int | None:
        """The number of the change that this one went on with; None for none."""
        root = self.body.get("finishes") if self._planned else None
        return root if isinstance(root, int) else None


def _told(row: Entry) -> dict[str, Any]:
    return {name: row.body[name] for name in _TOLD if name in row.body}


def _time(text: str) -> datetime | None:
    """Return the time of a row; None for what was written over it."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None


def moment(text: str, now: datetime | None = None) -> datetime | None:
    """Return the moment that ``2h`` (ago), ``2026-03-01`` or ``2026-03-01T08:00`` means, in UTC; None for empty.

    A date or time without a zone is this host's.

    Raises:
        StatementError: it is neither a duration nor a date.
    """
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        pass  # Not a date: a time ago, then.
    try:
        return (now or datetime.now(UTC)) - timedelta(seconds=parse_duration(text))
    except UnitError as error:
        raise StatementError(f"'{text}' is neither a time ago (2h, 7d) nor a date (2026-03-01T08:00)") from error


def outlines_of(entries: Iterable[Entry]) -> dict[int, Outline]:
    """Return what is to be told of each change, by its number, in order of first appearance."""
    found: dict[int, Outline] = {}
    for entry in entries:
        known = found.get(entry.change)
        if known is None:
            found[entry.change] = Outline(entry)
        else:
            known.add(entry)
    return found


def finished(changes: Mapping[int, Outline]) -> dict[int, int]:
    """Return by which change (resume, retry failed) each of ``changes`` was finished that did not end well by itself."""
    found = {change.finishes: number for number, change in changes.items() if change.finishes and change.code == 0}
    return {root: number for root, number in found.items() if root in changes and changes[root].code != 0}


def summary(change: Outline, finished_by: int | None = None) -> dict[str, object]:
    """Return one record about a change.

    Args:
        finished_by: the number of the change that finished it, when another one did.
    """
    plan, code = change.body, change.code
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
        "user": plan.get("user"),
        "sudoUser": plan.get("sudoUser") or None,
        "host": plan.get("host"),
        "from": plan.get("from") or None,
        "keys": sorted(change.keys) or None,
        "statement": plan.get("statement") or (f"journal restart: {plan.get('problem')}" if "old" in plan else None),
        "targets": _named(frozenset(change.targets)),
        "risk": plan.get("risk"),
        "ended": {"restart": "restarted", "refused": "refused"}.get(change.kind, state),
        "reason": plan.get("reason") or None,
        "ticket": plan.get("ticket") or None,
        "recipe": plan.get("origin") or None,
    }


@lru_cache(maxsize=256)
def _named(targets: frozenset[str]) -> str:
    """Return targets in natural order, commas between; of thousands of changes nearly all are of the same few sets."""
    return ",".join(sorted(targets, key=natural_key))


class Common:
    """What the rows of one change have in common: its plan's row, and what each of its steps proves.

    Args:
        change: all rows of the change.
    """

    def __init__(self, change: Sequence[Entry]) -> None:
        plans = [row.body for row in change if row.kind == "plan"]
        self.plan: Mapping[str, Any] = plans[0] if plans else {}
        self._plans = plans

    @cached_property
    def _steps(self) -> dict[tuple[object, object], Mapping[str, Any]]:
        steps: dict[tuple[object, object], Mapping[str, Any]] = {}
        for plan in (body.get("plan") for body in self._plans):
            for stage in plan.get("stages", ()) if isinstance(plan, Mapping) else ():
                for item in stage["steps"]:
                    steps.setdefault((item["target"], item["what"]), item)
        return steps

    def verified(self, entry: Entry) -> str:
        """Return what a done step proved by reading back; empty when the row is no outcome, or nothing was done or proved."""
        if entry.kind != "outcome" or entry.body.get("state") != "done":
            return ""
        step = self._steps.get((entry.target, entry.body.get("what")))
        return "" if step is None else "; ".join(check.sentence for check in step_from_json(step).proves)


def row_records(rows: Iterable[Entry], change: Sequence[Entry]) -> list[dict[str, object]]:
    """Return one record about each of some rows, with what was read back to verify it.

    Args:
        change: all rows of the change.
    """
    common = Common(change)
    return [_row_record(entry, common) for entry in rows]


def _row_record(entry: Entry, common: Common) -> dict[str, object]:
    body = {k: v for k, v in entry.body.items() if k != "plan"}
    verified = common.verified(entry)
    extra: dict[str, object] = {"verified": verified} if verified else {}
    if entry.kind == "end":
        extra["state"] = f"exit {body.get('exitCode')}"
    return {
        "cell": None, "seq": entry.seq, "at": entry.at, "kind": entry.kind, "target": entry.target or None, **body, **extra
    }  # fmt: skip


def as_jsonl(rows: Iterable[Entry]) -> Iterator[str]:
    """Yield one JSON object a row, each a line: all nine fields, the body as an object."""
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
"""``reason`` is the operator's, ``why`` the outcome's; ``statement`` is the user's, ``sent`` what went to the target."""


_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""All that ends a line for one reader and not for another, drives a terminal, or turns a line round; tab and line feed stay."""


def _spelt(value: object) -> object:
    """Return text with control and format characters spelt out (``\\x1b``), so that no reply ends its row or shows as another."""
    if not isinstance(value, str) or value.isprintable():
        return value
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), value)


_KNOWN = 64
"""Changes whose plans are kept while rows become csv: those of other processes may lie between."""


def as_csv(rows: Iterable[Entry], plans_of: Callable[[int], Sequence[Entry]]) -> Iterator[str]:
    """Yield a title line and one line a row; who and why stand in every row of a change.

    Control characters are spelt out; :func:`as_jsonl` has every text as it is.

    Args:
        plans_of: reads the plan rows of a change again, where a row comes long after them.
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
            # Of a change that a filter chose as a whole, the plan comes first; of any other row it may lie far behind.
            common = Common([entry] if entry.kind == "plan" else plans_of(entry.change))
        elif entry.kind == "plan":
            common = Common(plans_of(entry.change))
        known[entry.change] = common  # The newest one is last.
        if len(known) > _KNOWN:
            del known[next(iter(known))]
        flat = _flat(entry, common)
        yield line(_spelt(flat[name]) for name in CSV_COLUMNS)


def _flat(entry: Entry, common: Common) -> dict[str, object]:
    plan, body = common.plan, entry.body
    own = entry.kind in ("intent", "outcome", "gate")
    who = {name: body.get(name) or plan.get(name) for name in ("user", "sudoUser", "host", "from", "pid")}
    exit_code = f"exit {body.get('exitCode')}" if entry.kind == "end" else ""
    return {
        "seq": entry.seq, "at": entry.at, "rack": entry.rack, "change": entry.change, "kind": entry.kind,
        "target": entry.target, **who, "fingerprint": body.get("fingerprint"),
        "reason": plan.get("reason"), "ticket": plan.get("ticket"), "recipe": plan.get("origin"),
        "statement": plan.get("statement"), "risk": plan.get("risk"), "what": body.get("what"),
        "sent": body.get("statement") if entry.kind == "intent" else None,
        "undo": body.get("inverse") if entry.kind == "intent" else None,
        "state": body.get("state") or body.get("caching") or exit_code,
        "why": body.get("reason") if own else body.get("problem"),
        "verified": common.verified(entry), "reply": body.get("reply") or body.get("damaged"), "hash": entry.hash,
    }  # fmt: skip
