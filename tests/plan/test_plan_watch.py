"""Following a flush to its proof: every way in which it is no proof."""

from __future__ import annotations

from typing import Any

import pytest

from exacell.core.units import GIB, MIB
from exacell.plan.watch import METERS, FlushState, FlushWatch

DONE = ({"name": "FD_00", "flushStatus": "complete"}, {"name": "FD_01", "flushStatus": "Completed"})
BUSY = ({"name": "FD_00", "flushStatus": "complete"}, {"name": "FD_01", "flushStatus": "working: Flushed 1 MB"})
FLUSHED = "normal - flushed"


def metrics(
    dirty: float | None = 0.0, at: int = 1, used: float = 0.0, stale: float = 0.0, **more: Any
) -> dict[str, Any]:
    found: dict[str, Any] = {"FC_BY_USED": (used, at), "FC_BY_STALE_DIRTY": (stale, at), **more}
    if dirty is not None:
        found["FC_BY_DIRTY"] = (dirty, at)
    return found


def feed(watch: FlushWatch, status: str = FLUSHED, disks: Any = DONE, **values: Any) -> FlushState:
    return watch.feed(status=status, disks=disks, metrics=metrics(**values))


def test_the_whole_way() -> None:
    """A flush is proven by complete disks, the flushed status, and nothing dirty in a collection after that."""
    watch = FlushWatch()
    state = feed(watch, "normal - flushing", BUSY, dirty=4.0 * GIB, at=1)
    assert (state.done, state.failed, state.dirty) == (False, "", 4 * GIB)
    assert state.phrase == "flushing, 4G dirty, 1 of 2 disks"
    assert state.fraction == 0.5
    state = feed(watch, "normal - flushing", BUSY, dirty=1.0 * GIB, at=2)
    assert state.fraction == 0.75
    state = feed(watch, dirty=1.0 * GIB, at=2)
    assert (state.phrase, state.done, state.failed) == ("flushed, waiting for new metrics", False, "")
    state = feed(watch, at=3, used=256.0 * MIB)
    assert state.done
    assert (state.dirty, state.used, state.fraction, state.failed) == (0, 256 * MIB, 1.0, "")


def test_a_collection_of_before_is_no_proof() -> None:
    """Nothing dirty in the collection that was there at completion proves nothing."""
    watch = FlushWatch()
    for _ in range(3):
        assert not feed(watch, at=7).done
    assert feed(watch, at=8).done


def test_dirty_after_completion_fails() -> None:
    """Dirty bytes in a later collection contradict the completion."""
    watch = FlushWatch()
    feed(watch, at=1)
    assert "5M are dirty (FC_BY_DIRTY)" in feed(watch, dirty=5.0 * MIB, at=2).failed


def test_without_fc_by_dirty_nothing_is_proven() -> None:
    """Other metrics of a later collection do not stand in for FC_BY_DIRTY."""
    watch = FlushWatch()
    for at in range(4):
        state = feed(watch, dirty=None, at=at)
        assert not state.done
        assert not state.failed
    assert not feed(watch, at=9).done
    assert feed(watch, at=10).done


def test_only_fc_by_dirtys_own_collection_counts() -> None:
    """A newer collection of another metric does not make FC_BY_DIRTY newer."""
    watch = FlushWatch()
    feed(watch, at=1)
    state = watch.feed(status=FLUSHED, disks=DONE, metrics={"FC_BY_DIRTY": (0.0, 1), "FC_BY_USED": (0.0, 5)})
    assert not state.done


def test_completion_that_is_taken_back_starts_over() -> None:
    """A disk that is no longer complete takes the completion back: a still later collection is needed."""
    watch = FlushWatch()
    feed(watch, at=1)
    feed(watch, disks=BUSY, at=2)
    assert not feed(watch, at=3).done
    assert feed(watch, at=4).done


@pytest.mark.parametrize(
    ("status", "disks", "values", "said"),
    [
        (
            "normal - flushing",
            ({"name": "FD_01", "flushError": "cannot read"},),
            {},
            "flush of cell disk FD_01 failed: cannot read",
        ),
        (
            FLUSHED,
            (*DONE, {"name": "FD_02", "flushStatus": "complete", "flushError": "x"}),
            {"at": 9},
            "FD_02 failed: x",
        ),
        (
            "normal - flushing",
            BUSY,
            {"stale": 2.0 * MIB},
            r"2M of dirty data belong to grid disks that cannot be written",
        ),
        ("", DONE, {}, "the flash cache is gone"),
        ("normal", DONE, {}, "the flush ended early: status is normal"),
        ("warning", BUSY, {}, "the flush ended early"),
        ("warning - flushed", DONE, {}, "ended with status warning - flushed, not normal - flushed"),
    ],
)
def test_refused(status: str, disks: Any, values: dict[str, Any], said: str) -> None:
    """A flush that cannot finish says why at once, even when everything else looks complete."""
    watch = FlushWatch()
    feed(watch, disks=DONE if status == FLUSHED else BUSY, status="normal - flushing", at=0)
    state = feed(watch, status, disks, **values)
    assert said in state.failed
    assert not state.done
    assert state.phrase == "failed"


@pytest.mark.parametrize(
    ("status", "disks"),
    [
        ("normal - flushing", DONE),
        ("warning - flushing", DONE),
        (FLUSHED, BUSY),
        (FLUSHED, ()),
        (FLUSHED, ({"name": "FD_00", "flushStatus": ""},)),
        (FLUSHED, ({"name": "FD_00"},)),
    ],
)
def test_not_complete_yet(status: str, disks: Any) -> None:
    """While the status says flushing, a disk is not complete, or no disk is known, nothing is proven however long."""
    watch = FlushWatch()
    for at in range(3):
        state = feed(watch, status, disks, at=at)
        assert not state.done
        assert not state.failed
        assert state.fraction <= 0.98


def test_used_may_be_missing() -> None:
    """A cell that gives no FC_BY_USED can still prove that nothing is dirty."""
    watch = FlushWatch()
    watch.feed(status=FLUSHED, disks=DONE, metrics={"FC_BY_DIRTY": (0.0, 1)})
    state = watch.feed(status=FLUSHED, disks=DONE, metrics={"FC_BY_DIRTY": (0.0, 2)})
    assert state.done
    assert state.used is None


# -- how long it may take --------------------------------------------------------------------------------------------

MINUTE = 60_000
ETAS = [
    ([(0, 100)], None),
    ([(0, 100), (0, 100)], None),
    ([(0, 100), (1, 90)], 540.0),
    ([(0, 100), (1, 100)], None),
    ([(0, 100), (1, 90), (1, 90)], 540.0),
    ([(0, 100), (1, 90), (2, 80), (3, 70)], 420.0),
    ([(0, 500), (1, 400), (2, 390), (3, 380), (4, 370), (5, 360), (6, 350)], 2100.0),
    ([(0, 10), (1, 100), (2, 90)], 540.0),
]


@pytest.mark.parametrize(("samples", "seconds"), ETAS)
def test_eta_is_the_slope_over_the_cells_own_clock(samples: list[tuple[int, int]], seconds: float | None) -> None:
    """The ETA divides what is dirty by how fast it went over the last collections; one collection or no fall tells none."""
    watch = FlushWatch()
    for minute, dirty in samples:
        state = watch.feed(
            status="normal - flushing",
            disks=[{"name": "FD_00", "flushStatus": "working", "flushError": ""}],
            metrics={"FC_BY_DIRTY": (float(dirty), minute * MINUTE), "FC_BY_STALE_DIRTY": (0.0, minute * MINUTE)},
        )
    assert state.eta == seconds


PACES = [
    # One look at each collection, so many seconds apart; the first one may have been made long before it was seen.
    ([(0, 100, 0.0)], None),
    ([(0, 100, 0.0), (1, 90, 0.2)], None),
    ([(0, 100, 0.0), (1, 90, 0.2), (2, 80, 1.2)], 8.0),
    ([(0, 100, 0.0), (1, 90, 0.2), (2, 80, 1.2), (3, 70, 2.2)], 7.0),
    ([(0, 100, 0.0), (1, 90, 40.0), (2, 80, 100.0)], 480.0),
    ([(0, 100, 0.0), (1, 90, 40.0), (1, 90, 45.0), (2, 80, 100.0), (2, 80, 130.0)], 480.0),
    ([(0, 100, 0.0), (1, 100, 0.2), (2, 100, 1.2)], None),
]


@pytest.mark.parametrize(("samples", "seconds"), PACES)
def test_eta_is_what_the_watcher_will_wait(samples: list[tuple[int, int, float]], seconds: float | None) -> None:
    """With the watcher's clock given the ETA is in its seconds, however fast the cell's clock runs, once that is known."""
    watch = FlushWatch()
    for minute, dirty, now in samples:
        state = watch.feed(
            status="normal - flushing", disks=BUSY, metrics=metrics(dirty=dirty, at=minute * MINUTE), now=now
        )
    assert state.eta == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(("cache", "metric"), [("pmemcache", "PC_BY_ALLOCATED"), ("xrmemcache", "XRM_BY_ALLOCATED")])
def test_memory_is_proven_by_its_status_and_measured_by_what_is_in_it(cache: str, metric: str) -> None:
    """A flush of the cache in memory tells what is left in it and when it may end; what it holds then comes from a later
    collection, and is not dirty."""
    watch = FlushWatch(meter=METERS[cache])

    def fed(status: str, disks: Any, held: float, at: int) -> FlushState:
        return watch.feed(status=status, disks=disks, metrics={metric: (held, at)})

    state = fed("normal - flushing", BUSY, 8.0 * GIB, 60_000)
    assert (state.phrase, state.dirty, state.fraction) == ("flushing, 8G in it, 1 of 2 disks", None, 0.5)
    state = fed("normal - flushing", BUSY, 2.0 * GIB, 120_000)
    assert (state.fraction, state.eta) == (0.75, 20.0)
    assert fed(FLUSHED, DONE, 2.0 * GIB, 120_000).phrase == "flushed, waiting for new metrics"
    state = fed(FLUSHED, DONE, 5.0 * MIB, 180_000)
    assert (state.done, state.dirty, state.used, state.failed) == (True, 0, 5 * MIB, "")


def test_memory_without_a_metric_is_proven_all_the_same() -> None:
    """Where a cell gives no metric of the cache in memory the status and the disks prove the flush."""
    watch = FlushWatch(meter=METERS["xrmemcache"])
    assert not watch.feed(status="normal - flushing", disks=DONE, metrics={}).done
    assert not watch.feed(status=FLUSHED, disks=BUSY, metrics={}).done
    state = watch.feed(status=FLUSHED, disks=DONE, metrics={})
    assert (state.done, state.dirty, state.used) == (True, 0, None)
    assert watch.feed(status="", disks=DONE, metrics={}).failed == "the XRMEMCACHE is gone"
