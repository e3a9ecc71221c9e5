"""LIST FLASHCACHECONTENT: sizes, hits and misses of objects. Source: reference cellcli.md 3.3 and 4.2; on-line DESCRIBE."""

from __future__ import annotations

import pytest
from cells_bench import Bench

COLUMNS = "dbUniqueName, objectNumber, cachedSize, cachedWriteSize, cachedKeepSize, hitCount, missCount"


def _content(bench: Bench) -> dict[tuple[str, str], list[int]]:
    rows = bench.values(f"list flashcachecontent attributes {COLUMNS}")
    return {(row[0], row[1]): [int(number) for number in row[2:]] for row in rows}


def _sum(bench: Bench, index: int) -> int:
    return sum(numbers[index] for numbers in _content(bench).values())


def _agrees(bench: Bench) -> None:
    """Rounding takes less than one read from each of eight objects of each database."""
    for index, names in ((3, ("FC_IO_RQ_R", "FC_IO_RQ_R_DW")), (4, ("FC_IO_RQ_R_MISS", "FC_IO_RQ_R_MISS_DW"))):
        counted = sum(bench.metric(name) for name in names)
        assert counted - 16 <= _sum(bench, index) <= counted


@pytest.mark.parametrize("profile", ["oltp", "dw", "mixed", "batch", "redo"])
def test_reads_of_objects_are_those_of_the_cache(profile: str) -> None:
    """Hits and misses of all objects add up to the FC_ metrics of the cell, and depend on what the load reads."""
    bench = Bench(seed=7)
    bench.e("alter iormplan dbplan=''")
    before = _content(bench)
    bench.rack.start_load(seconds=300, profile=profile, db="ERP")
    bench.pass_time(420)
    _agrees(bench)
    after = _content(bench)
    assert set(before) == set(after)
    for key, numbers in before.items():
        grown = [new - old for old, new in zip(numbers[3:], after[key][3:], strict=True)]
        assert min(grown) > 0 if key[0] == "ERP" else grown == [0, 0], (key, grown)


def test_counts_never_fall_and_bigger_objects_are_read_more() -> None:
    """Minute by minute no object loses hits or misses; the order of hits is that of sizes."""
    bench = Bench()
    bench.rack.start_load(seconds=600, profile="mixed")
    last = _content(bench)
    for _minute in range(11):
        bench.pass_time(60)
        now = _content(bench)
        assert all(now[key][i] >= numbers[i] for key, numbers in last.items() for i in (3, 4))
        assert [n[3] for n in now.values()] == sorted((n[3] for n in now.values()), reverse=True)
        last = now
    _agrees(bench)


def test_counts_begin_anew_with_the_cache() -> None:
    """After a flush and CANCEL FLUSH, after DROP and CREATE, and after a start of CELLSRV nothing has been read yet."""
    for statements in (
        ("alter flashcache all cancel flush",),
        ("drop flashcache", "create flashcache all"),
        ("alter cell restart services cellsrv",),
    ):
        bench = Bench()
        bench.flush()
        for statement in statements:
            bench.e(statement)
        assert bench.e("list flashcachecontent") == ""
        bench.rack.start_load(seconds=60, profile="oltp")
        bench.pass_time(180)
        assert 0 < _sum(bench, 3) + _sum(bench, 4) < 3_000_000
        _agrees(bench)


def test_sizes_of_objects_fit_into_the_cache() -> None:
    """Cached bytes are whole blocks within what is used, dirty ones within what is dirty; other databases have none."""
    bench = Bench()
    assert bench.cell.flash_cache is not None
    cached, dirty = _sum(bench, 0), _sum(bench, 1)
    assert 0.999 < cached / bench.cell.flash_cache.used_bytes <= 1 and dirty <= bench.cell.flash_cache.dirty_bytes
    assert {name for name, _number in _content(bench)} == {"SPOT"}
    assert all(size % 8192 == 0 for numbers in _content(bench).values() for size in numbers[:3])


def test_kept_data_shows() -> None:
    """cachedKeepSize is the part of an object that its database wants to keep."""
    bench = Bench()
    bench.rack.cache_clauses["SPOT"] = (0.25, 0.0)
    for numbers in _content(bench).values():
        assert 0 < numbers[2] <= numbers[0] // 4


def test_memory_has_content_too() -> None:
    """XRMEMCACHECONTENT of a cell with DRAM has objects with hits that follow the reads of the cache in memory."""
    bench = Bench(model="x10m", release="24.1")
    bench.rack.start_load(seconds=300, profile="oltp")
    bench.pass_time(420)
    rows = bench.values("list xrmemcachecontent attributes dbUniqueName, cachedSize, hitCount, missCount")
    assert {row[0] for row in rows} == {"SPOT", "ERP"}
    hits, counted = sum(int(row[2]) for row in rows), bench.rack.metrics["exa1cel01"].counters["EXW_XRM_IO_RQ_R"]
    assert counted - 18 <= hits <= counted
