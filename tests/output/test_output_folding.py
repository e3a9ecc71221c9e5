"""Equal cells are shown once."""

import sys

from hypothesis import given, strategies as st

from exacell.output.folding import MASK, alike, brief_problems, fold_records, fold_texts, masker
from exacell.output.render import lines
from exacell.output.result import Column, Result

CELLS = [f"exa1cel0{n}" for n in range(1, 4)]


_SAID = ("FD_cel1", "FD_CEL1", "cel1.example.com", "{cell}", "{CELL}", "CEL1.example.com", "cel1", "10.0.0.1")
"""Words in which names stand that are masked where several targets have one text."""


def disks(*odd: str) -> list[dict[str, object]]:
    return [
        {"cell": cell, "name": f"DATA_CD_{n:02}_{cell}", "status": "inactive" if f"{cell}:{n}" in odd else "active"}
        for cell in CELLS
        for n in range(3)
    ]


def test_records_that_differ_in_the_cells_name_only_are_one() -> None:
    """Nine equal grid disks on three cells are three rows with the name masked."""
    folded = fold_records(disks())
    assert [f.record["name"] for f in folded] == [f"DATA_CD_{n:02}_{MASK}" for n in range(3)]
    assert {f.cells for f in folded} == {tuple(CELLS)} and not any(f.odd for f in folded)


def test_the_odd_record_stands_beside_its_siblings_with_its_full_name() -> None:
    """One inactive disk is one odd row, next to the same disk of the other cells, its name not masked."""
    folded = fold_records(disks("exa1cel02:1"))
    rows = [(f.cells, f.record["name"], f.odd) for f in folded]
    assert rows[1] == (("exa1cel01", "exa1cel03"), f"DATA_CD_01_{MASK}", True)
    assert rows[2] == (("exa1cel02",), "DATA_CD_01_exa1cel02", True)


def test_cells_with_nothing_in_common_keep_their_order() -> None:
    """When all cells differ, rows come cell by cell."""
    records = [{"cell": cell, "value": index} for index, cell in enumerate(CELLS)]
    assert [f.cells[0] for f in fold_records(records)] == CELLS


def test_a_record_that_a_cell_has_twice_is_shown_twice() -> None:
    """Folding loses no record: a duplicate within one cell stays."""
    records = [{"cell": cell, "a": 1} for cell in ("c1", "c1", "c2")]
    assert [f.cells for f in fold_records(records)] == [("c1", "c2"), ("c1",)]


@given(st.lists(st.tuples(st.sampled_from(CELLS), st.integers(0, 3), st.sampled_from("xy")), max_size=12))
def test_folding_loses_and_invents_nothing(items: list[tuple[str, int, str]]) -> None:
    """Unfolded again, the rows are exactly the records that came in."""
    records = [{"cell": cell, "n": n, "t": t} for cell, n, t in items]
    back = [{"cell": cell, **f.record} for f in fold_records(records) for cell in f.cells]
    assert sorted(map(str, back)) == sorted(map(str, records))


def test_only_whole_names_are_masked() -> None:
    """cel1 is not found inside cel12 or excel1; a qualified name masks its first label too."""
    assert masker("cel1")("cel12 excel1 FD_cel1 cel1_X") == f"cel12 excel1 FD_{MASK} {MASK}_X"
    assert masker("cel1.example.com")("FD_cel1 cel1.example.com") == f"FD_{MASK} {MASK}"
    assert masker("10.0.0.1")("10 disks at 10.0.0.1") == f"10 disks at {MASK}"


def test_a_name_in_capitals_is_masked_in_capitals() -> None:
    """What ASM writes in capitals is told from what the cell writes, and one cell's text is what it was."""
    text = "FD_cel1 FD_CEL1 CEL12 Cel1"
    assert masker("cel1.example.com")(text) == "FD_{cell} FD_{CELL} CEL12 Cel1"
    assert masker("CEL1")("FD_CEL1 cel1") == "FD_{cell} cel1"
    assert alike([("cel1", text)]) == [(text, ["cel1"])]


@given(st.sampled_from(["cel1", "cel1.example.com", "CEL1", "other", "10.0.0.1"]), st.lists(st.sampled_from(_SAID)))
def test_what_is_said_of_one_target_stays_as_it_is(target: str, words: list[str]) -> None:
    """The names in a text about one target alone are the objects' real ones, by whatever name the target was given."""
    text = " ".join(words)
    assert alike([(target, text)]) == [(text, [target])]
    (_, one), (_, two) = alike([(target, f"{text} cel1_A"), ("cel2", f"{text} B")])
    assert (one, two) == ([target], ["cel2"])


def test_texts_fold_by_block_the_common_one_first() -> None:
    """Equal blocks of text are printed once under the folded names, the odd block last."""
    texts = [("c2", "odd\n"), ("c1", "GridDisk A_c1 altered\n"), ("c3", "GridDisk A_c3 altered  \n\n")]
    first, last = fold_texts(texts)
    assert (first.cells, first.text, first.odd) == (("c1", "c3"), f"GridDisk A_{MASK} altered", False)
    assert (last.cells, last.text, last.odd) == (("c2",), "odd", True)


def work(each: int) -> int:
    """Return how many calls fold and align a table of 14 cells with ``each`` rows: the machine's load does not count."""
    records = [{"cell": f"cel{c:02}", "name": f"M{n}", "value": c * n} for c in range(14) for n in range(each)]
    result = Result(records=records, columns=(Column("name"), Column("value", "number")), fold=True)
    calls, before = 0, sys.getprofile()

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        shown = sum(1 for _ in lines(result, "table"))
    finally:
        sys.setprofile(before)
    assert shown > 10 * each
    return calls


def test_a_table_of_thousands_of_rows_is_quick() -> None:
    """14 cells with four times the rows are folded and aligned by about four times the work, and little for each row."""
    work(10)  # What is kept from the first table on.
    few, many = work(75), work(300)
    assert many < 4.5 * few and many < 60 * 14 * 300


def test_the_same_problem_of_many_cells_is_told_once() -> None:
    """More than three lines are folded by what they say, whatever the cell's name and address; three are left alone."""
    same = [f"exa1cel{n:02d}: 10.0.0.{n} port 22 closed the connection to exa1cel{n:02d}" for n in range(1, 6)]
    other = ["exa1cel09: timed out after 60s", "ASM main can't be asked"]
    assert brief_problems(same[:3]) == same[:3]
    assert brief_problems([*same, *other]) == [
        "exa1cel[01-05]: {address} closed the connection to {cell}",
        *other,
    ]
    no_cells = ["Error: it was stopped there"] * 4
    assert brief_problems(no_cells) == no_cells


def test_values_are_compared_one_by_one() -> None:
    """Records whose values only run together alike are two records, and so are a number and its text."""
    one, other = {"name": "x", "size": "y\0z"}, {"name": "x\0y", "size": "z"}
    for left, right in ((one, other), ({"size": 1}, {"size": "1"}), ({"a": "x"}, {"b": "x"})):
        folded = fold_records([{"cell": "c1", **left}, {"cell": "c2", **right}])
        assert [(f.cells, f.record) for f in folded] == [(("c1",), left), (("c2",), right)]
    same = fold_records([{"cell": cell, "name": f"CD_\0_{cell}", "disks": [cell, 1]} for cell in ("c1", "c2")])
    assert [(f.cells, f.record) for f in same] == [
        (("c1", "c2"), {"name": "CD_\0_{cell}", "disks": ("{cell}", 1)}),
    ]
