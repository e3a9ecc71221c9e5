"""Pluggable databases, categories, vaults and volumes: objects that have parts of a database's I/O, or are sums of it."""

from __future__ import annotations

from collections import defaultdict

import pytest
from cells_bench import Bench
from hypothesis import given, strategies as st

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.clock import RackClock
from exacell.emulator.basics.rack_spec import RackSpec
from exacell.emulator.basics.schema import metric_definitions
from exacell.emulator.basics.tenants import Part, pdb_parts
from exacell.emulator.rack.rack import Rack

Values = dict[str, dict[str, float]]

COUNTED = ("IO_RQ_SM", "IO_RQ_LG", "FD_IO_RQ_SM", "FD_IO_RQ_LG", "FC_IO_RQ", "IO_TM_SM", "FD_IO_TM", "IO_WT_LG")
"""Counters of all families of IORM, without their prefixes."""


def _values(bench: Bench) -> Values:
    found: Values = defaultdict(dict)
    moment = bench.rack.collection_time(bench.cell)
    for reading in bench.rack.reader(bench.cell).readings(moment, metric_definitions().values()):
        found[reading.definition.name][reading.object_name] = reading.number
    return found


def _load(bench: Bench, **load: object) -> None:
    end = bench.rack.start_load(**{"db": "SPOT", "redo": 800, "seconds": 120, **load}).end  # type: ignore[arg-type]
    bench.pass_time(end - bench.rack.clock.now() + 0.001)


@pytest.fixture(scope="module")
def busy() -> Bench:
    """A rack with everything that 24.1 knows beside databases, after loads of two of its three."""
    bench = Bench(
        model="x10m",
        db=("SPOT", "ERP", "HR"),
        pdb=("spot.SALES", "SPOT.WEB", "SPOT.OLD", "ERP.FIN"),
        vault=("V1", "V2"),
    )
    for host in bench.rack.cells:
        bench.e(
            "alter iormplan catplan=((name=ONLINE,level=1,allocation=80),(name=OTHER,level=2,allocation=100))",
            cell=host,
        )
    _load(bench, profile="mixed")
    _load(bench, profile="dw", db="ERP")
    return bench


@pytest.mark.parametrize(
    ("prefix", "parts"),
    [
        ("PDB", {"SPOT": ("SPOT.OLD", "SPOT.SALES", "SPOT.WEB"), "ERP": ("ERP.FIN",)}),
        ("CG", {"SPOT": ("SPOT.OTHER_GROUPS", "SPOT._ORACLE_BACKGROUND_GROUP_")}),
    ],
)
def test_parts_add_up_to_their_database(busy: Bench, prefix: str, parts: dict[str, tuple[str, ...]]) -> None:
    """What the pluggable databases, and the consumer groups, of a database have counted is exactly what it has."""
    values = _values(busy)
    for what in COUNTED:
        for database, names in parts.items():
            assert sum(values[f"{prefix}_{what}"][name] for name in names) == values[f"DB_{what}"][database], what
    assert values[f"{prefix}_FD_IO_RQ_SM"][parts["SPOT"][0]] > 0


def test_earlier_pluggable_databases_are_busier(busy: Bench) -> None:
    """Of several in one database the first named does the most, and each does something."""
    values = _values(busy)
    for name in ("PDB_FD_IO_RQ_SM", "PDB_FC_BY_ALLOCATED", "PDB_XRM_BY_ALLOCATED"):
        first, second, third = (values[name][f"SPOT.{pdb}"] for pdb in ("SALES", "WEB", "OLD"))
        assert first > second > third > 0
    # The last minute was ERP's scans alone.
    assert values["PDB_CPU_UTIL_SIO"]["ERP.FIN"] > 0 == values["PDB_CPU_UTIL_SIO"]["SPOT.SALES"]
    assert 50 < values["PDB_SIO_OF_PCT"]["ERP.FIN"] <= 100 and values["PDB_SIO_OF_PCT"]["SPOT.SALES"] == 0


@pytest.mark.parametrize(
    ("prefix", "owners"),
    [
        ("VLT", {"V1": ("SPOT", "HR"), "V2": ("ERP",)}),
        ("CT", {"ONLINE": ("SPOT", "HR"), "OTHER": ("ERP",)}),
    ],
)
def test_vaults_and_categories_are_sums(busy: Bench, prefix: str, owners: dict[str, tuple[str, ...]]) -> None:
    """Vaults, and the categories of the catPlan, have in turn the databases, and count what those count together."""
    values = _values(busy)
    for what in COUNTED:
        if f"{prefix}_{what}" in values:
            found = values[f"{prefix}_{what}"]
            assert found == {owner: sum(values[f"DB_{what}"][db] for db in dbs) for owner, dbs in owners.items()}


def test_volumes_have_less_than_their_vault(busy: Bench) -> None:
    """The volumes of a vault have some of its I/O; the rest is the databases' files."""
    values = _values(busy)
    for what in ("FD_IO_RQ_SM", "FC_IO_RQ", "FD_IO_TM"):
        volumes = values[f"VOL_{what}"]
        assert set(volumes) == {"V1_vol1", "V1_vol2", "V2_vol1", "V2_vol2"}
        assert 0 < volumes["V1_vol1"] + volumes["V1_vol2"] < values[f"VLT_{what}"]["V1"]


def test_they_are_listed(busy: Bench) -> None:
    """LIST shows pluggable databases with container and vault, vaults, and volumes with their vault."""
    assert busy.values("list pluggabledatabase attributes name, containerName, vaultName") == [
        ["FIN", "ERP", "V2"],
        ["OLD", "SPOT", "V1"],
        ["SALES", "SPOT", "V1"],
        ["WEB", "SPOT", "V1"],
    ]
    assert [row[0] for row in busy.values("list vault")] == ["V1", "V2"]
    assert busy.values("list volume attributes name, vaultName")[2:] == [["V2_vol1", "V2"], ["V2_vol2", "V2"]]
    for kind in ("pluggabledatabase FIN", "vault V1", "volume V1_vol1"):
        assert "name:" in busy.e(f"list {kind} detail")


def test_counters_only_rise() -> None:
    """No counter of a pluggable database, vault or volume is lower after a load, nor after the rack was stored."""
    bench = Bench(model="x10m", pdb=("SPOT.A", "SPOT.B"), vault=("V1",))
    names = [
        d.name
        for d in metric_definitions().values()
        if d.object_type in ("IORM_PLUGGABLE_DATABASE", "IORM_VAULT", "IORM_VOLUME") and d.metric_type == "Cumulative"
    ]
    before = _values(bench)
    for redo in (1, 7, 800):
        _load(bench, redo=redo, seconds=60, profile="mixed")
        after = _values(bench)
        assert all(after[name][owner] >= number for name in names for owner, number in before[name].items())
        before = after
    clock = RackClock(speed=60, wall=lambda: bench.wall, rack_start=bench.rack.clock.now())
    bench.rack = Rack.from_state(bench.rack.to_state(), clock)
    bench.cell = bench.rack.cells["exa1cel01"]
    assert _values(bench) == before


def test_a_rack_without_them_has_none(bench: Bench) -> None:
    """A rack that was made without pluggable databases lists none, and has no metrics of any."""
    assert bench.e("list pluggabledatabase") == ""
    assert bench.e("list metriccurrent where objectType='IORM_PLUGGABLE_DATABASE'") == ""


def test_keep_is_what_the_content_says(bench: Bench) -> None:
    """FC_BYKEEP_USED is what LIST FLASHCACHECONTENT shows as kept, dirty KEEP data is part of it, and none is none."""
    assert _values(bench)["FC_BYKEEP_USED"]["FLASHCACHE"] == 0
    bench.rack.cache_clauses["SPOT"] = (0.3, 0.0)
    _load(bench, profile="oltp")
    values = _values(bench)
    listed = sum(int(row[0]) for row in bench.values("list flashcachecontent attributes cachedKeepSize"))
    used = values["FC_BYKEEP_USED"]["FLASHCACHE"]
    assert listed > 0 and used * 2**20 == pytest.approx(listed, rel=1e-4)
    assert 0 < values["FC_BYKEEP_DIRTY"]["FLASHCACHE"] < used < values["FC_BY_USED"]["FLASHCACHE"]
    assert 0 < values["FC_IO_RQKEEP_W"]["FLASHCACHE"] < values["FC_IO_RQ_W"]["FLASHCACHE"]


def test_scans_of_pluggable_databases_are_part_of_all(busy: Bench) -> None:
    """The processor time of PDBs' smart scans is above 0 and no more than that of all smart scans."""
    values = _values(busy)
    for where in ("FG", "BG"):
        assert 0 < values[f"SIO_PDB_{where}_CPU"]["SMARTIO"] <= values[f"SIO_{where}_CPU"]["SMARTIO"]


@given(count=st.integers(1, 8), totals=st.lists(st.integers(0, 10**12), min_size=2, max_size=2))
def test_shares_are_exact(count: int, totals: list[int]) -> None:
    """The parts of any number of pluggable databases add up to any total, and none is smaller for a greater total."""
    parts = [part for _database, part in pdb_parts([f"D.P{n}" for n in range(count)]).values()]
    low, high = sorted(totals)
    assert sum(part(low) for part in parts) == low
    assert all(part(low) <= part(high) for part in parts)
    assert sum(part.fraction for part in parts) == pytest.approx(1)
    assert Part(0, 0, 1)(high) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pdb": ("SALES",)}, "pdb=SALES is no pluggable database: it must be DATABASE.NAME"),
        ({"pdb": ("SPOT.1X",)}, "pdb=SPOT.1X is no pluggable database"),
        ({"pdb": ("HR.A",)}, "pdb=HR.A is in no database of the rack; it has SPOT, ERP"),
        ({"pdb": ("SPOT.A", "spot.a")}, "pdb=SPOT.A,SPOT.a names one twice"),
        ({"pdb": ("SPOT.A",), "release": "12.1.2", "model": "x6"}, "cells know pluggable databases since release 12.2"),
        ({"vault": ("V1",)}, "vault=V1 is not possible: vaults are Exascale's, which cells have since release 24.1"),
        ({"vault": ("V 1",), "model": "x10m"}, "vault=V 1 is not a vault's name"),
        ({"vault": ("V1", "v1"), "model": "x10m"}, "vault=V1,v1 names one twice"),
    ],
)
def test_impossible_ones_are_refused(options: dict[str, object], message: str) -> None:
    """A pluggable database or vault that cannot be is refused with the value, the rule and the way out."""
    with pytest.raises(EmulatorError, match=message):
        RackSpec(**{"name": "t1", **options})  # type: ignore[arg-type]
