"""iostat -x of sysstat: the columns of three generations, and -o JSON.

Columns are taken by their names. Source: reference measurement.md 10 (sysstat 12.6.1, measured; older ones as published).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from exacell.measure.importers.model import Point, Run, UnreadableError, told

KIND = "iostat"

_SECTOR_KIB = 0.5
"""avgrq-sz counts sectors of 512 bytes."""

_SHAPES: Mapping[str, tuple[str, float]] = {
    "r/s": ("readsPerS", 1),
    "w/s": ("writesPerS", 1),
    "rkB/s": ("readMibPerS", 1 / 1024),
    "wkB/s": ("writeMibPerS", 1 / 1024),
    "rMB/s": ("readMibPerS", 1),
    "wMB/s": ("writeMibPerS", 1),
    "rsec/s": ("readMibPerS", 1 / 2048),
    "wsec/s": ("writeMibPerS", 1 / 2048),
    "r_await": ("readUs", 1000),
    "w_await": ("writeUs", 1000),
    "await": ("latencyUs", 1000),
    "rareq-sz": ("readKib", 1),
    "wareq-sz": ("writeKib", 1),
    "avgrq-sz": ("kibPerIo", _SECTOR_KIB),
    "aqu-sz": ("queue", 1),
    "avgqu-sz": ("queue", 1),
    "%util": ("utilPercent", 1),
    "util": ("utilPercent", 1),
}
"""Column → figure and factor."""

_HEAD = re.compile(r"^Device:?\s.*(?:%util)", re.MULTILINE)


def claims(text: str) -> bool:
    """Whether it is iostat -x, as text or JSON."""
    return _HEAD.search(text) is not None or ('"sysstat"' in text[:200] and '"disk_device"' in text)


def read(text: str, source: str) -> Run:
    """Return one point per device and report, without the first report, which tells of the time since boot.

    Raises:
        UnreadableError: there is no report of devices, or the JSON is damaged.
    """
    reports, about, form = _json(text, source) if text.lstrip().startswith("{") else _text(text)
    reports = [report for report in reports if report[1]]
    if not reports:
        raise UnreadableError(f"{source}: no report of devices in it (iostat -x writes them)")
    notes = []
    if len(reports) > 1:
        reports = reports[1:]
        notes.append("the first report was left out: without -y it tells of the time since boot")
    else:
        notes.append("a single report, which without -y tells of the time since boot")
    points = [Point(series=device, at=at, figures=figures) for at, devices in reports for device, figures in devices]
    return Run(kind=KIND, form=form, source=source, points=tuple(points), told=about, samples=True, notes=tuple(notes))


Report = tuple[str, list[tuple[str, dict[str, float]]]]


def _figures(cells: Iterable[tuple[str, float]]) -> dict[str, float]:
    found = {}
    for name, value in cells:
        if name in _SHAPES:
            figure, factor = _SHAPES[name]
            found[figure] = value * factor
    both = [found[name] for name in ("readsPerS", "writesPerS") if name in found]
    return {"iops": sum(both), **found} if both else found


def _text(text: str) -> tuple[list[Report], dict[str, str], str]:
    reports: list[Report] = []
    columns: list[str] = []
    at, count, form = "", 0, ""
    for line in text.splitlines():
        words = line.split()
        if not words:
            columns = []
        elif words[0] in ("Device", "Device:"):
            columns, count = words[1:], count + 1
            reports.append((at or str(count), []))
            form = _generation(columns)
        elif columns and len(words) == len(columns) + 1:
            values = [_decimal(word) for word in words[1:]]
            if None not in values:
                cells = [(name, value) for name, value in zip(columns, values, strict=True) if value is not None]
                reports[-1][1].append((words[0], _figures(cells)))
        elif re.match(r"\d[\d/.:T+-]+( \d|$| [AP]M)", line):
            at = line.strip()
    head = re.search(r"^Linux (\S+) \((.*?)\)", text, re.MULTILINE)
    return reports, told([("kernel", head[1]), ("host", head[2])]) if head else {}, form


def _decimal(word: str) -> float | None:
    """Return the number; a comma for the point, as other locales write it, is one, too."""
    try:
        return float(word.replace(",", "."))
    except ValueError:
        return None


def _generation(columns: Sequence[str]) -> str:
    if "rareq-sz" not in columns:
        return "columns of sysstat 9 to 11.5"
    return (
        "columns of sysstat 12.1 on"
        if "%rrqm" in columns and columns.index("%rrqm") < columns.index("w/s")
        else ("columns of sysstat 11.6 to 12.0")
    )


def _json(text: str, source: str) -> tuple[list[Report], dict[str, str], str]:
    try:
        hosts: Sequence[Mapping[str, Any]] = json.loads(text)["sysstat"]["hosts"]
        host = hosts[0]
        numbered = enumerate(host["statistics"], 1)
        reports = [
            (str(one.get("timestamp", at)), [_disk(disk) for disk in one.get("disk", ())]) for at, one in numbered
        ]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise UnreadableError(f"{source}: its JSON is cut or damaged ({error})") from error
    about = told([("kernel", host.get("release", "")), ("host", host.get("nodename", ""))])
    return reports, about, "JSON"


def _disk(disk: Mapping[str, Any]) -> tuple[str, dict[str, float]]:
    is_number: Callable[[Any], bool] = lambda value: isinstance(value, (int, float))  # noqa: E731
    return str(disk["disk_device"]), _figures((name, float(value)) for name, value in disk.items() if is_number(value))
