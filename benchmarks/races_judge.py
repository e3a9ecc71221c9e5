"""Judges a race of benchmarks/races.py: what was lost, on which proof, who was told, and what the old owner still sent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from races_rack import Told

from exacell.core.cellset import CellSet

if TYPE_CHECKING:
    from races_run import Raced

LONGEST = 0.2
"""Seconds that may lie between a look's answer and the statement that hangs on it."""

WAY = 0.25
"""Seconds more that the cell may see between the two: the answer's way, which is looked at again when it takes longer, and
the statement's, on a machine that plays operators and cells."""


@dataclass
class Verdict:
    """What became of a race.

    Attributes:
        lost: bytes that were dirty, or in files, and went with a statement of ours.
        moment: of these, what somebody made after the last look was answered, less than LONGEST before the statement.
        stale: statements whose look was older.
        after: changing statements that the old owner sent after the takeover.
        untold: why somebody was not told.
        ages: seconds between look and statement, one for each statement that loses data.
    """

    script: str
    lost: int = 0
    moment: int = 0
    stale: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    ages: list[float] = field(default_factory=list)
    code: int | None = 0
    struck: bool = False

    @property
    def survived(self) -> bool:
        """Whether nothing was lost, stale, sent after a takeover or left untold."""
        return not (self.lost or self.stale or self.after or self.untold or self.odd)

    def problems(self) -> list[str]:
        """Return what was wrong, one line each."""
        return [
            *([f"{self.lost / (1 << 30):.1f} GB lost"] if self.lost else []),
            *self.stale,
            *self.after,
            *self.untold,
            *self.odd,
        ]


def look_of(told: Sequence[Told], place: int) -> Told | None:
    """Return the first read of the last batch of reads that a program was sent before a statement; None without any.

    Only reads by the program that got the statement count: between them others ask the same host.
    A batch ends where exacell's mark stands, and where a read comes again.

    Args:
        told: what hosts were told, in order.
        place: of the statement among these.
    """
    before = [row for row in told[:place] if row.run == told[place].run]
    while before and (before[-1].marks or not before[-1].looks):
        if before[-1].changes:
            break
        before.pop()
    batch: list[Told] = []
    for row in reversed(before):
        if not row.looks or any(row.text == other.text for other in batch):
            break
        batch.append(row)
    return batch[-1] if batch else None


def judge(race: Raced) -> Verdict:
    """Return what became of a race."""
    verdict = Verdict(str(race.script), code=race.code, struck=race.struck is not None)
    # Where all answers of a cell are long under way, three in a row are believed: they tell what was so long ago.
    oldest = LONGEST + WAY + (race.script.lasting if race.script.keeps == "late" else 0.0)
    ours = [row for row in race.told if row.login != "root"]
    for place, row in enumerate(ours):
        if not row.loses:
            continue
        look = look_of(ours, place)
        age = row.at - (look.looked or look.at) if look is not None else 999.0
        verdict.ages.append(age)
        if look is None:
            verdict.stale.append(f"{row.host} got {row.text[:60]!r} by a program that had not looked at it")
        elif age > oldest:
            verdict.stale.append(f"{row.host} got {row.text[:60]!r} {age:.2f}s after it was looked at")
        struck = race.struck if race.struck is not None and race.script.victim == row.host else None
        for lost in [found for found in race.lost if found.told is row]:
            within = struck is not None and look is not None and (look.looked or look.at) <= struck <= row.at
            if within and age <= oldest:
                verdict.moment += lost.size
            else:
                verdict.lost += lost.size
    # By our own clock a look is as old as when we had noted that its statement was written: a stop behind that is in it too.
    # Whether it was old when it left is seen at the cell. Told of it is the operator in any case.
    verdict.untold += [
        f"{host}: {ms:.0f} ms by the journal, and nobody was told"
        for host, ms in race.own_ages
        if ms > 1000 * LONGEST and not (race.code and _LATE.search(race.text))
    ]
    verdict.lost += sum(lost.size for lost in race.lost if not lost.told.loses)
    if race.taken is not None:
        late = [row for row in ours if row.changes and row.at > race.taken + LONGEST]
        verdict.after += [f"{r.host} got {r.text[:60]!r} {r.at - race.taken:.2f}s after the takeover" for r in late]
    verdict.untold += _untold(race, verdict.lost > 0)
    if race.code is None:
        verdict.odd.append("it had to be ended")
    elif race.code == 70 or race.code < 0:
        verdict.odd.append(f"it ended with {race.code}")
    if race.other_failed:
        verdict.odd.append(f"no takeover: {race.other_failed}")
    return verdict


def _untold(race: Raced, harmed: bool) -> list[str]:
    """Return why an operator does not know that a race was lost."""
    if not race.wrong and not harmed:
        return []
    if race.code == 0:
        return [f"exit code 0, and {'data was lost' if harmed else f'not as intended: {race.wrong}'}"]
    told = told_lines(race.text)
    if "taken over" in told:
        return []
    named = cells_in(told)
    if race.script.verb.harm == "files":
        unnamed = [] if re.search(r"\bPP\b", told) else ["PP"]
    elif race.code == 2:  # Nothing was sent to any of them: who stands in the way is enough.
        unnamed = [] if named else race.wrong
    else:
        unnamed = [cell for cell in race.wrong or [race.script.victim] if cell not in named]
    return [f"exit code {race.code}, and nothing is said of {', '.join(unnamed)}: {told[-200:]}"] if unnamed else []


_LATE = re.compile(r"it was sent [0-9.]+s after the check")
"""What an operator is told of a statement whose look was old when it had been written."""

_PROGRESS = re.compile(r"[ \[]|Plan on ")
"""How lines begin that tell of what is planned and how far it is."""
_CELLS = re.compile(r"exa1cel(?:\d+|\[[\d,-]+\])")


def told_lines(text: str) -> str:
    """Return what an operator was told at the end: without the plan, which names all cells, and without progress."""
    return "\n".join(line for line in text.splitlines() if not _PROGRESS.match(line))


def cells_in(text: str) -> set[str]:
    """Return the cells that a text names, folded or not."""
    return {cell for found in _CELLS.findall(text) for cell in CellSet.parse(found)}
