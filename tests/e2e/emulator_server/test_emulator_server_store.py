"""Files of emulated racks."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from exacell.core.errors import EmulatorError
from exacell.emulator.basics import store
from exacell.emulator.basics.names import fold
from exacell.emulator.basics.store import (
    RackFiles,
    all_racks,
    hold_running_lock,
    life_cycle_lock,
    rack_files,
    read_json,
    write_json,
)


@pytest.mark.parametrize("name", ["", "..", "a/b", ".t1", "-x", "a b", "x" * 64])
def test_a_name_that_could_leave_the_directory_is_refused(tmp_path: Path, name: str) -> None:
    """Rack names can't be paths, options or hidden files."""
    with pytest.raises(EmulatorError, match="no name for an emulated rack"):
        rack_files(tmp_path, name)


def test_json_files_are_replaced_whole_and_private(tmp_path: Path) -> None:
    """Writing replaces the file in one step, leaves no draft behind, and nobody else may read it."""
    path = tmp_path / "state.json"
    write_json(path, {"a": 1})
    write_json(path, {"a": 2})
    assert read_json(path) == {"a": 2}
    assert os.listdir(tmp_path) == ["state.json"]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_a_damaged_file_is_named_with_the_way_out(tmp_path: Path, text: str) -> None:
    """A file that is no JSON object is reported by path, with reset=yes as the way out."""
    path = tmp_path / "state.json"
    path.write_text(text)
    with pytest.raises(EmulatorError, match=r"state\.json is damaged") as error:
        read_json(path)
    assert "reset=yes" in error.value.hint


def test_a_rack_runs_as_long_as_its_lock_is_held(tmp_path: Path) -> None:
    """Running means that the lock is held; a second holder is refused; a left-behind lock file means nothing."""
    files = rack_files(tmp_path, "t1")
    files.root.mkdir(parents=True)
    assert not files.running()
    lock = hold_running_lock(files)
    assert lock is not None and files.running() and hold_running_lock(files) is None
    os.close(lock)
    assert files.lock.exists() and not files.running()


def test_who_only_looks_whether_a_rack_runs_does_not_keep_it_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is held for seconds while it looks is waited for: only who serves the rack has it for himself."""
    files = rack_files(tmp_path, "t1")
    files.root.mkdir(parents=True)
    looking = os.open(files.lock, os.O_RDWR | os.O_CREAT)
    fcntl.flock(looking, fcntl.LOCK_SH)
    passed: list[float] = []

    def sleep(seconds: float) -> None:
        passed.append(seconds)
        if len(passed) == 5:
            os.close(looking)

    monkeypatch.setattr(store, "time", SimpleNamespace(monotonic=lambda: 2.0 * len(passed), sleep=sleep))
    lock = hold_running_lock(files)
    assert lock is not None and len(passed) == 5 and files.running()
    os.close(lock)


def test_only_one_may_start_or_stop_a_rack_at_a_time(tmp_path: Path) -> None:
    """The life-cycle lock excludes others and says so when it takes too long."""
    files = rack_files(tmp_path, "t1")
    with (
        life_cycle_lock(files, timeout=1),
        pytest.raises(EmulatorError, match="another process has been starting or stopping rack t1"),
        life_cycle_lock(files, timeout=0.02),
    ):
        pass
    with life_cycle_lock(files, timeout=0.02):
        assert all_racks(tmp_path) == ()


def test_removing_a_rack_leaves_its_neighbours(tmp_path: Path) -> None:
    """remove() takes the rack's own directory and nothing else, and is content when there is none."""
    for name in ("t1", "t2"):
        files = rack_files(tmp_path, name)
        (files.root / "hosts").mkdir(parents=True)
        write_json(files.rack, {})
    assert [rack.name for rack in all_racks(tmp_path)] == ["t1", "t2"]
    rack_files(tmp_path, "t1").remove()
    RackFiles(tmp_path / "emulator" / "t3").remove()
    assert [rack.name for rack in all_racks(tmp_path)] == ["t2"]


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        ([], ""),
        (["exa1cel01"], "exa1cel01"),
        (["exa1cel01", "exa1cel02", "exa1cel03"], "exa1cel[01-03]"),
        (["c9", "c10"], "c9,c10"),
        (["c001", "c002", "c004", "d1", "x", "y"], "c[001-002],c004,d1,x,y"),
    ],
)
def test_names_are_folded_as_cell_sets_are_written(names: list[str], folded: str) -> None:
    """Consecutive numbers of one width become a range, everything else stays."""
    assert fold(names) == folded
