"""Texts of records with their types."""

from __future__ import annotations

import pytest

from exacell.cellcli.reply import typed_value, values
from exacell.cellcli.schema import Kind
from tests.support.every import every


@every(
    [
        ("364.75G", Kind.SIZE, 391647330304),
        ("0", Kind.SIZE, 0),
        ("1488.75G", Kind.SIZE, 1598533140480),
        ("309237645312", Kind.SIZE, 309237645312),
        ("unlimited", Kind.SIZE, "unlimited"),
        ("12", Kind.INT, 12),
        ("4294967293", Kind.INT, 4294967293),
        ("25.0", Kind.NUMBER, 25.0),
        ("99.37", Kind.PERCENT, 99.37),
        ("100.0 %", Kind.PERCENT, 100.0),
        ("32/32", Kind.INT, "32/32"),
        ("TRUE", Kind.BOOL, True),
        ("false", Kind.BOOL, False),
        ("maybe", Kind.BOOL, "maybe"),
        ("FD_00_c, FD_02_c", Kind.LIST, ("FD_00_c", "FD_02_c")),
        ("2021-04-11T10:22:31+02:00", Kind.TIME, "2021-04-11T10:22:31+02:00"),
        ("1618139991000", Kind.TIME, "2021-04-11T11:19:51+00:00"),
        ("1618139991500", Kind.TIME, "2021-04-11T11:19:51.500+00:00"),
        ("not present", Kind.ENUM, "not present"),
        ("", Kind.SIZE, None),
        ("", Kind.LIST, None),
        ("", Kind.STRING, None),
    ]
)
def test_a_text_becomes_what_its_kind_says(text: str, kind: Kind, expected: object) -> None:
    """Sizes are integer bytes, empty texts None, and what is not of its kind stays text."""
    found = typed_value(text, kind)
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3,418 IO requests", (3418, "IO requests")),
        ("811,377 MB", (811377, "MB")),
        ("21.082 MB", (21.082, "MB")),
        ("1,540.5 IO/sec", (1540.5, "IO/sec")),
        ("52.1 %", (52.1, "%")),
        ("0.0 /min", (0.0, "/min")),
        ("6.0", (6.0, "")),
        ("-1 C", (-1, "C")),
        ("1.2E7", (12000000.0, "")),
    ],
)
def test_metric_values_are_a_number_and_a_unit(text: str, expected: tuple[float, str]) -> None:
    """Separators go, the unit is kept as printed, plain counts have none."""
    found = values({"name": "unknown", "metricValue": text}, "METRICCURRENT")
    assert (found["metricValue"], found["unit"]) == expected


@pytest.mark.parametrize("text", ["MB", "1,23 MB", "12MB"])
def test_what_is_no_metric_value_stays_text(text: str) -> None:
    """A text without a proper number in front is kept as the cell printed it, without a unit."""
    found = values({"name": "unknown", "metricValue": text}, "METRICCURRENT")
    assert found == {"name": "unknown", "metricValue": text, "unit": ""}


def test_a_metric_has_the_same_value_and_unit_from_text_and_from_xml() -> None:
    """XML gives no units; they come from the metric's definition, so that both forms mean the same."""
    plain = values({"name": "FC_BY_DIRTY", "metricValue": "1,204.5 MB"}, "METRICCURRENT")
    xml = values({"name": "FC_BY_DIRTY", "metricValue": "1204.5"}, "METRICCURRENT")
    assert plain == xml == {"name": "FC_BY_DIRTY", "metricValue": 1204.5, "unit": "MB"}
    assert values({"name": "FL_BY_KEEP", "metricValue": "0"}, "METRICCURRENT")["unit"] == "Number"


def test_records_are_typed_by_their_object() -> None:
    """Attributes that the schema knows get their type; others and unknown objects stay text."""
    record = {"name": "1", "size": "16M", "cellDisk": "a,b", "newAttribute": "7"}
    assert values(record, "FLASHCACHE") == {"name": "1", "size": 16777216, "cellDisk": ("a", "b"), "newAttribute": "7"}
    assert values(record, "NOSUCH") == record
