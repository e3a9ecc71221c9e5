"""Recipes: list, show, check and run them; and the statements that recipes are made of besides the verbs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from exacell.cellcli.schema import find_object
from exacell.cellset import fold
from exacell.context import EMULATED_POLL, POLL, Context
from exacell.errors import ExacellError, ExitCode, InterruptedByUserError, RecipeError, RefusedError, StatementError, UnitError
from exacell.language.line import Line
from exacell.language.registry import Call, Effect, Flag, Kind, Param, Value, command
from exacell.output.result import Column, Record, Result, worst
from exacell.plan.checks import failure
from exacell.plan.model import Check, Op
from exacell.plan.undo import undo_plan
from exacell.recipes import (
    Recipe,
    RecipeLine,
    check_recipe,
    holds,
    line_of,
    load_recipe,
    recipe_files,
    values_of,
)
from exacell.units import format_duration, parse_duration, parse_size

GROUP = "recipes"

_RECIPE = Param(name="name", kind=Kind.RECIPE, positional=True, required=True, help="the recipe")


@command(
    "recipes",
    group=GROUP,
    effect=Effect.READ,
    summary="the recipes there are, with what they do and their parameters",
    example="recipes",
    params=(Param(name="word", kind=Kind.TEXT, positional=True, help="only those whose name or title holds it"),),
)
def recipes(ctx: Context, call: Call) -> Result:
    """Return one record per recipe; one that can't be read says why instead of its title."""
    word = call.text_arg("word").lower()
    rows: list[Record] = []
    for name in sorted(recipe_files(ctx.home)):
        try:
            recipe = load_recipe(ctx.home, name)
            title, params = recipe.title, " ".join(p.shape for p in recipe.params)
        except RecipeError as error:
            title, params = error.message, ""
        if word in f"{name} {title}".lower():
            rows.append({"cell": None, "name": name, "title": title, "parameters": params})
    return Result(records=rows, columns=[Column(n) for n in ("name", "title", "parameters")], data=True)


@command(
    "show recipe",
    group=GROUP,
    effect=Effect.READ,
    summary="a recipe's text",
    example="show recipe reset_cold",
    params=(_RECIPE,),
)
def show(ctx: Context, call: Call) -> Result:
    """Return the file's text."""
    recipe = load_recipe(ctx.home, call.text_arg("name"))
    with open(recipe.path, encoding="utf-8") as stream:
        return Result(text=stream.read())


@command(
    "check recipe",
    group=GROUP,
    effect=Effect.READ,
    summary="check a recipe's header and every line without running anything",
    example="check recipe reset_cold",
    params=(_RECIPE,),
    recipe_ok=False,
)
def check_one(ctx: Context, call: Call) -> Result:
    """Return a note; raises for the first line that is wrong."""
    recipe = load_recipe(ctx.home, call.text_arg("name"))
    check_recipe(recipe)
    return Result(notes=[f"recipe {recipe.name}: {len(recipe.lines)} statements, all well-formed"])


@command(
    "run",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="run a recipe; @name does the same",
    details="Each changing statement is planned, shown, confirmed and journalled as if it were typed; -y confirms them "
    "all. What its reading statements answer is the output; the rest is talk. -n shows what would be done.",
    example="run reset_cold size=288g -y",
    params=(_RECIPE,),
    flags=(Flag(name="accept-opaque", help="let host commands of the recipe run"),),
    open_keys=True,
    recipe_ok=False,
)
def run(ctx: Context, call: Call) -> Result:
    """Return the records of the recipe's reading statements, in order."""
    recipe = load_recipe(ctx.home, call.text_arg("name"))
    values = values_of(recipe, call.extra)
    check_recipe(recipe)
    lines = [(line, line_of(recipe, line, values)) for line in recipe.lines if holds(line.when, values)]
    rack = ctx.need_rack()
    if "asm" in recipe.needs:
        ctx.asm()
    runner = _Runner(ctx, recipe, call.flags)
    before, ctx.origin = ctx.origin, recipe.name
    try:
        ctx.console.say(f"recipe {recipe.name} on {rack.name}: {recipe.title}")
        return runner.run(lines)
    finally:
        ctx.origin = before


class _Runner:
    """Runs the lines of one recipe and gathers what they answer."""

    def __init__(self, ctx: Context, recipe: Recipe, flags: Mapping[str, Value]) -> None:
        self._ctx = ctx
        self._recipe = recipe
        self._flags = flags
        self._first_change = len(ctx.changes)
        self._results: list[Result] = []
        self._codes: list[ExitCode] = []
        self._problems: list[str] = []

    def run(self, lines: Sequence[tuple[RecipeLine, Line]]) -> Result:
        """Run all lines; the final ones in any case. Raises what stopped the others when nothing else went wrong."""
        stopped: ExacellError | None = None
        for source, line in lines:
            if source.final or stopped is not None:
                continue
            try:
                self._one(source, line)
            except ExacellError as error:
                stopped = error
        for source, line in lines:
            if source.final:
                try:
                    self._one(source, line)
                except ExacellError as error:
                    self._problems.append(f"finally, line {source.number}: {error.message}")
                    self._codes.append(ExitCode.FAILED)
        return self._gathered(stopped)

    def _one(self, source: RecipeLine, line: Line) -> None:
        ctx = self._ctx
        if ctx.interrupted.is_set() and not source.final:
            raise InterruptedByUserError(f"recipe {self._recipe.name} was interrupted before line {source.number}")
        ctx.console.say(f"[{source.number}] {line.text}")
        if line.call is not None:
            flags = {**{k: v for k, v in self._flags.items() if k in _PASSED_ON}, **line.call.flags}
            line = replace(line, call=replace(line.call, flags=flags, text=line.call.text), flags=flags)
            if line.call is not None and line.call.command.words == ("undo", "run"):
                result = undo_changes(ctx, line.call, ctx.changes[self._first_change :])
                return self._keep(source, line, result)
        elif line.cellcli is not None:
            line = replace(line, flags={**{k: v for k, v in self._flags.items() if k in _PASSED_ON}, **line.flags})
        self._ceiling(line)
        interrupted = ctx.interrupted.is_set()
        result = ctx.execute(line)
        if interrupted:
            ctx.interrupted.set()
        self._keep(source, line, result)
        return None

    def _ceiling(self, line: Line) -> None:
        self._ctx.risk_ceiling = self._recipe.risk

    def _keep(self, source: RecipeLine, line: Line, result: Result) -> None:
        for note in result.notes:
            self._ctx.console.say(note)
        self._codes.append(result.exit_code)
        self._problems += list(result.problems)
        if line.effect is Effect.READ and result.data:
            self._results.append(result)
        elif result.text:
            self._ctx.console.say(result.text)
        if result.exit_code not in (ExitCode.DONE, ExitCode.CHANGES) and not source.final:
            first = result.problems[0] if result.problems else "it failed"
            error = RecipeError(f"recipe {self._recipe.name}, line {source.number} ({line.text}): {first}")
            error.exit_code = result.exit_code
            raise error

    def _gathered(self, stopped: ExacellError | None) -> Result:
        self._ctx.risk_ceiling = ""
        records = [record for result in self._results for record in result.records]
        columns = self._results[0].columns if len(self._results) == 1 else ()
        problems = list(dict.fromkeys(self._problems))
        code = worst(self._codes)
        if stopped is not None:
            problems = [p for p in problems if p not in stopped.message]
            problems.append(stopped.message)
            done = any(c is ExitCode.DONE for c in self._codes)
            code = worst([stopped.exit_code, ExitCode.FAILED if done and self._ctx.changes else stopped.exit_code])
        return Result(
            records=records, columns=columns, data=bool(self._results), fold=True, problems=problems, exit_code=code
        )


_PASSED_ON = frozenset({"yes", "dry-run", "detailed-exitcode", "reason", "ticket", "accept-opaque"})
"""Flags of ``run`` that hold for each of the recipe's statements; loss of data is never accepted wholesale."""


@command(
    "undo run",
    group=GROUP,
    effect=Effect.WRITE,
    summary="in a recipe's finally: put back what this run changed",
    details="Applies the recorded inverses of this run's changes, last first, as a plan of its own. Refused when one of "
    "them cannot be undone. At the prompt it takes back the changes of this session.",
    example="undo run",
)
def undo_run(ctx: Context, call: Call) -> Result:
    """Return one record per target with its outcome."""
    return undo_changes(ctx, call, ctx.changes)


def undo_changes(ctx: Context, call: Call, changes: Sequence[int]) -> Result:
    """Take back the changes with these numbers, newest first."""
    rack = ctx.need_rack().name
    entries = [ctx.journal.entries(rack=rack, change=number) for number in changes]
    plan = undo_plan(rack, entries, statement=call.text)
    if not plan.changes_something:
        ctx.console.say("undo run: there is nothing to take back")
        return Result()
    return ctx.change(plan, call)


_CHECK = re.compile(r"(?P<what>all|no|same)\s+(?P<facts>.+?)(?:\s+where\s+(?P<where>.+))?", re.IGNORECASE | re.DOTALL)
_FACT = re.compile(r"(?P<object>[A-Za-z]+)\.(?P<attribute>[A-Za-z]\w*)(?:\s*(?P<op>!=|>=|<=|=|>)\s*(?P<value>.+))?")
_WHERE = re.compile(r"(?P<attribute>[A-Za-z]\w*)\s*=\s*(?P<value>'[^']*'|\"[^\"]*\"|\S+)")


@command(
    "check",
    group=GROUP,
    effect=Effect.READ,
    summary="require a fact on every selected cell; the recipe stops when it does not hold",
    details="check all <object>.<attribute> <op> <value> [where a=b and …]: every such object; check no <object> [where …]: "
    "there is none; check same <object>.<attribute>, …: equal on all cells.",
    example="check all flashcache.status = normal",
    params=(
        Param(name="fact", kind=Kind.TEXT, positional=True, required=True, rest=True, help="all …, no … or same …"),
    ),
)
def check(ctx: Context, call: Call) -> Result:
    """Return nothing when it holds.

    Raises:
        RecipeError: it does not hold; names cell, object, attribute and value.
    """
    text = call.text_arg("fact")
    match = _CHECK.fullmatch(text)
    if match is None:
        raise StatementError(f"'{text}' is not a check: check all flashcache.status = normal")
    where = _where(match["where"])
    failures = _judge(ctx, match["what"].lower(), match["facts"], where)
    if failures:
        reason, cells = next(iter(failures.items()))
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        error = RecipeError(f"check {text}: {fold(cells)}: {reason}{more}" if cells else f"check {text}: {reason}")
        error.exit_code = ExitCode.FAILED
        raise error
    return Result()


def _where(text: str | None) -> dict[str, str | tuple[str, ...]]:
    if not text:
        return {}
    found: dict[str, str | tuple[str, ...]] = {}
    for part in re.split(r"\s+and\s+", text.strip(), flags=re.IGNORECASE):
        match = _WHERE.fullmatch(part.strip())
        if match is None:
            raise StatementError(f"'{part}' is not a condition of a check: attribute=value")
        found[match["attribute"]] = match["value"].strip("'\"")
    return found


def _judge(ctx: Context, what: str, facts: str, where: Mapping[str, str | tuple[str, ...]]) -> dict[str, list[str]]:
    """Return reason → cells for everything that does not hold."""
    failures: dict[str, list[str]] = {}
    for part in facts.split(",") if what == "same" else [facts]:
        kind, attribute, op, value = _fact(what, part.strip())
        columns = dict.fromkeys(["name", *([attribute] if attribute else []), *where])
        answers = ctx.query(f"list {kind} attributes {', '.join(columns)}")
        for problem in answers.problems:
            failures.setdefault(problem, [])
        tables = {cell: answer.tables[0] for cell, answer in answers.good.items()}
        if what == "same":
            _same(failures, kind, attribute, tables)
            continue
        wanted = Check(object=kind, attribute=attribute or "name", op=op, value=value, where=where)
        for cell, rows in tables.items():
            reason = failure(wanted, rows)
            if reason:
                failures.setdefault(reason.replace(cell, "<cell>"), []).append(cell)
    return failures


def _fact(what: str, text: str) -> tuple[str, str, Op, Value]:
    if what == "no":
        kind = find_object(text)
        if kind is None:
            raise StatementError(f"'{text}' is not an object that LIST knows")
        return kind.name.lower(), "", Op.ABSENT, None
    match = _FACT.fullmatch(text)
    if match is None or (what == "all") != (match["op"] is not None):
        raise StatementError(f"'{text}' is not a fact: flashcache.status = normal, or flashcache.size after same")
    kind = find_object(match["object"])
    if kind is None:
        raise StatementError(f"'{match['object']}' is not an object that LIST knows")
    attribute = kind.attributes.get(match["attribute"].lower())
    if attribute is None:
        raise StatementError(f"{match['attribute']} is not an attribute of {kind.name}: describe {kind.name.lower()}")
    if what == "same":
        return kind.name.lower(), attribute.name, Op.EQ, None
    return kind.name.lower(), attribute.name, Op(match["op"]), _wanted(match["value"].strip(), attribute.kind)


def _wanted(text: str, kind: str) -> Value:
    bare = text.strip("'\"")
    if kind == "size":
        try:
            return parse_size(bare)
        except UnitError as error:
            raise StatementError(error.message) from error
    if kind in ("int", "number", "percent") and re.fullmatch(r"\d+(\.\d+)?", bare):
        return float(bare) if "." in bare else int(bare)
    return bare


def _same(
    failures: dict[str, list[str]], kind: str, attribute: str, tables: Mapping[str, Sequence[Mapping[str, Any]]]
) -> None:
    groups: dict[tuple[str, ...], list[str]] = {}
    for cell, rows in tables.items():
        values = tuple(sorted(str(row.get(attribute)).replace(cell, "<cell>") for row in rows))
        groups.setdefault(values, []).append(cell)
    if len(groups) > 1:
        said = "; ".join(f"{fold(cells)} has {', '.join(values) or 'none'}" for values, cells in groups.items())
        failures.setdefault(f"{kind}.{attribute} differs: {said}", [])


@command(
    "wait",
    group=GROUP,
    effect=Effect.READ,
    summary="wait for a time, or until a check holds",
    details="wait 60s, or wait until all flashcache.status = normal (at most an hour). Ctrl-C ends the wait.",
    example="wait 1s",
    params=(
        Param(name="what", kind=Kind.TEXT, positional=True, required=True, rest=True, help="a duration or until …"),
    ),
)
def wait(ctx: Context, call: Call) -> Result:
    """Return nothing when the time has passed or the check holds."""
    text = call.text_arg("what")
    words = text.split(None, 1)
    if words[0].lower() != "until":
        seconds = parse_duration(text)
        if ctx.interrupted.wait(seconds):
            raise InterruptedByUserError(f"the wait of {format_duration(seconds)} was interrupted")
        return Result()
    match = _CHECK.fullmatch(words[1] if len(words) > 1 else "")
    if match is None:
        raise StatementError(f"'{text}' is not: wait until all flashcache.status = normal")
    poll = EMULATED_POLL if ctx.need_rack().emulated else POLL
    waited = 0.0
    while failures := _judge(ctx, match["what"].lower(), match["facts"], _where(match["where"])):
        if waited > LONGEST_WAIT:
            raise RecipeError(f"wait {text}: {next(iter(failures))} after {format_duration(waited)}")
        if ctx.interrupted.wait(poll):
            raise InterruptedByUserError(f"wait {text} was interrupted")
        waited += poll
    return Result()


LONGEST_WAIT = 3600.0
"""Seconds that ``wait until`` goes on."""

_TEXT = Param(name="text", kind=Kind.TEXT, positional=True, required=True, rest=True, help="in quotes")


@command(
    "prompt",
    group=GROUP,
    effect=Effect.READ,
    summary="say something to the operator",
    example='prompt "the caches are cold"',
    params=(_TEXT,),
)
def prompt(ctx: Context, call: Call) -> Result:
    """Return nothing; the text is talk."""
    ctx.console.say(call.text_arg("text").strip("'\""))
    return Result()


@command(
    "confirm",
    group=GROUP,
    effect=Effect.READ,
    summary="ask the operator; no, or nobody to ask, ends the recipe",
    example='confirm "is the load stopped?"',
    params=(_TEXT,),
)
def confirm(ctx: Context, call: Call) -> Result:
    """Return nothing when the operator said yes.

    Raises:
        RefusedError: the answer was no, or nobody could be asked.
    """
    if not ctx.console.confirm(call.text_arg("text").strip("'\"")):
        raise RefusedError(f"confirm {call.text_arg('text')}: the answer was not yes")
    return Result()


@command(
    "host",
    group=GROUP,
    effect=Effect.OPAQUE,
    summary="run a command on this machine, such as the load of a measurement",
    details="exacell can't read what it does: refused on production and read-only racks, else in a recipe only with "
    "--accept-opaque. A status other than 0 stops the recipe.",
    example="host 'date'",
    params=(Param(name="command", kind=Kind.COMMAND, positional=True, required=True, rest=True, help="for /bin/sh"),),
)
def host(ctx: Context, call: Call) -> Result:
    """Return its exit status as the exit code; its output is talk's neighbour on the terminal.

    Raises:
        RefusedError: it was not accepted.
    """
    text = call.text_arg("command")
    text = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
    rack = ctx.rack
    if rack is not None and (rack.production or ctx.read_only):
        raise RefusedError(f"host {text}: refused on {'a production' if rack.production else 'a read-only'} rack")
    if ctx.origin and not call.flag("accept-opaque"):
        raise RefusedError(
            f"host {text}: exacell can't read what this does; nothing was run", hint="run … --accept-opaque lets it"
        )
    done = subprocess.run(text, shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    for part in (done.stdout, done.stderr):
        if part.strip():
            ctx.console.say(part.rstrip("\n"))
    if done.returncode:
        return Result(problems=[f"host {text}: status {done.returncode}"], exit_code=ExitCode.FAILED)
    return Result()
