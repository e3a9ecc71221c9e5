"""All metric families: which objects have values, and what always holds between them."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise

import pytest
from cells_bench import Bench

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.clock import RackClock
from exacell.emulator.basics.schema import metric_definitions, metrics_in
from exacell.emulator.io.load_profiles import PROFILES
from exacell.emulator.metrics.past import grown
from exacell.emulator.metrics.rules import rules
from exacell.emulator.rack.rack import Rack

Values = dict[str, dict[str, float]]


def _values(bench: Bench, cell: str = "exa1cel01") -> Values:
    """Return every current value of a cell by metric and object."""
    rack = bench.rack
    found: Values = defaultdict(dict)
    reader = rack.reader(rack.cells[cell])
    for reading in reader.readings(rack.collection_time(rack.cells[cell]), metric_definitions().values()):
        found[reading.definition.name][reading.object_name] = reading.number
    return found


def _load(bench: Bench, **load: object) -> None:
    end = bench.rack.start_load(**{"db": "SPOT", "redo": 800, "seconds": 180, **load}).end  # type: ignore[arg-type]
    bench.pass_time(end - bench.rack.clock.now() + 0.001)


def _total(values: Values, name: str, *, but: str = "") -> float:
    return sum(number for owner, number in values[name].items() if not but or not owner.startswith(but))


@pytest.mark.parametrize("profile", list(PROFILES))
def test_what_always_holds(bench: Bench, profile: str) -> None:
    """Under every kind of load: parts add up to wholes, and no value is negative or not a number."""
    _load(bench, profile=profile)
    values = _values(bench)
    assert all(number >= 0 and math.isfinite(number) for owners in values.values() for number in owners.values())
    hard = {owner for owner in values["CD_IO_RQ_R_SM"] if owner.startswith("CD_")}
    for size in ("SM", "LG"):
        disks = sum(values[f"CD_IO_RQ_{kind}_{size}"][disk] for kind in "RW" for disk in hard)
        assert disks == _total(values, f"DB_IO_RQ_{size}")
        flash = sum(n for kind in "RW" for d, n in values[f"CD_IO_RQ_{kind}_{size}"].items() if d not in hard)
        assert flash == _total(values, f"DB_FD_IO_RQ_{size}")
        for kind in "RW":
            assert _total(values, f"GD_IO_RQ_{kind}_{size}") == sum(values[f"CD_IO_RQ_{kind}_{size}"][d] for d in hard)
        groups = sum(n for owner, n in values[f"CG_IO_RQ_{size}"].items() if owner.startswith("SPOT."))
        assert groups == values[f"DB_IO_RQ_{size}"]["SPOT"]
    sio = {name: owners["SMARTIO"] for name, owners in values.items() if name.startswith("SIO_")}
    assert sio["SIO_IO_EL_OF"] == sio["SIO_IO_SI_SV"] + sum(sio[f"SIO_IO_RD_{what}"] for what in ("FC", "HD", "FC_HD"))
    assert sio["SIO_IO_PA_TH"] <= sio["SIO_IO_OF_RE"] <= sio["SIO_IO_EL_OF"]
    assert (sio["SIO_IO_EL_OF"] > 0) == (profile != "redo")
    cpu = {name: owners["exa1cel01"] for name, owners in values.items() if name.startswith("OS_CPU")}
    shares = [cpu[f"OS_CPU_{part}_PCT"] for part in ("USR", "SYS", "IOWAIT", "SOFT", "IRQ", "IDLE")]
    assert sum(shares) == pytest.approx(100, abs=0.05)
    memory = {part: values[f"OS_MEM_BY_{part}"]["exa1cel01"] for part in ("TOTAL", "USED", "FREE")}
    assert memory["USED"] + memory["FREE"] == memory["TOTAL"]
    for name in ("CD_IO_UTIL", "OS_IO_UTIL_PCT", "DB_IO_UTIL_SM", "DB_FD_IO_UTIL", "GD_FC_HIT_RATIO_PCT"):
        assert all(number <= 100 for number in values[name].values())
    assert _total(values, "DB_FC_BY_ALLOCATED") <= values["FC_BY_ALLOCATED"]["FLASHCACHE"] * (1 + 1e-9)


def test_a_cluster_has_what_its_databases_have() -> None:
    """With several ASM clusters every CLU_ metric has values, LIST CLUSTER names them, and requests are their databases'."""
    bench = Bench(model="x10m", clusters=2, dbnodes=2)
    _load(bench, profile="mixed")
    _load(bench, profile="dw", db="ERP")
    values = _values(bench)
    assert [row[0] for row in bench.values("list cluster")] == ["c1", "c2"]
    for name, definition in metric_definitions().items():
        if definition.object_type == "IORM_CLUSTER":
            assert set(values[name]) == {"c1", "c2"}
    for cluster, database in (("c1", "SPOT"), ("c2", "ERP")):
        for what in ("IO_RQ_SM", "IO_RQ_LG", "FD_IO_RQ_SM", "FC_IO_RQ", "IO_TM_LG", "FC_BY_ALLOCATED"):
            assert values[f"CLU_{what}"][cluster] == values[f"DB_{what}"][database]
    assert values["CLU_IO_RQ_SM"]["c1"] > 0 < values["CLU_FC_BY_ALLOCATED"]["c1"]


def test_every_rate_is_a_derivative(bench: Bench) -> None:
    """Each …_SEC of a cumulative metric is its growth since the minute before, for every object."""
    _load(bench, profile="oltp")
    rack, cell = bench.rack, bench.cell
    now = rack.collection_time(cell)
    kinds = metric_definitions()
    pairs = [n for n in kinds if n.endswith("_SEC") and n[:-4] in kinds and kinds[n[:-4]].metric_type == "Cumulative"]
    assert len(pairs) > 180
    reader = rack.reader(cell)
    wanted = [kinds[name] for pair in pairs for name in (pair, pair[:-4])]
    here = {(r.definition.name, r.object_name): r.number for r in reader.readings(now, wanted)}
    there = {(r.definition.name, r.object_name): r.number for r in reader.readings(now - 60, wanted)}
    for (name, owner), rate in here.items():
        if name.endswith("_SEC"):
            grown_by = here[name[:-4], owner] - there[name[:-4], owner]
            assert rate == pytest.approx(grown_by / 60, abs=0.02), (name, owner)


def test_objects_that_exist_have_all_their_metrics(bench: Bench) -> None:
    """Every metric of every object type that the rack has is there, on InfiniBand and on RoCE hardware."""
    missing = {"IORM_PLUGGABLE_DATABASE", "IORM_CLUSTER", "IORM_VAULT", "IORM_VOLUME", "DISKGROUP"}
    for rack, absent in (
        (bench, missing | {"PMEMCACHE", "XRMEMCACHE", "DEVICE", "NETDEV_QUEUE"}),
        (Bench(model="x8m"), missing | {"XRMEMCACHE", "IBPORT"}),
        (Bench(model="x10m"), missing | {"PMEMCACHE", "IBPORT"}),
    ):
        values = _values(rack)
        assert {d.object_type for n, d in metric_definitions().items() if n not in values} == absent
    assert len(metrics_in((25, 1))) == 854 and set(rules()) == set(metric_definitions())


def test_a_release_has_the_metrics_of_its_time() -> None:
    """What came later or is gone is neither listed, defined nor accepted as a threshold; counts rise over time."""
    counts = {}
    for release, model, absent, there in (
        ("11.2.2.4", "x2", ("FC_BY_DIRTY", "OS_CPU_PCT", "CLU_IO_RQ_SM", "PC_BY_ALLOCATED"), ("FL_IO_W", "CT_IO_LOAD")),
        (
            "12.1.2",
            "x6",
            ("PDB_IO_LOAD", "VLT_IO_LOAD", "EXW_FC_LW_REJECTED_BY"),
            ("FC_BY_DIRTY", "GD_SP_BY_ALLOCATED"),
        ),
        ("19.3", "x8m", ("XRM_BY_ALLOCATED", "DB_CF_IO_LOAD"), ("PC_BY_ALLOCATED", "FL_IO_W_SKIP_LOG_ON_FAST_DEV")),
        ("22.1", "x8m", ("FL_IO_W_SKIP_LOG_ON_FLASH", "VLT_IO_LOAD"), ("OS_CPU_PCT", "CLU_IO_RQ_SM", "CT_IO_LOAD")),
        ("24.1", "x8m", ("PC_BY_ALLOCATED", "DB_PC_BY_ALLOCATED"), ("XRM_BY_ALLOCATED", "VLT_IO_LOAD")),
        ("26.1", "x10m", ("CT_IO_LOAD",), ("XRM_BY_ALLOCATED", "DB_CF_IO_LOAD")),
    ):
        bench = Bench(release=release, model=model, mode="writethrough")
        names = {row[0] for row in bench.values("list metricdefinition")}
        assert names.isdisjoint(absent) and names >= set(there)
        counts[release] = len(names)
        current = {row[0] for row in bench.values("list metriccurrent attributes name")}
        assert current <= names
        assert "CELL-02906" in bench.e(f"list metriccurrent {absent[0]}")
        assert "CELL-02906" in bench.e(f"list metrichistory {absent[0]}")
        assert "CELL-02906" in bench.e(f"create threshold {absent[0]} comparison='>', warning=1")
    assert counts["11.2.2.4"] < counts["12.1.2"] < counts["19.3"] < counts["22.1"] < counts["24.1"] == 854 + 42


def test_a_restart_of_cellsrv_starts_all_counters_anew(bench: Bench) -> None:
    """After CELLSRV restarts no counter of disks, databases or scans keeps what it had, on that cell only."""
    _load(bench, profile="dw")
    bench.e("alter cell restart services cellsrv")
    bench.pass_time(120)
    values, other = _values(bench), _values(bench, "exa1cel02")
    for name in ("CD_IO_RQ_R_SM", "GD_IO_RQ_R_SM", "DB_IO_RQ_SM", "SIO_IO_EL_OF", "N_MB_SENT"):
        assert _total(values, name) == 0 < _total(other, name)


def test_a_new_grid_disk_counts_from_zero(bench: Bench) -> None:
    """A grid disk that takes the place of a dropped one does not inherit its counters."""
    _load(bench)
    for statement in (
        "alter griddisk DATA_CD_05_exa1cel01 inactive",
        "drop griddisk DATA_CD_05_exa1cel01",
        "drop griddisk RECO_CD_05_exa1cel01 force",
    ):
        assert "successfully" in bench.e(statement)
    bench.pass_time(90)
    assert "successfully" in bench.e("create griddisk NEW_CD_05_exa1cel01 celldisk=CD_05_exa1cel01, size=100G")
    bench.pass_time(90)
    assert _values(bench)["GD_IO_RQ_R_SM"]["NEW_CD_05_exa1cel01"] == 0
    _load(bench)
    assert (
        0
        < _values(bench)["GD_IO_RQ_R_SM"]["NEW_CD_05_exa1cel01"]
        < _values(bench)["GD_IO_RQ_R_SM"]["DATA_CD_06_exa1cel01"]
    )


def test_an_unknown_profile_is_refused(bench: Bench) -> None:
    """A load of no known profile is an error that names those there are."""
    with pytest.raises(EmulatorError, match="profile=web is no load; there are redo, oltp, dw"):
        bench.rack.start_load(db="SPOT", redo=1, seconds=1, profile="web")


def test_the_past_rises_and_is_the_same_every_time(bench: Bench) -> None:
    """A new rack has a week of history: counters only rise, by day faster than by night, and reread alike."""
    statement = "list metrichistory fl_io_w attributes collectionTime, metricValue"
    rows = bench.values(statement)
    assert 7 * 1440 - 1 <= len(rows) <= 7 * 1440 + 1
    numbers = [int(row[1].split()[0].replace(",", "")) for row in rows]
    assert numbers == sorted(numbers) and 0 < numbers[0] < numbers[-1]
    state = bench.rack.to_state()
    now = bench.rack.clock.now()
    bench.rack = Rack.from_state(state, RackClock(speed=60, wall=lambda: bench.wall, rack_start=now))
    assert bench.values(statement) == rows


def test_identities_hold_in_the_past(bench: Bench) -> None:
    """In every generated minute disk first and flash first make the flash-log writes, and dirty fits into used."""
    metrics = bench.rack.metrics["exa1cel01"]
    for minutes in range(1, 10_000, 333):
        values = metrics.at(metrics.begin - 60 * minutes).values
        assert values["FL_DISK_FIRST"] + values["FL_FLASH_FIRST"] == values["FL_IO_W"]
        assert values["FC_BY_DIRTY"] <= values["FC_BY_ALLOCATED_DIRTY"] <= values["FC_BY_ALLOCATED"]
        assert values["FC_BY_DIRTY"] <= values["FC_BY_USED"] <= values["FC_BY_ALLOCATED"] <= 364.75 * 1024


def test_time_never_runs_backwards() -> None:
    """Activity rises from minute to minute, whatever the key."""
    for key in ("1|exa1cel01", "2|exa1cel09"):
        shares = [grown(key, 1e9 + 60 * minute, 1e9 + 86400 * 7) for minute in range(3000)]
        assert all(a < b for a, b in pairwise(shares))
