"""An experiment of six blocks on the flash log of SPOT, and cells as they tell of themselves."""

from __future__ import annotations

from dataclasses import replace

from exacell.measure.experiments.record import Design, Experiment, Measured
from exacell.measure.snapshot import CellCounters

DESIGN = Design(
    factor="flashlog", levels=("on", "off"), db="SPOT", blocks=6, order="random", seed=1, pairs=2, matters=2.0,
    measure="commits", seconds=60.0,
)  # fmt: skip
EMPTY = Experiment(
    name="e1", rack="t1", statement="experiment …", design=DESIGN, began="2026-11-27T10:00:00+00:00", now="on"
)

PASSPORT = {
    "release": "19.3.2.0.0.190918",
    "flashCacheMode": "writeback",
    "model": "Oracle Corporation SUN FIRE X4270 M2 SERVER High Performance",
    "cacheSize": "391378894848",
    "flashLog": "512M normal",
    "memoryLog": "none",
    "dbPlan": "((name=SPOT,share=8),(name=default,share=1))",
}


def cells(*passports: dict[str, str], **counters: float) -> dict[str, CellCounters]:
    return {
        f"cel{number:02}": CellCounters(collected=1, values=counters, passport={**PASSPORT, **told})
        for number, told in enumerate(passports, start=1)
    }


def measured(on: float, off: float, *, runs: int = 16) -> Experiment:
    """Return an experiment whose first runs were measured, with values that alternate by half a microsecond."""
    found = [
        Measured(
            number=run.number, block=run.block, pair=run.pair, level=run.level, count=1000, at="2026-11-27T10:00:00+00:00",
            value=(on if run.level == "on" else off) + (run.number % 3) / 2,
        )
        for run in EMPTY.schedule[:runs]
    ]  # fmt: skip
    return replace(EMPTY, runs=tuple(found))
