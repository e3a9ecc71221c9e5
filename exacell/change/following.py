"""Follow work that takes long and show its progress: flushes until each is proven, proofs until they hold.

The progress display shows, for one stage, a phrase and a fraction per target.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic, time

from exacell.change.running import Outcome, Report, StepResult
from exacell.change.targets.base import NO_ANSWER
from exacell.core.background import unless_interrupted, uptime
from exacell.core.units import format_duration
from exacell.core.values import dataclass
from exacell.output.console import Console, Progress
from exacell.plan import facts as f
from exacell.plan.model import Check, Step
from exacell.plan.watch import METERS, FlushState, FlushWatch
from exacell.session.answers import Answer
from exacell.session.fleet import Fleet


class Board:
    """Collects the states of one stage's targets and shows them after each change; may be called from any thread."""

    def __init__(
        self,
        console: Console,
        title: str,
        number: int,
        of: int,
        targets: Sequence[str],
        state: str = "checking",
        others: str = "",
    ) -> None:
        self._console = console
        self._title, self._number, self._of = title, number, of
        self._states = dict.fromkeys(targets, state)
        self._fraction: dict[str, float] = {}
        self._eta: dict[str, float] = {}
        self._others = others
        self._lock = threading.RLock()
        self._show()

    def set(self, target: str, phrase: str, fraction: float | None = None, eta: float | None = None) -> None:
        """Show ``phrase`` for a target.

        Args:
            fraction: 0 to 1; None keeps the last one.
            eta: seconds until the target may be done; None if that is not known any more.
        """
        with self._lock:
            self._states[target] = phrase
            if fraction is not None:
                self._fraction[target] = fraction
            if eta is None:
                self._eta.pop(target, None)
            else:
                self._eta[target] = eta
            self._show()

    def set_all(self, targets: Mapping[str, object], phrase: str) -> None:
        """Show the same phrase for several targets."""
        with self._lock:
            for target in targets:
                self._states[target] = phrase
            self._show()

    def only(self, states: Mapping[str, str]) -> None:
        """Show these targets and no others."""
        with self._lock:
            self._states = dict(states)
            self._fraction, self._eta = {}, {}
            self._show()

    def _show(self) -> None:
        self._console.progress(
            Progress(
                stage=self._title,
                number=self._number,
                of=self._of,
                states=dict(self._states),
                fraction=dict(self._fraction),
                eta=max(self._eta.values(), default=None),
                others=self._others,
            )
        )


LOST_POLLS = 180
"""Number of poll intervals that a cell may be silent before a flush without a limit counts as lost. At five seconds each
this is a quarter of an hour, in which a cell or its Management Server restarts. A flush with a limit is followed until then."""

FEW_LOOKS = 3
"""Number of looks in a row that must also stay without an answer: with short polls one slow read is not yet silence."""

PATIENT = 60.0
"""A proof that may take longer than this many seconds can be interrupted."""

_STATEMENTS = {
    "flashcache": [f.FLASHCACHE, f.CELLDISK, f.FLASH_METRICS],
    "pmemcache": [f.PMEMCACHE, f.CELLDISK, f.PMEM_METRICS],
    "xrmemcache": [f.XRMEMCACHE, f.CELLDISK, f.XRMEM_METRICS],
}
"""By cache, the statement that shows how far a flush is."""

Pause = Callable[[threading.Event, float], object]
Probe = Callable[[Mapping[str, tuple[Step, Sequence[Check]]], threading.Event | None], dict[str, dict[int, str]]]
"""Returns, per target, the checks that fail; once the event is set, it no longer waits for silent targets."""


def wait_or_event(event: threading.Event, seconds: float) -> bool:
    """Return whether the event was set within so many seconds."""
    return event.wait(seconds)


@dataclass(frozen=True, kw_only=True)
class Times:
    """How long a change waits, and by which clocks; tests pass their own.

    Attributes:
        poll: seconds between two looks.
        cancel: set when the user interrupts the wait.
        write_timeout: seconds within which a changing statement must be answered.
        read_timeout: seconds that a look may take if no limit is nearer.
        pause: waits so many seconds, or until the event is set.
        clock: returns seconds, for limits.
        passing: returns seconds that no change of the host's time affects; they pass also while the host sleeps or the
            process is stopped.
        wall: returns this host's time in epoch seconds.
    """

    poll: float
    cancel: threading.Event
    write_timeout: float = 900.0
    read_timeout: float = 60.0
    pause: Pause = wait_or_event
    clock: Callable[[], float] = monotonic
    passing: Callable[[], float] = uptime
    wall: Callable[[], float] = time


class Follower:
    """Looks again and again until started work has ended."""

    def __init__(self, fleet: Fleet, times: Times) -> None:
        self._fleet = fleet
        self._poll = times.poll
        self._cancel = times.cancel
        self._pause = times.pause
        self._clock = times.clock

    def flushes(self, steps: Sequence[Step], board: Board, report: Report) -> dict[str, StepResult]:
        """Wait until each flush is proven or can't finish; Ctrl-C ends the waiting, not the flush."""
        watches = {step.target: FlushWatch(meter=METERS[step.cache]) for step in steps}
        by_target = {step.target: step for step in steps}
        silent: dict[str, float] = {}
        missed = dict.fromkeys(watches, 0)
        ended: dict[str, StepResult] = {}
        began = self._clock()

        def end(cell: str, outcome: Outcome, reason: str = "") -> None:
            ended[cell] = StepResult(step=by_target[cell], outcome=outcome, reason=reason)

        while open_cells := [cell for cell in watches if cell not in ended]:
            if self._cancel.is_set():
                for cell in open_cells:
                    end(cell, Outcome.FAILED, "interrupted")
                report.interrupted = True
                break
            looked = self._clock()
            found = unless_interrupted(
                partial(self._look, {cell: by_target[cell].cache for cell in open_cells}), self._cancel
            )
            if found is None:
                continue  # The next round shows it.
            answers = found
            for cell in open_cells:
                answer, limit, mute = answers[cell], by_target[cell].limit, ""
                if answer.problem:
                    silence = self._clock() - silent.setdefault(cell, looked)
                    mute = f"silent for {format_duration(silence)}: {answer.problem}"
                    missed[cell] += 1
                    board.set(cell, f"{mute}; its flush continues, but exacell can't see it")
                    if limit is None and silence >= LOST_POLLS * self._poll and missed[cell] >= FEW_LOOKS:
                        end(cell, Outcome.UNKNOWN, mute)
                else:
                    silent.pop(cell, None)
                    missed[cell] = 0
                    cache = by_target[cell].cache
                    state = _feed(watches[cell], cache, f.build(cell, _STATEMENTS[cache], answer.tables), self._clock())
                    report.flushed[cell] = state
                    board.set(cell, state.phrase, state.fraction, state.eta)
                    if state.failed:
                        end(cell, Outcome.FAILED, state.failed)
                    elif state.done:
                        end(cell, Outcome.DONE)
                if cell not in ended and limit is not None and looked - began >= limit:
                    within = f"within {format_duration(limit)} (--limit)"
                    if mute:
                        end(cell, Outcome.UNKNOWN, f"exacell did not see it flushed {within}; {mute}")
                    else:
                        end(cell, Outcome.FAILED, f"not flushed {within}")
            if len(ended) < len(watches):
                self._pause(self._cancel, self._poll)
        return ended

    def _look(self, caches: Mapping[str, str]) -> dict[str, Answer]:
        """Return each cell's answer about its flushed cache; ``caches`` is cell → cache."""
        found: dict[str, Answer] = {}
        for cache in dict.fromkeys(caches.values()):
            cells = [cell for cell, its in caches.items() if its == cache]
            found |= self._fleet.query(cells, _STATEMENTS[cache]).answers
        return found

    def proofs(
        self,
        results: Sequence[StepResult],
        board: Board,
        report: Report,
        probe: Probe,
        far: Callable[[Step], tuple[str, float, float] | None] = lambda step: None,
    ) -> list[StepResult]:
        """Read back until the wanted state is there; this also decides the outcome of statements without an answer.

        A short proof is always waited for. A proof that may take longer than PATIENT seconds ends with an interruption, even
        in the middle of a look. The last look is the first one that begins after the time is over, so that no target fails
        because another one answered late.

        Args:
            far: returns the progress of the work that a step waits for: in words, 0 to 1, seconds left; None if unknown.
        """
        final = {r.step.target: r for r in results}
        open_steps = [r.step for r in results if r.outcome in (Outcome.DONE, Outcome.UNKNOWN) and r.step.proves]
        began = self._clock()
        hopeless: dict[str, float] = {}
        board.set_all({s.target: "" for s in open_steps}, "verifying")
        while open_steps:
            waited = self._clock() - began
            patient = all(step.within > PATIENT for step in open_steps)
            looked_at = {step.target: (step, (*step.proves, *step.hopes)) for step in open_steps}
            failures = probe(looked_at, self._cancel if patient else None)
            still = []
            for step in open_steps:
                before, failed = final[step.target], failures[step.target]
                stopped = self._cancel.is_set() and step.within > PATIENT
                lost = [why for place, why in failed.items() if place >= len(step.proves)]
                since = hopeless.setdefault(step.target, waited) if lost else waited
                if not lost:
                    hopeless.pop(step.target, None)
                if not any(place < len(step.proves) for place in failed):
                    final[step.target] = _with(before, Outcome.DONE)
                elif waited >= step.within or stopped or waited - since >= PATIENT:
                    why = next(iter(lost or failed.values()))
                    text = f"{before.reason}; {why}" if before.reason else f"reading back: {why}"
                    unsure = stopped or before.outcome is Outcome.UNKNOWN or NO_ANSWER in failed
                    report.interrupted = report.interrupted or stopped
                    text = f"interrupted while waiting; {why}" if stopped else text
                    final[step.target] = _with(before, Outcome.UNKNOWN if unsure else Outcome.FAILED, text)
                else:
                    still.append(step)
                    if step.within > PATIENT:
                        why, done, left = far(step) or (next(iter(failed.values())), None, None)
                        board.set(step.target, f"waiting: {why}", done, left)
            open_steps = still
            if open_steps:
                patient = all(step.within > PATIENT for step in open_steps)
                self._pause(self._cancel if patient else threading.Event(), self._poll)
        return [final[r.step.target] for r in results]


def _with(before: StepResult, outcome: Outcome, reason: str = "") -> StepResult:
    return replace(before, outcome=outcome, reason=reason)


def _feed(watch: FlushWatch, cache: str, fact: f.CellFacts, now: float) -> FlushState:
    flash = cache == "flashcache"
    found = fact.flash_cache if flash else fact.pmem_cache
    disks = fact.flash_disks if flash else tuple(disk for disk in fact.cell_disks if disk.pmem)
    return watch.feed(
        status=found.status if found else "",
        disks=[{"name": d.name, "flushStatus": d.flush_status, "flushError": d.flush_error} for d in disks],
        metrics=fact.metrics or {},
        now=now,
    )
