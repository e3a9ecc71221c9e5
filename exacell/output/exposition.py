"""Write metric values in Prometheus' text format 0.0.4. Pure.

A family's lines follow each other, below one line of HELP and one of TYPE; backslash and line feed are escaped in help texts,
in values of labels the double quote too; names of counters end in ``_total``. Source: Prometheus documentation, Exposition
formats, Text-based format; Metric and label naming.

It stands apart from the command, so that it is pure and tested without a rack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from heapq import merge
from itertools import groupby, pairwise
from typing import Any

Record = Mapping[str, Any]

_PREFIX = "exadata_"
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_:]")
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n"})
_QUOTED = _ESCAPES | str.maketrans({'"': '\\"'})


def exposition(
    rows: Mapping[str, Callable[[], Iterable[Record]]], means: Callable[[str], str], counts: Callable[[str], bool]
) -> Iterator[str]:
    """Yield the lines of the current values of several cells; rows without a number are left out.

    Args:
        rows: cell → a function that reads its METRICCURRENT from the start; if the rows are in the order of names, as cells print
            them, only one row of each cell is in memory at a time.
        means: returns the meaning of a metric, a clause; empty if that is not known.
        counts: returns whether a metric is a counter.
    """
    lanes = (map(partial(_of_cell, cell), _by_name(read)) for cell, read in rows.items())
    for name, found in groupby(merge(*lanes, key=_name), key=_name):
        yield from _family(name, found, means(name), "counter" if counts(name) else "gauge")


def _family(name: str, rows: Iterable[Record], means: str, kind: str) -> Iterator[str]:
    family, first = _PREFIX + _NOT_IN_NAMES.sub("_", name.lower()) + ("_total" if kind == "counter" else ""), True
    for row in rows:
        value = row.get("metricValue")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        if first:
            unit = str(row.get("unit") or "")
            told = ", ".join(filter(None, (f"{name}: {means}" if means else name, f"in {unit}" if unit else "")))
            yield f"# HELP {family} {told.translate(_ESCAPES)}"
            yield f"# TYPE {family} {kind}"
            first = False
        yield f"{family}{{cell={_label(row['cell'])},object={_label(row.get('metricObjectName'))}}} {value!r}"


def _label(value: object) -> str:
    return f'"{str(value or "").translate(_QUOTED)}"'


def _name(row: Record) -> str:
    return str(row["name"])


def _of_cell(cell: str, row: Record) -> Record:
    return {**row, "cell": cell}


def _by_name(read: Callable[[], Iterable[Record]]) -> Iterable[Record]:
    """Return rows in the order of their names; they are read twice, and kept in memory only if they come in another order."""
    if all(first <= second for first, second in pairwise(map(_name, read()))):
        return read()
    return sorted(read(), key=_name)
