"""What stands beside the mean: outliers with their interval, and giving way that fell on one level."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from exacell.measure.experiments import fairness
from exacell.measure.experiments.record import Experiment, Pause, from_json, to_json
from exacell.measure.experiments.said import sentences, verdict_rows
from tests.support.trials import DESIGN, cells, measured


def counted(on: list[int | None], off: list[int | None]) -> Experiment:
    """Return an experiment of six blocks whose runs have so many outliers each; None where cells did not count."""
    found = measured(530, 500)
    values = {"on": iter(on), "off": iter(off)}
    runs = []
    for run in found.runs:
        many = next(values[run.level]) if run.block else 0
        runs.append(replace(run, redo=None if many is None else 100_000, outliers=many, prevented=many and 1))
    return replace(found, runs=tuple(runs))


OUTLIERS = [
    (
        "the flash log at its work", [1, 2, 1, 2, 1, 1], [27, 28, 26, 29, 27, 27],
        "(95 %: +5.9 % to +6.2 %), 6 blocks; 8 redo writes over 500 ms in place of 164 (95 %: -162 to -150).", (-162, -150),
    ),
    ("none anywhere", [0] * 6, [0] * 6, "; no redo write over 500 ms at either level.", (0, 0)),
    ("one", [0, 0, 0, 0, 0, 1], [0] * 6, "; 1 redo write over 500 ms in place of 0 (95 %: +0 to +6).", (0, 6)),
    ("never counted", [None] * 6, [None] * 6, "; how many redo writes took over 500 ms was not counted.", (None, None)),
    (
        "a run whose counters broke off", [1, 2, None, 2, 1, 1], [27, 28, 26, 29, 27, 27],
        "; 7 redo writes over 500 ms in place of 138, in 5 blocks.", (None, None),
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("on", "off", "says", "interval"), [case[1:] for case in OUTLIERS], ids=[c[0] for c in OUTLIERS]
)
def test_outliers_stand_in_the_verdict_on_the_flash_log(
    on: list[int | None], off: list[int | None], says: str, interval: tuple[float | None, float | None]
) -> None:
    """Beside the mean stand the outliers of both levels with the interval of their difference, whatever the mean says; a run
    that was not counted is named, and its block is in no sum."""
    found = counted(on, off)
    told = list(sentences(found))
    assert told[0].endswith(says)
    figures = verdict_rows(found)[0]
    assert (figures["outliersLow"], figures["outliersHigh"]) == interval
    broken = [line for line in told if line.startswith("Outliers were not counted")]
    missing = [run.number for run in found.runs if run.block and run.redo is None]
    assert len(broken) == bool(missing) and all(str(number) in line for number in missing for line in broken)
    other = replace(found, design=replace(DESIGN, factor="parameter", of="open_cursors", said="open_cursors"))
    assert "500 ms" not in next(sentences(other))


def test_counts_of_uneven_loads_have_how_many_writes_there_were() -> None:
    """Where one level has a good part more redo writes than the other the verdict names both numbers."""
    found = counted([1] * 6, [2] * 6)
    runs = tuple(replace(run, redo=run.redo and run.redo * (2 if run.level == "on" else 1)) for run in found.runs)
    assert next(sentences(replace(found, runs=runs))).endswith(", of 1,200,000 and 600,000 writes.")


LOPSIDED = [
    ("never", [], False),
    ("once", [("on", True)], False),
    ("both alike", [("on", True)] * 3 + [("off", True)] * 3, False),
    ("three made anew at one level", [("off", True)] * 3, True),
    ("two", [("off", True)] * 2, False),
    ("five and one", [("off", True)] * 5 + [("on", True)], True),
    ("pauses before runs, five of five", [("off", False)] * 5, False),
    ("pauses before runs, six of six", [("off", False)] * 6, True),
]


@pytest.mark.parametrize(("events", "is_so"), [case[1:] for case in LOPSIDED], ids=[case[0] for case in LOPSIDED])
def test_giving_way_at_one_level_is_no_verdict(events: list[tuple[str, bool]], is_so: bool) -> None:
    """Where runs of one level were made anew, or waited, more than by chance there is no verdict, and both are counted."""
    pauses = tuple(Pause(run=7, seconds=1.0, micros=9e4, again=again, level=level) for level, again in events)
    at_first = tuple(Pause(run=1, seconds=1.0, micros=9e4, again=True, level="on") for _ in range(9))
    found = replace(measured(530, 500), design=replace(DESIGN, limit=0.02), pauses=(*at_first, *pauses))
    told = list(sentences(found))
    assert told[0].startswith("No verdict: it gave way" if is_so else "There is a difference")
    figures = verdict_rows(found)[0]
    assert figures["gaveWay"] == {level: sum(own == level for own, _ in events) for level in ("on", "off")}
    assert (figures["p"] is None) == is_so and (figures["lowPercent"] is None) == is_so
    assert not is_so or figures["finding"].startswith("no verdict")
    assert from_json(json.loads(json.dumps(to_json(found)))) == found


def test_outliers_are_told_for_each_level_where_cells_counted_them() -> None:
    """Writes, outliers and prevented ones add up over the blocks of a level; a cell that collected nothing makes no figure."""
    before = cells({}, {}, FL_RQ_W=10, FL_SKIP_OUTLIERS=1, FL_ACTUAL_OUTLIERS=0, FL_PREVENTED_OUTLIERS=0)
    counts = {"FL_RQ_W": 110.0, "FL_SKIP_OUTLIERS": 4.0, "FL_ACTUAL_OUTLIERS": 0.0, "FL_PREVENTED_OUTLIERS": 2.0}
    after = {cell: replace(found, collected=2, values=counts) for cell, found in before.items()}
    assert fairness.outliers(before, after) == (200, 6, 4)
    assert fairness.outliers(before, before) == (None, None, None)
    assert fairness.outliers(before, {**after, "cel02": replace(after["cel02"], started=5)}) == (None, None, None)
    for missing in counts:
        part = {name: value for name, value in counts.items() if name != missing}
        assert fairness.outliers(before, {**after, "cel02": replace(after["cel02"], values=part)}) == (None, None, None)
    counted = measured(530, 500)
    runs = [
        replace(run, redo=100, outliers=int(run.level == "off"), prevented=int(run.level == "on"))
        for run in counted.runs
    ]
    told = list(sentences(replace(counted, runs=tuple(runs))))
    assert (
        "0 in 600 redo writes with flash log on (6 more were prevented), 6 in 600 redo writes with flash log off."
        in told[3]
    )
