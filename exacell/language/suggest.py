"""Suggest the words that may come next in a half-typed line: pure completion, for the prompt and for shells.

Names of the rack come from functions that answer at once, so that completion never waits for a cell. Words are offered in their
canonical spelling; in the typed text upper and lower case are equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from exacell.cellcli.codes import CODES
from exacell.cellcli.nodes import Verb
from exacell.cellcli.schema import find_object, objects, objects_of
from exacell.language.recipewords import RECIPE_WORDS
from exacell.language.registry import COMMON_FLAGS, Command, Effect, Flag, Kind, Param, commands
from exacell.language.suggestion import MOST, Fit, Known, Piece, Suggestion, described_metrics, matching, pieces
from exacell.language.words import marks

_VERBS = {verb.value.lower(): verb for verb in Verb}
_READ_FLAGS = ("timeout", "format", "fold", "no-fold", "diff")
"""The common flags that have a meaning for a statement that changes nothing."""


_TOPICS = (
    ("safety", "what exacell never does"),
    ("metric", "a metric explained"),
    ("attribute", "an attribute explained"),
    ("man", "the man page"),
    ("on", "which cells or hosts a statement goes to"),
    ("flags", "flags of statements and the syntax of a line"),
    ("docs", "a page of the documentation"),
)

Used = Callable[[str, str], int]
"""Returns how often a word was used after a first word (empty for first words themselves)."""


def suggest(text: str, known: Known, *, fuzzy: bool = False, used: Used | None = None) -> list[Suggestion]:
    """Return the words that may come next, in the order in which to show them; empty if any word may.

    Args:
        text: the line up to the cursor; only the last of several statements counts.
        fuzzy: offer also words that match by a part or by their letters, after those that begin with the typed text; words
            that match only by letters are offered only if there are no better ones.
        used: how often a word was used; among words that match equally well, those used more often come first.
    """
    offset = _start_of_last(text)
    parts = pieces(text[offset:], offset)
    seen: dict[tuple[str, int], Suggestion] = {}
    for suggestion in _statement(parts, known):
        if fuzzy or suggestion.fit is Fit.PREFIX:
            seen.setdefault((suggestion.text, suggestion.start), suggestion)
    found = list(seen.values())
    if fuzzy:
        best = min((suggestion.fit for suggestion in found), default=Fit.PREFIX)
        if best < Fit.LETTERS:
            found = [suggestion for suggestion in found if suggestion.fit < Fit.LETTERS]
    if used is None:
        return found
    first = _first_word(parts)
    found.sort(key=lambda suggestion: (suggestion.fit, -used(first, suggestion.text.rstrip("=,"))))
    return found[:MOST]


def _first_word(parts: Sequence[Piece]) -> str:
    """Return the verb of the statement at the cursor; empty while the verb itself is being typed."""
    done = parts[2:-1] if parts[0].lower == "on" else parts[:-1]
    return done[0].lower if done else ""


def _start_of_last(text: str) -> int:
    return max((place + 1 for place, char, quoted, _ in marks(text) if char == ";" and not quoted), default=0)


def _statement(parts: list[Piece], known: Known, *, named: bool = False) -> Iterator[Suggestion]:
    """Yield suggestions for the last of ``parts``, which is being typed; ``named``: whether ON was in front of them."""
    first = parts[0]
    if first.text.startswith(("!", "#")) or any(piece.text in ("|", "--") for piece in parts[:-1]):
        return
    if first.text.startswith("@"):
        yield from _at(parts, known)
        return
    if len(parts) == 1:
        yield from _first_words(first, known)
        return
    if first.lower == "on":
        if len(parts) == 2:
            yield from _cells(parts[1], known, hosts=True)
        else:
            yield from _statement(parts[2:], known, named=True)
        return
    if first.lower == "alias" and len(parts) > 2:
        yield from _statement(parts[2:], known)
        return
    if first.lower == "help":
        yield from _help(parts[1:], known)
        return
    command = _command(parts[:-1])
    if command is not None and command.on_after:
        at = next((at for at in range(len(command.words), len(parts) - 1) if parts[at].lower == "on"), None)
        if at == len(parts) - 2:
            yield from _cells(parts[-1], known, hosts=True)
            return
        if at is not None:
            parts = [*parts[:at], *parts[at + 2 :]]
        elif not named:
            yield from matching([("on", "these hosts, or cells")], parts[-1].text, parts[-1].start)
    if command is not None and command.params and command.params[-1].rest:
        if parts[-1].text.startswith("--") and command.takes_flags:
            yield from _flags(command, parts[-1], known)
            return
        yield from _next_words(parts[:-1], parts[-1])
        yield from _rest(command, parts, known)
        return
    yield from _after_command(command, parts, known)


def _after_command(command: Command | None, parts: list[Piece], known: Known) -> Iterator[Suggestion]:
    """Yield suggestions after a command's words: its flags, their values, its arguments; without a command those of CellCLI."""
    typed = parts[-1]
    if typed.text.startswith("--"):
        yield from _flags(command, typed, known)
        return
    flag = _valued_flag(command, parts[-2])
    if flag is not None and flag.value is not None:
        yield from _values(flag.param(flag.value), typed.text, typed.start, known)
        return
    bare = [
        piece
        for piece, before in zip(parts[:-1], [None, *parts[:-2]], strict=True)
        if (not piece.text.startswith("-") or piece.text == "-")
        and (before is None or _valued_flag(command, before) is None)
    ]
    yield from _next_words(bare, typed)
    if command is not None:
        yield from _arguments(command, bare[len(command.words) :], typed, known)
    elif bare and bare[0].lower in _VERBS:
        from exacell.language.suggest_cellcli import (
            suggest_cellcli,
        )  # the grammar's tables are needed only for CellCLI's verbs

        yield from suggest_cellcli(_VERBS[bare[0].lower], [*bare[1:], typed], known)


def _valued_flag(command: Command | None, piece: Piece) -> Flag | None:
    """Return the flag whose value is the next word; None if the word is not a flag or already contains its value."""
    flags = (*COMMON_FLAGS, *(command.flags if command is not None else ()))
    found = next((f for f in flags if piece.text in (f"-{f.short}", f"--{f.name}")), None)
    return found if found is not None and found.value is not None and not found.optional else None


def _first_words(typed: Piece, known: Known) -> Iterator[Suggestion]:
    summaries: dict[str, list[str]] = {}
    for words, command in commands().items():
        summaries.setdefault(words[0], []).append(command.summary if len(words) == 1 else words[1])
    offered = {word: texts[0] if len(texts) == 1 else ", ".join(sorted(texts)) for word, texts in summaries.items()}
    for word in _VERBS:
        own = offered.get(word)
        offered[word] = "CellCLI" + (f", and {own}" if own else "")
    offered.setdefault("on", "only these cells: on <cells> <statement>")
    yield from matching(sorted(offered.items()), typed.text, typed.start)
    yield from matching(known.names(Kind.ALIAS), typed.text, typed.start)


def _next_words(done: Sequence[Piece], typed: Piece) -> Iterator[Suggestion]:
    """Yield the next words of exacell's commands that begin with the typed words."""
    yield from matching(sorted(_following(tuple(piece.lower for piece in done)).items()), typed.text, typed.start)


def _following(begun: tuple[str, ...]) -> dict[str, str]:
    """Return the words that may follow ``begun`` in an exacell command; a word that completes a command has its summary."""
    found: dict[str, str] = {}
    for words, command in commands().items():
        if len(words) > len(begun) and words[: len(begun)] == begun:
            word = words[len(begun)]
            found[word] = command.summary if len(words) == len(begun) + 1 else found.get(word, "")
    return found


def _help(parts: Sequence[Piece], known: Known) -> Iterator[Suggestion]:
    """Yield suggestions for the last of ``parts`` after ``help``."""
    typed, done = parts[-1], tuple(part.lower for part in parts[:-1])
    if done[:1] == ("metric",):
        if len(done) == 1:
            yield from matching(described_metrics(known), typed.text, typed.start)
        return
    if done[:1] == ("attribute",):
        found = find_object(done[1]) if len(done) == 2 else None
        if len(done) == 1:
            yield from matching([name.lower() for name in objects()], typed.text, typed.start)
        elif found is not None:
            yield from matching([item.name for item in found.attributes.values()], typed.text, typed.start)
        return
    if done[:1] in (("docs",), ("recipe",)):
        yield from matching(known.pages() if done[0] == "docs" else known.names(Kind.RECIPE), typed.text, typed.start)
        return
    offered = _following(done)
    verb = next((verb for verb in Verb if done == (verb.value.lower(),)), None)
    if not done:
        offered |= {verb.value.lower(): offered.get(verb.value.lower()) or "CellCLI" for verb in Verb}
        offered |= dict(_TOPICS) | {name.lower(): "CellCLI object" for name in objects() if name.lower() not in offered}
        offered |= {word.name: word.about for word in RECIPE_WORDS.values() if word.name not in offered}
        offered |= {page: "a page of the documentation" for page in known.pages() if page not in offered}
        offered |= {code: item.meaning for code, item in CODES.items()} if typed.lower[:2] in ("ce", "or") else {}
    elif verb is not None:
        offered |= {found.name.lower(): "CellCLI" for found in objects_of(verb) if found.name.lower() not in offered}
    yield from matching(sorted(offered.items()), typed.text, typed.start)


def needed_word(text: str) -> str:
    """Return the one word that must follow the complete words of ``text`` (up to the cursor): ``offline`` after ``can``. Empty
    if they are a command already, or if several words may follow.
    """
    begun = [piece.lower for piece in pieces(text[_start_of_last(text) :])]
    if begun.pop() or not begun:
        return ""
    words = tuple(begun[2:] if begun[0] == "on" else begun)
    if not words or words[0] in _VERBS or words in commands():
        return ""
    found = list(_following(words))
    return found[0] if len(found) == 1 else ""


def _command(done: Sequence[Piece]) -> Command | None:
    table = commands()
    for count in range(min(len(done), 4), 0, -1):
        command = table.get(tuple(piece.lower for piece in done[:count]))
        if command is not None:
            return command
    return None


def _at(parts: list[Piece], known: Known) -> Iterator[Suggestion]:
    first, typed = parts[0], parts[-1]
    if len(parts) == 1:
        yield from matching(known.names(Kind.RECIPE), first.text[1:], first.start + 1)
        return
    yield from _keys(known.recipe_params(first.text[1:]), parts[1:-1], typed, known)


def _rest(command: Command, parts: list[Piece], known: Known) -> Iterator[Suggestion]:
    """Yield suggestions for a command whose last parameter takes all remaining words."""
    behind = parts[len(command.words) :]
    *fixed, rest = command.params
    keys: list[tuple[str, str]] = []
    for param in fixed:
        key = behind[0].text.partition("=")[0].lower()
        named = not param.positional and key == param.name.lower()
        if len(behind) == 1:
            if param.positional:
                yield from _values(param, behind[0].text, behind[0].start, known)
                return
            if named and "=" in behind[0].text:
                yield from _key_value(param, behind[0], known)
                return
            keys.append((f"{param.name}=", param.help))
        elif param.positional or named:
            behind = behind[1:]
    if command.options:
        yield from _own_options(command.options, behind, known)
    elif rest.kind is Kind.STATEMENT:
        yield from _statement(behind, known)
    elif rest.kind is Kind.LIST:
        own = [piece for piece in behind if not any(piece.lower.startswith(f"{param.name}=") for param in fixed)]
        if own and own[-1] is behind[-1]:
            yield from _statement([parts[len(command.words) - 1], *own], known)
        if len(behind) > 1:  # Its other parameters may come at any place.
            yield from _keys(fixed, behind[:-1], behind[-1], known)
    elif rest.kind is Kind.SETTING:
        end = "=" if command.effect is Effect.WRITE else ""
        yield from matching(known.names(Kind.SETTING), behind[-1].text, behind[-1].start, end=end)
    else:
        yield from _values(rest, behind[-1].text, behind[-1].start, known)
        if rest.kind is Kind.UNTIL and len(behind) > 1:  # Its other parameters may come at any place.
            yield from _keys(fixed, behind[:-1], behind[-1], known)
    yield from matching(keys, parts[len(command.words)].text, parts[len(command.words)].start)


def _own_options(options: Sequence[Flag], behind: list[Piece], known: Known) -> Iterator[Suggestion]:
    """Yield suggestions for a command that parses its words itself: its options, then a command for the cells."""
    by_name = {name: option for option in options for name in (option.short, option.name) if name}
    *done, typed = behind
    while done and done[0].text.startswith("-"):
        name, equals, _ = done[0].text.partition("=")
        option = by_name.get(name)
        takes = option is not None and option.value is not None and not equals
        if option is not None and option.value is not None and takes and len(done) == 1:
            yield from _values(option.param(option.value), typed.text, typed.start, known)
            return
        done = done[2 if takes else 1 :]
    if done:
        if done[0].lower == "cellcli" and len(done) == 1:
            yield from matching([("-e", "a CellCLI statement")], typed.text, typed.start)
        elif [piece.lower for piece in done[:2]] == ["cellcli", "-e"]:
            yield from _statement([*done[2:], typed], known)
        return
    name, equals, value = typed.text.partition("=")
    option = by_name.get(name)
    if equals and option is not None and option.value is not None:
        yield from _values(option.param(option.value), value, typed.start + len(name) + 1, known)
        return
    if typed.text.startswith("-"):
        offered = {name: option.help for name, option in by_name.items()}
        short_first = sorted(offered.items(), key=lambda item: (item[0].startswith("--"), item[0]))
        yield from matching(short_first, typed.text, typed.start)
    else:
        yield from matching([("cellcli", "CellCLI on each target: cellcli -e …")], typed.text, typed.start)


def _arguments(command: Command, done: Sequence[Piece], typed: Piece, known: Known) -> Iterator[Suggestion]:
    bare = [piece for piece in done if "=" not in piece.text]
    free = command.positionals[len(bare) :] or [param for param in command.positionals[-1:] if param.many]
    params: list[Param] = [param for param in command.params if not param.positional]
    first = command.positionals[0] if command.positionals else None
    params += command.offers
    if command.open_keys and first is not None and first.kind is Kind.RECIPE and bare:
        params += known.recipe_params(bare[0].text)
    if free and "=" not in typed.text:
        before = bare[-1].lower if bare else ""
        known = _of_named_rack(command, bare, known)
        yield from matching(free[0].values_by.get(before, ()), typed.text, typed.start)
        yield from _values(free[0], typed.text, typed.start, known)
        if free[0].required:
            return
    yield from _keys(params, done, typed, known)


def _of_named_rack(command: Command, done: Sequence[Piece], known: Known) -> Known:
    """Return ``known`` with the hosts of the rack that the statement names, in place of those of the current rack."""
    named = next(
        (piece.text for param, piece in zip(command.positionals, done, strict=False) if param.kind is Kind.RACK), ""
    )
    if not named:
        return known
    names, hosts = known.names, known.hosts_of(named)
    there = {Kind.CELL: hosts, Kind.CELLSET: ()}
    return replace(known, names=lambda kind: there[kind] if kind in there else names(kind))


def _keys(params: Sequence[Param], done: Sequence[Piece], typed: Piece, known: Known) -> Iterator[Suggestion]:
    key, equals, _ = typed.text.partition("=")
    if equals:
        for param in params:
            if param.name.lower() == key.lower():
                yield from _key_value(param, typed, known)
        return
    given = [piece.text.partition("=")[0] for piece in done if "=" in piece.text]
    offered = [(param.name, _about(param)) for param in params]
    yield from matching(offered, typed.text, typed.start, end="=", exclude=given)


def _key_value(param: Param, typed: Piece, known: Known) -> Iterator[Suggestion]:
    cut = typed.text.index("=") + 1
    yield from _values(param, typed.text[cut:], typed.start + cut, known)


def _about(param: Param) -> str:
    default = f" (default {param.default})" if param.default is not None else ""
    return param.help + default


def _values(param: Param, typed: str, start: int, known: Known) -> Iterator[Suggestion]:
    """Yield the values of one parameter that begin with ``typed``."""
    quote = typed[:1] if typed[:1] in ("'", '"') else ""
    text, place = typed[len(quote) :], start + len(quote)
    yield from matching([*param.choices, *param.words, *param.examples], text, place)
    match param.kind:
        case Kind.BOOL:
            yield from matching(["yes", "no"], text, place)
        case Kind.CELLSET:
            yield from _cells(Piece(text=text, start=place), known)
        case Kind.METRIC:
            yield from matching(described_metrics(known), text, place)
        case Kind.NAMES:
            cut = text.rfind(",") + 1
            taken = text[:cut].split(",")
            for names in (known.names(Kind.NAMES), param.choices if cut else ()):
                yield from matching(names, text[cut:], place + cut, exclude=taken)
        case Kind.DIRECTIVE:
            found = dict.fromkeys([*known.names(Kind.DIRECTIVE), *known.names(Kind.DB)])
            yield from matching([name if quote else _as_typed(name) for name in found], text, place)
        case Kind.FILE | Kind.KEPT | Kind.MEASURED:
            yield from matching(known.names(param.kind), text, place)
            yield from matching(known.files(text), text, place)
        case (
            Kind.TEXT | Kind.SIZE | Kind.INT | Kind.NUMBER | Kind.DURATION | Kind.CHOICE | Kind.STATEMENT | Kind.COMMAND
        ):
            pass
        case _:
            yield from matching(known.names(param.kind), text, place)
    if not text and param.default is not None and param.default not in (*param.choices, *param.words):
        yield Suggestion(text=param.default, start=place, meta="default")


def _as_typed(name: str | tuple[str, str]) -> str:
    """Return the name of an IORM directive, in quotes if a line needs them."""
    text = name if isinstance(name, str) else name[0]
    mark = '"' if "'" in text else "'"
    return text if re.fullmatch(r"[\w$#.+-]+", text) else f"{mark}{text}{mark}"


def _cells(typed: Piece, known: Known, *, hosts: bool = False) -> Iterator[Suggestion]:
    """Yield cells and groups after the last operator of a half-typed cell set, or the words of a condition on cells.

    Args:
        hosts: whether hosts that are not cells are allowed, too.
    """
    condition = re.match(r"\(\s*where\s+", typed.text, re.IGNORECASE)
    if condition:
        from exacell.language.suggest_cellcli import suggest_condition

        behind = pieces(typed.text[condition.end() :], typed.start + condition.end())
        yield from suggest_condition("CELL", behind, known)
        return
    cut = max((match.end() for match in re.finditer(r"[,!&^(]|\bnot\s", typed.text)), default=0)
    cut += len(typed.text[cut:]) - len(typed.text[cut:].lstrip("+- "))
    text, start = typed.text[cut:], typed.start + cut
    given = re.split(r"[\s,!&^(+-]+", typed.text[:cut])
    sets = known.names(Kind.CELLSET)
    groups = [name for name in sets if name[0].startswith("@")]
    others = [name for name in sets if hosts and not name[0].startswith("@")]
    for names in (groups, known.names(Kind.CELL), others):
        yield from matching(names, text, start, exclude=given)


def _flags(command: Command | None, typed: Piece, known: Known) -> Iterator[Suggestion]:
    key, equals, value = typed.text.partition("=")
    flags: list[Flag] = list(COMMON_FLAGS) + list(command.flags if command else ())
    if equals:
        found = next((flag for flag in flags if flag.name == key[2:].lower()), None)
        if found is not None and found.value is not None:
            yield from _values(found.param(found.value), value, typed.start + len(key) + 1, known)
        return
    if command is not None and command.effect in (Effect.READ, Effect.LOCAL) and not command.runs:
        flags = [flag for flag in flags if flag.name in _READ_FLAGS or flag in command.flags]
    offered = {f"--{flag.name}" + ("=" if flag.value and not flag.optional else ""): flag.help for flag in flags}
    yield from matching(sorted(offered.items()), key, typed.start)
