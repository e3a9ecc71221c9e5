"""Make a recipe ready to run: what it needs is there, its values are read, every line of it and of recipes in it is parsed.

Nothing has been changed by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from exacell.change.readings import values_read
from exacell.core.cellset import fold
from exacell.core.errors import ExacellError, RecipeError, RefusedError, StatementError
from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.language.reading import shown_beside, single
from exacell.language.registry import Effect
from exacell.recipes.checker import check_recipe
from exacell.recipes.files import load_recipe
from exacell.recipes.needs import Need, unmet
from exacell.recipes.parsing import Problem, line_of, recipe_error, values_of, written_out
from exacell.recipes.values import holds, substitute

if TYPE_CHECKING:
    from exacell.language.line import Line
    from exacell.language.registry import Value
    from exacell.recipes.parsing import Let, Recipe, RecipeLine
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session


@dataclass(frozen=True, kw_only=True)
class ReadyLine:
    """A line that may run, where it stands, the recipe that it runs, where it does, what its matrix chose for it, and what each
    run of an experiment carries out."""

    source: RecipeLine
    line: Line
    inner: Ready | None = None
    chosen: Mapping[str, Value] = field(default_factory=dict)
    work: tuple[ReadyLine, ...] = ()

    @property
    def place(self) -> str:
        """Where it comes from, for who reads the recipe: ``line 7``, ``line 7, size=288g``."""
        return ", ".join([f"line {self.source.number}", *self._chosen()])

    def _chosen(self) -> list[str]:
        return [" ".join(f"{name}={value}" for name, value in self.chosen.items())] if self.chosen else []

    def outline(self) -> str:
        """Return the statement as the list of a whole run shows it."""
        told = [*self._chosen(), *(["finally"] if self.source.final else [])]
        on = f"on {self.line.on} " if self.line.on else ""
        return f"{on}{self.line.text}" + (f"  ({', '.join(told)})" if told else "")


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A recipe that may run."""

    recipe: Recipe
    lines: tuple[ReadyLine, ...]

    def every(self) -> Iterator[ReadyLine]:
        """Yield all lines, those of recipes in it in place of the line that runs them, those of an experiment behind it."""
        for each in self.lines:
            if each.inner is None:
                yield each
                yield from replace(self, lines=each.work).every()
            else:
                yield from each.inner.every()

    def outline(self) -> list[str]:
        """Return all that will run, a line each, those of recipes in it indented below the line that runs them."""
        width = len(str(len(self.lines)))
        found: list[str] = []
        for number, each in enumerate(self.lines, start=1):
            found.append(f"  {number:{width}}  {each.outline()}")
            found += [f"  {' ' * width}{said}" for said in (each.inner.outline() if each.inner is not None else [])]
            if each.work:
                found.append(f"  {' ' * width}    each run:")
                found += [f"  {' ' * width}    {said}" for said in replace(self, lines=each.work).outline()]
        return found

    @property
    def changes(self) -> bool:
        """Whether anything of it may change something, or runs whatever happens."""
        return any(each.source.final or each.line.effect in (Effect.WRITE, Effect.OPAQUE) for each in self.every())


def make_ready(
    session: Session,
    services: Services,
    request: Request,
    name: str,
    given: Mapping[str, str],
    within: Sequence[str] = (),
) -> Ready:
    """Return the recipe of that name with these parameters, ready to run; cells are only asked.

    Args:
        within: the recipes that run it.

    Raises:
        RecipeError: there is no such recipe, it is wrong, runs itself, needs what is not there, or a value can't be read.
    """
    recipe = load_recipe(session.home, name)
    if recipe.name in within:
        raise RecipeError(f"recipe {recipe.name} runs itself: {' → '.join((*within, recipe.name))}")
    values = values_of(recipe, given)
    check_recipe(recipe)
    _refuse_unmet(session, services, request, recipe)
    if "asm" in recipe.needs:
        services.asm()
    for let in recipe.lets:
        values[let.name] = _read(session, services, request, recipe, let, values)
    lines: list[ReadyLine] = []
    for source, known in written_out(recipe, values):
        if not holds(source.when, known):
            continue
        line = line_of(recipe, source, known)
        inner = None
        if line.call is not None and line.call.command.words == ("run",):
            try:
                inner = make_ready(
                    session, services, request, line.call.text_arg("name"), line.call.extra, (*within, recipe.name)
                )
            except RecipeError as error:
                raise RecipeError(
                    f"recipe {recipe.name}, line {source.number}: {error.message}", hint=error.hint
                ) from error
        chosen = {axis.name: known[axis.name] for axis in (source.matrix.axes if source.matrix is not None else ())}
        ready = ReadyLine(source=source, line=line, inner=inner, chosen=chosen)
        if not source.experiment:
            lines.append(ready)
        elif lines and lines[-1].source.number == source.experiment:
            lines[-1] = _with_work(lines[-1], ready, substitute(source.text, known))
    return Ready(recipe=recipe, lines=tuple(lines))


def _with_work(experiment: ReadyLine, work: ReadyLine, text: str) -> ReadyLine:
    """Return the line of an experiment each run of which carries one more statement out."""
    call = experiment.line.call
    assert call is not None
    given = call.args.get("workload")
    known = given if isinstance(given, tuple) else ()
    call = replace(call, args={**call.args, "workload": (*known, text)})
    return replace(experiment, line=replace(experiment.line, call=call), work=(*experiment.work, work))


def _read(
    session: Session, services: Services, request: Request, recipe: Recipe, let: Let, values: Mapping[str, Value]
) -> str:
    """Return what a value is now, as it is put into statements, and tell it."""
    try:
        reading = replace(let.reading, statement=substitute(let.reading.statement, values))
        if let.reading.key:
            reading = replace(reading, key=substitute(let.reading.key, values).strip("\"'"))
        found = single(reading, values_read(session, services, request, reading))
    except (StatementError, RecipeError) as error:
        problem = Problem(number=let.number, message=f"let {let.name}: {error.message}", hint=error.hint)
        raise recipe_error(recipe.name, [problem]) from error
    except ExacellError as error:
        error.message = f"recipe {recipe.name}, line {let.number}: let {let.name}: {error.message}"
        raise
    text = str(found).lower() if isinstance(found, bool) else str(found)
    as_size = shown_beside(found, "G") if isinstance(found, int) and abs(found) >= 1 << 20 else ""
    services.console.say(f"{let.name} = {text}{f' ({as_size})' if as_size else ''}: {reading}")
    return text


def _refuse_unmet(session: Session, services: Services, request: Request, recipe: Recipe) -> None:
    """Return when all that a recipe needs is there.

    Raises:
        RecipeError: something is not; names cells and what they have.
    """
    needs = [Need.of(text) for text in recipe.needs]
    rack = session.need_rack()
    for need in needs:
        if need.word == "hosts" and need.value not in rack.host_groups:
            known = ", ".join(rack.host_groups) or "none"
            raise RecipeError(
                f"recipe {recipe.name} needs hosts={need.value}: rack {rack.name} has {known}", hint=_HOSTS
            )
    for need in needs:
        if not need.statement:
            continue
        answers = services.query(need.statement, timeout=request.read_timeout)
        if answers.problems:
            raise RecipeError(f"recipe {recipe.name} needs {need}: {answers.problems[0]}")
        wrong: dict[str, list[str]] = {}
        for cell, answer in answers.good.items():
            why = unmet(need, answer.tables[0])
            if why:
                wrong.setdefault(why, []).append(cell)
        if wrong:
            why, cells = next(iter(wrong.items()))
            raise RecipeError(f"recipe {recipe.name} needs {need}: {fold(cells)} {why}; nothing was run")


_HOSTS = '[racks.NAME.hosts.GROUP] nodes="..." in the configuration names a group'


def consent(services: Services, ready: Ready, *, accepted: bool, dry: bool) -> bool:
    """Return whether what exacell can't read in the recipe may run: it was accepted, or is asked for once, where the recipe
    says that it ``needs opaque``.

    Raises:
        RefusedError: the answer was no.
    """
    if accepted or dry or "opaque" not in ready.recipe.needs:
        return accepted
    texts = list(dict.fromkeys(each.line.text for each in ready.every() if each.line.effect is Effect.OPAQUE))
    if not texts:
        return False
    services.console.say(f"recipe {ready.recipe.name} runs what exacell does not read; the guard ends there:")
    for text in texts:
        services.console.say(f"  {text}")
    answer = services.console.confirm(f"run {counted(len(texts), 'command')} unguarded?")
    if answer is None:
        return False  # Each is refused by its own rule, which names the way out.
    if not answer:
        raise RefusedError(f"recipe {ready.recipe.name}: the answer was not yes; nothing was run")
    return True
