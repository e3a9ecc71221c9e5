"""Show a plan on one screen above its question: warnings, one line per step, losses, undo, risk, time.

Statements, steps after a failure, arithmetic, assumptions and notes are only in the whole plan (exacell.output.plans).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from exacell.core.cellset import grouped
from exacell.core.errors import UnitError
from exacell.core.units import MIB, counted, format_size, human_size, parse_size
from exacell.output.draw import Cell, Look, grid
from exacell.output.folding import alike, folded, masker
from exacell.output.plans import ABSENT, in_waves, risk_words, rounded, time_words, undo_words
from exacell.output.style import hung, paint, printable
from exacell.output.theme import ASCII
from exacell.plan.model import Gate, Plan, Risk, Stage, Step

_MOST_GROUPS = 3
"""The most lines for one step whose cells differ; if there are more, one line shows how far the cells spread."""

_MOST_CHANGES = 2
"""How many changes a step's line names."""

_LONG = 100
"""The longest statement, in characters, that is shown whole although its changes are shown beside it."""

_OVERHEAD = 3
"""Rows for the question and for what was typed before it."""

_Changed = dict[tuple[str, str, str], tuple[str, str]]
"""(object, name, attribute) → before, after."""


def brief_lines(plan: Plan, look: Look, *, height: int = 24) -> list[str]:
    """Return the lines of a plan for its question; if they don't fit the screen, a line counts the left-out steps in the middle.

    Args:
        height: rows of the terminal.
    """
    steps = [step for stage in plan.stages if stage.gate is not Gate.MEND for step in stage.steps]
    told = bool(steps) and all(step.changes for step in steps)
    statement = _begun(plan.statement) if told else plan.statement
    title = f"Plan{f' on {plan.rack}' if plan.rack else ''}: {rounded(statement)}"
    head = _sentence("", title, "title", look)
    head += grid(
        [(("Warning:", "warning"), (rounded(text), "warning")) for text in plan.warnings], look, indent=2, gap=1
    )
    foot = [*_apart(plan, look), *grid(list(_labelled(plan)), look, indent=2, gap=1)]
    lines = list(_steps(plan, look))
    room = max(height - _OVERHEAD - len(head) - len(foot), 3)
    if len(lines) > room:
        left = len(lines) - room + 1
        cut = room // 2
        lines = [*lines[:cut], f"     {counted(left, 'more line')}: d shows all steps", *lines[cut + left :]]
    return [*head, *lines, *foot]


def _sentence(label: str, text: str, meaning: str, look: Look) -> list[str]:
    """Return a sentence over the whole width; its further lines are indented."""
    shown = f"{label}{printable(rounded(text))}"
    after = " " * min(max(len(label), 4), 8)
    lines = hung(shown if look.unicode else shown.translate(ASCII), look.width or 100, after=after)
    return [paint(line, meaning, color=look.color) if meaning else line for line in lines]


def _apart(plan: Plan, look: Look) -> Iterator[str]:
    """Yield the lines with longer labels than risk and time: targets where nothing is done, changes that can't be undone."""
    for label, reasons in (("Already as wanted", plan.done), ("Not applicable", plan.skipped)):
        if reasons:
            yield from _sentence(f"  {label}: ", _reasons(reasons), "", look)
    for undo, but, by_hand, where in undo_words(plan):
        if by_hand:
            yield from _sentence("  By hand: ", f"{by_hand} ({where}); undo does not send it", "warning", look)
        elif not undo:
            yield from _sentence("  Cannot be undone: ", f"{but} ({where})", "warning", look)


def _labelled(plan: Plan) -> Iterator[tuple[Cell, Cell]]:
    """Yield label and text of the lines below the steps."""
    if plan.rolling is not None and len(plan.rolling.waves) > 1:
        yield "Rolling:", in_waves(plan.rolling)
    for reason in dict.fromkeys(plan.loss_reasons.values()):
        on = folded([name for name, why in plan.loss_reasons.items() if why == reason])
        yield ("Loss:", "error"), (f"{on}: {rounded(reason)}", "error")
    sent = [(rounded(undo), but, where) for undo, but, _, where in undo_words(plan) if undo]
    for but in dict.fromkeys(but for _, but, _ in sent if but):
        yield ("Lost:", "warning"), (but, "warning")
    if len(sent) > _MOST_GROUPS:
        yield "Undo:", f"{counted(len(sent), 'statement')}, each for the cells that had the same (d shows them)"
    else:
        for undo, _, where in sent:
            yield "Undo:", f"{undo if len(undo) <= _LONG else 'takes all of it back'} ({where})"
    if plan.changes_something:
        worst = "error" if plan.risk in (Risk.DATA, Risk.UNKNOWN) else ""
        yield ("Risk:", worst), (risk_words(plan), worst)
    if plan.estimate is not None and plan.changes_something:
        yield "Time:", time_words(plan)


def _reasons(reasons: Mapping[str, str]) -> str:
    (reason, targets), *others = alike(reasons.items())
    return f"{folded(reasons)} (d says why)" if others else f"{folded(targets)}: {reason}".removeprefix(": ")


def _steps(plan: Plan, look: Look) -> Iterator[str]:
    """Yield a line for each step; steps in a row on the same object of the same targets share a line."""
    rows: list[tuple[Cell, Cell]] = []
    number = 0
    for _, together in groupby((stage for stage in plan.stages if stage.gate is not Gate.MEND), key=_object):
        some = list(together)
        acts = [_act(stage) if stage is some[-1] else _act(stage).partition(" ")[0] for stage in some]
        told = " · ".join([acts[0], *(f"{place} {act}" for place, act in enumerate(acts[1:], number + 2))])
        words = told.lower()
        for changes, targets in _alike(some, words):
            text = "  ".join(part for part in (told, changes, f"on {folded(targets)}") if part)
            rows.append((str(number + 1) if told else "", text))
            told = ""
        number += len(some)
    yield from grid(rows or [("", "Nothing to do.")], look, indent=2, gap=1)


def _object(stage: Stage) -> tuple[object, ...]:
    """Return the object and the targets of a stage; neighbours with the same ones share a line."""
    _, _, what = stage.title.partition(" ")
    alone = stage.title if " " in what or not what else ""
    return (what, alone, *sorted(step.target for step in stage.steps))


def _act(stage: Stage) -> str:
    """Return the work of a stage as text: its title, or the statement if it is sent as it was typed."""
    first = stage.steps[0] if stage.steps else None
    if stage.key != "send" or first is None:
        return stage.title
    sent = _begun(first.statement.strip()) if all(step.changes for step in stage.steps) else first.statement.strip()
    return masker(first.target)(sent) if len(stage.steps) > 1 else sent


def _begun(statement: str) -> str:
    """Return the beginning of a long statement: its changes are shown beside it, and the whole plan has all of it."""
    if len(statement) <= _LONG:
        return statement
    whole, comma, _ = statement[: _LONG // 2].rpartition(",")
    return f"{whole or statement[: _LONG // 2]}{comma}…"


def _alike(stages: Sequence[Stage], words: str) -> list[tuple[str, list[str]]]:
    """Return the combined change of the stages, with its targets; targets with the same change share an item.

    Args:
        words: the text before it, in lower case: an attribute named there is not named again.
    """
    changed: dict[str, _Changed] = {}
    for stage in stages:
        for step in stage.steps:
            _add(changed.setdefault(step.target, {}), step)
    groups = grouped((_changes(changes, masker(target), words), target) for target, changes in changed.items())
    if len(groups) <= _MOST_GROUPS:
        return [
            (text if len(targets) > 1 else _changes(changed[targets[0]], str, words), targets)
            for text, targets in groups.items()
        ]
    return [(_spread(list(changed.values())), list(changed))]


def _add(changes: _Changed, step: Step) -> None:
    """Add a step's changes to those of earlier steps: dropped and created again becomes a change from old to new."""
    for change in step.changes:
        key = (change.object, change.name, change.attribute)
        before = changes[key][0] if key in changes else change.before
        changes[key] = before, change.after


def _changes(changes: _Changed, mask: Callable[[str], str], words: str) -> str:
    """Return the changes on one target in a few words: ``364.75G → 288G``, ``16 × 1G``, ``SPOT share 8 → 9``."""
    same = grouped(
        ((attribute, mask(before), mask(after)), (kind, mask(name)))
        for (kind, name, attribute), (before, after) in changes.items()
    )
    told = [
        _change(attribute, "" if attribute.lower() in (*words.split(), "size") else attribute, before, after, members)
        for (attribute, before, after), members in same.items()
    ]
    more = f", {len(told) - _MOST_CHANGES} more" if len(told) > _MOST_CHANGES else ""
    return ", ".join(told[:_MOST_CHANGES]) + more


def _change(attribute: str, shown: str, before: str, after: str, members: Sequence[tuple[str, str]]) -> str:
    if attribute.endswith("Mb") and before.isdigit() and after.isdigit():
        shown, before, after = attribute.removesuffix("Mb"), human_size(int(before) * MIB), human_size(int(after) * MIB)
    old, new = rounded(before), rounded(after)
    if old == new:  # Rounding hides the difference.
        old, new = before, after
    many = f"{len(members)} × " if len(members) > 1 else ""
    said = f"{shown} " if shown else ""
    kind, name = members[0]
    named = f"{name} " if kind == "iormplan" and name and not many else ""
    if old in ABSENT or new in ABSENT:
        if attribute == "state":  # Of a disk group that is created or dropped, only the name is shown.
            return name.partition(" on ")[0]
        return f"{many}{named}{said}{new if old in ABSENT else f'{old} → gone'}"
    return f"{many}{named}{said}{old} → {new}"


def _spread(changed: Sequence[_Changed]) -> str:
    """Return the range of sizes before and after, for cells that each change in another way."""
    pairs = [pair for changes in changed for (_, _, attribute), pair in changes.items() if attribute == "size"]
    ends = [_between([pair[place] for pair in pairs]) for place in (0, 1)]
    if not pairs or not all(ends):
        return "each with its own change (d shows them)"
    return f"{ends[0]} → {ends[1]} (d shows each)"


def _between(sizes: Sequence[str]) -> str:
    try:
        known = sorted(parse_size(size) for size in sizes)
    except UnitError:
        return ""
    least, most = rounded(format_size(known[0])), rounded(format_size(known[-1]))
    return least if least == most else f"{least} to {most}"
