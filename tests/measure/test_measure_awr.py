"""An AWR report's figures are those that it prints, in whatever form it is; what is not read is named or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.core.errors import RefusedError
from exacell.measure.importers import awr
from exacell.measure.importers.awr import read
from exacell.measure.importers.kinds import read as read_any
from exacell.measure.importers.levels import levels
from exacell.measure.importers.model import Run
from tests.measure.test_measure_importers import imported

MADE = Path(__file__).parent.parent / "data" / "importers"
PROFILE = """WORKLOAD REPOSITORY report for
Release: {release}
   Elapsed:               60.00 (mins)

Load Profile                    Per Second   Per Transaction
~~~~~~~~~~~~~~~            ---------------   ---------------
      Redo size (bytes):      15,000,000.0           6,000.0

"""
ROW = ("log file sync", "1,000", "3", "40", "40.00ms", "6.5", "20.1")


def text(
    *rows: tuple[str, ...], width: int = 28, release: str = "12.2.0.1.0", title: str = "Foreground Wait Events"
) -> str:
    """Return a report with a table of events as SQL*Plus prints it: what is too long is cut, what is too wide becomes ####."""
    widths = (width, 12, 5, 10, 9, 8, 6)
    heads = ("Event", "Waits", "-outs", "Time (s)", "Avg wait", "/txn", "time")
    over = ("", "", "%Time", "Total Wait", "", "Waits", "% DB")
    lines = [title + "   DB/Inst: SPOT/spot1  Snaps: 37-38", "-> s  - second, ms - millisecond", ""]
    for cells in (over, heads, tuple("-" * size for size in widths), *rows):
        shown = [cell if len(cell) <= size else "#" * size for cell, size in zip(cells[1:], widths[1:], strict=True)]
        lines.append(
            " ".join(
                [cells[0][:width].ljust(width), *(c.rjust(size) for c, size in zip(shown, widths[1:], strict=True))]
            )
        )
    return PROFILE.format(release=release) + "\n".join(lines) + "\n          ------\n"


def figures(run: Run, series: str) -> dict[str, float]:
    return dict(next(point for point in run.points if point.series == series).figures)


@pytest.mark.parametrize("width", [26, 28, 30, 40, 64])
def test_events_of_storage_are_read_whole_or_cut(width: int) -> None:
    """Each event of storage stands under its whole name wherever text reports cut it, if only one begins so."""
    wrong = []
    for event in awr._EVENTS:
        run = read(text((event, *ROW[1:]), width=width), "x")
        alike = [
            other for other in awr._EVENTS if other.startswith(event[:width]) and (":" not in other or other == event)
        ]
        name = event if len(event) <= width or (len(alike) == 1 and ":" not in event) else ""
        found = [point.series for point in run.points if "waits" in point.figures]
        if len(found) != 1 or (name and found != [name]):
            wrong.append((event, found))
    assert not wrong


def test_a_name_that_may_be_several_is_never_given_as_one() -> None:
    """From 19c on a cut read may have come from anywhere: its lines are put together, and said to be."""
    plain, fast = ("cell single block physical read", *ROW[1:]), ("cell single block physical read: RDMA", *ROW[1:])
    run = read(text(plain, fast, release="19.0.0.0.0"), "x")
    assert figures(run, "cell single block physical r…") == {"waits": 2000, "totalS": 80, "averageUs": 40_000}
    assert any("it may be cell single block physical read or" in note for note in run.notes)
    assert figures(read(text(plain, release="11.2.0.4.0"), "x"), plain[0])["waits"] == 1000


@pytest.mark.parametrize("column", range(1, 7))
def test_a_cell_that_is_too_wide_moves_no_other(column: int) -> None:
    """With #### in any column the figures of the others are as printed; without its waits an event is named and not read."""
    cells = list(ROW)
    cells[column] = "123,456,789,012,345"
    run = read(text(tuple(cells), ("db file sequential read", *ROW[1:])), "x")
    assert figures(run, "db file sequential read") == {"waits": 1000, "totalS": 40, "averageUs": 40_000}
    if column == 1:
        assert (
            "log file sync" not in {point.series for point in run.points} and "log file sync: its waits" in run.notes[0]
        )
    else:
        assert figures(run, "log file sync") == {"waits": 1000, "totalS": 40, "averageUs": 40_000}


def test_a_line_that_does_not_stand_under_its_columns_is_named() -> None:
    """An event whose line is shifted is said not to be read, and the others are."""
    made = text(ROW, ("db file sequential read", *ROW[1:]))
    run = read(made.replace("\nlog file sync             ", "\nlog file sync of another one of us x"), "x")
    assert any("can't be read" in note for note in run.notes)
    assert figures(run, "db file sequential read")["waits"] == 1000


def test_only_tables_of_events_are_searched_for_events() -> None:
    """Of an event that a histogram alone has there is no figure."""
    run = read((MADE / "awr-10g-histogram.txt").read_text(), "x")
    assert {"log file parallel write", "direct path read"}.isdisjoint(point.series for point in run.points)


def test_what_takes_much_time_and_is_not_read_is_named() -> None:
    """From 5 % of the DB time on an event that is none of storage is named with its share; the CPU is no event."""
    rows = [(f"enq: T{share}", *ROW[1:6], share) for share in ("4.9", "5.0", "34.3")]
    (note,) = (
        note for note in read(text(*rows, ("DB CPU", "", "", "40", "", "", "60.0")), "x").notes if "not read" in note
    )
    assert note == "not read, with 5 % of the DB time or more: enq: T5.0 (5 %), enq: T34.3 (34.3 %)"


def test_waits_that_are_not_the_total_are_not_taken_for_it() -> None:
    """An event whose waits times the average is not its total is named and not read."""
    run = read(text(("log file sync", "1,000", "3", "99", "40.00ms", "6.5", "20.1")), "x")
    assert not [point for point in run.points if "waits" in point.figures]
    assert "log file sync: waits times the average is not the total" in run.notes[0]


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (text(("log file sync", "1.000.000", "3", "40", "40.00ms", "6.5", "20.1")), "which number '1.000.000' is"),
        (text(("log file sync", "1,000", "3", "40,5", "40.00ms", "6.5", "20.1")), "which number '40,5' is"),
        (text(("log file sync", "10,00", "3", "40", "40.00ms", "6.5", "20.1")), "which number '10,00' is"),
        (text(ROW).replace("6,000.0", "6.000,0"), "which number '6.000,0' is"),
        (text(ROW).replace("15,000,000.0", "15 000 000,0"), "which number '15 000 000,0' is"),
        (text(ROW).replace("15,000,000.0", "15 000 000.0"), "which number '15 000 000.0' is"),
        ("WORKLOAD REPOSITORY REPORT (RAC)\n", "awrgrpt.sql"),
        ("<html><head><title>AWR RAC Report for DB: SPOT</title><table></table>", "awrgrpt.sql"),
        ("WORKLOAD REPOSITORY COMPARE PERIOD REPORT\n", "awrddrpt.sql"),
        ("WORKLOAD REPOSITORY report for\n", "its load profile is empty"),
    ],
)
def test_what_can_not_be_told_is_refused(made: str, why: str) -> None:
    """Numbers in another form, and other reports of AWR, are refused by their name, with what to do."""
    with pytest.raises(RefusedError) as refused:
        read_any(made, "x.txt")
    assert why in str(refused.value)


def test_columns_that_can_not_be_told_are_said() -> None:
    """Where a text has lost the lines below its heads, its waits are said not to be read."""
    run = read(
        PROFILE.format(release="19.0.0.0.0") + "Event Waits Time(s) Avg wait\nlog file sync 1,000 40 40.00ms\n", "x"
    )
    assert any("its waits are not read" in note for note in run.notes)


@pytest.mark.parametrize("between", [" ", "\n~~~~~~~~~~~~        ", "\n\n        ", "\n~~~~~~~~~~~~\n\n      "])
def test_the_head_of_the_load_profile_may_stand_on_a_line_of_its_own(between: str) -> None:
    """Per Second stands beside Load Profile, or some lines below it."""
    made = text(ROW).replace("Load Profile                    Per", f"Load Profile{between}Per")
    assert figures(read_any(made, "x"), "redo size") == {"perSecond": 15_000_000, "perTransaction": 6000}


ONE, TWO = ((MADE / f"awr-instance-{number}.txt").read_text() for number in (1, 2))


def test_another_instance_at_another_time_is_a_series_of_its_own() -> None:
    """Its report is neither a part of the run nor a further run of the same thing."""
    later = TWO.replace("30-Nov-11 1", "01-Dec-11 1")
    found = {level.series: level.runs() for level in levels(imported(("a", ONE), ("b", later)).runs)}
    assert {"log file sync on spot1": 1, "log file sync on spot2": 1}.items() <= found.items()


def test_reports_of_two_instances_pair_by_their_order() -> None:
    """Of two days and two instances each day is one run of both."""
    texts = [("1a", ONE), ("1b", _next_day(ONE)), ("2a", TWO), ("2b", _next_day(TWO))]
    (sync,) = (level for level in levels(imported(*texts).runs) if level.series == "log file sync")
    assert sync.values["waits"] == (9_000_000, 9_000_000) and sync.figure("averageUs") == 3200


def _next_day(text: str) -> str:
    return text.replace("30-Nov-11 1", "01-Dec-11 1")


def test_reports_of_one_instance_that_overlap_are_two_runs() -> None:
    """Two reports of one instance over nearly the same time are never added: what both hold would count twice."""
    texts = [("a", ONE), ("b", ONE.replace("30-Nov-11 11:00:00", "30-Nov-11 10:30:00"))]
    (sync,) = (level for level in levels(imported(*texts).runs) if level.series == "log file sync")
    assert sync.values["waits"] == (7_200_000, 7_200_000)


def test_reports_without_a_time_that_is_read_are_runs() -> None:
    """Where the months stand in another language nothing tells that two instances were measured at once."""
    texts = [("a", ONE.replace("Nov", "Nov.")), ("b", TWO.replace("Nov", "Nov."))]
    (sync,) = (level for level in levels(imported(*texts).runs) if level.series == "log file sync")
    assert sync.runs() == 2
