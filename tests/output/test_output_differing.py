"""What --diff shows."""

import pytest

from exacell.output.differing import difference_lines, difference_of, differences
from exacell.output.result import Result


def cell(name: str, **attributes: object) -> dict[str, object]:
    return {"cell": name, "name": f"{name}_FLASHCACHE", "id": f"id-of-{name}", **attributes}


SIZES = [
    cell("cel01", size="364G", cellDisk="FD_01_cel01,FD_00_cel01"),
    cell("cel02", size="364G", cellDisk="FD_00_cel02,FD_01_cel02"),
    cell("cel03", size="288G", cellDisk="FD_00_cel03,FD_01_cel03"),
]


def test_only_attributes_that_differ_are_shown_and_the_left_out_are_named() -> None:
    """Own names, ids and the order of lists are no difference; the odd value stands beside the usual one."""
    found, left_out = differences(SIZES)
    assert [(item.attribute, item.usual, item.odd) for item in found] == [("size", "364G", ("cel03",))]
    assert left_out == ["id"]
    assert list(difference_lines(found)) == [
        "name               attribute  cel[01-02]  cel03",
        "-----------------  ---------  ----------  -----",
        "{cell}_FLASHCACHE  size             364G   288G",
    ]


def test_the_odd_value_is_highlighted_with_colour_alone() -> None:
    """With colour the value that is not the usual one is marked, and no other; without there is no escape."""
    found, _ = differences(SIZES)
    colored = list(difference_lines(found, color=True))[2]
    assert "\x1b[1;38;5;136m288G\x1b[0m" in colored and colored.count("\x1b") == 2
    assert not any("\x1b" in line for line in difference_lines(found))


def test_a_record_that_a_cell_lacks_is_a_difference() -> None:
    """A disk that one cell has no counterpart of is named, its attributes are not compared."""
    records = [{"cell": "c1", "name": "D1", "size": "1G"}, {"cell": "c2", "name": "D1", "size": "1G"}]
    records.append({"cell": "c2", "name": "D2", "size": "1G"})
    found, _ = differences(records)
    assert [(item.name, item.attribute) for item in found] == [("D2", "")]
    assert "(none)" in list(difference_lines(found))[2]


@pytest.mark.parametrize(
    ("values", "odd", "usual"),
    [(("a", "a", "b"), ("c3",), "a"), (("a", "b", "c"), ("c1", "c2", "c3"), None), (("a", "b"), ("c1", "c2"), None)],
)
def test_without_a_majority_every_cell_is_odd(values: tuple[str, ...], odd: tuple[str, ...], usual: object) -> None:
    """The usual value is the one that most cells have; where two are equally frequent there is none."""
    records = [{"cell": f"c{index}", "name": "x", "v": value} for index, value in enumerate(values, start=1)]
    (item,) = differences(records)[0]
    assert (item.odd, item.usual) == (odd, usual)


def test_records_of_a_difference_name_cell_attribute_value_and_the_usual_one() -> None:
    """Programs get one record for each odd cell and attribute, in that cell's own names, and the notes say what was left out."""
    result = difference_of(Result(records=SIZES))
    assert result.records == [
        {"cell": "cel03", "name": "cel03_FLASHCACHE", "attribute": "size", "value": "288G", "usual": "364G"}
    ]
    assert result.notes == ["left out, because different on every cell: id"]


def test_no_difference_and_one_cell_are_said() -> None:
    """An empty answer is explained."""
    assert difference_of(Result(records=SIZES[:2])).notes[0] == "cel[01-02]: no difference"
    assert "only one" in difference_of(Result(records=SIZES[:1])).notes[0]


def test_many_different_cells_turn_the_table() -> None:
    """On a narrow terminal nothing is cut: the table is turned."""
    records = [{"cell": f"cel{n:02d}", "name": "x", "v": f"value{n:02d}"} for n in range(12)]
    shown = list(difference_lines(differences(records)[0], width=60))
    assert max(map(len, shown)) <= 60 and any("value11" in line for line in shown)
