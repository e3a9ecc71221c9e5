"""Plans as lines for eyes, and the files in which somebody has read and approved them.

A plan that comes out differently fails with the difference. When that is meant, read the new one and keep it with
``EXACELL_APPROVE=1 python -m pytest tests/plan -k approved``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from exacell.core.errors import RefusedError
from exacell.plan.model import Plan, Step


def shown(plan: Plan) -> Iterator[str]:
    """Yield a plan as lines for eyes; what has its usual value is left out."""
    for kind in ("done", "skipped"):
        yield from (f"{kind} {target}: {why}" for target, why in getattr(plan, kind).items())
    for stage in plan.stages:
        mends = f", mends {stage.mends} unless {stage.unless}" if stage.mends else ""
        yield f"[{stage.key}] {stage.title} (gate {stage.gate}{mends})"
        for step in stage.steps:
            yield from (f"  {line}" for line in _step(step))
    yield from (f"inverse {target}: {'; '.join(statements)}" for target, statements in plan.inverse.items())
    yield f"risk {plan.risk}"
    yield from (f"loss {name}: {plan.loss_reasons[name]}" for name in plan.loss)
    yield from (f"note {note}" for note in plan.notes)
    yield from (f"warning {warning}" for warning in plan.warnings)


def _step(step: Step) -> Iterator[str]:
    yield f"{step.target}: {step.statement or '(no statement)'} -- {step.what}"
    for kind in ("only_if", "needs", "proves", "hopes"):
        for check in getattr(step, kind):
            yield f"    {kind} {check.sentence}" + (f" because {check.why}" if check.why else "")
    flags = [name for name in ("offline", "forced", "online", "caching_off", "caching_on") if getattr(step, name)]
    flags += [f"of {step.cache}"] if step.cache != "flashcache" else []
    undo = f"undo {step.undo}: {step.inverse or '-'}"
    yield f"    {step.risk}; {step.within:g}s; expects {step.expect}; {undo} {', '.join(flags)}".rstrip()
    yield from (f"    {c.object} {c.name} {c.attribute}: {c.before} -> {c.after}" for c in step.changes)


def lines_of(make: Callable[[], Plan]) -> list[str]:
    """Return the lines of the plan that ``make`` returns, or of its refusal."""
    try:
        return list(shown(make()))
    except RefusedError as error:
        return [f"refused: {error.message}", f"way out: {error.hint}"]


def _file(name: str) -> str:
    return f"{name.replace(', ', '_').replace(' ', '_')}.txt"


def check_approved(folder: Path, name: str, lines: list[str]) -> None:
    """Fail unless the lines are those that were kept for this case."""
    text = "\n".join([*lines, ""])
    path = folder / _file(name)
    if os.environ.get("EXACELL_APPROVE"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path.name} is what was approved"


def check_no_other(folder: Path, names: Collection[str]) -> None:
    """Fail unless every kept file belongs to a case."""
    assert {path.name for path in folder.iterdir()} == {_file(name) for name in names}
