"""What earlier runs left behind, told at every start until it is mended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from exacell.actor import actor, alive
from exacell.caching import again
from exacell.caching_off import FLASHCACHE, CachingOff, caching_off
from exacell.cellset import fold
from exacell.confirming import Deadline, open_deadlines
from exacell.errors import ExitCode, JournalError
from exacell.journal import Entry, Journal, Row
from exacell.stopped import Stopped, stopped_services
from exacell.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Pending:
    """Something that an earlier change left behind.

    Attributes:
        state: ``unfinished``, ``stopped``, ``caching off``, ``service stopped`` or ``unconfirmed``.
        mend: the statement that ends it.
        sentence: one line that says both.
    """

    change: int
    statement: str
    state: str
    mend: str
    sentence: str


def pending(journal: Journal, rack: str, now: datetime | None = None) -> tuple[Pending, ...]:
    """Return each change that never ended, left caching off or a service stopped, or waits to be confirmed, and the
    newest one when the user or a gate stopped it, with the statement that mends it.

    Changes that a living process is carrying out are left out.
    """
    found = []
    running: set[int] = set()
    for row in journal.unfinished(rack):
        if alive(row.body):
            running.add(row.change)
        else:
            found.append(_unfinished(row))
    newest = newest_stopped(journal, rack)
    if newest is not None and newest.change not in running and all(item.change != newest.change for item in found):
        found.append(_halted(newest))
    for item in caching_off(journal.caching_entries(rack)):
        if item.change not in running:
            found.append(_uncached(item))
    for down in stopped_services(journal, rack):
        if down.change not in running:
            found.append(_down(down))
    groups: set[int] = set()
    for waiting in open_deadlines(journal, rack):
        if waiting.group not in groups:  # A run waits as a whole: told once, by the first of its changes.
            found.append(_unconfirmed(waiting, now or datetime.now(UTC)))
        groups.add(waiting.group)
    return tuple(found)


def _unfinished(row: Entry) -> Pending:
    change, statement = row.change, str(row.body.get("statement"))
    mend, sentence = "resume", f"change {change} ({statement}) never ended: resume finishes it"
    if "plan" not in row.body:
        mend = f"resume {change} --abandon"
        sentence = _opaque(row, "never ended", mend)
    return Pending(change=change, statement=statement, state="unfinished", mend=mend, sentence=sentence)


def newest_stopped(journal: Journal, rack: str) -> Entry | None:
    """Return the plan row of a rack's newest change when the user or a gate stopped it; resume goes on with that one."""
    newest = journal.newest_plan(rack)
    if newest is None or not stopped(journal.entries(rack=rack, change=newest.change)):
        return None
    return newest


def stopped(entries: Sequence[Entry]) -> bool:
    """Whether the user interrupted a change, or something stopped it between two statements, and it was not taken back."""
    ends = [e for e in entries if e.kind in ("end", "undone")]
    if not ends or ends[-1].kind != "end":
        return False
    tally = ends[-1].body.get("done")
    given_up = isinstance(tally, Mapping) and "abandoned" in tally
    interrupted = ends[-1].body.get("exitCode") == int(ExitCode.INTERRUPTED) and not given_up
    return interrupted or bool(ends[-1].body.get("stopped"))


def _halted(row: Entry) -> Pending:
    change, statement = row.change, str(row.body.get("statement"))
    plan = row.body.get("plan")
    back = f"undo {change} takes it back, " if isinstance(plan, Mapping) and plan.get("inverse") else ""
    ways = f"resume finishes it, {back}resume {change} --abandon leaves it so"
    mend, sentence = f"resume {change}", f"change {change} ({statement}) was stopped before its end: {ways}"
    if not isinstance(plan, Mapping):
        mend = f"resume {change} --abandon"
        sentence = _opaque(row, "was stopped before its end", mend)
    return Pending(change=change, statement=statement, state="stopped", mend=mend, sentence=sentence)


def _opaque(row: Entry, what: str, mend: str) -> str:
    """Return what is said of work that exacell can't read: nothing of it could be gone on with."""
    return (
        f"change {row.change} ({row.body.get('statement')}) {what}, and exacell can't read what it carried: look at the targets, "
        f"run it again if it is needed; {mend} ends this warning"
    )


def _uncached(item: CachingOff) -> Pending:
    cells = fold(item.cells)
    left = "left" if item.sure else "may have left"
    if item.cache != FLASHCACHE:
        mend = f"on {cells} " + (f"create {item.cache} all" if item.dropped else again(item.cache))
        sentence = (
            f"change {item.change} {left} no {item.cache} on {cells}: {mend} makes it again"
            if item.dropped
            else f"change {item.change} {left} {item.cache} not caching on {cells}: {mend} mends it"
        )
    elif item.dropped:
        mend = f"undo {item.change}"
        sentence = (
            f"change {item.change} {left} no flash cache on {cells}: "
            f"{mend} makes it again at its old size (resume or retry failed goes on with the change)"
        )
    else:
        mend = f"on {cells} flush flashcache"
        sentence = (
            f"change {item.change} {left} flash caching off on {cells}: "
            f"flush flashcache mends it (or at once: on {cells} alter flashcache all cancel flush)"
        )
    return Pending(change=item.change, statement="", state="caching off", mend=mend, sentence=sentence)


def _down(item: Stopped) -> Pending:
    return Pending(change=item.change, statement="", state="service stopped", mend=item.mend, sentence=item.sentence)


def _unconfirmed(item: Deadline, now: datetime) -> Pending:
    return Pending(
        change=item.change,
        statement=item.statement,
        state="unconfirmed",
        mend=f"confirm {item.change}",
        sentence=item.sentence(now),
    )


def note_resumed(journal: Journal, rack: str, statement: str, origin: str, finishes: int) -> None:
    """Journal that an unfinished change needed nothing more, so that it is not offered again."""
    change = journal.begin(rack, {"statement": statement, "origin": origin, "finishes": finishes, **actor()})
    journal.append(rack, change, [Row(kind="end", body={"exitCode": 0, "done": {"nothing to do": 1}})])


def observe_caching(journal: Journal, rack: str, caching: Mapping[str, str], cache: str = FLASHCACHE) -> str:
    """Note in the journal that caching was seen on, for cells that an earlier change had left without.

    Args:
        caching: cell → ``on``, ``off`` or ``unknown``.
        cache: the one that was looked at.

    Returns:
        why it could not be noted, one line; empty when it was. What was read stands all the same.
    """
    try:
        _observe(journal, rack, caching, cache)
    except JournalError as error:
        return error.message
    return ""


def _observe(journal: Journal, rack: str, caching: Mapping[str, str], cache: str) -> None:
    for item in caching_off(journal.caching_entries(rack)):
        rows = [
            Row(kind="observed", target=cell, body={"caching": "on", "cache": cache})
            for cell in item.cells
            if item.cache == cache and caching.get(cell) == "on"
        ]
        if rows:
            journal.append(rack, item.change, rows)
