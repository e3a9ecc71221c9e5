"""Read the output of LIST METRICCURRENT from a text file as the counters of a snapshot. Pure.

Accepted are rows as CellCLI prints them by default (name, object, value with its unit), the same with a collectionTime at the
end, and DETAIL, each with or without the ``cell: `` that dcli puts in front. Source: reference cellcli.md 3.1; procedures.md,
P1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from exacell.cellcli.reply import read_detail
from exacell.cellcli.schema import metric, metric_value
from exacell.core.errors import RefusedError
from exacell.measure.delta import FIGURED
from exacell.measure.snapshot import UNTIMED, CellCounters

UNNAMED = "(one cell)"
"""Name of the cell in a text that names none."""

_CELL = re.compile(r"(?P<cell>[A-Za-z][\w.-]*): (?=\s*(?:[A-Z]{2,}\w*_|name:|metric|object|collection|alert))")
_ROW = re.compile(
    r"(?P<name>[A-Z][A-Z0-9]*_\w+)\s+(?P<object>\S+)\s+(?P<value>\S+(?: [^\s\d][^\t]*?)?)(?:\s+(?P<time>\d{4}-\d\d-\d\dT\S+))?"
)
_VALUE = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?: .*)?")
_BESIDE = re.compile(r"CellCLI|Copyright|>|\d+ rows?\b|quitting$|\[?\w+@\S.*[#$]|# ?cellcli\b", re.IGNORECASE)
"""Lines of a terminal around a listing: CellCLI's own lines, and a shell's prompt."""

_HINT = "cellcli -e \"list metriccurrent where objectType = 'FLASHLOG'\" > before.txt makes such a text"


def read_listing(text: str, source: str) -> tuple[dict[str, dict[str, CellCounters]], tuple[str, ...]]:
    """Return kind → cell → its counters, and the names of unknown metrics, which are not read.

    Raises:
        RefusedError: a line is not a row of METRICCURRENT, a value is not a number, or a row is repeated.
    """
    found: dict[str, dict[str, CellCounters]] = {}
    strange: dict[str, None] = {}
    for cell, name, owner, value, at in _rows(text, source):
        known = metric(name)
        if known is None:
            strange[name] = None
            continue
        kind = known.object_type.lower()
        if kind not in FIGURED and (known.metric_type != "Cumulative" or known.unit == "%"):
            continue
        counters = found.setdefault(kind, {}).get(cell) or CellCounters(collected=UNTIMED)
        key = name if kind in FIGURED else f"{name} {owner}"
        if key in counters.values:
            raise RefusedError(
                f"{source}: {name} of {owner} is in it twice: it must contain one listing only", hint=_HINT
            )
        values = {**counters.values, key: value}
        found[kind][cell] = replace(counters, values=values, collected=max(counters.collected, at))
    if not found:
        raise RefusedError(f"{source}: it has no counter of LIST METRICCURRENT", hint=_HINT)
    return found, tuple(strange)


def _rows(text: str, source: str) -> Iterator[tuple[str, str, str, float, int]]:
    """Yield cell, metric, object, value and collection time of each row."""
    detailed: dict[str, list[str]] = {}
    for number, whole in enumerate(text.splitlines(), 1):
        prefix = _CELL.match(whole)
        cell, line = (prefix["cell"], whole[prefix.end() :]) if prefix else (UNNAMED, whole)
        if re.match(r"\s*[a-z]\w+:\s", line):
            detailed.setdefault(cell, []).append(line.strip())
            continue
        plain = line.strip()
        if not plain or _BESIDE.match(plain):
            if detailed:
                detailed.setdefault(cell, []).append("")
            continue
        row = _ROW.fullmatch(plain)
        if row is None:
            raise RefusedError(
                f"{source}, line {number}: '{plain[:60]}' is not a row of LIST METRICCURRENT", hint=_HINT
            )
        yield cell, row["name"], row["object"], _number(row["value"], f"{source}, line {number}"), _time(row["time"])
    for cell, lines in detailed.items():
        for record in read_detail("\n".join(_apart(lines))):
            name, value = record.get("name", ""), record.get("metricValue", "")
            at = _time(record.get("collectionTime"))
            yield cell, name, record.get("metricObjectName", ""), _number(value, f"{source}, {name}"), at


def _apart(lines: list[str]) -> Iterator[str]:
    """Yield the lines of DETAIL with an empty one before each object, because dcli removes empty lines."""
    for line in lines:
        if line.startswith("name:"):
            yield ""
        if line:
            label, _, value = line.partition(":")
            yield f"\t {label}:\t {value.strip()}"


def _number(text: str, place: str) -> float:
    if not _VALUE.fullmatch(text):
        raise RefusedError(
            f"{place}: it is not clear which number '{text[:40]}' is", hint="CellCLI prints 32,669,310 IO requests"
        )
    value, _ = metric_value(text)
    assert isinstance(value, (int, float))
    return float(value)


def _time(text: str | None) -> int:
    """Return epoch ms; :data:`UNTIMED` if there is no time."""
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000) if text else UNTIMED
    except ValueError:
        return UNTIMED
