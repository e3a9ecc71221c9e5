"""Snapshots on disk and what two of them mean."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from exacell.measure.delta import CellDelta, delta
from exacell.measure.snapshot import CellCounters, Snapshot, from_json, to_json
from exacell.session.saved import SavedPlan
from exacell.session.store import Store, StoreError

LOG = ("FL_DISK_FIRST", "FL_FLASH_FIRST", "FL_PREVENTED_OUTLIERS", "FL_RQ_W")

TEXT = st.text(max_size=6)
COUNTERS = st.builds(
    CellCounters,
    collected=st.integers(min_value=0, max_value=1 << 45),
    values=st.dictionaries(TEXT, st.floats(allow_nan=False, allow_infinity=False), max_size=4),
    passport=st.dictionaries(TEXT, TEXT, max_size=3),
    started=st.integers(min_value=0, max_value=1 << 45),
    marks=st.dictionaries(TEXT, st.floats(allow_nan=False, allow_infinity=False), max_size=2),
)
SNAPSHOTS = st.builds(
    Snapshot,
    rack=TEXT,
    name=TEXT,
    kind=TEXT,
    taken=TEXT,
    began=TEXT,
    cells=st.dictionaries(TEXT, COUNTERS, max_size=3),
)


@given(SNAPSHOTS)
def test_a_snapshot_survives_json(snapshot: Snapshot) -> None:
    """A snapshot read back is the one that was written, to the last digit."""
    assert from_json(json.loads(to_json(snapshot))) == snapshot


def test_a_snapshot_of_an_older_version_can_be_read() -> None:
    """A snapshot that was kept before it told of CELLSRV's start is read, with nothing known of that."""
    old = {
        "rack": "t1", "name": "a", "kind": "flashlog", "taken": "2026-01-01",
        "cells": {"c1": {"collected": 5, "values": {"FL_RQ_W": 1.0}, "passport": {"release": "19.3"}}},
    }  # fmt: skip
    read = from_json(old)
    assert (read.began, read.cells["c1"].started, read.cells["c1"].marks) == ("", 0, {})


def counters(minute: int = 0, *, created: str = "then", **values: float) -> CellCounters:
    return CellCounters(collected=minute * 60_000, values=values, passport={"created": created})


def snapshot(name: str = "a", kind: str = "flashlog", *, taken: str = "2026-01-01", **cells: CellCounters) -> Snapshot:
    return Snapshot(rack="t1", name=name, kind=kind, taken=taken, cells=cells)


def between(
    before: dict[str, CellCounters], after: dict[str, CellCounters], kind: str = "flashlog"
) -> dict[str | None, CellDelta]:
    found = delta(snapshot(kind=kind, **before), snapshot(kind=kind, **after), LOG)
    assert found[-1].cell is None
    return {row.cell: row for row in found}


def test_delta_of_cells_and_rack() -> None:
    """Cells are subtracted one by one; the rack is the sum of the cells, its percentage of the sums, never averaged."""
    found = between(
        {
            "c1": counters(1, FL_DISK_FIRST=100, FL_FLASH_FIRST=50, FL_PREVENTED_OUTLIERS=1),
            "c2": counters(7, FL_DISK_FIRST=0, FL_FLASH_FIRST=0, FL_PREVENTED_OUTLIERS=0),
        },
        {
            "c1": counters(2, FL_DISK_FIRST=110, FL_FLASH_FIRST=140, FL_PREVENTED_OUTLIERS=4),
            "c2": counters(9, FL_DISK_FIRST=300, FL_FLASH_FIRST=100, FL_PREVENTED_OUTLIERS=0),
        },
    )
    assert found["c1"].values == {"FL_DISK_FIRST": 10, "FL_FLASH_FIRST": 90, "FL_PREVENTED_OUTLIERS": 3}
    assert found["c1"].figures["flashWinPercent"] == 90.0
    assert found["c1"].seconds == 60.0
    assert found["c2"].figures["flashWinPercent"] == 25.0
    rack = found[None]
    assert rack.values == {"FL_DISK_FIRST": 310, "FL_FLASH_FIRST": 190, "FL_PREVENTED_OUTLIERS": 3}
    assert rack.figures["flashWinPercent"] == 38.0
    assert rack.figures["preventedOutliers"] == 3
    assert rack.figures["redoWrites"] is None
    assert rack.seconds == 120.0


INVALID = [
    (
        "fell",
        counters(1, FL_DISK_FIRST=1000),
        counters(2, FL_DISK_FIRST=10),
        "FL_DISK_FIRST fell from 1,000 to 10: the counters restarted",
    ),
    (
        "one fell",
        counters(1, FL_DISK_FIRST=1, FL_RQ_W=5),
        counters(2, FL_DISK_FIRST=2, FL_RQ_W=4),
        "FL_RQ_W fell from 5 to 4",
    ),
    ("same", counters(1), counters(1), "both snapshots hold the same collection"),
    ("older", counters(2), counters(1), "the second is older"),
    ("anew", counters(1, FL_RQ_W=1), counters(2, created="now", FL_RQ_W=9), "created anew in between"),
    ("new cell", None, counters(2), "missing in the first snapshot"),
    ("lost cell", counters(1), None, "missing in the second snapshot"),
]


@pytest.mark.parametrize(("before", "after", "why"), [i[1:] for i in INVALID], ids=[i[0] for i in INVALID])
def test_no_difference(before: CellCounters | None, after: CellCounters | None, why: str) -> None:
    """Counters that restarted, a missing cell or no new collection are gaps: no difference, and none for the rack."""
    good = {"c1": counters(1, FL_DISK_FIRST=0)}, {"c1": counters(2, FL_DISK_FIRST=5)}
    found = between({**good[0], **({"c2": before} if before else {})}, {**good[1], **({"c2": after} if after else {})})
    assert why in found["c2"].invalid
    assert found["c2"].values == {}
    assert found["c2"].figures == {}
    assert found["c1"].values == {"FL_DISK_FIRST": 5}
    assert found[None].invalid == "no figure for the rack: c2"
    assert found[None].measured is None and found["c1"].measured
    assert found[None].values == {}


def test_a_void_cell_has_no_figure_however_large_its_counters() -> None:
    """A cell whose counters are known to have begun anew has no difference, nor has the rack, though nothing fell."""
    cells = {"c1": counters(1, FL_DISK_FIRST=10), "c2": counters(1, FL_DISK_FIRST=10)}
    later = {"c1": counters(2, FL_DISK_FIRST=20), "c2": counters(2, FL_DISK_FIRST=2_040_000)}
    found = delta(snapshot(**cells), snapshot(**later), LOG, {"c2": "change 6 flushed in between"})
    assert [(row.cell, row.invalid) for row in found] == [
        ("c1", ""), ("c2", "change 6 flushed in between"), (None, "no figure for the rack: c2"),
    ]  # fmt: skip
    assert not found[1].values and not found[1].figures and not found[2].values


def test_nothing_happened() -> None:
    """No redo at all gives zeros, and no percentage of nothing."""
    same = {"FL_DISK_FIRST": 7.0, "FL_FLASH_FIRST": 3.0}
    found = between({"c1": counters(1, **same)}, {"c1": counters(2, **same)})
    assert found["c1"].values == {"FL_DISK_FIRST": 0, "FL_FLASH_FIRST": 0}
    assert found["c1"].figures["flashWinPercent"] is None


def test_no_cells() -> None:
    """Two empty snapshots have no figure."""
    assert between({}, {})[None].invalid == "no figure for the rack: no cell"


def test_only_counters_that_both_hold_and_that_count() -> None:
    """Metrics that are no counters, or that one snapshot lacks, are left out; the rack has what all cells have."""
    found = between(
        {"c1": counters(1, FL_RQ_W=1, FL_DISK_FIRST=1, OTHER=1), "c2": counters(1, FL_RQ_W=1)},
        {"c1": counters(2, FL_RQ_W=3, FL_DISK_FIRST=2, OTHER=9), "c2": counters(2, FL_RQ_W=2, FL_DISK_FIRST=4)},
    )
    assert found["c1"].values == {"FL_DISK_FIRST": 1, "FL_RQ_W": 2}
    assert found["c2"].values == {"FL_RQ_W": 1}
    assert found[None].values == {"FL_RQ_W": 3}


def test_flash_cache_figures() -> None:
    """Hits and misses give the hit percentage; without the counters there is none."""
    before = snapshot(kind="flashcache", c1=counters(1, FC_IO_RQ_R=0, FC_IO_RQ_R_MISS=0, FC_IO_BY_R=1.5))
    after = snapshot(kind="flashcache", c1=counters(2, FC_IO_RQ_R=30, FC_IO_RQ_R_MISS=10, FC_IO_BY_R=2.25))
    rows = delta(before, after, ["FC_IO_RQ_R", "FC_IO_RQ_R_MISS", "FC_IO_BY_R"])
    assert rows[0].figures["hitPercent"] == 75.0
    assert rows[0].figures["megabytesRead"] == 0.75
    rows = delta(before, after, ["FC_IO_RQ_R"])
    assert rows[0].figures["hitPercent"] is None


# -- the store -------------------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store in a directory that does not exist yet."""
    return Store(tmp_path / "state" / "store.db")


def test_snapshots_are_kept_by_rack_name_and_kind(store: Store) -> None:
    """A snapshot is replaced only by one of the same rack, name and kind."""
    first = snapshot("before", taken="2026-01-02", c1=counters(1, x=1.5))
    assert store.save(first) is False
    assert store.save(snapshot("before", "flashcache", taken="2026-01-01")) is False
    again = snapshot("before", taken="2026-01-03", c1=counters(2))
    assert store.save(again) is True
    assert store.snapshots("t1") == [snapshot("before", "flashcache", taken="2026-01-01"), again]
    assert store.snapshots("t2") == []
    assert store.snapshot_names("t1") == ("before",)


def test_find(store: Store) -> None:
    """A snapshot is found in any case, one a kind; an unknown one names those that there are."""
    store.save(snapshot("Before"))
    store.save(snapshot("before", "flashcache"))
    assert {s.kind for s in store.find("t1", "BEFORE")} == {"flashlog", "flashcache"}
    with pytest.raises(StoreError, match="there is no snapshot after of rack t1; there are: Before, before"):
        store.find("t1", "after")


def test_reading_creates_nothing(tmp_path: Path) -> None:
    """Asking an absent store for snapshots creates no file."""
    assert Store(tmp_path / "no" / "store.db").snapshots("t1") == []
    assert not (tmp_path / "no").exists()


def test_unusable_store(tmp_path: Path) -> None:
    """A store that can't be used says which file and why."""
    (tmp_path / "file").write_text("x" * 2000)
    with pytest.raises(StoreError, match="file can't be used"):
        Store(tmp_path / "file").save(snapshot())
    with pytest.raises(StoreError, match="can't be used"):
        Store(tmp_path / "file" / "store.db").save(snapshot())


def test_a_name_in_another_case_replaces(tmp_path: Path) -> None:
    """Names are found in any case, so a snapshot whose name differs in case alone takes the other's place."""
    store = Store(tmp_path / "store.db")
    assert not store.save(snapshot("Before"))
    assert not store.save(snapshot("before", kind="flashcache"))
    assert store.save(snapshot("BEFORE", taken="2026-01-02"))
    assert [(s.name, s.kind) for s in store.find("t1", "before")] == [("before", "flashcache"), ("BEFORE", "flashlog")]


READERS: list[tuple[str, str, Callable[[Store], object]]] = [
    ("snapshot", "`snap flashlog as=a` replaces it", lambda store: store.find("t1", "a")),
    ("plan", "`plan as=p <statement>` replaces it", lambda store: store.find_plan("t1", "p")),
    ("baseline", "`save baseline as=b` replaces it", lambda store: store.find_baseline("t1", "b")),
    ("iorm", "`save iorm as=i` replaces it", lambda store: store.find_iorm("t1", "i")),
]


BODIES = ("xx", "[]", '{"c1": 5}', "5")


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(("table", "hint", "read"), READERS, ids=[reader[0] for reader in READERS])
def test_what_somebody_edited_is_named(
    tmp_path: Path, table: str, hint: str, read: Callable[[Store], object], body: str
) -> None:
    """It should say which kept thing is damaged and what replaces it, in one line."""
    store = Store(tmp_path / "store.db")
    store.save(replace(snapshot(), rack="t1"))
    plan = SavedPlan(name="p", rack="t1", statement="s", cells=("c1",), facts={}, stages="[]", made="now", flags={})
    store.save_plan(plan)
    store.save_baseline("t1", "b", {})
    store.save_iorm("t1", "i", {})
    read(store)
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute(f"update {table} set body = ?", (body,))
    connection.close()
    with pytest.raises(StoreError, match="is damaged") as caught:
        read(store)
    assert caught.value.hint == hint


def test_a_store_that_is_none_says_what_it_holds(tmp_path: Path) -> None:
    """It should tell that moving the file away costs nothing of the journal."""
    path = tmp_path / "store.db"
    path.write_text("garbage\n" * 100)
    with pytest.raises(StoreError, match="can't be used") as caught:
        Store(path).snapshots("t1")
    assert "not the journal" in caught.value.hint
