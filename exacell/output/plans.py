"""Show a whole plan: stages in order, equal targets once, values before and after, and the limits of undo. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

from exacell.cellcli.secrets import MASK, is_secret_name, masked
from exacell.core.cellset import folded_names, grouped
from exacell.core.units import counted, format_duration, format_size, parse_size
from exacell.output.folding import alike, folded, masker
from exacell.output.style import Page
from exacell.plan.guards.steps import all_taken_back
from exacell.plan.model import Gate, Plan, Risk, Rolling, Stage, Step, Undo
from exacell.plan.targets import ASM

_NARROWEST = 40
_UNKNOWN_WIDTH = 100
"""Columns if there is no terminal."""

_LONG_UNDO = 160
"""The longest undo, in characters, that a plan shows if it takes back everything."""

_RISK = {
    Risk.NONE: "nothing is lost and nothing gets slower",
    Risk.PERFORMANCE: "performance only: answers may be slower for a while",
    Risk.REDUNDANCY: "redundancy: a mirror may be missing for a while",
    Risk.DATA: "DATA WILL BE LOST",
    Risk.UNKNOWN: "UNKNOWN: exacell can't tell what may be lost",
}


_GROUP_GOES = "redundancy: a disk group goes away; no file of it is lost"
"""The text if only ASM is changed: dismounting and dropping a disk group takes no mirror from another one."""


def plan_lines(plan: Plan, *, width: int | None = None, color: bool = False) -> Iterator[str]:
    """Yield the lines that show ``plan``, wrapped at ``width`` columns (100 when it is None)."""
    columns = max(width or _UNKNOWN_WIDTH, _NARROWEST)
    page = Page(columns, color, deepest=columns // 3)
    where = f" on {plan.rack}" if plan.rack else ""
    yield from page.text(f"Plan{where}: {plan.statement}", "", style="title", after="    ")
    yield from _waves(plan, page)
    number = 0
    for stage in plan.stages:
        if stage.gate is Gate.MEND:
            yield from _mending(plan, stage, page)
            continue
        number += 1
        yield from page.text(stage.title, f"{number:2}. ", style="title")
        yield from _steps(stage, page)
    if not plan.stages:
        yield from page.text("Nothing to do.", "  ")
    yield from _reasons("Already as wanted", plan.done, page)
    yield from _reasons("Not applicable", plan.skipped, page)
    for note in plan.notes:
        yield from page.text(rounded(note), "  Note: ")
    for warning in plan.warnings:
        yield from page.text(rounded(warning), "  Warning: ", style="warning")
    yield from _undo(plan, page)
    for reason in dict.fromkeys(plan.loss_reasons.values()):
        on = folded([name for name, why in plan.loss_reasons.items() if why == reason])
        yield from page.text(f"{on}: {reason}", "  Loss: ", style="error")
    if plan.loss:
        yield from page.text(
            f"to accept the loss: --accept-data-loss={folded_names(plan.loss)}", "  Loss: ", style="error"
        )
    if plan.changes_something:
        style = "error" if plan.risk in (Risk.DATA, Risk.UNKNOWN) else ""
        yield from page.text(risk_words(plan), "  Risk: ", style=style)
    if plan.estimate is not None and plan.changes_something:
        yield from page.text(time_words(plan), "  Time: ")


def risk_words(plan: Plan) -> str:
    """Return a text about the risk, in terms of what this plan does."""
    risky = [step for step in plan.steps if step.risk is Risk.REDUNDANCY]
    alone = plan.risk is Risk.REDUNDANCY and risky and all(_takes_group(step) for step in risky)
    return _GROUP_GOES if alone else _RISK[plan.risk]


def _takes_group(step: Step) -> bool:
    return step.kind is ASM and any(change.attribute == "state" for change in step.changes)


ABSENT = ("", "-", "nothing")
"""The values of a change that mean that nothing is there before or after it."""

_LONG_SIZE = re.compile(r"(?<![\w.=])(\d+\.\d{5,})([KMGTP])\b")
_WHOLE_SIZE = re.compile(r"(?<![\w.])(\d{4,})([KMG])\b")


def rounded(text: str) -> str:
    """Return ``text`` with shorter sizes: ``23.28692626953125T`` as ``23.287T``, ``373504M`` as ``364.75G``; statements are sent
    with the exact sizes."""
    shown = _LONG_SIZE.sub(lambda size: f"{float(size[1]):.3f}".rstrip("0").rstrip(".") + size[2], text)
    return _WHOLE_SIZE.sub(_in_larger_unit, shown)


def _in_larger_unit(size: re.Match[str]) -> str:
    """Return a size in a larger unit if that needs at most four decimals; else unchanged."""
    larger = format_size(parse_size(size[0]))
    return larger if len(larger.partition(".")[2]) <= 5 else size[0]


def undo_words(plan: Plan) -> Iterator[tuple[str, str, str, str]]:
    """Yield the statements of undo, the parts that it does not bring back, and statements to type; equal targets once."""
    groups: dict[tuple[str, str, str], list[tuple[str, tuple[str, str, str]]]] = {}
    lasting = {target for target, back in all_taken_back(plan) if back.but}
    for target, back in all_taken_back(plan):
        if back.but or back.by_hand:
            mask, own = masker(target), (back.undo, back.but, back.by_hand)
            groups.setdefault((mask(back.undo), mask(back.but), mask(back.by_hand)), []).append((target, own))
    sent: dict[tuple[str, str], list[str]] = {}
    for texts, members in groups.items():
        undo, but, by_hand = texts if len(members) > 1 else members[0][1]
        where = folded([target for target, _ in members])
        if undo and not by_hand:
            sent.setdefault((undo, where), []).append(but)
        else:
            yield "", but, by_hand, where
    for (undo, where), reasons in sent.items():
        yield undo, "; ".join(reasons), "", where
    inverses = plan.inverse.items()
    whole = {target: "; ".join(inverse) for target, inverse in inverses if inverse and target not in lasting}
    for text, targets in alike((target, whole[target]) for target in plan.targets if target in whole):
        yield text, "", "", folded(targets)


def _undo(plan: Plan, page: Page) -> Iterator[str]:
    """Yield the lines about how the plan can be undone."""
    for undo, but, by_hand, where in undo_words(plan):
        if by_hand:
            yield from page.text(f"{by_hand} ({where}); undo does not send it", "  By hand: ", style="warning")
        elif not undo:
            yield from page.text(f"{but} ({where})", "  Cannot be undone: ", style="warning")
        elif but:
            yield from page.text(f"{undo} ({where}), but {but}", "  Undo: ", style="warning")
        else:
            text = undo if len(undo) <= _LONG_UNDO else "undo takes all of it back"
            yield from page.text(f"{text} ({where})", "  Undo: ")


def time_words(plan: Plan) -> str:
    """Return how long the plan may take, marked as rough, and the steps whose time is unknown."""
    rough = f"roughly {format_duration(max(plan.estimate or 0.0, 10.0))} when nothing fails"
    waves = len(plan.rolling.waves) if plan.rolling is not None else 1
    rough += f", {waves} waves and their gates" if waves > 1 else ""
    if plan.rolling is not None and plan.rolling.ask:
        rough += ", plus the time until somebody answers"
    unknown = ", ".join(f"'{title}'" for title in plan.untimed)
    return rough + (f"; how long {unknown} takes is not known and must be added" if unknown else "")


def _waves(plan: Plan, page: Page) -> Iterator[str]:
    """Yield the lines about the waves of cells, and what each wave waits for."""
    rolling = plan.rolling
    if rolling is None:
        return
    yield from page.text(in_waves(rolling), "  Rolling: ")
    count = len(rolling.waves)
    gate = "disks ONLINE on all cells, other cells' flash normal, no rebalance"
    if any(step.offline for step in plan.steps):
        gate += ", asmDeactivationOutcome Yes on the wave's disks"
    within = f"waits for a closed gate up to {format_duration(rolling.within)}"
    yield from page.text(f"before each wave: {gate}; {within}", "  Gate: ")
    if rolling.not_after:
        last = rolling.not_after[:16].replace("T", " ")
        yield from page.text(
            "no wave begins after that; one that has begun is finished; `resume` does the rest", f"  Not after {last}: "
        )
    if count > 1:
        between = "somebody is asked" if rolling.ask else f"{format_duration(rolling.pause)} of pause"
        if rolling.ask or rolling.pause:
            yield from page.text(f"between waves {between}", "  Pause: ")
        failed = "the others go on while their gate is open" if rolling.go_on else "no further wave begins"
        yield from page.text(f"when a step fails, {failed}", "  On error: ")


def in_waves(rolling: Rolling) -> str:
    """Return the order of the cells: ``3 waves: exa1cel[01-03], one cell at a time``."""
    waves = list(rolling.waves)
    canary = waves.pop(0) if rolling.canary else ()
    parts = [f"{folded(canary)} first and alone"] if canary else []
    size = max((len(wave) for wave in waves), default=0)
    cells = [cell for wave in waves for cell in wave]
    if len(waves) == 1:
        parts.append(folded(cells))
    elif waves:
        parts.append(f"{folded(cells)}, {'one cell' if size == 1 else f'{size} cells'} at a time")
    return f"{counted(len(rolling.waves), 'wave')}: {', then '.join(parts)}"


def _steps(stage: Stage, page: Page) -> Iterator[str]:
    for steps in _alike(stage.steps):
        first, targets = steps[0], [step.target for step in steps]
        mask = masker(first.target) if len(targets) > 1 else str
        label = first.kind.label.format(name=first.kind.name(first.owner))
        where = folded(targets) + (f" ({label})" if label else "")
        act = first.statement.strip() if first.statement else first.what
        yield from page.text(mask(act), f"    on {where}: ")
        for line in _changes(steps):
            yield from page.text(line, "        ")
        if first.watch is not None:
            within = ""
            if first.limit is not None:
                within = f", at most {format_duration(first.limit)}: then it is cancelled and caching comes back"
            yield from page.text(f"then waits until the {first.watch} is complete and proven{within}", "        ")


def _mending(plan: Plan, stage: Stage, page: Page) -> Iterator[str]:
    titles = {other.key: other.title for other in plan.stages if other.key}
    after = titles.get(stage.mends, stage.mends)
    yield from page.text(f"{stage.title} (only if the plan stops after '{after}')", "  ! ", style="dim")
    for steps in _alike(stage.steps):
        if steps[0].statement:
            mask = masker(steps[0].target) if len(steps) > 1 else str
            targets = folded([step.target for step in steps])
            yield from page.text(mask(steps[0].statement.strip()), f"    on {targets}: ", style="dim")


def _alike(steps: Sequence[Step]) -> list[list[Step]]:
    """Return steps in groups that differ only in their target's name, in order of first appearance."""

    def key(step: Step) -> tuple[object, ...]:
        mask = masker(step.target)
        return (
            mask(step.statement),
            step.what if not step.statement else "",
            step.kind,
            step.owner if step.kind.shared else "",
            step.watch,
            step.undo,
            mask(step.inverse) if step.undo is Undo.IMPOSSIBLE else "",
            tuple((c.object, mask(c.name), c.attribute, mask(c.before), mask(c.after)) for c in step.changes),
        )

    return list(grouped((key(step), step) for step in steps).values())


def _changes(steps: Sequence[Step]) -> Iterator[str]:
    """Yield one line for each attribute that changes in the same way, with the objects' names folded."""
    first = steps[0]
    mask = masker(first.target) if len(steps) > 1 else str
    same = grouped(((change.object, change.attribute, change.before, change.after), change) for change in first.changes)
    for (kind, attribute, before, after), changes in same.items():
        names = mask(folded([change.name for change in changes if change.name]))
        subject = " ".join(part for part in (kind, names, attribute) if part)
        count = f" ({len(changes)} objects)" if len(changes) > 1 else ""
        old, new = rounded(mask(before)), rounded(mask(after))
        if old == new:  # Rounding hides the difference.
            old, new = mask(before), mask(after)
        yield f"{subject}: {old or 'nothing'} -> {new or 'nothing'}{count}"


def _reasons(title: str, reasons: Mapping[str, str], page: Page) -> Iterator[str]:
    for reason, targets in alike(reasons.items()):
        yield from page.text(f"{folded(targets)}: {reason}", f"  {title}: ")


def without_secrets(plan: Plan) -> Plan:
    """Return the plan with every secret masked; the same plan if it has none."""
    found: Plan = _without(plan)
    return found


def _without(value: Any) -> Any:
    if isinstance(value, Enum) or value is None or isinstance(value, (int, float)):
        return value
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        return {key: _without(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_without(item) for item in value)
    if not hasattr(value, "__dataclass_fields__"):
        return value
    own = vars(value)
    about = is_secret_name(str(own.get("attribute") or ""))
    changed = {
        name: after
        for name, before in own.items()
        if (after := MASK if about and name in _VALUES and isinstance(before, str) and before else _without(before))
        != before
    }
    return replace(value, **changed) if changed else value


_VALUES = ("value", "before", "after")
