"""The lock of a rack."""

from __future__ import annotations

import fcntl
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
from exacell.core.config import RackConfig
from exacell.core.errors import RefusedError
from exacell.core.hostgroups import HostGroup


@pytest.fixture
def lock(tmp_path: Path) -> RackLock:
    return RackLock(tmp_path / "locks" / "r1.lock", "r1")


def _write(lock: RackLock, **changed: object) -> None:
    holder = {
        "user": "maria", "host": "elsewhere", "pid": "77", "since": "2026-01-01T00:00:00+00:00", "change": "12",
        "kept": False, **changed,
    }  # fmt: skip
    lock.path.parent.mkdir(parents=True, exist_ok=True)
    lock.path.write_text(json.dumps({"kept" if holder["kept"] else "running": holder}))


def test_a_lock_is_held_and_given_back(lock: RackLock) -> None:
    """It should name its holder while it is held, and be free afterwards."""
    with lock.held():
        holder = lock.holder()
        assert holder is not None
        assert (holder.change, holder.host, holder.pid) == ("", socket.gethostname(), str(os.getpid()))
        lock.tell(7)
        told = lock.holder()
        assert told is not None and told.change == "7" and "change 7) for " in str(told)
    assert lock.holder() is None


def test_somebody_elses_lock_is_refused_with_who_where_since_and_change(lock: RackLock) -> None:
    """It should refuse, and keep the other's lock, when another host holds it."""
    _write(lock)
    with (
        pytest.raises(RefusedError, match=r"maria on elsewhere \(process 77, change 12\) for [^;]*; nothing was sent"),
        lock.held(),
    ):
        raise AssertionError("it was taken")
    assert lock.holder() is not None


def test_a_dead_process_of_this_host_loses_its_lock(lock: RackLock) -> None:
    """It should take over a lock whose process has ended on this host."""
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    _write(lock, host=socket.gethostname(), pid=str(child.pid))
    with lock.held():
        holder = lock.holder()
        assert holder is not None and holder.pid == str(os.getpid())


def test_a_living_process_keeps_its_lock(lock: RackLock) -> None:
    """It should refuse while the holder's process runs on this host."""
    _write(lock, host=socket.gethostname(), pid=str(os.getpid()))
    with pytest.raises(RefusedError, match="maria"):
        lock.take()


def test_a_kept_lock_lets_its_owner_change_and_stays(lock: RackLock) -> None:
    """It should not stand in its owner's way, and outlive the owner's changes."""
    lock.take(kept=True)
    with lock.held():
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
        lock.take()
    lock.give_back(takeover=True)
    assert lock.holder() is None


BOB = {"user": "bob", "host": "other", "pid": "77", "since": "2026-01-01T00:00:00+00:00"}
HOLDERS = [
    ({"user": "bob"}, "it has no host, pid, since"),
    ({**BOB, "since": "yesterday"}, "its since has a form"),
    ({**BOB, "since": "2026-01-01T00:00:00"}, "its since has no time zone"),
    ({**BOB, "since": 5}, "its since is not text"),
    ({**BOB, "kept": "yes"}, "its kept must be true or false"),
    ({**BOB, "since": "2026-13-01T00:00:00+00:00"}, "its since is not a time"),
    ({**BOB, "user": "bob; run: unlock --takeover"}, "its user has a form"),
    ({**BOB, "host": "\x1b[2J"}, "its host has a form"),
    ({**BOB, "change": "7 of root"}, "its change has a form"),
    ([], "a holder in it is not a JSON object"),
    ("bob", "a holder in it is not a JSON object"),
]


@pytest.mark.parametrize(("holder", "told"), HOLDERS, ids=[told for _, told in HOLDERS])
@pytest.mark.parametrize("place", ["kept", "running"])
def test_a_lock_that_was_edited_by_hand_counts_as_held(lock: RackLock, holder: Any, told: str, place: str) -> None:
    """It should say what is wrong with it in one line, let nobody change the rack, and be freed by a takeover."""
    lock.path.parent.mkdir(parents=True, exist_ok=True)
    lock.path.write_text(json.dumps({place: holder}))
    for deed in (lock.holder, lambda: lock.take(), lock.give_back):
        with pytest.raises(LockedError, match="can't be read") as caught:
            deed()
        assert told in caught.value.message and caught.value.hint == "`unlock --takeover` removes it"
    assert lock.give_back(takeover=True) is None
    assert lock.holder() is None


def test_what_a_newer_version_says_of_a_holder_is_left_out(lock: RackLock) -> None:
    """It should name who holds the rack although the lock tells more than this version knows."""
    lock.path.parent.mkdir(parents=True, exist_ok=True)
    lock.path.write_text(json.dumps({"running": {**BOB, "colour": "red", "why": "flush"}, "reason": 7}))
    holder = lock.holder()
    assert holder is not None and holder.user == "bob"


def test_the_clock_of_another_host_may_be_ahead(lock: RackLock) -> None:
    """It should give a lock from the future the age 0, and not one below."""
    lock.path.parent.mkdir(parents=True, exist_ok=True)
    lock.path.write_text(json.dumps({"running": {**BOB, "since": "2999-01-01T00:00:00+00:00"}}))
    holder = lock.holder()
    assert holder is not None and holder.age == 0 and "for 0" in str(holder)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("directory", "it is a directory"),
        ("link", "it is a symbolic link"),
        ("FIFO", "it is a FIFO"),
        ("second name", "it has a second name"),
    ],
)
def test_what_is_no_file_is_no_lock_to_free(lock: RackLock, tmp_path: Path, made: str, told: str) -> None:
    """It should say at once what lies there, and not offer to free what only somebody with rights to the directory can remove."""
    lock.path.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "precious").write_text("mine")
    if made == "directory":
        lock.path.mkdir()
    elif made == "link":
        lock.path.symlink_to(tmp_path / "precious")
    elif made == "FIFO":
        os.mkfifo(lock.path)
    else:
        lock.path.hardlink_to(tmp_path / "precious")
    with pytest.raises(LockedError, match="can't be read") as caught:
        lock.holder()
    assert told in caught.value.message and "lock= can name another" in caught.value.hint
    for deed in (lock.take, lambda: lock.leave(7), lambda: lock.give_back(takeover=True)):
        with pytest.raises(LockedError, match="can't be locked") as caught:
            deed()
        assert told in caught.value.message
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize(
    "junk", ["[" * 60000, "1" * 5000, "[]", "7", '{"left": 5}', '{"left": "ab"}', "\0" * 70000, "{}}"]
)
def test_junk_is_one_line_and_freed_by_a_takeover(lock: RackLock, junk: str) -> None:
    """Whatever somebody wrote there should be one line that repeats none of it."""
    lock.path.parent.mkdir(parents=True)
    lock.path.write_text(junk)
    for deed in (lock.holder, lock.take, lock.give_back):
        with pytest.raises(LockedError, match="can't be read") as caught:
            deed()
        assert len(caught.value.message) < 300 and caught.value.hint == "`unlock --takeover` removes it"
    assert lock.give_back(takeover=True) is None
    assert lock.holder() is None and lock.take()


def test_who_only_looks_does_not_wait_for_a_neighbour(lock: RackLock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that sits on the file's lock should keep a look waiting for a moment only, and be told."""
    monkeypatch.setattr(racklock, "_READING", 0.02)
    lock.take()
    with lock.path.open() as other:
        fcntl.flock(other.fileno(), fcntl.LOCK_EX)
        with pytest.raises(LockedError, match=r"another process has locked it for 0\.02s"):
            lock.holder()
        assert "another process has locked it" in lock.still_mine()


def test_a_lock_that_everybody_can_replace_is_none(lock: RackLock) -> None:
    """In a folder that is writable for all without the sticky bit two people could each lock a file of their own."""
    lock.path.parent.mkdir()
    lock.path.parent.chmod(0o777)
    with pytest.raises(LockedError, match=rf"without the sticky bit: type `chmod \+t {lock.path.parent}`"):
        lock.take()
    assert not lock.path.exists()
    lock.path.parent.chmod(0o1777)
    assert lock.take()
    lock.path.parent.chmod(0o777)
    with pytest.raises(LockedError, match="without the sticky bit"):
        lock.holder()


def _rack(name: str, **changed: Any) -> RackConfig:
    return RackConfig(**{"name": name, "cells": ("exa1cel02", "exa1cel01"), **changed})


@pytest.mark.parametrize(
    "other",
    [
        _rack("x"),
        _rack("cells", cells=("exa1cel01.example.com", "exa1cel03")),
        _rack("EXA", cells=("EXA1CEL01",)),
    ],
    ids=lambda rack: rack.name,
)
def test_one_rack_has_one_lock_whatever_it_is_called(tmp_path: Path, shared_locks: Path, other: RackConfig) -> None:
    """Two people's configurations of one rack should lead to one lock, where all users of the host look."""
    assert lock_of(_rack("prod"), tmp_path / "a").path == lock_of(other, tmp_path / "b").path
    assert lock_of(_rack("prod"), tmp_path).path == racklock.SHARED / "exacell-exa1cel01.lock"
    assert shared_locks == Path("/var/tmp")
    assert lock_of(_rack("prod", lock=tmp_path / "x"), tmp_path).path == tmp_path / "x"
    assert lock_of(_rack("prod", cells=("10.0.0.3",)), tmp_path).path.name == "exacell-10.0.0.3.lock"
    assert lock_of(_rack("prod", cells=("exa2cel01",)), tmp_path).path.name == "exacell-exa2cel01.lock"
    hosts = {"initiators": HostGroup(name="initiators", nodes=("ini02", "ini01"))}
    assert lock_of(_rack("hosts", cells=(), hosts=hosts), tmp_path).path.name == "exacell-ini01.lock"
    assert lock_of(_rack("both", hosts=hosts), tmp_path).path.name == "exacell-exa1cel01.lock"


def test_an_emulated_rack_has_its_lock_beside_its_keys(tmp_path: Path) -> None:
    """Two homes that reach one emulated rack should share its lock; racks of the same name elsewhere have their own."""
    (first := tmp_path / "emulator" / "t1").mkdir(parents=True)
    text = f'# made\nHost exa1cel01\n    Port 2200\n    IdentityFile "{first}/id_ed25519"\n'
    (first / "ssh_config").write_text(text)
    (copy := tmp_path / "copy").write_text(text)
    found = [
        lock_of(_rack(name, ssh_config=file, emulated=True), tmp_path / name).path
        for name, file in (("t1", first / "ssh_config"), ("mine", copy))
    ]
    assert found == [first / "change.lock"] * 2
    (tmp_path / "mixed").write_text(f"IdentityFile id_mine\n{text}")
    assert lock_of(_rack("t1", ssh_config=tmp_path / "mixed", emulated=True), tmp_path).path == first / "change.lock"
    (tmp_path / "bare").write_text("Host exa1cel01\n    IdentityFile id_mine\n")
    for bare in (tmp_path / "bare", tmp_path / "none", None):
        assert lock_of(_rack("t1", ssh_config=bare, emulated=True), tmp_path).path == tmp_path / "locks" / "t1.lock"


def test_a_process_of_the_same_number_is_another_one(lock: RackLock) -> None:
    """It should not take a new process for the dead holder whose number it got."""
    _write(lock, host=socket.gethostname(), pid=str(os.getpid()), started="1")
    assert lock.take()


def test_one_person_changes_a_kept_rack_in_one_process_at_a_time(lock: RackLock) -> None:
    """It should let a second process of the one who keeps the rack wait for the first one's change."""
    lock.take(kept=True)
    kept = json.loads(lock.path.read_text())["kept"]
    running = {**kept, "kept": False, "pid": "1", "started": "", "change": "9"}
    lock.path.write_text(json.dumps({"kept": kept, "running": running}))
    with pytest.raises(RefusedError, match=r"\(process 1, change 9\)"):
        lock.take()


def test_two_people_behind_sudo_are_two(lock: RackLock, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should tell two operators apart who both became the same user by sudo, and name them."""
    monkeypatch.setenv("SUDO_USER", "ann")
    lock.take(kept=True)
    monkeypatch.setenv("SUDO_USER", "bob")
    with pytest.raises(RefusedError, match="ann as "):
        lock.take()
    monkeypatch.setenv("SUDO_USER", "ann")
    assert lock.take()


def test_whoever_was_taken_over_knows_and_leaves_the_new_holder_alone(lock: RackLock) -> None:
    """It should tell a running change that its lock is somebody else's now, and not free that one's at its end."""
    with lock.held():
        assert lock.still_mine() == ""
        _write(lock)
        assert "was taken over by maria on elsewhere" in lock.still_mine()
        lock.tell(7)
    holder = lock.holder()
    assert holder is not None and (holder.user, holder.change) == ("maria", "12")
    lock.give_back(takeover=True)
    assert lock.still_mine().endswith("was taken over")
    lock.tell(7)
    assert lock.holder() is None


TAKER = """
import sys, time
from pathlib import Path
from typing import Any
from exacell.core.errors import RefusedError
from exacell.core.hostgroups import HostGroup
from exacell.change.racklock import RackLock
lock, log = RackLock(Path(sys.argv[1]), "r1"), Path(sys.argv[2])
done = 0
while done < 15:
    try:
        with lock.held():
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
    assert [process.wait(300) for process in running] == [0] * 4
    assert log.read_text().split() == ["in", "out"] * 60
    assert lock.holder() is None


def test_whoever_is_killed_while_writing_leaves_the_keeper(lock: RackLock, monkeypatch: pytest.MonkeyPatch) -> None:
    """At no instant of a change's taking and giving back the lock does the file not tell who keeps the rack."""
    lock.take(kept=True)
    seen: list[str] = []

    def watched(name: str) -> None:
        real = getattr(os, name)

        def done(*given: object) -> object:
            result = real(*given)
            seen.append(json.loads(lock.path.read_text())["kept"]["pid"])
            return result

        monkeypatch.setattr(os, name, done)

    watched("pwrite")
    watched("ftruncate")
    with lock.held():
        pass
    assert len(seen) >= 4 and set(seen) == {str(os.getpid())}


def test_two_users_of_one_host_are_two(lock: RackLock) -> None:
    """It should not take another user of this host, who came without sudo as well, for the one who keeps the rack."""
    _write(lock, host=socket.gethostname(), kept=True)
    with pytest.raises(RefusedError, match="maria on "):
        lock.take()
    with pytest.raises(RefusedError, match="maria on "):
        lock.refuse_held()
    with pytest.raises(LockedError, match="is locked by maria"):
        lock.give_back()


def test_who_keeps_the_rack_keeps_it(lock: RackLock) -> None:
    """It should say that the rack is kept already, and leave what was said about that as it was."""
    assert lock.take(kept=True)
    before = lock.path.read_text()
    assert not lock.take(kept=True)
    assert lock.path.read_text() == before


def test_a_process_may_take_its_own_lock_again(lock: RackLock) -> None:
    """It should not stand in its own way, and give the lock back as a whole."""
    with lock.held(), lock.held():
        assert lock.holder() is not None
        lock.refuse_held()
    assert lock.holder() is None


def test_to_keep_a_rack_is_not_to_change_it(lock: RackLock) -> None:
    """Whose change was taken over may not go on because the process also keeps the rack."""
    with lock.held():
        lock.take(kept=True)
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
    with pytest.raises(LockedError, match=r"can't be locked.*it is a symbolic link"):
        lock.give_back()


def test_the_place_for_all_users_is_open_to_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody should be able to lock there, whatever the umask of who came first; elsewhere the umask rules."""
    shared, own = tmp_path / "shared", tmp_path / "own"
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setattr(racklock, "SHARED", shared)
    before = os.umask(0o077)
    try:
        for folder in (shared, own):
            RackLock(folder / "r1.lock", "r1").take()
    finally:
        os.umask(before)
    modes = [path.stat().st_mode & 0o7777 for path in (shared / "r1.lock", own, own / "r1.lock")]
    assert modes == [0o666, 0o700, 0o600]


def test_the_place_for_all_users_is_never_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is missing nobody makes one that others could not write to: the rack is not locked, and nothing is sent."""
    monkeypatch.setattr(racklock, "SHARED", tmp_path / "shared")
    with pytest.raises(LockedError, match=r"can't be locked: .*; nothing was sent"):
        RackLock(tmp_path / "shared" / "r1.lock", "r1").take()
    assert not (tmp_path / "shared").exists()
