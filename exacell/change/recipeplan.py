"""Plan a recipe's run before anything is carried out: the plan of each line, and the lines that a copy can't carry out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from exacell.cellcli.condition import is_condition
from exacell.change.changing import UNSENT
from exacell.change.consent import refuse_above
from exacell.change.execute import execute
from exacell.change.outcomes import idle_sentences, planned_records
from exacell.change.readings import line_to_read
from exacell.core.cellset import fold
from exacell.core.errors import ExacellError, ExitCode, RecipeError
from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.language.line import Line
from exacell.language.reading import ReadingCheck, read_fact, read_until
from exacell.language.registry import Effect, Value
from exacell.output.result import Column, Record, Result
from exacell.output.tables import table_lines
from exacell.plan.foreseen import Foreseen
from exacell.recipes.answers import is_planned, only_reads
from exacell.session.given import Request, Services, Session

if TYPE_CHECKING:
    from exacell.change.recipeready import Ready, ReadyLine
    from exacell.change.waves import Wave

_COLUMNS = (Column("line", "number"), Column("does"), Column("outcome", "prose"), Column("risk"))


def plan_run(
    session: Session, services: Services, request: Request, ready: Ready, flags: Mapping[str, Value]
) -> Result:
    """Show the plan of each line for the rack as the earlier lines will leave it; return a record for each step.

    If a line needs something of an earlier line that exacell can't foresee, that is shown, and the next line is planned all the
    same.
    """
    lines = list(_with_ceilings(ready, request.risk_ceiling, None))
    request = replace(request, foreseen=Foreseen())
    rows: list[Record] = []
    summary: list[_Planned] = []
    problems: list[str] = []
    changed = ""
    for number, (each, name, ceiling, wave) in enumerate(lines, start=1):
        services.console.say(f"[{number}/{len(lines)}] {each.place}: {each.outline()}")
        own = replace(request, origin=name, risk_ceiling=ceiling)
        risk = ""
        steps: Sequence[Record] = ()
        try:
            outcome, risk, steps = _one(session, services, own, each, flags, changed=changed)
        except ExacellError as error:
            outcome = f"the run would stop here: {error.message}"
            if changed:
                outcome = (
                    f"can't be planned before line {changed} is carried out; `rehearse` carries it out on "
                    f"a copy: {error.message}"
                )
            else:
                problems.append(f"line {number}, {each.outline()}: {error.message}")
            services.console.say(outcome)
        about = {"line": number, "place": each.place, "does": each.outline()}
        rows += [{"cell": step["cell"], **about, **step} for step in steps] or [
            {"cell": None, **about, "outcome": outcome, "risk": risk or None}
        ]
        sent = tuple(dict.fromkeys(step["statement"] for step in steps))
        alike = (name, each.source.number, sent or outcome, risk)
        told = {**about, "outcome": outcome, "risk": risk or None}
        summary.append(_Planned(told=told, wave=wave, steps=len(steps), alike=alike))
        changed = changed or (str(number) if each.kept is None and is_planned(each.line) else "")
    return Result(
        records=rows,
        columns=_COLUMNS,
        data=True,
        draw=lambda width, color, header: table_lines(
            list(_shown(summary)), _COLUMNS, width=width, color=color, header=header
        ),
        notes=[
            "each line is planned for the rack as the earlier lines will leave it, as far as exacell can foresee that",
            "nothing was sent",
        ],
        problems=problems,
        exit_code=ExitCode.NOT_EXECUTED if problems else ExitCode.DONE,
    )


@dataclass(frozen=True, kw_only=True)
class _Planned:
    """A line's row for the table, its wave and its number of steps.

    ``alike`` must be equal for the same line of two waves, so that these can share a row.
    """

    told: Record
    wave: Wave | None
    steps: int
    alike: tuple[object, ...]


def _shown(summary: Sequence[_Planned]) -> Iterator[Record]:
    """Yield the rows for the table; if waves are equal, only the rows of the first one, and one row for all others."""
    for block, group in groupby(summary, key=lambda each: each.wave and each.wave.line):
        if block is None:
            yield from (each.told for each in group)
            continue
        waves = [list(lines) for _, lines in groupby(group, key=lambda each: each.wave)]
        for _, run in groupby(waves, key=lambda lines: [each.alike for each in lines]):
            first, *rest = run
            for lines in (first, *(rest if len(rest) == 1 else ())):
                yield from (each.told for each in lines)
            if len(rest) > 1:
                yield _folded(first, rest)


def _folded(first: Sequence[_Planned], rest: Sequence[Sequence[_Planned]]) -> Record:
    """Return the one row for the waves that equal the first."""
    waves = [lines[0].wave for lines in (first, *rest)]
    numbers = [wave.number for wave in waves if wave is not None]
    cells = [name for wave in waves[1:] if wave is not None for name in wave.targets]
    steps = sum(each.steps for lines in rest for each in lines)
    return {
        "line": rest[0][0].told["line"],
        "does": f"waves {numbers[1]} to {numbers[-1]}, as wave {numbers[0]}: {fold(cells)}",
        "outcome": f"the same: {counted(steps, 'step')}" if steps else "the same",
        "risk": next((each.told["risk"] for each in first if each.told["risk"]), None),
    }


def _with_ceilings(ready: Ready, ceiling: str, wave: Wave | None) -> Iterator[tuple[ReadyLine, str, str, Wave | None]]:
    """Yield all lines, each with its recipe, its risk ceiling and its wave.

    The lines of an inner recipe replace the line that runs it, and have its wave.
    """
    from exacell.change.reciperun import stricter

    ceiling = stricter(ceiling, ready.recipe.risk)
    for each in ready.lines:
        if each.inner is None:
            yield each, ready.recipe.name, ceiling, each.wave or wave
        else:
            yield from _with_ceilings(each.inner, ceiling, each.wave or wave)


def _one(
    session: Session, services: Services, request: Request, each: ReadyLine, flags: Mapping[str, Value], *, changed: str
) -> tuple[str, str, Sequence[Record]]:
    """Return the text about a line, its risk and its records; the records are empty if it has no steps.

    Raises:
        ExacellError: it can't be planned now.
    """
    line, words = each.line, each.line.call.command.words if each.line.call is not None else ()
    if words == ("undo", "run"):
        return "takes back the changes of the run up to there", "", ()
    if each.kept is not None:
        unread = ", unread" if each.effect is Effect.OPAQUE else ""
        return f"keeps it as {each.kept.name}{unread}", "", ()
    if words == ("check",):
        if changed:
            return f"checked during the run, because line {changed} changes something before", "", ()
        execute(session, services, request, line, inside=True)
        return "holds now", "", ()
    if words == ("wait",):
        return "waits", "", ()
    if not is_planned(line) and words != ("experiment",):
        return "reads" if only_reads(line) else _OTHERS.get(line.effect, "planned during the run"), "", ()
    planning = {**flags, **line.flags, "dry-run": True}
    line = replace(
        line,
        flags=planning,
        call=replace(line.call, flags={**planning, **line.call.flags}) if line.call is not None else None,
    )
    result = execute(session, services, request, line, inside=True)
    if result.problems:
        raise RecipeError(result.problems[0])
    if words == ("experiment",):  # The experiment has shown its schedule.
        return "planned during the run", "", ()
    if result.planned is None:
        for note in result.notes:
            if note != UNSENT:
                services.console.say(note)
        for said in idle_sentences(result.records):
            services.console.say(said)
        return "nothing to do now", "", ()
    plan = result.planned.plan
    refuse_above(plan, request.risk_ceiling)
    steps = planned_records(plan)
    return f"{counted(len(steps), 'step')} on {fold(plan.targets)}", str(plan.risk), steps


_OTHERS = {
    Effect.OPAQUE: "runs text that exacell can't read",
    Effect.LOCAL: "keeps or shows something here",
}

WITHOUT = ("hosts", "databases", "commands")
"""The kinds of targets that a copy of a rack does not have."""


def not_copied(session: Session, line: Line) -> str:
    """Return the kind of :data:`WITHOUT` that a line needs; empty if a copy has everything that it needs."""
    call = line.call
    words = call.command.words if call is not None else ()
    if words in (("check",), ("wait",)) and call is not None:
        text = call.text_arg("fact") or call.text_arg("what")
        bounded = bool({"every", "for"} & call.args.keys())
        check = read_fact(text) if words == ("check",) else read_until(text, bounded=bounded)
        return not_copied(session, line_to_read(check.reading)) if isinstance(check, ReadingCheck) else ""
    if words == ("copy", "from") or (line.on and not is_condition(line.on) and _names_hosts(session, line.on)):
        return "hosts"
    if words == ("sql",):
        return "databases"
    return "commands" if words and words[0] in ("sh", "host", "dcli", "copy") else ""


def _names_hosts(session: Session, on: str) -> bool:
    with session.selection.on(on):
        return bool(len(session.selection.hosts))


def rehearsed(session: Session, ready: Ready, without: Collection[str]) -> tuple[Ready, list[str]]:
    """Return the part of a run that a copy can carry out, and a phrase for each line that was left out.

    Raises:
        RecipeError: a line needs something that a copy does not have, and the user did not ask to leave it out.
    """
    left: list[str] = []
    ready, missing = _filtered(session, ready, without, left)
    if missing:
        kinds = list(dict.fromkeys(kind for kind, _ in missing))
        told = "; ".join(said for _, said in missing[:3]) + ("; …" if len(missing) > 3 else "")
        raise RecipeError(
            f"a copy of a rack has no {' and no '.join(kinds)}: {told}; nothing was rehearsed",
            hint=f"`rehearse without={','.join((*without, *kinds))} …` skips these lines",
        )
    return ready, left


def _filtered(
    session: Session, ready: Ready, without: Collection[str], left: list[str]
) -> tuple[Ready, list[tuple[str, str]]]:
    missing: list[tuple[str, str]] = []
    lines: list[ReadyLine] = []
    for each in ready.lines:
        if each.inner is not None:
            inner, more = _filtered(session, each.inner, without, left)
            missing += more
            lines.append(replace(each, inner=inner))
            continue
        kind = not_copied(session, each.line)
        if not kind and each.kept is not None:
            kind = "hosts" if each.kept.line is None else not_copied(session, each.kept.line)
        if not kind:
            lines.append(each)
        elif kind in without:
            left.append(f"{each.place}: {each.outline()}")
        else:
            missing.append((kind, f"{each.place} ({each.outline()})"))
    return replace(ready, lines=tuple(lines)), missing
