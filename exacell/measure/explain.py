"""Explain the difference of two snapshots of one kind: sentences, and figures with their intervals. Pure.

Source of the counters' meanings: reference cellcli.md 4.1 and 4.2; of the formulae: measurement.md 2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from exacell.core.cellset import fold
from exacell.core.units import format_duration
from exacell.core.values import dataclass
from exacell.measure.delta import CellDelta, Number
from exacell.measure.limits import FAST_DEVICE, WRITE_BACK, RedoPath, limits
from exacell.measure.proportion import Share, differ_by_more_than_chance, rounded, share
from exacell.measure.snapshot import Snapshot

OUTLIER = "500 ms"
"""The fixed threshold of an outlier. Source: reference measurement.md 2.1."""


_Counts = Callable[[Mapping[str, Number]], tuple[Number, Number]]
"""Returns two counts from counters: how many of how many."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure for the rack.

    Attributes:
        low, high: its 95 % interval, from the uncertainty of counting alone; None if the figure itself was counted.
        means: its meaning on these cells, as a phrase.
    """

    name: str
    value: Number
    unit: str
    means: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The sentences, and the figures behind them."""

    sentences: tuple[str, ...]
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Observed:
    """Two snapshots of one kind and their difference.

    Attributes:
        cells: the difference of each cell.
        rack: their sum; invalid if a cell has no difference.
    """

    before: Snapshot
    after: Snapshot
    cells: Sequence[CellDelta]
    rack: CellDelta
    values: Mapping[str, Number] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Number:
        """Return the difference of a counter over the cells that have it; 0 if no release here has it. See :meth:`lacking`."""
        found = sum(cell.values.get(name, 0) for cell in self.cells)
        return round(found, 6) if isinstance(found, float) else found

    def lacking(self, *names: str) -> dict[str, list[str]]:
        """Return counter → cells that don't have it, for each of ``names``; empty if no cell has any of these counters."""
        if not any(name in cell.values for cell in self.cells for name in names):
            return {}
        without = {name: [str(cell.cell) for cell in self.cells if name not in cell.values] for name in names}
        return {name: cells for name, cells in without.items() if cells}

    def counted(self, *names: str) -> bool:
        """Return whether every cell has these counters."""
        return all(name in cell.values for cell in self.cells for name in names)

    def share(self, of: _Counts, *names: str) -> Share | None:
        """Return a share over the rack; None if its total is 0, or a cell lacks one of its counters."""
        return None if self.lacking(*names) else share(*of({name: self[name] for name in names}))

    def lifetime(self, *names: str) -> list[float]:
        """Return the sums of counters in the second snapshot over all cells: the counts since they began."""
        return [sum(cell.values.get(name, 0.0) for cell in self.after.cells.values()) for name in names]

    def per_second(self, name: str) -> float:
        """Return the rate of the rack: each cell's rate by its own clock, then the sum."""
        return sum(cell.values.get(name, 0) / cell.seconds for cell in self.cells if cell.seconds > 0)

    @property
    def interval(self) -> str:
        """Return the length of the interval, for display."""
        return format_duration(round(self.rack.seconds))


def explain(kind: str, before: Snapshot, after: Snapshot, deltas: Sequence[CellDelta]) -> Explanation:
    """Return the explanation of two snapshots of ``kind``; without figures if the rack has none, without verdict if there was
    no load.

    Args:
        deltas: one per cell and the rack's as the last, as :func:`exacell.measure.delta.delta` returns them.
    """
    *cells, rack = deltas
    if rack.invalid:
        void = [f"{cell.cell}: {cell.invalid}" for cell in cells if cell.invalid]
        return Explanation(sentences=(f"These snapshots say nothing about the rack. {'. '.join(void)}.",))
    seen = Observed(before=before, after=after, cells=cells, rack=rack)
    if kind == "flashlog":
        return Explanation(sentences=tuple(_flashlog(seen)), figures=tuple(_flashlog_figures(seen)))
    return Explanation(sentences=tuple(_flashcache(seen)), figures=tuple(_flashcache_figures(seen)))


# -- flash log -------------------------------------------------------------------------------------------------------


def redo_paths(seen: Observed) -> dict[str, RedoPath]:
    """Return cell → the path of its redo between two snapshots."""
    found = {}
    for cell in seen.cells:
        name = str(cell.cell)
        told = seen.after.cells[name].passport
        found[name] = RedoPath(
            release=told.get("release", ""),
            mode=told.get("flashCacheMode", ""),
            model=told.get("model", ""),
            memory_log=told.get("memoryLog", ""),
            flash_log=told.get("flashLog", ""),
            on_flash=sum(cell.values.get(name, 0) for name in FAST_DEVICE),
            writes=cell.values.get("FL_RQ_W", 0),
        )
    return found


SKIPPED: Mapping[str, str] = {
    "FL_IO_W_SKIP_IORM_PLAN": "the IORM plan says flashLog=off",
    "FL_IO_W_SKIP_LOG_ON_FAST_DEV": "the redo logs are on flash themselves",
    "FL_IO_W_SKIP_LOG_ON_FLASH": "the redo logs are on flash themselves",
    "FL_IO_W_SKIP_BUSY": "the disks had not yet taken what was logged before",
    "FL_IO_W_SKIP_LARGE": "the write was larger than the room on any flash disk",
    "FL_IO_W_SKIP_NO_BUFFER": "no buffer was free",
    "FL_IO_W_SKIP_NO_FL_DISKS": "no flash disk of the log was usable",
    "FL_IO_W_SKIP_DISABLED_GD": "flash logging is off for the grid disk",
    "FL_IO_W_SKIP_IORM_LIMIT": "the database had reached its IORM limit on the disks",
}
"""Counter → why these redo writes did not use the flash log."""


def _races(values: Mapping[str, Number]) -> tuple[Number, Number]:
    flash = values.get("FL_FLASH_FIRST", 0)
    return flash, flash + values.get("FL_DISK_FIRST", 0)


_RACES = ("FL_FLASH_FIRST", "FL_DISK_FIRST")
_DONE = ("FL_PREVENTED_OUTLIERS", "FL_ACTUAL_OUTLIERS")
_TIMES = ("FL_RQ_W", "FL_RQ_TM_W")


def _flashlog(seen: Observed) -> Iterator[str]:
    writes = seen["FL_RQ_W"]
    _, races = _races({name: seen[name] for name in _RACES})
    wins = seen.share(_races, *_RACES)
    lacking = seen.lacking(*_RACES)
    for line in limits(redo_paths(seen)):
        yield f"{line[0].upper()}{line[1:]}."
    unknown = seen.lacking("FL_RQ_W")
    rate = "" if unknown else f" ({seen.per_second('FL_RQ_W'):,.1f} redo writes a second)"
    if lacking:
        yield from _no_share("in how many redo writes flash answered first", lacking)
    elif wins is None and unknown:
        yield from _no_share("how many redo writes there were", unknown)
    elif wins is None and not writes:
        yield f"No redo was written in {seen.interval}: nothing to explain."
    elif wins is None:
        yield f"{writes:,} redo writes in {seen.interval}, and none of them used the flash log."
    else:
        yield (
            f"Flash answered first in {wins} of {races:,} redo writes that used the flash log, in {seen.interval}{rate}."
        )
        yield from _spread(seen, _races, wins)
        yield from _since_start(wins, share(*_lifetime_races(seen)))
    yield from _outliers(seen, races)
    yield from _skips(seen, writes)
    yield from _latency(seen, writes)
    yield from _errors(seen)
    yield from _not_all(
        seen, ("FL_SKIP_OUTLIERS", "FL_FLASH_ONLY_OUTLIERS", *SKIPPED, "FL_DISK_IO_ERRS", "FL_FLASH_IO_ERRS")
    )
    if wins is not None:
        yield "None of this says that commits got faster: compare the waits for log file sync of both runs."


def _no_share(what: str, lacking: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a sentence that a share is not known, with the missing counters and their cells."""
    if lacking:
        missing = "; ".join(f"{name} on {fold(cells)}" for name, cells in lacking.items())
        yield f"Not known {what}: no counter {missing}."


def _not_all(seen: Observed, names: Sequence[str]) -> Iterator[str]:
    """Yield which sums leave out cells that don't have the counter."""
    lacking = {name: cells for own in names for name, cells in seen.lacking(own).items()}
    if lacking:
        missing = "; ".join(f"{name} without {fold(cells)}" for name, cells in lacking.items())
        yield f"These counters are not of all cells: {missing}, which has none."


def _lifetime_races(seen: Observed) -> tuple[float, float]:
    flash, disk = seen.lifetime("FL_FLASH_FIRST", "FL_DISK_FIRST")
    return flash, flash + disk


def _since_start(now: Share, ever: Share | None) -> Iterator[str]:
    if ever is not None and abs(ever.percent - now.percent) > 0.1 * now.percent + (now.high - now.low):
        yield f"Since these counters began it is {rounded(ever.percent, ever)} %: totals would be about another time."


def _spread(seen: Observed, of: _Counts, whole: Share) -> Iterator[str]:
    counts = {str(cell.cell): of(cell.values) for cell in seen.cells}
    if differ_by_more_than_chance(list(counts.values())):
        shares = {cell: found for cell, pair in counts.items() if (found := share(*pair)) is not None}
        least, most = min(shares, key=lambda c: shares[c].percent), max(shares, key=lambda c: shares[c].percent)
        yield (
            f"The cells differ by more than chance: {rounded(shares[least].percent, whole)} % on {least}, "
            f"{rounded(shares[most].percent, whole)} % on {most}; the interval above leaves this out."
        )


def _outliers(seen: Observed, races: Number) -> Iterator[str]:
    prevented, actual = (seen[name] for name in _DONE)
    missed, flash_only = seen["FL_SKIP_OUTLIERS"], seen["FL_FLASH_ONLY_OUTLIERS"]
    lacking = seen.lacking(*_DONE)
    partly = any(seen.lacking(name) for name in _DONE)
    if lacking and (partly or prevented + actual):
        yield from _no_share("how many outliers flash hid", lacking)
    elif not races:
        pass
    elif not prevented + actual:
        yield f"No outlier (over {OUTLIER}) was there to prevent."
    else:
        efficiency = share(prevented, prevented + actual)
        yield (
            f"Of {prevented + actual:,} redo writes that were outliers on disk (over {OUTLIER}) flash hid {prevented:,} and "
            f"{actual:,} were slow on both: efficiency {efficiency}."
        )
    if missed:
        were = "outlier was" if missed == 1 else "outliers were"
        yield f"{missed:,} {were} missed: disk was slow while the flash log was not used."
    if flash_only:
        were = "write was an outlier" if flash_only == 1 else "writes were outliers"
        yield f"{flash_only:,} {were} on flash alone; disk answered them in time."


def _skips(seen: Observed, writes: Number) -> Iterator[str]:
    reasons = dict.fromkeys(SKIPPED.values(), 0.0)
    for name, why in SKIPPED.items():
        reasons[why] += seen[name]
    told = sorted(((count, why) for why, count in reasons.items() if count), reverse=True)
    if told and writes and not seen.lacking("FL_RQ_W"):
        total = sum(count for count, _ in told)
        because = "; ".join(f"{count:,.0f} because {why}" for count, why in told)
        yield f"{total:,.0f} of {writes:,} redo writes ({100 * total / writes:.1f} %) did not use the flash log: {because}."


def _latency(seen: Observed, writes: Number) -> Iterator[str]:
    lacking = seen.lacking(*_TIMES)
    if lacking and any(
        "FL_RQ_TM_W" in cell.values for cell in seen.cells
    ):  # A release without these counters is normal.
        yield from _no_share("how long a redo write took", lacking)
    elif not lacking and writes and seen["FL_RQ_TM_W"]:
        yield f"A redo write took {seen['FL_RQ_TM_W'] / writes:,.0f} µs on average, from its arrival at the cell to the answer."


def _errors(seen: Observed) -> Iterator[str]:
    disk, flash = seen["FL_DISK_IO_ERRS"], seen["FL_FLASH_IO_ERRS"]
    if disk or flash:
        yield f"{disk:,} writes failed on disk and {flash:,} on flash: look at show health before any other figure."
    kept = {cell: c.values["FL_BY_KEEP"] for cell, c in seen.after.cells.items() if c.values.get("FL_BY_KEEP")}
    if kept:
        yield (
            f"{fold(kept)}: {sum(kept.values()):,.0f} bytes of redo are on flash alone, because disks failed to take them: "
            "don't drop the flash log."
        )


def _flashlog_figures(seen: Observed) -> Iterator[Figure]:
    _, races = _races({name: seen[name] for name in _RACES})
    disk = "disk"
    if any(WRITE_BACK in line for line in limits(redo_paths(seen))):
        disk = "disk (here the write-back flash cache)"
    if seen.counted("FL_RQ_W"):
        yield Figure(
            name="redoWrites",
            value=seen["FL_RQ_W"],
            unit="writes",
            means="all redo writes, each copy of a mirrored one",
        )
    if not seen.lacking(*_RACES):
        yield Figure(name="races", value=races, unit="writes", means=f"sent to flash and to {disk} at once")
    if (wins := seen.share(_races, *_RACES)) is not None:
        means = f"the races that flash won; {disk} won the others"
        yield Figure(
            name="flashWins", value=round(wins.percent, 4), unit="%", means=means, low=wins.low, high=wins.high
        )
    if not seen.lacking(*_RACES) and (ever := share(*_lifetime_races(seen))) is not None:
        yield Figure(
            name="flashWinsEver", value=round(ever.percent, 4), unit="%", means="the same since the counters began"
        )
    prevented, actual = (seen[name] for name in _DONE)
    for name, counter, means in (
        ("prevented", "FL_PREVENTED_OUTLIERS", f"over {OUTLIER} on {disk}, not on flash"),
        ("actual", "FL_ACTUAL_OUTLIERS", f"over {OUTLIER} on both"),
        ("missed", "FL_SKIP_OUTLIERS", f"over {OUTLIER} on {disk} while the flash log was not used"),
        ("flashOnly", "FL_FLASH_ONLY_OUTLIERS", f"over {OUTLIER} on flash, not on {disk}"),
    ):
        if seen.counted(counter):
            yield Figure(name=name, value=seen[counter], unit="outliers", means=means)
    if not seen.lacking(*_DONE) and (done := share(prevented, prevented + actual)) is not None:
        yield Figure(
            name="efficiency", value=round(done.percent, 1), unit="%", means="prevented, of prevented and actual",
            low=done.low, high=done.high,
        )  # fmt: skip
    for name, why in SKIPPED.items():
        if seen[name]:
            yield Figure(name=name, value=seen[name], unit="writes", means=f"without the flash log: {why}")
    if not seen.lacking(*_TIMES) and seen["FL_RQ_W"] and seen["FL_RQ_TM_W"]:
        mean = round(seen["FL_RQ_TM_W"] / seen["FL_RQ_W"], 1)
        yield Figure(name="redoWriteMean", value=mean, unit="us", means="per redo write, overhead included")
    yield Figure(name="diskErrors", value=seen["FL_DISK_IO_ERRS"], unit="errors", means="writes that failed on disk")
    yield Figure(name="flashErrors", value=seen["FL_FLASH_IO_ERRS"], unit="errors", means="writes that failed on flash")


# -- flash cache -----------------------------------------------------------------------------------------------------


def _reads(values: Mapping[str, Number]) -> tuple[Number, Number]:
    hits = values.get("FC_IO_RQ_R", 0)
    return hits, hits + values.get("FC_IO_RQ_R_MISS", 0)


def _mode(seen: Observed) -> str:
    modes = {cell.passport.get("flashCacheMode", "") for cell in seen.after.cells.values()}
    return modes.pop() if len(modes) == 1 else ""


_HITS = ("FC_IO_RQ_R", "FC_IO_RQ_R_MISS")
_SCANS = ("FC_IO_RQ_R_DW", "FC_IO_RQ_R_MISS_DW")


def _flashcache(seen: Observed) -> Iterator[str]:
    _, reads = _reads({name: seen[name] for name in _HITS})
    found = seen.share(_reads, *_HITS)
    if lacking := seen.lacking(*_HITS):
        yield from _no_share("how many of the small reads the flash cache had", lacking)
    elif found is None:
        yield f"No small read asked the flash cache in {seen.interval}."
    else:
        yield (
            f"The flash cache had {found} of {reads:,} small reads, in {seen.interval} "
            f"({seen.per_second('FC_IO_RQ_R') + seen.per_second('FC_IO_RQ_R_MISS'):,.1f} a second)."
        )
        yield from _spread(seen, _reads, found)
        ever_hits, ever_misses = seen.lifetime("FC_IO_RQ_R", "FC_IO_RQ_R_MISS")
        yield from _since_start(found, share(ever_hits, ever_hits + ever_misses))
    if lacking := seen.lacking(*_SCANS):
        yield from _no_share("how many of the large reads it had", lacking)
    elif (scans := share(seen["FC_IO_RQ_R_DW"], seen["FC_IO_RQ_R_DW"] + seen["FC_IO_RQ_R_MISS_DW"])) is not None:
        yield f"Of {seen['FC_IO_RQ_R_DW'] + seen['FC_IO_RQ_R_MISS_DW']:,} large reads (scans) it had {scans}."
    if seen["FC_IO_RQ_R_SKIP"]:
        yield f"{seen['FC_IO_RQ_R_SKIP']:,} reads did not use it: they were not to be cached, and do not count."
    yield from _filling(seen)
    yield from _cache_writes(seen)
    yield from _not_all(seen, ("FC_IO_RQ_R_SKIP", "FC_IO_RQ_W", "FC_IO_RQ_W_OVERWRITE", "FC_IO_ERRS"))
    if seen["FC_IO_ERRS"]:
        yield f"{seen['FC_IO_ERRS']:,} reads or writes of the cache failed: look at show health before any other figure."
    if found is not None:
        yield (
            "None of this says that the database got faster: compare its waits for cell single block physical read of both "
            "runs."
        )


def _filling(seen: Observed) -> Iterator[str]:
    both = [cell for cell in seen.before.cells if cell in seen.after.cells]
    used = [sum(s.cells[cell].values.get("FC_BY_USED", 0.0) for cell in both) for s in (seen.before, seen.after)]
    if used[0] and used[1] > 1.02 * used[0]:
        yield (
            f"The cache was still filling: from {used[0]:,.0f} to {used[1]:,.0f} MB in use. A warm one has more hits; go on "
            "until it stays."
        )


def _cache_writes(seen: Observed) -> Iterator[str]:
    writes, overwrites = seen["FC_IO_RQ_W"], seen["FC_IO_RQ_W_OVERWRITE"]
    if not writes:
        return
    if _mode(seen) == "writeback":
        again = (
            f"; {100 * overwrites / writes:.1f} % of them overwrote what had not yet gone to disk"
            if overwrites and not seen.lacking("FC_IO_RQ_W", "FC_IO_RQ_W_OVERWRITE")
            else ""
        )
        yield f"Write-back: it took {writes:,} writes, which go to disk later{again}."
    elif _mode(seen) == "writethrough":
        yield f"Write-through: its {writes:,} writes put blocks into it; each of the database's writes went to disk as well."


def _flashcache_figures(seen: Observed) -> Iterator[Figure]:
    _, reads = _reads({name: seen[name] for name in _HITS})
    if not seen.lacking(*_HITS):
        yield Figure(name="smallReads", value=reads, unit="reads", means="reads of blocks that the cache could have")
    if (found := seen.share(_reads, *_HITS)) is not None:
        yield Figure(
            name="hits", value=round(found.percent, 4), unit="%", means="of the small reads, those that it had",
            low=found.low, high=found.high,
        )  # fmt: skip
    ever_hits, ever_misses = seen.lifetime(*_HITS)
    if not seen.lacking(*_HITS) and (ever := share(ever_hits, ever_hits + ever_misses)) is not None:
        yield Figure(name="hitsEver", value=round(ever.percent, 4), unit="%", means="the same since the counters began")
    wrote = "blocks written by databases, on disk later" if _mode(seen) == "writeback" else "blocks put into it"
    for name, counter, unit, means in (
        ("scanHits", "FC_IO_RQ_R_DW", "reads", "large reads that it had"),
        ("scanMisses", "FC_IO_RQ_R_MISS_DW", "reads", "large reads that disk answered"),
        ("keepHits", "FC_IO_RQKEEP_R", "reads", "small reads that it had of objects with CELL_FLASH_CACHE KEEP"),
        ("keepMisses", "FC_IO_RQKEEP_R_MISS", "reads", "those of them that disk answered"),
        ("skipped", "FC_IO_RQ_R_SKIP", "reads", "reads that were not to be cached"),
        ("read", "FC_IO_BY_R", "MB", "small reads from it"),
        ("writes", "FC_IO_RQ_W", "writes", wrote),
        ("populated", "FC_IO_BY_W_POPULATE", "MB", "put into it because reads missed"),
        ("errors", "FC_IO_ERRS", "errors", "reads and writes of the cache that failed"),
    ):
        if seen.counted(counter):
            yield Figure(name=name, value=seen[counter], unit=unit, means=means)
