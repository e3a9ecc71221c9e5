"""How values are printed from one release to the next, as published sessions of those releases have it."""

from __future__ import annotations

import pytest
from cells_bench import Bench

RATES = ("DB_IO_BY_SEC", "DB_FC_IO_BY_SEC", "DB_FD_IO_BY_SEC")


@pytest.mark.parametrize(("release", "nothing"), [("12.1.2", "0 MB/sec"), ("19.3", "0.000 MB/sec")])
def test_rates_of_databases(release: str, nothing: str) -> None:
    """Megabytes a second of databases have no decimals up to 12.1, in LIST METRICCURRENT and in the history."""
    bench = Bench(release=release)
    for kind in ("metriccurrent", "metrichistory"):
        columns = f"list {kind} {','.join(RATES)} attributes name,metricValue"
        where = "metricObjectName = ASM" + (" and ageInMinutes < 2" if kind == "metrichistory" else "")
        assert {(name, value) for name, value in bench.values(f"{columns} where {where}")} == {
            (name, nothing) for name in RATES
        }


@pytest.mark.parametrize(("objective", "mode"), [("low_latency", "1"), ("balanced", "2"), ("high_throughput", "3")])
def test_the_mode_of_iorm(objective: str, mode: str) -> None:
    """IORM_MODE is a whole number."""
    bench = Bench()
    bench.e(f"alter iormplan objective={objective}")
    bench.pass_time(120)
    assert bench.one("list metriccurrent IORM_MODE attributes metricValue") == mode


def test_efficiency_of_the_flash_log() -> None:
    """A flash log that has let no outlier through is efficient by 100.0."""
    bench = Bench()
    bench.e("drop flashlog; create flashlog all")
    bench.pass_time(120)
    assert bench.one("list flashlog attributes efficiency") == "100.0"


def test_categories_have_metrics_without_a_plan() -> None:
    """LIST METRICCURRENT has objects of type IORM_CATEGORY up to 24.1, with a category plan those of the plan."""
    bench = Bench(release="12.1.2")
    names = "list metriccurrent CT_IO_LOAD attributes metricObjectName"
    assert bench.values(names) == [["OTHER"]]
    bench.e("alter iormplan catplan=((name=oltp,level=1,allocation=70),(name=other,level=2,allocation=100))")
    assert bench.values(names) == [["oltp"], ["other"]]


def test_a_cell_disk_is_found_by_its_lun() -> None:
    """LIST CELLDISK takes lun as a filter on every release; only old ones show it."""
    for release, shown in (("11.2.3.2.1", True), ("19.3", False)):
        detail = Bench(release=release).e("list celldisk where lun=0_5 detail")
        assert "CD_05_exa1cel01" in detail and ("lun:" in detail) == shown


@pytest.mark.parametrize(("release", "count"), [("12.1.2", 4), ("19.3", 1)])
def test_what_caches_a_grid_disk(release: str, count: int) -> None:
    """Every flash disk caches a grid disk up to 12.1, later one does: neighbours have others, and all flash disks are used."""
    bench = Bench(release=release, model="x6")
    cached = [row[0].split(", ") for row in bench.values("list griddisk attributes cachedBy where name like 'DATA.*'")]
    assert {len(names) for names in cached} == {count}
    assert {name for names in cached for name in names} == {f"FD_0{n}_exa1cel01" for n in range(4)}


def test_an_allocation_above_a_hundred() -> None:
    """CELL-00006 begins as published."""
    plan = "dbplan=((name=a,level=1,allocation=60),(name=b,level=1,allocation=60),(name=other,level=2,allocation=100))"
    refused = Bench().e(f"alter iormplan {plan}")
    assert refused == "CELL-00006: The IORMPLAN command contains an invalid allocation total at level 1.\n"
