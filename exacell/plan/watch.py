"""Follow a flush from its start to the proof that the cache is empty; pure, fed with a cell's answers.

Done means all of these: every cell disk of the cache has flushStatus complete without flushError, the cache says
``normal - flushed``, and FC_BY_DIRTY is 0 in a collection later than completion (metrics are collected once a minute on
the cell's own clock). Source: Oracle DBMMN, disabling write-back flash cache; reference cellcli.md 6.2. The cache in memory
has no metric of dirty data: there the status is the proof, and a later collection shows the cache's content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exacell.core.units import human_size
from exacell.core.values import dataclass, field
from exacell.plan.facts import FLUSHED

COMPLETE = ("complete", "completed")

SLOPE_OVER = 5
"""The number of last collections that decide the present speed; older ones had another load."""


@dataclass(frozen=True, kw_only=True)
class Meter:
    """How the flush of one kind of cache is measured.

    Attributes:
        noun: the cache's name in a sentence.
        falls: the metric that falls while the cache is flushed, in bytes.
        word: the word for the data that this metric counts.
        needed: whether the proof needs this metric: it is waited for, and must be 0.
        used: the metric of all data in the cache.
    """

    noun: str
    falls: str
    word: str
    needed: bool
    used: str


METERS: Mapping[str, Meter] = {
    "flashcache": Meter(noun="flash cache", falls="FC_BY_DIRTY", word="dirty", needed=True, used="FC_BY_USED"),
    **{
        cache: Meter(noun=cache.upper(), falls=metric, word="in it", needed=False, used=metric)
        for cache, metric in (("pmemcache", "PC_BY_ALLOCATED"), ("xrmemcache", "XRM_BY_ALLOCATED"))
    },
}
"""By cache, as in :attr:`exacell.plan.model.Step.cache`. Source: Oracle SAGUG, monitoring-pmem-cache and
monitoring-xrmem-cache: there is a metric for allocated space, none for dirty data."""


@dataclass(frozen=True, kw_only=True)
class FlushState:
    """The state of one cell's flush.

    Attributes:
        phrase: text for progress lines.
        fraction: the share of the first dirty bytes that is written by now; 0 to 1.
        done: the cache is proven flushed.
        failed: why the flush can't finish; empty while it can.
        dirty, used: bytes in the last collection; None before the first one.
        eta: seconds until nothing is left to flush, at the latest speed, on the watcher's clock if that is known; None
            while unknown.
    """

    phrase: str
    fraction: float = 0.0
    done: bool = False
    failed: str = ""
    dirty: int | None = None
    used: int | None = None
    eta: float | None = None


@dataclass
class FlushWatch:
    """The state machine for one cell: flushing → complete → a later collection with nothing dirty.

    Attributes:
        meter: how the flush of this cache is measured.
    """

    meter: Meter = field(default_factory=lambda: METERS["flashcache"])
    first: int | None = None
    """The first value of the meter's metric."""
    completed_at: int | None = None
    """The metric's collectionTime (epoch ms of the cell's clock) when completion was first seen."""
    _samples: list[tuple[int, int]] = field(default_factory=list)
    """(collectionTime in ms, bytes) of the last collections, oldest first."""
    _seen: list[tuple[int, float]] = field(default_factory=list)
    """(collectionTime in ms, watcher's seconds) of collections that were read soon after they were made."""
    _timed: bool = False

    def feed(
        self,
        *,
        status: str,
        disks: Sequence[Mapping[str, Any]],
        metrics: Mapping[str, tuple[float, int]],
        now: float | None = None,
    ) -> FlushState:
        """Return the state after one more answer of the cell.

        Args:
            status: of the cache; empty if there is none.
            disks: name, flushStatus and flushError of each of its cell disks.
            metrics: name → (bytes, collectionTime in ms).
            now: seconds of the watcher's clock, which may run faster or slower than the cell's; None if they run alike.
        """
        meter = self.meter
        value = metrics.get(meter.falls)
        left = None if value is None else int(value[0])
        # For the cache in memory, dirty data is known only once there is none.
        dirty = left if meter.needed else None
        used = int(metrics[meter.used][0]) if meter.used in metrics else None
        if self.first is None:
            self.first = left
        if value is not None:
            self._sample(value[1], int(value[0]), now)
        why = self._why_failed(status, disks, metrics)
        if why:
            return FlushState(phrase="failed", failed=why, dirty=dirty, used=used)
        open_disks = [d for d in disks if str(d.get("flushStatus", "")).lower() not in COMPLETE]
        if open_disks or not disks or "flushed" not in status:
            self.completed_at = None
            return self._flushing(left, dirty, used, len(disks) - len(open_disks), len(disks))
        if status != FLUSHED:
            why = f"the flush ended with status {status}, not {FLUSHED}"
            return FlushState(phrase="failed", failed=why, dirty=dirty, used=used)
        if value is None:
            if not meter.needed:
                return FlushState(phrase="proven flushed", fraction=1.0, done=True, dirty=0)
            return FlushState(phrase=f"flushed, waiting for {meter.falls}", fraction=0.99, used=used)
        if self.completed_at is None:
            self.completed_at = value[1]
        if value[1] <= self.completed_at:
            return FlushState(phrase="flushed, waiting for new metrics", fraction=0.99, dirty=dirty, used=used)
        if dirty:
            why = f"the flush reports completion, yet {human_size(dirty)} are dirty ({meter.falls})"
            return FlushState(phrase="failed", failed=why, dirty=dirty, used=used)
        return FlushState(phrase="proven flushed", fraction=1.0, done=True, dirty=0, used=used)

    def _why_failed(
        self, status: str, disks: Sequence[Mapping[str, Any]], metrics: Mapping[str, tuple[float, int]]
    ) -> str:
        """Return why the flush can't finish any more, even if parts are complete; empty while it can."""
        error = next((d for d in disks if d.get("flushError")), None)
        if error is not None:
            return f"flush of cell disk {error.get('name')} failed: {error['flushError']}"
        stale = metrics.get("FC_BY_STALE_DIRTY")
        if stale is not None and stale[0] > 0:
            return (
                f"{human_size(stale[0])} of dirty data belong to grid disks that cannot be written "
                "(FC_BY_STALE_DIRTY): bring those grid disks back first"
            )
        if not status:
            return f"the {self.meter.noun} is gone"
        if "flush" not in status:
            return f"the flush ended early: status is {status} (a CELLSRV restart or CANCEL FLUSH)"
        return ""

    def _flushing(self, left: int | None, dirty: int | None, used: int | None, ready: int, of: int) -> FlushState:
        fraction = ready / of if of else 0.0
        if left is not None and self.first:
            fraction = max(fraction, 1 - left / self.first)
        much = "" if left is None else f", {human_size(left)} {self.meter.word}"
        return FlushState(
            phrase=f"flushing{much}, {ready} of {of} disks",
            fraction=min(fraction, 0.98),
            dirty=dirty,
            used=used,
            eta=self._eta(),
        )

    def _sample(self, at: int, left: int, now: float | None) -> None:
        """Store a collection that was not seen before; if the value grew, measuring starts again."""
        if self._samples and at <= self._samples[-1][0]:
            return
        if self._samples and now is not None:
            # The age of the very first collection is unknown.
            self._seen.append((at, now))
        if self._samples and left > self._samples[-1][1]:
            self._samples.clear()
        self._samples = [*self._samples, (at, left)][-SLOPE_OVER:]
        self._timed = now is not None

    def _eta(self) -> float | None:
        pace = self._pace()
        if len(self._samples) < 2 or pace is None:
            return None
        (since, much), (now, left) = self._samples[0], self._samples[-1]
        return None if left >= much else left * (now - since) / (much - left) / 1000 * pace

    def _pace(self) -> float | None:
        """Return the watcher's seconds per second of the cell; None until two new collections were seen."""
        if not self._timed:
            return 1.0
        if len(self._seen) < 2:
            return None
        (collected, seen), (last, at) = self._seen[0], self._seen[-1]
        return (at - seen) / ((last - collected) / 1000)
