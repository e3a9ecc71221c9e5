"""What earlier runs left behind, told at every start until it is mended."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime

from exacell.change.probe import again
from exacell.core.cellset import fold, grouped
from exacell.core.errors import ExitCode
from exacell.core.values import dataclass, replace
from exacell.journal.actor import actor
from exacell.journal.confirming import open_deadlines
from exacell.journal.left import (
    FLASHCACHE,
    CachingOff,
    Offline,
    Stopped,
    brings_back,
    caching_off,
    left_on_purpose,
    offline_disks,
    stopped_services,
)
from exacell.journal.record import Journal, Row, own, runs
from exacell.journal.rows import Planned

LOOKED_AT = ("caching off", "service stopped", "disks offline")
"""What other hands may have mended since, so that ``pending`` asks the cells before it says it."""

_UNASKED = "from the journal; `pending` asks the cells"


@dataclass(frozen=True, kw_only=True)
class Pending:
    """Something that an earlier change left behind.

    Attributes:
        state: ``unfinished``, ``elsewhere`` (by a process of another host), ``stopped``, ``caching off``, ``service stopped``,
            ``disks offline`` or ``unconfirmed``.
        mend: the statement that ends it.
        sentence: one line that says both.
    """

    change: int
    statement: str
    state: str
    mend: str
    sentence: str

    @property
    def warning(self) -> str:
        """The sentence as it is said where no cell was asked: with the way to ask, where other hands may have mended it."""
        return f"{self.sentence} ({_UNASKED})" if self.state in LOOKED_AT else self.sentence


def pending(
    journal: Journal, rack: str, now: datetime | None = None, *, but: Collection[str] = ()
) -> tuple[Pending, ...]:
    """Return each change that never ended, left caching off, a service stopped or disks offline, or waits to be confirmed, and
    the newest one that the user or a gate stopped, or whose undo ended half way, with the statement that mends it.

    Changes that a living process of this host is carrying out are left out.

    Args:
        but: runs of recipes that are told of as a whole, as the journal tells them: what of their changes never ended, or
            was stopped, is left out.
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
    if newest is not None and newest.run not in but:  # It has an end, and what runs or is unfinished has none.
        found.append(_halted(newest))
    half = half_undone(journal, rack)
    if half is not None and half.run not in but:
        found.append(_half(journal, half))
    resumed = {item.change for item in found if _resumed(item)}
    off = [item for item in caching_off(journal.caching_entries(rack)) if item.change not in running]
    found += [_uncached(item, resumable=resumed) for item in off]
    down = [item for item in stopped_services(journal, rack) if item.change not in running]
    found += [_left("service stopped", item) for item in down]
    stopped_on = {cell for item in down for cell in item.cells}
    # What starts CELLSRV again, and what resume finishes, brings the disks back as well.
    found += [
        _left("disks offline", item)
        for item in offline_disks(journal, rack)
        if item.change not in running | resumed and not stopped_on & set(item.cells)
    ]
    # A run waits as a whole: told once, by the first of its changes.
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
    """Return what is said of a change that did not come to its end: ``ways`` go on with one that exacell planned."""
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
    """Return the plan row of the newest change that the user or a gate stopped and that nothing took the place of; resume
    goes on with that one.

    It is the rack's newest change, or an older one when the changes behind it are about something else or left some of its
    open targets alone: what opens a gate or gives a rebalance its power back is no reason to forget what waited for it.
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
"""Among so many changes one that was stopped is looked for: this is done at every start."""


def _left_open(journal: Journal, rack: str, change: int) -> Planned | None:
    """Return the plan row of an older change that is still stopped, unless later ones about the same object reached all the
    targets that it left open."""
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
    """Return what a plan's statement is about: ``flashcache`` of ``flush flashcache``."""
    return "".join(row.statement.lower().split()[1:2])


def half_undone(journal: Journal, rack: str) -> Planned | None:
    """Return the plan row of a rack's newest change when it took back a part of another one, and nothing took back the rest.

    Undo may need several statements, and end between two of them. A change of a living process is none, except one's own.
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
    """Whether resume carries a change to its end, with what it left behind."""
    return item.state in ("unfinished", "stopped") and not item.mend.endswith("--abandon")


def _uncached(item: CachingOff, *, resumable: Collection[int]) -> Pending:
    """Return what is said of a cache that is off; ``resumable`` are the changes that resume finishes, and with them this."""
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
    """Return a line for each cache that what was broken off, or failed, left off as far as the journal knows: its cells, the
    change that left it so, and what to type.

    What was to end without a cache, and did, is left out; so is what a living process is carrying out. ``retry failed`` is
    named where it goes on with that change, or with the one that was to bring the cache back.

    Args:
        broken_off: whether a recipe's run, by its key, did not come well to its end: then none of its changes was to be the last.
    """
    off = caching_off(journal.caching_entries(rack))
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
    """Return the item with those of its cells alone where the cache was not left off on purpose."""
    state, later = journal.state(rack, item.change), journal.plans_after(rack, item.change)
    if state.plan is not None and state.plan.run and broken_off(state.plan.run):
        return item
    return replace(item, cells=tuple(cell for cell in item.cells if not left_on_purpose(item, cell, state, later)))


def _repeats(journal: Journal, newest: Planned, item: CachingOff) -> bool:
    """Whether ``retry failed``, which repeats the newest change, goes on with the one that left this, or brings it back."""
    change = journal.state(newest.rack, item.change).plan
    same = change is not None and change.root == newest.root
    open_ones = set(item.cells) & journal.state(newest.rack, newest.change).left
    return bool(open_ones) and (same or any(brings_back(newest, item.cache, cell) for cell in open_ones))


def _unanswered(item: CachingOff) -> str:
    """Return what is said of cells where nobody knows whether a cache is still to be dropped."""
    name = "flash cache" if item.cache == FLASHCACHE else item.cache
    what = f"may have left no {name} on" if item.dropped else f"left {name} not caching on"
    where = f"{what} {fold(item.cells)}, where its DROP {item.cache.upper()}"
    return f"change {item.change} {where} was not answered and may still happen"


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
    on = [cell for cell, state in caching.items() if state == "on"]
    return journal.observe(
        rack,
        lambda: [
            (item.change, Row(kind="observed", target=cell, body={"caching": "on", "cache": cache}))
            for item in caching_off(journal.caching_entries(rack))
            for cell in item.cells
            if item.cache == cache and cell in on
        ],
    )
