"""Counters: what a load writes, what stays equal, when it is collected, and what starts it anew."""

from __future__ import annotations

import json
import random

import pytest
from cells_bench import Bench

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.chance import binomial, multinomial
from exacell.emulator.basics.clock import RackClock
from exacell.emulator.basics.schema import metric_definitions
from exacell.emulator.grammar.values import Metric, metric_text
from exacell.emulator.io.workload import mirrored
from exacell.emulator.rack.rack import Rack
from tests.support.every import every

RACES = ("FL_DISK_FIRST", "FL_FLASH_FIRST")
SKIPS = tuple(
    d.name
    for d in metric_definitions().values()
    if d.object_type == "FLASHLOG"
    and d.name.startswith("FL_IO_W_SKIP")
    and not d.name.endswith("_MIN")
    and d.exists_in((19, 3))
)


def _all(bench: Bench, *names: str) -> dict[str, dict[str, float]]:
    return {host: {name: bench.metric(name, cell=host) for name in names} for host in bench.rack.cells}


def _load(bench: Bench, *, db: str = "SPOT", redo: float = 2000, seconds: float = 60) -> None:
    end = bench.rack.start_load(db=db, redo=redo, seconds=seconds).end
    bench.pass_time(end - bench.rack.clock.now() + 0.001)


def _deltas(bench: Bench, names: tuple[str, ...], **load: object) -> dict[str, dict[str, float]]:
    before = _all(bench, *names)
    _load(bench, **load)  # type: ignore[arg-type]
    after = _all(bench, *names)
    return {host: {name: after[host][name] - before[host][name] for name in names} for host in before}


@pytest.mark.parametrize(("redo", "seconds"), [(2000, 60), (1, 1), (7.3, 90), (0.01, 3600), (250_000, 200)])
def test_every_write_is_raced_on_exactly_two_cells(bench: Bench, redo: float, seconds: float) -> None:
    """Over the rack there are exactly twice as many races as redo writes."""
    deltas = _deltas(bench, RACES, redo=redo, seconds=seconds)
    assert sum(sum(cell.values()) for cell in deltas.values()) == 2 * round(redo * seconds)
    assert all(sum(cell.values()) <= round(redo * seconds) for cell in deltas.values())


def test_the_identities_hold(bench: Bench) -> None:
    """Disk first and flash first make the flash-log writes, requests are writes plus skips, on every cell, always."""
    for plan in ("dbplan=''", "dbplan=((name=spot,flashlog=off))"):
        for host in bench.rack.cells:
            bench.e(f"alter iormplan {plan}", cell=host)
        _load(bench, redo=5000, seconds=120)
        for values in _all(bench, *RACES, "FL_IO_W", "FL_RQ_W", *SKIPS).values():
            assert values["FL_DISK_FIRST"] + values["FL_FLASH_FIRST"] == values["FL_IO_W"]
            assert values["FL_RQ_W"] == values["FL_IO_W"] + sum(values[name] for name in SKIPS)


def test_flash_wins_mostly_and_outliers_are_rare(bench: Bench) -> None:
    """A load shows a plausible mix: flash wins most races, disk some, and a few outliers are hidden."""
    names = (*RACES, "FL_PREVENTED_OUTLIERS", "FL_ACTUAL_OUTLIERS")
    deltas = _deltas(bench, names, redo=20_000, seconds=300).values()
    flash, disk, prevented, actual = (sum(cell[name] for cell in deltas) for name in (RACES[1], RACES[0], *names[2:]))
    assert 0.7 < flash / (flash + disk) < 0.9
    assert 0 < prevented < 1e-3 * (flash + disk)
    assert actual < prevented


def test_a_database_without_flash_log_is_skipped(bench: Bench) -> None:
    """With flashlog=off on one cell that cell counts skips by the IORM plan, and the other two go on racing."""
    bench.e("alter iormplan dbplan=((name=SPOT,share=8,flashlog=off),(name=default,share=1))", cell="exa1cel02")
    deltas = _deltas(bench, (*RACES, "FL_RQ_W", "FL_IO_W_SKIP_IORM_PLAN"))
    skipped = deltas["exa1cel02"]
    assert skipped["FL_IO_W_SKIP_IORM_PLAN"] == skipped["FL_RQ_W"] > 0
    assert skipped["FL_DISK_FIRST"] == skipped["FL_FLASH_FIRST"] == 0
    assert deltas["exa1cel01"]["FL_FLASH_FIRST"] > 0 == deltas["exa1cel01"]["FL_IO_W_SKIP_IORM_PLAN"]
    assert sum(cell["FL_RQ_W"] for cell in deltas.values()) == 240_000


def test_a_directive_of_its_own_decides_alone(bench: Bench) -> None:
    """OTHER=off leaves a database that has its own directive on flash log, and takes the others off it."""
    for host in bench.rack.cells:
        bench.e("alter iormplan dbplan=((name=spot,share=2),(name=other,flashlog=off))", cell=host)
    assert sum(c["FL_IO_W"] for c in _deltas(bench, ("FL_IO_W",), db="spot").values()) == 240_000
    assert sum(c["FL_IO_W"] for c in _deltas(bench, ("FL_IO_W",), db="ERP").values()) == 0


def test_without_a_flash_log_writes_are_skipped(bench: Bench) -> None:
    """On a cell that has no flash log all redo counts as skipped for want of flash-log disks."""
    bench.e("drop flashlog")
    deltas = _deltas(bench, ("FL_IO_W_SKIP_NO_FL_DISKS", "FL_IO_W"))
    assert deltas["exa1cel01"]["FL_IO_W_SKIP_NO_FL_DISKS"] > 0 == deltas["exa1cel02"]["FL_IO_W_SKIP_NO_FL_DISKS"]


def test_the_same_seed_gives_the_same_numbers() -> None:
    """Two racks driven alike count alike; another seed, or a second load, counts otherwise."""
    one, two, other = Bench(), Bench(), Bench(seed=2)
    first, same, different = (_deltas(bench, RACES) for bench in (one, two, other))
    assert first == same != different
    assert _deltas(one, RACES) == _deltas(two, RACES) != first


def test_a_quiet_rack_writes_no_redo(bench: Bench) -> None:
    """An hour without a load moves no FLASHLOG and no FLASHCACHE metric."""
    for kind in ("FLASHLOG", "FLASHCACHE"):
        statement = f"list metriccurrent where objectType='{kind}'"
        before = bench.e(statement)
        bench.pass_time(3600)
        assert bench.e(statement) == before


def test_collections_are_on_whole_minutes(bench: Bench) -> None:
    """collectionTime is the last whole minute, and values change only there."""
    assert bench.one("list metriccurrent fc_by_used attributes collectionTime").endswith(":00+00:00")
    before = bench.metric("FL_IO_W")
    end = bench.rack.start_load(db="SPOT", redo=100, seconds=60).end
    bench.pass_time(end - bench.rack.clock.now() - 0.5)
    assert bench.metric("FL_IO_W") == before
    bench.pass_time(1)
    assert bench.metric("FL_IO_W") > before


def test_rates_are_derivatives(bench: Bench) -> None:
    """A rate is the growth of its counter over the last minute, a mean its growth of time over requests."""
    before = bench.metric("FL_IO_DB_BY_W"), bench.metric("FL_IO_TM_W"), bench.metric("FL_IO_W")
    _load(bench)
    grown = bench.metric("FL_IO_DB_BY_W") - before[0]
    assert bench.metric("FL_IO_DB_BY_W_SEC") == pytest.approx(grown / 60)
    mean = (bench.metric("FL_IO_TM_W") - before[1]) / (bench.metric("FL_IO_W") - before[2])
    assert bench.metric("FL_IO_TM_W_RQ") == pytest.approx(mean)
    bench.pass_time(60)
    assert bench.metric("FL_IO_DB_BY_W_SEC") == 0


def test_history_has_every_minute(bench: Bench) -> None:
    """METRICHISTORY has one row a minute, can be cut by age and time, and aggregates over windows."""
    _load(bench, seconds=180)
    bench.pass_time(120)
    rows = bench.values("list metrichistory fl_io_w where ageInMinutes < 6")
    assert len(rows) == 6
    numbers = [int(row[2].split()[0].replace(",", "")) for row in rows]
    assert numbers == sorted(numbers) and numbers[-1] == numbers[-2] > numbers[0]
    windows = bench.values(
        "list metrichistory fl_io_db_by_w_sec over 10 max min attributes name,metricValueMax,metricValueMin,metricValueAvg"
    )
    assert any(row[1] != row[2] for row in windows) and {row[3] for row in windows} == {""}


@pytest.mark.parametrize(
    "restart", ["drop flashlog; create flashlog all size=256m", "alter cell restart services cellsrv"]
)
def test_flash_log_counters_begin_anew(bench: Bench, restart: str) -> None:
    """FL_* counters restart with the log or with CELLSRV, on that cell only."""
    assert "CELL-" not in bench.e(restart)
    bench.pass_time(120)
    assert bench.metric("FL_RQ_W") == 0 < bench.metric("FL_RQ_W", cell="exa1cel02")


def test_the_cache_warms_and_dirties_under_load(bench: Bench) -> None:
    """After a flush a load fills the cache again; dirty, allocated-dirty, allocated and size keep their order."""
    bench.flush()
    bench.e("alter flashcache all cancel flush")
    _load(bench, redo=5000, seconds=600)
    names = ("FC_BY_DIRTY", "FC_BY_ALLOCATED_DIRTY", "FC_BY_ALLOCATED", "FC_BY_USED")
    dirty, allocated_dirty, allocated, used = (bench.metric(name) for name in names)
    assert 0 < dirty <= allocated_dirty <= allocated <= 364.75 * 1024
    assert dirty <= used <= allocated
    assert bench.metric("FC_IO_RQ_W") == bench.metric("FC_IO_RQ_W_FIRST") + bench.metric("FC_IO_RQ_W_OVERWRITE")


def test_nothing_is_cached_while_a_flush_is_in_force(bench: Bench) -> None:
    """A load on a flushed cache is skipped by it: it stays empty."""
    bench.flush()
    _load(bench, redo=5000, seconds=120)
    assert bench.metric("FC_BY_USED") == 0
    assert bench.one("list flashcache attributes status") == "normal - flushed"


def test_dirty_by_disk_adds_up(bench: Bench) -> None:
    """The dirty megabytes of flash disks, and those of grid disks, add up to FC_BY_DIRTY."""
    collected = bench.rack.metrics["exa1cel01"].last_values()
    for prefix in ("CD_BY_FC_DIRTY|", "GD_BY_FC_DIRTY|"):
        total = sum(value for name, value in collected.items() if name.startswith(prefix))
        assert total == pytest.approx(collected["FC_BY_DIRTY"])


def test_all_metrics_of_both_families_are_there(bench: Bench) -> None:
    """METRICCURRENT has each FLASHLOG and FLASHCACHE metric of the definitions once."""
    for rack, counts in ((bench, (30, 145)), (Bench(model="x10m"), (30, 172))):
        release = rack.rack.release.number
        for kind, count in zip(("FLASHLOG", "FLASHCACHE"), counts, strict=True):
            names = [row[0] for row in rack.values(f"list metriccurrent where objectType='{kind}'")]
            assert (
                names
                == [d.name for d in metric_definitions().values() if d.object_type == kind and d.exists_in(release)]
                and len(names) == count
            )


@every(
    [
        (3418, "IO requests", "3,418 IO requests"),
        (811_377.4, "MB", "811,377 MB"),
        (418.5, "MB", "418.500 MB"),
        (0.0, "MB/sec", "0.000 MB/sec"),
        (1540.2, "IO/sec", "1,540 IO/sec"),
        (0.0, "IO/sec", "0.0 IO/sec"),
        (187.31, "us/request", "187.3 us/request"),
        (4_410_872, "us", "4,410,872 us"),
        (52.1, "%", "52.1 %"),
        (31.0, "C", "31.0 C"),
        (6.0, "Number", "6.0"),
        (1, "Number", "1"),
    ]
)
def test_metric_values_are_printed_as_cells_print_them(number: float, unit: str, text: str) -> None:
    """A value is a number in en_US style with its unit, which is absent for Number."""
    assert metric_text(Metric(number, unit)) == text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"db": "NOPE"}, "db=NOPE is no database of rack t1; it has SPOT, ERP"),
        ({"redo": 0.0}, "redo=0 is not possible"),
        ({"seconds": -1.0}, "for=-1s is not possible"),
    ],
)
def test_impossible_loads_are_refused(bench: Bench, options: dict[str, object], message: str) -> None:
    """A load of an unknown database or without size or length is an error that says so."""
    with pytest.raises(EmulatorError, match=message):
        bench.rack.start_load(**{"db": "SPOT", "redo": 1.0, "seconds": 1.0, **options})  # type: ignore[arg-type]


def test_a_load_survives_a_stop_of_the_rack() -> None:
    """A rack that is stored in the middle of a load and restored finishes it with the same numbers."""
    whole, parted = Bench(), Bench()
    expected = _deltas(whole, RACES, seconds=300)
    before = _all(parted, *RACES)
    end = parted.rack.start_load(db="SPOT", redo=2000, seconds=300).end
    parted.pass_time(150)
    state = json.loads(json.dumps(parted.rack.to_state()))
    now = parted.rack.clock.now()
    parted.rack = Rack.from_state(state, RackClock(speed=60, wall=lambda: parted.wall, rack_start=now))
    parted.pass_time(end - now + 1)
    after = _all(parted, *RACES)
    assert {h: {n: after[h][n] - before[h][n] for n in RACES} for h in after} == expected


def test_draws_are_fair() -> None:
    """Binomial draws stay in range and near their mean, small and large; splits keep the total."""
    rng = random.Random(7)
    for trials, chance in ((0, 0.5), (10, 0.0), (10, 1.0), (50, 0.3), (10**6, 1e-5), (10**9, 0.8), (1000, 0.999)):
        draws = [binomial(rng, trials, chance) for _ in range(200)]
        assert all(0 <= draw <= trials for draw in draws)
        spread = (trials * chance * (1 - chance) / 200) ** 0.5
        assert abs(sum(draws) / 200 - trials * chance) <= 5 * spread + 1e-9
    assert sum(multinomial(rng, 1000, 7)) == 1000
    for cells in (2, 3, 9, 30):
        counts = mirrored(rng, 10_000, [str(n) for n in range(cells)])
        assert sum(counts.values()) == 20_000 and max(counts.values()) <= 10_000


def test_fine_grained_collection_is_switched_on() -> None:
    """From 22.1 on metrics that are enabled for it have a second, newer reading while its interval is 1 to 60 seconds."""
    bench = Bench(model="x6", release="22.1")
    asked = "list metriccurrent where collection=fineGrained"
    assert bench.e(asked) == ""
    assert "CELL-02917" in bench.e("alter cell metricFGCollIntvlInSec=61")
    bench.e("alter metricdefinition CL_CPUT fineGrained=enabled; alter metricdefinition CL_RUNQ fineGrained=disabled")
    bench.e("alter cell metricFGCollIntvlInSec=5")
    bench.pass_time(77)
    rows = bench.values(f"{asked} attributes name, collectionTime")
    assert "CL_CPUT" in {name for name, _time in rows} and "CL_RUNQ" not in {name for name, _time in rows}
    both = bench.values("list metriccurrent CL_CPUT attributes collection, collectionTime")
    assert [row[0] for row in both] == ["default", "fineGrained"] and both[0][1] < both[1][1]
    bench.e("alter cell metricFGCollIntvlInSec=0")
    assert bench.e(asked) == ""
    assert "CELL-02930" in bench.e("alter metricdefinition CD_IO_ERRS fineGrained=enabled")
