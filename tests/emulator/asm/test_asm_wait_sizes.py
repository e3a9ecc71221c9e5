"""V$EVENT_HISTOGRAM_MICRO of the emulated databases: how long single waits were, beside how many and how long in all."""

from __future__ import annotations

import pytest

from exacell.emulator.io.redo_times import OUTLIER_US
from exacell.emulator.io.truth import Truth
from exacell.emulator.io.wait_sizes import counted_sizes, size_of, sizes, spread

BARE = "set feedback off heading off pagesize 0 linesize 300 tab off numwidth 20\n"
EVENTS = ("log file sync", "log file parallel write", "cell single block physical read", "direct path read")


def rows(lab, query: str) -> list[list[str]]:
    return [line.split() for line in lab.db(f"{BARE}{query};\n").lines]


def sizes_of(lab, event: str, view: str = "gv$event_histogram_micro") -> dict[int, int]:
    column = "wait_time_milli" if view.endswith("histogram") else "wait_time_micro"
    query = f"select {column}, sum(wait_count) from {view} where event = '{event}' group by {column}"
    return {int(size): int(count) for size, count in rows(lab, query)}


def load(lab, seconds: float = 600.0) -> None:
    lab.rack.start_load(db="SPOT", redo=2000, seconds=seconds)
    lab.pass_time(seconds + 120)
    lab.rack.advance()


@pytest.mark.parametrize("event", EVENTS)
def test_sizes_add_up_to_the_waits_and_hold_their_time(lab, event):
    """On each instance and over all, every wait has one size, and all their time is between the ends of their sizes."""
    load(lab)
    for prefix in ("", "g"):
        found = sizes_of(lab, event, f"{prefix}v$event_histogram_micro")
        query = f"select sum(total_waits), sum(time_waited_micro) from {prefix}v$system_event where event = '{event}'"
        ((waits, micros),) = rows(lab, query)
        assert sum(found.values()) == int(waits) > 1000
        whole = sum(size * count for size, count in found.items())
        # An outlier is counted when it is whole, its time before; statistics of redo writes are in hundredths of a second.
        assert whole / 2 - OUTLIER_US <= int(micros) <= whole + OUTLIER_US
        assert all(size & (size - 1) == 0 for size in found)


def test_milliseconds_are_the_same_waits(lab):
    """V$EVENT_HISTOGRAM has the sizes below 1024 microseconds in one, and the others as they are."""
    load(lab)
    micro, milli = (sizes_of(lab, "log file sync", f"v$event_histogram{end}") for end in ("_micro", ""))
    below = sum(count for size, count in micro.items() if size <= 1024)
    assert milli == {1: below, **{size // 1024: count for size, count in micro.items() if size > 1024}}
    formats = dict(line for line in ((r[0], " ".join(r[1:])) for r in rows(
        lab, "select distinct wait_time_micro, wait_time_format from v$event_histogram_micro"
    )))  # fmt: skip
    assert formats["512"] == "512 microseconds" and formats["1024"] == "1 millisecond"


@pytest.mark.parametrize("logged", [True, False])
def test_the_tail_has_the_outliers_that_are_planted(lab, logged):
    """Of a million commits as many take half a second as the truth says, with the flash log and without it."""
    lab.rack.plant("SPOT", Truth(adds=0.0, prevents=200.0))
    for cell in lab.rack.cells.values():
        if not logged:
            cell.flash_log = None
    before = sizes_of(lab, "log file sync")
    load(lab, 1200.0)
    found = {size: count - before.get(size, 0) for size, count in sizes_of(lab, "log file sync").items()}
    assert min(found.values()) >= 0
    slow = sum(count for size, count in found.items() if size > 1 << 19)
    rate = slow / sum(found.values()) * 1e6
    assert rate == pytest.approx(201.2, rel=0.15) if not logged else rate < 10


def test_an_older_database_has_no_such_view(new_lab):
    """Before 12.1 the view does not exist."""
    old = new_lab(release="11.2.3.3.1")
    assert old.asm.version < (12, 1)
    ran = old.db("select count(*) from gv$event_histogram_micro;\n")
    assert ran.codes == [942]


@pytest.mark.parametrize(("waits", "mean"), [(1, 400.0), (10, 3.0), (1_000_000, 575.5)])
def test_a_spread_has_every_wait_once_and_the_mean_within(waits, mean):
    """Sizes are powers of two, all waits are in them, and the mean is between their ends."""
    found = spread(waits, mean)
    assert sum(found.values()) == waits
    assert sum(s * c for s, c in found.items()) / 2 / waits <= mean * (1 + 1 / waits) * 1.3
    assert size_of(511) == 512 == size_of(511.9) and size_of(512) == 1024


def test_parts_of_outliers_add_up():
    """An outlier in every third minute is one after three, and every wait stays counted once."""
    counted: dict[str, float] = {}
    for minute in range(1, 7):
        for name, count in counted_sizes("log file sync", 100, 6800.0, 1 / 300 + 1e-9).items():
            counted[name] = counted.get(name, 0) + count
        found = sizes(counted, "log file sync", 100 * minute)
        assert sum(found.values()) == 100 * minute
        assert found.get(size_of(OUTLIER_US), 0) == minute // 3
