"""The rack's lock for eyes: one sentence. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, tzinfo

from exacell.core.units import format_duration
from exacell.output.changes import local_text
from exacell.output.style import printable


def lock_sentence(row: Mapping[str, object], *, zone: tzinfo | None = UTC) -> str:
    """Return who holds a rack's lock, since when, for which change, and what ends it.

    Args:
        row: as ``show lock`` records it.
        zone: in which the time is told; None is this host's.
    """
    rack = f"rack {row['rack']}"
    if not row["locked"]:
        return f"{rack} is not locked"
    user, real = str(row["user"]), row.get("sudo")
    who = f"{real} as {user}" if real and real != user else user
    ended = "" if row.get("kept") or row.get("lives") else ", which has ended: it holds nothing any more"
    age = format_duration(float(str(row.get("ageSeconds") or 0)))
    since = f"since {local_text(row['since'], zone)} ({age})"
    change = f"change {row['change']}" if row.get("change") else "its change"
    end = "until unlock" if row.get("kept") else f"while {change} runs"
    return printable(f"{rack} is locked by {who} on {row['host']}, process {row['pid']}{ended}, {since}, {end}")
