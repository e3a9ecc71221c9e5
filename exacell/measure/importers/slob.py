"""Import the table that SLOB's awr_info writes: a row for each AWR report. Source: reference measurement.md 7."""

from __future__ import annotations

import re

from exacell.core.units import counted
from exacell.measure.importers.model import Point, Run, UnreadableError, named, printed

KIND = "slob"

_COLUMNS = {
    "EXECUTES": "executes", "LIO": "logicalReads", "PREADS": "physicalReads", "READ_MBS": "readMibPerS",
    "PWRITES": "physicalWrites", "WRITE_MBS": "writeMibPerS", "REDO_MBS": "redoMibPerS", "DFSR_LAT": "sequentialReadUs",
    "DPR_LAT": "directReadUs", "DFPR_LAT": "parallelReadUs", "DFPW_LAT": "parallelWriteUs", "LFPW_LAT": "logWriteUs",
}  # fmt: skip
_READ = ("FILE", "SESSIONS", "ELAPSED", "")
"""Columns without figures, and the end of a line."""


def claims(text: str) -> bool:
    """Return whether a text has the header of awr_info."""
    return re.search(r"^\s*FILE\|SESSIONS\|ELAPSED\|", text, re.MULTILINE) is not None


def read(text: str, source: str) -> Run:
    """Return one point per report, at its number of sessions; a latency of 0 means that nothing waited for the event.

    Raises:
        UnreadableError: there is no row below the header, or the form of a number is not clear.
    """
    columns: list[str] = []
    left: dict[str, None] = {}
    points, odd = [], []
    for line in (line.strip() for line in text.splitlines() if "|" in line):
        cells = [cell.strip() for cell in line.split("|")]
        if cells[:3] == ["FILE", "SESSIONS", "ELAPSED"]:
            columns = cells
            left |= dict.fromkeys(name for name in columns if name not in _COLUMNS and name not in _READ)
        elif columns:
            row = dict(zip(columns, cells, strict=False))
            found = {
                name: value
                for key, name in _COLUMNS.items()
                if (value := printed(row.get(key, ""), source)) is not None
            }
            found = {name: value for name, value in found.items() if value or not name.endswith("Us")}
            if not found:
                odd.append(line)
                continue
            load, seconds = printed(row.get("SESSIONS", ""), source), printed(row.get("ELAPSED", ""), source)
            points.append(Point(series="SLOB", load=load, at=row["FILE"], figures=found, seconds=seconds))
    if not points:
        raise UnreadableError(f"{source}: no report after the header of awr_info")
    notes = [f"columns left out: {named(list(left))}"] if left else []
    notes += [f"{counted(len(odd), 'line')} left out, without a figure: {odd[0]}"] if odd else []
    return Run(kind=KIND, form="awr_info", source=source, load="sessions", points=tuple(points), notes=tuple(notes))
