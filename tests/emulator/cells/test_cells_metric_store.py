"""Where a rack keeps what its cells have collected: on disk, whole, and no further than the rest of its state."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from cells_bench import MORNING, Bench

from exacell.core.errors import EmulatorError
from exacell.emulator.asm.clusters import AsmClusters
from exacell.emulator.metrics.collection import Collection
from exacell.emulator.metrics.metric_store import Collections, MetricStore
from exacell.emulator.server.rack_world import RackWorld

LIST = "list metrichistory where collectionTime > '2020-09-13T12:00:00+00:00'"


def collection(minute: int, *, epoch: int = 0, **more: float) -> Collection:
    """Return what is collected in the n-th minute, with a whole number and one that is none."""
    return Collection(minute * 60.0, {"FC_IO_RQ_R": minute, "FC_BY_USED": minute / 7, **more}, epoch, 0, epoch)


def filled(store: MetricStore, minutes: int = 300) -> Collections:
    """Return the collections of a cell, every minute from the first on, with a restart in the 100th."""
    found = store.of("exa1cel01")
    for minute in range(1, minutes + 1):
        found.put(collection(minute, epoch=int(minute >= 100)))
    return found


def test_what_was_collected_is_read_as_it_was() -> None:
    """Numbers keep their kind and their last digit, names their order, and epochs are there."""
    found = filled(MetricStore())
    for minute in (1, 50, 100, 299, 300):
        read = found.at(minute * 60.0)
        assert read == collection(minute, epoch=int(minute >= 100))
        assert [type(value) for value in read.values.values()] == [int, float]
    assert [c.moment for c in found] == [minute * 60.0 for minute in range(1, 301)]
    assert len(found) == 300


def test_a_minute_without_a_collection_has_the_one_before() -> None:
    """Between two collections the first of them holds; before all of them there is none; the same is the same object."""
    found = filled(MetricStore(), 10)
    assert found.at(61.0) is found.at(119.0)
    assert found.at(59.0) is None
    assert found.at(10**9) is found.last
    assert MetricStore().of("exa1cel01").at(0.0) is None


def test_restarts_of_counters_are_found() -> None:
    """The first collection after a restart is known, and those before it are not taken for it."""
    found = filled(MetricStore())
    assert found.turns() == [6000.0]
    assert (found.since(0), found.since(1), found.since(2)) == (60.0, 6000.0, None)


def test_old_collections_are_forgotten_but_for_the_one_that_still_holds() -> None:
    """What lies before a moment goes, except what was collected last before it."""
    found = filled(MetricStore())
    found.forget_before(6030.0)
    assert found.begin == 6000.0
    assert len(found) == 201
    assert found.at(6001.0) == collection(100, epoch=1)


def test_a_file_holds_what_was_committed(tmp_path: Path) -> None:
    """A store that is opened again has all of it, cell by cell, also names that came later."""
    path = str(tmp_path / "history.db")
    store = MetricStore(path)
    filled(store)
    store.of("exa1cel02").put(collection(7, **{"CD_BY_FC_DIRTY|FD_00": 1.5}))
    store.close()
    again = MetricStore(path)
    assert again.of("exa1cel01").last == collection(300, epoch=1)
    assert list(again.of("exa1cel02")) == [collection(7, **{"CD_BY_FC_DIRTY|FD_00": 1.5})]
    again.close()


@pytest.mark.parametrize("damage", [lambda p: p.write_bytes(b"no database" * 999), lambda p: _spoil(p)])
def test_a_damaged_file_is_said_to_be(damage: Callable[[Path], None], tmp_path: Path) -> None:
    """A history that can't be read is one line with the file and the way out."""
    path = tmp_path / "history.db"
    store = MetricStore(str(path))
    filled(store, 3)
    store.close()
    damage(path)
    with pytest.raises(EmulatorError, match=r"history\.db can't be used") as refused:
        list(MetricStore(str(path)).of("exa1cel01"))
    assert "reset=yes" in refused.value.hint


def _spoil(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("UPDATE collection SET numbers = x'00'")


def test_a_served_rack_keeps_its_history_out_of_its_state(tmp_path: Path) -> None:
    """A rack with a history file stores no collections besides, and prints the same history when it is started again."""
    wall = MORNING
    store = MetricStore(str(tmp_path / "history.db"))
    world = RackWorld.create("t1", {"cells": 2}, history=store, wall=lambda: wall, today=lambda: MORNING)
    world.start_load(db="SPOT", redo=None, seconds=1800, profile="mixed")
    wall += 3600 / 60
    world.advance()
    parts = world.to_state()
    assert "collections" not in parts["cell-exa1cel01"]["metrics"]  # type: ignore[operator]
    bench = Bench(cells=2)
    bench.wall, bench.rack = wall, world._rack
    before = bench.e(LIST)
    assert before.count("\n") > 60
    store.close()
    again = RackWorld.from_state(parts, history=MetricStore(str(tmp_path / "history.db")), wall=lambda: wall)
    bench.rack = again._rack
    assert bench.e(LIST) == before


def test_a_rack_that_was_killed_forgets_what_its_state_does_not_know(tmp_path: Path) -> None:
    """Where the history is ahead of the state of a cell, what is ahead goes: no counter ever falls without a restart."""
    wall = MORNING
    path = tmp_path / "history.db"
    world = RackWorld.create(
        "t1", {"cells": 2}, history=MetricStore(str(path)), wall=lambda: wall, today=lambda: MORNING
    )
    world.start_load(db="SPOT", redo=None, seconds=7200, profile="mixed")
    wall += 1800 / 60
    parts = world.to_state()
    wall += 1800 / 60
    world.advance()
    world._rack.history.close()
    again = RackWorld.from_state(parts, history=MetricStore(str(path)), wall=lambda: wall)._rack
    metrics = again.metrics["exa1cel01"]
    assert metrics.collections.last is not None
    assert metrics.collections.last.moment <= again.now()
    wall += 1800 / 60
    again.advance()
    reads = [c.values["FL_IO_W"] for c in metrics.collections if c.moment > MORNING + 120]
    assert len(reads) > 40
    assert reads == sorted(reads)


def test_a_rack_whose_history_is_gone_goes_on(tmp_path: Path) -> None:
    """Without its history file a rack starts, and has its metrics as they are now."""
    wall = MORNING
    world = RackWorld.create(
        "t1", {"cells": 2}, history=MetricStore(str(tmp_path / "a.db")), wall=lambda: wall, today=lambda: MORNING
    )
    parts = world.to_state()
    again = RackWorld.from_state(parts, history=MetricStore(str(tmp_path / "b.db")), wall=lambda: wall)
    bench = Bench(cells=2)
    bench.rack = again._rack
    assert bench.metric("FC_BY_USED") > 0


def test_a_state_of_an_older_exacell_brings_its_history(tmp_path: Path) -> None:
    """Collections that a state still holds go into the file, and are not held twice."""
    old = Bench(cells=2)
    old.rack.start_load(seconds=600)
    old.pass_time(900)
    parts = RackWorld(old.rack, _clusters(old)).to_state()
    assert parts["cell-exa1cel01"]["metrics"]["collections"]  # type: ignore[index, call-overload]
    new = RackWorld.from_state(parts, history=MetricStore(str(tmp_path / "history.db")), wall=lambda: old.wall)
    assert list(new._rack.metrics["exa1cel01"].collections) == list(old.rack.metrics["exa1cel01"].collections)
    assert "collections" not in new.to_state()["cell-exa1cel01"]["metrics"]  # type: ignore[operator]


def _clusters(bench: Bench) -> AsmClusters:
    return AsmClusters.default(bench.rack)
