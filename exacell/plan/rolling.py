"""Make a plan roll: its cells in waves, a gate before each. Pure.

A plan whose steps take grid disks offline always touches one failure group at a time: on Exadata each cell is one.
Source: reference asm.md section 2 (a grid disk's failure group is its cell); cellcli.md 6.5.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from exacell.core.errors import RefusedError
from exacell.core.values import dataclass, replace
from exacell.plan.model import GATE_WITHIN, Gate, Plan, Rolling, Stage, Step


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The flags about rolling that were given with the statement.

    Attributes:
        size: cells per wave; 0 for all at once, without rolling; None if not given.
        canary: the cell that goes first, alone; empty for none.
        pause: seconds between waves; None if not given.
        ask: ask before each further wave.
        on_error: ``stop`` or ``continue``; empty if not given.
        within: seconds to wait for a closed gate; None means the default.
        not_after: the moment after which no wave begins, ISO 8601; empty if not given.
        gently: the flags come from an earlier statement: a plan that can't roll is carried out together, with a note.
    """

    size: int | None = None
    canary: str = ""
    pause: float | None = None
    ask: bool = False
    on_error: str = ""
    within: float | None = None
    not_after: str = ""
    gently: bool = False


@dataclass(frozen=True, kw_only=True)
class Lap:
    """A part of a plan that is carried out in one go; ``wave`` counts from 1, 0 means outside of the waves."""

    wave: int
    cells: tuple[str, ...]
    stages: tuple[Stage, ...]


_JUST_PAST = timedelta(hours=6)
"""A time of day no longer ago than this counts as missed, not as a time of the next day."""


def moment(text: str, now: datetime) -> str:
    """Return the moment of ``05:00`` (the next one) or ``2026-11-25 05:00``, ISO 8601 with the offset of ``now``.

    Raises:
        RefusedError: it is not a time, or it is past already.
    """
    what = f"--not-after={text}"
    try:
        if re.fullmatch(r"\d{1,2}:\d\d", text):
            hour, minute = map(int, text.split(":"))
            found = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
            if found <= now - _JUST_PAST:
                found += timedelta(days=1)
        else:
            found = datetime.fromisoformat(text)
            found = found if found.tzinfo is not None else found.replace(tzinfo=now.tzinfo)
    except ValueError as error:
        raise RefusedError(f"{what}: give a time of day, or a date with a time: 05:00, '2026-11-25 05:00'") from error
    if found <= now:
        raise RefusedError(
            f"{what} is in the past: it is {now:%Y-%m-%d %H:%M}; nothing was sent",
            hint=f"for the next day, give the date too: --not-after='{now + timedelta(days=1):%Y-%m-%d} {found:%H:%M}'",
        )
    return found.isoformat(timespec="minutes")


def takes_offline(plan: Plan) -> tuple[str, ...]:
    """Return the cells on which a step takes grid disks offline that ASM uses."""
    return tuple(dict.fromkeys(step.target for step in plan.steps if step.offline))


def why_not(plan: Plan) -> str:
    """Return why a plan can't roll; empty if it can."""
    places = [place for place, stage in enumerate(plan.stages) if _on_cells(stage)]
    if not places:
        return "it changes nothing on cells"
    between = next((s for s in plan.stages[places[0] : places[-1] + 1] if s.steps and not _on_cells(s)), None)
    if between is not None:
        return f"'{between.title}' runs on database nodes between the stages of the cells"
    caching: dict[tuple[str, str], bool] = {}
    online: dict[str, bool] = {}
    for step in (s for stage in plan.stages if stage.gate is not Gate.MEND for s in stage.steps):
        if step.caching_off or step.caching_on:
            caching[step.target, step.cache] = step.caching_on
        if step.offline or step.online:
            online[step.target] = step.online
    if not all(caching.values()):
        return "it leaves caching off, so no gate would open for the next cells"
    if not all(online.values()):
        return "it leaves disks offline, so no gate would open for the next cells"
    return ""


def _on_cells(stage: Stage) -> bool:
    return bool(stage.steps) and not any(step.kind.shared for step in stage.steps)


def roll(
    plan: Plan,
    asked: Asked,
    *,
    rack_cells: Sequence[str],
    clusters: Sequence[str] = (),
    production: bool = False,
    first: Collection[str] = (),
) -> Plan:
    """Return the plan with its cells in waves; unchanged if neither the flags nor the rack nor the plan demand waves.

    Args:
        rack_cells: all cells of the rack; a gate checks each.
        clusters: all ASM clusters of the rack.
        production: the rack rolls one cell at a time unless the flags say otherwise.
        first: cells that must go before the others because they hold gates closed, for example with disks that are offline.

    Raises:
        RefusedError: the flags are not possible with this plan; names the reason.
    """
    cells = tuple(dict.fromkeys(step.target for stage in plan.stages if _on_cells(stage) for step in stage.steps))
    offline = takes_offline(plan)
    wants = asked.size not in (None, 0) or bool(asked.canary)
    if not cells and not wants:
        return plan
    _refuse_together(plan, asked, offline)
    # A single cell that goes offline also forms a wave: its gate must be open.
    gated = any(step.offline and not step.forced for step in plan.steps)
    size = asked.size if asked.size else 1 if gated or (production and asked.size is None) else 0
    if asked.canary and asked.canary not in cells:
        raise RefusedError(
            f"{plan.statement}: the canary {asked.canary} is not one of the cells that it changes; nothing was sent",
            hint="they are: " + ", ".join(cells[:12]) + (" …" if len(cells) > 12 else ""),
        )
    if not size and not asked.canary:
        if not asked.gently:
            _refuse_idle(plan, asked)
        return plan
    # No other cell has to wait for the state that a single cell leaves.
    reason = why_not(plan) if len(cells) != 1 else ""
    if reason:
        if (wants and not asked.gently) or len(offline) > 1:
            raise RefusedError(
                f"{plan.statement}: it can't roll: {reason}; nothing was sent",
                hint="change one cell at a time: `on CELL …`"
                if len(offline) > 1
                else "--no-rolling changes all cells together",
            )
        return replace(plan, warnings=(*plan.warnings, f"not rolled, all cells together: {reason}"))
    rolling = Rolling(
        waves=in_turns(cells, size or len(cells), canary=asked.canary, first=first, alone=bool(offline)),
        canary=asked.canary,
        pause=asked.pause or 0.0,
        ask=asked.ask,
        go_on=asked.on_error == "continue",
        others=tuple(rack_cells),
        clusters=tuple(clusters),
        within=GATE_WITHIN if asked.within is None else asked.within,
        not_after=asked.not_after,
    )
    return replace(plan, rolling=rolling)


def _refuse_together(plan: Plan, asked: Asked, offline: Sequence[str]) -> None:
    """Raise RefusedError if several failure groups would go offline at once; no flag allows that."""
    if len(offline) < 2 or asked.size in (None, 1):
        return
    said = "all cells together" if asked.size == 0 else f"{asked.size} cells at a time"
    raise RefusedError(
        f"{plan.statement}: {said} would take disks of several failure groups offline at once (each cell is one); "
        "nothing was sent",
        hint="--rolling takes one cell at a time",
    )


def _refuse_idle(plan: Plan, asked: Asked) -> None:
    given = [
        name
        for name, value in (
            ("pause", asked.pause or asked.ask),
            ("on-error", asked.on_error),
            ("not-after", asked.not_after),
        )
        if value and len(plan.targets) > 1
    ]
    if given:
        raise RefusedError(
            f"{plan.statement}: --{given[0]} is for waves, but all cells change together",
            hint="add --rolling or --canary=CELL",
        )


def in_turns(
    cells: Sequence[str], size: int, *, canary: str = "", first: Collection[str] = (), alone: bool = False
) -> tuple[tuple[str, ...], ...]:
    """Return the waves: the canary, then the first cells, then the others.

    A first cell never shares a wave with another cell: its repair (CREATE FLASHCACHE) would wait for the flush of the others.
    The first cells go together, even if small waves were asked for: each would keep the gate of the others closed for good. With
    ``alone`` they go in small waves, because disks go offline.
    """
    rest = [cell for cell in cells if cell != canary]
    holding, others = [cell for cell in rest if cell in first], [cell for cell in rest if cell not in first]
    parts = ((holding, size if alone else max(len(holding), 1)), (others, size))
    waves = [tuple(part[place : place + most]) for part, most in parts for place in range(0, len(part), most)]
    return ((canary,), *waves) if canary else tuple(waves)


def laps(plan: Plan) -> Iterator[Lap]:
    """Yield the parts of a plan in the order in which they are carried out, with their mending stages.

    Without waves there is one lap with all stages. Else: the first work on nodes; each wave through all of the cells' stages; the
    later work on nodes.
    """
    if plan.rolling is None:
        yield Lap(wave=0, cells=(), stages=plan.stages)
        return
    places = [place for place, stage in enumerate(plan.stages) if _on_cells(stage)]
    before = plan.stages[: places[0]]
    # A mending stage of the nodes, between or after the cells' stages, is judged by the whole plan.
    after = tuple(s for s in plan.stages[places[0] :] if not _on_cells(s))
    if before:
        yield Lap(wave=0, cells=(), stages=before)
    for number, wave in enumerate(plan.rolling.waves, 1):
        stages = tuple(
            replace(plan.stages[place], steps=steps)
            for place in places
            if (steps := tuple(step for step in plan.stages[place].steps if step.target in wave))
        )
        yield Lap(wave=number, cells=wave, stages=stages)
    if after:
        yield Lap(wave=0, cells=(), stages=after)


def flags_again(rolling: Rolling | None) -> dict[str, Any]:
    """Return the flags of a plan's rolling, to do the rest of it in the same way; empty if it did not roll."""
    if rolling is None:
        return {}
    flags: dict[str, Any] = {"rolling": max(len(wave) for wave in rolling.waves), "timeout": rolling.within}
    if rolling.ask:
        flags["pause"] = "ask"
    elif rolling.pause:
        flags["pause"] = float(rolling.pause)
    if rolling.go_on:
        flags["on-error"] = "continue"
    return flags


def manner_again(rolling: Rolling | None, steps: Iterable[Step]) -> dict[str, Any]:
    """Return the flags for the rest of a plan, so that it goes as it was confirmed: in waves, or all cells together.

    A plan for one cell does not show how several take turns.

    Args:
        rolling: how it rolled; None if it did not.
        steps: all steps of the plan.
    """
    cells = {step.target for step in steps if not step.kind.shared}
    return {"no-rolling": True} if rolling is None and len(cells) > 1 else flags_again(rolling)


_TURNS: Mapping[str, frozenset[str]] = {
    "rolling": frozenset({"no-rolling"}),
    "canary": frozenset({"no-rolling"}),
    "pause": frozenset({"no-rolling"}),
    "not-after": frozenset({"no-rolling"}),
    "on-error": frozenset({"no-rolling"}),
    "no-rolling": frozenset({"rolling", "canary"}),
}
"""By remembered flag, the new flags that replace it because they contradict it."""


def with_given(remembered: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the remembered flags together with those given now, which have priority."""
    said = {name for name, value in given.items() if value not in (None, False)}
    return {**{name: value for name, value in remembered.items() if not _TURNS.get(name, frozenset()) & said}, **given}
