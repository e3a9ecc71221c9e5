"""One change for eyes, from its rows in the journal: who and why, what went where, what came back, how it ended. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import pairwise
from typing import Any

from exacell.cellset import CellSet, fold, natural_key
from exacell.errors import CellSetError
from exacell.output.changes import ended_text, local_text
from exacell.output.folding import masker
from exacell.output.style import hung, paint, printable
from exacell.units import counted, format_duration

Row = Mapping[str, Any]
"""A row as ``journal show N`` records it."""

_WIDTH = 100
"""Columns to write for when there is no terminal."""

_REPLY_LINES = 3
"""Lines that are shown of an answer; the other formats have all of it."""

_GOOD = ("done", "not needed", "nothing to do")


_UNSEEN = "its answer never came, and when it was looked for it was not seen to be done"


def change_page(
    rows: Sequence[Row], rack: str, *, later: Sequence[Row] = (), zone: tzinfo | None = UTC, width: int | None = None,
    color: bool = False, folded: bool = True,
) -> Iterator[str]:  # fmt: skip
    """Yield the lines that tell one change, wrapped at ``width`` columns (100 when it is None).

    Args:
        rows: all rows of the change, oldest first.
        rack: on which it was made; empty when they tell.
        later: plan rows of the changes that went on with it or took it back.
        zone: in which times are told; None is this host's.
        folded: targets to which the same was sent and from which the same came share their lines.
    """
    page = _Page(max(width or _WIDTH, 40), color)
    plan = next((row for row in rows if row["kind"] == "plan"), rows[0])
    what = plan.get("statement") or f"journal restart: {plan.get('problem') or ''}"
    where = f" on {rack}" if rack else ""
    yield from page.text(f"Change{where}: {what}", "", style="title")
    yield from page.text(_who(plan), "  By: ")
    yield from page.text(_when(rows, zone), "  At: ")
    why = "; ".join(
        part
        for part in (str(plan.get("reason") or ""), f"ticket {plan['ticket']}" if plan.get("ticket") else "")
        if part
    )
    for label, text in (("Why", why), ("Part of", plan.get("origin")), ("Risk", plan.get("risk"))):
        if text:
            yield from page.text(str(text), f"  {label}: ")
    yield from _steps(rows, page, folded=folded)
    ends = {str(row.get("stopped") or "") for row in rows if row["kind"] == "end"}
    tried = [row for row in rows if row["kind"] == "reverted"]
    again = [row for row, after in pairwise(tried) if _reason(row) == _reason(after)]
    for row in rows:
        if row in again:
            continue  # Attempts that met the same are one, the last.
        if row["kind"] != "gate" or row.get("reason") not in ends:  # Why it ended is told once.
            yield from page.texts(_beside(row, zone))
    yield from _caching(rows, page, folded=folded)
    yield from _end(rows, page)
    for row in later:
        did = "Taken back" if str(row.get("origin") or "").startswith("undo ") else "Gone on with"
        yield from page.text(str(row.get("statement") or "-"), f"  {did} by change {row.get('change')}: ")


class _Page:
    """Wraps text with a hanging indent below its label."""

    def __init__(self, width: int, color: bool) -> None:
        self._width = width
        self._color = color

    def text(self, text: str, label: str, *, style: str = "") -> Iterator[str]:
        for part in text.splitlines() or [""]:
            for line in hung(printable(part), self._width, first=label, after=" " * len(label)):
                yield paint(line.rstrip(), style, color=self._color) if style else line.rstrip()
            label = " " * len(label)

    def texts(self, labelled: Sequence[tuple[str, str]]) -> Iterator[str]:
        for label, text in labelled:
            yield from self.text(text, f"  {label}: ")


def _who(row: Row) -> str:
    user, real = str(row.get("user") or "?"), row.get("sudoUser")
    name = f"{real} as {user}" if real and real != user else user
    host = f" on {row['host']}" if row.get("host") else ""
    came = f", from {row['from']}" if row.get("from") else ""
    return f"{name}{host}{came}" + (f", process {row['pid']}" if row.get("pid") else "")


def _when(rows: Sequence[Row], zone: tzinfo | None) -> str:
    times = [row["at"] for row in rows if row["kind"] in ("plan", "gate", "intent", "outcome", "end")]
    if len(times) < 2:
        return local_text(rows[0]["at"], zone)
    took = _moment(times[-1]) - _moment(times[0])
    return (
        f"{local_text(times[0], zone)} to {_clock(times[-1], zone)} ({format_duration(max(took.total_seconds(), 0.0))})"
    )


def _moment(at: object) -> datetime:
    return datetime.fromisoformat(str(at))


def _clock(at: object, zone: tzinfo | None) -> str:
    return local_text(at, zone).partition(" ")[2]


class _Sent:
    """What went to one target and what came back."""

    def __init__(self, target: str, intent: Row, outcome: Row | None) -> None:
        self.target = target
        self.what = str(intent.get("what") or "")
        self.statement = str(intent.get("statement") or "")
        self.mending = bool((outcome or {}).get("mending"))
        self.state = "its end was never recorded: it may have happened or not"
        self.good = False
        self.reason = self.verified = self.reply = ""
        if outcome is not None:
            self.state = str(outcome.get("state") or "-")
            self.good = self.state in _GOOD
            if self.state == "not done" and outcome.get("settled"):
                # Somebody looked because no answer had come: what is not there then may come yet.
                self.state = _UNSEEN
            self.reason = str(outcome.get("reason") or "")
            self.verified = str(outcome.get("verified") or "")
            self.reply = _told(str(outcome.get("reply") or ""))

    @property
    def key(self) -> tuple[object, ...]:
        mask = masker(self.target) if self.target else str
        texts = (self.statement, self.reason, self.verified, self.reply)
        return (self.what, self.mending, self.state, *map(mask, texts))


def _sent(rows: Sequence[Row]) -> list[_Sent]:
    """Return each step that was sent, in order of its intent, with the outcome that follows it."""
    open_intents: dict[tuple[object, object], int] = {}
    found: list[tuple[Row, Row | None]] = []
    for row in rows:
        key = (row.get("target"), row.get("what"))
        if row["kind"] == "intent":
            open_intents[key] = len(found)
            found.append((row, None))
        elif row["kind"] == "outcome":
            place = open_intents.get(key)
            if place is None:
                found.append((row, row))
            else:
                found[place] = (found[place][0], row)
    return [_Sent(str(intent.get("target") or ""), intent, outcome) for intent, outcome in found]


def _steps(rows: Sequence[Row], page: _Page, *, folded: bool) -> Iterator[str]:
    groups: dict[str, dict[object, list[_Sent]]] = {}
    for place, sent in enumerate(_sent(rows)):
        title = ("mending: " if sent.mending else "") + sent.what
        groups.setdefault(title, {}).setdefault(sent.key if folded else place, []).append(sent)
    for number, (title, alike) in enumerate(groups.items(), 1):
        yield from page.text(title, f"{number:2}. ", style="title")
        shown = ""
        # What did not go well comes last, as in a summary.
        for members in sorted(alike.values(), key=lambda members: not members[0].good):
            first = members[0]
            mask = masker(first.target) if len(members) > 1 else str
            label = f"    on {_fold([sent.target for sent in members])}: "
            statement = mask(first.statement)
            yield from page.text(
                "the same statement" if statement and statement == shown else statement or "nothing was sent", label
            )
            shown = statement
            outcome = "; ".join(filter(None, (first.state, mask(first.reason))))
            verified = f", verified: {mask(first.verified)}" if first.verified else ""
            yield from page.text(outcome + verified, "        ", style="" if first.good else "error")
            if first.reply and first.reply not in first.reason:
                yield from page.text(_shortened(mask(first.reply)), "        said: ")


def _told(reply: str) -> str:
    """Return an answer without the marks that tell exacell alone where it ends."""
    return "\n".join(line for line in reply.splitlines() if not line.startswith("__EXACELL_")).strip("\n")


def _shortened(reply: str) -> str:
    lines = reply.splitlines()
    if len(lines) <= _REPLY_LINES:
        return reply
    left = counted(len(lines) - _REPLY_LINES, "more line")
    return "\n".join([*lines[:_REPLY_LINES], f"({left}: --format=json)"])


def _beside(row: Row, zone: tzinfo | None) -> list[tuple[str, str]]:
    """Return what a row tells that is neither a step nor an end, with its label."""
    kind = row["kind"]
    if kind == "gate" and not row.get("open"):
        return [(f"Gate before wave {row.get('wave')}", f"stayed closed: {row.get('reason') or row.get('met') or '-'}")]
    if kind == "observed" and row.get("services"):
        services = row["services"]
        names = ", ".join(map(str, services)) if isinstance(services, (list, tuple)) else str(services)
        return [("Seen later", f"{names} running on {row.get('target')}")]
    if kind == "observed" and row.get("online"):
        return [("Seen later", f"all grid disks ONLINE on {row.get('target')}")]
    if kind == "deadline":
        return [
            (
                "Confirm",
                f"within {format_duration(float(row.get('within') or 0))}, until {local_text(row['until'], zone)}",
            )
        ]
    if kind == "confirmed":
        return [("Confirmed", f"{local_text(row['at'], zone)} by {_who(row)}")]
    if kind == "reverted":
        state, reason = _reason(row)
        why = f": {reason}" if reason else ""
        did = "Taken back by itself" if state in _GOOD else "Not taken back by itself"
        return [(did, f"{local_text(row['at'], zone)}: {state}{why}")]
    if kind == "undone":
        return [("Undone", f"{local_text(row['at'], zone)} by {_who(row)}")]
    return []


def _reason(row: Row) -> tuple[str, str]:
    return str(row.get("state") or "-"), str(row.get("reason") or "")


def _caching(rows: Sequence[Row], page: _Page, *, folded: bool) -> Iterator[str]:
    """Yield on which cells the cache was last seen off or unknown; on is as it should be, and not told."""
    last = {
        (str(row.get("cache") or "flashcache"), str(row.get("target"))): str(row["caching"])
        for row in rows
        if row["kind"] == "observed" and row.get("caching")
    }
    for cache, caching in sorted({(cache, state) for (cache, _), state in last.items() if state != "on"}):
        cells = [cell for (name, cell), state in last.items() if (name, state) == (cache, caching)]
        for some in [cells] if folded else [[cell] for cell in cells]:
            yield from page.text(f"{cache} caching {caching} on {_fold(some)}", "  Seen last: ", style="warning")


def _end(rows: Sequence[Row], page: _Page) -> Iterator[str]:
    end = next((row for row in reversed(rows) if row["kind"] == "end"), None)
    if rows[0]["kind"] == "restart":
        return
    if rows[0]["kind"] == "refused":
        yield from page.text(str(rows[0].get("refused") or ""), "  Refused: ", style="error")
        return
    if end is None:
        yield from page.text("it did not end; pending tells what finishes it", "  Ended: ", style="error")
        return
    tally = end.get("done")
    done = ", ".join(f"{count} {state}" for state, count in tally.items()) if isinstance(tally, Mapping) else ""
    stopped = str(end.get("stopped") or end.get("problem") or "")
    code = end.get("exitCode")
    steps = f"steps: {done}" if done else ""
    text = "; ".join(filter(None, (f"{ended_text(f'exit {code}')} (exit code {code})", stopped, steps)))
    yield from page.text(text, "  Ended: ", style="error" if code else "")


def _fold(names: Sequence[str]) -> str:
    known = sorted({name for name in names if name}, key=natural_key)
    if not known:
        return "-"
    try:
        return CellSet.parse(fold(known)).fold()
    except CellSetError:
        return ", ".join(known)  # A name with characters that the notation of sets does not know.
