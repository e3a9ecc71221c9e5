"""What a report shows of an experiment: the effect beside the A/A spread, the runs in time with their pauses, both levels."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from exacell.measure.experiments.record import RUNNING, STOPPED, Experiment, Measured, Pause, from_json, to_json
from exacell.measure.experiments.reported import finding, timed
from exacell.measure.finding import Chart, Finding, differences
from exacell.output.report.page import Made, page
from exacell.output.report.text import markdown
from tests.support.kept import kept_experiment, kept_finding

MADE = Made(at="2026-11-27T19:00:00+00:00", version="9.9", statement="report e2")


@pytest.fixture
def kept() -> Experiment:
    return kept_experiment()


@pytest.fixture
def found() -> Finding:
    return kept_finding()


def points(chart: Chart) -> dict[str, list[float]]:
    return {series.name: [y for _, y in series.points] for series in chart.series}


def test_the_effect_stands_beside_the_spread_of_the_a_a_stretch(found: Finding, kept: Experiment) -> None:
    """The verdict is the first sentence; the first figure has its interval, the second is the A/A spread."""
    verdict = kept.verdict()
    assert found.verdict.startswith("There is a difference: with flash log on")
    assert found.figures is not None
    effect, same = found.figures.rows[:2]
    assert (effect["value"], effect["low"], effect["high"]) == (verdict.effect, verdict.low, verdict.high)
    assert (same["figure"], same["value"]) == ("A/A spread", verdict.same_spread)


def test_the_timeline_has_every_run_at_its_level_and_the_pause(found: Finding, kept: Experiment) -> None:
    """Each run stands at its level's line in the order of time, and the one behind the interruption says how long it was."""
    timeline, blocks = found.charts
    drawn = points(timeline)
    assert {name: len(values) for name, values in drawn.items()} == {
        "flash log on": 6, "flash log off": 6, "A/A, on": 6,
    }  # fmt: skip
    assert drawn["flash log off"] == [run.value for run in kept.runs if run.level == "off"]
    ends = [each.end for each in timed(kept)]
    assert ends == sorted(ends) and ends[-1] < 60
    (mark,) = [mark for series in timeline.series for mark in series.marks]
    assert mark.label == "after a pause of 1m21s"
    (paused,) = [row for row in found.tables[1].rows if row["pauseSeconds"]]
    assert (paused["part"], paused["pauseSeconds"]) == ("block 3", 81)
    effect, same = points(blocks).values()
    assert len(same) == 3 and max(map(abs, same)) < 2 and all(-19 < value < -16 for value in effect)


@pytest.mark.parametrize(
    ("measure", "said"),
    [("commits", "no distribution of single waits"), ("redo", "trace collect"), ("reads", "trace collect"),
     ("flashlog", "no distribution of single redo requests"), ("fio", "import fio")],
)  # fmt: skip
def test_a_report_says_that_there_is_no_distribution(kept: Experiment, measure: str, said: str) -> None:
    """Runs are measured by counters, whatever is measured: the report says so, and what would show the tail."""
    told = finding(replace(kept, design=replace(kept.design, measure=measure)), [])
    assert said in told.sentences[-1] and not told.distributions
    for text in (markdown(told, MADE), page(told, MADE)):
        assert "there is no distribution" in text
    assert "distribution" not in " ".join(finding(replace(kept, runs=()), []).sentences)


def with_sizes(kept: Experiment) -> Experiment:
    """Return it as a database counts whose waits are in two sizes, one more of 2048 at the level that is off."""
    runs = [replace(run, sizes=((512, run.count - 2), (2048, 2 + (run.level == "off")))) for run in kept.runs]
    return replace(kept, runs=tuple(runs))


@pytest.mark.parametrize("write", [page, markdown])
def test_a_report_shows_single_waits_where_the_database_told_them(kept: Experiment, write: object) -> None:
    """The waits of all blocks of a level stand by size, count and parts of a million, and are a distribution of the report."""
    assert callable(write)
    found = finding(with_sizes(kept), [])
    (table,) = [table for table in found.tables if table.title == "Waits by size"]
    assert [row["shorterThanUs"] for row in table.rows] == [512, 2048]
    runs = [run for run in kept.runs if run.block and run.level == "off"]
    whole = sum(run.count + 1 for run in runs)
    assert table.rows[1]["offWaits"] == 3 * len(runs) and table.rows[1]["onWaits"] == 2 * len(runs)
    assert table.rows[1]["offPerMillion"] == round(3e6 * len(runs) / whole, 1)
    assert {one.name: one.counts.n for one in found.distributions}["flash log off"] == whole
    text = write(found, MADE)
    assert "Waits by size" in text and "powers of two" in text and "there is no distribution" not in text


def test_sizes_of_some_runs_alone_are_no_distribution(kept: Experiment) -> None:
    """Where a run of a level has no sizes, as an older release kept it, none are shown; kept ones are read back as they were."""
    whole = with_sizes(kept)
    assert from_json(json.loads(json.dumps(to_json(whole)))) == whole
    last = next(run for run in reversed(whole.runs) if run.block)
    part = replace(whole, runs=tuple(replace(run, sizes=()) if run is last else run for run in whole.runs))
    assert not finding(part, []).distributions and "there is no distribution" in finding(part, []).sentences[-1]


def test_levels_are_the_sides_and_differ_in_the_factor_alone(found: Finding) -> None:
    """The passport of both levels is that of the cells, with the factor as what differs."""
    assert differences(found.sides) == {"flash log of SPOT": ("off", "on")}
    assert found.sides[0].passport["flash cache size"] == "364.75G"
    assert "6 runs, 648,000 counted, 633.8 µs" in found.sides[0].about


def test_files_beside_the_report_hold_all_that_was_measured(found: Finding, kept: Experiment) -> None:
    """runs.csv has every run, and experiment.json is the experiment as it is kept."""
    files = {file.name: file.content.decode() for file in found.artifacts}
    rows = list(csv.DictReader(io.StringIO(files["runs.csv"])))
    assert [(int(row["run"]), row["level"]) for row in rows] == [(run.number, run.level) for run in kept.runs]
    assert [float(row["us"]) for row in rows] == [round(run.value, 3) for run in kept.runs]
    assert from_json(json.loads(files["experiment.json"])) == kept


@pytest.mark.parametrize("write", [page, markdown])
def test_each_form_has_runs_changes_and_the_way_to_repeat_it(found: Finding, write: object) -> None:
    """The page and Markdown have the blocks, the runs, each change with its hash, and the experiment's statement."""
    assert callable(write)
    text = write(found, MADE)
    assert "Runs in order" in text and "block 6" in text and found.repeat[0] in text
    assert found.changes and all(change.chained in text for change in found.changes)
    assert text.index("There is a difference") < text.index("A/A spread")


@pytest.mark.parametrize(("runs", "state"), [(0, RUNNING), (3, STOPPED), (10, STOPPED)])
def test_an_experiment_that_is_not_at_its_end_can_be_reported(kept: Experiment, runs: int, state: str) -> None:
    """With no run, within the A/A stretch and after two blocks the page says that there is not enough data, and what is left."""
    part = finding(replace(kept, runs=kept.runs[:runs], state=state, ended=""), [])
    assert part.verdict.startswith("Not enough data")
    assert part.notes[0].endswith(f"of 18 runs were not made ({state})")
    assert part.verdict in page(part, MADE) and len(part.charts) == (2 if runs else 0)


def test_runs_of_an_older_release_have_an_order_without_lengths(kept: Experiment) -> None:
    """Runs that do not tell when they began are drawn where they ended."""
    old = replace(kept, runs=tuple(replace(run, began="") for run in kept.runs))
    found = finding(old, [])
    assert "seconds" not in found.tables[1].columns and len(found.charts) == 2
    assert [each.end for each in timed(old)] == sorted(each.end for each in timed(old))


def test_a_time_in_which_it_gave_way_is_a_pause_however_short(kept: Experiment) -> None:
    """Twenty seconds of giving way before a run stand in the table and the chart, and take no room on the axis."""

    def later(run: Measured) -> Measured:
        moved = [(datetime.fromisoformat(moment) + timedelta(seconds=20)).isoformat() for moment in (run.began, run.at)]
        return replace(run, began=moved[0], at=moved[1]) if run.number >= 14 else run

    gave_way = replace(
        kept, runs=tuple(map(later, kept.runs)), pauses=(Pause(run=14, seconds=20.0, micros=900.0),), ended=""
    )
    rows = finding(gave_way, []).tables[1].rows
    assert {row["run"]: row["pauseSeconds"] for row in rows if row["pauseSeconds"]} == {11: 81, 14: 20}
    assert timed(gave_way)[-1].end == pytest.approx(timed(kept)[-1].end, abs=0.01)
