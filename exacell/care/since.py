"""Compare the health of cells with an earlier moment: new findings, and findings that are gone. Pure.

A cell's findings are stored each time they differ from the ones before, so the findings of any moment in between are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from exacell.care.health import NO_ANSWER, Finding, Level
from exacell.core.errors import StatementError, UnitError
from exacell.core.units import counted, parse_duration
from exacell.core.values import dataclass

Told = tuple[tuple[str, str], ...]
"""The findings of a cell as they are stored: area and sentence, sorted."""

_NEW, _GONE = "new", "gone"


@dataclass(frozen=True, kw_only=True)
class Past:
    """A cell's findings at an earlier moment.

    Attributes:
        at: time since when these were the findings, epoch seconds.
        told: the findings.
    """

    at: float
    told: Told


@dataclass(frozen=True, kw_only=True)
class Changed:
    """One finding that is new on a cell, or gone from it; ``level`` is OK for one that is gone."""

    cell: str
    area: str
    change: str
    finding: str
    level: Level


def moment(text: str, now: datetime) -> float:
    """Return the moment of ``--since`` in epoch seconds: ``yesterday`` is the beginning of today, ``7d`` a week ago.

    A date without a time of day means the beginning of that day.

    Raises:
        StatementError: ``text`` is not a time, or is in the future.
    """
    if text.lower() == "yesterday":
        return now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    try:
        found = datetime.fromisoformat(text)
        found = found if found.tzinfo is not None else found.replace(tzinfo=now.tzinfo)
    except ValueError:
        try:
            found = now - timedelta(seconds=parse_duration(text))
        except (UnitError, OverflowError) as error:
            raise StatementError(
                f"--since={text} is not a time: write yesterday, 24h, 7d, 2026-11-24, '2026-11-24 18:00'"
            ) from error
    if found > now:
        raise StatementError(f"--since={text} is in the future: now it is {now:%Y-%m-%d %H:%M}")
    return found.timestamp()


def told(findings: Sequence[Finding]) -> Told:
    """Return findings as they are stored; if a cell did not answer, only that is stored, without the reason."""
    return tuple(sorted((f.area, NO_ANSWER if f.word == NO_ANSWER else f.text) for f in findings))


def changed(before: Mapping[str, Past], now: Mapping[str, Sequence[Finding]]) -> list[Changed]:
    """Return the changes: first new findings, the worst of them first. For a cell without stored findings all findings are
    new.
    """
    found = []
    for cell, findings in now.items():
        was = set(before[cell].told) if cell in before else set()
        for finding in findings:
            if told([finding])[0] not in was:
                found.append(
                    Changed(cell=cell, area=finding.area, change=_NEW, finding=finding.said, level=finding.level)
                )
        # If a cell does not answer, it is not known which findings are gone.
        silent = any(finding.word == NO_ANSWER for finding in findings)
        found += [
            Changed(cell=cell, area=area, change=_GONE, finding=text, level=Level.OK)
            for area, text in sorted(was - set(told(findings)))
            if not silent
        ]
    return sorted(found, key=lambda one: (one.change == _GONE, -one.level.rank))


def broken(found: Sequence[Changed]) -> bool:
    """Return whether one of the changes is bad."""
    return any(one.level is Level.BAD for one in found)


def compared_with(before: Mapping[str, Past], cells: Sequence[str], since: float) -> str:
    """Return a sentence about cells whose stored findings are missing or not old enough; empty if there are none."""
    new = [cell for cell in cells if cell not in before]
    young = [cell for cell in cells if cell in before and before[cell].at > since]
    said = []
    if new:
        said.append(f"no earlier health of {counted(len(new), 'cell')} is known: every finding counts as new")
    if young:
        first = datetime.fromtimestamp(min(before[cell].at for cell in young)).astimezone()
        said.append(f"what is kept of {counted(len(young), 'cell')} begins at {first:%Y-%m-%d %H:%M}")
    return "; ".join(said)
