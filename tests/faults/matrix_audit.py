"""What the hosts of a running emulated rack were told, as an auditor in its process wrote it down, against the journals."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest import mock

from exacell.journal.rows import Entry

AUDITOR = Path(__file__).parent / "audit"
VARIABLE = "EXACELL_CHAOS_AUDIT"

_READS = re.compile(r"\s*(list|describe|help|select|show|set|whenever|prompt|exit|column|--)\b|\s*$|.*__EXACELL", re.I)
_CHANGES = re.compile(r"\b(alter|create|drop)\b", re.I)
_CLOCKS_S = 0.002
"""The journal keeps milliseconds."""


@contextmanager
def audited(path: Path) -> Iterator[None]:
    """Let a rack that is started in here write what its hosts are told to a file."""
    with mock.patch.dict(os.environ, {VARIABLE: str(path), "PYTHONPATH": str(AUDITOR)}):
        yield


def read_audit(path: Path, since: int = 0) -> list[dict[str, Any]]:
    """Return the rows behind a place of the file."""
    with open(path, encoding="utf-8") as stream:
        stream.seek(since)
        return [json.loads(line) for line in stream if line.endswith("\n")]


def unannounced(rows: Sequence[Mapping[str, Any]], intents: Sequence[Entry], *, slack: float = 0.0) -> list[str]:
    """Return what changed something on a host without an intent of its own in a journal before it.

    Args:
        slack: seconds by which the clocks of those who wrote may have been apart.
    """
    used: set[int] = set()
    problems = []
    for row in rows:
        if row["kind"] == "told" and _changes(row) and not _announced(row, intents, used, slack):
            problems.append(f"{row['host']} was told {row['text']!r} at {row['at']} without an intent before it")
    return problems


def second_failure_groups(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the statements that took disks of a further cell offline while those of another one were."""
    problems = []
    for row in rows:
        if row["kind"] == "ended" and _CHANGES.search(row["text"]):
            new = set(row["after"]) - set(row["before"])
            if new and len(row["after"]) > 1:
                problems.append(f"{row['host']}: {row['text']}: {row['before']} were offline, and then {row['after']}")
    return problems


def _changes(row: Mapping[str, Any]) -> bool:
    text = row["text"].removeprefix("-e ").strip()
    return bool(_CHANGES.search(text)) and not _READS.match(text)


def _announced(row: Mapping[str, Any], intents: Sequence[Entry], used: set[int], slack: float) -> bool:
    wanted = _flat(row["text"])
    for place, intent in enumerate(intents):
        if place in used or intent.target != row["host"] or wanted not in _flat(json.dumps(intent.body)):
            continue
        if datetime.fromisoformat(intent.at).timestamp() <= row["at"] + _CLOCKS_S + slack:
            used.add(place)
            return True
    return False


def _flat(text: str) -> str:
    return re.sub(r"[\s\"'\\;]+", "", text.lower().removeprefix("-e "))
