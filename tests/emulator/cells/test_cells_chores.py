"""What caches do besides serving reads and writes, and what they do when something is wrong: replacement, large writes,
columns, other mirrors, overload, lost packets."""

from __future__ import annotations

import pytest
from cells_bench import Bench

from exacell.emulator.faults.effects import end, settle
from exacell.emulator.state.fault_book import Fault, make_fault


def load(bench: Bench, profile: str, *, redo: float | None = None, seconds: float = 60) -> None:
    """Let a load run to its end."""
    started = bench.rack.start_load(profile=profile, redo=redo, seconds=seconds)
    bench.pass_time(started.end - bench.rack.clock.now() + 0.001)


def total(bench: Bench, metric: str) -> float:
    """Return the sum of a metric over its objects on the first cell."""
    text = bench.run("-xml", "-e", f"list metriccurrent {metric} attributes metricValue")
    return sum(float(part.split("<")[0]) for part in text.split("<metricValue>")[1:])


def break_host(bench: Bench, kind: str, host: str = "exa1cel01", **options: object) -> Fault:
    """Inject a fault."""
    fault = make_fault(host, kind, options, is_cell=True, now=bench.rack.clock.now())
    bench.rack.faults.put(fault)
    settle(bench.rack)
    return fault


def test_a_full_cache_replaces_lines_and_an_empty_one_does_not(bench: Bench) -> None:
    """What comes into a full cache takes the place of something; scans find such a place less often than small reads."""
    load(bench, "oltp")
    assert bench.metric("FC_IO_RQ_REPLACEMENT_ATTEMPTED") == 0
    load(bench, "batch", seconds=1200)
    load(bench, "dw", seconds=300)
    failed = {kind: bench.metric(f"FC_IO_RQ_REPLACEMENT_{kind}_FAILED") for kind in ("OLTP", "DW")}
    succeeded = {kind: bench.metric(f"FC_IO_RQ_REPLACEMENT_{kind}_SUCCEEDED") for kind in ("OLTP", "DW")}
    assert 0 < failed["OLTP"] / succeeded["OLTP"] < failed["DW"] / succeeded["DW"]


def test_large_writes_are_absorbed_in_write_back_mode_only() -> None:
    """A write-back cache takes most large writes in, as dirty first writes; else all of them pass it by."""
    back, through = Bench(), Bench(mode="writethrough")
    for bench in (back, through):
        load(bench, "dw", seconds=120)
    assert back.metric("FC_IO_RQ_W_SKIP_LG") > 0
    assert through.metric("FC_IO_RQ_W_SKIP_LG") > 3 * back.metric("FC_IO_RQ_W_SKIP_LG")
    assert back.metric("FC_BY_DIRTY") > 6000 > through.metric("FC_BY_DIRTY") == 0


def test_the_disk_writer_says_why_it_writes() -> None:
    """What the disk writer has written is the sum of its reasons, in requests too."""
    bench = Bench(model="x10m", release="24.1")
    bench.flush()
    bench.e("drop flashcache")
    bench.e("create flashcache all size=64G")
    load(bench, "batch", redo=20_000, seconds=180)
    for what in ("BY", "RQ"):
        parts = [bench.metric(f"EXW_FC_IO_{what}_W_DKWR_{reason}") for reason in ("DSYNC", "LWDSYNC", "AGING")]
        unit = 1024 if what == "BY" else 1
        assert sum(parts) == pytest.approx(bench.metric(f"FC_IO_{what}_W_DISK_WRITER") * unit)
        assert parts[1] > 0


def test_other_mirrors_serve_the_reads_of_a_cell_that_is_away(bench: Bench) -> None:
    """Reads of active secondaries are a part of all reads, and there are none while every cell is up."""
    load(bench, "oltp")
    assert bench.metric("FC_IO_RQ_R_ACTIVE_SECONDARY") == 0
    bench.e("alter cell shutdown services cellsrv ignore redundancy", cell="exa1cel02")
    before = bench.metric("FC_IO_RQ_R")
    load(bench, "oltp")
    assert 0 < bench.metric("FC_IO_RQ_R_ACTIVE_SECONDARY") < 0.5 * (bench.metric("FC_IO_RQ_R") - before)


def test_partners_of_a_cell_with_a_broken_flash_disk_are_asked_for_its_data(bench: Bench) -> None:
    """A flash disk that has failed on one cell makes the others count proxy reads, and that cell none."""
    bench.e("list cell")
    break_host(bench, "flash-disk", "exa1cel02", disk="FD_00")
    load(bench, "oltp")
    assert bench.metric("FC_IO_RQ_R_PROXYREAD") > 0 == bench.metric("FC_IO_RQ_R_PROXYREAD", cell="exa1cel02")


def test_redo_beyond_what_disks_take_bypasses_the_flash_log(bench: Bench) -> None:
    """A load that no disks could take leaves a backlog: BUSY and NO_BUFFER; a usual load has neither."""
    load(bench, "redo", redo=100_000)
    assert bench.metric("FL_IO_W_SKIP_BUSY") == bench.metric("FL_IO_W_SKIP_NO_BUFFER") == 0
    load(bench, "redo", redo=1_000_000)
    assert bench.metric("FL_IO_W_SKIP_BUSY_MIN") > bench.metric("FL_IO_W_SKIP_NO_BUFFER") > 0
    skips = sum(bench.metric(f"FL_IO_W_SKIP_{why}") for why in ("BUSY", "NO_BUFFER"))
    assert bench.metric("FL_RQ_W") == bench.metric("FL_IO_W") + skips


@pytest.mark.parametrize(("model", "release"), [("x2", "19.3"), ("x10m", "24.1")])
def test_a_lossy_network_shows_on_hosts_and_ports(model: str, release: str) -> None:
    """Packets are lost while the fault holds and a load runs, and only then; what is dropped is sent again."""
    bench = Bench(model=model, release=release)
    load(bench, "dw")
    assert total(bench, "N_MB_RESENT") == 0
    fault = break_host(bench, "lossy-network")
    load(bench, "dw")
    assert total(bench, "N_MB_RESENT_SEC") > 0
    assert 0 < total(bench, "N_MB_DROP") + total(bench, "N_MB_RDMA_DROP") <= total(bench, "N_MB_RESENT")
    if model == "x2":
        assert all(int(row[0]) > 0 for row in bench.values("list ibport attributes xmtDiscards"))
        bench.e("alter ibport all reset counters")
        assert bench.values("list ibport attributes xmtDiscards") == [["0"], ["0"]]
    else:
        assert total(bench, "EXW_ROCE_NP_CNP_SENT") > 0 < total(bench, "EXW_RDS_CONG_SEND_BLOCKED")
    end(bench.rack, fault)
    bench.rack.faults.remove(fault)
    load(bench, "dw")
    assert total(bench, "N_MB_RESENT_SEC") == 0


def test_sparse_grid_disks_allocate_what_is_written(bench: Bench) -> None:
    """A sparse grid disk has a part of itself allocated, at most all of it; one that is not sparse has no such value."""
    bench.e("drop griddisk RECO_CD_00_exa1cel01 force")
    bench.e("create griddisk SP_CD_00_exa1cel01 celldisk=CD_00_exa1cel01, size=128M, virtualsize=1G")
    bench.pass_time(61)
    text = bench.e(
        "list metriccurrent GD_SP_PRCT_ALLOCATED where metricValue > 0 attributes metricObjectName,metricValue"
    )
    assert [part.strip() for part in text.strip().split("\t")] == ["SP_CD_00_exa1cel01", "2.0 %"]
