"""The figures of a load that ``drive`` ran: the time of each session, and the waits of all sessions. Pure.

The text is exacell's own format, so that these figures can be stored, imported and compared like those of other programs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.measure.importers.model import Point, Run, UnreadableError

KIND = "drive"

SESSION, WAITS = "__EXACELL_SESSION__", "__EXACELL_WAITS__"
"""Beginnings of a session's lines: the hundredths of a second that it took; and an event with waits and microseconds."""

_HEAD = "exacell drive"
_WORKS = {"commits": "log file sync", "look-ups": "cell single block physical read", "scans": "cell smart table scan"}
"""The work of a session → the event that shows how long each unit of it takes."""


@dataclass(frozen=True, kw_only=True)
class Driven:
    """The figures of a load.

    Attributes:
        work: commits, look-ups or scans.
        times: how many of them each session did.
        keys: keys in the table; 0 if it has one for each session.
        seconds: seconds that each session took.
        waits: event → waits of all sessions, and their microseconds.
    """

    work: str
    sessions: int
    times: int
    keys: int
    seconds: tuple[float, ...]
    waits: Mapping[str, tuple[int, int]]

    @property
    def elapsed(self) -> float:
        """Return the seconds of the slowest session; all begin together."""
        return max(self.seconds, default=0.0)

    @property
    def rate(self) -> float | None:
        """Return how many were done per second by all sessions; None if the time is below a hundredth of a second."""
        return self.sessions * self.times / self.elapsed if self.elapsed else None

    @property
    def sentence(self) -> str:
        """Return a sentence with the time, the rate, and the largest waits."""
        count = self.sessions * self.times
        work = self.work if count > 1 else self.work[:-1]
        said = f"{count:,} {work} by {counted(self.sessions, 'session')} in {self.elapsed:,.2f} s"
        said += f", {self.rate:,.0f} a second" if self.rate is not None else ""
        for event, (waits, micros) in list(self.waits.items())[:2]:
            said += f"; {event}: {waits:,} waits of {micros / waits:,.0f} µs on average"
        return said

    @property
    def text(self) -> str:
        """Return the text that :func:`read` can read."""
        lines = [f"{_HEAD} {self.work}", f"sessions {self.sessions}", f"each {self.times}", f"keys {self.keys}"]
        lines += [f"took {seconds:.2f} s" for seconds in self.seconds]
        lines += [f"waits {waits} of {micros} us in all: {event}" for event, (waits, micros) in self.waits.items()]
        return "\n".join(lines) + "\n"


def driven(said: str, *, work: str, sessions: int, times: int, keys: int = 0) -> Driven | None:
    """Return the figures from the output of a load's sessions; None if a session has printed none."""
    seconds = [int(match[1]) / 100 for match in re.finditer(rf"^{SESSION} +(\d+)\s*$", said, re.MULTILINE)]
    if len(seconds) != sessions:
        return None
    found: dict[str, tuple[int, int]] = {}
    for match in re.finditer(rf"^{WAITS} +(\d+) (\d+) (.+?)\s*$", said, re.MULTILINE):
        waits, micros = found.get(match[3], (0, 0))
        found[match[3]] = waits + int(match[1]), micros + int(match[2])
    order = sorted((event for event in found if found[event][0]), key=lambda event: -found[event][1])
    return Driven(
        work=work,
        sessions=sessions,
        times=times,
        keys=keys,
        seconds=tuple(seconds),
        waits={event: found[event] for event in order},
    )


def claims(text: str) -> bool:
    """Return whether a text is in the format of ``drive``."""
    return text.startswith(f"{_HEAD} ")


def read(text: str, source: str) -> Run:
    """Return a point for the work done, at the number of sessions, and one for each event that they waited for.

    Raises:
        UnreadableError: the text is incomplete, or was changed.
    """
    head = re.match(rf"{_HEAD} (\S+)\nsessions (\d+)\neach (\d+)\nkeys (\d+)\n", text)
    seconds = tuple(float(match[1]) for match in re.finditer(r"^took (\d+(?:\.\d+)?) s$", text, re.MULTILINE))
    if head is None or head[1] not in _WORKS or len(seconds) != int(head[2]):
        raise UnreadableError(f"{source}: the result of drive is not complete in it")
    waits = {
        match[3]: (int(match[1]), int(match[2]))
        for match in re.finditer(r"^waits (\d+) of (\d+) us in all: (.+)$", text, re.MULTILINE)
    }
    found = Driven(
        work=head[1], sessions=int(head[2]), times=int(head[3]), keys=int(head[4]), seconds=seconds, waits=waits
    )
    return Run(
        kind=KIND,
        form=found.work,
        source=source,
        load="sessions",
        points=tuple(_points(found)),
        same={"work": found.work, **({"keys": f"{found.keys:,}"} if found.keys else {})},
    )


def _points(found: Driven) -> list[Point]:
    figures = {"elapsedS": found.elapsed}
    if found.rate is not None:
        figures = {"donePerS": found.rate, **figures}
    waits, micros = found.waits.get(_WORKS[found.work], (0, 0))
    weights = {}
    if waits:
        figures["averageUs"], weights["averageUs"] = micros / waits, float(waits)
    load = float(found.sessions)
    points = [Point(series=found.work, load=load, figures=figures, seconds=found.elapsed or None, weights=weights)]
    for event, (waits, micros) in found.waits.items():
        average = {"averageUs": micros / waits} if waits else {}
        told = {"waits": float(waits), **average, "totalS": micros / 1e6}
        points.append(Point(series=event, load=load, figures=told))
    return points
