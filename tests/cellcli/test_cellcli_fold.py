"""Grouping equal answers."""

from __future__ import annotations

from exacell.cellcli.fold import fold_equal, fold_records, neutral_text


def test_most_common_answer_comes_first_and_order_is_kept() -> None:
    """Groups are sorted by size, then by their first cell; cells keep their order."""
    answers = {"c1": ["x"], "c2": ["y"], "c3": ["z"], "c4": ["y"], "c5": ["z"], "c6": ["y"]}
    assert fold_equal(answers) == [(("c2", "c4", "c6"), ["y"]), (("c3", "c5"), ["z"]), (("c1",), ["x"])]


def test_equality_decides_and_not_the_spelling() -> None:
    """Answers that are equal but print differently are one group."""
    assert fold_equal({"a": {"x": 1, "y": 2}, "b": {"y": 2, "x": 1}, "c": {"x": 1.0, "y": 2}}) == [
        (("a", "b", "c"), {"x": 1, "y": 2})
    ]
    assert fold_equal({}) == []


def test_a_cell_s_own_name_does_not_make_it_odd() -> None:
    """Names, ids, times and the order of cell disks are each cell's own; sizes are not."""
    answers = {
        cell: [
            {
                "name": f"{cell}_FLASHCACHE",
                "id": f"id of {cell}",
                "cellDisk": f"FD_01_{cell},FD_00_{cell}" if cell == "exa1cel02" else f"FD_00_{cell}, FD_01_{cell}",
                "size": "288G" if cell == "exa1cel03" else "364.75G",
            }
        ]
        for cell in ("exa1cel01", "exa1cel02", "exa1cel03")
    }
    equal, odd = fold_records(answers, "FLASHCACHE")
    assert equal.cells == ("exa1cel01", "exa1cel02") and odd.cells == ("exa1cel03",)
    assert equal.records == ({"name": "{cell}_FLASHCACHE", "cellDisk": "FD_00_{cell},FD_01_{cell}", "size": "364.75G"},)


def test_only_the_whole_name_is_taken_out() -> None:
    """exa1cel1 is not replaced inside exa1cel10; a domain does not matter, and capitals are told by {CELL}."""
    assert neutral_text("FD_00_exa1cel10", "exa1cel1") == "FD_00_exa1cel10"
    assert neutral_text("P_FD_00_EXA1CEL01 EXA1CEL01", "exa1cel01.example.com") == "P_FD_00_{CELL} {CELL}"
    assert (
        neutral_text("FD_00_EXA1CEL01", "EXA1CEL01") == "FD_00_{cell}" == neutral_text("FD_00_Exa1Cel01", "exa1cel01")
    )
