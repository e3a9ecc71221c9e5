"""Make a recipe ready to run: check its needs, read its values, and parse every line of it and of inner recipes.

Nothing is changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from exacell.cellcli.condition import is_condition
from exacell.change.readings import column_read
from exacell.change.waves import Targets, asked_of_waves
from exacell.core.cellset import CellSet, fold
from exacell.core.errors import CellSetError, ExacellError, RecipeError, RefusedError, StatementError
from exacell.core.units import MIB, counted, human_size
from exacell.core.values import dataclass
from exacell.language.line import Line
from exacell.language.reading import single
from exacell.language.registry import Call, Effect
from exacell.recipes.answers import Kept, only_reads, read_kept
from exacell.recipes.checker import check_recipe
from exacell.recipes.files import load_recipe
from exacell.recipes.filled import line_of, values_of, written_out
from exacell.recipes.needs import Need, unmet
from exacell.recipes.parsing import Problem, recipe_error
from exacell.recipes.rolling import WAVE
from exacell.recipes.values import holds, substitute
from exacell.session.logins import refuse_unless_root

if TYPE_CHECKING:
    from exacell.change.waves import Wave
    from exacell.language.reading import Reading
    from exacell.language.registry import Value
    from exacell.recipes.parsing import Let, Recipe, RecipeLine
    from exacell.recipes.record import Run
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session


@dataclass(frozen=True, kw_only=True)
class ReadyLine:
    """A line that may run, with everything that belongs to it.

    This is its place, the inner recipe that it runs, what it keeps, the values that its matrix chose, its wave of a rolling, and
    the statements of each run of an experiment.
    """

    source: RecipeLine
    line: Line
    inner: Ready | None = None
    kept: Kept | None = None
    chosen: Mapping[str, Value] = field(default_factory=dict)
    wave: Wave | None = None
    work: tuple[ReadyLine, ...] = ()

    @property
    def effect(self) -> Effect:
        """Return the effect that the line may have."""
        return self.line.effect if self.kept is None else self.kept.effect

    @property
    def place(self) -> str:
        """Return its place for a reader of the recipe: ``line 7``, ``line 7, size=288g``, ``line 7, wave 2 of 3 (cel02)``."""
        wave = [f"{self.wave} ({fold(self.wave.targets)})"] if self.wave is not None else self._chosen()
        return ", ".join([f"line {self.source.number}", *wave])

    def _chosen(self) -> list[str]:
        if self.wave is not None:
            return [str(self.wave)]
        return [" ".join(f"{name}={value}" for name, value in self.chosen.items())] if self.chosen else []

    def outline(self, *, below: str = "") -> str:
        """Return the statement as the list of the whole run shows it.

        Args:
            below: the cells of the wave under which it is listed; empty if it is not listed under a wave.
        """
        told = [*([] if below else self._chosen()), *(["finally"] if self.source.final else [])]
        line = self.line.text if self.line.on == below else self.line.whole
        return line + (f"  ({', '.join(told)})" if told else "")


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A recipe that may run."""

    recipe: Recipe
    lines: tuple[ReadyLine, ...]
    name: str = ""
    """Its name in the run."""
    place: str = ""
    """The place of the line that runs it, followed by a full stop; empty for the outermost recipe."""
    values: Mapping[str, str] = field(default_factory=dict)
    """The values that were read before the plan."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Its parameters, as given."""
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The cells and hosts of its lines, fixed before the plan; see :class:`Targets`."""

    def all(self) -> Iterator[Ready]:
        """Yield this recipe and the inner recipes that it runs."""
        yield self
        for each in self.lines:
            if each.inner is not None:
                yield from each.inner.all()

    def every(self) -> Iterator[ReadyLine]:
        """Yield all lines; those of an inner recipe replace the line that runs it, those of an experiment follow it."""
        for each in self.lines:
            if each.inner is None:
                yield each
                yield from replace(self, lines=each.work).every()
            else:
                yield from each.inner.every()

    def outline(self) -> list[str]:
        """Return one line of text for everything that will run; lines of inner recipes are indented."""
        left = " " * (len(str(len(self.lines))) + 2)
        found: list[str] = []
        for block, group in groupby(
            enumerate(self.lines, start=1), key=lambda each: each[1].wave and each[1].wave.line
        ):
            numbered = list(group)
            if block is None:
                found += [said for number, each in numbered for said in _listed(number, each, left)]
                continue
            found += _listed_in_waves(numbered, left)
        return found

    @property
    def rolls(self) -> bool:
        """Return whether any of its lines roll in waves."""
        return any(each.wave is not None for part in self.all() for each in part.lines)

    @property
    def changes(self) -> bool:
        """Return whether any part of it may change or keep something, or runs in any case."""
        return any(
            each.source.final or each.kept is not None or each.effect in (Effect.WRITE, Effect.OPAQUE)
            for each in self.every()
        )


def _listed(number: int, each: ReadyLine, left: str, *, below: str = "") -> Iterator[str]:
    """Yield one line for the list of the whole run, followed by the lines that it carries out itself."""
    yield f"{number:>{len(left)}}  {each.outline(below=below)}"
    for said in each.inner.outline() if each.inner is not None else ():
        yield left + said
    if each.work:
        yield f"{left}    each run:"
        for number, work in enumerate(each.work, start=1):
            yield from (f"{left}    {said}" for said in _listed(number, work, "  " + " " * len(str(len(each.work)))))


def _listed_in_waves(numbered: Sequence[tuple[int, ReadyLine]], left: str) -> Iterator[str]:
    """Yield the lines of a rolling under their waves; if they are many, equal waves share a line."""
    waves = [
        (wave, list(lines)) for wave, lines in groupby(numbered, key=lambda each: each[1].wave) if wave is not None
    ]
    alike = groupby(waves, key=lambda each: [_identity_in_wave(line) for _, line in each[1]])
    for _, run in alike:
        first, *rest = run
        shown = [first, *rest] if len(numbered) <= _MOST_WHOLE or len(rest) == 1 else [first]
        for wave, lines in shown:
            yield f"{left}  {wave}: {fold(wave.targets)}"
            for number, each in lines:
                yield from _listed(number, each, left + "  ", below=str(CellSet(wave.targets)))
        if len(shown) == 1 and rest:
            cells = [name for wave, _ in rest for name in wave.targets]
            size = max(len(wave.targets) for wave, _ in rest)
            last = rest[-1]
            yield (
                f"{left}  waves {rest[0][0].number} to {last[0].number}: {fold(cells)}, {size} at a time, the same: "
                f"{rest[0][1][0][0]} to {last[1][-1][0]}"
            )


_MOST_WHOLE = 12
"""The largest number of lines for which a rolling is listed wave by wave."""


def _identity_in_wave(each: ReadyLine) -> tuple[int, str]:
    """Return what identifies a line in its wave: its line number, and the cells that it names itself."""
    own = each.line.on if each.wave is not None and each.line.on != str(CellSet(each.wave.targets)) else ""
    return each.source.number, own


@dataclass(frozen=True, kw_only=True)
class _Within:
    """The line that runs a recipe within another one.

    Attributes:
        names: the recipes that run it.
        place: the place of the line, followed by a full stop.
        on: the cells or hosts that this line names; empty for none.
        rolled: this line belongs to a rolling.
    """

    names: tuple[str, ...] = ()
    place: str = ""
    on: str = ""
    rolled: bool = False


_ALONE = _Within()
"""The value for a recipe that no other one runs."""


def make_ready(
    session: Session,
    services: Services,
    request: Request,
    name: str,
    given: Mapping[str, str],
    *,
    run: Run | None = None,
    within: _Within = _ALONE,
) -> Ready:
    """Return the recipe with this name and these parameters, ready to run; cells are only asked.

    Args:
        run: an earlier run whose texts and values are used; nothing is asked then.
        within: the line of another recipe that runs it.

    Raises:
        RecipeError: there is no such recipe, it is wrong, it runs itself, a need is not met, or a value can't be read.
    """
    recipe = load_recipe(session.home, name) if run is None else run.draft(name).recipe
    if recipe.name in within.names:
        raise RecipeError(
            f"recipe {recipe.name} calls itself: {' → '.join((*within.names, recipe.name))}",
            hint="remove one of these lines",
        )
    values = values_of(recipe, given)
    check_recipe(recipe)
    read: Mapping[str, str] = {} if run is None else run.values.get(within.place, {})
    settled = None if run is None else run.targets.get(within.place, {})
    targets = Targets(session, services, request, on=within.on, rolled=within.rolled, kept=settled)
    if run is None:
        with targets.in_use():
            _refuse_unmet(session, services, request, recipe)
            if "asm" in recipe.needs:
                services.asm()
            read = {let.name: v for let, v in read_values(session, services, request, recipe, values, tell=True)}
    values.update(read)
    lines: list[ReadyLine] = []
    for source, known in written_out(recipe, values, targets.waves):
        if not holds(source.when, known):
            continue
        wave, parsed = targets.wave(source, known), line_of(recipe, source, known)
        if parsed.on and run is None and not is_condition(parsed.on):
            _refuse_nobody(session, recipe, source, parsed.on)
        try:
            line = targets.line(source, parsed, wave)
        except ExacellError as error:
            error.message = f"recipe {recipe.name}, line {source.number}: {error.message}"
            raise
        if line is None:
            continue  # The line is for no cell of this wave.
        if line.cellcli is not None and line.cellcli.verb == "CALIBRATE":
            refuse_unless_root(session)  # Refuse this before a cell is taken offline for it.
        inner = None
        if line.call is not None and line.call.command.words == ("run",):
            inside = _Within(
                names=(*within.names, recipe.name),
                place=f"{within.place}{len(lines) + 1}.",
                on=line.on,
                rolled=within.rolled or wave is not None,
            )
            try:
                inner = _ready_inner(session, services, request, line.call, run, inside)
            except (RecipeError, RefusedError) as error:
                raise RecipeError(
                    f"recipe {recipe.name}, line {source.number}: {error.message}", hint=error.hint
                ) from error
        chosen = {axis.name: known[axis.name] for axis in (source.matrix.axes if source.matrix is not None else ())}
        chosen |= {WAVE.name: wave.number} if wave is not None else {}
        kept = _kept(recipe, source, line)
        made = ReadyLine(source=source, line=line, inner=inner, kept=kept, chosen=chosen, wave=wave)
        if not source.experiment:
            lines.append(made)
        elif lines and lines[-1].source.number == source.experiment:
            lines[-1] = _with_work(lines[-1], made, substitute(source.text, known))
    ready = Ready(
        recipe=recipe,
        lines=tuple(lines),
        name=name,
        place=within.place,
        values=read,
        given=given,
        targets=targets.settled,
    )
    if not within.names:
        _refuse_same_names(ready)
    return ready


def _ready_inner(
    session: Session, services: Services, request: Request, call: Call, run: Run | None, within: _Within
) -> Ready:
    """Return the inner recipe that a line runs, ready to run.

    Raises:
        RecipeError, RefusedError: as for :func:`make_ready`, or it can't be rolled as the line wants.
    """
    inner = make_ready(session, services, request, call.text_arg("name"), call.extra, run=run, within=within)
    if run is None:
        asked_of_waves(session, call.flags, rolls=inner.rolls)
    return inner


def _refuse_nobody(session: Session, recipe: Recipe, source: RecipeLine, on: str) -> None:
    """Raise RecipeError if the rack has no cell or host that a line names; ``finally`` could not run either.

    Raises:
        RecipeError: the rack has no such cell or host.
    """
    try:
        session.selection.targets(on)
    except CellSetError as error:
        raise RecipeError(
            f"recipe {recipe.name}, line {source.number}: {error.message}; nothing was run", hint=error.hint
        ) from error


def _kept(recipe: Recipe, source: RecipeLine, line: Line) -> Kept | None:
    """Return what a line keeps, None if it keeps nothing.

    Raises:
        RecipeError: with these values the line can't keep anything.
    """
    if line.call is None or line.call.command.words != ("keep",):
        return None
    try:
        return read_kept(line.call)
    except StatementError as error:
        problem = Problem(number=source.number, message=error.message, hint=error.hint)
        raise recipe_error(recipe.name, [problem]) from error


def _refuse_same_names(ready: Ready) -> None:
    """Raise RecipeError if two lines of a run keep something under one name.

    Raises:
        RecipeError: two do.
    """
    names: dict[str, str] = {}
    for each in ready.every():
        if each.kept is None:
            continue
        other = names.get(each.kept.name.lower())
        if other is not None:
            raise RecipeError(
                f"recipe {ready.recipe.name} would keep {each.kept.name} twice: {other}; {each.line.text}; "
                "nothing was run",
                hint="as=NAME_${x} gives each line of a matrix its own name",
            )
        names[each.kept.name.lower()] = each.line.text


def read_values(
    session: Session,
    services: Services,
    request: Request,
    recipe: Recipe,
    values: Mapping[str, Value],
    *,
    tell: bool = False,
) -> Iterator[tuple[Let, str]]:
    """Yield each value that a recipe reads before its plan, with its text as it is put into statements.

    Args:
        values: of the parameters.
        tell: show each value.

    Raises:
        RecipeError: a value can't be read.
    """
    known = dict(values)
    for let in recipe.lets:
        found, shown, reading = _read(session, services, request, recipe, let, known)
        text = known[let.name] = str(found).lower() if isinstance(found, bool) else str(found)
        if tell:
            services.console.say(f"{let.name} = {text}{f' ({shown})' if shown else ''}: {reading}")
        yield let, text


def _with_work(experiment: ReadyLine, work: ReadyLine, text: str) -> ReadyLine:
    """Return the line of an experiment with one more statement that each run carries out."""
    call = experiment.line.call
    assert call is not None
    given = call.args.get("workload")
    known = given if isinstance(given, tuple) else ()
    call = replace(call, args={**call.args, "workload": (*known, text)})
    return replace(experiment, line=replace(experiment.line, call=call), work=(*experiment.work, work))


def _read(
    session: Session, services: Services, request: Request, recipe: Recipe, let: Let, values: Mapping[str, Value]
) -> tuple[Any, str, Reading]:
    """Return the present value, its text for people if it is a size, and the reading that returned it."""
    try:
        reading = replace(let.reading, statement=substitute(let.reading.statement, values))
        if let.reading.key:
            reading = replace(reading, key=substitute(let.reading.key, values).strip("\"'"))
        column, kind = column_read(session, services, request, reading)
        found, unit = single(reading, column), {"size": 1, "mib": MIB}.get(kind)
        return found, human_size(found * unit) if unit and isinstance(found, int) else "", reading
    except (StatementError, RecipeError) as error:
        problem = Problem(number=let.number, message=f"let {let.name}: {error.message}", hint=error.hint)
        raise recipe_error(recipe.name, [problem]) from error
    except ExacellError as error:
        error.message = f"recipe {recipe.name}, line {let.number}: let {let.name}: {error.message}"
        raise


def _refuse_unmet(session: Session, services: Services, request: Request, recipe: Recipe) -> None:
    """Raise RecipeError if a need of the recipe is not met.

    Raises:
        RecipeError: names the cells, and the release or mode that they have instead.
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
            raise RecipeError(
                f"recipe {recipe.name} needs {need}: {answers.problems[0]}",
                hint="when it answers, run it again; or leave it out with `use`",
            )
        wrong: dict[str, list[str]] = {}
        for cell, answer in answers.good.items():
            why = unmet(need, answer.tables[0])
            if why:
                wrong.setdefault(why, []).append(cell)
        if wrong:
            why, cells = next(iter(wrong.items()))
            raise RecipeError(
                f"recipe {recipe.name} needs {need}: {fold(cells)} {why}; nothing was run",
                hint="`use` leaves cells out; the recipe's line 'needs' has the rule",
            )


_HOSTS = '[racks.NAME.hosts.GROUP] nodes="..." in the configuration defines a group'


def opaque_accepted(
    session: Session,
    services: Services,
    ready: Ready,
    *,
    accepted: bool,
    dry: bool,
    loads: frozenset[str] = frozenset(),
) -> bool:
    """Return True if unreadable parts of the recipe may run, False if no part of it needs consent.

    They may run if they were accepted. If not, the user is asked once, if the recipe says ``needs opaque`` or a load was given.

    Args:
        loads: the commands of this machine that were given for it.

    Raises:
        RefusedError: the answer was no, or nobody was there to answer.
    """
    if accepted or not (loads or "opaque" in ready.recipe.needs):
        return accepted
    if dry:
        return True  # The recipe is only shown; nothing is sent.
    opaque = [each for each in ready.every() if each.effect is Effect.OPAQUE]
    texts = list(
        dict.fromkeys(each.line.whole for each in opaque if not only_reads((each.kept and each.kept.line) or each.line))
    )
    if not texts or session.need_rack().opaque == "allow":
        return False
    services.console.say(f"recipe {ready.recipe.name} runs commands that exacell can't read and can't guard:")
    for text in texts:
        services.console.say(f"  {text}")
    answer = services.console.confirm(f"run {counted(len(texts), 'command')} unguarded?")
    if answer is None:
        raise RefusedError(
            f"recipe {ready.recipe.name}: there is no terminal for the question; nothing was run",
            hint="`run … --accept-opaque` allows it",
        )
    if not answer:
        raise RefusedError(
            f"recipe {ready.recipe.name}: the answer was not yes; nothing was run", hint="-n shows what it would do"
        )
    return True
