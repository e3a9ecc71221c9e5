"""Caches and logs in memory: PMEM on X8M, XRMEM from 23.1 on, and the order in which write-back caches are emptied."""

from __future__ import annotations

import pytest
from cells_bench import Bench

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.clock import RackClock
from exacell.emulator.rack.rack import Rack

UNIT = 16 << 20


def _write_back() -> Bench:
    return Bench(model="x8m", release="22.1", pmem="writeback")


def _load(bench: Bench, seconds: float = 180) -> None:
    load = bench.rack.start_load(db="SPOT", redo=3000, seconds=seconds, profile="oltp")
    bench.pass_time(load.end - bench.rack.clock.now() + 0.001)


@pytest.mark.parametrize(
    ("release", "memory", "cache", "log"),
    [
        ("19.3", "PMEM", "1.474365234375T", "960M"),
        ("22.1", "PMEM", "1.465576171875T", "9.9375G"),
        ("24.1", "XRMEM", "1.465576171875T", "9.9375G"),
    ],
)
def test_a_new_cell_has_cache_and_log_on_persistent_memory(release: str, memory: str, cache: str, log: str) -> None:
    """Twelve PMEM cell disks hold a log of the release's default size and a cache that takes the rest."""
    bench = Bench(model="x8m", release=release)
    assert bench.values(f"list {memory}cache") == [[f"exa1cel01_{memory}CACHE", "normal"]]
    assert bench.one(f"list {memory}cache attributes size") == cache
    assert bench.one(f"list {memory}log attributes effectiveSize") == log
    disks = bench.values("list celldisk attributes name, freeSpace, size where diskType=PMEM")
    assert disks == [[f"PM_{n:02d}_exa1cel01", "0", "125.984375G"] for n in range(12)]
    assert len(bench.values("list lun where diskType=pmem")) == len(
        bench.values("list physicaldisk where diskType=pmem")
    )
    assert bench.values("list griddisk where diskType=pmem") == []


def test_both_names_mean_the_same_cache_from_23_1_on() -> None:
    """On X8M with 23.1 and later PMEMCACHE and XRMEMCACHE are the same object; before there is no XRMEMCACHE."""
    bench = Bench(model="x8m", release="24.1")
    assert bench.e("list pmemcache detail") == bench.e("list xrmemcache detail")
    assert bench.e("list pmemlog detail") == bench.e("list xrmemlog detail")
    assert "status:" in bench.e("list xrmemcache detail")
    assert bench.e("drop xrmemcache") == "Xrmem cache exa1cel01_XRMEMCACHE successfully dropped\n"
    assert bench.e("create pmemcache all") == "Xrmem cache exa1cel01_XRMEMCACHE successfully created\n"
    assert "CELL-02907" in bench.e("alter cell pmemCacheMode=writeback")
    assert "CELL-01504" in Bench(model="x8m").e("list xrmemcache")


def test_other_hardware_has_none(bench: Bench) -> None:
    """Without persistent memory nothing is listed, and nothing can be created."""
    for statement in ("list pmemcache", "list pmemlog", "list celldisk where diskType=pmem"):
        assert bench.e(statement) == ""
    for statement in ("create pmemcache all", "create pmemlog all size=1G", "alter cell pmemCacheMode=writeback"):
        assert bench.e(statement).splitlines()[-1].startswith("CELL-02940:")
    with pytest.raises(EmulatorError, match="pmem=writeback is not possible on model x2"):
        Bench(pmem="writeback")
    with pytest.raises(EmulatorError, match="pmem=writeback needs mode=writeback"):
        Bench(model="x8m", pmem="writeback", mode="writethrough")


def test_the_cache_in_dram_configures_itself() -> None:
    """On X10M XRMEMCACHE takes no arguments, has three attributes, can't be altered, and is back after CELLSRV starts."""
    bench = Bench(model="x10m")
    assert bench.values("list xrmemcache") == [["exa1cel01_XRMEMCACHE"]]
    assert [line.split(":")[0].strip() for line in bench.e("list xrmemcache detail").splitlines()] == [
        "name",
        "creationTime",
        "effectiveCacheSize",
    ]
    assert "CELL-02940" in bench.e("alter xrmemcache all flush")
    assert "CELL-01504" in bench.e("create xrmemcache all")
    assert "successfully dropped" in bench.e("drop xrmemcache")
    assert bench.e("list xrmemcache") == "" == bench.e("list xrmemlog")
    bench.e("alter cell restart services cellsrv ignore redundancy")
    assert bench.values("list xrmemcache") == [["exa1cel01_XRMEMCACHE"]]
    bench.pass_time(120)
    assert bench.metric("XRM_BY_ALLOCATED") == 0
    _load(bench)
    assert bench.metric("XRM_BY_ALLOCATED") > 0 < bench.metric("EXW_XRM_IO_RQ_R")


def test_pmem_first() -> None:
    """To leave write-back everything is refused until PMEM is flushed, dropped and write-through; then flash follows."""
    bench = _write_back()
    for statement, code in (
        ("drop pmemcache", "CELL-02912"),
        ("alter cell pmemCacheMode=writethrough", "CELL-02941"),
        ("drop flashcache", "CELL-02943"),
        ("alter flashcache all size=1T", "CELL-02943"),
    ):
        assert code in bench.e(statement)
    assert "PM_00" in bench.one("list griddisk DATA_CD_00_exa1cel01 attributes cachedBy")
    assert bench.e("alter pmemcache all flush") == "Pmem cache exa1cel01_PMEMCACHE altered successfully\n"
    assert bench.values("list pmemcache") == [["exa1cel01_PMEMCACHE", "normal - flushed"]]
    states = bench.values("list celldisk attributes flushStatus, flushError where diskType=pmem")
    assert states == [["complete", ""]] * 12
    assert "PM_" not in bench.one("list griddisk DATA_CD_00_exa1cel01 attributes cachedBy")
    for statement in ("drop pmemcache", "alter flashcache all flush", "drop flashcache"):
        assert "successfully" in bench.e(statement)
    assert "CELL-02942" in bench.e("alter cell flashCacheMode=writethrough")
    for statement in (
        "alter cell pmemCacheMode=writethrough",
        "alter cell flashCacheMode=writethrough",
        "create flashcache all",
        "create pmemcache all",
    ):
        assert "successfully" in bench.e(statement)
    assert "CELL-02941" in bench.e("alter cell pmemCacheMode=writeback")
    bench.e("drop pmemcache")
    assert "CELL-02942" in bench.e("alter cell pmemCacheMode=writeback")
    assert bench.cell.lost_dirty_bytes == 0
    assert bench.values("list cell attributes flashCacheMode, pmemCacheMode") == [["WriteThrough", "WriteThrough"]]


def test_a_flush_of_flash_waits_for_pmem() -> None:
    """While dirty data can come down from PMEM the flash cache stays flushing; it ends after PMEM is flushed too."""
    bench = _write_back()
    bench.e("alter flashcache all flush nowait")
    bench.pass_time(7200)
    assert bench.values("list flashcache attributes status") == [["normal - flushing"]]
    assert bench.metric("FC_BY_DIRTY") > 0
    assert set(bench.values("list celldisk attributes flushStatus where diskType=flashdisk")[0]) == {"working"}
    bench.e("alter pmemcache all flush")
    bench.pass_time(120)
    assert bench.values("list flashcache attributes status") == [["normal - flushed"]]
    assert bench.metric("FC_BY_DIRTY") == 0


def test_what_pmem_gives_up_is_dirty_in_flash() -> None:
    """A flush of PMEM makes nothing clean: what it held is dirty in the flash cache afterwards, to the byte or on disk."""
    bench = _write_back()
    cell = bench.cell
    assert cell.pmem_cache is not None and cell.flash_cache is not None
    before, waiting = cell.flash_cache.dirty_bytes, cell.pmem_cache.dirty_bytes
    assert waiting > 0
    bench.e("alter pmemcache all flush")
    assert cell.pmem_cache.dirty_bytes == 0
    assert before < cell.flash_cache.dirty_bytes <= before + waiting
    assert cell.flash_cache.dirty_bytes > before + waiting * 0.99


def test_writes_stay_in_pmem_until_they_are_flushed() -> None:
    """In write-back mode new dirty data is PMEM's; in write-through mode, or while PMEM is flushed, the flash cache's."""
    for bench, theirs in ((_write_back(), True), (Bench(model="x8m", release="22.1"), False)):
        cell = bench.cell
        assert cell.pmem_cache is not None and cell.flash_cache is not None
        memory, flash = cell.pmem_cache.dirty_bytes, cell.flash_cache.dirty_bytes
        _load(bench)
        assert (cell.pmem_cache.dirty_bytes > memory) == theirs
        assert (cell.flash_cache.dirty_bytes > flash) != theirs
    bench = _write_back()
    bench.e("alter pmemcache all flush")
    _load(bench)
    assert bench.cell.pmem_cache is not None and bench.cell.pmem_cache.used_bytes == 0
    bench.e("alter pmemcache all cancel flush")
    _load(bench)
    assert bench.cell.pmem_cache.dirty_bytes > 0


@pytest.mark.parametrize("attribute", ["pmemcache", "pmemlog"])
def test_a_plan_can_keep_a_database_out(attribute: str) -> None:
    """pmemcache=off keeps a database's data out of PMEM; pmemlog=off does not touch the cache."""
    bench = Bench(model="x8m", release="22.1")
    for host in bench.rack.cells:
        assert "successfully" in bench.e(f"alter iormplan dbplan=((name=SPOT,{attribute}=off))", cell=host)
    before = bench.metric("PC_BY_ALLOCATED")
    _load(bench)
    assert (bench.metric("PC_BY_ALLOCATED") > before) == (attribute == "pmemlog")


def test_restart_ends_the_flush_and_keeps_the_data() -> None:
    """A restart of CELLSRV ends a flush of PMEM; what is dirty there survives it, as it survives a stored rack."""
    bench = _write_back()
    bench.e("alter pmemcache all flush nowait")
    bench.e("alter cell restart services cellsrv ignore redundancy")
    cell = bench.cell
    assert cell.pmem_cache is not None
    assert bench.values("list pmemcache attributes status") == [["normal"]]
    dirty = cell.pmem_cache.dirty_bytes
    assert dirty > 0
    state = bench.rack.to_state()
    clock = RackClock(speed=60, wall=lambda: bench.wall, rack_start=bench.rack.clock.now())
    again = Rack.from_state(state, clock).cells["exa1cel01"]
    assert again.pmem_cache == cell.pmem_cache and again.pmem_log == cell.pmem_log and again.pmem_write_back


def test_space_of_pmem() -> None:
    """Log and cache take whole units of their disks, sizes are over all disks, and the rest is free."""
    bench = Bench(model="x8m")
    bench.e("drop pmemcache; drop pmemlog")
    assert bench.e("create pmemlog all size=1G") == "Pmem log exa1cel01_PMEMLOG successfully created\n"
    assert bench.one("list pmemlog attributes size") == "960M"
    statement = "create pmemcache celldisk='PM_01_exa1cel01,PM_02_exa1cel01', size=64G"
    assert "successfully created" in bench.e(statement)
    assert bench.one("list pmemcache attributes size") == "64G"
    free = dict(bench.values("list celldisk attributes name, freeSpace where diskType=pmem"))
    assert free["PM_01_exa1cel01"] == "93.8125G" and free["PM_03_exa1cel01"] == "125.8125G"
    assert "CELL-02927" in bench.e("create pmemcache all")
    assert "CELL-02932" in bench.e("drop celldisk PM_01_exa1cel01")
    assert "CELL-02917" in bench.e("create griddisk g celldisk=PM_03_exa1cel01, size=1G")
    assert "CELL-01504" in bench.e("alter pmemcache all size=1G")
    assert "successfully" in bench.e("alter pmemcache celldisk='PM_05_exa1cel01' force")
    assert bench.one("list pmemcache attributes size") == "125.8125G"
    for cache in bench.cell.caches:
        assert all(member.size_bytes % UNIT == 0 for member in cache.members.values())
