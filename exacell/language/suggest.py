"""What may come next in a half-typed line: pure completion, for the prompt and for the shells.

Names arrive through a function that answers at once, so that completing never waits for a cell. Everything is offered
in its canonical spelling; what is typed is compared as a prefix without regard to case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from exacell.cellcli.schema import metrics
from exacell.cellcli.verbs import Verb
from exacell.language.registry import COMMON_FLAGS, Command, Effect, Flag, Kind, Param, commands
from exacell.language.suggestion import Names, Piece, RecipeParams, Suggestion, matching, pieces

_VERBS = {verb.value.lower(): verb for verb in Verb}
_CLIENT_SIDE = ("start", "spool", "rem")
_WRITE_FLAGS = ("yes", "dry-run", "detailed-exitcode", "accept-data-loss", "reason", "ticket")


def _no_params(recipe: str) -> Sequence[Param]:
    return ()


def suggest(text: str, *, names: Names, recipe_params: RecipeParams = _no_params) -> list[Suggestion]:
    """Return what may come next, in the order in which to show it; empty when anything may.

    Args:
        text: the line up to the cursor; of several statements only the last one counts.
        names: known names of a kind, at once.
        recipe_params: the parameters of a recipe.
    """
    offset = _last_statement(text)
    found = _statement(pieces(text[offset:], offset), names, recipe_params)
    seen: dict[tuple[str, int], Suggestion] = {}
    for suggestion in found:
        seen.setdefault((suggestion.text, suggestion.start), suggestion)
    return list(seen.values())


def _last_statement(text: str) -> int:
    quote, start = "", 0
    for place, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == ";":
            start = place + 1
    return start


def _statement(parts: list[Piece], names: Names, recipe_params: RecipeParams) -> Iterator[Suggestion]:
    first = parts[0]
    if first.text.startswith(("!", "#")) or any(piece.text in ("|", "--") for piece in parts[:-1]):
        return
    if first.text.startswith("@"):
        yield from _at(parts, names, recipe_params)
        return
    if len(parts) == 1:
        yield from _first_words(first)
        return
    if first.lower == "on":
        if len(parts) == 2:
            yield from _cells(parts[1], names)
        else:
            yield from _statement(parts[2:], names, recipe_params)
        return
    command = _command(parts[:-1])
    if command is not None and command.params and command.params[-1].rest:
        yield from _next_words(parts[:-1], parts[-1])
        yield from _rest(command, parts, names, recipe_params)
        return
    typed = parts[-1]
    if typed.text.startswith("--"):
        yield from _flags(command, typed)
        return
    bare = [piece for piece in parts[:-1] if not piece.text.startswith("-") or piece.text == "-"]
    yield from _next_words(bare, typed)
    if command is not None:
        yield from _arguments(command, bare[len(command.words) :], typed, names, recipe_params)
    elif bare and bare[0].lower in _VERBS:
        from exacell.language.suggest_cellcli import suggest_cellcli  # the grammar's tables: only for CellCLI's verbs

        yield from suggest_cellcli(_VERBS[bare[0].lower], [*bare[1:], typed], names)


def _first_words(typed: Piece) -> Iterator[Suggestion]:
    summaries: dict[str, list[str]] = {}
    for words, command in commands().items():
        summaries.setdefault(words[0], []).append(command.summary if len(words) == 1 else words[1])
    offered = {word: texts[0] if len(texts) == 1 else ", ".join(sorted(texts)) for word, texts in summaries.items()}
    for word in _VERBS:
        own = offered.get(word)
        offered[word] = "CellCLI" + (f", and {own}" if own else "")
    offered.setdefault("on", "only these cells: on <cells> <statement>")
    yield from matching(sorted(offered.items()), typed.text, typed.start)


def _next_words(done: Sequence[Piece], typed: Piece) -> Iterator[Suggestion]:
    """Yield the words that make what is typed one of our own commands."""
    begun = tuple(piece.lower for piece in done)
    offered: dict[str, str] = {}
    for words, command in commands().items():
        if len(words) > len(begun) and words[: len(begun)] == begun:
            word = words[len(begun)]
            offered[word] = command.summary if len(words) == len(begun) + 1 else offered.get(word, "")
    yield from matching(sorted(offered.items()), typed.text, typed.start)


def _command(done: Sequence[Piece]) -> Command | None:
    table = commands()
    for count in range(min(len(done), 4), 0, -1):
        command = table.get(tuple(piece.lower for piece in done[:count]))
        if command is not None:
            return command
    return None


def _at(parts: list[Piece], names: Names, recipe_params: RecipeParams) -> Iterator[Suggestion]:
    first, typed = parts[0], parts[-1]
    if len(parts) == 1:
        yield from matching(names(Kind.RECIPE), first.text[1:], first.start + 1)
        return
    yield from _keys(recipe_params(first.text[1:]), parts[1:-1], typed, names)


def _rest(command: Command, parts: list[Piece], names: Names, recipe_params: RecipeParams) -> Iterator[Suggestion]:
    """Yield what fits behind a command whose last parameter takes everything that is left."""
    behind = parts[len(command.words) :]
    *fixed, rest = command.params
    for param in fixed:
        key = behind[0].text.partition("=")[0].lower()
        named = not param.positional and key == param.name.lower()
        if len(behind) == 1:
            if param.positional:
                yield from _values(param, behind[0].text, behind[0].start, names)
                return
            if named and "=" in behind[0].text:
                yield from _key_value(param, behind[0], names)
                return
            yield from matching([(f"{param.name}=", param.help)], behind[0].text, behind[0].start)
        elif param.positional or named:
            behind = behind[1:]
    if rest.kind is Kind.STATEMENT:
        yield from _statement(behind, names, recipe_params)
    else:
        yield from _values(rest, behind[-1].text, behind[-1].start, names)


def _arguments(
    command: Command, done: Sequence[Piece], typed: Piece, names: Names, recipe_params: RecipeParams
) -> Iterator[Suggestion]:
    bare = [piece for piece in done if "=" not in piece.text]
    free = command.positionals[len(bare) :]
    params: list[Param] = [param for param in command.params if not param.positional]
    first = command.positionals[0] if command.positionals else None
    if command.open_keys and first is not None and first.kind is Kind.RECIPE and bare:
        params += recipe_params(bare[0].text)
    if free and "=" not in typed.text:
        yield from _values(free[0], typed.text, typed.start, names)
        if free[0].required:
            return
    yield from _keys(params, done, typed, names)


def _keys(params: Sequence[Param], done: Sequence[Piece], typed: Piece, names: Names) -> Iterator[Suggestion]:
    key, equals, _ = typed.text.partition("=")
    if equals:
        for param in params:
            if param.name.lower() == key.lower():
                yield from _key_value(param, typed, names)
        return
    given = [piece.text.partition("=")[0] for piece in done if "=" in piece.text]
    offered = [(param.name, _about(param)) for param in params]
    yield from matching(offered, typed.text, typed.start, end="=", exclude=given)


def _key_value(param: Param, typed: Piece, names: Names) -> Iterator[Suggestion]:
    cut = typed.text.index("=") + 1
    yield from _values(param, typed.text[cut:], typed.start + cut, names)


def _about(param: Param) -> str:
    default = f" (default {param.default})" if param.default is not None else ""
    return param.help + default


def _values(param: Param, typed: str, start: int, names: Names) -> Iterator[Suggestion]:
    """Yield the values of one parameter that begin with ``typed``."""
    quote = typed[:1] if typed[:1] in ("'", '"') else ""
    text, place = typed[len(quote) :], start + len(quote)
    yield from matching([*param.choices, *param.words], text, place)
    match param.kind:
        case Kind.BOOL:
            yield from matching(["yes", "no"], text, place)
        case Kind.CELLSET:
            yield from _cells(Piece(text=text, start=place), names)
        case Kind.METRIC:
            known = names(Kind.METRIC) or list(metrics())
            described = [(name, metrics()[name].unit if name in metrics() else "") for name in known]
            yield from matching(described, text, place)
        case Kind.NAMES:
            cut = text.rfind(",") + 1
            yield from matching(names(Kind.NAMES), text[cut:], place + cut, exclude=text[:cut].split(","))
        case Kind.DB | Kind.DISKGROUP | Kind.PREFIX | Kind.RACK | Kind.RECIPE | Kind.SNAPSHOT | Kind.CELL | Kind.FILE:
            yield from matching(names(param.kind), text, place)
        case _:
            pass
    if not text and param.default is not None and param.default not in (*param.choices, *param.words):
        yield Suggestion(text=param.default, start=place, meta="default")


def _cells(typed: Piece, names: Names) -> Iterator[Suggestion]:
    """Yield cells and groups behind the last operator of a half-typed cell set."""
    cut = max((match.end() for match in re.finditer(r"[,!&^(]|\bnot\s", typed.text)), default=0)
    text, start = typed.text[cut:].lstrip(), typed.start + cut
    start += len(typed.text[cut:]) - len(text)
    yield from matching(names(Kind.CELLSET), text, start)
    yield from matching(names(Kind.CELL), text, start)


def _flags(command: Command | None, typed: Piece) -> Iterator[Suggestion]:
    key, equals, _ = typed.text.partition("=")
    known: list[Flag] = list(COMMON_FLAGS) + list(command.flags if command else ())
    if equals:
        return
    if command is not None and command.effect in (Effect.READ, Effect.LOCAL):
        known = [flag for flag in known if flag.name not in _WRITE_FLAGS or flag in command.flags]
    offered = [(f"--{flag.name}" + ("=" if flag.value else ""), flag.help) for flag in known]
    yield from matching(sorted(offered), key, typed.start)
