"""Check recipes without running them: every word of every line, against grammar, registry and schema. Pure.

Each line is parsed with a sample value for each parameter, and once more for each word that a parameter allows. A misspelt word
is replaced by its most likely correction and parsing continues, so that one check finds all errors of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from exacell.core.errors import ExacellError, RecipeError, StatementError
from exacell.core.meant import closest, ratio
from exacell.language.kinds import convert
from exacell.language.line import Line, parse_line
from exacell.language.registry import Kind, Param, Value
from exacell.recipes.filled import names_in
from exacell.recipes.parsing import Draft, Let, Problem, Recipe, RecipeLine, recipe_error
from exacell.recipes.values import UnknownParameterError, conditions, letters, with_places
from exacell.recipes.words import of_reading, unknown_words

_MOST = 8
"""Maximum number of errors that are looked for in one line."""

_SURE = 0.75
"""How similar a word and its suggested correction must be (0 to 1) for the line to be parsed on with the correction."""

_SAMPLES: Mapping[Kind, str] = {
    Kind.SIZE: "16m",
    Kind.INT: "1",
    Kind.NUMBER: "1",
    Kind.DURATION: "1s",
    Kind.CELLSET: "cel01",
    Kind.COMMAND: "true",
}

_ANYTHING = (Kind.TEXT, Kind.NAME, Kind.FILE, Kind.COMMAND)
"""Kinds that accept any word, so that a sample of them proves nothing."""


def check_recipe(recipe: Recipe) -> None:
    """Raise RecipeError if a line of the recipe is wrong for at least one value of its parameters.

    Raises:
        RecipeError: names the first line that is wrong, and how many problems there are.
    """
    found = problems_of(Draft(recipe=recipe))
    if found:
        raise recipe_error(recipe.name, found)


def problems_of(draft: Draft) -> tuple[Problem, ...]:
    """Return all problems of a recipe, in the order of its lines; empty if it may run."""
    recipe = draft.recipe
    found = [*draft.problems]
    for let in recipe.lets:
        found += [
            Problem(number=let.number, message=said, hint=hint) for said, hint in _errors_of_let(recipe, let).items()
        ]
    for turns in dict.fromkeys(line.turns for line in recipe.lines if line.turns is not None and line.turns.on):
        named = RecipeLine(number=turns.number, text=f"on {turns.on} list cell")
        found += [
            Problem(number=turns.number, message=said, hint=hint)
            for said, hint in _errors_of_line(recipe, named).items()
        ]
    for line in recipe.lines:
        found += [
            Problem(number=line.number, message=said, hint=hint) for said, hint in _errors_of_line(recipe, line).items()
        ]
    return tuple(sorted(dict.fromkeys(found), key=lambda problem: problem.number))


def remarks_of(recipe: Recipe) -> tuple[str, ...]:
    """Return a remark for each line that is allowed but probably wrong: it has ``$name`` in quotes, where it is not replaced."""
    why = "is in quotes, where it is not replaced; write it without quotes (in SQL write ${name})"
    return tuple(
        f"line {line.number}: {found} {why}"
        for line in recipe.lines
        for found in letters(line.text, {param.name.lower() for param in names_in(recipe, line)})
    )


def _errors_of_let(recipe: Recipe, let: Let) -> dict[str, str]:
    """Return message → hint for the errors of one ``let``, which may use parameters and the lets above it."""
    before = replace(recipe, lets=recipe.lets[: recipe.lets.index(let)])
    params = {param.name.lower(): param for param in names_in(before)}
    samples = {param.name: sample(param) for param in params.values()}
    found = _errors_with(let.reading.statement, samples, params)
    if found:
        return found
    statement = with_places(let.reading.statement, samples)[0]
    anything = [str(samples[param.name]) for param in params.values() if _proves_nothing(param.name, samples, params)]
    return dict(of_reading(replace(let.reading, statement=statement), anything))


def _errors_of_line(recipe: Recipe, line: RecipeLine) -> dict[str, str]:
    """Return message → hint for the errors of one line."""
    found: dict[str, str] = {}
    named = names_in(recipe, line)
    params = {param.name.lower(): param for param in named}
    found.update(_errors_of_condition(line.when, params))
    samples = {param.name: sample(param) for param in named}
    found.update(_errors_with(line.text, samples, params))
    for param in named:
        if not re.search(rf"\$\{{?{param.name}\b", line.text, re.IGNORECASE):
            continue
        for word in (*param.choices, *param.words):
            if word != samples[param.name] and _may_be(line.when, param, word):
                again = _errors_with(line.text, {**samples, param.name: word}, params)
                # An error that does not depend on the word was already found with the sample.
                found.update({said: hint for said, hint in again.items() if f"with ${param.name} = {word}" in said})
    return found


def sample(param: Param) -> Value:
    """Return a value that a parameter may have; never one of its extra words, which ``when`` may exclude."""
    if param.choices:
        return param.default if param.default in param.choices else param.choices[0]
    if param.default is not None and param.default.lower() not in (word.lower() for word in param.words):
        return param.default
    return _SAMPLES.get(param.kind, "x")


def _errors_of_condition(when: str, params: Mapping[str, Param]) -> Iterator[tuple[str, str]]:
    try:
        parts = conditions(when)
    except RecipeError as error:
        yield error.message, error.hint
        return
    for left, _, right in parts:
        if not left.startswith("$") and not right.startswith("$"):
            named = params.get(left.lower()) or params.get(right.lower())
            yield (
                f"when must compare a parameter ($name); '{left}' and '{right}' are plain words",
                f"did you mean ${named.name}?" if named else "",
            )
        sides = []
        for side in (left, right):
            name = side[1:].lower() if side.startswith("$") else ""
            if name and name not in params:
                unknown = UnknownParameterError(side[1:], [param.name for param in params.values()])
                yield unknown.message, unknown.hint
            sides.append(params.get(name))
        for param, other in ((sides[0], right), (sides[1], left)):
            if param is None or other.startswith("$"):
                continue
            try:
                convert(param, other.strip("\"'"), 0, 0)
            except StatementError as error:
                yield (
                    f"when compares ${param.name} with a value that it can't have: {error.message}",
                    _near(other, param),
                )


def _near(word: str, param: Param) -> str:
    near = closest(word.strip("\"'"), (*param.choices, *param.words))
    return f"did you mean {near[0]}?" if near else ""


def _may_be(when: str, param: Param, word: str) -> bool:
    """Return whether a condition allows this word for a parameter; comparisons of other parameters are ignored."""
    try:
        parts = conditions(when)
    except RecipeError:
        return True
    for left, operator, right in parts:
        if f"${param.name}".lower() in (left.lower(), right.lower()):
            other = right if left.startswith("$") else left
            if not other.startswith("$") and (other.strip("\"'").lower() == word.lower()) != (operator == "="):
                return False
    return True


def _errors_with(text: str, values: Mapping[str, Value], params: Mapping[str, Param]) -> dict[str, str]:
    """Return message → hint for the errors of a line when its parameters have these values."""
    found: dict[str, str] = {}
    known = dict(values)
    for _ in range(_MOST):
        try:
            full, places = with_places(text, known)
        except UnknownParameterError as error:
            told = UnknownParameterError(error.name, values)
            found[told.message] = told.hint
            known[error.name] = "x"
            continue
        except ExacellError as error:
            found[error.message] = error.hint
            return found
        break
    else:
        return found
    from_values = [
        (start, end, _given(names, values), all(_proves_nothing(name, values, params) for name in names))
        for start, end, names in places
    ]
    line, wrong = _parsed(full)
    for fault in wrong:
        inside = next(
            (
                place
                for place in from_values
                if fault.start is not None and place[0] <= fault.start and (fault.end or fault.start) <= place[1]
            ),
            None,
        )
        if inside is None:
            found[fault.message] = fault.hint
        elif not inside[3]:
            found[f"{fault.message} (with {inside[2]})"] = fault.hint
    if line is not None:
        found.update(unknown_words(line, _sample_words(from_values, full), guessed=bool(wrong)))
    return found


def _given(names: Iterable[str], values: Mapping[str, Value]) -> str:
    lowered = {key.lower(): (key, value) for key, value in values.items()}
    return ", ".join(f"${lowered[name][0]} = {lowered[name][1]}" for name in names if name in lowered)


def _proves_nothing(name: str, values: Mapping[str, Value], params: Mapping[str, Param]) -> bool:
    """Return whether the value of a parameter is only a sample for any possible word."""
    param = params.get(name)
    if param is None:
        return True  # An unknown parameter is reported elsewhere.
    lowered = {key.lower(): value for key, value in values.items()}
    return param.default is None and param.kind in _ANYTHING and lowered.get(name) == sample(param)


def _sample_words(places: Iterable[tuple[int, int, str, bool]], text: str) -> frozenset[str]:
    """Return the words of a line that are samples for any possible value."""
    return frozenset(text[start:end].strip("\"'") for start, end, _, anything in places if anything)


def _parsed(text: str) -> tuple[Line | None, list[StatementError]]:
    """Return the line in ``text``, with probable corrections, and the errors with their places in ``text``."""
    wrong: list[StatementError] = []
    moved: list[tuple[int, int]] = []
    """(offset, number of characters) of each place at which the text has grown."""
    for _ in range(_MOST):
        try:
            line = parse_line(text, shell=False)
        except StatementError as error:
            mended = _mended(text, error)
            wrong.append(_in_original(error, moved))
            if mended is None:
                return None, wrong
            place, by, text = mended
            moved.append((place, by))
            continue
        except ExacellError as error:
            wrong.append(StatementError(error.message, hint=error.hint))
            return None, wrong
        return line, wrong
    return None, wrong


def _mended(text: str, error: StatementError) -> tuple[int, int, str] | None:
    """Return place, growth and the text with a misspelt word corrected; None if there is no likely correction."""
    if not error.suggestions or error.start is None or error.end is None or error.start >= error.end:
        return None
    meant = error.suggestions[0]
    old = text[error.start : error.end]
    if meant == old or ratio(old.lower(), meant.lower()) < _SURE:
        return None
    return error.start, len(meant) - len(old), text[: error.start] + meant + text[error.end :]


def _in_original(error: StatementError, moved: Iterable[tuple[int, int]]) -> StatementError:
    """Return the error with its places converted to the text before the corrections."""
    if error.start is None or error.end is None:
        return error
    start, end = error.start, error.end
    for place, by in reversed(list(moved)):
        start -= by if start > place else 0
        end -= by if end > place else 0
    return StatementError(error.message, start=start, end=end, suggestions=error.suggestions, hint=error.hint)
