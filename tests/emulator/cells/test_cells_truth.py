"""A planted effect is in the counters of the cells and in the waits of the database, and nowhere where none is planted."""

from __future__ import annotations

import pytest
from cells_bench import Bench

from exacell.core.errors import EmulatorError
from exacell.emulator.io.truth import Truth
from exacell.emulator.rack.rack import Rack

_WAITS = ("redo writes", "redo write time", "redo synch writes", "redo synch time (usec)")
_FLASH = ("FL_RQ_W", "FL_RQ_TM_W", "FL_IO_TM_W", "FL_PREVENTED_OUTLIERS", "FL_SKIP_OUTLIERS", "FL_IO_W")


def counted(bench: Bench, minutes: int = 200, db: str = "SPOT") -> dict[str, float]:
    """Return what a load of so many minutes adds to the counters of the database and of all cells."""

    def now() -> dict[str, float]:
        statistics = bench.rack.statistics[db]
        return {name: statistics.get(name, 0) for name in _WAITS} | {
            name: sum(metrics.counters.get(name, 0) for metrics in bench.rack.metrics.values())
            for name in (*_FLASH, "FC_IO_RQ_R", "FC_IO_RQ_R_MISS")
        }

    before = now()
    end = bench.rack.start_load(db=db, redo=2000, seconds=60 * minutes).end
    bench.pass_time(end - bench.rack.clock.now() + 0.001)
    bench.rack.advance()
    after = now()
    return {name: after[name] - before[name] for name in after}


def switch(bench: Bench, state: str) -> None:
    for host in bench.rack.cells:
        bench.e(f"alter iormplan dbplan=((name=spot,flashlog={state}))", cell=host)


@pytest.mark.parametrize("adds", [6.0, 0.0, -12.5])
def test_the_mean_is_what_is_planted(bench: Bench, adds: float) -> None:
    """Over millions of writes flash logging adds just so much to the time of a write on cells and to both of the database's
    waits, and prevents just so many outliers."""
    bench.rack.plant("spot", Truth(adds=adds, prevents=40))
    switch(bench, "on")
    on = counted(bench)
    switch(bench, "off")
    off = counted(bench)
    for time, count in (
        ("FL_RQ_TM_W", "FL_RQ_W"),
        ("redo write time", "redo writes"),
        ("redo synch time (usec)", "redo synch writes"),
    ):
        ratio = (on[time] / on[count]) / (off[time] / off[count])
        assert 100 * (ratio - 1) == pytest.approx(adds, abs=0.5), time
    assert on["FL_PREVENTED_OUTLIERS"] / on["FL_RQ_W"] * 1e6 == pytest.approx(40, rel=0.05)
    assert off["FL_SKIP_OUTLIERS"] / off["FL_RQ_W"] * 1e6 == pytest.approx(41.2, rel=0.05)
    assert 0 < on["FL_IO_TM_W"] < on["FL_RQ_TM_W"]


def test_another_database_keeps_the_models_effect(bench: Bench) -> None:
    """What is planted for one database is not true of another, nor of the same one when it is taken away again."""
    bench.rack.plant("SPOT", Truth(adds=50))
    other = counted(bench, 20, db="ERP")
    planted = counted(bench, 20)
    bench.rack.plant("SPOT", None)
    free = counted(bench, 20)
    means = [found["FL_RQ_TM_W"] / found["FL_RQ_W"] for found in (other, planted, free)]
    assert means[0] == pytest.approx(means[2], rel=0.03) and means[1] > 1.5 * means[0]


def test_a_full_cache_hits_what_is_planted_and_a_cold_one_less(bench: Bench) -> None:
    """A cache of the planted size serves the planted share of reads when it is full, and hardly any after a flush."""
    size = next(iter(bench.rack.cells.values())).flash_cache
    assert size is not None
    bench.rack.plant("SPOT", Truth(hits=70, cache=size.size_bytes))
    warm = counted(bench, 60)
    share = warm["FC_IO_RQ_R"] / (warm["FC_IO_RQ_R"] + warm["FC_IO_RQ_R_MISS"])
    assert share == pytest.approx(0.7, abs=0.08)
    for cell in bench.rack.cells.values():
        assert cell.flash_cache is not None
        for member in cell.flash_cache.members.values():
            member.used_bytes = member.dirty_bytes = 0
    cold = counted(bench, 1)
    assert cold["FC_IO_RQ_R"] < 0.05 * (cold["FC_IO_RQ_R"] + cold["FC_IO_RQ_R_MISS"])


def test_what_is_planted_survives_a_restart_of_the_rack(bench: Bench) -> None:
    """The state of the rack holds it."""
    bench.rack.plant("SPOT", Truth(adds=6, prevents=25))
    again = Rack.from_state(bench.rack.to_state(), bench.rack.clock)
    assert again.truths == {"SPOT": Truth(adds=6, prevents=25)}


IMPOSSIBLE = [
    ({"adds": -70.0}, "adds=-70 is not possible: percent, to 1000; saves= takes off up to 60"),
    ({"prevents": 3.0}, "prevents= goes with adds= or saves="),
    ({"adds": 1.0, "prevents": 2000.0}, "prevents=2000 is not possible"),
    ({"hits": 120.0, "cache": 1}, "hits=120 is not possible"),
    ({"hits": 50.0}, "hits= and cache= go together"),
    ({"cache": 1}, "hits= and cache= go together"),
]


@pytest.mark.parametrize(("values", "says"), IMPOSSIBLE)
def test_what_no_load_can_be_is_refused(values: dict[str, float], says: str) -> None:
    """An effect that no load can have is named, with the limits."""
    with pytest.raises(EmulatorError, match=says.replace("(", "\\(")):
        Truth(**values)  # type: ignore[arg-type]
