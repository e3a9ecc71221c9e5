"""CELL_FLASH_CACHE KEEP, DEFAULT and NONE in the cache of an emulated cell: what each lets in, keeps, and serves."""

from __future__ import annotations

import pytest

from exacell.emulator.io.cache_clauses import served
from exacell.emulator.io.cache_fill import MAX_USED_SHARE
from tests.emulator.cells.cells_bench import Bench

TABLE = 0.08
CLAUSES = {"KEEP": (TABLE, 0.0), "DEFAULT": (0.0, 0.0), "NONE": (0.0, TABLE)}


def hits(bench: Bench, minutes: float) -> float:
    """Let a load read for so long, and return the share of the reads in its last minute that the cache served."""
    load = bench.rack.start_load(db="SPOT", redo=9000, seconds=60 * minutes, profile="redo")
    bench.pass_time(load.end - bench.rack.clock.now() - 59.9)
    before = reads(bench)
    bench.pass_time(60)
    served, missed = (now - then for now, then in zip(reads(bench), before, strict=True))
    return served / (served + missed)


def reads(bench: Bench) -> tuple[float, float]:
    counters = bench.rack.metrics["exa1cel01"].counters
    return counters["FC_IO_RQ_R"], sum(counters.get(name, 0) for name in ("FC_IO_RQ_R_MISS", "FC_IO_RQ_R_SKIP"))


def anew(clause: str, *, size: str = "") -> Bench:
    """Return a rack whose caches were made anew with the table's clause as given."""
    bench = Bench(cells=2)
    bench.rack.cache_clauses["SPOT"] = CLAUSES[clause]
    for cell in ("exa1cel01", "exa1cel02"):
        bench.e("alter flashcache all flush", cell=cell)
        bench.e("drop flashcache", cell=cell)
        bench.e(f"create flashcache all{size}", cell=cell)
    return bench


def full(bench: Bench) -> bool:
    cache = bench.cell.flash_cache
    assert cache is not None
    return cache.used_bytes >= 0.999 * MAX_USED_SHARE * cache.size_bytes


def test_while_the_cache_has_room_keep_is_as_default_and_none_is_read_from_disk() -> None:
    """In a young cache KEEP serves as much as DEFAULT, and with NONE the table's reads are missing."""
    young = {clause: hits(anew(clause), 10) for clause in CLAUSES}
    assert young["KEEP"] == pytest.approx(young["DEFAULT"], abs=0.003)
    assert young["NONE"] == pytest.approx(young["DEFAULT"] * (1 - TABLE), abs=0.02)


def test_in_a_full_cache_a_table_with_keep_is_served_best_and_one_with_none_worst() -> None:
    """The ranking of the posts: a table with KEEP comes to be in a full cache whole, and one with NONE never. What KEEP takes is
    missing for the rest, so that all reads together gain nothing."""
    late = {}
    for clause in CLAUSES:
        bench = anew(clause)
        hits(bench, 120)
        assert full(bench)
        late[clause] = hits(bench, 120)
        if clause == "KEEP":
            now = served(bench.cell, bench.rack.clock.now(), "SPOT", CLAUSES[clause])
            assert now.keep == pytest.approx(0.97, abs=0.001) and now.keep > late[clause] > now.rest
    assert late["DEFAULT"] == pytest.approx(late["KEEP"], abs=0.005)
    assert late["NONE"] == pytest.approx(late["DEFAULT"] * (1 - TABLE), abs=0.03)


def test_what_is_cached_when_none_is_set_stays_until_other_data_takes_its_place() -> None:
    """In a ripe cache NONE changes nothing at first, less and less of the table is served later, and a flush leaves none."""
    bench = Bench(cells=2)
    hits(bench, 60)
    before = hits(bench, 2)
    bench.rack.cache_clauses["SPOT"] = CLAUSES["NONE"]
    assert hits(bench, 2) == pytest.approx(before, abs=0.01)
    cache = bench.cell.flash_cache
    assert cache is not None
    first = cache.apart["SPOT"]["NONE"]
    hits(bench, 60)
    assert 0 < cache.apart["SPOT"]["NONE"] < first
    bench.e("alter flashcache all flush")
    bench.flush()
    bench.e("alter flashcache all cancel flush")
    hits(bench, 2)
    assert cache.apart["SPOT"]["NONE"] == 0


def test_bytes_of_keep_never_exceed_the_cache_or_the_table() -> None:
    """A table with KEEP that is larger than the cache fills it, and no more."""
    bench = anew("KEEP", size=" size=2g")
    hits(bench, 30)
    cache = bench.cell.flash_cache
    assert cache is not None and 0 < cache.apart["SPOT"]["KEEP"] <= MAX_USED_SHARE * cache.size_bytes
