"""Tables of answers that are kept by column look as any other."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, strategies as st

from exacell.cellcli.rows import Rows
from exacell.core.formats import FORMATS
from exacell.output.folding import body_of, fold_records, masker
from exacell.output.render import lines, render
from exacell.output.result import Column, Result, together
from exacell.output.tables import aligned_column, padded_column, table_lines

CELLS = ("exa1cel10", "exa1cel02", "exa1cel03.example.com", "127.0.0.4")
NAMES = ("name", "object", "value")
ODD = ["", "-", "x_{cell}", "a\0b", "a\nb", "é", "a\x1b"]
TEXT = st.sampled_from(["a", "b", "CD_00_exa1cel02", "exa1cel03", "127", "3 MB", "2,512 IO/sec", "25G", *ODD])
PART = st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=5)


def rows_of(drawn: dict[str, list[tuple[str, ...]]]) -> Rows:
    return Rows(NAMES, [(cell, tuple(zip(*rows, strict=True)) or ((), (), ())) for cell, rows in drawn.items()])


@given(st.dictionaries(st.sampled_from(CELLS), PART), st.booleans(), st.booleans())
def test_by_column_or_by_record_is_the_same_table(
    drawn: dict[str, list[tuple[str, ...]]], folded: bool, color: bool
) -> None:
    """The table of answers kept by column is, line for line, the table of their records."""
    rows = rows_of(drawn)
    for columns in ((), (Column("cell"), Column("value"), Column("size"), Column("name"))):
        assert list(table_lines(rows, columns, folded=folded, color=color)) == list(
            table_lines(list(rows), columns, folded=folded, color=color)
        )


@given(st.dictionaries(st.sampled_from(CELLS), PART))
def test_folding_by_column_is_folding(drawn: dict[str, list[tuple[str, ...]]]) -> None:
    """The rows, their order, whose they are and which are odd come out as folding record by record gives them."""
    rows = rows_of(drawn)
    body = body_of(rows, folded=True)
    if body is None:
        return
    found = [
        (cells, dict(zip(NAMES, values, strict=True)), odd)
        for cells, odd, *values in zip(body.cells, body.odd, *(body.columns[name] for name in NAMES), strict=True)
    ]
    assert found == [tuple(folded) for folded in fold_records(list(rows))]


def test_equal_answers_are_one() -> None:
    """Answers that differ in the cell's own name only are shown once, and a cell that answers otherwise is odd."""
    drawn = {cell: [(f"CD_{n}_{cell}", "x", "1 MB") for n in range(3)] for cell in ("c1", "c2", "c3")}
    drawn["c3"][1] = ("CD_1_c3", "x", "2 MB")
    body = body_of(rows_of(drawn), folded=True)
    assert body is not None
    assert list(zip(body.cells, body.columns["name"], body.odd, strict=True)) == [
        (("c1", "c2", "c3"), "CD_0_{cell}", False),
        (("c1", "c2"), "CD_1_{cell}", True),
        (("c3",), "CD_1_c3", True),
        (("c1", "c2", "c3"), "CD_2_{cell}", False),
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_are_the_lines(name: str) -> None:
    """What is written in pieces are the lines, each with its end, in every format and for more than one piece of them."""
    rows = Rows(("name", "value"), [(cell, ([f"N{n}" for n in range(1500)], ["0"] * 1500)) for cell in ("c1", "c2")])
    raw = [("c1", "\t a\n\n\t b\n"), ("c2", "\t c"), ("c3", "\n")]
    for result in (Result(records=rows, fold=True), Result(records=rows, raw=raw), Result(raw=raw, named=True)):
        stream = io.StringIO()
        render(result, name, stream)
        assert stream.getvalue() == "".join(f"{line}\n" for line in lines(result, name))


def test_raw_lines_of_several_cells_begin_with_their_names() -> None:
    """Each line of a cell's own text is written behind the cell's name, an empty one too; a silent cell has none."""
    result = Result(raw=[("c1", "\t a\n\n\t b\n"), ("c2", ""), ("c3", "x")], named=True)
    assert list(lines(result, "raw")) == ["c1: \t a", "c1: ", "c1: \t b", "c3: x"]
    assert list(lines(Result(raw=[("c1", "\t a\n\n\t b\n")]), "raw")) == ["\t a", "", "\t b"]


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (["5 MB", "1,024 IO requests"], ["    5 MB", "1,024 IO requests"]),
        (["5 MB", "-"], ["5 MB", "-"]),
        (["10 MB", "-"], ["10 MB", " -"]),
        (["25G", "364.75G"], ["    25G", "364.75G"]),
        (["5", "10 MB"], [" 5", "10 MB"]),
        (["5 MB", "- MB"], ["5 MB", "- MB"]),
        (["5 MB", "x 5 MB"], ["5 MB", "x 5 MB"]),
        (["5 ", "3 MB"], ["5", "3 MB"]),
        (["5 MB", "6 MB 7 x"], ["5 MB", "6 MB 7 x"]),
        (["1-2 MB", "3 MB"], ["1-2 MB", "3 MB"]),
        (["-", "-"], ["-", "-"]),
    ],
)
def test_numbers_with_units_stand_in_two_columns(texts: list[str], shown: list[str]) -> None:
    """Where every text is a quantity its number ends and its unit begins in one column; else texts stand left."""
    padded, _ = padded_column("", texts, to_right=False)
    assert [text.rstrip() for text in padded[1:]] == shown


@given(st.lists(TEXT | st.from_regex(r"-?[0-9]{1,3}(\.[0-9])?[KG]?( [A-Z/ ]{0,3})?", fullmatch=True), min_size=1))
def test_a_column_keeps_every_text(texts: list[str]) -> None:
    """Aligned texts are the texts that came, but for blanks around them, and all of one width."""
    padded, size = padded_column("t", texts, to_right=False)
    assert [text.strip() for text in padded[1:]] == [text.strip() for text in texts]
    assert {len(text) for text in padded} == {size} == {aligned_column("t", texts, to_right=False).size}


@given(st.sampled_from(CELLS), st.lists(st.sampled_from([*CELLS, "exa1cel03", "127", "_", "-", ".", "1", " "])))
def test_whole_names_are_masked_wherever_they_stand(cell: str, parts: list[str]) -> None:
    """A cell's name, and its first label unless that is a number, is masked where no letter or digit touches it."""
    import re

    text, label = "".join(parts), cell.split(".")[0]
    names = "|".join(re.escape(name) for name in ([cell] if label.isdigit() else [cell, label]))
    assert masker(cell)(text) == re.sub(f"(?<![A-Za-z0-9])(?:{names})(?![A-Za-z0-9])", "{cell}", text)


def test_what_was_printed_is_not_lost_among_several_results() -> None:
    """Results that only printed are printed together; beside one with a table, what they printed becomes records."""
    one = Result(raw=[("ini1", "a\nb\n"), ("ini2", "")])
    other = Result(raw=[("ini1", "c\n")])
    table = Result(records=[{"cell": "exa1cel01", "outcome": "done"}], raw=[("exa1cel01", "as it was sent\n")])
    assert together([one, other]).raw == [("ini1", "a\nb\n"), ("ini1", "c\n")]
    both = together([one, table])
    assert both.raw == [] and list(both.records) == [{"cell": "ini1", "text": "a\nb"}, *table.records]
    assert together([Result(notes=["x"]), Result()]).raw == []
