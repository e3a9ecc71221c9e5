"""What changed on cells since a moment: findings that are new, and findings that are gone. Pure.

Kept is what each cell's findings were, whenever they were others than before: that is what they were at any moment between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from exacell.care.health import NO_ANSWER, Finding, Level
from exacell.core.errors import StatementError, UnitError
from exacell.core.units import counted, parse_duration
from exacell.core.values import dataclass

Told = tuple[tuple[str, str], ...]
"""The findings of a cell, as they are kept: area and sentence, sorted."""

_NEW, _GONE = "new", "gone"


@dataclass(frozen=True, kw_only=True)
class Past:
    """What a cell's findings were at a moment.

    Attributes:
        at: since when they were so, epoch seconds.
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
    """Return what ``--since`` means, epoch seconds: ``yesterday`` is all that was before today, ``7d`` a week ago.

    A date, or a date with a time of day, is the beginning of that.

    Raises:
        StatementError: it is no time, or one to come.
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
                f"--since={text}: a time is needed: yesterday, 24h, 7d, 2026-11-24, '2026-11-24 18:00'"
            ) from error
    if found > now:
        raise StatementError(f"--since={text} is yet to come, it is {now:%Y-%m-%d %H:%M}")
    return found.timestamp()


def told(findings: Sequence[Finding]) -> Told:
    """Return findings as they are kept; of a cell that gave no answer that alone, whatever the reason was."""
    return tuple(sorted((f.area, NO_ANSWER if f.word == NO_ANSWER else f.text) for f in findings))


def changed(before: Mapping[str, Past], now: Mapping[str, Sequence[Finding]]) -> list[Changed]:
    """Return what changed, new findings first, the worst of them in front; of a cell without a past everything is new."""
    found = []
    for cell, findings in now.items():
        was = set(before[cell].told) if cell in before else set()
        for finding in findings:
            if told([finding])[0] not in was:
                found.append(
                    Changed(cell=cell, area=finding.area, change=_NEW, finding=finding.said, level=finding.level)
                )
        # Nobody knows what is gone from a cell that says nothing.
        silent = any(finding.word == NO_ANSWER for finding in findings)
        found += [
            Changed(cell=cell, area=area, change=_GONE, finding=text, level=Level.OK)
            for area, text in sorted(was - set(told(findings)))
            if not silent
        ]
    return sorted(found, key=lambda one: (one.change == _GONE, -one.level.rank))


def broken(found: Sequence[Changed]) -> bool:
    """Return whether something of it is bad."""
    return any(one.level is Level.BAD for one in found)


def compared_with(before: Mapping[str, Past], cells: Sequence[str], since: float) -> str:
    """Return the words for cells of which nothing is kept that is so old; empty where all have a past."""
    new = [cell for cell in cells if cell not in before]
    young = [cell for cell in cells if cell in before and before[cell].at > since]
    said = []
    if new:
        said.append(f"no earlier health of {counted(len(new), 'cell')} is kept: each finding counts as new")
    if young:
        first = datetime.fromtimestamp(min(before[cell].at for cell in young)).astimezone()
        said.append(f"what is kept of {counted(len(young), 'cell')} begins at {first:%Y-%m-%d %H:%M}")
    return "; ".join(said)
