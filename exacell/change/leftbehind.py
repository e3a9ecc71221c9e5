"""Show at each start the things that earlier changes left behind on the rack, according to this user's journal."""

from __future__ import annotations

from contextlib import suppress

from exacell.core.errors import JournalError
from exacell.session.given import Services, Session


def left_behind(session: Session, services: Services, *, warn: bool = False) -> tuple[str, ...]:
    """Return one line for each thing that an earlier change left behind, with the statement that repairs it.

    If there is nothing, the rack's lock is updated, so that other operators do not see a warning any more.

    Args:
        warn: show these lines as warnings which say that others may have repaired it since.
    """
    if session.rack is None:
        return ()
    if not any((session.home.state_dir / name).exists() for name in ("journal.db", "journal.head")):
        return _kept(session, services)[0]  # A run may have ended before its first change.
    from exacell.change.pending import pending

    try:
        kept, runs = _kept(session, services)
        left = pending(services.journal, session.rack.name, but=runs)
        unsound = services.journal.unsound(session.home.cache_dir / "journal.sound")
        found = (*(item.warning if warn else item.sentence for item in left), *kept, *filter(None, [unsound]))
        if not found:
            _left_nothing(session)
        return found
    except JournalError as error:
        # Reads continue; a change will be refused with the same words.
        return (f"{error.message}; so exacell can't check what earlier changes left: {error.hint}",)


def _kept(session: Session, services: Services) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return a line for each unfinished run of a recipe and unfinished experiment, and the journal's keys of these runs."""
    path = session.home.state_dir / "store.db"
    if not path.exists():
        return (), frozenset()
    from exacell.session.store import Store, StoreError

    store, rack = Store(path), session.need_rack().name
    try:
        if not (store.runs(rack, bool, "running", "stopped") or store.experiments(rack, bool, "running", "stopped")):
            return (), frozenset()
        from exacell.session.runs import left_runs
        from exacell.session.trials import conducted_elsewhere, left_line, unfinished

        runs = left_runs(store, services.journal, rack)
        trials = tuple(left_line(found) for found in unfinished(store, rack) if not conducted_elsewhere(found))
        return (*(says for _, says in runs), *trials), frozenset(run.key for run, _ in runs)
    except StoreError as error:
        line = f"{error.message}; so exacell can't check for an unfinished run or experiment: {error.hint}"
        return (line,), frozenset()


def unnoted(session: Session, services: Services, problem: str) -> tuple[str, ...]:
    """Return the line for an observation that could not be journalled; empty if :func:`left_behind` shows the reason anyway."""
    return () if not problem or any(line.startswith(problem) for line in left_behind(session, services)) else (problem,)


def _left_nothing(session: Session) -> None:
    """Remove this operator's note to the others that something was left behind."""
    from exacell.change.racklock import LockedError, lock_in

    with suppress(LockedError):  # Reported when a change takes the lock.
        lock_in(session).leave(0)
