"""Import the histograms of vscsiStats, with ``-c`` and without; written from published output only.

The project had no output of its own. Source: reference measurement.md 12; VMware, "Using vscsiStats for Storage Performance
Analysis": its histograms count since the start (``-s``) or the reset (``-r``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from exacell.core.values import dataclass
from exacell.measure.histogram import Histogram
from exacell.measure.importers.model import Binned, Point, Run, UnreadableError, named

KIND = "vscsistats"

_BLOCK = re.compile(r"^[ \t]*Histogram: ([^,:{\n]+?)(?=\s*(?:[,:{]|for virtual|$))", re.MULTILINE)
_BINS = re.compile(r"Histogram Bucket Limit|\((?:<=|>) +-?\d+\)")
_OWN_FIGURES = re.compile(r"\s*(min|max|mean|count)\s*[,:]\s*(-?\d+(?:\.\d+)?)\s*")
_BIN = re.compile(r"\s*(\d+)\s*(?:,\s*|\((?=[<>]))(<=|>|)\s*(-?\d+)\s*\)?\s*")


def claims(text: str) -> bool:
    """Return whether a text is the output of vscsiStats."""
    return _BLOCK.search(text) is not None and _BINS.search(text) is not None


@dataclass(frozen=True, kw_only=True)
class _Block:
    """One histogram of one disk.

    Attributes:
        told: vscsiStats' own figures about all values: min, max, mean and count.
        limits: upper ends of the bins in order, each with its count; the last bin is open if ``open_end``.
    """

    machine: str
    disk: str
    title: str
    told: dict[str, float]
    limits: tuple[tuple[int, int], ...]
    open_end: bool

    def counts(self) -> Histogram:
        """Return the bins as a histogram; values in the open bin count as the largest value seen."""
        found: dict[int, int] = {}
        for place, (limit, count) in enumerate(self.limits, 1):
            above = self.open_end and place == len(self.limits)
            top = int(self.told.get("max", limit + 1)) if above else limit
            if count:
                found[top] = found.get(top, 0) + count
        return Histogram.of(found)

    def goes_on(self, before: _Block) -> bool:
        """Return whether it is a later state of the same histogram: no bin has a lower count."""
        return [limit for limit, _ in self.limits] == [limit for limit, _ in before.limits] and all(
            now >= then for (_, now), (_, then) in zip(self.limits, before.limits, strict=True)
        )


def read(text: str, source: str) -> Run:
    """Return the figures of each histogram, its bins as a distribution, and its most frequent bin.

    Of several outputs in a row the last one counts, unless the counters were reset in between.

    Raises:
        UnreadableError: no histogram has a count.
    """
    runs: dict[str, list[_Block]] = {}
    notes: dict[str, None] = {}
    blocks = list(_blocks(text))
    machines = len({block.machine for block in blocks}) > 1
    for block in blocks:
        of = (f"VM {block.machine}" if machines else "", block.disk, block.title)
        own = runs.setdefault(" ".join(word for word in of if word), [])
        if own and block.goes_on(own[-1]):
            own.pop()
            notes["of several outputs the last counts: they count from the start (-s) or the reset (-r) on"] = None
        own.append(block)
    points, bins, empty, odd = [], [], dict[str, None](), dict[str, None]()
    for series, found in runs.items():
        for block in found:
            counts = block.counts()
            if not counts.counts:
                empty[series] = None
                continue
            if block.told.get("count", counts.n) != counts.n:
                odd[f"{series} ({counts.n:,} in bins of {block.told['count']:,.0f})"] = None
            most = max(zip(counts.counts, counts.values, strict=True))[1]
            points.append(Point(series=series, figures={"mostFrequent": float(most), **block.told}))
            bins.append(Binned(name=series, what=block.title, unit=_unit(block.title), counts=counts))
    if not points:
        raise UnreadableError(f"{source}: all its histograms are empty (vscsiStats -s starts counting)")
    if empty:
        notes[f"histograms left out, which counted nothing: {named(list(empty))}"] = None
    if odd:
        notes[f"not whole, since their bins do not add up to their count: {named(list(odd))}"] = None
    form = "CSV" if "Histogram Bucket Limit" in text else "text"
    return Run(kind=KIND, form=form, source=source, points=tuple(points), distributions=tuple(bins), notes=tuple(notes))


def _blocks(text: str) -> Iterator[_Block]:
    starts = list(_BLOCK.finditer(text))
    for place, match in enumerate(starts):
        end = starts[place + 1].start() if place + 1 < len(starts) else len(text)
        lines = text[match.end() : end].splitlines()
        told = {found[1]: float(found[2]) for line in lines if (found := _OWN_FIGURES.fullmatch(line))}
        head = "\n".join(takewhile(lambda line: not _OWN_FIGURES.fullmatch(line) and not _BIN.fullmatch(line), lines))
        rows = [found for line in lines if (found := _BIN.fullmatch(line))]
        limits = tuple((int(row[3]), int(row[1])) for row in rows)
        yield _Block(
            machine=_named(head, "worldGroupID"),
            disk=disk[1] if (disk := re.search(r"\((\w+:\d+)\)", head)) else _named(head, "handleID"),
            title=match[1].strip(),
            told=told,
            limits=limits,
            open_end=bool(rows) and (rows[-1][2] == ">" or _repeats(limits)),
        )


def _repeats(limits: Sequence[tuple[int, int]]) -> bool:
    """Return whether the last limit is that of the bin before; the last bin then counts all larger values."""
    return len(limits) > 1 and limits[-1][0] <= limits[-2][0]


def _named(text: str, key: str) -> str:
    """Return the number after a word; empty if there is none."""
    found = re.search(rf"{key}\s*[,:]\s*(\d+)", text, re.IGNORECASE)
    return found[1] if found else ""


def _unit(title: str) -> str:
    lower = title.lower()
    return "bytes" if "length" in lower else "µs" if "latency" in lower or "interarrival" in lower else ""
