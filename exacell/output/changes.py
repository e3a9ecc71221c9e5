"""Changes for eyes: one line each, whatever the width, the statement cut where it must be. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from exacell.output.result import Column
from exacell.output.tables import table_lines, value_text

_SHOWN = ("change", "rack", "at", "who", "statement", "targets", "risk", "ended")
_LEAST = 24
"""Columns that a statement has at least."""

_SECONDS = len("2026-11-21T16:03:07")


def change_lines(
    records: Sequence[Mapping[str, Any]], *, racks: bool, width: int | None, color: bool, header: bool
) -> Iterator[str]:
    """Yield the lines of a table of changes, as ``journal show`` records them, no wider than ``width`` where it can be.

    Args:
        racks: whether the changes are of several racks.
        width: columns of the terminal; None cuts nothing.
    """
    rows = [
        {
            **record,
            "at": str(record.get("at") or "")[:_SECONDS].replace("T", " "),
            "who": "@".join(str(record[key]) for key in ("user", "host") if record.get(key)),
            "statement": " ".join(str(record.get("statement") or "").split()),
        }
        for record in records
    ]
    names = [name for name in _SHOWN if name != "rack" or racks]
    if len({row["who"] for row in rows}) == 1 and len(rows) > 1:
        names.remove("who")  # It says nothing where it is always the same.
    if width is not None and rows:
        for dropped in ("", "risk", "targets", "who"):
            names = [name for name in names if name != dropped]
            others = [name for name in names if name != "statement"]
            taken = sum(2 + max(len(name), *(len(value_text(row.get(name))) for row in rows)) for name in others)
            if width - taken >= _LEAST:
                break
        room = max(width - taken, _LEAST)
        rows = [{**row, "statement": _cut(row["statement"], room)} for row in rows]
    columns = [Column(name, "number" if name == "change" else "text") for name in names]
    bare = [{name: row.get(name) for name in names} for row in rows]
    yield from table_lines(bare, columns, color=color, header=header)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 3] + "..."
