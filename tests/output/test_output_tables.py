"""Tables for eyes."""

import pytest

from exacell.output.render import lines
from exacell.output.result import Column, Result
from exacell.output.style import plain
from exacell.output.tables import number_text, size_text, table_lines, value_text

RECORDS = [
    {"cell": "exa1cel01", "name": "exa1cel01_FLASHCACHE", "size": 391647330304, "status": "normal"},
    {"cell": "exa1cel02", "name": "exa1cel02_FLASHCACHE", "size": 309237645312, "status": "normal"},
]
COLUMNS = (Column("name"), Column("size", "size"), Column("status"))


def test_columns_are_aligned_and_sizes_stand_right() -> None:
    """Titles, dashes and rows line up; sizes are right-aligned as CellCLI prints them; no blanks at line ends."""
    shown = list(table_lines(RECORDS, COLUMNS))
    assert shown == [
        "cell       name                     size  status",
        "---------  --------------------  -------  ------",
        "exa1cel01  exa1cel01_FLASHCACHE  364.75G  normal",
        "exa1cel02  exa1cel02_FLASHCACHE     288G  normal",
    ]


@pytest.mark.parametrize(
    ("size_bytes", "shown"),
    [
        (391647330304, "364.75G"),
        (0, "0"),
        (5150605312, "4.797G"),
        (4912 * 2**20, "4.797G"),
        (2**20 + 1, "1M"),
        (7, "7B"),
    ],
)
def test_sizes_are_exact_when_short_else_rounded(size_bytes: int, shown: str) -> None:
    """A size is CellCLI's own spelling up to four decimals, else rounded to four digits."""
    exact = size_text(size_bytes)
    assert exact == shown or len(exact) <= 10


@pytest.mark.parametrize(
    ("value", "shown"), [(3418, "3,418"), (0.5, "0.5"), (1234.5678, "1,234.568"), (0.0001, "0.0001")]
)
def test_numbers_have_separators(value: float, shown: str) -> None:
    """Thousands are separated and decimals cut at three."""
    assert number_text(value) == shown


def test_absent_values_and_booleans_are_words() -> None:
    """None, an empty text and an empty list are a dash; booleans yes and no."""
    assert [value_text(v) for v in (None, "", (), True, False, 0)] == ["-", "-", "-", "yes", "no", "0"]


def test_a_rack_record_has_no_cell_column() -> None:
    """Records of the rack alone show no cell column."""
    assert next(iter(table_lines([{"cell": None, "name": "DATA"}]))) == "name"


def test_a_table_wider_than_the_terminal_is_shown_one_attribute_a_line() -> None:
    """Nothing is cut: a table that does not fit turns into label and value, an empty line between records."""
    shown = list(table_lines(RECORDS, COLUMNS, width=40))
    assert shown[:2] == ["cell:   exa1cel01", "name:   exa1cel01_FLASHCACHE"] and shown[4] == ""


def wide(count: int, names: int = 5) -> list[dict[str, str]]:
    return [{"cell": f"c{n}", **{f"name{m}": f"value{m} of {n}" for m in range(names)}} for n in range(count)]


def test_several_records_that_are_too_wide_keep_their_titles_on_top() -> None:
    """From three records on each takes two or three lines below titles that are broken alike, and no line is too long."""
    shown = list(table_lines(wide(5), width=40))
    assert shown[:9] == [
        "cell  name0        name1",
        "    name2        name3",
        "    name4",
        "----  -----------  -----------",
        "    -----------  -----------",
        "    -----------",
        "c0    value0 of 0  value1 of 0",
        "    value2 of 0  value3 of 0",
        "    value4 of 0",
    ]
    assert len(shown) == 3 * (2 + 5)


@pytest.mark.parametrize(("count", "names", "width"), [(2, 5, 30), (5, 12, 40), (5, 5, 9)])
def test_few_or_very_wide_records_are_blocks(count: int, names: int, width: int) -> None:
    """Two records, more than three lines each, and a column that is wider than the terminal are shown attribute by attribute."""
    shown = list(table_lines(wide(count, names), width=width))
    assert shown[0].split() == ["cell:", "c0"] and shown.count("") == count - 1


def test_an_odd_record_of_several_lines_is_marked_whole() -> None:
    """With colour each line of the odd record is marked, and no line of another one."""
    first, second = "a long value", "another long value"
    records = [
        {"cell": f"c{n}", "disk": disk, "first": first, "second": "an odd value" if (n, disk) == (2, 4) else second}
        for n in range(3)
        for disk in range(5)
    ]
    shown = list(table_lines(records, folded=True, width=30, color=True))
    assert [line.strip("\x1b[01358;6m ") for line in shown if "\x1b[1;38;5;136m" in line] == [
        "c[0-1]     4  a long value",
        "another long value",
        "c2         4  a long value",
        "an odd value",
    ]


def test_the_odd_cell_is_coloured_only_with_colour() -> None:
    """With colour the odd row is highlighted; without there is no escape at all."""
    records = [
        {"cell": c, "disk": d, "mode": "b" if (c, d) == ("c3", 2) else "a"}
        for c in ("c1", "c2", "c3")
        for d in range(4)
    ]
    plain = list(table_lines(records, folded=True))
    assert not any("\x1b" in line for line in plain)
    colored = list(table_lines(records, folded=True, color=True))
    assert [line for line in colored[2:] if "\x1b[" in line] == [
        line for line in colored if "-2]" in line or "c3 " in line
    ]


def test_a_cells_text_cannot_drive_the_terminal() -> None:
    """Escape sequences in values and texts are spelt out."""
    result = Result(records=[{"cell": "c1", "comment": "a\x1b[2Jb"}])
    shown = "\n".join(lines(result, "table"))
    assert "\x1b" not in shown and "\\x1b[2J" in shown
    assert "\x1b" not in "\n".join(lines(Result(raw=[("c1", "\x1b]0;x\x07")], fold=True), "table"))


def test_words_for_trouble_are_coloured_and_nothing_moves() -> None:
    """failed and offline are red, warning is yellow, on every row; without the colours the table is the plain one."""
    records = [
        {"cell": f"c{n}", "status": status, "size": "1G"}
        for n, status in enumerate(("failed", "normal", "warning - x"))
    ]
    coloured = list(table_lines(records, color=True))
    assert "\x1b[1;38;5;196mfailed\x1b[0m" in coloured[2] and "\x1b" not in coloured[3] and "\x1b" not in coloured[4]
    records[2]["status"] = "Warning"
    coloured = list(table_lines(records, color=True))
    assert "\x1b[38;5;136mWarning\x1b[0m" in coloured[4]
    assert [plain(line) for line in coloured] == list(table_lines(records))


def test_trouble_stays_red_in_a_row_that_is_odd() -> None:
    """An odd row is yellow from its first character, and its word for trouble red."""
    records = [
        {"cell": c, "disk": d, "status": "failed" if (c, d) == ("c3", 2) else "normal"}
        for c in ("c1", "c2", "c3")
        for d in range(4)
    ]
    odd = next(line for line in table_lines(records, folded=True, color=True) if "failed" in line)
    assert (
        odd.startswith("\x1b[1;38;5;136mc3 ")
        and "\x1b[1;38;5;196mfailed\x1b[0m\x1b[1;38;5;136m" in odd
        and odd.endswith("\x1b[0m")
    )


def test_mebibytes_of_asm_are_sizes_for_eyes() -> None:
    """What ASM counts in MiB is shown with its unit; no column of seven digits is left for a reader to divide."""
    assert [value_text(mib, "mib") for mib in (0, 512, 433152, 15593472, None)] == ["0", "512M", "423G", "14.87T", "-"]


def test_a_narrow_terminal_does_without_columns_that_no_record_has() -> None:
    """Where the table fits without them it is one line a record; where there is room, or a file is written, they stand."""
    records = [{"series": "randread 8k", "iops": 13966.5 + n, "low": None, "basis": ""} for n in range(3)]
    narrow = list(table_lines(records, width=22))
    assert narrow[0].split() == ["series", "iops"] and len(narrow) == 2 + len(records)
    for width in (80, None):
        assert next(iter(table_lines(records, width=width))).split() == ["series", "iops", "low", "basis"]
    assert "low" in " ".join(table_lines([{**records[0], "low": 1.0}, *records[1:]], width=22)), "one has it"
