"""Form the waves of a recipe's rolling: the cells or hosts of each wave, fixed before the plan, and the gate before each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from exacell.change.changing import asked
from exacell.change.execute import for_hosts
from exacell.change.following import Times
from exacell.change.gatekeeper import Gatekeeper, Passage
from exacell.core.cellset import CellSet, fold
from exacell.core.errors import ExitCode, InterruptedByUserError, RecipeError, RefusedError
from exacell.core.values import dataclass
from exacell.language.registry import Effect
from exacell.plan import facts as f
from exacell.plan.gate import GATE_FACTS, first_cells, offline_cells
from exacell.plan.model import GATE_WITHIN, Rolling
from exacell.plan.rolling import Asked, in_turns
from exacell.recipes.rolling import WAVE, WITHIN_ROLLING, WITHIN_ROLLING_HINT
from exacell.session.given import Request, Services, Session
from exacell.session.wherecells import cells_of

if TYPE_CHECKING:
    from exacell.language.line import Line
    from exacell.language.registry import Value
    from exacell.recipes.parsing import RecipeLine
    from exacell.recipes.rolling import Turns


@dataclass(frozen=True, kw_only=True)
class Wave:
    """One wave of a rolling.

    Attributes:
        line: the line of the recipe on which the rolling begins.
        number: from 1.
        all: the cells, or hosts, of every wave.
    """

    line: int
    number: int
    all: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        return f"wave {self.number} of {len(self.all)}"

    @property
    def targets(self) -> tuple[str, ...]:
        """Return the cells or hosts of this wave."""
        return self.all[self.number - 1]

    @property
    def before(self) -> tuple[str, ...]:
        """Return the cells or hosts of the waves before it."""
        return tuple(name for wave in self.all[: self.number - 1] for name in wave)

    @property
    def after(self) -> tuple[str, ...]:
        """Return the cells or hosts of the waves after it."""
        return tuple(name for wave in self.all[self.number :] for name in wave)


class Targets:
    """The cells and hosts of the lines of one recipe, if waves depend on them.

    Args:
        on: the ON of the line that runs the recipe; empty for none.
        rolled: that line belongs to a rolling.
        kept: the sets that were fixed when the run began; nothing is asked then. None for a run that begins.
    """

    def __init__(
        self,
        session: Session,
        services: Services,
        request: Request,
        *,
        on: str = "",
        rolled: bool = False,
        kept: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self._session, self._services, self._request = session, services, request
        self._on, self._rolled = on, rolled
        self._begins = kept is None
        self.settled = dict(kept or {})
        """Line of the recipe → its cells or hosts each time it is written out; those of each wave if a rolling begins there."""
        self._seen: Counter[str] = Counter()
        self._waves: dict[int, tuple[tuple[str, ...], ...]] = {}

    def waves(self, turns: Turns, most: int, on: str) -> int:
        """Return how many waves a rolling has.

        Args:
            most: cells in a wave.
            on: the cells that its ON names; empty for none.

        Raises:
            RecipeError: a line of another rolling runs this recipe.
            CellSetError: there is no cell, or one is not in the rack.
        """
        if self._rolled:
            raise RecipeError(WITHIN_ROLLING.format("rolling"), hint=WITHIN_ROLLING_HINT)
        if self._begins:
            made = self._made(self._set(on or self._on), most)
            self.settled[str(turns.number)] = tuple(fold(wave) for wave in made)
        found = tuple(tuple(CellSet.parse(text)) for text in self.settled[str(turns.number)])
        self._waves[turns.number] = found
        return len(found)

    def _set(self, on: str) -> CellSet:
        session = self._session
        named = cells_of(session, self._services, on, strict=True)
        with session.selection.on(named):  # This refuses unknown names, and cells mixed with hosts.
            return session.selection.hosts or session.selection.now

    def _made(self, chosen: CellSet, most: int) -> tuple[tuple[str, ...], ...]:
        """Return the waves in the order of a rolled change: cells that hold gates closed go first."""
        if self._are_hosts(chosen):
            return in_turns(tuple(chosen), most)
        answers = self._services.query(*GATE_FACTS, timeout=self._request.read_timeout, cells=tuple(chosen))
        facts = {cell: f.build(cell, GATE_FACTS, answer.tables) for cell, answer in answers.good.items()}
        away = bool(offline_cells(facts))
        return in_turns(tuple(chosen), most, first=first_cells(facts), alone=away)

    def _are_hosts(self, chosen: CellSet) -> bool:
        return bool(len(chosen & CellSet(self._session.need_rack().host_names)))

    def in_use(self) -> AbstractContextManager[None]:
        """Return a context in which the cells that the recipe runs for are selected."""
        named = self._set(self._on) if self._on else CellSet()
        return self._session.selection.on("" if self._are_hosts(named) else str(named))

    def wave(self, source: RecipeLine, values: Mapping[str, Value]) -> Wave | None:
        """Return the wave in which this copy of a line runs; None if the line is not in a rolling block."""
        if source.turns is None:
            return None
        number = int(str(values[WAVE.name]))
        return Wave(line=source.turns.number, number=number, all=self._waves[source.turns.number])

    def line(self, source: RecipeLine, line: Line, wave: Wave | None) -> Line | None:
        """Return a line with its cells or hosts; None if no cell or host of it is in its wave.

        Raises:
            RecipeError: it changes cells, and its wave has hosts.
            CellSetError: a cell is not in the rack.
        """
        within = CellSet(wave.targets) if wave is not None else self._set(self._on) if self._rolled else None
        words = line.call.command.words if line.call is not None else ()
        if self._rolled and words == ("experiment",):
            raise RecipeError(WITHIN_ROLLING.format("experiment"), hint=WITHIN_ROLLING_HINT)
        if not line.on:
            return self._sent(line, within if within is not None else self._set(self._on) if self._on else None)
        if within is None and words != ("run",):
            return line
        number = str(source.number)
        if self._begins:
            self.settled[number] = (*self.settled.get(number, ()), str(self._set(line.on)))
        own = CellSet.parse(self.settled[number][self._seen[number]])
        self._seen[number] += 1
        if within is not None and self._are_hosts(own) == self._are_hosts(within):
            own &= within
        return replace(line, on=str(own)) if len(own) else None

    def _sent(self, line: Line, within: CellSet | None) -> Line | None:
        call = line.call
        if within is None or (call is not None and call.command.words in _FOR_NOBODY):
            return line
        if not self._are_hosts(within) or for_hosts(line) or (call is not None and call.command.words == ("run",)):
            return replace(line, on=str(within))
        if line.effect is Effect.WRITE:
            what = call.command.name if call is not None else line.text
            raise RecipeError(
                f"{what} is for cells, but the waves are of hosts ({fold(within)})",
                hint="write `on CELLS` before it to choose the cells in each wave",
            )
        return line


_FOR_NOBODY = (("prompt",), ("confirm",), ("undo", "run"))
"""Commands that go to no cell."""


OF_WAVES = frozenset({"not-after", "pause", "timeout"})
"""Flags of ``run`` that hold for the waves of its rolling."""

KEPT_OF_WAVES = OF_WAVES - {"not-after"}
"""Those that also hold when the run is resumed; ``not-after`` does not, because it belongs to one night."""

_OF_CHANGES = ("rolling", "no-rolling", "canary", "on-error")
"""Flags of a change that a run does not have."""


TOGETHER = Asked()
"""The settings of waves if none were given."""


def asked_of_waves(session: Session, flags: Mapping[str, Value], *, rolls: bool) -> Asked:
    """Return the settings for waves from the flags of a run.

    Args:
        rolls: the run has waves.

    Raises:
        RefusedError: a flag has no meaning for this run, or a time is past; nothing was sent.
    """
    wrong = next((name for name in _OF_CHANGES if flags.get(name)), "")
    if wrong:
        raise RefusedError(
            f"--{wrong} is a flag for one change, but a run has many; nothing was sent",
            hint="write it after a statement of the recipe; for several lines, use rolling … end",
        )
    idle = next((name for name in ("not-after", "pause") if flags.get(name)), "")
    if idle and not rolls:
        raise RefusedError(
            f"--{idle} is for waves, but this recipe has no rolling block; nothing was sent",
            hint="add rolling … end to the recipe for waves",
        )
    return asked(session.options.over(flags))


def own_turns(outer: Asked, flags: Mapping[str, Value]) -> Asked:
    """Return the settings for the waves of an inner recipe: those of its line, else those of the run.

    If both have a last moment, the earlier one counts.

    Raises:
        RefusedError: its time is past.
    """
    own = asked(flags)
    paused = own if own.ask or own.pause is not None else outer
    return replace(
        outer,
        pause=paused.pause,
        ask=paused.ask,
        within=outer.within if own.within is None else own.within,
        not_after=min(filter(None, (own.not_after, outer.not_after)), key=datetime.fromisoformat, default=""),
    )


def pass_gate(session: Session, services: Services, wave: Wave, turns: Asked, *, unread: bool) -> None:
    """Wait until a wave may begin, under the rules for waves of a rolled change.

    Args:
        turns: the settings of the run's waves.
        unread: its cells get unreadable work, which may take disks offline.

    Raises:
        InterruptedByUserError: Ctrl-C, the answer was no, or it is too late for the wave.
        RecipeError: the gate stayed closed.
    """
    rack = session.need_rack()
    times = Times(
        poll=rack.poll, cancel=session.interrupted, read_timeout=rack.command_timeout or session.settings.timeout
    )
    asm = {name: services.asm(name) for name in rack.asm}
    keeper = Gatekeeper(services.fleet, asm, services.console, times)
    keeper.close_at(turns.not_after)
    rolling = Rolling(
        waves=wave.all, pause=turns.pause or 0.0, ask=turns.ask, others=rack.cells, clusters=tuple(rack.asm),
        within=GATE_WITHIN if turns.within is None else turns.within,
    )  # fmt: skip
    places = {"done": wave.before, "waiting": (*wave.targets, *wave.after)}
    others = "; ".join(f"{fold(names)} {word}" for word, names in places.items() if names)
    try:
        passage = Passage(open=True)
        if wave.number > 1:
            passage = keeper.linger(rolling, wave.number, services.console.confirm, others=others)
        if passage.open:
            passage = keeper.wait(rolling, wave.number, offline=unread, others=others)
    finally:
        services.console.progress(None)
    if passage.open:
        return
    if passage.interrupted:
        raise InterruptedByUserError(passage.reason)
    error = RecipeError(passage.reason)
    error.exit_code = ExitCode.FAILED
    raise error
