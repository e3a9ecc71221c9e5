"""Make a recipe from statements that were typed: their sizes and names become its parameters. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from exacell.language.line import Line
from exacell.language.registry import Call, Kind, Param
from exacell.language.words import split_words, unquote
from exacell.recipes.layout import laid_out

_BECOME = {
    Kind.SIZE: Kind.SIZE,
    Kind.DB: Kind.DB,
    Kind.DIRECTIVE: Kind.DB,
    Kind.DISKGROUP: Kind.DISKGROUP,
    Kind.PREFIX: Kind.PREFIX,
}
"""Kinds of values that become parameters of the recipe → the kind of the parameter."""


@dataclass(kw_only=True)
class Recorded:
    """The statements since ``record start``: the name of the future recipe, and its lines."""

    name: str
    lines: list[Line] = field(default_factory=list)

    def note(self, line: Line, cells: str = "") -> None:
        """Add a line if it is allowed in a recipe.

        Args:
            cells: the cells that a line without ON went to; empty for all cells.
        """
        if line.shell or (line.call is not None and not line.call.command.recipe_ok):
            return
        self.lines.append(line if line.on else replace(line, on=cells))


def recipe_of(lines: Sequence[Line], title: str) -> str:
    """Return the text of a recipe with these lines, in the usual layout."""
    declared: dict[tuple[Kind, str], str] = {}
    params, body = [], []
    for line in lines:
        text = line.text
        if line.call is not None:
            for param, value in _values(line.call, text):
                kind = _BECOME[param.kind]
                name = declared.get((kind, value))
                if name is None:
                    taken = sum(1 for each in declared.values() if each.rstrip("0123456789") == param.name)
                    name = declared[kind, value] = f"{param.name}{taken + 1 if taken else ''}"
                    params.append(f'param {name} : {kind} = {value} "{param.help.replace(chr(34), "")}"')
                text = _put(text, param, value, name)
        body.append(replace(line, text=text).whole)
    return laid_out("\n".join([f'recipe "{title}"', *params, "", *body]))


def _values(call: Call, text: str) -> list[tuple[Param, str]]:
    """Return the parameters of a statement that become parameters of the recipe, with their values as typed."""
    found = []
    words = split_words(text)
    for param in call.command.params:
        if param.kind not in _BECOME or param.name not in call.args:
            continue
        at = len(call.command.words) + call.command.positionals.index(param) if param.positional else 0
        typed = (
            words[at].value
            if param.positional and at < len(words)
            else next((word.raw.partition("=")[2] for word in words if _names(word.raw, param)), "")
        )
        value = unquote(typed)
        if value and value.lower() not in param.words and "$" not in value:
            found.append((param, value))
    return found


def _names(raw: str, param: Param) -> bool:
    return raw.lower().startswith(f"{param.name.lower()}=")


def _put(text: str, param: Param, value: str, name: str) -> str:
    """Return a statement with ``$name`` in place of a parameter's value."""
    for word in split_words(text):
        if (param.positional and word.value == value) or (not param.positional and _names(word.raw, param)):
            put = f"${name}" if param.positional else f"{word.raw.partition('=')[0]}=${name}"
            return text[: word.start] + put + text[word.end :]
    return text
