"""Show changes and locks to people: one line each, with the statement cut to the width. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from exacell.core.cellset import fold
from exacell.core.units import format_duration
from exacell.output.result import Column
from exacell.output.style import printable
from exacell.output.tables import table_lines, value_text

_SHOWN = ("change", "rack", "at", "who", "statement", "targets", "risk", "ended")
_WANTED = 38
"""The columns that a statement gets before other columns are dropped."""

_LEAST = 20
"""The columns that a statement gets in any case."""

_YEAR, _MINUTE = len("2026-"), len("2026-03-10 12:00")
"""Where the part of a time begins and ends that a narrow terminal shows."""

_ENDED = {"exit 0": "done", "exit 1": "failed", "exit 2": "nothing sent", "exit 4": "interrupted"}
"""The words shown for exit codes."""


def ended_text(ended: str) -> str:
    """Return how a change ended: ``exit 1, undone`` as ``failed, undone``, ``exit 1, finished by 6`` as ``finished by 6``."""
    code, comma, more = ended.partition(",")
    if more.startswith(" finished by "):
        return more.strip()
    return _ENDED.get(code, code) + comma + more


def local_text(at: object, zone: tzinfo | None) -> str:
    """Return a row's time to the second; ``zone`` None is this host's. A text that is not a time is returned unchanged."""
    try:
        return f"{datetime.fromisoformat(str(at or '')).astimezone(zone):%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return str(at or "")


def change_lines(
    records: Sequence[Mapping[str, Any]],
    *,
    racks: bool,
    width: int | None,
    color: bool,
    header: bool,
    folded: bool = True,
    zone: tzinfo | None = UTC,
) -> Iterator[str]:
    """Yield the lines of a table of changes, as ``journal show`` records them, no wider than ``width`` if possible.

    Each line names who made the change, and whether it is the undo, resume or retry of another one.

    Args:
        folded: whether names of targets are folded.
        racks: whether the changes are of several racks.
        width: columns of the terminal; None cuts nothing.
        zone: the time zone of the times shown; None is this host's.
    """
    rows = [
        {
            **record,
            "at": local_text(record.get("at"), zone),
            "ended": ended_text(str(record.get("ended") or "")),
            "who": who,
            "statement": " ".join(f"{_of_another(record)}{record.get('statement') or ''}".split()),
            "targets": _targets(str(record.get("targets") or ""), folded=folded),
        }
        for record, who in zip(records, _people(records), strict=True)
    ]
    names = [name for name in _SHOWN if name != "rack" or racks]
    if width is not None and rows:
        for dropped in ("", "risk", "targets"):
            names = [name for name in names if name != dropped]
            if width - _taken(rows, names) >= _WANTED:
                break
        if width - _taken(rows, names) < _LEAST:
            rows = [{**row, "at": str(row["at"])[_YEAR:_MINUTE]} for row in rows]
        if width - _taken(rows, names) < _LEAST:
            names.remove("who")
        room = max(width - _taken(rows, names), _LEAST)
        rows = [{**row, "statement": _cut(row["statement"], room)} for row in rows]
    columns = [Column(name, "number" if name == "change" else "text") for name in names]
    bare = [{name: row.get(name) for name in names} for row in rows]
    yield from table_lines(bare, columns, color=color, header=header)


def _targets(names: str, *, folded: bool) -> str:
    return fold(names.split(",")) if folded and names else names


def _people(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return who made each change: the person before sudo, and the host if not all changes come from one."""
    several = len({record.get("host") for record in records}) > 1
    keys = [
        (record.get("sudoUser") or record.get("user"), record.get("host") if several else None) for record in records
    ]
    return ["@".join(str(part) for part in key if part) for key in keys]


_GOES_ON = re.compile(r"(undo|resume|retry) (\d+)")


def _of_another(record: Mapping[str, Any]) -> str:
    """Return the beginning of a change's text: ``undo of 6: `` if it undoes or continues another change, ``name: `` if it is
    part of a recipe; else empty."""
    origin = str(record.get("recipe") or "")
    match = _GOES_ON.fullmatch(origin)
    return f"{match[1]} of {match[2]}: " if match else f"{origin}: " if origin else ""


def _taken(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> int:
    """Return how many columns all parts of the line except the statement take."""
    others = [name for name in names if name != "statement"]
    return sum(2 + max(len(name), *(len(value_text(row.get(name))) for row in rows)) for name in others)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 3] + "..."


def lock_sentence(row: Mapping[str, object], *, zone: tzinfo | None = UTC) -> str:
    """Return a sentence about a rack's lock: who holds it, since when, for which change, and what ends it.

    Args:
        row: as ``show lock`` records it.
        zone: the time zone of the time shown; None is this host's.
    """
    rack = f"rack {row['rack']}"
    if not row["locked"]:
        return f"{rack} is not locked"
    user, real = str(row["user"]), row.get("sudo")
    who = f"{real} as {user}" if real and real != user else user
    ended = "" if row.get("kept") or row.get("lives") else ", which has ended"
    age = format_duration(float(str(row.get("ageSeconds") or 0)))
    since = f"since {local_text(row['since'], zone)} ({age})"
    change = f"change {row['change']}" if row.get("change") else "its change"
    end = "until unlock" if row.get("kept") else f"while {change} runs"
    return printable(f"{rack} is locked by {who} on {row['host']}, process {row['pid']}{ended}, {since}, {end}")
