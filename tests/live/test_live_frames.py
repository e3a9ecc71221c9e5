"""What watch shows: changes, bars, scrolling, and the same as text to append."""

import json

import pytest

from exacell.live.appending import Appending
from exacell.live.frames import Frames
from exacell.live.trend import number_of, sparkline
from exacell.live.watching import WatchView
from exacell.output.result import Column, Result
from exacell.output.style import plain
from tests.support.every import every


@every([
        (3, 3.0), ("6,937 MB", 6937.0), ("0.000 MB/sec", 0.0), ("364.75G", 364.75 * 2**30), ("92.0 %", 92.0), ("-5", -5.0),
        ("12 IO requests", 12.0), (True, None), (None, None), ("normal", None), ("19.3.0.0", None), ("2026-11-21", None),
        (float("nan"), None), ("", None), ("CD_00", None),
    ])  # fmt: skip
def test_numbers_are_read_from_what_cells_print(value: object, number: float | None) -> None:
    """Units and thousands separators do not hide a number; words, versions and dates are none."""
    assert number_of(value) == number


@pytest.mark.parametrize(
    ("values", "bars"),
    [((1, 2, 3), "▁▅█"), ((5, 5), "▁▁"), ((), ""), ((1, None, 3), "▁ █"), ((0, 0, 9), "▁█"), ((None,), "")],
)
def test_bars_span_least_to_largest(values: tuple[float | None, ...], bars: str) -> None:
    """The last values fill the width, gaps stay blank, an even line is low."""
    assert sparkline(values, 2 if values == (0, 0, 9) else 8) == bars


def test_noise_is_no_landslide() -> None:
    """With a least span, small differences stay small; without Unicode bars are ASCII."""
    assert sparkline((50.0, 50.1), 8, least_span=10) == "▁▁"
    assert sparkline((0, 1), 8, unicode=False).isascii()


def metric(cell: str, value: int) -> dict[str, object]:
    return {"cell": cell, "name": "FC_BY_DIRTY", "metricValue": f"{value:,} MB"}


def answer(*values: int) -> Result:
    records = [metric(f"cel{index:02d}", value) for index, value in enumerate(values, start=1)]
    return Result(records=records, columns=(Column("name"), Column("metricValue")), fold=True, data=True)


def test_a_change_is_highlighted_once_and_gets_bars() -> None:
    """The first answer marks nothing; a value that changed is marked until the next answer; its column gets bars."""
    frames = Frames(color=True)
    frames.add(answer(10, 20))
    assert not any("\x1b[7m" in line for line in frames.body(80))
    frames.add(answer(10, 25))
    body = frames.body(80)
    assert [line for line in body if "\x1b[7m" in line] == [body[3]] and "25 MB" in body[3] and "▁█" in body[3]
    assert "\x1b[7m" not in body[2] and plain(body[2]).split()[-1] == "▁▁"
    frames.add(answer(10, 25))
    assert not any("\x1b[7m" in line for line in frames.body(80))


def test_cells_that_agree_are_folded_and_keep_their_bars_when_they_part() -> None:
    """Equal cells share a row; when one of them changes it gets a row of its own with its own history."""
    frames = Frames()
    for values in ((1, 1), (2, 2), (3, 2)):
        frames.add(answer(*values))
    rows = frames.body(80)[2:]
    assert [row.split()[0] for row in rows] == ["cel01", "cel02"]
    assert rows[0].split()[-1] == "▁▅█" or rows[0].endswith("▁▄█")
    assert rows[1].split()[-1] == "▁██"


def test_the_rows_of_one_metric_stand_together() -> None:
    """Cells answer metric after metric; on the screen each metric has its cells below one another, each object too."""
    frames = Frames()
    records = [
        {"cell": cell, "name": name, "metricObjectName": own.format(cell), "metricValue": f"{value} MB"}
        for value, cell in enumerate(("cel01", "cel02"))
        for name, own in (("B_METRIC", "CD_01_{}"), ("B_METRIC", "CD_00_{}"), ("A_METRIC", "{}"))
    ]
    frames.add(Result(records=records, fold=True, data=True))
    assert [line.split()[:3] for line in frames.body(80)[2:]] == [
        [cell, name, own.format(cell)]
        for name, own in (("B_METRIC", "CD_01_{}"), ("B_METRIC", "CD_00_{}"), ("A_METRIC", "{}"))
        for cell in ("cel01", "cel02")
    ]


def test_bars_go_where_the_terminal_is_narrow() -> None:
    """Where the table alone fills the terminal there are no bars, and nothing else is lost."""
    frames = Frames()
    frames.add(answer(1))
    frames.add(answer(2))
    assert "▁" not in "\n".join(frames.body(34)) and "▁" in "\n".join(frames.body(80))


def test_a_text_marks_the_lines_that_changed() -> None:
    """An answer of text alone, as DETAIL is, has its new lines marked."""
    frames = Frames(color=True)
    frames.add(Result(text="a: 1\nb: 2"))
    frames.add(Result(text="a: 1\nb: 3"))
    assert frames.body(80) == ["a: 1", "\x1b[7mb: 3\x1b[0m"]


def test_an_empty_answer_is_shown_as_such() -> None:
    """No records are (none), not a blank screen."""
    frames = Frames()
    frames.add(Result(data=True))
    assert frames.body(80) == ["(none)"]


def test_the_screen_has_exactly_the_terminals_size_and_scrolls() -> None:
    """No line is wider than the terminal, titles stay, keys move the rest, problems are part of it."""
    view = WatchView(text="list metriccurrent " * 9, every=5, now=lambda: "12:00:00")
    view.lines(80, 24, "")
    many = Result(records=[metric(f"cel{n:02d}", n) for n in range(64)], problems=("cel99: no route",), data=True)
    view.arrived(many)
    lines = view.lines(80, 24, "waiting for cel07")
    assert len(lines) == 24 and max(map(len, lines)) <= 80 and lines[2].startswith("cell")
    assert "waiting for cel07" in lines[-2] and "of 65" in lines[-1]
    view.press("G")
    end = view.lines(80, 24, "")
    assert end[2] == lines[2] and any("no route" in line for line in end)


def test_watch_ends_after_its_count() -> None:
    """With count=2 the second answer is the last one taken."""
    view = WatchView(text="x", every=1, most=2)
    for value in (1, 2, 3):
        view.arrived(answer(value))
    assert view.ended and view.count == 2 and view.last is not None and view.last.records[0]["metricValue"] == "2 MB"


@pytest.mark.parametrize(
    ("format", "first", "second"),
    [
        ("table", "-- T\ncell", "-- T\ncell"),
        ("jsonl", '{"cell": "cel01", "at": "T"', '{"cell": "cel01", "at": "T"'),
        ("csv", "cell,at,name,metricValue\ncel01,T", "cel01,T,FC_BY_DIRTY"),
        ("tsv", "cell\tat\tname", "cel01\tT\t"),
        ("json", '[{"cell": "cel01", "at": "T"', '[{"cell": "cel01", "at": "T"'),
        ("yaml", "---\n- cell:", "---\n- cell:"),
        ("md", "| cell | at |", "| cell | at |"),
    ],
)
def test_answers_can_be_appended_in_every_format(format: str, first: str, second: str) -> None:
    """Records carry their time; csv and tsv have their titles once; what follows can stand behind what was."""
    frames = Appending(format, now=lambda: "T")
    assert frames.text(answer(1)).startswith(first)
    again = frames.text(answer(2))
    assert again.startswith(second) and again.endswith("\n")
    if format == "jsonl":
        assert json.loads(again)["metricValue"] == "2 MB"
