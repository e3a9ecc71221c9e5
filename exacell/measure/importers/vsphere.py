"""Import ``esxcli storage vflash cache stats get`` and esxtop in batch mode; written from published output only.

The project had no output of its own. Source: reference measurement.md 12.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from exacell.core.units import counted
from exacell.measure.importers.model import Point, Run, UnreadableError, lengths, named, printed
from exacell.measure.importers.parts import in_one

VFLASH_KIND, ESXTOP_KIND = "vflash", "esxtop"

_VFLASH: Mapping[str, tuple[str, float]] = {
    "Cache hit rate (as a percentage)": ("hitPercent", 1.0),
    "Total cache I/Os": ("cacheIos", 1.0),
    "Total I/Os": ("ios", 1.0),
    "Mean IOPS": ("iops", 1.0),
    "Max observed IOPS": ("maxIops", 1.0),
    "Mean cache I/O latency (in microseconds)": ("cacheUs", 1.0),
    "Mean disk I/O latency (in microseconds)": ("deviceUs", 1.0),
    "Mean I/O latency (in microseconds)": ("latencyUs", 1.0),
    "Max observed I/O latency (in microseconds)": ("maxUs", 1.0),
    "Max observed number of KB per I/O": ("maxKibPerIo", 1.0),
    "Mean number of KB per I/O": ("kibPerIo", 1.0),
    "Number of I/O blocks in last operation": ("blocksLast", 1.0),
    "Mean blocks per I/O operation": ("blocksPerIo", 1.0),
    "Cache usage rate (as a percentage)": ("usedPercent", 1.0),
    "Total failed SSD I/Os": ("failedCacheIos", 1.0),
    "Total failed disk I/Os": ("failedDiskIos", 1.0),
    "Mean number of cache blocks in use": ("blocksInUse", 1.0),
}


_LAST = "Last I/O operation time"
"""A statistic of evictions: a time, or N/A if there was none."""


def claims_vflash(text: str) -> bool:
    """Return whether a text contains a cache's statistics."""
    return re.search(r"^\s*(?:Cache hit rate \(as|Cache usage rate \(as)", text, re.MULTILINE) is not None


def read_vflash(text: str, source: str) -> Run:
    """Return one point per section (read, write, evict) and one for the cache; the figures count since the last reset.

    Raises:
        UnreadableError: none of its statistics has a number.
    """
    sections: dict[str, dict[str, float]] = {}
    section, indent, other, again = "cache", 0, dict[str, None](), False
    told: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        key, _, value = line.strip().partition(":")
        if key in ("Read", "Write", "Evict") and not value.strip():
            section, indent = key.lower(), depth
            continue
        if section != "cache" and depth <= indent:
            section = "cache"
        name, factor = _VFLASH.get(key, ("", 1.0))
        if name and (found := printed(value, source)) is not None:
            again = again or name in sections.get(section, {})
            sections.setdefault(section, {})[name] = found * factor
        elif key == _LAST:
            told["last eviction"] = value.strip()
        elif value.strip():
            other[key] = None
    if not sections:
        raise UnreadableError(f"{source}: none of its statistics has a number")
    points = tuple(Point(series=name, figures=figures) for name, figures in sections.items())
    notes = [f"statistics left out: {named(list(other))}"] if other else []
    evicted = sections.get("evict", {})
    if evicted and not any(evicted.values()):
        notes.append("nothing was evicted since the reset: each figure of evictions is 0")
    if again:
        notes.append("it has several outputs, which all count from the reset on: the last one is used")
    return Run(
        kind=VFLASH_KIND,
        form="statistics since their reset",
        source=source,
        points=points,
        told=told,
        notes=tuple(notes),
    )


_COUNTERS: Mapping[str, tuple[str, float]] = {
    "Commands/sec": ("iops", 1.0),
    "Reads/sec": ("readsPerS", 1.0),
    "Writes/sec": ("writesPerS", 1.0),
    "MBytes Read/sec": ("readMibPerS", 1.0),
    "MBytes Written/sec": ("writeMibPerS", 1.0),
    "Average Guest MilliSec/Command": ("latencyUs", 1000.0),
    "Average Driver MilliSec/Command": ("deviceUs", 1000.0),
    "Average Kernel MilliSec/Command": ("kernelUs", 1000.0),
    "Average Guest MilliSec/Read": ("readUs", 1000.0),
    "Average Guest MilliSec/Write": ("writeUs", 1000.0),
    "Average MilliSec/Read": ("readUs", 1000.0),
    "Average MilliSec/Write": ("writeUs", 1000.0),
    "Average Queue MilliSec/Command": ("queueUs", 1000.0),
    "Active Commands": ("queue", 1.0),
    "Queued Commands": ("queued", 1.0),
}
_SHORT = {"MBytes Read/sec": "MBREAD/s", "MBytes Written/sec": "MBWRTN/s", "Commands/sec": "CMDS/s"}
"""Name of a counter → name of the column on esxtop's screen."""
_OF = {
    "latencyUs": "iops",
    "deviceUs": "iops",
    "kernelUs": "iops",
    "queueUs": "iops",
    "readUs": "readsPerS",
    "writeUs": "writesPerS",
}
"""A latency → the rate of its items: if that is 0, the latency is not a measured value, since esxtop then prints 0.00."""

_COLUMN = re.compile(r"\\\\([^\\]*)\\([^\\(]*)(?:\((.*)\))?\\([^\\]*)")


def claims_esxtop(text: str) -> bool:
    """Return whether a text is esxtop's CSV."""
    return _PDH.search(text) is not None and "\\\\" in text[:20000]


_PDH = re.compile(r'^"?\(PDH-CSV', re.MULTILINE)


def read_esxtop(text: str, source: str) -> Run:
    """Return one point per disk and time; of thousands of columns only those of disks are read; a note names the others.

    Raises:
        UnreadableError: there is no column of a disk, or no sample.
    """
    lines = text.splitlines()
    heads = [place for place, line in enumerate(lines) if _PDH.match(line)]
    parts = [lines[start:end] for start, end in zip(heads, [*heads[1:], len(lines)], strict=True)]
    runs = [run for part in parts if (run := _esxtop(part, source)) is not None]
    if not runs:
        raise UnreadableError(f"{source}: it has no column of a disk, or no sample after its header")
    return in_one(runs)


def _esxtop(lines: Sequence[str], source: str) -> Run | None:
    """Return the output of one start of esxtop; None if it has no sample of a disk."""
    rows = csv.reader(lines)
    wanted: dict[int, tuple[str, str, float]] = {}
    other: dict[str, None] = {}
    hosts: dict[str, None] = {}
    for place, title in enumerate(next(rows)):
        match = _COLUMN.fullmatch(title)
        if match is None:
            continue
        host, group, disk, counter = (part or "" for part in match.groups())
        if group.startswith(("Physical Disk", "Virtual Disk")) and disk and counter in _COUNTERS:
            wanted[place] = (disk, *_COUNTERS[counter])
            hosts[host] = None
        else:
            other[f"{group}: {counter}" if "Disk" in group else f"all of {group}"] = None
    points: list[Point] = []
    short, samples = 0, [row for row in rows if row]
    for row, seconds in zip(samples, lengths([row[0] for row in samples]), strict=True):
        disks: dict[str, dict[str, float]] = {}
        short += len(row) <= max(wanted, default=0)
        for place, (disk, name, factor) in wanted.items():
            value = printed(row[place], source) if place < len(row) else None
            if value is not None:
                disks.setdefault(disk, {})[name] = value * factor
        points += [
            Point(series=disk, at=row[0], figures=_measured(figures), seconds=seconds)
            for disk, figures in disks.items()
        ]
    if not points:
        return None
    known = [point.seconds for point in points if point.seconds]
    first = points[0].at
    points = [replace(point, seconds=known[0]) if known and point.at == first else point for point in points]
    notes = [_columns(wanted.values())]
    notes += [f"columns left out: {named(list(other))}"] if other else []
    if short:
        notes.append(f"{counted(short, 'line')} end too early; the values missing there are left out")
    return Run(
        kind=ESXTOP_KIND,
        form="batch",
        source=source,
        points=tuple(points),
        samples=True,
        notes=tuple(notes),
        host=", ".join(hosts),
    )


def _columns(wanted: Iterable[tuple[str, str, float]]) -> str:
    """Return a sentence that names esxtop's column for each figure."""
    taken = dict.fromkeys(name for _, name, _ in wanted)
    of: dict[str, str] = {}
    for counter, (name, _) in _COUNTERS.items():
        if name in taken:
            of.setdefault(name, counter)
    said = [
        f"{name} is {counter}{f' ({_SHORT[counter]})' if counter in _SHORT else ''}" for name, counter in of.items()
    ]
    return f"columns of esxtop: {', '.join(said)}"


def _measured(figures: dict[str, float]) -> dict[str, float]:
    """Return the figures without latencies of items that did not occur."""
    return {
        name: value
        for name, value in figures.items()
        if value or name not in _OF or _OF[name] not in figures or figures[_OF[name]]
    }
