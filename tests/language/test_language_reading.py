"""What a statement answers in one column, and comparisons with it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from exacell.core.errors import StatementError
from exacell.language.reading import (
    Reading,
    ReadingCheck,
    begins_statement,
    chosen,
    compares,
    measured,
    read_fact,
    read_reading,
    shown_beside,
    single,
)
from tests.support.every import every

RECORDS = [
    {"cell": "c1", "name": "A", "size": 10, "note": None},
    {"cell": "c2", "name": "B", "size": 20, "note": ""},
]


@pytest.mark.parametrize(
    ("text", "statement", "column", "key"),
    [
        ("list flashcache.size", "list flashcache", "size", ""),
        ("list flashcache.size of exa1cel01", "list flashcache", "size", "exa1cel01"),
        ("list griddisk where name = 'a.b' attributes name, size.size OF 'a.b'", None, "size", "a.b"),
        ("on @db show setting /proc/sys/vm/swappiness.value of exa1db01", None, "value", "exa1db01"),
        ('sql db=SPOT "select count(*) as n from v$log".N', 'sql db=SPOT "select count(*) as n from v$log"', "N", ""),
    ],
)
def test_the_last_dot_begins_the_column(text: str, statement: str | None, column: str, key: str) -> None:
    """A reading is a statement, a column behind the last dot, and whose value is meant."""
    found = read_reading(text)
    assert (found.column, found.key) == (column, key)
    assert found.statement == (statement if statement is not None else text[: len(found.statement)])
    assert str(found).replace("'", "").lower() == text.replace("'", "").lower()


@pytest.mark.parametrize("text", ["", "list flashcache", ".size", "list flashcache.", "list flashcache.size of"])
def test_what_names_no_column_is_no_reading(text: str) -> None:
    """Without statement, column or the name behind OF nothing is read."""
    with pytest.raises(StatementError):
        read_reading(text)


@pytest.mark.parametrize(
    ("text", "operator", "value", "why"),
    [
        ("list flashcache.size >= 288g", ">=", "288g", ""),
        ('list flashcache.size>=288g "too small"', ">=", "288g", "too small"),
        ("list griddisk.status != 'not present'", "!=", "not present", ""),
        ("list flashcache.size of c1 < 1.5t", "<", "1.5t", ""),
        ("on c1 list cell.releaseVersion = 19.3.2.0.0.191119", "=", "19.3.2.0.0.191119", ""),
    ],
)
def test_a_check_of_a_statement(text: str, operator: str, value: str, why: str) -> None:
    """Comparison, value and reason stand behind the column, with or without blanks."""
    found = read_fact(text)
    assert isinstance(found, ReadingCheck)
    assert (found.operator, found.value, found.why) == (operator, value, why)


def test_checks_of_facts_stay_what_they_are() -> None:
    """all, no and same begin no statement, so that their checks are read as ever."""
    assert not any(begins_statement(f"{word} flashcache.status = normal") for word in ("all", "no", "same", ""))
    assert not isinstance(read_fact("all flashcache.status = normal"), ReadingCheck)


@every(
    [
        (309237645312, "=", "288g", True),
        (309237645312, ">", "288.5G", False),
        ("364.75G", ">=", "288g", True),
        (85.5, ">=", "85.5%", True),
        ("85.5 %", "<", "90%", True),
        (90.0, "<=", "1m30s", True),
        (3, "!=", "3", False),
        ("normal", "=", "NORMAL", True),
        ("normal", "!=", "normal", False),
        (None, "=", "", True),
        (None, "!=", "x", True),
        (True, "=", "true", True),
        (0, "=", "0", True),
        ("10", "<", "9", False),
    ]
)
def test_values_are_compared_by_what_they_mean(value: Any, operator: str, wanted: str, holds: bool) -> None:
    """Sizes, durations, percents and numbers compare as such, anything else as text of either case."""
    assert compares(value, operator, wanted) is holds


@pytest.mark.parametrize(
    ("wanted", "unit", "number"),
    [
        ("100g", "MB", "102400.0"),
        ("1ms", "us", "1000.0"),
        ("2s", "ms/request", "2000.0"),
        ("100", "MB", "100"),
        ("5%", "%", "5%"),
        ("many", "MB", "many"),
        ("8m", "IO requests", "8m"),
    ],
)
def test_sizes_and_times_are_compared_in_the_unit_of_a_metric(wanted: str, unit: str, number: str) -> None:
    """A size beside megabytes counts as megabytes and a time beside microseconds as microseconds; a plain number stays."""
    assert measured(wanted, unit) == number


@pytest.mark.parametrize(("value", "wanted"), [("normal", "3"), ("A", "B"), (None, "3"), (3, "many")])
def test_what_is_no_number_is_neither_more_nor_less(value: Any, wanted: str) -> None:
    """An order of texts is refused, not invented."""
    with pytest.raises(StatementError, match="not numbers"):
        compares(value, "<", wanted)


@given(st.integers(0, 1 << 50), st.integers(0, 1 << 50))
def test_numbers_compare_as_numbers(one: int, other: int) -> None:
    """Exactly one of less, equal and more holds for two numbers, as Python has it."""
    assert [compares(one, operator, str(other)) for operator in ("<", "=", ">")] == [
        one < other,
        one == other,
        one > other,
    ]


def test_a_key_takes_the_cell_or_the_name() -> None:
    """OF takes the records of a cell, or those of that name, whatever the case of the letters."""
    for key, found in (("C2", 20), ("b", 20), ("c1", 10)):
        reading = Reading(statement="s", column="SIZE", key=key)
        assert single(reading, chosen(reading, RECORDS)) == found


@pytest.mark.parametrize(
    ("column", "key", "said"),
    [
        ("size", "", "not one value but 2"),
        ("size", "x", "no row for x"),
        ("siz", "", "has no column siz"),
        ("note", "c1", "empty"),
    ],
)
def test_no_single_value_is_said(column: str, key: str, said: str) -> None:
    """Several values, none, an unknown column and an unknown name are errors, not guesses."""
    reading = Reading(statement="s", column=column, key=key)
    with pytest.raises(StatementError, match=said):
        single(reading, chosen(reading, RECORDS))


def test_equal_values_are_one() -> None:
    """Cells that agree have one value."""
    rows = [{**row, "size": 10} for row in RECORDS]
    reading = Reading(statement="s", column="size")
    assert single(reading, chosen(reading, rows)) == 10


@pytest.mark.parametrize(
    ("value", "wanted", "shown"),
    [(309237645312, "1t", "288G"), (309237645312, "3", "309237645312"), (None, "x", "empty"), (1.5, "2g", "1.5")],
)
def test_bytes_are_shown_as_a_size_beside_a_size(value: Any, wanted: str, shown: str) -> None:
    """A person who compared with a size reads a size; what was compared with a number stays one."""
    assert shown_beside(value, wanted) == shown
