"""Import sar of sysstat: interfaces (-n DEV, -n EDEV), disks (-d) and processors (-u), as text and as sadf -j prints them.

Columns are found by name. Source: output of sysstat 12.6.1; for older columns its manuals of 10 and 11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from exacell.core.values import dataclass
from exacell.measure.importers.model import Point, Run, UnreadableError, json_texts, moment, named, told
from exacell.measure.importers.parts import in_one

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
"""Figures that have no value if there was no I/O."""

_AT = r"(?P<at>\d\d:\d\d:\d\d(?: [AP]M)?|Average:|Summary:)\s+"
_TIME = re.compile(rf"{_AT}(?P<rest>\S.*)")
_HEAD = re.compile(rf"^{_AT}(?:{'|'.join(_SHAPES)})\s", re.MULTILINE)
_MACHINE = re.compile(r"Linux (\S+) \((.*?)\)")


def claims(text: str) -> bool:
    """Return whether a text is the output of sar, or of sadf -j."""
    if text.lstrip().startswith("{"):
        return '"sysstat"' in text[:200] and ('"file-date"' in text or '"net-dev"' in text)
    return _HEAD.search(text) is not None


Key = tuple[int, str, str, str]
"""Day, time, table, and the row's name."""

Found = dict[Key, tuple[dict[str, float], float | None]]


@dataclass(kw_only=True)
class _Talk:
    """The output of one start of sar or sadf.

    Attributes:
        rows: figures by time, table and name, each with the seconds of its interval.
        averages: figures of the lines at the end, in the same form.
        left: tables that are not read.
        columns: unread columns of tables that are read.
        again: whether the machine was restarted during it.
    """

    kernel: str = ""
    host: str = ""
    rows: Found = field(default_factory=dict)
    averages: Found = field(default_factory=dict)
    left: dict[str, None] = field(default_factory=dict)
    columns: dict[str, None] = field(default_factory=dict)
    again: bool = False


def read(text: str, source: str) -> Run:
    """Return one point per report and interface, disk or processor.

    Outputs that were appended to one file are several runs; hosts are parts of one run.

    Raises:
        UnreadableError: the text has no such table, or the JSON is damaged.
    """
    in_json = text.lstrip().startswith("{")
    talks = list(_json(text, source) if in_json else _text(text))
    runs = [_run(talk, source, in_json=in_json) for talk in talks]
    if not any(run.points for run in runs):
        raise UnreadableError(
            f"{source}: it has no table of interfaces, disks or processors",
            hint="sar -n DEV -d -u, or sadf -j FILE -- -n DEV -d -u, prints them",
        )
    return in_one([run for run in runs if run.points])


def _run(talk: _Talk, source: str, *, in_json: bool) -> Run:
    points = [
        Point(series=f"{'CPU ' if kind == 'CPU' else ''}{name}", at=at, figures=_measured(figures), seconds=seconds)
        for (_, at, kind, name), (figures, seconds) in (talk.rows or talk.averages).items()
        if figures
    ]
    notes = [f"tables left out: {named(list(talk.left))}"] if talk.left else []
    if talk.columns:
        notes.append(f"columns left out: {', '.join(talk.columns)}")
    if talk.again:
        notes.append("the machine was restarted during these reports")
    return Run(
        kind=KIND,
        form="JSON of sadf" if in_json else "text",
        source=source,
        points=tuple(points),
        told=told([("kernel", talk.kernel), ("host", talk.host)]),
        samples=True,
        host=talk.host,
        notes=tuple(notes),
    )


def _measured(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in figures.items() if name not in _PER_IO or figures.get("iops")}


@dataclass(kw_only=True)
class _Table:
    """The current position in a table: the number of days since its first row, and its last two times.

    sar prints the header once per page, or before each report; its time is then that of the report before.
    """

    day: int = 0
    before: str = ""
    now: str = ""

    def comes_to(self, at: str) -> None:
        """Move to the time of the next line."""
        if at == self.now:
            return
        last, this = moment(self.now), moment(at)
        if last is not None and this is not None and this < last:
            self.day += 1
        self.before, self.now = self.now, at

    @property
    def seconds(self) -> float | None:
        """Return the seconds of the newest report; None if not known."""
        begin, end = moment(self.before), moment(self.now)
        return None if begin is None or end is None else (end - begin) % 86400 or None


def _text(text: str) -> Iterator[_Talk]:
    """Yield the output of each start of sar; the averages at its end count only if there are no reports."""
    talk = _Talk()
    tables: dict[tuple[str, ...], _Table] = {}
    kind, columns, table = "", list[str](), _Table()
    for line in text.splitlines():
        if machine := _MACHINE.match(line):
            yield talk
            talk, tables, kind = _Talk(kernel=machine[1], host=machine[2]), {}, ""
        match = _TIME.match(line.strip())
        if match is None:
            continue
        at, words = match["at"], match["rest"].split()
        if words[:2] == ["LINUX", "RESTART"]:
            talk.again = True
            for one in tables.values():
                one.comes_to(at)
            continue
        over, numbers = at.endswith(":"), [_decimal(word) for word in words[1:]]
        if len(words) > 1 and None in numbers:
            kind, columns = words[0], words[1:]
            table = tables.setdefault((*words,), _Table())
            talk.columns |= dict.fromkeys(_unread(kind, columns))
            if not over:
                table.comes_to(at)
            if kind not in _SHAPES:
                talk.left[" ".join(words[:2])] = None
            continue
        if kind not in _SHAPES or len(numbers) != len(columns):
            continue
        cells = {
            name.removesuffix("/s"): value for name, value in zip(columns, numbers, strict=True) if value is not None
        }
        if over:
            _take(talk.averages, (0, at, kind, words[0]), cells, None)
        else:
            table.comes_to(at)
            _take(talk.rows, (table.day, at, kind, words[0]), cells, table.seconds)
    yield talk


def _unread(kind: str, columns: Sequence[str]) -> list[str]:
    """Return the unread columns of a table, as written; empty for a table that is not read at all."""
    shapes = _SHAPES.get(kind)
    return [name for name in columns if name.removesuffix("/s") not in shapes] if shapes else []


def _take(found: Found, key: Key, cells: Mapping[str, float], seconds: float | None) -> None:
    shapes = _SHAPES[key[2]]
    figures, known = found.setdefault(key, ({}, seconds))
    figures.update({shapes[name][0]: value * shapes[name][1] for name, value in cells.items() if name in shapes})
    found[key] = figures, known


def _decimal(word: str) -> float | None:
    """Return the number in a word; a decimal comma, as in other locales, is accepted."""
    return float(word.replace(",", ".")) if re.fullmatch(r"-?\d+(?:[.,]\d+)?", word) else None


def _hosts(text: str, source: str) -> Iterator[Mapping[str, Any]]:
    documents, _ = json_texts(text, "sysstat", source)
    try:
        for document in documents:
            yield from document["sysstat"]["hosts"]
    except (KeyError, TypeError) as error:
        raise UnreadableError(f"{source}: its JSON is cut or damaged ({error})") from error


def _json(text: str, source: str) -> Iterator[_Talk]:
    try:
        for host in _hosts(text, source):
            kernel, name = (str(host.get(key, "")) for key in ("release", "nodename"))
            talk = _Talk(kernel=kernel, host=name, again=bool(host.get("restarts")))
            for report in host["statistics"]:
                stamp = report.get("timestamp") or {}
                at, seconds = f"{stamp.get('date', '')} {stamp.get('time', '')}".strip(), stamp.get("interval")
                for table, rows in [*report.items(), *report.get("network", {}).items()]:
                    kinds = [_JSON[key] for key in (rows[0] if _is_table(rows) else ()) if key in _JSON]
                    if not kinds:
                        if table not in ("timestamp", "network") and rows:
                            talk.left[table] = None
                        continue
                    talk.columns |= dict.fromkeys(_unread(kinds[0], [key for key in rows[0] if key not in _JSON]))
                    for row in rows:
                        title = next(str(row[key]) for key in _JSON if key in row)
                        cells = {key: float(value) for key, value in row.items() if isinstance(value, (int, float))}
                        _take(talk.rows, (0, at, kinds[0], title), cells, float(seconds) if seconds else None)
            yield talk
    except (KeyError, TypeError, AttributeError, ValueError, StopIteration) as error:
        raise UnreadableError(f"{source}: its JSON is not as sadf -j writes it ({error})") from error


def _is_table(rows: object) -> bool:
    return isinstance(rows, list) and bool(rows) and isinstance(rows[0], dict)
