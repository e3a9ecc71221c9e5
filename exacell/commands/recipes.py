"""Commands for recipes: list, show, check and run them; and the statements that are used mainly in recipes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import monotonic

from exacell.cellcli.condition import FactCheck
from exacell.change.here import loads_given, pass_loads
from exacell.change.readings import wrong_with
from exacell.change.recipeready import make_ready, opaque_accepted
from exacell.change.reciperun import RecipeRunner
from exacell.change.runs import begin, carry_out
from exacell.change.waves import asked_of_waves
from exacell.core.cellset import fold
from exacell.core.errors import (
    ExacellError,
    ExitCode,
    InterruptedByUserError,
    RecipeError,
    RefusedError,
)
from exacell.core.units import and_more, counted, format_duration
from exacell.journal.confirming import confirm as keep
from exacell.language.line import parse_line
from exacell.language.reading import ReadingCheck, read_fact, read_until
from exacell.language.registry import Call
from exacell.language.words import plain_text
from exacell.output.result import Column, Draw, Record, Result
from exacell.output.style import hung, paint, printable
from exacell.output.tables import table_lines
from exacell.recipes.checker import problems_of, remarks_of, sample
from exacell.recipes.files import load_draft, load_recipe, recipe_files
from exacell.recipes.filled import values_of
from exacell.recipes.parsing import Draft, Problem, Recipe
from exacell.recipes.rolling import WITHIN_ROLLING, WITHIN_ROLLING_HINT
from exacell.session.given import Request, Services, Session
from exacell.session.recording import since, told_while_waiting


def recipes(session: Session, call: Call) -> Result:
    """Return one record per recipe; one that can't be read has the reason in place of its title."""
    word = call.text_arg("word").lower()
    rows: list[Record] = []
    for name in sorted(recipe_files(session.home)):
        try:
            recipe = load_recipe(session.home, name)
            title, params = recipe.title, " ".join(p.shape for p in recipe.params)
        except RecipeError as error:
            title, params = error.message, ""
        if word in f"{name} {title}".lower():
            rows.append({"cell": None, "name": name, "title": title, "parameters": params})
    columns = [Column(n) for n in ("name", "title", "parameters")]
    return Result(records=rows, columns=columns, data=True, draw=_drawn(rows) if rows else None)


def _drawn(rows: Sequence[Record]) -> Draw:
    """Return the drawing function for recipes: on a terminal one line each with its title, and its parameters below."""

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        if width is None:
            yield from table_lines(rows, [Column(n) for n in ("name", "title", "parameters")], header=header)
            return
        room = max(len(str(row["name"])) for row in rows) + 2
        for row in rows:
            name, title = str(row["name"]).ljust(room), printable(str(row["title"]))
            lines = hung(title, width, after=" " * room, first=name)
            yield paint(lines[0], "title", color=color)
            yield from lines[1:]
            if row["parameters"]:
                yield from hung(printable(str(row["parameters"])), width, first=" " * room, after=" " * room)

    return draw


def show(session: Session, call: Call) -> Result:
    """Return the file's text."""
    return Result(text=load_draft(session.home, call.text_arg("name")).recipe.text)


def check_one(session: Session, call: Call) -> Result:
    """Return a note, or one record for each problem: its line, what is wrong, and the hint."""
    draft = load_draft(session.home, call.text_arg("name"))
    name = draft.recipe.name
    found = sorted((*problems_of(draft), *_inside(session, draft)), key=lambda each: each.number)
    if not found:
        count = counted(len(draft.recipe.lines), "statement")
        return Result(notes=[*remarks_of(draft.recipe), f"recipe {name}: {count}, well-formed"])
    rows: list[Record] = [
        {"cell": None, "recipe": name, "line": each.number, "problem": each.message, "hint": each.hint or None}
        for each in found
    ]
    return Result(
        records=rows,
        columns=(Column("line", "number"), Column("problem"), Column("hint")),
        data=True,
        draw=_problems_drawn(rows),
        problems=[f"recipe {name}: {counted(len(found), 'problem')}; no line was run"],
        exit_code=ExitCode.NOT_EXECUTED,
    )


def _inside(session: Session, draft: Draft, within: tuple[str, ...] = (), *, rolled: bool = False) -> Iterator[Problem]:
    """Yield the problems of the recipes that a recipe runs, at the line that runs them; not of recipes named by a value.

    Args:
        rolled: whether a line of a rolling runs it.
    """
    within = (*within, draft.recipe.name)
    for line in draft.recipe.lines:
        try:
            parsed = parse_line(line.text, shell=False)
        except ExacellError:
            continue  # The problem of the line itself is already listed.
        call = parsed.call if parsed is not None else None
        if call is None or call.command.words != ("run",) or "$" in call.text_arg("name"):
            continue
        try:
            inner = load_draft(session.home, call.text_arg("name"))
        except RecipeError as error:
            yield Problem(number=line.number, message=error.message, hint=error.hint)
            continue
        if inner.recipe.name in within:
            told = " → ".join((*within, inner.recipe.name))
            yield Problem(number=line.number, message=f"recipe {inner.recipe.name} calls itself: {told}")
            continue
        samples = {param.name.lower(): str(sample(param)) for param in inner.recipe.params}
        try:
            values_of(
                inner.recipe, {key: samples.get(key.lower(), "") if "$" in v else v for key, v in call.extra.items()}
            )
        except RecipeError as error:
            yield Problem(number=line.number, message=error.message, hint=error.hint)
        in_turns = rolled or line.turns is not None
        own = [*problems_of(inner), *_inside(session, inner, within, rolled=in_turns)]
        own += _not_in_turns(inner.recipe) if in_turns else ()
        for each in own:
            yield Problem(
                number=line.number,
                message=f"recipe {inner.recipe.name}, line {each.number}: {each.message}",
                hint=each.hint,
            )


def _not_in_turns(recipe: Recipe) -> Iterator[Problem]:
    """Yield the parts of a recipe that can't run inside a rolling."""
    for turns in dict.fromkeys(line.turns for line in recipe.lines if line.turns is not None):
        yield Problem(number=turns.number, message=WITHIN_ROLLING.format("rolling"), hint=WITHIN_ROLLING_HINT)
    for line in recipe.lines:
        if line.text.lower().startswith("experiment") and line.turns is None:
            yield Problem(number=line.number, message=WITHIN_ROLLING.format("experiment"), hint=WITHIN_ROLLING_HINT)


def _problems_drawn(rows: Sequence[Record]) -> Draw:
    """Return the drawing function for problems: one sentence each after its line number."""

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        for told in rows:
            said = f"{told['problem']}; {told['hint']}" if told["hint"] else str(told["problem"])
            first = f"line {told['line']}: "
            yield from hung(printable(said), width or 1000, first=first, after=" " * len(first))

    return draw


def run(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return the records of the recipe's reading statements, in order."""
    rack = session.need_rack()
    ready = make_ready(session, services, request, call.text_arg("name"), call.extra)
    recipe = ready.recipe
    dry = bool(session.options.over(call.flags).get("dry-run"))
    loads = loads_given(recipe, call.extra)
    flags = session.options.over(call.flags)
    if not dry:
        pass_loads(session, services, request, loads, statement=call.text, flags=flags)
    accepted = opaque_accepted(
        session, services, ready, accepted=bool(flags.get("accept-opaque")), dry=dry, loads=loads
    )
    call = replace(call, flags={**call.flags, **({"accept-opaque": True} if accepted else {})})
    turns = asked_of_waves(session, call.flags, rolls=ready.rolls)
    services.more_to_come = True
    services.console.say(f"recipe {recipe.name} on {rack.name}" + (f": {recipe.title}" if recipe.title else ""))
    for said in (*remarks_of(recipe), *ready.outline()):
        services.console.say(said)
    if dry or request.origin or not ready.changes:  # Nobody has to continue it.
        return RecipeRunner(session, services, request, ready, call, turns=turns).run()
    return carry_out(session, services, request, ready, call, begin(session, services, ready, call), turns)


def check(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return a note if the check is true; nothing in a recipe.

    Raises:
        RecipeError: it is not true; names cell, object, attribute and value.
    """
    text = call.text_arg("fact")
    wrong = wrong_with(session, services, request, read_fact(text))
    if wrong:
        reason, cells = next(iter(wrong.items()))
        more = and_more(len(wrong))
        error = RecipeError(f"check {text}: {fold(cells)}: {reason}{more}" if cells else f"check {text}: {reason}")
        error.exit_code = ExitCode.FAILED
        raise error
    return Result() if request.origin else Result(notes=["it holds"])


def wait(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return nothing once the time has passed or the check is true.

    Raises:
        StatementError: the text is neither a duration nor a check.
        RecipeError: the check was not true in time; names the cells and values.
        InterruptedByUserError: the user pressed Ctrl-C.
    """
    text = call.text_arg("what")
    until = read_until(text, bounded=bool({"every", "for"} & call.args.keys()))
    if not isinstance(until, float):
        return _wait_until(session, services, request, call, until)
    with told_while_waiting(since(f"waiting for {format_duration(until)}"), services.console.waiting):
        interrupted = session.interrupted.wait(until)
    if interrupted:
        raise InterruptedByUserError(
            f"the wait of {format_duration(until)} was interrupted", hint="type it again with the remaining time"
        )
    return Result()


def _wait_until(
    session: Session, services: Services, request: Request, call: Call, until: FactCheck | ReadingCheck
) -> Result:
    text = call.text_arg("what")
    every = max(call.float_arg("every", session.need_rack().poll), SHORTEST_LOOK)
    longest = call.float_arg("for", LONGEST_WAIT)
    began = monotonic()
    while wrong := wrong_with(session, services, request, until):
        left = longest - (monotonic() - began)
        if left <= 0:
            reason, cells = next(iter(wrong.items()))
            where = f"{fold(cells)}: " if cells else ""
            error = RecipeError(
                f"wait {text}: {where}{reason}{and_more(len(wrong))} after {format_duration(longest)}",
                hint="for= waits longer",
            )
            error.exit_code = ExitCode.FAILED
            raise error
        reason, cells = next(iter(wrong.items()))
        where = f"{fold(cells)}: " if cells else ""
        # The time comes first, so that even a narrow window shows it.
        rest = format_duration(round(left))
        services.console.waiting(f"waiting, {rest} at most: {where}{reason}{and_more(len(wrong))}")
        if session.interrupted.wait(min(every, left)):
            raise InterruptedByUserError(f"wait {text} was interrupted", hint="type the statement again to wait longer")
    services.console.waiting(None)
    return Result()


SHORTEST_LOOK = 0.1
"""Minimum number of seconds between two reads, even if every= is shorter: each read starts CellCLI once or twice on each cell."""

LONGEST_WAIT = 3600.0
"""Maximum number of seconds of ``wait until`` without for=."""


def prompt(services: Services, call: Call) -> Result:
    """Show the text; return nothing."""
    services.console.say(plain_text(call.text_arg("text")))
    return Result()


def confirm(session: Session, services: Services, call: Call) -> Result:
    """Return the changes that are kept; nothing if a question was answered with yes.

    Raises:
        RefusedError: no such change waits for a confirmation; the answer was no, or nobody could be asked.
    """
    text = call.text_arg("text")
    if text and not text.isdigit():
        if not services.console.confirm(plain_text(text)):
            raise RefusedError(f"confirm {text}: the answer was not yes", hint="answer y at the terminal")
        return Result()

    kept = keep(services.journal, session.need_rack().name, int(text) if text else None)
    return Result(notes=[f"change {item.change} ({item.statement}) is kept" for item in kept])
