"""Answers of several cells kept by column."""

from __future__ import annotations

from hypothesis import given, strategies as st

from exacell.cellcli.reply import read_columns
from exacell.cellcli.rows import Rows, read_rows

ANSWERS = {
    "exa1cel01": "\t DATA_CD_00_exa1cel01\t active\n\t DATA_CD_01_exa1cel01\t inactive\n",
    "exa1cel02": "\t DATA_CD_00_exa1cel02\t active\n",
    "exa1cel03": "",
}
NAMES = ("name", "status")
LINE = st.lists(st.sampled_from(["a", "x 1", '"q"', '"t\tt"', "", " b ", "CELL-00001: x", "^"]), max_size=4)


def plainly(answers: dict[str, str]) -> list[dict[str, str]]:
    return [{"cell": cell, **row} for cell, text in answers.items() for row in read_columns(text, NAMES, "GRIDDISK")]


def test_rows_are_a_sequence_of_records() -> None:
    """It should be counted, iterated, indexed, sliced and compared as the list of its records."""
    rows = read_rows(ANSWERS, NAMES, "GRIDDISK")
    assert isinstance(rows, Rows)
    expected = plainly(ANSWERS)
    assert len(rows) == 3 and list(rows) == expected and rows == expected and expected == rows
    assert rows[1] == expected[1] and rows[1:] == expected[1:] and rows[-1]["cell"] == "exa1cel02"
    assert rows.column("status") == ["active", "inactive", "active"] and rows.column("size") == []
    assert not read_rows({"c1": "", "c2": "\n"}, NAMES)


def test_attributes_are_spelled_as_the_cell_spells_them() -> None:
    """It should name attributes as CellCLI does, whatever was typed, and keep an attribute that was asked for twice."""
    assert next(iter(read_rows({"c": "\t x\t y\n"}, ("NAME", "ASMDISKGROUPNAME"), "GRIDDISK"))) == {
        "cell": "c",
        "name": "x",
        "asmDiskGroupName": "y",
    }
    assert list(read_rows({"c": "\t x\t x\n"}, ("name", "name"), "GRIDDISK")) == [{"cell": "c", "name": "x"}]


def test_a_row_with_more_than_was_asked_for_is_kept() -> None:
    """It should keep what stands behind the last attribute, as for one cell."""
    rows = read_rows({"c1": "\t x\t y\n", "c2": "\t x\t y\t z\n"}, NAMES, "GRIDDISK")
    assert [dict(row) for row in rows] == [
        {"cell": "c1", "name": "x", "status": "y"},
        {"cell": "c2", "name": "x", "status": "y", "column3": "z"},
    ]


@given(st.dictionaries(st.sampled_from(["c1", "c2", "c3"]), st.lists(LINE, max_size=5)))
def test_answers_read_the_same_by_column(drawn: dict[str, list[list[str]]]) -> None:
    """It should give, of any answers, the records that reading them cell by cell gives."""
    answers = {
        cell: "".join("".join(f"\t {text}" for text in line) + "\n" for line in lines) for cell, lines in drawn.items()
    }
    assert [dict(row) for row in read_rows(answers, NAMES, "GRIDDISK")] == plainly(answers)
