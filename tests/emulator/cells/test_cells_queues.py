"""IORM's queues: what shares, limits and the objective make of waiting requests, on disks that are busy."""

from __future__ import annotations

import pytest
from cells_bench import Bench


def waited(
    bench: Bench,
    plan: str,
    metric: str,
    owner: str = "SPOT",
    *,
    seconds: float = 60,
    redo: float = 600,
    profile: str = "oltp",
) -> float:
    """Return a metric of one database after two databases have loaded the disks under a plan."""
    bench.e(f"alter iormplan {plan}")
    end = 0.0
    for database in ("SPOT", "ERP"):
        end = bench.rack.start_load(db=database, redo=redo, seconds=seconds, profile=profile).end
    bench.pass_time(end - bench.rack.clock.now() + 0.001)
    text = bench.run(
        "-xml", "-e", f"list metriccurrent {metric} where metricObjectName='{owner}' attributes metricValue"
    )
    return float(text.split("<metricValue>")[1].split("<")[0])


EVEN = "dbplan=((name=SPOT,share=1),(name=ERP,share=1)), objective=auto"
FAVOURED = "dbplan=((name=SPOT,share=16),(name=ERP,share=1)), objective=auto"


def test_a_larger_share_waits_less_and_the_other_one_more() -> None:
    """On busy disks a share of sixteen to one shortens the waits of the one database and lengthens the other's."""
    even, favoured = (waited(Bench(), plan, "DB_IO_WT_SM_RQ") for plan in (EVEN, FAVOURED))
    assert 0 < favoured < even
    assert waited(Bench(), FAVOURED, "DB_IO_WT_SM_RQ", "ERP") > waited(Bench(), EVEN, "DB_IO_WT_SM_RQ", "ERP")


def test_disks_with_nothing_to_do_let_nobody_wait() -> None:
    """A light load waits only as long as any request does, whatever its share."""
    light = [waited(Bench(), plan, "DB_IO_WT_SM_RQ", redo=20) for plan in (EVEN, FAVOURED)]
    assert light[0] == pytest.approx(light[1], rel=0.05)
    assert light[0] < 0.3


@pytest.mark.parametrize(
    ("release", "model", "metric"), [("19.3", "x2", "DB_FD_IO_WT_SM_RQ"), ("12.1.2", "x6", "DB_IO_WT_SM_RQ")]
)
def test_a_limit_makes_wait_on_idle_disks(release: str, model: str, metric: str) -> None:
    """A limit below what a database asks for makes it wait: on flash, and before 19.1 on hard disks too."""
    free = waited(Bench(release=release, model=model), EVEN, metric, redo=200)
    limited = EVEN.replace("name=SPOT,share=1", "name=SPOT,share=1,limit=1")
    assert waited(Bench(release=release, model=model), limited, metric, redo=200) > 3 * free


def test_basic_enforces_no_limit() -> None:
    """Under objective basic a limit changes nothing."""
    limited = "dbplan=((name=SPOT,share=1,limit=1),(name=ERP,share=1))"
    auto, basic = (
        waited(Bench(), f"{limited}, objective={how}", "DB_FD_IO_WT_SM_RQ", redo=200) for how in ("auto", "basic")
    )
    assert auto > basic


def test_the_objective_says_which_requests_go_first() -> None:
    """low_latency lets small requests wait less than high_throughput does, and large ones longer."""
    small, large = (
        [
            waited(Bench(), f"{EVEN.partition(', obj')[0]}, objective={how}", f"DB_IO_WT_{size}_RQ")
            for how in ("low_latency", "high_throughput")
        ]
        for size in ("SM", "LG")
    )
    assert small[0] < small[1] and large[0] > large[1]


def test_queues_of_the_cell_are_those_of_its_databases() -> None:
    """The milliseconds that requests wait are the same for the cell and for its databases together."""
    bench = Bench(model="x10m", release="24.1")
    waited(bench, FAVOURED, "DB_IO_WT_SM")
    text = bench.run("-xml", "-e", "list metriccurrent DB_IO_WT_SM attributes metricValue")
    databases = sum(float(part.split("<")[0]) for part in text.split("<metricValue>")[1:])
    counters = bench.rack.metrics["exa1cel01"].counters
    extra = sum(counters.get(f"H.{kind}_SM.WT", 0) for kind in "RW")
    assert extra == sum(n for name, n in counters.items() if name.endswith(":H.SM.WT")) > 0
    assert databases > extra


def test_redo_of_a_database_far_over_its_limit_bypasses_the_flash_log() -> None:
    """Where limits hold for hard disks, a database at many times its limit has redo writes skipped for it; else not."""
    limited = EVEN.replace("name=SPOT,share=1", "name=SPOT,share=1,limit=2")
    old, new = Bench(model="x6", release="12.1.2"), Bench()
    for bench in (old, new):
        waited(bench, limited, "DB_IO_WT_SM_RQ", seconds=180)
    assert old.metric("FL_IO_W_SKIP_IORM_LIMIT") > 0 == new.metric("FL_IO_W_SKIP_IORM_LIMIT")


def test_a_database_with_little_of_the_cache_misses_more() -> None:
    """flashCacheLimit and flashCacheSize leave a database as many hits as a cache of that size has, and others all theirs."""
    free, limited, sized = Bench(), Bench(), Bench()
    for bench, word in ((free, ""), (limited, ",flashcachelimit=4G"), (sized, ",flashcachesize=4G")):
        waited(bench, EVEN.replace("name=SPOT,share=1", f"name=SPOT,share=1{word}"), "DB_IO_WT_SM_RQ", redo=200)
    ratios = [bench.metric("FC_IO_RQ_R_SEC") / bench.metric("FC_IO_RQ_R_MISS_SEC") for bench in (free, limited, sized)]
    assert ratios[0] > 1.3 * ratios[1]
    assert ratios[1] == pytest.approx(ratios[2], rel=0.05)
