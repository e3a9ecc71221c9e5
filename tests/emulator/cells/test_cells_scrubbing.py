"""Scrubbing of hard disks: its schedule, its pace, what it reads of cell disks and grid disks, and what it finds."""

from __future__ import annotations

import pytest
from cells_bench import Bench

from exacell.emulator.rack.rack import Rack

DISK, GRID = "CD_00_exa1cel01", "DATA_CD_00_exa1cel01"
HOUR = 3600.0


def value(bench: Bench, metric: str, owner: str = DISK) -> float:
    """Return the bare value of a metric of one object."""
    text = bench.run(
        "-xml", "-e", f"list metriccurrent {metric} where metricObjectName='{owner}' attributes metricValue"
    )
    return float(text.split("<metricValue>")[1].split("<")[0])


def scrub_now(bench: Bench, interval: str = "weekly") -> None:
    """Let a scrub begin."""
    bench.e(f"alter cell hardDiskScrubInterval={interval}")
    bench.e("alter cell hardDiskScrubStartTime=now")


def test_a_scrub_reads_each_disk_once_at_its_pace(bench: Bench) -> None:
    """A scrub reads 176 MB a second of each hard disk, ends with the disk, and comes again after its interval."""
    before = value(bench, "CD_IO_BY_R_SCRUB")
    bench.pass_time(30.7)
    scrub_now(bench)
    bench.pass_time(600)
    assert value(bench, "CD_IO_BY_R_SCRUB_SEC") == pytest.approx(176, abs=0.1)
    assert value(bench, "CD_IO_RQ_R_SCRUB_SEC") == pytest.approx(176, abs=0.1)
    assert value(bench, "CD_IO_TM_R_SCRUB_RQ") == pytest.approx(5650)
    assert value(bench, "CD_IO_UTIL") == value(bench, "CD_IO_UTIL_LG") == 99
    assert value(bench, "CD_IO_UTIL_SM") == 0
    bench.pass_time(HOUR)
    size = bench.cell.cell_disks[DISK].size_bytes >> 20
    assert value(bench, "CD_IO_BY_R_SCRUB") - before == size
    assert value(bench, "CD_IO_BY_R_SCRUB_SEC") == value(bench, "CD_IO_UTIL") == 0
    bench.pass_time(7 * 24 * HOUR)
    assert value(bench, "CD_IO_BY_R_SCRUB") - before == 2 * size


def test_grid_disks_are_read_in_the_order_of_their_offsets(bench: Bench) -> None:
    """The grid disk at the outer edge is scrubbed before the one behind it, and flash is not at all."""
    grids = [disk.name for disk in bench.cell.grid_disks_on(DISK)]
    scrub_now(bench)
    before = [value(bench, "GD_IO_BY_R_SCRUB", name) for name in grids]
    bench.pass_time(900)
    reads = [value(bench, "GD_IO_BY_R_SCRUB", name) - old for name, old in zip(grids, before, strict=True)]
    assert reads[0] > 0 == reads[1]
    bench.pass_time(2 * HOUR)
    reads = [value(bench, "GD_IO_BY_R_SCRUB", name) - old for name, old in zip(grids, before, strict=True)]
    assert reads == [bench.cell.grid_disks[name].size_bytes >> 20 for name in grids]
    assert value(bench, "CD_IO_BY_R_SCRUB", "FD_00_exa1cel01") == 0


def test_other_io_goes_first(bench: Bench) -> None:
    """While a load keeps the hard disks busy a scrub gets only what it leaves, and never more time than there is."""
    scrub_now(bench)
    bench.pass_time(120)
    idle = value(bench, "CD_IO_BY_R_SCRUB_SEC")
    bench.rack.start_load(profile="dw", seconds=300)
    bench.pass_time(240)
    assert value(bench, "CD_IO_BY_R_SCRUB_SEC") < idle
    assert value(bench, "CD_IO_UTIL") <= 100


def test_the_default_is_every_two_weeks_and_shows_in_the_past(bench: Bench) -> None:
    """A new rack's disks were scrubbed once in the past week; counters never shrink and rates follow them."""
    assert bench.one("list cell attributes hardDiskScrubInterval") == "biweekly"
    rows = bench.values(
        f"list metrichistory CD_IO_BY_R_SCRUB where metricObjectName='{DISK}' attributes metricValueMax over 60"
    )
    totals = [float(row[0].split()[0].replace(",", "")) for row in rows]
    assert totals == sorted(totals)
    assert totals[0] == 0 < totals[-1] == bench.cell.cell_disks[DISK].size_bytes >> 20


def test_none_stops_a_scrub(bench: Bench) -> None:
    """hardDiskScrubInterval=none ends the scrub that is under way, and no other one begins."""
    scrub_now(bench)
    bench.pass_time(300)
    bench.e("alter cell hardDiskScrubInterval=none")
    stopped = value(bench, "CD_IO_BY_R_SCRUB")
    bench.pass_time(40 * 24 * HOUR)
    assert value(bench, "CD_IO_BY_R_SCRUB") == pytest.approx(stopped, abs=176 * 60)
    assert value(bench, "CD_IO_BY_R_SCRUB_SEC") == 0


def test_a_scrub_finds_each_bad_sector_once(bench: Bench) -> None:
    """A bad sector is counted when a scrub comes to it, on the cell disk and on its grid disk, and mended with that."""
    bench.cell.bad_sectors[DISK] = [(100 << 30, bench.rack.now())]
    scrub_now(bench, "daily")
    bench.pass_time(300)
    assert value(bench, "CD_IO_ERRS_SCRUB") == 0
    for _day in range(2):
        bench.pass_time(24 * HOUR)
        assert value(bench, "CD_IO_ERRS_SCRUB") == value(bench, "GD_IO_ERRS_SCRUB", GRID) == 1


def test_a_start_of_cellsrv_begins_the_counters_anew(bench: Bench) -> None:
    """What was scrubbed before CELLSRV was started is not counted; a scrub that is under way goes on."""
    scrub_now(bench)
    bench.pass_time(600)
    bench.e("alter cell restart services cellsrv ignore redundancy")
    bench.pass_time(120)
    assert 0 < value(bench, "CD_IO_BY_R_SCRUB") < 176 * 240


def test_schedules_survive_storing(bench: Bench) -> None:
    """A stored rack goes on with the scrub that was under way, and knows its schedule."""
    scrub_now(bench)
    bench.cell.bad_sectors[DISK] = [(100 << 30, bench.rack.now())]
    bench.pass_time(300)
    before = value(bench, "CD_IO_BY_R_SCRUB")
    bench.rack = Rack.from_state(bench.rack.to_state(), bench.rack.clock)
    assert value(bench, "CD_IO_BY_R_SCRUB") == before
    assert bench.rack.cells["exa1cel01"] == bench.cell


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("hardDiskScrubInterval=often", "daily, weekly, biweekly or none"),
        ("hardDiskScrubStartTime=soon", "now, or a time"),
    ],
)
def test_what_a_schedule_may_not_be(bench: Bench, words: str, rule: str) -> None:
    """Intervals and times that there are not are refused with the rule, and change nothing."""
    assert rule in bench.e(f"alter cell {words}")
    assert bench.cell.scrub_schedules == [] and bench.cell.settings == {}


def test_flash_only_cells_have_no_scrubs() -> None:
    """A cell without hard disks has no scrubs and no interval."""
    bench = Bench(model="x6ef", release="19.3")
    scrub_now(bench)
    bench.pass_time(600)
    text = bench.e("list metriccurrent where name like 'CD_IO_.*SCRUB.*' and metricValue > 0")
    assert text == ""
