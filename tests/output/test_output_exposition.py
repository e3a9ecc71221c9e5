"""Prometheus' text form, judged by prometheus_client's own parser: families, escapes, and values as they came."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given, strategies as st
from prometheus_client.parser import text_string_to_metric_families

from exacell.output.exposition import exposition

TYPES = {"FL_RQ_W": True, "FC_BY_USED": False}


def row(name: str, item: str, value: Any, unit: str = "MB") -> dict[str, Any]:
    return {"name": name, "metricObjectName": item, "metricValue": value, "unit": unit}


def written(cells: Mapping[str, Iterable[Mapping[str, Any]]], means: str = "what it is") -> str:
    read = {cell: list(rows).__iter__ for cell, rows in cells.items()}
    return "".join(f"{line}\n" for line in exposition(read, lambda _: means, lambda name: TYPES.get(name, False)))


def read_back(text: str) -> dict[tuple[str, str, str], float]:
    """Return (metric, cell, object) → value, as Prometheus' own parser reads it."""
    return {
        (sample.name, sample.labels["cell"], sample.labels["object"]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_a_metric_is_one_family_over_all_cells() -> None:
    """Lines of a metric stand together below one HELP and one TYPE, also of a cell whose rows come in another order."""
    text = written(
        {
            "a": [row("FC_BY_USED", "x", 1.5), row("FL_RQ_W", "FLASHLOG", 7, "IO requests")],
            "b": [row("FL_RQ_W", "FLASHLOG", 8, "IO requests"), row("FC_BY_USED", "x", 2)],
        }
    )
    assert text.splitlines() == [
        "# HELP exadata_fc_by_used FC_BY_USED: what it is, in MB",
        "# TYPE exadata_fc_by_used gauge",
        'exadata_fc_by_used{cell="a",object="x"} 1.5',
        'exadata_fc_by_used{cell="b",object="x"} 2',
        "# HELP exadata_fl_rq_w_total FL_RQ_W: what it is, in IO requests",
        "# TYPE exadata_fl_rq_w_total counter",
        'exadata_fl_rq_w_total{cell="a",object="FLASHLOG"} 7',
        'exadata_fl_rq_w_total{cell="b",object="FLASHLOG"} 8',
    ]
    assert [family.type for family in text_string_to_metric_families(text)] == ["gauge", "counter"]


def test_what_is_no_number_is_no_sample() -> None:
    """A value that a cell did not give is left out, and a metric without any has no family."""
    text = written({"a": [row("FC_BY_USED", "x", None), row("FL_RQ_W", "y", True)], "b": [row("FC_BY_USED", "x", 3)]})
    assert read_back(text) == {("exadata_fc_by_used", "b", "x"): 3.0} and "fl_rq_w" not in text


@given(
    st.dictionaries(
        st.text(min_size=1), st.lists(st.tuples(st.text(), st.floats(allow_nan=False)), max_size=4), max_size=4
    ),
    st.text(st.characters(exclude_characters="\r", exclude_categories=("Cs",))),
)
def test_names_of_any_text_come_back(cells: dict[str, list[tuple[str, float]]], means: str) -> None:
    """Whatever stands in names of cells and objects and in help texts, the parser gives back each of them with its value."""
    rows = {cell: [row("FC_BY_USED", item, value) for item, value in found] for cell, found in cells.items()}
    expected = {
        ("exadata_fc_by_used", cell, item): value for cell, found in cells.items() for item, value in found
    }  # fmt: skip
    assert read_back(written(rows, means)) == expected


def test_values_are_as_exact_as_they_came() -> None:
    """Large counters and small fractions lose no digit."""
    for value in (2**53 - 1, 0.1 + 0.2, 5e-324, 1.7976931348623157e308):
        found = read_back(written({"a": [row("FL_RQ_W", "x", value)]}))
        assert list(found.values()) == [value] and math.isfinite(value)


@pytest.mark.skipif(
    shutil.which("promtool") is None, reason="there is no promtool (Debian: apt-get install prometheus)"
)
def test_promtool_takes_it() -> None:
    """Prometheus' own checker finds nothing wrong."""
    text = written({"a": [row("FC_BY_USED", "x", 1.5), row("FL_RQ_W", "FLASHLOG", 7, "IO requests")]})
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
