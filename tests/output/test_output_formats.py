"""json, jsonl, csv, tsv, yaml and md."""

import csv
import io
import json

import pytest
from hypothesis import given, strategies as st

from exacell.core.formats import FORMATS
from exacell.output import formats
from exacell.output.render import lines
from exacell.output.result import Column, Result

RECORDS = [
    {"cell": "exa1cel01", "name": "a,b", "size": 391647330304, "groups": ("x", "y"), "gone": None, "ok": True},
    {"name": 'say "hi"', "cell": "exa1cel02", "size": 0, "groups": (), "gone": None, "ok": False, "rate": 1.5},
]

VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.tuples(st.text(), st.integers()))
RECORD_LISTS = st.lists(st.dictionaries(st.text(min_size=1), VALUES, min_size=1), max_size=5)


def text(result: Result, name: str, **options: bool) -> str:
    return "".join(line + "\n" for line in lines(result, name, **options))


def test_json_is_one_array_of_records_with_cell_first_and_plain_numbers() -> None:
    """JSON is one array, cell comes first, sizes are integers, absent values null and sequences arrays."""
    read = json.loads(text(Result(records=RECORDS), "json"))
    assert read[0] == {**RECORDS[0], "groups": ["x", "y"]}
    assert [next(iter(record)) for record in read] == ["cell", "cell"]


@given(RECORD_LISTS)
def test_json_jsonl_and_yaml_hold_the_same_strict_json(records: list[dict[str, object]]) -> None:
    """Every record is strict JSON (no NaN), and json, jsonl and yaml say the same."""

    def refuse(word: str) -> None:
        raise AssertionError(word)

    array = json.loads("\n".join(formats.as_json(records)), parse_constant=refuse)
    assert array == [json.loads(line, parse_constant=refuse) for line in formats.as_jsonl(records)]
    assert len(array) == len(records)


def test_yaml_reads_back() -> None:
    """What yaml prints is what a YAML reader gets."""
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    awkward = [{"cell": None, "on": "yes", "text": "a: b\n# c", "list": ("1", 2), "empty": ""}]
    assert yaml.safe_load("\n".join(formats.as_yaml(awkward))) == json.loads("\n".join(formats.as_json(awkward)))


@given(st.lists(st.fixed_dictionaries({"a": st.text(), "b": st.text()}), min_size=1, max_size=4))
def test_csv_reads_back(records: list[dict[str, str]]) -> None:
    """A CSV reader gets every field back, whatever commas, quotes and line ends it holds."""
    written = "\n".join(formats.as_rows(records, "csv")) + "\n"
    assert list(csv.DictReader(io.StringIO(written, newline=""))) == records


def test_csv_joins_lists_and_leaves_absent_values_empty() -> None:
    """In csv lists are joined with commas, None is empty, and every key of any record has a column."""
    rows = list(csv.DictReader(io.StringIO(text(Result(records=RECORDS), "csv"))))
    assert (rows[0]["groups"], rows[0]["gone"], rows[0]["rate"], rows[1]["rate"]) == ("x,y", "", "", "1.5")


def test_tsv_has_one_line_a_record() -> None:
    """A tab or newline in a value does not break a tsv line."""
    assert list(formats.as_rows([{"a": "x\ty\nz\\"}], "tsv", header=False)) == ["x\\ty\\nz\\\\"]


def test_md_escapes_bars() -> None:
    """A bar in a value does not open a column of a Markdown table."""
    assert list(formats.as_rows([{"a": "x|y"}], "md")) == ["| a |", "| --- |", "| x\\|y |"]


@pytest.mark.parametrize(("name", "empty"), [("json", "[]\n"), ("yaml", "[]\n"), ("jsonl", ""), ("csv", "name,size\n")])
def test_an_empty_answer_is_an_answer(name: str, empty: str) -> None:
    """An empty list is still valid in its format; csv keeps its header."""
    assert text(Result(data=True, columns=(Column("name"), Column("size", "size"))), name) == empty


def test_raw_is_the_cells_own_text() -> None:
    """raw prints one cell's text unchanged, and several cells' lines behind their names, blanks kept."""
    one = Result(raw=[("c1", "\t a \t b\n\n  x\n")])
    assert text(one, "raw") == "\t a \t b\n\n  x\n"
    assert text(Result(raw=[("c1", "\t a\n"), ("c2", "b\nc\n")]), "raw") == "c1: \t a\nc2: b\nc2: c\n"


def test_replies_without_records_are_records_of_text_for_programs() -> None:
    """A statement that answers with text alone still gives JSON one record a cell."""
    assert json.loads(text(Result(raw=[("c1", "GridDisk X altered\n")]), "json")) == [
        {"cell": "c1", "text": "GridDisk X altered"}
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_no_header_leaves_titles_out(name: str) -> None:
    """Without header no format prints titles, and all still print the data."""
    out = text(Result(records=[{"cell": "c1", "size": 5}], columns=(Column("size", "number"),)), name, header=False)
    assert "5" in out and "----" not in out
