"""What drive measured is a text that is read again as it was."""

from __future__ import annotations

import pytest

from exacell.measure.importers.drive import SESSION, WAITS, driven, read
from exacell.measure.importers.model import UnreadableError

SAID = f"""{SESSION} 1000
{WAITS} 2000 700000 cell single block physical read
{SESSION} 800
{WAITS} 1000 800000 cell single block physical read
{WAITS} 1 5 latch free
__EXACELL_LOADED__ 0
"""


def test_sessions_are_put_together() -> None:
    """The slowest session is the load's time, the rate is that of all, and waits of one event are added."""
    found = driven(SAID, work="look-ups", sessions=2, times=1500, keys=99)
    assert found is not None
    assert (found.elapsed, found.rate) == (10.0, 300.0)
    assert found.waits == {"cell single block physical read": (3000, 1_500_000), "latch free": (1, 5)}
    assert found.sentence == (
        "3,000 look-ups by 2 sessions in 10.00 s, 300 a second; cell single block physical read: 3,000 waits of 500 µs "
        "on average; latch free: 1 waits of 5 µs on average"
    )


def test_what_is_kept_is_read_again() -> None:
    """Rate, time and mean wait stand at the number of sessions; each event is a series."""
    found = driven(SAID, work="look-ups", sessions=2, times=1500, keys=99)
    assert found is not None
    run = read(found.text, "look-ups-2.txt")
    assert run.same == {"work": "look-ups", "keys": "99"} and run.load == "sessions"
    first, *events = run.points
    assert (first.series, first.load) == ("look-ups", 2.0)
    assert first.figures == {"donePerS": 300.0, "elapsedS": 10.0, "averageUs": 500.0}
    assert [point.series for point in events] == ["cell single block physical read", "latch free"]


def test_a_session_without_an_end_is_no_measurement() -> None:
    """Where not every session told what it took, there are no figures."""
    assert driven(SAID, work="look-ups", sessions=3, times=1500) is None


@pytest.mark.parametrize("cut", ["took 8.00 s\n", "sessions 2\n"])
def test_a_cut_text_is_refused(cut: str) -> None:
    """A text in which a session is missing is no whole measurement."""
    found = driven(SAID, work="look-ups", sessions=2, times=1500, keys=99)
    assert found is not None
    with pytest.raises(UnreadableError):
        read(found.text.replace(cut, ""), "x.txt")


def test_a_load_that_took_no_time_has_no_rate() -> None:
    """Below a hundredth of a second the clock shows nothing, so no rate is told."""
    found = driven(f"{SESSION} 0\n", work="commits", sessions=1, times=3)
    assert found is not None and found.rate is None and "a second" not in found.sentence
    assert "donePerS" not in read(found.text, "x").points[0].figures


@pytest.mark.parametrize("took", ["..", "1.2.3", "."])
def test_a_time_that_is_no_number_is_refused(took: str) -> None:
    """A session's time that is not a number makes the text damaged, not exacell."""
    with pytest.raises(UnreadableError, match="not complete"):
        read(f"exacell drive commits\nsessions 1\neach 1\nkeys 0\ntook {took} s\n", "x.txt")
