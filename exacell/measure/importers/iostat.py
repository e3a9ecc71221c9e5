"""Import iostat -x of sysstat: the columns of three generations, -s, -h, and -o JSON.

Columns are found by name. Source: reference measurement.md 10 (sysstat 12.6.1, measured; older ones as published).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.measure.importers.model import Point, Run, UnreadableError, json_texts, lengths, named, told
from exacell.measure.importers.parts import in_one

KIND = "iostat"

_SECTOR_KIB = 0.5
"""avgrq-sz counts sectors of 512 bytes."""

_SHAPES: Mapping[str, tuple[str, float]] = {
    "r/s": ("readsPerS", 1),
    "w/s": ("writesPerS", 1),
    "d/s": ("discardsPerS", 1),
    "f/s": ("flushesPerS", 1),
    "tps": ("iops", 1),
    "rkB/s": ("readMibPerS", 1 / 1024),
    "wkB/s": ("writeMibPerS", 1 / 1024),
    "kB/s": ("mibPerS", 1 / 1024),
    "rMB/s": ("readMibPerS", 1),
    "wMB/s": ("writeMibPerS", 1),
    "MB/s": ("mibPerS", 1),
    "rsec/s": ("readMibPerS", 1 / 2048),
    "wsec/s": ("writeMibPerS", 1 / 2048),
    "sec/s": ("mibPerS", 1 / 2048),
    "r_await": ("readUs", 1000),
    "w_await": ("writeUs", 1000),
    "d_await": ("discardUs", 1000),
    "f_await": ("flushUs", 1000),
    "await": ("latencyUs", 1000),
    "rareq-sz": ("readKib", 1),
    "wareq-sz": ("writeKib", 1),
    "areq-sz": ("kibPerIo", 1),
    "avgrq-sz": ("kibPerIo", _SECTOR_KIB),
    "aqu-sz": ("queue", 1),
    "avgqu-sz": ("queue", 1),
    "%util": ("utilPercent", 1),
    "util": ("utilPercent", 1),
}
"""Column → figure and factor."""

_MEANS = {"readUs": "readsPerS", "writeUs": "writesPerS", "discardUs": "discardsPerS", "flushUs": "flushesPerS",
          "latencyUs": "iops", "readKib": "readsPerS", "writeKib": "writesPerS", "kibPerIo": "iops"}  # fmt: skip
"""A mean of a report → the rate of its items: if that is 0, the mean is not a measured value, since iostat then prints 0.00."""

_HEAD = re.compile(r"^(?:Device:?\s.*%util|\s*r/s\s.*\sDevice\s*$)", re.MULTILINE)


def claims(text: str) -> bool:
    """Return whether a text is the output of iostat -x, as text or JSON."""
    return _HEAD.search(text) is not None or ('"sysstat"' in text and '"disk_device"' in text and '"util"' in text)


@dataclass(kw_only=True)
class _Report:
    """One report: its time, and for each device the cells by column."""

    at: str = ""
    devices: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass(kw_only=True)
class _Talk:
    """The output of one start of iostat.

    Attributes:
        columns: all columns in its headers.
        odd: lines below a header that do not fit it.
        cut: notes on JSON that is incomplete.
    """

    kernel: str = ""
    host: str = ""
    form: str = ""
    reports: list[_Report] = field(default_factory=list)
    columns: dict[str, None] = field(default_factory=dict)
    odd: list[str] = field(default_factory=list)
    cut: tuple[str, ...] = ()


def read(text: str, source: str) -> Run:
    """Return one point per device and report, without the first report of each run, which contains the time since boot.

    Outputs that were appended to one file are several runs; hosts are parts of one run.

    Raises:
        UnreadableError: there is no report of devices, or the JSON is damaged.
    """
    talks = [*_text(text)] if _HEAD.search(text) else [*_json(text, source)]
    runs = [_run(talk, source) for talk in talks if any(report.devices for report in talk.reports)]
    if not runs:
        raise UnreadableError(f"{source}: it has no report of devices (iostat -x writes them)")
    return in_one(runs)


def _run(talk: _Talk, source: str) -> Run:
    long = lengths([report.at for report in talk.reports])
    reports = [pair for pair in zip(talk.reports, long, strict=True) if pair[0].devices]
    notes = ["a single report, which without -y tells of the time since boot"]
    if len(reports) > 1:
        reports = reports[1:]
        notes = ["the first report was left out: without -y it tells of the time since boot"]
    points = [
        Point(series=device, at=report.at, figures=_figures(cells), seconds=seconds)
        for report, seconds in reports
        for device, cells in report.devices.items()
    ]
    notes += _left_out(talk, points, len(reports))
    about = told([("kernel", talk.kernel), ("host", talk.host)])
    return Run(
        kind=KIND,
        form=talk.form,
        source=source,
        points=tuple(points),
        told=about,
        samples=True,
        notes=tuple(notes),
        host=talk.host,
        warnings=talk.cut,
    )


def _left_out(talk: _Talk, points: Sequence[Point], reports: int) -> Iterator[str]:
    """Yield notes on columns and lines without figures, and on devices that only some reports contain."""
    columns = [name for name in talk.columns if name not in _SHAPES]
    if columns:
        yield f"columns left out: {', '.join(columns)}"
    if talk.odd:
        yield f"{counted(len(talk.odd), 'line')} left out, which did not fit the head above: {talk.odd[0]}"
    seen = [point.series for point in points]
    some = [f"{name} in {seen.count(name)}" for name in dict.fromkeys(seen) if seen.count(name) < reports]
    if some:
        yield (
            f"of {counted(reports, 'report')} not all tell of each device, and its figures are of those that do: "
            f"{named(some)} (with -z iostat leaves idle ones out)"
        )


def _figures(cells: Mapping[str, float]) -> dict[str, float]:
    """Return a report's figures, without means over no items."""
    found = {_SHAPES[name][0]: value * _SHAPES[name][1] for name, value in cells.items() if name in _SHAPES}
    both = [found[name] for name in ("readsPerS", "writesPerS") if name in found]
    found = {"iops": sum(both), **found} if both else found
    return {
        name: value
        for name, value in found.items()
        if value or name not in _MEANS or _MEANS[name] not in found or found[_MEANS[name]]
    }


_START = re.compile(r"^Linux (\S+) \((.*?)\)")
_WHEN = re.compile(r"(?:Time: )?\d[\d/.:T+-]+( \d|$| [AP]M)")


def _text(text: str) -> Iterator[_Talk]:
    talk, columns, at, name, last = _Talk(), list[str](), "", "", False
    for line in text.splitlines():
        words = line.split()
        head = _columns(words)
        if match := _START.match(line):
            if talk.reports:
                yield talk
            talk, columns, at = _Talk(kernel=match[1], host=match[2]), [], ""
        elif head:
            known = talk.reports[-1].devices if talk.reports and words[-1] == "Device" else {}
            if not (known and not any(column in cells for cells in known.values() for column in head)):
                talk.reports.append(_Report(at=at or str(len(talk.reports) + 1)))
            columns, talk.form = head, talk.form or _generation(head)
            talk.columns |= dict.fromkeys(head)
            last = words[-1] == "Device"
        elif not words:
            columns = []
        elif columns and len(words) == 1 and not last:
            name = words[0]  # Older releases print a long name on a line of its own.
        elif columns:
            row = [words[-1], *words[:-1]] if last else words if len(words) > len(columns) else [name, *words]
            values = [_decimal(word) for word in row[1:]]
            if row[0] and len(values) == len(columns) and None not in values:
                cells = {key: value for key, value in zip(columns, values, strict=True) if value is not None}
                talk.reports[-1].devices.setdefault(row[0], {}).update(cells)
            else:
                talk.odd.append(line.strip())
            name = ""
        elif _WHEN.match(line):
            at = line.strip()
    yield talk


def _columns(words: Sequence[str]) -> list[str]:
    """Return the columns of a header; empty for another line. With -h the device is the last column."""
    if words and words[0] in ("Device", "Device:"):
        return [*words[1:]]
    return [*words[:-1]] if len(words) > 2 and words[-1] == "Device" and words[0] in _SHAPES else []


_UNITS = {"k": 1.0, "M": 1024.0, "G": 1024.0**2, "T": 1024.0**3, "%": 1.0, "": 1.0}
_CELL = re.compile(r"(-?[\d.,]+)([kMGT%]?)")


def _decimal(word: str) -> float | None:
    """Return the number in a word (KiB if -h gives it a unit); a decimal comma, as in other locales, is accepted."""
    match = _CELL.fullmatch(word)
    try:
        return float(match[1].replace(",", ".")) * _UNITS[match[2]] if match else None
    except ValueError:
        return None


def _generation(columns: Sequence[str]) -> str:
    if "areq-sz" in columns:
        return "columns of -s"
    if "rareq-sz" not in columns:
        return "columns of sysstat 9 to 11.5"
    return (
        "columns of sysstat 12.1 on"
        if "%rrqm" in columns and ("w/s" not in columns or columns.index("%rrqm") < columns.index("w/s"))
        else ("columns of sysstat 11.6 to 12.0")
    )


def _json(text: str, source: str) -> Iterator[_Talk]:
    documents, cut = json_texts(text, "sysstat", source)
    try:
        for host in (host for found in documents for host in found["sysstat"]["hosts"]):
            talk = _Talk(kernel=str(host.get("release", "")), host=str(host.get("nodename", "")), form="JSON")
            for at, one in enumerate(host["statistics"], 1):
                report = _Report(at=str(one.get("timestamp", at)))
                for disk in one.get("disk", ()):
                    cells = {name: float(value) for name, value in disk.items() if isinstance(value, (int, float))}
                    report.devices[str(disk["disk_device"])] = cells
                    talk.columns |= dict.fromkeys(cells)
                talk.reports.append(report)
            talk.cut, cut = cut, ()
            yield talk
    except (KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(f"{source}: its JSON is not as iostat writes it (it lacks {error})") from error
