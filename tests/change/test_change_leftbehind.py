"""What one operator left behind on a rack, told to the others by the lock: each user has a separate journal."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from exacell.change import changing
from exacell.change.leftbehind import left_behind
from exacell.change.racklock import LockedError, RackLock
from exacell.core.config import RackConfig
from exacell.journal.actor import actor
from exacell.journal.record import Journal, Row


@pytest.fixture
def lock(tmp_path: Path) -> RackLock:
    return RackLock(tmp_path / "locks" / "r1.lock", "r1")


@pytest.fixture
def become(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes this process somebody else's."""
    monkeypatch.setenv("SUDO_USER", "maria")
    return lambda name: monkeypatch.setenv("SUDO_USER", name)


def told(lock: RackLock) -> list[str]:
    """What others are told, without how long ago it was: that moves while a test runs."""
    return [re.sub(r" [0-9][0-9a-z.]* ago", " ago", holder.trace, count=1) for holder in lock.left_by_others()]


def line_of(name: str, change: int | None = None) -> str:
    what = f"change {change}" if change else "a change"
    who = f"{name} on {socket.gethostname()}"
    return f"{what} of {who}, ago, was left unfinished or needs repair: `show health` shows the present state"


def kill(lock: RackLock, change: int) -> None:
    """Leave the lock as a process does that dies in the middle of a change."""
    lock.take()
    lock.tell(change)
    held = json.loads(lock.path.read_text())
    held["running"] |= {"pid": "1999999999", "started": "1"}
    lock.path.write_text(json.dumps(held))


def test_what_is_left_is_told_to_the_others(lock: RackLock, become: Any) -> None:
    """The others are told who, when and which change, until it is mended; oneself has a journal."""
    assert told(lock) == []
    lock.leave(7)
    assert told(lock) == []
    become("bob")
    line = line_of("maria", 7)
    assert told(lock) == [line]
    with lock.held():
        assert told(lock) == [line]
    assert told(lock) == [line]
    lock.leave(0)
    assert told(lock) == [line]
    become("maria")
    lock.leave(0)
    become("bob")
    assert told(lock) == [] and lock.holder() is None


def test_whose_process_died_is_told_behind_the_next_change_too(lock: RackLock, become: Any) -> None:
    """A process that died in the middle of a change is told before the lock is taken over, and after it was."""
    kill(lock, 7)
    become("bob")
    for _ in range(2):
        with lock.held():
            assert told(lock) == [line_of("maria", 7)]
    become("eve")
    assert told(lock) == [line_of("maria", 7)]
    become("maria")
    with lock.held():
        assert told(lock) == []
        lock.leave(0)
    become("bob")
    assert told(lock) == []


def test_ones_own_process_that_died_is_no_news(lock: RackLock, become: Any) -> None:
    """Who takes over from a process of one's own has the journal of it, and leaves nobody a line."""
    kill(lock, 7)
    assert told(lock) == []
    with lock.held():
        pass
    become("bob")
    assert told(lock) == []


def test_one_line_a_person_and_not_too_many(lock: RackLock, become: Any) -> None:
    """What somebody leaves later takes the place of what they left before; the newest eight people are remembered."""
    for number in range(1, 11):
        become(f"user{number}")
        lock.leave(100)
        lock.leave(number)
    become("bob")
    assert told(lock) == [line_of(f"user{number}", number) for number in range(3, 11)]


def test_only_a_takeover_forgets_it(lock: RackLock, become: Any) -> None:
    """Unlock leaves the others' lines; unlock --takeover ends them, as whoever does that answers for the rack."""
    lock.leave(7)
    become("bob")
    lock.take(kept=True)
    lock.give_back()
    assert len(told(lock)) == 1
    lock.give_back(takeover=True)
    assert told(lock) == [] and lock.path.read_text() == ""


def test_a_line_that_can_not_be_read_is_a_lock_that_can_not(lock: RackLock, become: Any) -> None:
    """What is no holder in the list makes the lock unreadable, as everywhere else in it."""
    lock.leave(7)
    lock.path.write_text(json.dumps({"left": [{"user": "x"}]}))
    with pytest.raises(LockedError, match="has no host"):
        lock.left_by_others()


def desk(lock: RackLock, journal: Journal) -> Any:
    rack = RackConfig(name="r1", cells=("c1",), lock=lock.path)
    return SimpleNamespace(
        rack=rack,
        need_rack=lambda: rack,
        journal=journal,
        home=SimpleNamespace(state_dir=journal.path.parent, cache_dir=journal.path.parent),
    )


def test_a_change_notes_what_the_journal_says_of_it(lock: RackLock, tmp_path: Path, become: Any) -> None:
    """Behind each change the lock says what one's journal tells to mend, and nothing once that is nothing."""
    journal = Journal(tmp_path / "journal.db")
    ctx = desk(lock, journal)
    changing._leave(ctx, lock)
    assert not lock.path.exists()
    change = journal.begin("r1", {"statement": "resize flashcache size=1g", **actor(), "plan": {"stages": []}})
    journal.append("r1", change, [Row(kind="end", body={"exitCode": 4, "done": {}})])
    changing._leave(ctx, lock)
    become("bob")
    (line,) = changing._left_by_others(ctx)
    assert f"change {change} of maria on" in line and "resize" not in lock.path.read_text()
    become("maria")
    journal.append("r1", change, [Row(kind="undone", body=actor())])
    # Also when what was left is mended by other means: the next start finds nothing to tell.
    assert left_behind(ctx, ctx) == ()
    become("bob")
    assert changing._left_by_others(ctx) == []


def test_what_waits_for_a_clock_is_not_left_behind(lock: RackLock, tmp_path: Path, become: Any) -> None:
    """A change that its guardian takes back, or that goes on at another host, is nobody else's to mend."""
    journal = Journal(tmp_path / "journal.db")
    journal.begin("r1", {"statement": "s", **actor(), "host": "elsewhere", "plan": {"stages": []}})
    changing._leave(desk(lock, journal), lock)
    become("bob")
    assert changing._left_by_others(desk(lock, journal)) == []


def test_a_lock_that_can_not_be_read_is_no_line(lock: RackLock, tmp_path: Path) -> None:
    """What can't be read as a lock is refused when it is taken, not where the lines of others are told."""
    lock.path.mkdir(parents=True)
    assert changing._left_by_others(desk(lock, Journal(tmp_path / "journal.db"))) == []
