"""A long METRICHISTORY leaves as a stream: bounded memory, turns for others, and the same text whichever way it is made."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Sequence
from itertools import pairwise

import pytest
from cells_bench import Bench

from exacell.emulator.basics.program import Out
from exacell.emulator.basics.schema import metric_definitions
from exacell.emulator.cellcli.program import cellcli
from exacell.emulator.grammar.values import Metric, text_of
from exacell.emulator.statements import history
from exacell.emulator.statements.metric_listing import telling_minutes

HOUR = "list metrichistory where ageInMinutes < 60"
MIB = 1 << 20


def pieces(bench: Bench, statement: str) -> list[str]:
    """Return the texts that a statement yields, empty ones too."""
    run = cellcli(bench.rack, "exa1cel01", "celladmin", ["-e", statement], tty=False, has_stdin=False)
    return [event.text for event in run if isinstance(event, Out)]


def rows(text: str) -> list[list[str]]:
    """Return the columns of plain rows."""
    return [[column.strip() for column in line.split("\t")[1:]] for line in text.splitlines()]


def test_windows_cost_little_memory() -> None:
    """The minutes of a window of all disks' metrics, 50,000 values, are not kept: it is printed with less than 15 MB."""
    bench = Bench()
    tracemalloc.start()
    found = pieces(
        bench,
        "list metrichistory where ageInMinutes < 40 and objectType = 'CELLDISK' attributes name,metricValueAvg over 20",
    )
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(map(len, found)) > 30_000
    assert peak < 15 * MIB


@pytest.mark.parametrize(
    "statement",
    [
        f"{HOUR} attributes name,metricValueAvg over 30",
        f"{HOUR} and name like 'FL_.*' detail",
        f"{HOUR} and objectType = 'FLASHCACHE'",
        f"{HOUR} and name like 'FC_BY_.*' order by collectionTime limit 5",
    ],
)
def test_others_get_their_turn(statement: str) -> None:
    """Between the minutes of a history there is something to yield, before its first line as well."""
    assert len(pieces(Bench(), statement)) >= 50


def test_columns_are_the_same_computed_once_or_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A history that is too long to be kept is computed again for printing, and comes out the same."""
    statement = f"{HOUR} and name like 'CL_.*' attributes name,collectionTime,metricValue,alertState"
    kept = Bench().e(statement)
    monkeypatch.setattr(history, "_KEPT_TEXTS", 10)
    assert Bench().e(statement) == kept
    assert len(rows(kept)) == 60 * len({row[0] for row in rows(kept)})


@pytest.mark.parametrize("name", ["FL_RQ_W", "CL_TEMP", "FC_BY_DIRTY"])
def test_windows_are_the_aggregates_of_their_minutes(name: str) -> None:
    """Average, highest and lowest value of a window are those of the minutes in it, also where they stand still."""

    def values(text: str, column: int) -> Sequence[float]:
        return [float(row[column].split()[0].replace(",", "")) for row in rows(text)]

    bench = Bench()
    bench.rack.start_load(seconds=600)
    bench.pass_time(900)
    minutes = values(bench.e(f"list metrichistory {name} attributes metricValue where ageInMinutes < 40"), 0)
    over = bench.e(
        f"list metrichistory {name} attributes metricValueAvg,metricValueMax,metricValueMin where ageInMinutes < 40 over 10"
    )
    assert len(minutes) == 40 and 4 <= len(rows(over)) <= 5
    assert max(values(over, 1)) == max(minutes) and min(values(over, 2)) == min(minutes)
    for average, high, low in zip(values(over, 0), values(over, 1), values(over, 2), strict=True):
        assert low - 1 <= average <= high + 1


def test_json_and_xml_hold_what_the_columns_show() -> None:
    """The three forms of one history have the same values, and without rows they are documents without objects."""
    statement = "list metrichistory CL_TEMP where ageInMinutes < 3"
    bench = Bench(model="x10m")
    plain = rows(bench.e(statement))
    document = json.loads(bench.run("--json", "-e", statement))
    text = bench.run("-xml", "-e", statement)
    assert [one["name"] for one in document["metric"]] == [row[0] for row in plain] == ["CL_TEMP"] * 3
    assert text.count("<metric>") == 3 and text.endswith("</metric>\n</cli-output>\n")
    nothing = f"{statement} and name = 'CL_FANS'"
    assert json.loads(bench.run("--json", "-e", nothing))["metric"] == []
    assert "<metric>" not in bench.run("-xml", "-e", nothing)


def test_order_by_needs_a_limit_when_there_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorting more rows than MAX_SORTED is refused with CELL-02026; with LIMIT the first of them come in order."""
    monkeypatch.setattr(history, "MAX_SORTED", 100)
    bench = Bench()
    statement = f"{HOUR} and name like 'FL_IO.*' attributes name,metricValue order by name"
    assert bench.e(statement).startswith('CELL-02026: The LIMIT parameter is mandatory for "LIST METRICHISTORY"')
    first = rows(bench.e(f"{statement} desc limit 3"))
    assert [row[0] for row in first] == ["FL_IO_W_SKIP_NO_FL_DISKS"] * 3


def test_a_week_of_everything_begins_at_once(bench: Bench) -> None:
    """LIST METRICHISTORY without a filter prints its first minute after looking at no more than a hundred."""
    bench.rack.start_load(seconds=300, profile="mixed")
    bench.pass_time(420)
    program = cellcli(bench.rack, "exa1cel01", "celladmin", ["-e", "list metrichistory"], tty=False, has_stdin=False)
    turns, first = 0, ""
    while not first:
        event = next(program)
        assert isinstance(event, Out)
        turns, first = turns + 1, event.text
    program.close()
    assert turns < 100
    lines = first.splitlines()
    assert len({line.split("\t")[-1] for line in lines}) == 1 and len({len(line) for line in lines}) == 1
    assert len(lines) == len(bench.values("list metriccurrent"))


def test_the_width_of_a_long_history_fits_its_largest_values(bench: Bench) -> None:
    """The column of a history that is printed while it is computed is as wide as the widest value at its telling minutes."""
    bench.rack.start_load(seconds=300, profile="mixed")
    bench.pass_time(600)
    bench.e("alter cell restart services cellsrv ignore redundancy")
    bench.pass_time(600)
    metrics, last = bench.rack.metrics["exa1cel01"], bench.rack.collection_time(bench.cell)
    minutes = [last - 60 * n for n in range(10_080, -1, -1)]
    telling = telling_minutes(metrics, minutes)
    assert len(telling) < 100 and telling[-1] == last and set(telling) <= set(minutes)
    restarted = next(b.moment for a, b in pairwise(metrics.collections) if a.epochs != b.epochs)
    assert restarted - 60 in telling
    for name in ("CD_IO_TM_W_SM", "FC_IO_RQ_R", "FC_IO_RQ_R_SEC", "CD_IO_BY_R_SM_SEC", "FL_IO_W"):
        reader, definition = bench.rack.reader(bench.cell), metric_definitions()[name]
        texts = {
            moment: max(len(text_of(Metric(r.number, definition.unit))) for r in reader.readings(moment, [definition]))
            for moment in minutes[::7] + telling
        }
        assert max(texts.values()) <= max(texts[moment] for moment in telling)


@pytest.mark.parametrize("clauses", ["", " over 60", " order by name limit 5", " detail"])
def test_a_state_that_no_past_value_has_is_answered_at_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, clauses: str
) -> None:
    """No minute of a week is looked at for what was not normal, because all that is past was."""

    def looked(*_args: object) -> list[float]:
        raise AssertionError("a minute was looked at")

    monkeypatch.setattr(history, "history_minutes", looked)
    monkeypatch.setattr("exacell.emulator.statements.metric_listing.history_minutes", looked)
    assert bench.e(f"list metrichistory where alertState != 'Normal'{clauses}") == ""
