"""Counters that began anew between two snapshots of a cell are found, however large they are by then."""

from __future__ import annotations

import pytest

from exacell.measure.snapshot import (
    CellCounters,
    fell_in_history,
    history_witness,
    knows_restarts,
    restarted,
    shared,
)

MINUTE = 60_000


def at(minute: int, *, started: int = 0, marks: dict[str, float] | None = None, **values: float) -> CellCounters:
    log = {"created": "then", "logCreated": "then"}
    return CellCounters(
        collected=minute * MINUTE, values=values, passport=log, started=started * MINUTE, marks=marks or {}
    )


def test_a_start_behind_the_first_collection_is_a_restart() -> None:
    """CELLSRV that was started behind the first collection was restarted, though every counter is larger now."""
    why = restarted(at(10, started=3, FC_IO_RQ_W=5), at(20, started=12, FC_IO_RQ_W=9))
    assert why == "CELLSRV was started at 1970-01-01T00:12:00+00:00, after the first collection"
    assert not restarted(at(10, started=3), at(20, started=3))
    assert not restarted(at(10), at(20))


@pytest.mark.parametrize(
    ("mark", "restart"),
    [("SIO_IO_EL_OF SMARTIO", True), ("CD_IO_RQ_R_SM CD_00_c1", True), ("FL_RQ_W FLASHLOG", True)],
)
def test_a_counter_that_only_a_restart_resets_tells_of_it(mark: str, restart: bool) -> None:
    """A fallen counter of another object is a restart of CELLSRV, and is named with both values."""
    why = restarted(at(10, marks={mark: 900}), at(20, marks={mark: 7}))
    assert why == f"{mark} fell from 900 to 7: CELLSRV was restarted"
    assert not restarted(at(10, marks={mark: 7}), at(20, marks={mark: 900}))
    assert not restarted(at(10, marks={mark: 7}), at(20))


def test_a_new_flash_log_is_no_restart() -> None:
    """Counters of a flash log that was made anew fell because of that: they don't tell of CELLSRV."""
    before, after = at(10, marks={"FL_RQ_W FLASHLOG": 900}), at(20, marks={"FL_RQ_W FLASHLOG": 7})
    anew = CellCounters(collected=after.collected, marks=after.marks, passport={"logCreated": "now"})
    assert not restarted(before, anew)


def test_a_restart_of_one_kind_holds_for_all_kinds_of_the_cell() -> None:
    """Redo counters that fell make the flash cache's difference void as well, and not the other way round by a flush."""
    counters = {"flashlog": ("FL_RQ_W",), "flashcache": ("FC_IO_RQ_W",)}
    log = at(1, FL_RQ_W=900), at(2, FL_RQ_W=3)
    cache = at(1, FC_IO_RQ_W=1), at(2, FC_IO_RQ_W=99)
    both = {"flashlog": log, "flashcache": cache}
    assert shared(both, counters) == "FL_RQ_W fell from 900 to 3: CELLSRV was restarted"
    flushed = {"flashlog": (at(1, started=1, FL_RQ_W=1), at(2, started=1, FL_RQ_W=5)),
               "flashcache": (at(1, started=1, FC_IO_RQ_W=99), at(2, started=1, FC_IO_RQ_W=1))}  # fmt: skip
    assert shared(flushed, counters) == ""
    # Where nothing tells a flush from a restart, it may have been one.
    old = {"flashlog": (at(1, FL_RQ_W=1), at(2, FL_RQ_W=5)), "flashcache": (at(1, FC_IO_RQ_W=99), at(2, FC_IO_RQ_W=1))}
    assert shared(old, counters) == "FC_IO_RQ_W fell from 99 to 1: CELLSRV may have been restarted"


def test_what_tells_restarts_from_flushes() -> None:
    """A restart can be told from a flush where the cell says when CELLSRV started, or gave counters of other objects."""
    assert knows_restarts(at(1), at(2, started=1))
    assert knows_restarts(at(1, marks={"x": 1}), at(2, marks={"x": 1}))
    assert not knows_restarts(at(1, marks={"x": 1}), at(2))


def test_the_history_shows_what_the_ends_hide() -> None:
    """A counter that fell between two minutes of the history began anew there; minutes outside don't count."""
    before, after = at(10, FC_IO_RQ_W=100.0), at(20, FC_IO_RQ_W=5000.0)
    minutes = [(12 * MINUTE, 120.0), (11 * MINUTE, 110.0), (14 * MINUTE, 3000.0), (13 * MINUTE, 0.0)]
    why = fell_in_history("FC_IO_RQ_W", minutes, before, after)
    assert why == "FC_IO_RQ_W fell from 120 to 0 at 1970-01-01T00:13:00+00:00, says the cell's metric history"
    outside = [(5 * MINUTE, 900.0), (9 * MINUTE, 1.0), (15 * MINUTE, 200.0), (21 * MINUTE, 0.0)]
    assert not fell_in_history("FC_IO_RQ_W", outside, before, after)
    assert fell_in_history("FC_IO_RQ_W", [(15 * MINUTE, 9000.0)], before, after)


def test_the_witness_is_a_counter_that_can_fall_on_every_cell() -> None:
    """The history is asked for the counter that is largest on the cell where it is smallest; none, where all are 0."""
    cells = [at(1, A=1000, B=50, C=0), at(1, A=0, B=60, C=7)]
    assert history_witness(cells, ["A", "B", "C"]) == "B"
    assert history_witness(cells, ["A", "C"]) == ""
    assert history_witness([], ["A"]) == ""
