"""Wait at the gate between two waves of a rolled plan: read again, judge by plan.gate, and show why it is closed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from functools import partial

from exacell.change.following import Board, Times
from exacell.core.background import unless_interrupted
from exacell.core.cellset import fold
from exacell.core.errors import ExacellError
from exacell.core.units import counted, format_duration
from exacell.core.values import dataclass
from exacell.output.console import Console
from exacell.plan import facts as f
from exacell.plan.gate import GATE_FACTS, Closed, closed, spoken, unmounted
from exacell.plan.model import Rolling
from exacell.session.asm import AsmClient
from exacell.session.fleet import Fleet

LEFT_ALONE = 60.0
"""Seconds to wait for a gate that is closed only because earlier waves left caches off. In this time a statement whose answer
was lost may still switch one on."""


LEAST_LOOK = 10.0
"""Seconds that a cell always gets for an answer, even if less time is left: attributes that come from ASM are slow."""


@dataclass(frozen=True, kw_only=True)
class Passage:
    """The result of waiting at a gate.

    Attributes:
        open: the wave may begin.
        reason: why it may not, one line; empty if it may.
        interrupted: the user ended the wait.
        waited: seconds.
        met: why the gate was closed at first, one line; empty if it was open at once.
    """

    open: bool
    reason: str = ""
    interrupted: bool = False
    waited: float = 0.0
    met: str = ""


class Gatekeeper:
    """Decides whether waves may begin, and waits for their gates."""

    def __init__(self, fleet: Fleet, asm: Mapping[str, AsmClient], console: Console, times: Times) -> None:
        self._fleet = fleet
        self._asm = asm
        self._console = console
        self._poll = times.poll
        self._cancel = times.cancel
        self._pause = times.pause
        self._clock = times.clock
        self._read_timeout = times.read_timeout
        self._wall = times.wall
        self._passing = times.passing
        self._last = (float("inf"), float("inf"))

    def close_at(self, moment: str) -> None:
        """Let no wave begin after ``moment``, ISO 8601; empty means no limit.

        Both clocks count, so that setting back the host's time does not make the window longer.
        """
        if moment:
            ends = datetime.fromisoformat(moment).timestamp()
            self._last = (ends, self._passing() + ends - self._wall())

    def _over(self, number: int, waited: float, met: str) -> Passage | None:
        """Return the Passage that ends the wait if it is too late for wave ``number``; else None."""
        ends, passing = self._last
        if self._wall() < ends and self._passing() < passing:
            return None
        last = datetime.fromtimestamp(ends).astimezone()
        reason = f"no wave begins after {last:%Y-%m-%d %H:%M} (--not-after): stopped before wave {number}"
        return Passage(open=False, reason=reason, interrupted=True, waited=waited, met=met)

    def wait(
        self, rolling: Rolling, number: int, *, offline: bool, cached: Collection[str] = (), others: str = ""
    ) -> Passage:
        """Wait until the gate before wave ``number`` is open or stays closed; return the Passage.

        The wait ends after ``rolling.within`` seconds, and earlier if waiting can't open the gate: the lock is not held for a
        cell that only a statement can repair. The last look is the first one that begins after that time, so that a late
        answer does not reduce the wait to a single look. A look waits for a cell no longer than the remaining time, and an
        interruption ends it.
        """
        wave, of = rolling.waves[number - 1], len(rolling.waves)
        title = f"gate before wave {number} of {of}"
        board: Board | None = None
        began, waited, met = self._clock(), 0.0, ""
        alone: float | None = None
        while not self._cancel.is_set():
            waited = self._clock() - began
            if late := self._over(number, waited, met):
                return late
            seconds = min(self._read_timeout, max(rolling.within - waited, LEAST_LOOK))
            look = partial(self._look, rolling.others, wave, rolling, offline=offline, cached=cached, seconds=seconds)
            reasons = unless_interrupted(look, self._cancel)
            if reasons is None:
                break
            if not reasons:
                return self._over(number, waited, met) or Passage(open=True, waited=waited, met=met)
            met = met or spoken(reasons)
            if not all(item.ours for item in reasons):
                alone = None
            elif alone is None:
                alone = waited
            elif waited - alone >= LEFT_ALONE:
                text = f"the gate before wave {number} is closed, and waiting does not help: {spoken(reasons)}"
                return Passage(open=False, reason=text, waited=waited, met=met)
            if waited >= rolling.within:
                text = f"the gate before wave {number} stayed closed for {format_duration(rolling.within)}: "
                return Passage(open=False, reason=text + spoken(reasons), waited=waited, met=met)
            states = {item.target: f"waiting: {item.reason}" for item in reasons}
            if board is None:
                board = Board(self._console, title, number, of, tuple(states), others=others)
            board.only(states)
            self._pause(self._cancel, self._poll)
        waited = self._clock() - began
        return Passage(open=False, reason=f"interrupted at the {title}", interrupted=True, waited=waited, met=met)

    def linger(self, rolling: Rolling, number: int, ask: Callable[[str], bool | None], *, others: str = "") -> Passage:
        """Pause between two waves, or ask whether wave ``number`` may begin, if the user wanted that.

        Args:
            others: the state of the other waves' cells, shown with the question.
        """
        wave = rolling.waves[number - 1]
        if rolling.ask:
            answer = ask(f"{others}; now wave {number} of {len(rolling.waves)} on {fold(wave)}: continue?")
            if answer:
                return Passage(open=True)
            why = "there is no terminal for the question" if answer is None else "you said no"
            why = "interrupted" if self._cancel.is_set() else why
            return Passage(open=False, reason=f"{why} before wave {number}", interrupted=True)
        waited = 0.0
        while waited < rolling.pause and not self._cancel.is_set() and not self._over(number, waited, ""):
            left = format_duration(rolling.pause - waited)
            title = f"pause before wave {number} of {len(rolling.waves)}"
            Board(self._console, title, number, len(rolling.waves), wave, f"begins in {left}", others)
            step = min(self._poll, rolling.pause - waited)
            self._pause(self._cancel, step)
            waited += step
        return Passage(open=True, waited=waited)

    def _look(
        self,
        cells: Collection[str],
        wave: Collection[str],
        rolling: Rolling,
        *,
        offline: bool,
        cached: Collection[str],
        seconds: float,
    ) -> tuple[Closed, ...]:
        answers = self._fleet.query(tuple(cells), GATE_FACTS, timeout=seconds)
        silent = [
            Closed(target=cell, reason=f"no answer: {answer.problem}")
            for cell, answer in answers.answers.items()
            if answer.problem
        ]
        facts = {cell: f.build(cell, GATE_FACTS, answer.tables) for cell, answer in answers.good.items()}
        lost = unmounted(facts)
        busy = []
        for name in rolling.clusters:
            try:
                known = self._asm[name].facts(timeout=seconds)
            except ExacellError as error:
                busy.append(Closed(target=f"ASM {name}", reason=error.message))
                continue
            gone = [group.name for group in known.groups if group.name in lost and group.state == "DISMOUNTED"]
            if gone:
                mend = f'sql asm "alter diskgroup {gone[0]} mount"'
                busy.append(Closed(target=f"ASM {name}", reason=f"{', '.join(gone)} not mounted on any node: {mend}"))
            elif known.operations:
                reason = f"{counted(known.operations, 'operation')} in gv$asm_operation"
                busy.append(Closed(target=f"ASM {name}", reason=reason))
        return (*silent, *busy, *closed(facts, wave, offline=offline, cached=cached))
