"""Conditions on cells."""

from __future__ import annotations

from typing import Any

import pytest

from exacell.cellcli.condition import is_condition, parse_condition
from exacell.core.errors import StatementError

CELL: dict[str, Any] = {
    "name": "exa1cel01",
    "flashCacheMode": "WriteBack",
    "temperatureReading": 24.0,
    "upTime": "5 days",
}
DISKS: list[dict[str, Any]] = [
    {"name": "CD_00", "freeSpace": 0, "diskType": "HardDisk", "status": "normal"},
    {"name": "FD_00", "freeSpace": 5 * 2**30, "diskType": "FlashDisk", "status": "normal"},
]


@pytest.mark.parametrize(
    ("text", "rows", "holds"),
    [
        ("where flashCacheMode=writeback", [CELL], True),
        ("WHERE flashcachemode != writeback", [CELL], False),
        ("where temperatureReading > 9", [CELL], True),
        ("where temperatureReading > 9 and name like '.*02'", [CELL], False),
        ("where name not like '.*02'", [CELL], True),
        ("where celldisk.freeSpace > 1G", DISKS, True),
        ("where celldisk.freeSpace > 1G and celldisk.diskType=harddisk", DISKS, False),
        ("where celldisk.status != normal", DISKS, False),
        ("where offloadGroupEvents = x", [CELL], False),
        ("where flashCacheMode=writeback", [], False),
    ],
)
def test_a_condition_holds_for_a_cell(text: str, rows: list[dict[str, Any]], holds: bool) -> None:
    """It holds when the cell, or one of its objects that are named, passes all filters; sizes compare as sizes."""
    assert parse_condition(text).holds(rows) is holds


def test_only_what_is_compared_is_asked() -> None:
    """The statement that judges a condition reads the name and the attributes in it."""
    assert parse_condition("where celldisk.freeSpace > 1G").statement == "list celldisk attributes name, freeSpace"


@pytest.mark.parametrize(
    ("text", "faulty"),
    [
        ("where flashMode=x", "flashMode"),
        ("where flashCacheMode", ""),
        ("where grodisk.status=x", "grodisk"),
        ("where griddisk.status=x and celldisk.status=y", "where griddisk.status=x and celldisk.status=y"),
        ("where status=online or status=x", "or"),
    ],
)
def test_a_wrong_condition_says_where(text: str, faulty: str) -> None:
    """The error points at the word that is wrong."""
    with pytest.raises(StatementError) as caught:
        parse_condition(text)
    assert caught.value.start is not None and text[caught.value.start : caught.value.end] == faulty


def test_other_sets_are_no_conditions() -> None:
    """Cell names and groups are not taken for conditions."""
    assert not any(map(is_condition, ("", "exa1cel01", "@all", "wherecel01", "whereabouts")))
