"""The journal's rows for eyes and for programs: chosen, summed up by change, flattened, exported."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from typing import Any

from exacell.cellset import fold
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

    def wants(self, rows: Sequence[Entry]) -> bool:
        """Return whether a change is wanted, from all of its rows."""
        body = next((e.body for e in rows if e.kind == "plan"), rows[0].body)
        return (
            self._in_time(rows)
            and (not self.user or self.user in (body.get("user"), body.get("sudoUser")))
            and (not self.target or any(e.target == self.target for e in rows))
            and (not self.ticket or self.ticket == body.get("ticket"))
            and self.word.lower() in str(body.get("statement") or "").lower()
            and (not self.failed or _ended(rows) != 0)
        )

    def _in_time(self, rows: Sequence[Entry]) -> bool:
        if self.since is None and self.until is None:
            return True
        times = [at for e in rows if (at := _time(e.at)) is not None]
        late = self.since is None or any(at >= self.since for at in times)
        return late and (self.until is None or any(at <= self.until for at in times))


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


def changes_of(entries: Iterable[Entry], wanted: Filter) -> dict[int, list[Entry]]:
    """Return the rows of each change that is wanted, by its number, in order of first appearance."""
    found: dict[int, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.change, []).append(entry)
    return {change: rows for change, rows in found.items() if wanted.wants(rows)}


def _ended(rows: Sequence[Entry]) -> int | None:
    """Return the exit code of a change, None when it did not end; a journal's restart counts as well ended."""
    if rows[0].kind == "restart":
        return 0
    end = next((e for e in reversed(rows) if e.kind == "end"), None)
    return None if end is None else int(end.body.get("exitCode") or 0)


def finished(changes: Mapping[int, Sequence[Entry]]) -> dict[int, int]:
    """Return by which change (resume, retry failed) each of ``changes`` was finished that did not end well by itself."""
    found = {}
    for number, rows in changes.items():
        root = next((e.body.get("finishes") for e in rows if e.kind == "plan"), None)
        if isinstance(root, int) and _ended(rows) == 0:
            found[root] = number
    return {root: number for root, number in found.items() if root in changes and _ended(changes[root]) != 0}


def summary(rows: Sequence[Entry], finished_by: int | None = None) -> dict[str, object]:
    """Return one record about a change.

    Args:
        finished_by: the number of the change that finished it, when another one did.
    """
    plan = next((e.body for e in rows if e.kind == "plan"), rows[0].body)
    code = _ended(rows)
    state = "did not end" if code is None else f"exit {code}"
    if any(e.kind == "undone" for e in rows):
        state += ", undone"
    elif finished_by is not None:
        state += f", finished by {finished_by}"
    keys = sorted({str(e.body["fingerprint"]) for e in rows if e.body.get("fingerprint")})
    return {
        "cell": None,
        "rack": rows[0].rack or None,
        "change": rows[0].change,
        "at": rows[0].at,
        "user": plan.get("user"),
        "sudoUser": plan.get("sudoUser") or None,
        "host": plan.get("host"),
        "from": plan.get("from") or None,
        "keys": keys or None,
        "statement": plan.get("statement") or (f"journal restart: {plan.get('problem')}" if "old" in plan else None),
        "targets": _folded(frozenset(e.target for e in rows if e.target)),
        "risk": plan.get("risk"),
        "ended": "restarted" if rows[0].kind == "restart" else state,
        "reason": plan.get("reason") or None,
        "ticket": plan.get("ticket") or None,
        "recipe": plan.get("origin") or None,
    }


@lru_cache(maxsize=256)
def _folded(targets: frozenset[str]) -> str:
    """Return targets folded; of thousands of changes nearly all are of the same few sets."""
    return fold(targets)


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


def as_jsonl(rows: Iterable[Entry]) -> str:
    """Return one JSON object a line: all nine fields of each row, the body as an object."""
    return "\n".join(json.dumps(_whole(entry), sort_keys=False) for entry in rows)


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


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""All that ends a line for one reader and not for another, or drives a terminal; tab and line feed stay."""


def _spelt(value: object) -> object:
    """Return text with control characters spelt out (``\\x1b``), so that no reply can end its row."""
    if not isinstance(value, str) or value.isprintable():
        return value
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), value)


def as_csv(rows: Sequence[Entry]) -> str:
    """Return a title line and one line a row; who and why stand in every row of a change.

    Control characters are spelt out; :func:`as_jsonl` has every text as it is.
    """
    changes: dict[int, list[Entry]] = {}
    for entry in rows:
        changes.setdefault(entry.change, []).append(entry)
    common = {number: Common(change) for number, change in changes.items()}
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for entry in rows:
        flat = _flat(entry, common[entry.change])
        writer.writerow([_spelt(flat[name]) for name in CSV_COLUMNS])
    return buffer.getvalue().removesuffix("\n")


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
