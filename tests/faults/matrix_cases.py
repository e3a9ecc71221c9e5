"""The cases of the fault matrix: every row of verbs × every boundary of its plan × everything that can go wrong there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from matrix_moments import Kind, Mishap, Moment, Phase
from matrix_verbs import Verb

MENDING = "while mending"
AGAIN = "killed twice"
COLUMNS = (*(str(kind) for kind in Kind), MENDING, AGAIN)
"""The columns of the table: what goes wrong; then a second mishap while exacell mends the first one, or while the
operator's next process goes on after a kill."""


class Way(StrEnum):
    """How the operator goes on afterwards."""

    RESUME = "resume"
    """resume, retry failed, or what the next start tells: the rack has to be as intended."""
    UNDO = "undo"
    """undo: the rack has to be as it was."""


@dataclass(frozen=True)
class Case:
    """One cell of the matrix. ``again`` strikes the operator's next process, if it comes to that moment."""

    verb: Verb
    mishaps: tuple[Mishap, ...]
    way: Way
    again: Mishap | None = None

    @property
    def column(self) -> str:
        """The column that it counts in."""
        if self.again is not None:
            return AGAIN
        return MENDING if len(self.mishaps) > 1 else str(self.mishaps[0].kind)

    def __str__(self) -> str:
        again = f", {self.again} while going on" if self.again is not None else ""
        return f"{self.verb.name} / {', then '.join(map(str, self.mishaps))}{again} / {self.way}"


def at(moment: Moment) -> Iterator[Mishap]:
    """Yield everything that can go wrong at one moment."""
    match moment.phase:
        case Phase.PLAN | Phase.INTENT | Phase.OUTCOME:
            yield Mishap(Kind.KILL, moment, "before")
            yield Mishap(Kind.KILL, moment, "after")
            if moment.phase is not Phase.PLAN:
                yield Mishap(Kind.OTHER, moment, "before")
                yield Mishap(Kind.OTHER, moment, "after")
        case Phase.END:
            yield Mishap(Kind.KILL, moment, "before")
            yield Mishap(Kind.KILL, moment, "after")
        case Phase.CHECK if moment.stage:
            yield Mishap(Kind.LINK, moment)
            yield Mishap(Kind.HANG, moment, lasting=True)
            yield Mishap(Kind.MS, moment, lasting=True)
        case Phase.SEND:
            for how in ("unsent", "some", "sent"):
                yield Mishap(Kind.KILL, moment, how)
            for how in ("unsent", "sent"):
                yield Mishap(Kind.LINK, moment, how)
                yield Mishap(Kind.LINK, moment, how, everywhere=True)
            for how in ("never", "slow", "late"):
                yield Mishap(Kind.HANG, moment, how)
            yield Mishap(Kind.ERROR, moment)
            yield Mishap(Kind.ERROR, moment, everywhere=True)
            yield Mishap(Kind.MS, moment)
            yield Mishap(Kind.MS, moment, everywhere=True, lasting=True)
            yield Mishap(Kind.CELLSRV, moment)
        case Phase.SETTLE:
            yield Mishap(Kind.KILL, moment)
            yield Mishap(Kind.LINK, moment)
            yield Mishap(Kind.LINK, moment, lasting=True)
            yield Mishap(Kind.HANG, moment, lasting=True)
            yield Mishap(Kind.MS, moment)
            yield Mishap(Kind.MS, moment, lasting=True)
            yield Mishap(Kind.CELLSRV, moment)
            yield Mishap(Kind.OTHER, moment)


def boundaries(seen: Sequence[Moment]) -> list[Moment]:
    """Return the moments that count as boundaries: of the reads of one stage the first two, of the last read none."""
    stages = {moment.stage for moment in seen if moment.phase is Phase.INTENT}
    return [m for m in dict.fromkeys(seen) if m.nth <= 2 and (m.phase is not Phase.CHECK or m.stage in stages)]


def single(verb: Verb, seen: Sequence[Moment]) -> Iterator[Case]:
    """Yield the cases of one row with one mishap each."""
    for moment in boundaries(seen):
        for mishap in at(moment):
            yield Case(verb, (mishap,), Way.RESUME)
            if verb.undo and mishap.kind is not Kind.OTHER:
                yield Case(verb, (mishap,), Way.UNDO)


def while_mending(verb: Verb, fails: Mishap, seen: Sequence[Moment]) -> Iterator[Case]:
    """Yield the cases of one row with a second mishap after ``fails``: what came then, mending above all, is cut short."""
    later = [m for m in boundaries(seen) if m.stage > fails.at.stage]
    for moment in later:
        for mishap in at(moment):
            late = mishap.how == "late" and mishap.kind is Kind.HANG
            if mishap.kind is Kind.KILL or late or (mishap.kind is Kind.ERROR and mishap.everywhere):
                yield Case(verb, (fails, mishap), Way.RESUME)
                if verb.undo:
                    yield Case(verb, (fails, mishap), Way.UNDO)


def killed_twice(verb: Verb, seen: Sequence[Moment]) -> Iterator[Case]:
    """Yield the cases of one row in which the operator's process is killed, and the next one as well."""
    for moment in boundaries(seen):
        if moment.phase is not Phase.SEND:
            continue
        first = (Mishap(Kind.KILL, moment, "some"),)
        for again in (
            Mishap(Kind.KILL, Moment(Phase.SEND, 1), "some"),
            Mishap(Kind.KILL, Moment(Phase.OUTCOME, 1), "before"),
            Mishap(Kind.KILL, Moment(Phase.OUTCOME, 2), "after"),
        ):
            yield Case(verb, first, Way.RESUME, again)
            if verb.undo:
                yield Case(verb, first, Way.UNDO, again)
