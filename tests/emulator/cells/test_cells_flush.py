"""The flash cache: flush, drop, create, mode, and what counts as clean."""

from __future__ import annotations

import pytest
from cells_bench import Bench

NAME = "exa1cel01_FLASHCACHE"


def _status(bench: Bench) -> str:
    return bench.one("list flashcache attributes status")


def _flush_states(bench: Bench) -> set[str]:
    return {row[1] for row in bench.values("list celldisk attributes name,flushstatus where disktype=flashdisk")}


def test_a_flush_goes_through_its_states(bench: Bench) -> None:
    """NOWAIT answers at once; flushing becomes flushed when every disk is complete; CANCEL FLUSH makes it normal."""
    assert _flush_states(bench) == {""}
    assert bench.e("alter flashcache all flush nowait") == f"Flash cache {NAME} altered successfully\n"
    assert not bench.pauses
    assert _status(bench) == "normal - flushing"
    bench.pass_time(60)
    assert _flush_states(bench) == {"working"}
    bench.pass_time(300)
    assert _status(bench) == "normal - flushed"
    assert _flush_states(bench) == {"complete"}
    assert bench.e("alter flashcache all cancel flush") == f"Flash cache {NAME} altered successfully\n"
    assert _status(bench) == "normal"
    assert _flush_states(bench) == {""}


def test_disks_complete_one_after_the_other(bench: Bench) -> None:
    """Each flash disk has its own dirty data, so some are complete while others still work."""
    bench.e("alter flashcache all flush nowait")
    seen = set()
    for _ in range(300):
        bench.pass_time(1)
        seen.add(frozenset(_flush_states(bench)))
        if _status(bench) == "normal - flushed":
            break
    assert frozenset(("working", "complete")) in seen


def test_a_flush_without_nowait_blocks_until_it_is_done(bench: Bench) -> None:
    """The statement answers only when nothing is left; the first flush takes one to five seconds at speed 60."""
    before = bench.wall
    bench.flush()
    assert 1 < bench.wall - before < 5
    assert _status(bench) == "normal - flushed"


def test_dirty_data_falls_steadily_and_metrics_follow_by_the_minute(bench: Bench) -> None:
    """FC_BY_DIRTY changes on whole minutes only, never rises during a flush, and ends at 0 as FC_BY_USED does."""
    first = bench.metric("FC_BY_DIRTY")
    assert first > 4096
    bench.e("alter flashcache all flush nowait")
    assert bench.metric("FC_BY_DIRTY") == first
    readings = []
    for _ in range(8):
        bench.pass_time(60)
        readings.append(bench.metric("FC_BY_DIRTY"))
    assert readings == sorted(readings, reverse=True) and readings[-1] == 0
    assert readings[0] < first
    assert bench.metric("FC_BY_USED") == 0


def test_a_flush_does_not_depend_on_being_watched() -> None:
    """Looking often or once gives the same dirty data at the same time."""
    watched, alone = Bench(), Bench()
    for one in (watched, alone):
        one.e("alter flashcache all flush nowait")
    for _ in range(100):
        watched.pass_time(0.6)
    alone.pass_time(60)
    assert watched.cell.flash_cache is not None and alone.cell.flash_cache is not None
    assert abs(watched.cell.flash_cache.dirty_bytes - alone.cell.flash_cache.dirty_bytes) < 4096


def test_flushing_again_changes_nothing(bench: Bench) -> None:
    """A second FLUSH neither restarts nor slows the first."""
    bench.e("alter flashcache all flush nowait")
    bench.pass_time(60)
    assert bench.cell.flash_cache is not None
    dirty = bench.cell.flash_cache.dirty_bytes
    bench.e("alter flashcache all flush nowait")
    assert bench.cell.flash_cache.dirty_bytes == dirty
    bench.pass_time(300)
    assert _status(bench) == "normal - flushed"


def test_cancel_in_the_middle_keeps_what_is_left(bench: Bench) -> None:
    """CANCEL FLUSH stops destaging: the rest stays dirty, and the counters begin anew."""
    bench.e("alter flashcache all flush nowait")
    bench.pass_time(60)
    bench.e("alter flashcache all cancel flush")
    assert bench.cell.flash_cache is not None
    left = bench.cell.flash_cache.dirty_bytes
    bench.pass_time(600)
    assert bench.cell.flash_cache.dirty_bytes == left > 0
    assert bench.metric("FC_IO_RQ_R") == 0


def test_counters_of_the_cache_begin_anew_after_a_flush(bench: Bench) -> None:
    """FC_* counters restart when caching resumes; FL_* counters go on."""
    assert bench.metric("FC_IO_RQ_R") > 0
    redo = bench.metric("FL_RQ_W")
    bench.flush()
    bench.e("alter flashcache all cancel flush")
    bench.pass_time(60)
    assert bench.metric("FC_IO_RQ_R") == 0
    assert bench.metric("FL_RQ_W") == redo > 0


def test_drop_needs_a_flush_in_force(bench: Bench) -> None:
    """A write-back cache cannot be dropped dirty, while flushing, or after CANCEL FLUSH; only while it is flushed."""
    refused = f"CELL-02912: Flash cache {NAME} is in WriteBack mode and is not flushed"
    assert bench.e("drop flashcache").startswith(refused)
    bench.e("alter flashcache all flush nowait")
    assert bench.e("drop flashcache").startswith(refused)
    bench.pass_time(400)
    bench.e("alter flashcache all cancel flush")
    assert bench.e("drop flashcache").startswith(refused)
    bench.flush()
    assert bench.e("drop flashcache all") == f"Flash cache {NAME} successfully dropped\n"
    assert bench.cell.lost_dirty_bytes == 0
    assert bench.e("list flashcache") == ""


def test_an_unguarded_cell_loses_what_is_dirty(bench: Bench) -> None:
    """With the guard off DROP goes through, and the lost bytes are counted."""
    assert bench.cell.flash_cache is not None
    dirty = bench.cell.flash_cache.dirty_bytes
    bench.cell.unguarded = True
    assert "successfully dropped" in bench.e("drop flashcache")
    assert bench.cell.lost_dirty_bytes == dirty > 0


def test_stuck_data_keeps_a_flush_from_ending(bench: Bench) -> None:
    """Dirty data without a reachable grid disk stays: stale dirty, a flushError, and no flushed status."""
    assert bench.cell.flash_cache is not None
    member = bench.cell.flash_cache.members["FD_03_exa1cel01"]
    member.stuck_bytes = member.dirty_bytes // 2
    bench.e("alter flashcache all flush nowait")
    bench.pass_time(3600)
    assert _status(bench) == "normal - flushing"
    row = bench.values("list celldisk attributes name,flushstatus,flusherror where name like 'FD_03.*'")
    assert row == [["FD_03_exa1cel01", "working", '"Stale dirty data cannot be flushed"']]
    assert bench.metric("FC_BY_STALE_DIRTY") == bench.metric("FC_BY_DIRTY") > 0


def test_write_through_is_clean_and_can_go() -> None:
    """A write-through rack has nothing dirty, caches nothing by name, and drops without a flush."""
    bench = Bench(mode="writethrough")
    assert bench.one("list cell attributes flashcachemode") == "WriteThrough"
    assert bench.metric("FC_BY_DIRTY") == 0
    assert bench.values("list griddisk attributes cachedBy where cachedBy != null") == []
    assert "successfully dropped" in bench.e("drop flashcache")


def test_the_mode_changes_only_without_a_cache(bench: Bench) -> None:
    """flashCacheMode is refused while a cache exists, and works after the drop, in any spelling."""
    assert bench.e("alter cell flashCacheMode=writethrough").startswith("CELL-02911")
    assert "successfully altered" in bench.e("alter cell flashCacheMode=WRITEBACK")
    bench.flush()
    bench.e("drop flashcache")
    assert bench.e("alter cell flashcachemode=WriteThrough") == "Cell exa1cel01 successfully altered\n"
    assert bench.e("create flashcache all") == f"Flash cache {NAME} successfully created\n"
    assert bench.one("list cell attributes flashcachemode") == "WriteThrough"
    assert bench.e("alter cell flashcachemode=fast").startswith("CELL-02917")


def test_create_twice_is_refused(bench: Bench) -> None:
    """There is one cache and one log a cell."""
    assert bench.e("create flashcache all").startswith("CELL-02901")
    assert bench.e("create flashlog all").startswith("CELL-02903")
    bench.flush()
    bench.e("drop flashcache; drop flashlog")
    assert bench.e("drop flashcache").startswith("CELL-02902")
    assert bench.e("drop flashlog").startswith("CELL-02904")


def test_a_part_of_the_cache_can_be_flushed(bench: Bench) -> None:
    """FLUSH of one cell disk empties that one; the cache as a whole is not flushed."""
    bench.e("alter flashcache celldisk='FD_02_exa1cel01' flush")
    assert bench.values("list celldisk attributes name where flushstatus = complete") == [["FD_02_exa1cel01"]]
    assert _status(bench) == "normal"
    assert bench.e("drop flashcache").startswith("CELL-02912")


def test_resize_in_place_keeps_the_guard(bench: Bench) -> None:
    """ALTER FLASHCACHE size= is a drop and a create: refused unless flushed, and nothing changes when it fails."""
    assert bench.e("alter flashcache all size=288g").startswith("CELL-02912")
    bench.flush()
    assert bench.e("alter flashcache all size=9t").startswith("CELL-02909")
    assert bench.values("list flashcache attributes size,status") == [["364.75G", "normal - flushed"]]
    assert bench.e("alter flashcache all size=288g") == f"Flash cache {NAME} altered successfully\n"
    assert bench.values("list flashcache attributes size,status") == [["288G", "normal"]]


def test_grid_disks_are_flushed_out_of_the_cache(bench: Bench) -> None:
    """ALTER GRIDDISK FLUSH takes that grid disk's share of the dirty data and leaves the others'."""
    before = bench.metric("FC_BY_DIRTY")
    bench.e("alter griddisk DATA_CD_00_exa1cel01 flush nowait")
    bench.pass_time(60)
    assert bench.metric("FC_BY_DIRTY") == pytest.approx(before * 11 / 12, rel=1e-3)
    rows = bench.values("list metriccurrent gd_by_fc_dirty where metricObjectName = DATA_CD_00_exa1cel01")
    assert rows[0][2] == "0.000 MB"


def test_a_restart_of_cellsrv_ends_a_flush(bench: Bench) -> None:
    """After CELLSRV restarts data is cached again: the flush is no longer in force, so it proves nothing."""
    bench.flush()
    bench.e("alter cell restart services cellsrv")
    assert _status(bench) == "normal"
    assert bench.e("drop flashcache").startswith("CELL-02912")
