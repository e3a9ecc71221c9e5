"""Metric values of a rack: one over time with its chart, and all of them for other programs, as the cells have them."""

from __future__ import annotations

import csv
import io
import json

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.program import InProcess


def test_a_load_is_seen_in_the_history_of_a_counter(shared: InProcess) -> None:
    """The increase of all cells together is what the load wrote; the chart is for terminals, records for programs."""
    words = ("-r", "t1", "-o", "json", "show", "metric", "fl_rq_w", "last=30m")
    before = shared.ok(*words).records
    shared.ok("emulator", "load", "t1", "db=SPOT", "redo=500", "for=2m")
    shared.ok("-r", "t1", "snap", "flashlog", "as=behind")
    rows = [row for row in shared.ok(*words).records if "object" in row]
    assert [row["cell"] for row in rows] == ["exa1cel01", "exa1cel02", "exa1cel03"]
    fell = {row["cell"]: row["fell"] for row in before if "object" in row}  # Where a cell had just been started anew.
    assert len(before) >= 4 and all(row["fell"] <= fell[row["cell"]] and row["most"] > 0 for row in rows)
    current = shared.ok("-r", "t1", "-o", "json", "list", "metriccurrent", "FL_RQ_W").records
    assert [row["latest"] for row in rows] == [row["metricValue"] for row in current]
    with shared.at_terminal("-r", "t1", "show", "metric", "FL_RQ_W", "last=30m", rows=60, columns=100) as terminal:
        screen = terminal.rest()
    assert "aa exa1cel01 FLASHLOG" in screen and "minutes before" in screen and "┤" in screen
    assert "┤" not in shared.ok("-r", "t1", "show", "metric", "FL_RQ_W").out


def test_one_object_is_chosen_and_an_unknown_metric_is_asked_for(inside: InProcess) -> None:
    """object= leaves the other disks out; a misspelt metric and an object that is not there are one line each."""
    rows = inside.ok("-r", "t1", "-o", "json", "show", "metric", "CD_IO_LOAD", "object=CD_00_exa1cel02").records
    assert [(row["cell"], row["object"]) for row in rows if "object" in row] == [("exa1cel02", "CD_00_exa1cel02")]
    wrong = inside("-r", "t1", "show", "metric", "FL_RQ_WW")
    assert wrong.code == 2 and "no cell has a value of FL_RQ_WW" in wrong.err and "did you mean FL_RQ_W" in wrong.err
    for form in ("csv", "jsonl", "prometheus"):
        none = inside.ok("-r", "t1", "metrics", "export", "FL_RQ_WW", f"format={form}")
        assert "no cell has a value of FL_RQ_WW; did you mean FL_RQ_W" in none.err
    absent = inside("-r", "t1", "show", "metric", "CD_IO_LOAD", "object=none")
    assert absent.code == 2 and "no cell has a value of CD_IO_LOAD of none" in absent.err


def test_exports_have_the_values_of_list(inside: InProcess) -> None:
    """csv, jsonl and Prometheus' text, read by the parsers of others, hold the same values as LIST METRICCURRENT."""
    words = ("-r", "t1", "metrics", "export", "FL_.*")
    read = {
        (row["cell"], row["name"]): float(row["metricValue"])
        for row in inside.ok("-r", "t1", "-o", "json", "list metriccurrent where name like 'FL_.*'").records
    }
    assert len(read) > 60
    by_line = [json.loads(line) for line in inside.ok(*words, "format=jsonl").out.splitlines()]
    by_comma = list(csv.DictReader(io.StringIO(inside.ok(*words).out)))
    for found in (by_line, by_comma):
        assert {(row["cell"], row["name"]): float(row["metricValue"]) for row in found} == read
        assert list(found[0]) == [
            "cell", "name", "metricObjectName", "metricValue", "unit", "metricType", "collectionTime",
        ]  # fmt: skip
    families = list(text_string_to_metric_families(inside.ok(*words, "format=prometheus").out))
    samples = {
        (sample.labels["cell"], family.name): sample.value for family in families for sample in family.samples
    }  # fmt: skip
    assert samples == {(cell, f"exadata_{name.lower()}"): value for (cell, name), value in read.items()}
    types = {row["name"]: row["metricType"] for row in by_line}
    told = {name: next(f.type for f in families if f.name == f"exadata_{name.lower()}") for name in types}
    assert all((told[name] == "counter") == (kind == "Cumulative") for name, kind in types.items())


def test_the_history_is_exported_minute_by_minute(inside: InProcess) -> None:
    """last= gives every collection of that time; Prometheus' form, which holds one value, refuses it."""
    rows = list(csv.DictReader(io.StringIO(inside.ok("-r", "t1", "metrics", "export", "CL_CPUT", "last=10m").out)))
    assert len(rows) >= 20 and len({row["collectionTime"] for row in rows}) >= 9
    refused = inside("-r", "t1", "metrics", "export", "last=10m", "format=prometheus")
    assert refused.code == 2 and "so last= is not allowed" in refused.err and not refused.out


@pytest.mark.parametrize("form", ["csv", "prometheus"])
def test_a_cell_without_an_answer_is_told_and_has_no_values(alone: InProcess, form: str) -> None:
    """The other cells' values are written, the silent one is named on stderr, and the exit code is 1."""
    alone.ok("emulator", "start", "t1")
    alone.ok("emulator", "fault", "t1", "exa1cel02", "refuse")
    done = alone("-r", "t1", "metrics", "export", "FL_RQ_W", f"format={form}")
    assert done.code == 1 and "exa1cel02" in done.err
    assert "exa1cel01" in done.out and "exa1cel03" in done.out and "exa1cel02" not in done.out
