"""Find the things that earlier runs left behind; they are reported at every start until they are repaired."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime

from exacell.change.probe import again
from exacell.core.cellset import fold, grouped
from exacell.core.errors import ExitCode
from exacell.core.values import dataclass, replace
from exacell.journal.actor import actor
from exacell.journal.confirming import open_deadlines
from exacell.journal.left import (
    CACHES,
    DISKS,
    FLASHCACHE,
    SERVICES,
    CachingOff,
    Offline,
    Stopped,
    brings_back,
    left_on_purpose,
)
from exacell.journal.record import Journal, Row, own, runs
from exacell.journal.rows import Planned

LOOKED_AT = ("caching off", "service stopped", "disks offline")
"""States that somebody may have repaired outside exacell; ``pending`` asks the cells before it reports them."""

_UNASKED = "from the journal; `pending` asks the cells"


@dataclass(frozen=True, kw_only=True)
class Pending:
    """Something that an earlier change left behind.

    Attributes:
        state: ``unfinished``, ``elsewhere`` (by a process of another host), ``stopped``, ``caching off``, ``service stopped``,
            ``disks offline`` or ``unconfirmed``.
        mend: the statement that repairs or ends it.
        sentence: one line with the state and that statement.
    """

    change: int
    statement: str
    state: str
    mend: str
    sentence: str

    @property
    def warning(self) -> str:
        """Return the sentence for use without asking cells; it adds how to ask, if the thing may have been repaired meanwhile."""
        return f"{self.sentence} ({_UNASKED})" if self.state in LOOKED_AT else self.sentence


def pending(
    journal: Journal, rack: str, now: datetime | None = None, *, but: Collection[str] = ()
) -> tuple[Pending, ...]:
    """Return a Pending for each thing that earlier changes left behind, with the statement that repairs it.

    These are: changes that never ended, left caching off, a service stopped or disks offline, or wait to be confirmed; the newest
    change that the user or a gate stopped; and the newest one whose undo ended half-way. Changes that a living process of this
    host is carrying out are left out.

    Args:
        but: journal keys of recipe runs that are reported as a whole: their changes that never ended, or were stopped, are
            left out.
    """
    found = []
    running: set[int] = set()
    for row in journal.unfinished(rack):
        if runs(journal, row):
            running.add(row.change)
            if row.who.host != actor()["host"]:
                found.append(_elsewhere(row))
        elif row.run not in but:
            found.append(_unfinished(row))
    newest = newest_stopped(journal, rack)
    if newest is not None and newest.run not in but:  # A stopped change has an end; running and unfinished ones do not.
        found.append(_halted(newest))
    half = half_undone(journal, rack)
    if half is not None and half.run not in but:
        found.append(_half(journal, half))
    resumed = {item.change for item in found if _resumed(item)}
    off = [item for item in CACHES.left(journal, rack) if item.change not in running]
    found += [_uncached(item, resumable=resumed) for item in off]
    down = [item for item in SERVICES.left(journal, rack) if item.change not in running]
    found += [_left("service stopped", item) for item in down]
    stopped_on = {cell for item in down for cell in item.cells}
    # Starting CELLSRV, and finishing a change with resume, also bring the disks back.
    found += [
        _left("disks offline", item)
        for item in DISKS.left(journal, rack)
        if item.change not in running | resumed and not stopped_on & set(item.cells)
    ]
    # A run waits as a whole: it is reported once, by its first change.
    groups = grouped((waiting.group, waiting) for waiting in open_deadlines(journal, rack))
    found += [
        Pending(
            change=first.change,
            statement=first.statement,
            state="unconfirmed",
            mend=f"confirm {first.change}",
            sentence=first.sentence(now or datetime.now(UTC)),
        )
        for first, *_ in groups.values()
    ]
    return tuple(found)


def _left(state: str, item: Stopped | Offline) -> Pending:
    return Pending(change=item.change, statement="", state=state, mend=item.mend, sentence=item.sentence)


def _elsewhere(row: Planned) -> Pending:
    mend = "unlock --takeover"
    sentence = (
        f"change {row.change} ({row.statement}) seems to be running as process {row.who.pid} on {row.who.host}; "
        f"if that has ended, type `{mend}`, then `resume`"
    )
    return Pending(change=row.change, statement=row.statement, state="elsewhere", mend=mend, sentence=sentence)


def _unfinished(row: Planned) -> Pending:
    return _not_ended(row, "unfinished", "never ended", "resume", "resume finishes it")


def _halted(row: Planned) -> Pending:
    change = row.change
    back = f"`undo {change}` takes it back, " if row.inverse else ""
    ways = f"`resume` finishes it, {back}`resume {change} --abandon` leaves it as it is"
    return _not_ended(row, "stopped", "was stopped before its end", f"resume {change}", ways)


def _not_ended(row: Planned, state: str, what: str, mend: str, ways: str) -> Pending:
    """Return the Pending of a change without an end; ``ways`` names the ways to continue one that exacell planned."""
    change, statement = row.change, row.statement
    sentence = f"change {change} ({statement}) {what}: {ways}"
    if row.detached:
        mend = f"resume {change}"
        sentence = (
            f"change {change} ({statement}) continues on its hosts, or has ended there: `resume {change}` "
            f"fetches the result, `resume {change} --abandon` ends this warning"
        )
    elif row.plan is None:
        mend = f"resume {change} --abandon"
        sentence = (
            f"change {change} ({statement}) {what}, and exacell can't read its text: check the targets and run "
            f"it again if needed; `{mend}` ends this warning"
        )
    return Pending(change=change, statement=statement, state=state, mend=mend, sentence=sentence)


def newest_stopped(journal: Journal, rack: str) -> Planned | None:
    """Return the plan row of the newest change that the user or a gate stopped and that no later change replaced; else None.

    Resume continues that one. It is the rack's newest change, or an older one if the later changes are about another object or
    did not reach some of its open targets: a change that opens a gate or speeds up a rebalance does not end what waited for it.
    """
    newest = journal.newest_plan(rack)
    if newest is None:
        return None
    if journal.state(rack, newest.change).stopped:
        taken_back = newest.finishes and journal.state(rack, newest.finishes).undone
        return None if taken_back else newest
    late = {row.change for row in journal.stopped_after(rack, newest.change - LOOKED_BACK)}
    for change in sorted(late, reverse=True):
        row = _left_open(journal, rack, change)
        if row is not None:
            return row
    return None


LOOKED_BACK = 20
"""How many of the newest changes are searched for a stopped one; few, because every start does this."""


def _left_open(journal: Journal, rack: str, change: int) -> Planned | None:
    """Return the plan row of an older change that is still stopped.

    None if later changes of the same object reached all targets that it left open.
    """
    state = journal.state(rack, change)
    row = state.plan
    if row is None or not state.stopped:
        return None
    if journal.is_over(row) or journal.gone_on_with(rack, change):
        return None
    alike = {entry.change for entry in journal.plans_after(rack, change) if _object(entry) == _object(row)}
    reached = {target for number, target in journal.targets_after(rack, change) if number in alike}
    return None if state.left <= reached else row


def _object(row: Planned) -> str:
    """Return the object of a plan's statement: ``flashcache`` for ``flush flashcache``."""
    return "".join(row.statement.lower().split()[1:2])


def half_undone(journal: Journal, rack: str) -> Planned | None:
    """Return the plan row of the rack's newest change if it took back a part of another one and the rest was not taken back.

    Undo may need several statements and end between two of them. A change of another living process does not count.
    """
    newest = journal.newest_plan(rack)
    if newest is None or not newest.undoes or (runs(journal, newest) and not own(newest)):
        return None
    end = journal.state(rack, newest.change).end
    if end is None or end.exit_code != ExitCode.DONE or journal.state(rack, newest.undoes).undone:
        return None
    return newest


def _half(journal: Journal, row: Planned) -> Pending:
    change = row.undoes
    first = journal.state(row.rack, change).plan or row
    sentence = (
        f"undo of change {change} ({first.statement}) ended before everything was taken back: `undo {change}` continues"
    )
    return Pending(change=change, statement=first.statement, state="stopped", mend=f"undo {change}", sentence=sentence)


def _resumed(item: Pending) -> bool:
    """Return whether resume finishes this change, and also what it left behind."""
    return item.state in ("unfinished", "stopped") and not item.mend.endswith("--abandon")


def _uncached(item: CachingOff, *, resumable: Collection[int]) -> Pending:
    """Return the Pending of a cache that is off. ``resumable``: changes that resume finishes, and so brings the cache back."""
    cells = fold(item.cells)
    left = "left" if item.sure else "may have left"
    if item.cache != FLASHCACHE:
        mend = f"on {cells} " + (f"create {item.cache} all" if item.dropped else again(item.cache))
        sentence = f"change {item.change} {left} {item.cache} not caching on {cells}: type `{mend}`"
        if item.dropped and not item.comes:
            sentence = f"change {item.change} {left} no {item.cache} on {cells}: `{mend}` creates it again"
        elif item.comes:
            sentence = f"{_unanswered(item)}: `retry failed` continues the change (or: {mend})"
    elif item.dropped:
        mend = f"undo {item.change}"
        sentence = f"{_unanswered(item)}: `{mend}` takes it back (`resume` or `retry failed` continues the change)"
        if not item.comes:
            sentence = (
                f"change {item.change} {left} no flash cache on {cells}: `{mend}` creates it again at its old "
                "size (`resume` or `retry failed` continues the change)"
            )
    else:
        mend = f"on {cells} flush flashcache"
        ends = "`resume` switches it on too" if item.change in resumable else "`flush flashcache` switches it on"
        sentence = f"{_unanswered(item)}: {ends}"
        if not item.comes:
            sentence = (
                f"change {item.change} {left} flash caching off on {cells}: "
                f"{ends} (or at once: on {cells} alter flashcache all cancel flush)"
            )
    return Pending(change=item.change, statement="", state="caching off", mend=mend, sentence=sentence)


def still_off(journal: Journal, rack: str, broken_off: Callable[[str], bool]) -> tuple[str, ...]:
    """Return a line for each cache that is still off after a failed or broken-off change, according to the journal.

    The line names the cells, the change and the statement to type. A cache that was meant to end off is left out, as is the work
    of a living process. ``retry failed`` is named if it continues that change, or a change that was meant to switch the cache
    on again.

    Args:
        broken_off: returns whether a recipe's run, given by its key, ended badly: then the cache was not meant to stay off.
    """
    off = CACHES.left(journal, rack)
    if not off:
        return ()
    running = {row.change for row in journal.unfinished(rack) if runs(journal, row)}
    newest = journal.newest_plan(rack)
    said = []
    for item in (_unmeant(journal, rack, item, broken_off) for item in off if item.change not in running):
        if not item.cells:
            continue
        name = "flash cache" if item.cache == FLASHCACHE else item.cache
        what = f"has no {name}" if item.dropped else f"is not caching in its {name}"
        doubt = " or may lose it soon" if item.comes else ""
        way = _uncached(item, resumable=()).mend
        if newest is not None and newest.plan is not None and _repeats(journal, newest, item):
            way = f"`retry failed` continues it (or: {way})"
        else:
            way = f"type `{way}`"
        said.append(f"{fold(item.cells)} {what}{doubt} since change {item.change}: {way}")
    return tuple(said)


def _unmeant(journal: Journal, rack: str, item: CachingOff, broken_off: Callable[[str], bool]) -> CachingOff:
    """Return the item with only those cells where the cache was not left off on purpose."""
    state, later = journal.state(rack, item.change), journal.plans_after(rack, item.change)
    if state.plan is not None and state.plan.run and broken_off(state.plan.run):
        return item
    return replace(item, cells=tuple(cell for cell in item.cells if not left_on_purpose(item, cell, state, later)))


def _repeats(journal: Journal, newest: Planned, item: CachingOff) -> bool:
    """Return whether ``retry failed`` continues the change that left the cache off, or the change that switches it on again."""
    change = journal.state(newest.rack, item.change).plan
    same = change is not None and change.root == newest.root
    open_ones = set(item.cells) & journal.state(newest.rack, newest.change).left
    return bool(open_ones) and (same or any(brings_back(newest, item.cache, cell) for cell in open_ones))


def _unanswered(item: CachingOff) -> str:
    """Return the text about cells where nobody knows whether a cache will still be dropped."""
    name = "flash cache" if item.cache == FLASHCACHE else item.cache
    what = f"may have left no {name} on" if item.dropped else f"left {name} not caching on"
    where = f"{what} {fold(item.cells)}, where its DROP {item.cache.upper()}"
    return f"change {item.change} {where} was not answered and may still happen"


def note_resumed(journal: Journal, rack: str, statement: str, origin: str, finishes: int) -> None:
    """Journal that an unfinished change needed nothing more, so that resume does not offer it again."""
    change = journal.begin(rack, {"statement": statement, "origin": origin, "finishes": finishes, **actor()})
    journal.append(rack, change, [Row(kind="end", body={"exitCode": 0, "done": {"nothing to do": 1}})])
