"""One workload moves the cells' counters and the databases' statistics: what holds whatever was done before."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from asm_lab import Lab
from hypothesis import HealthCheck, given, settings, strategies as st

from exacell.emulator.basics.schema import metric_definitions
from exacell.emulator.io.database_io import STATISTICS
from exacell.emulator.io.load_profiles import PROFILES
from exacell.language.registry import commands

FAMILIES = ("FLASHLOG", "FLASHCACHE", "SMARTIO")
DEFINITIONS = [definition for definition in metric_definitions().values() if definition.object_type in FAMILIES]
CUMULATIVE = [d.name for d in DEFINITIONS if d.metric_type == "Cumulative" and d.name != "FL_EFFICIENCY_PERCENTAGE"]
RATES = [n for n in (d.name for d in DEFINITIONS) if n.endswith("_SEC") and n.removesuffix("_SEC") in CUMULATIVE]
SKIPS = [name for name in CUMULATIVE if name.startswith("FL_IO_W_SKIP")]
TINY = 1e-6

Values = dict[str, float]
Epochs = tuple[int, ...]


def values(lab: Lab, host: str, ago: float = 0.0) -> Values:
    """Return the metrics of the cell's log, cache and scans at its last collection or some seconds before."""
    cell = lab.rack.cells[host]
    moment = lab.rack.collection_time(cell) - ago
    assert moment % 60 == 0
    return {r.definition.name: r.number for r in lab.rack.reader(cell).readings(moment, DEFINITIONS)}


def check_sums(lab: Lab, host: str, seen: Values) -> None:
    """Parts of one collection add up to wholes, and space keeps its order."""
    assert all(number >= 0 for number in seen.values())
    assert seen["FL_DISK_FIRST"] + seen["FL_FLASH_FIRST"] == seen["FL_IO_W"]
    assert seen["FL_RQ_W"] == seen["FL_IO_W"] + sum(seen[name] for name in SKIPS)
    assert seen["FC_IO_RQ_W"] == seen["FC_IO_RQ_W_FIRST"] + seen["FC_IO_RQ_W_OVERWRITE"]
    assert seen["SIO_IO_EL_OF"] == seen["SIO_IO_SI_SV"] + sum(
        seen[f"SIO_IO_RD_{what}"] for what in ("FC", "HD", "FC_HD")
    )
    space = [seen[f"FC_BY_{name}"] for name in ("DIRTY", "ALLOCATED_DIRTY", "ALLOCATED")]
    cache = lab.rack.cells[host].flash_cache
    assert space == sorted(space) and seen["FC_BY_DIRTY"] <= seen["FC_BY_USED"] <= seen["FC_BY_ALLOCATED"]
    if lab.rack.cells[host].cellsrv_up and cache is not None:
        # A cache that was made or dropped since the collection is not in it yet.
        assert cache.dirty_bytes <= cache.used_bytes <= cache.size_bytes


def check_rates(lab: Lab, host: str, seen: Values) -> None:
    """Rates are what the counters have grown by since the minute before."""
    metrics, moment = lab.rack.metrics[host], lab.rack.collection_time(lab.rack.cells[host])
    if metrics.at(moment).epochs != metrics.at(moment - 60).epochs:
        return
    before = values(lab, host, ago=60)
    for name in RATES:
        total = name.removesuffix("_SEC")
        assert seen[name] == pytest.approx((seen[total] - before[total]) / 60, abs=0.02), name


def load(profile: str, minutes: int) -> Callable[[Lab], None]:
    """Return the action of a load, which also checks that cells and databases count the same."""

    def act(lab: Lab) -> None:
        hosts = list(lab.rack.cells)
        cells = {host: dict(lab.rack.metrics[host].counters) for host in hosts}
        before = {name: dict(counted) for name, counted in lab.rack.statistics.items()}
        end = lab.rack.start_load(db=("SPOT", "ERP")[minutes % 2], profile=profile, redo=50, seconds=60 * minutes).end
        lab.pass_time(end - lab.rack.clock.now() + 0.01)
        lab.rack.advance()
        for statistic, names in {
            "cell flash cache read hits": ("FC_IO_RQ_R", "FC_IO_RQ_R_DW"),
            "cell flash cache read hits for smart IO": ("FC_IO_RQ_R_DW",),
            "cell writes to flash cache": ("FC_IO_RQ_W",),
            "cell overwrites in flash cache": ("FC_IO_RQ_W_OVERWRITE",),
        }.items():
            counted = sum(lab.rack.statistics[db][statistic] - before[db][statistic] for db in before)
            grown = sum(lab.rack.metrics[h].counters.get(n, 0) - cells[h].get(n, 0) for h in hosts for n in names)
            assert counted == grown, statistic

    return act


def statement(text: str, number: int) -> Callable[[Lab], None]:
    """Return the action of a CellCLI statement on one cell, which may as well be refused."""

    def act(lab: Lab) -> None:
        lab.cell(text, number)
        lab.pass_time(45)
        lab.rack.advance()

    return act


STATEMENTS = (
    "alter flashcache all flush",
    "alter flashcache all flush nowait",
    "alter flashcache all cancel flush",
    "drop flashcache",
    "create flashcache all",
    "create flashcache all size=64g",
    "alter flashcache all size=128g",
    "drop flashlog",
    "create flashlog all size=256m",
    "alter cell restart services cellsrv",
    "alter cell shutdown services cellsrv",
    "alter cell startup services cellsrv",
    "alter cell flashCacheMode=writethrough",
    "alter cell flashCacheMode=writeback",
    "alter iormplan dbplan=((name=spot,flashlog=off),(name=other,flashcache=off))",
    "alter iormplan dbplan=''",
)
ACTIONS = st.one_of(
    st.builds(load, st.sampled_from(sorted(PROFILES)), st.integers(1, 4)),
    st.builds(statement, st.sampled_from(STATEMENTS), st.integers(1, 3)),
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(actions=st.lists(ACTIONS, min_size=2, max_size=9))
def test_the_identities_hold_after_any_sequence(actions: list[Callable[[Lab], None]]) -> None:
    """Whatever is loaded, flushed, dropped, restarted or switched off: sums, order of space, rates and monotony hold."""
    lab = Lab()
    known: dict[str, tuple[Epochs, Values]] = {}
    for action in actions:
        action(lab)
        for host in lab.rack.cells:
            metrics = lab.rack.metrics[host]
            seen = values(lab, host)
            check_sums(lab, host, seen)
            check_rates(lab, host, seen)
            epochs = metrics.at(lab.rack.collection_time(lab.rack.cells[host])).epochs
            if host in known and known[host][0] == epochs:
                assert all(seen[name] >= known[host][1][name] - TINY for name in CUMULATIVE)
            known[host] = epochs, seen


def hit_share(lab: Lab, minutes: int = 1) -> float:
    """Return the share of reads that hit on the first cell while a load of transactions runs."""
    counters = lab.rack.metrics["exa1cel01"].counters
    before = {name: counters.get(name, 0) for name in ("FC_IO_RQ_R", "FC_IO_RQ_R_MISS")}
    end = lab.rack.start_load(profile="oltp", redo=2000, seconds=60 * minutes).end
    lab.pass_time(end - lab.rack.clock.now() + 0.01)
    lab.rack.advance()
    counters = lab.rack.metrics["exa1cel01"].counters
    hits, misses = (counters.get(name, 0) - before[name] for name in before)
    return hits / (hits + misses)


def remake(lab: Lab, size: str) -> None:
    """Make the flash cache of every cell anew, empty."""
    for number in range(1, 4):
        for text in ("alter flashcache all flush", "drop flashcache", f"create flashcache all size={size}"):
            assert "CELL-" not in lab.cell(text, number).out
    lab.rack.advance()


def test_a_new_cache_is_cold_and_warms(lab: Lab) -> None:
    """Reads of a new cache hit seldom at first and more often as it fills; a cache of weeks is warm from the start."""
    old = hit_share(lab)
    remake(lab, "288g")
    first, later, warm = hit_share(lab), hit_share(lab, 5), hit_share(lab, 40)
    assert first < 0.1 < later < warm <= old < 0.97


def test_a_larger_cache_ends_up_warmer(lab: Lab) -> None:
    """The same load for the same time hits more often in a large cache than in a small one."""
    shares = []
    for size in ("16g", "96g", "352g"):
        remake(lab, size)
        hit_share(lab, 60)
        shares.append(hit_share(lab))
    assert shares == sorted(shares) and shares[0] + 0.1 < shares[1] and shares[1] + 0.1 < shares[2]


def test_an_empty_cache_fills_from_scans(lab: Lab) -> None:
    """A warehouse alone warms a cold cache too."""
    remake(lab, "288g")
    end = lab.rack.start_load(profile="dw", seconds=600).end
    lab.pass_time(end - lab.rack.clock.now() + 0.01)
    lab.rack.advance()
    assert lab.rack.metrics["exa1cel01"].counters["FC_IO_RQ_R_DW"] > 0


def test_batch_work_is_destaged(lab: Lab) -> None:
    """A load that mostly writes makes the cache as dirty as it may be; the rest goes to disk while it runs."""
    before = values(lab, "exa1cel01")
    end = lab.rack.start_load(profile="batch", redo=20_000, seconds=1800).end
    lab.pass_time(end - lab.rack.clock.now() + 0.01)
    lab.rack.advance()
    after = values(lab, "exa1cel01")
    assert after["FC_BY_DIRTY"] > 10 * before["FC_BY_DIRTY"]
    assert after["FC_IO_BY_DISK_WRITE"] > before["FC_IO_BY_DISK_WRITE"]


def statistics(lab: Lab, database: str = "SPOT", node: int = 1) -> dict[str, int]:
    """Return V$SYSSTAT of one instance."""
    query = (
        "set feedback off heading off pagesize 0 linesize 200 numwidth 20\nselect name||'='||value from v$sysstat;\n"
    )
    pairs = (line.partition("=") for line in lab.db(query, node=node, database=database).lines)
    return {name: int(number) for name, _, number in pairs}


def test_sysstat_moves_with_the_load(lab: Lab) -> None:
    """V$SYSSTAT of the loaded database alone grows, by exactly the load's redo over its instances, in whole requests."""
    before = [statistics(lab, node=node) for node in (1, 2)]
    other = statistics(lab, "ERP")
    end = lab.rack.start_load(db="SPOT", profile="mixed", redo=500, seconds=120).end
    lab.pass_time(end - lab.rack.clock.now() + 0.01)
    after = [statistics(lab, node=node) for node in (1, 2)]
    grown = {name: sum(a[name] - b[name] for a, b in zip(after, before, strict=True)) for name in after[0]}
    assert grown["redo writes"] == 60_000 and grown["redo size"] == 60_000 * 6144
    assert grown["physical read total IO requests"] >= grown["physical read requests optimized"]
    assert grown["physical read requests optimized"] >= grown["cell flash cache read hits"] > 0
    assert grown["cell flash cache read hits"] >= grown["cell flash cache read hits for smart IO"] > 0
    assert grown["physical read total bytes"] >= grown["physical read total bytes optimized"]
    assert grown["redo synch writes"] == grown["user commits"] == 54_000
    assert statistics(lab, "ERP") == other


def test_sysstat_has_all_names_and_asm_has_counted_nothing(lab: Lab) -> None:
    """Every statistic is there by its exact name, also in V$STATNAME; the ASM instance shows them all at 0."""
    names = {name for name, _ in STATISTICS}
    assert set(statistics(lab)) == names
    assert set(lab.rows("select name from v$statname")) == names
    assert {line.strip() for line in lab.rows("select value from v$sysstat")} == {"0"}
    joined = "select n.name from v$mystat m, v$statname n where m.statistic# = n.statistic# and n.name like 'cell fl%'"
    assert len(lab.rows(joined)) == 2


def test_redo_waits_longer_without_flash_log(new_lab: Callable[..., Lab]) -> None:
    """Switching flash log off for a database makes its own redo writes slower, and nobody else's."""

    def wait_us(lab: Lab) -> float:
        end = lab.rack.start_load(redo=1000, seconds=60).end
        before = statistics(lab)
        lab.pass_time(end - lab.rack.clock.now() + 0.01)
        after = statistics(lab)
        return (after["redo synch time (usec)"] - before["redo synch time (usec)"]) / (
            after["redo synch writes"] - before["redo synch writes"]
        )

    lab = new_lab()
    with_log = wait_us(lab)
    for number in (1, 2, 3):
        lab.cell("alter iormplan dbplan=((name=spot,flashlog=off))", number)
    assert wait_us(lab) > 1.1 * with_log


def test_the_command_offers_the_profiles_that_there_are() -> None:
    """What emulator load takes as profile= is what the emulator has."""
    params = {param.name: param for param in commands()["emulator", "load"].params}
    assert params["profile"].choices == tuple(PROFILES)
