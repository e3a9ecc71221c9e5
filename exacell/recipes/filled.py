"""Put values into a recipe: those of its parameters, of its lets, of each matrix and of each wave. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from exacell.core.errors import RecipeError, StatementError
from exacell.core.meant import ask_for
from exacell.language.kinds import convert
from exacell.language.registry import Kind, Param, Value
from exacell.recipes.parsing import Problem, Recipe, RecipeLine, recipe_error
from exacell.recipes.rolling import WAVE, Turns
from exacell.recipes.values import NO_HELP, substitute

if TYPE_CHECKING:
    from exacell.language.line import Line


def values_of(recipe: Recipe, given: Mapping[str, str]) -> dict[str, Value]:
    """Return a value for every parameter, converted by its kind.

    Raises:
        RecipeError: a parameter is unknown or missing, or a value is not of its kind.
    """
    known = {param.name.lower(): param for param in recipe.params}
    for key in given:
        if key.lower() not in known:
            near = ask_for(key, known, limit=2)
            takes = ", ".join(param.name for param in recipe.params) or "none"
            raise RecipeError(
                f"recipe {recipe.name} has no parameter {key}{'' if near else f': it takes {takes}'}", hint=near
            )
    lowered = {key.lower(): value for key, value in given.items()}
    found: dict[str, Value] = {}
    for param in recipe.params:
        text = lowered.get(param.name.lower(), param.default)
        if text is None:
            told = f": {param.help}" if param.help != NO_HELP else ""
            raise RecipeError(f"recipe {recipe.name} needs {param.name}=<{param.kind}>{told}")
        try:
            convert(param, text, 0, len(text))
        except StatementError as error:
            raise RecipeError(f"recipe {recipe.name}: {error.message}", hint=error.hint) from error
        # Statements get the text as given; an extra word of the parameter gets the declared spelling.
        found[param.name] = next((word for word in param.words if word.lower() == text.lower()), text)
    return found


def written_out(
    recipe: Recipe, values: Mapping[str, Value], waves: Callable[[Turns, int, str], int]
) -> Iterator[tuple[RecipeLine, Mapping[str, Value]]]:
    """Yield the lines of a recipe with their values, in order.

    The lines of a matrix come once for each combination of its values, those of a rolling once for each wave.

    Args:
        waves: returns the number of waves of a rolling; it gets the rolling's line, the most cells of a wave, and the ON text.

    Raises:
        RecipeError: a matrix has no value or too many, or the size of a rolling is not a number.
    """
    for (matrix, turns), lines in groupby(recipe.lines, key=lambda line: (line.matrix, line.turns)):
        block = list(lines)
        every: list[dict[str, Value]] = [{}]
        try:
            if matrix is not None:
                every = matrix.combinations(values)
            elif turns is not None:
                named = RecipeLine(number=turns.number, text=f"on {turns.on} list cell")
                many = waves(turns, turns.most(values), line_of(recipe, named, values).on if turns.on else "")
                every = [{WAVE.name: str(number)} for number in range(1, many + 1)]
        except StatementError as error:
            number = matrix.number if matrix is not None else turns.number if turns is not None else 0
            problem = Problem(number=number, message=error.message, hint=error.hint)
            raise recipe_error(recipe.name, [problem]) from error
        for own in every:
            yield from ((line, {**values, **own}) for line in block)


def names_in(recipe: Recipe, line: RecipeLine | None = None) -> tuple[Param, ...]:
    """Return the parameters that ``$name`` may name in a line: those of the header, of the lets and of the line's block."""
    read = [Param(name=let.name, kind=Kind.TEXT, help="read before the plan", required=True) for let in recipe.lets]
    if line is None:
        return (*recipe.params, *read)
    own = line.matrix.params if line.matrix is not None else ()
    return (*recipe.params, *read, *own, *([WAVE] if line.turns is not None else []))


def line_of(recipe: Recipe, line: RecipeLine, values: Mapping[str, Value]) -> Line:
    """Return the parsed statement of one recipe line with its values put in.

    Raises:
        RecipeError: the line is not a statement, or one that is not allowed in a recipe.
    """
    from exacell.language.line import parse_line

    try:
        text = substitute(line.text, values)
        parsed = parse_line(text, shell=False)
    except (StatementError, RecipeError) as error:
        problem = Problem(number=line.number, message=error.message, hint=error.hint)
        raise recipe_error(recipe.name, [problem]) from error
    if parsed is None or (parsed.call is not None and not parsed.call.command.recipe_ok):
        what = "nothing" if parsed is None or parsed.call is None else parsed.call.command.name
        raise recipe_error(recipe.name, [Problem(number=line.number, message=f"{what} can't be used in a recipe")])
    return parsed
