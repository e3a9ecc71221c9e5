"""Show one change from its journal rows: who made it and why, the statements sent, the answers, and the end. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import pairwise

from exacell.core.units import counted, format_duration, human_size
from exacell.journal.rows import (
    Actor,
    Confirmed,
    Ended,
    Entry,
    Gated,
    Headed,
    Intent,
    Kept,
    Observed,
    Outcome,
    Planned,
    Refused,
    Restarted,
    Reverted,
    StepRow,
    Waiting,
)
from exacell.output.changes import ended_text, local_text
from exacell.output.folding import folded, masker
from exacell.output.style import Page

_WIDTH = 100
"""Columns if there is no terminal."""

_REPLY_LINES = 3
"""How many lines of an answer are shown; the other formats have all of it."""

_GOOD = ("done", "not needed", "nothing to do")


_UNSEEN = "its answer never came, and a later check did not find it done"


def change_page(
    rows: Sequence[Entry], rack: str, *, later: Sequence[Planned] = (), verified: Callable[[Entry], str] = lambda row: "",
    zone: tzinfo | None = UTC, width: int | None = None, color: bool = False, folded: bool = True,
) -> Iterator[str]:  # fmt: skip
    """Yield the lines about one change, wrapped at ``width`` columns (100 if it is None).

    Args:
        rows: all rows of the change, oldest first.
        rack: the rack on which it was made; empty if not to be shown.
        later: plan rows of the changes that continued it or took it back.
        verified: returns the text about what reading back has proved for an outcome.
        zone: the time zone of the times shown; None is this host's.
        folded: whether targets with the same statement and the same answer share their lines.
    """
    page = Page(max(width or _WIDTH, 40), color)
    plan = next((row for row in rows if isinstance(row, Planned)), rows[0])
    what = plan.statement or f"journal restart: {plan.problem if isinstance(plan, Restarted) else ''}"
    head = plan if isinstance(plan, Headed) else None
    where = f" on {rack}" if rack else ""
    yield from page.text(f"Change{where}: {what}", "", style="title")
    yield from page.text(_who(plan.who), "  By: ")
    yield from page.text(_when(rows, zone), "  At: ")
    ticket = f"ticket {head.ticket}" if head and head.ticket else ""
    why = "; ".join(filter(None, (plan.reason, ticket)))
    for label, text in (("Why", why), ("Part of", head and head.origin), ("Risk", head and head.risk)):
        if text:
            yield from page.text(text, f"  {label}: ")
    yield from _steps(rows, page, verified, folded=folded)
    ends = {row.stopped for row in rows if isinstance(row, Ended)}
    tried = [row for row in rows if isinstance(row, Reverted)]
    again = [row for row, after in pairwise(tried) if _reason(row) == _reason(after)]
    for row in rows:
        if row in again:
            continue  # Of several attempts with the same result, only the last is shown.
        if not isinstance(row, Gated) or row.reason not in ends:  # The reason for the end is shown once.
            for label, text in _beside(row, zone):
                yield from page.text(text, f"  {label}: ")
    yield from _caching(rows, page, folded=folded)
    yield from _end(rows, page)
    for other in later:
        did = "Taken back" if other.origin.startswith("undo ") else "Gone on with"
        yield from page.text(other.statement or "-", f"  {did} by change {other.change}: ")


def _who(who: Actor) -> str:
    user, real = who.user or "?", who.sudo_user
    name = f"{real} as {user}" if real and real != user else user
    host = f" on {who.host}" if who.host else ""
    came = f", from {who.came_from}" if who.came_from else ""
    program = f", exacell {who.version}" if who.version else ""
    return f"{name}{host}{came}" + (f", process {who.pid}" if who.pid else "") + program


def _when(rows: Sequence[Entry], zone: tzinfo | None) -> str:
    times = [row.at for row in rows if row.kind in ("plan", "gate", "intent", "outcome", "end")]
    if len(times) < 2:
        return local_text(rows[0].at, zone)
    took = datetime.fromisoformat(times[-1]) - datetime.fromisoformat(times[0])
    return (
        f"{local_text(times[0], zone)} to {_clock(times[-1], zone)} ({format_duration(max(took.total_seconds(), 0.0))})"
    )


def _clock(at: str, zone: tzinfo | None) -> str:
    return local_text(at, zone).partition(" ")[2]


class _Sent:
    """A statement sent to one target, and the answer."""

    def __init__(self, intent: StepRow, outcome: Outcome | None, verified: Callable[[Entry], str]) -> None:
        self.target, self.what, self.statement = intent.target, intent.what, intent.statement
        self.mending = outcome is not None and outcome.mending
        self.state = "its end was never recorded: it may have happened or not"
        self.good = False
        self.reason = self.verified = self.reply = ""
        if outcome is not None:
            self.state = outcome.state or "-"
            self.good = self.state in _GOOD
            if self.state == "not done" and outcome.settled:
                # It was checked because no answer had come: a statement that had not happened by then may still happen.
                self.state = _UNSEEN
            self.reason, self.verified, self.reply = outcome.reason, verified(outcome), _without_marks(outcome.reply)

    @property
    def key(self) -> tuple[object, ...]:
        mask = masker(self.target) if self.target else str
        texts = (self.statement, self.reason, self.verified, self.reply)
        return (self.what, self.mending, self.state, *map(mask, texts))


def _sent(rows: Sequence[Entry], verified: Callable[[Entry], str]) -> list[_Sent]:
    """Return each step that was sent, in the order of the intents, with the outcome that follows it."""
    open_intents: dict[tuple[str, str], int] = {}
    found: list[tuple[StepRow, Outcome | None]] = []
    for row in rows:
        if isinstance(row, Intent):
            open_intents[row.key] = len(found)
            found.append((row, None))
        elif isinstance(row, Outcome):
            place = open_intents.get(row.key)
            if place is None:
                found.append((row, row))
            else:
                found[place] = (found[place][0], row)
    return [_Sent(intent, outcome, verified) for intent, outcome in found]


def _steps(rows: Sequence[Entry], page: Page, verified: Callable[[Entry], str], *, folded: bool) -> Iterator[str]:
    groups: dict[str, dict[object, list[_Sent]]] = {}
    for place, sent in enumerate(_sent(rows, verified)):
        title = ("mending: " if sent.mending else "") + sent.what
        groups.setdefault(title, {}).setdefault(sent.key if folded else place, []).append(sent)
    for number, (title, alike) in enumerate(groups.items(), 1):
        yield from page.text(title, f"{number:2}. ", style="title")
        shown = ""
        # Failures come last, as in a summary.
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
            proof = f", verified: {mask(first.verified)}" if first.verified else ""
            yield from page.text(outcome + proof, "        ", style="" if first.good else "error")
            if first.reply and first.reply not in first.reason:
                yield from page.text(_shortened(mask(first.reply)), "        said: ")


def _without_marks(reply: str) -> str:
    """Return an answer without the marks by which exacell finds its end."""
    return "\n".join(line for line in reply.splitlines() if not line.startswith("__EXACELL_")).strip("\n")


def _shortened(reply: str) -> str:
    lines = reply.splitlines()
    if len(lines) <= _REPLY_LINES:
        return reply
    left = counted(len(lines) - _REPLY_LINES, "more line")
    return "\n".join([*lines[:_REPLY_LINES], f"({left}: --format=json)"])


def _beside(row: Entry, zone: tzinfo | None) -> list[tuple[str, str]]:
    """Return label and text for a row that is neither a step nor an end."""
    at = local_text(row.at, zone)
    if isinstance(row, Gated) and not row.open:
        return [(f"Gate before wave {row.wave}", f"stayed closed: {row.reason or row.met or '-'}")]
    if isinstance(row, Observed) and row.services:
        return [("Seen later", f"{', '.join(row.services)} running on {row.target}")]
    if isinstance(row, Observed) and row.online:
        return [("Seen later", f"all grid disks ONLINE on {row.target}")]
    if isinstance(row, Kept):
        of = f" of {row.target}" if row.target else ""
        return [("Kept", f"{row.name}{of}: {human_size(row.size)}, SHA-256 {row.sha256[:12]}, {row.file}")]
    if isinstance(row, Waiting):
        return [("Confirm", f"within {format_duration(float(row.within))}, until {local_text(row.until, zone)}")]
    if isinstance(row, Confirmed):
        return [("Confirmed", f"{at} by {_who(row.who)}")]
    if isinstance(row, Reverted):
        state, reason = _reason(row)
        why = f": {reason}" if reason else ""
        did = "Taken back by itself" if state in _GOOD else "Not taken back by itself"
        return [(did, f"{at}: {state}{why}")]
    return [("Undone", f"{at} by {_who(row.who)}")] if row.kind == "undone" else []


def _reason(row: Reverted) -> tuple[str, str]:
    return row.state or "-", row.reason


def _caching(rows: Sequence[Entry], page: Page, *, folded: bool) -> Iterator[str]:
    """Yield on which cells caching was last seen off or unknown; caching that is on is not shown."""
    seen = [row for row in rows if isinstance(row, Observed) and row.caching]
    last = {(row.cache or "flashcache", row.target): row.caching for row in seen}
    for cache, caching in sorted({(cache, state) for (cache, _), state in last.items() if state != "on"}):
        cells = [cell for (name, cell), state in last.items() if (name, state) == (cache, caching)]
        for some in [cells] if folded else [[cell] for cell in cells]:
            yield from page.text(f"{cache} caching {caching} on {_fold(some)}", "  Seen last: ", style="warning")


def _end(rows: Sequence[Entry], page: Page) -> Iterator[str]:
    first, end = rows[0], next((row for row in reversed(rows) if isinstance(row, Ended)), None)
    if isinstance(first, (Restarted, Kept)):
        return
    if isinstance(first, Refused):
        yield from page.text(first.refused, "  Refused: ", style="error")
        return
    if end is None:
        yield from page.text("it did not end; `pending` shows how to finish it", "  Ended: ", style="error")
        return
    done = ", ".join(f"{count} {state}" for state, count in end.done.items())
    steps = f"steps: {done}" if done else ""
    ended = f"{ended_text(f'exit {end.exit_code}')} (exit code {end.exit_code})"
    text = "; ".join(filter(None, (ended, end.stopped or end.problem, steps)))
    yield from page.text(text, "  Ended: ", style="error" if end.exit_code else "")


def _fold(names: Iterable[str]) -> str:
    return folded(filter(None, names)) or "-"
