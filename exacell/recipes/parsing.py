"""Recipe files: a header with typed parameters, statements of the one language, and blocks. Parsing is pure.

A file of plain statements is already a recipe. Header words come first: ``recipe "title"``, ``param name : kind =
default "help"``, ``risk <ceiling>``, ``needs asm``. ``when <condition>`` may end a statement; ``finally … end`` holds what
runs in any case at the end. There are no loops and no templating: a parameter's value is put in as one word, quoted where
it has to be, so that a value can never become syntax.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from exacell.errors import RecipeError, StatementError
from exacell.language.kinds import convert
from exacell.language.registry import Kind, Param, Value
from exacell.language.text import join_continued, needs_more, strip_comment
from exacell.language.words import split_words
from exacell.recipes.values import holds, substitute
from exacell.values import dataclass

if TYPE_CHECKING:
    from exacell.language.line import Line

_KINDS: Mapping[str, Kind] = {
    "size": Kind.SIZE,
    "int": Kind.INT,
    "duration": Kind.DURATION,
    "name": Kind.NAME,
    "db": Kind.DB,
    "cellset": Kind.CELLSET,
    "command": Kind.COMMAND,
    "file": Kind.FILE,
    "text": Kind.TEXT,
    "number": Kind.NUMBER,
    "diskgroup": Kind.DISKGROUP,
    "prefix": Kind.PREFIX,
}
_PARAM = re.compile(
    r"param\s+(?P<name>[A-Za-z_]\w*)\s*(?::\s*(?P<kind>[a-z]+(?:\([^)]*\))?(?:\|\w+)*))?"
    r"\s*(?:=\s*(?P<default>\"[^\"]*\"|'[^']*'|[^\s\"']+))?\s*(?P<help>\"[^\"]*\")?\s*",
    re.IGNORECASE,
)
_RISKS = ("none", "performance", "redundancy", "data")


@dataclass(frozen=True, kw_only=True)
class RecipeLine:
    """One statement of a recipe: where it stands, its text, its condition, and whether it is in ``finally``."""

    number: int
    text: str
    when: str = ""
    final: bool = False


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A recipe as its file says it. ``risk`` is a ceiling, empty for none; ``needs`` holds ``asm`` or nothing."""

    name: str
    path: str
    text: str
    title: str = ""
    params: tuple[Param, ...] = ()
    risk: str = ""
    needs: tuple[str, ...] = ()
    lines: tuple[RecipeLine, ...] = ()


def _error(name: str, number: int, message: str, hint: str = "") -> RecipeError:
    return RecipeError(f"recipe {name}, line {number}: {message}", hint=hint)


def parse_recipe(name: str, text: str, path: str = "") -> Recipe:
    """Return the recipe that ``text`` is. Statements are checked by :func:`check_recipe`, when values are known or not.

    Raises:
        RecipeError: a header line or a block is wrong; names the line.
    """
    title, risk = "", ""
    params: list[Param] = []
    needs: tuple[str, ...] = ()
    lines: list[RecipeLine] = []
    final = False
    for number, raw in _logical_lines(text):
        body = strip_comment(raw).strip()
        if not body:
            continue
        word = body.split(None, 1)[0].lower()
        rest = body[len(word) :].strip()
        if word in ("recipe", "param", "risk", "needs") and not lines:
            if word == "recipe":
                title = rest.strip("\"'")
            elif word == "param":
                params.append(_param(name, number, body, [p.name for p in params]))
            elif word == "risk":
                if rest not in _RISKS:
                    raise _error(name, number, f"risk is one of {', '.join(_RISKS)}, not '{rest}'")
                risk = rest
            else:
                needs = tuple(part.strip() for part in rest.split(",") if part.strip())
                if set(needs) - {"asm"}:
                    raise _error(name, number, f"needs knows asm, not '{rest}'")
            continue
        if word == "finally" and not rest:
            if any(line.final for line in lines) or final:
                raise _error(name, number, "a recipe has one finally block")
            final = True
            continue
        if word == "end" and not rest:
            if not final:
                raise _error(name, number, "end closes nothing here")
            final = False
            continue
        statement, when = split_when(body)
        lines.append(RecipeLine(number=number, text=statement, when=when, final=final))
    if final:
        raise _error(name, len(text.splitlines()), "finally is never closed with end")
    return Recipe(
        name=name,
        path=path,
        text=text,
        title=title,
        params=tuple(params),
        risk=risk,
        needs=needs,
        lines=tuple(lines),
    )


def _logical_lines(text: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    pending: list[str] = []
    first = 1
    for number, raw in enumerate(text.splitlines(), start=1):
        if not pending:
            first = number
        pending.append(raw)
        joined = join_continued(pending)
        if strip_comment(pending[0]).strip() and needs_more(joined if len(pending) > 1 else raw):
            continue
        found.append((first, joined))
        pending = []
    if pending:
        found.append((first, join_continued(pending)))
    return found


def _param(name: str, number: int, body: str, taken: Sequence[str]) -> Param:
    match = _PARAM.fullmatch(body)
    if match is None:
        raise _error(name, number, f"'{body}' is not: param name : kind = default \"help\"")
    if match["name"] in taken:
        raise _error(name, number, f"param {match['name']} is declared twice")
    spec = match["kind"] or "text"
    head, *words = spec.split("|") if not spec.startswith("choice") else [spec]
    choices: tuple[str, ...] = ()
    if head.startswith("choice"):
        inside = head.partition("(")[2].rstrip(")")
        choices = tuple(part.strip() for part in inside.split("|") if part.strip())
        kind = Kind.CHOICE
        if not choices:
            raise _error(name, number, "choice needs its words: choice(a|b)")
    elif head in _KINDS:
        kind = _KINDS[head]
    else:
        near = difflib.get_close_matches(head, _KINDS, n=1)
        raise _error(
            name,
            number,
            f"'{head}' is not a kind: {', '.join((*_KINDS, 'choice(a|b)'))}",
            hint=f"did you mean {near[0]}?" if near else "",
        )
    default = match["default"].strip("\"'") if match["default"] is not None else None
    return Param(
        name=match["name"],
        kind=kind,
        help=(match["help"] or "").strip('"') or "no help",
        choices=choices,
        words=tuple(words),
        default=default,
        required=default is None,
    )


def split_when(text: str) -> tuple[str, str]:
    """Return the statement and its condition, which is empty when there is no ``when``."""
    words = split_words(text)
    for place, word in enumerate(words):
        if word.value.lower() == "when" and not word.quoted and place:
            return text[: word.start].rstrip(), text[word.end :].strip()
    return text, ""


def values_of(recipe: Recipe, given: Mapping[str, str]) -> dict[str, Value]:
    """Return a value for every parameter, converted by its kind.

    Raises:
        RecipeError: a parameter is unknown or missing, or a value is not of its kind.
    """
    known = {param.name.lower(): param for param in recipe.params}
    for key in given:
        if key.lower() not in known:
            near = difflib.get_close_matches(key.lower(), list(known), n=2)
            takes = ", ".join(param.name for param in recipe.params) or "none"
            raise RecipeError(
                f"recipe {recipe.name} has no parameter {key}: it takes {takes}",
                hint=f"did you mean {' or '.join(near)}?" if near else "",
            )
    lowered = {key.lower(): value for key, value in given.items()}
    found: dict[str, Value] = {}
    for param in recipe.params:
        text = lowered.get(param.name.lower(), param.default)
        if text is None:
            raise RecipeError(f"recipe {recipe.name} needs {param.name}=<{param.kind}>: {param.help}")
        try:
            convert(param, text, 0, len(text))
        except StatementError as error:
            raise RecipeError(f"recipe {recipe.name}: {error.message}", hint=error.hint) from error
        # The text as given, with the parameter's own words in their spelling, is what goes into statements.
        found[param.name] = next((word for word in param.words if word.lower() == text.lower()), text)
    return found


def line_of(recipe: Recipe, line: RecipeLine, values: Mapping[str, Value]) -> Line:
    """Return the parsed statement of one recipe line with the values put in.

    Raises:
        RecipeError: it is no statement, or one that a recipe may not hold.
    """
    from exacell.language.line import parse_line

    try:
        text = substitute(line.text, values)
        parsed = parse_line(text, shell=False)
    except (StatementError, RecipeError) as error:
        raise _error(recipe.name, line.number, error.message, error.hint) from error
    assert parsed is not None
    if parsed.call is not None and not parsed.call.command.recipe_ok:
        raise _error(recipe.name, line.number, f"{parsed.call.command.name} is not for recipes")
    return parsed


_SAMPLES: Mapping[Kind, str] = {
    Kind.SIZE: "16m",
    Kind.INT: "1",
    Kind.NUMBER: "1",
    Kind.DURATION: "1s",
    Kind.CELLSET: "cel01",
    Kind.COMMAND: "true",
}


def check_recipe(recipe: Recipe) -> None:
    """Raise when a line can't be a statement, whatever the parameters are.

    Raises:
        RecipeError: names the line.
    """
    samples: dict[str, Value] = {
        p.name: p.default if p.default is not None else (p.choices[0] if p.choices else _SAMPLES.get(p.kind, "x"))
        for p in recipe.params
    }
    for param in recipe.params:
        # A parameter's extra words stand where `when` lets them; the grammar is checked with a plain value.
        if samples[param.name] in param.words:
            samples[param.name] = _SAMPLES.get(param.kind, "x")
    for line in recipe.lines:
        try:
            holds(line.when, samples)
        except RecipeError as error:
            raise _error(recipe.name, line.number, error.message, error.hint) from error
        line_of(recipe, line, samples)
