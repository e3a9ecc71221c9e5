"""The lock of a rack."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from exacell.change import racklock
from exacell.change.racklock import LockedError, RackLock, lock_of
from exacell.errors import RefusedError


@pytest.fixture
def lock(tmp_path: Path) -> RackLock:
    return RackLock(tmp_path / "locks" / "r1.lock", "r1")


def _write(lock: RackLock, **changed: object) -> None:
    holder = {
        "user": "maria", "host": "elsewhere", "pid": "77", "since": "2026-01-01T00:00:00+00:00", "why": "resize",
        "kept": False, **changed,
    }  # fmt: skip
    lock.path.parent.mkdir(parents=True, exist_ok=True)
    lock.path.write_text(json.dumps({"kept" if holder["kept"] else "running": holder}))


def test_a_lock_is_held_and_given_back(lock: RackLock) -> None:
    """It should name its holder while it is held, and be free afterwards."""
    with lock.held("flush flashcache"):
        holder = lock.holder()
        assert holder is not None
        assert (holder.why, holder.host, holder.pid) == ("flush flashcache", socket.gethostname(), str(os.getpid()))
    assert lock.holder() is None


def test_somebody_elses_lock_is_refused_with_who_where_since_and_why(lock: RackLock) -> None:
    """It should refuse, and keep the other's lock, when another host holds it."""
    _write(lock)
    with (
        pytest.raises(RefusedError, match=r"maria on elsewhere \(process 77\) for .*: resize; nothing was sent"),
        lock.held("x"),
    ):
        raise AssertionError("it was taken")
    assert lock.holder() is not None


def test_a_dead_process_of_this_host_loses_its_lock(lock: RackLock) -> None:
    """It should take over a lock whose process has ended on this host."""
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    _write(lock, host=socket.gethostname(), pid=str(child.pid))
    with lock.held("mine"):
        holder = lock.holder()
        assert holder is not None and holder.why == "mine"


def test_a_living_process_keeps_its_lock(lock: RackLock) -> None:
    """It should refuse while the holder's process runs on this host."""
    _write(lock, host=socket.gethostname(), pid=str(os.getpid()))
    with pytest.raises(RefusedError, match="maria"):
        lock.take("x")


def test_a_kept_lock_lets_its_owner_change_and_stays(lock: RackLock) -> None:
    """It should not stand in its owner's way, and outlive the owner's changes."""
    lock.take("until noon", kept=True)
    with lock.held("flush"):
        pass
    holder = lock.holder()
    assert holder is not None and holder.kept


def test_only_a_takeover_removes_somebody_elses_lock(lock: RackLock) -> None:
    """It should refuse unlock for another's lock unless takeover is asked for, and say who had it."""
    _write(lock, kept=True)
    with pytest.raises(RefusedError, match="maria"):
        lock.give_back()
    held = lock.give_back(takeover=True)
    assert held is not None and held.user == "maria" and lock.holder() is None


def test_a_lock_that_cannot_be_read_counts_as_held(lock: RackLock) -> None:
    """It should refuse a change when the lock's file is damaged, rather than believe that nobody holds it."""
    lock.path.parent.mkdir(parents=True)
    lock.path.write_text("{")
    with pytest.raises(RefusedError, match="can't be read"):
        lock.take("x")
    lock.give_back(takeover=True)
    assert lock.holder() is None


BOB = {"user": "bob", "host": "other", "pid": "77", "since": "2026-01-01T00:00:00+00:00", "why": "x"}
HOLDERS = [
    ({"user": "bob"}, "it says no host, pid, since, why"),
    ({**BOB, "since": "yesterday"}, "its since is no time: yesterday"),
    ({**BOB, "since": "2026-01-01T00:00:00"}, "its since names no zone"),
    ({**BOB, "since": 5}, "its since is no text"),
    ({**BOB, "kept": "yes"}, "its kept is neither true nor false"),
    ([], "it says no user"),
    ("bob", "it says no user"),
]


@pytest.mark.parametrize(("holder", "told"), HOLDERS, ids=[told for _, told in HOLDERS])
@pytest.mark.parametrize("place", ["kept", "running"])
def test_a_lock_that_was_edited_by_hand_counts_as_held(lock: RackLock, holder: Any, told: str, place: str) -> None:
    """It should say what is wrong with it in one line, let nobody change the rack, and be freed by a takeover."""
    lock.path.parent.mkdir(parents=True, exist_ok=True)
    lock.path.write_text(json.dumps({place: holder}))
    for deed in (lock.holder, lambda: lock.take("s"), lock.give_back):
        with pytest.raises(LockedError, match="can't be read") as caught:
            deed()
        assert told in caught.value.message and caught.value.hint == "unlock --takeover frees it"
    assert lock.give_back(takeover=True) is None
    assert lock.holder() is None


def test_what_a_newer_version_says_of_a_holder_is_left_out(lock: RackLock) -> None:
    """It should name who holds the rack although the lock tells more than this version knows."""
    lock.path.parent.mkdir(parents=True, exist_ok=True)
    lock.path.write_text(json.dumps({"running": {**BOB, "colour": "red"}, "reason": 7}))
    holder = lock.holder()
    assert holder is not None and holder.user == "bob"


def test_the_clock_of_another_host_may_be_ahead(lock: RackLock) -> None:
    """It should give a lock from the future the age 0, and not one below."""
    lock.path.parent.mkdir(parents=True, exist_ok=True)
    lock.path.write_text(json.dumps({"running": {**BOB, "since": "2999-01-01T00:00:00+00:00"}}))
    holder = lock.holder()
    assert holder is not None and holder.age == 0 and "for 0" in str(holder)


@pytest.mark.parametrize("made", ["directory", "link"])
def test_what_is_no_file_is_no_lock_to_free(lock: RackLock, tmp_path: Path, made: str) -> None:
    """It should not offer to free what only somebody with rights to the directory can remove."""
    lock.path.parent.mkdir(parents=True, exist_ok=True)
    if made == "directory":
        lock.path.mkdir()
    else:
        lock.path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LockedError, match="can't be read") as caught:
        lock.holder()
    assert "lock= names another" in caught.value.hint


def test_emulated_racks_are_locked_at_home(tmp_path: Path, shared_locks: Path) -> None:
    """It should keep an emulated rack's lock with its owner, and a real one's where all users of the host look."""
    assert lock_of("t1", None, emulated=True, state_dir=tmp_path).path == tmp_path / "locks" / "t1.lock"
    assert lock_of("prod", None, emulated=False, state_dir=tmp_path).path == racklock.SHARED / "prod.lock"
    assert shared_locks == Path("/var/tmp/exacell-locks")
    assert lock_of("prod", tmp_path / "x", emulated=False, state_dir=tmp_path).path == tmp_path / "x"


def test_a_process_of_the_same_number_is_another_one(lock: RackLock) -> None:
    """It should not take a new process for the dead holder whose number it got."""
    _write(lock, host=socket.gethostname(), pid=str(os.getpid()), started="1")
    assert lock.take("mine")


def test_one_person_changes_a_kept_rack_in_one_process_at_a_time(lock: RackLock) -> None:
    """It should let a second process of the one who keeps the rack wait for the first one's change."""
    lock.take("until noon", kept=True)
    kept = json.loads(lock.path.read_text())["kept"]
    running = {**kept, "kept": False, "pid": "1", "started": "", "why": "flush"}
    lock.path.write_text(json.dumps({"kept": kept, "running": running}))
    with pytest.raises(RefusedError, match=r"\(process 1\).*: flush"):
        lock.take("resize")


def test_two_people_behind_sudo_are_two(lock: RackLock, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should tell two operators apart who both became the same user by sudo, and name them."""
    monkeypatch.setenv("SUDO_USER", "ann")
    lock.take("until noon", kept=True)
    monkeypatch.setenv("SUDO_USER", "bob")
    with pytest.raises(RefusedError, match="ann as "):
        lock.take("x")
    monkeypatch.setenv("SUDO_USER", "ann")
    assert lock.take("x")


def test_whoever_was_taken_over_knows_and_leaves_the_new_holder_alone(lock: RackLock) -> None:
    """It should tell a running change that its lock is somebody else's now, and not free that one's at its end."""
    with lock.held("flush"):
        assert lock.still_mine() == ""
        _write(lock, why="repair")
        assert "was taken over by maria on elsewhere" in lock.still_mine()
    holder = lock.holder()
    assert holder is not None and holder.user == "maria"
    lock.give_back(takeover=True)
    assert lock.still_mine().endswith("was taken over")


TAKER = """
import sys, time
from pathlib import Path
from typing import Any
from exacell.errors import RefusedError
from exacell.change.racklock import RackLock
lock, log = RackLock(Path(sys.argv[1]), "r1"), Path(sys.argv[2])
done = 0
while done < 15:
    try:
        with lock.held("x"):
            with log.open("a") as stream:
                stream.write("in\\n")
            time.sleep(0.001)
            with log.open("a") as stream:
                stream.write("out\\n")
        done += 1
    except RefusedError:
        time.sleep(0.001)
"""


def test_many_processes_are_never_in_it_together(lock: RackLock, tmp_path: Path) -> None:
    """It should let one process in at a time, and lose none that waits."""
    log = tmp_path / "log"
    running = [subprocess.Popen([sys.executable, "-c", TAKER, str(lock.path), str(log)]) for _ in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    assert log.read_text().split() == ["in", "out"] * 60
    assert lock.holder() is None


def test_a_link_is_no_lock(lock: RackLock, tmp_path: Path) -> None:
    """It should write through no symbolic link that somebody left where the lock belongs."""
    lock.path.parent.mkdir(parents=True)
    lock.path.symlink_to(tmp_path / "precious")
    with pytest.raises(RefusedError, match="can't be locked"):
        lock.take("x")
    assert not (tmp_path / "precious").exists()


def test_whoever_is_killed_while_writing_leaves_the_keeper(lock: RackLock, monkeypatch: pytest.MonkeyPatch) -> None:
    """At no instant of a change's taking and giving back the lock does the file not tell who keeps the rack."""
    lock.take("until noon", kept=True)
    seen: list[str] = []

    def watched(name: str) -> None:
        real = getattr(os, name)

        def done(*given: object) -> object:
            result = real(*given)
            seen.append(json.loads(lock.path.read_text())["kept"]["why"])
            return result

        monkeypatch.setattr(os, name, done)

    watched("pwrite")
    watched("ftruncate")
    with lock.held("flush flashcache"):
        pass
    assert len(seen) >= 4 and set(seen) == {"until noon"}


def test_two_users_of_one_host_are_two(lock: RackLock) -> None:
    """It should not take another user of this host, who came without sudo as well, for the one who keeps the rack."""
    _write(lock, host=socket.gethostname(), kept=True)
    with pytest.raises(RefusedError, match="maria on "):
        lock.take("x")
    with pytest.raises(RefusedError, match="maria on "):
        lock.refuse_held()
    with pytest.raises(LockedError, match="is locked by maria"):
        lock.give_back()


def test_who_keeps_the_rack_keeps_it_for_the_first_reason(lock: RackLock) -> None:
    """It should say that the rack is kept already, and leave what was said about that as it was."""
    assert lock.take("until noon", kept=True)
    before = lock.path.read_text()
    assert not lock.take("for longer", kept=True)
    assert lock.path.read_text() == before


def test_a_process_may_take_its_own_lock_again(lock: RackLock) -> None:
    """It should not stand in its own way, and give the lock back as a whole."""
    with lock.held("resize"), lock.held("flush"):
        holder = lock.holder()
        assert holder is not None and holder.why == "flush"
        lock.refuse_held()
    assert lock.holder() is None


def test_to_keep_a_rack_is_not_to_change_it(lock: RackLock) -> None:
    """Whose change was taken over may not go on because the process also keeps the rack."""
    with lock.held("flush"):
        lock.take("until noon", kept=True)
        data = json.loads(lock.path.read_text())
        lock.path.write_text(json.dumps({"kept": data["kept"]}))
        assert "was taken over" in lock.still_mine()


def test_a_living_change_of_somebody_else_has_left_nothing_behind(lock: RackLock) -> None:
    """It should tell a dead process of another person as one that left something, and a living one as none."""
    _write(lock, host=socket.gethostname(), pid=str(os.getpid()))
    assert lock.left_by_others() == ()
    _write(lock, host=socket.gethostname(), pid="4194305")
    assert [holder.user for holder in lock.left_by_others()] == ["maria"]


def test_to_free_what_nobody_locked_makes_no_file(lock: RackLock) -> None:
    """It should make neither a file nor its directory where there is none; a link is told as what it is."""
    assert lock.give_back() is None and lock.give_back(takeover=True) is None
    assert not lock.path.parent.exists()
    lock.path.parent.mkdir()
    lock.path.symlink_to(lock.path.parent / "nowhere")
    with pytest.raises(LockedError, match="can't be locked"):
        lock.give_back()


def test_the_place_for_all_users_is_open_to_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody should be able to lock there, whatever the umask of who came first; elsewhere the umask rules."""
    shared, own = tmp_path / "shared", tmp_path / "own"
    monkeypatch.setattr(racklock, "SHARED", shared)
    before = os.umask(0o077)
    try:
        for folder in (shared, own):
            RackLock(folder / "r1.lock", "r1").take("x")
    finally:
        os.umask(before)
    modes = [path.stat().st_mode & 0o7777 for path in (shared, shared / "r1.lock", own, own / "r1.lock")]
    assert modes == [0o1777, 0o666, 0o700, 0o600]
