"""Decide whether a plan may be carried out: with -y, with a yes at the terminal, or with a loss accepted by name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from exacell.core.cellset import CellSet, folded_names, folded_whole
from exacell.core.errors import CellSetError, RefusedError
from exacell.language.registry import Value
from exacell.output.console import Console
from exacell.plan.model import Plan, Risk

UNKNOWN_NEEDS = "-y does not accept an unknown risk: repair what can't be read, or answer yes at the terminal"
"""The hint if a plan's risk is unknown and nobody is there to answer."""


def accepted_loss(flags: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the names given to --accept-data-loss; cells may be folded (``exa1cel[01-03]``)."""
    value = flags.get("accept-data-loss")
    text = ",".join(value) if isinstance(value, tuple) else str(value or "")
    if "[" in text:
        return tuple(CellSet.parse(text, groups=lambda name: ()))
    return tuple(part.strip() for part in text.split(",") if part.strip())


def refuse_above(plan: Plan, ceiling: str) -> None:
    """Raise RefusedError if a plan's risk is higher than the recipe of the statement declares.

    Raises:
        RefusedError: the risk is higher.
    """
    if ceiling and plan.risk.rank > Risk(ceiling).rank:
        raise RefusedError(
            f"{plan.statement}: its risk is {plan.risk}, above the recipe's ceiling {ceiling}; nothing was sent",
            hint="if that is intended, change the recipe's risk line",
        )


def agree(plan: Plan, flags: Mapping[str, Value], console: Console) -> None:
    """Raise RefusedError if nobody agrees to the plan.

    ``-y`` is enough unless data would be lost; then every name in ``plan.loss`` must be typed, folded or one by one, or
    given to --accept-data-loss. Nobody at the terminal means no.

    Raises:
        RefusedError: nobody agreed; nothing was sent.
    """
    given = {name.lower() for name in accepted_loss(flags)}
    missing = [name for name in plan.loss if name.lower() not in given]
    if missing and not _name_typed(console, plan, missing):
        reasons = dict.fromkeys(plan.loss_reasons[name] for name in missing if name in plan.loss_reasons)
        why = f": {'; '.join(reasons)}" if reasons else ""
        raise RefusedError(
            f"{plan.statement}: refused: data would be lost on {_shown(missing)}{why}; nothing was sent",
            hint=f"--accept-data-loss={folded_names(plan.loss)} accepts it; -y does not",
        )
    if plan.loss:
        return
    if flags.get("yes") and plan.risk.rank < Risk.DATA.rank:
        return
    unknown = plan.risk is Risk.UNKNOWN
    ask(
        console,
        plan.statement,
        plans=[plan],
        hint=UNKNOWN_NEEDS if unknown else "-y answers yes; -n shows only the plan",
    )


def is_asked(plan: Plan, flags: Mapping[str, Value]) -> bool:
    """Return whether somebody will be asked about the plan; then it is shown in brief, with the question."""
    if flags.get("dry-run"):
        return False
    given = {name.lower() for name in accepted_loss(flags)}
    if plan.loss:
        return any(name.lower() not in given for name in plan.loss)
    return not flags.get("yes") or plan.risk.rank >= Risk.DATA.rank


def ask(console: Console, what: str, *, plans: Sequence[Plan] = (), hint: str) -> None:
    """Ask at the terminal and raise RefusedError unless the answer is yes; the answer d shows all of ``plans``.

    Raises:
        RefusedError: the answer was no, or nobody is there; nothing was sent. ``hint`` then shows the way out.
    """
    answer = console.confirm("proceed?", (lambda: show_whole(console, plans)) if plans else None)
    if answer is None:
        raise RefusedError(f"{what}: there is no terminal for the question; nothing was sent", hint=hint)
    if not answer:
        raise RefusedError("not confirmed; nothing was sent", hint="-n shows the plan without a question")


def show_whole(console: Console, plans: Sequence[Plan]) -> None:
    """Show plans with their statements, branches for a failure, arithmetic, assumptions and notes."""
    for plan in plans:
        console.show_plan(plan)


def _name_typed(console: Console, plan: Plan, names: Sequence[str]) -> bool:
    """Return whether every name was typed; the answer d shows the whole plan and asks again, unless d is one of the names."""
    while True:
        answer = console.ask(_question(names))
        if (answer or "").strip().lower() != "d" or _typed(answer, names):
            return _typed(answer, names)
        show_whole(console, [plan])


def _question(names: Sequence[str]) -> str:
    """Return the question for all names at once, so that nobody takes the first name for the only one."""
    what = _shown(names)
    where = what if len(names) == 1 else f"each of these {len(names)}"
    return f"data would be lost on {where}: type {what} to accept it, d shows the plan: "


def _shown(names: Sequence[str]) -> str:
    return folded_whole(names) or ", ".join(names)


def _typed(answer: str | None, names: Sequence[str]) -> bool:
    """Return whether every name was typed, separated by commas or blanks, or folded; no name stands for another."""
    wanted = {name.lower() for name in names}
    text = (answer or "").strip().lower()
    if {part for part in re.split(r"[\s,]+", text) if part} == wanted:
        return True
    try:
        return {name.lower() for name in CellSet.parse(text)} == wanted
    except CellSetError:
        return False
