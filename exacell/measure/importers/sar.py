"""sar of sysstat: interfaces (-n DEV, -n EDEV), disks (-d) and processors (-u), as text and as sadf -j prints them.

Columns are taken by their names. Source: sysstat 12.6.1, run; older columns as its manual of 10 and 11 has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from exacell.measure.importers.model import Point, Run, UnreadableError, json_texts, moment, named, told

KIND = "sar"

_KIB = 1 / 1024
_SHAPES: Mapping[str, Mapping[str, tuple[str, float]]] = {
    "IFACE": {
        "rxpck": ("rxPacketsPerS", 1), "txpck": ("txPacketsPerS", 1), "rxkB": ("rxMibPerS", _KIB), "txkB": ("txMibPerS", _KIB),
        "rxbyt": ("rxMibPerS", _KIB / 1024), "txbyt": ("txMibPerS", _KIB / 1024), "%ifutil": ("utilPercent", 1),
        "ifutil-percent": ("utilPercent", 1), "rxerr": ("rxErrorsPerS", 1), "txerr": ("txErrorsPerS", 1),
        "rxdrop": ("rxDropsPerS", 1), "txdrop": ("txDropsPerS", 1),
    },
    "DEV": {
        "tps": ("iops", 1), "rkB": ("readMibPerS", _KIB), "wkB": ("writeMibPerS", _KIB), "rd_sec": ("readMibPerS", _KIB / 2),
        "wr_sec": ("writeMibPerS", _KIB / 2), "areq-sz": ("kibPerIo", 1), "avgrq-sz": ("kibPerIo", 0.5), "aqu-sz": ("queue", 1),
        "avgqu-sz": ("queue", 1), "await": ("latencyUs", 1000), "%util": ("utilPercent", 1), "util-percent": ("utilPercent", 1),
    },
    "CPU": {
        "%user": ("userPercent", 1), "%usr": ("userPercent", 1), "%system": ("systemPercent", 1), "%sys": ("systemPercent", 1),
        "%iowait": ("iowaitPercent", 1), "%steal": ("stealPercent", 1), "%idle": ("idlePercent", 1), "user": ("userPercent", 1),
        "usr": ("userPercent", 1), "system": ("systemPercent", 1), "sys": ("systemPercent", 1), "iowait": ("iowaitPercent", 1),
        "steal": ("stealPercent", 1), "idle": ("idlePercent", 1),
    },
}  # fmt: skip
"""First column of a table → column without its /s → figure and factor. sar's kB are 1,024 bytes, its sectors 512."""

_JSON = {"iface": "IFACE", "disk-device": "DEV", "cpu": "CPU"}
_PER_IO = ("latencyUs", "kibPerIo")
"""Figures that are of no I/O where there was none."""

_AT = r"(?P<at>\d\d:\d\d:\d\d(?: [AP]M)?|Average:|Summary:)\s+"
_TIME = re.compile(rf"{_AT}(?P<rest>\S.*)")
_HEAD = re.compile(rf"^{_AT}(?:{'|'.join(_SHAPES)})\s", re.MULTILINE)
_MACHINE = re.compile(r"^Linux (\S+) \((.*?)\)", re.MULTILINE)


def claims(text: str) -> bool:
    """Whether it is what sar printed, or sadf -j."""
    if text.lstrip().startswith("{"):
        return '"sysstat"' in text[:200] and ('"file-date"' in text or '"net-dev"' in text)
    return _HEAD.search(text) is not None


def read(text: str, source: str) -> Run:
    """Return one point per interface, disk or processor and report.

    Raises:
        UnreadableError: there is no table of these in it, or the JSON is damaged.
    """
    in_json = text.lstrip().startswith("{")
    left: dict[str, None] = {}
    found = _json(text, source, left) if in_json else _text(text, left)
    points = [
        Point(series=f"{'CPU ' if kind == 'CPU' else ''}{name}", at=at, figures=_measured(figures), seconds=seconds)
        for (at, kind, name), (figures, seconds) in found.items()
        if figures
    ]
    if not points:
        raise UnreadableError(
            f"{source}: no table of interfaces, disks or processors in it",
            hint="sar -n DEV -d -u, or sadf -j FILE -- -n DEV -d -u, prints them",
        )
    notes = [f"tables left out: {named(list(left))}"] if left else []
    if "LINUX RESTART" in text:
        notes.append("the machine was started anew within these reports")
    return Run(
        kind=KIND,
        form="JSON of sadf" if in_json else "text",
        source=source,
        points=tuple(points),
        told=told(_about(text, source, in_json=in_json)),
        samples=True,
        host=_host(text, source, in_json=in_json),
        notes=tuple(notes),
    )


Key = tuple[str, str, str]
Found = dict[Key, tuple[dict[str, float], float | None]]


def _measured(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in figures.items() if name not in _PER_IO or figures.get("iops")}


def _host(text: str, source: str, *, in_json: bool) -> str:
    return str(dict(_about(text, source, in_json=in_json)).get("host", ""))


def _about(text: str, source: str, *, in_json: bool) -> Iterator[tuple[str, object]]:
    if in_json:
        host = next(_hosts(text, source))
        yield from (("kernel", host.get("release", "")), ("host", host.get("nodename", "")))
    elif machine := _MACHINE.search(text):
        yield from (("kernel", machine[1]), ("host", machine[2]))


def _text(text: str, left: dict[str, None]) -> Found:
    """Return the rows of the text's tables; the averages at its end count only where they stand alone."""
    found: Found = {}
    averages: Found = {}
    kind, columns, before = "", list[str](), ""
    for line in text.splitlines():
        match = _TIME.match(line.strip())
        if match is None:
            continue
        words = match["rest"].split()
        numbers = [_decimal(word) for word in words[1:]]
        if len(words) > 1 and None in numbers:
            kind, columns, before = words[0], words[1:], match["at"]
            if kind not in _SHAPES:
                left[" ".join(words[:2])] = None
            continue
        if kind not in _SHAPES or len(numbers) != len(columns):
            continue
        cells = {
            name.removesuffix("/s"): value for name, value in zip(columns, numbers, strict=True) if value is not None
        }
        over = match["at"].endswith(":")
        _take(
            averages if over else found,
            (match["at"], kind, words[0]),
            cells,
            None if over else _between(before, match["at"]),
        )
    return found or averages


def _take(found: Found, key: Key, cells: Mapping[str, float], seconds: float | None) -> None:
    shapes = _SHAPES[key[1]]
    figures, known = found.setdefault(key, ({}, seconds))
    figures.update({shapes[name][0]: value * shapes[name][1] for name, value in cells.items() if name in shapes})
    found[key] = figures, known


def _between(before: str, at: str) -> float | None:
    begin, end = moment(before), moment(at)
    return None if begin is None or end is None else (end - begin) % 86400 or None


def _decimal(word: str) -> float | None:
    """Return the number; a comma for the point, as other locales write it, is one, too."""
    return float(word.replace(",", ".")) if re.fullmatch(r"-?\d+(?:[.,]\d+)?", word) else None


def _hosts(text: str, source: str) -> Iterator[Mapping[str, Any]]:
    documents, _ = json_texts(text, "sysstat", source)
    try:
        for document in documents:
            yield from document["sysstat"]["hosts"]
    except (KeyError, TypeError) as error:
        raise UnreadableError(f"{source}: its JSON is cut or damaged ({error})") from error


def _json(text: str, source: str, left: dict[str, None]) -> Found:
    found: Found = {}
    hosts = list(_hosts(text, source))
    if len({str(host.get("nodename")) for host in hosts}) > 1:
        raise UnreadableError(f"{source}: reports of several machines are in it", hint="make a file of each machine")
    try:
        for host in hosts:
            for report in host["statistics"]:
                stamp = report.get("timestamp") or {}
                at, seconds = f"{stamp.get('date', '')} {stamp.get('time', '')}".strip(), stamp.get("interval")
                for name, rows in [*report.items(), *report.get("network", {}).items()]:
                    kinds = [_JSON[key] for key in (rows[0] if _is_table(rows) else ()) if key in _JSON]
                    if not kinds:
                        if name not in ("timestamp", "network") and rows:
                            left[name] = None
                        continue
                    for row in rows:
                        title = next(str(row[key]) for key in _JSON if key in row)
                        cells = {key: float(value) for key, value in row.items() if isinstance(value, (int, float))}
                        _take(found, (at, kinds[0], title), cells, float(seconds) if seconds else None)
    except (KeyError, TypeError, AttributeError, ValueError, StopIteration) as error:
        raise UnreadableError(f"{source}: its JSON is not as sadf -j writes it ({error})") from error
    return found


def _is_table(rows: object) -> bool:
    return isinstance(rows, list) and bool(rows) and isinstance(rows[0], dict)
