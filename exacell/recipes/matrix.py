"""The ``matrix`` block of a recipe: lines that are repeated once for each of several values, before the plan. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product

from exacell.core.errors import StatementError
from exacell.core.values import dataclass
from exacell.language.registry import Kind, Param, Value
from exacell.language.words import scan, unquote

MOST = 1000
"""Maximum number of times that the lines of a matrix are repeated."""

EXAMPLE = "`matrix size in 288g,320g`"


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A name and its values as written; a value may be a parameter (``$sizes``) that holds several."""

    name: str
    items: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """The line on which a matrix begins, and its axes; the lines run for all combinations, and the last axis changes fastest."""

    number: int
    axes: tuple[Axis, ...] = ()

    @property
    def params(self) -> tuple[Param, ...]:
        """Return the axes as parameters, for the checker of the lines."""
        return tuple(
            Param(name=axis.name, kind=Kind.TEXT, help="of the matrix", required=True)
            if any(item.startswith("$") for item in axis.items)
            else Param(
                name=axis.name, kind=Kind.CHOICE, help="of the matrix", choices=axis.items, default=axis.items[0]
            )
            for axis in self.axes
        )

    def combinations(self, values: Mapping[str, Value]) -> list[dict[str, Value]]:
        """Return name → value for each repetition of the lines.

        Args:
            values: the values of the recipe's parameters.

        Raises:
            StatementError: an axis has no value, or there are more than a thousand combinations.
        """
        lowered = {name.lower(): str(value) for name, value in values.items()}
        every: list[list[str]] = []
        for axis in self.axes:
            found: list[str] = []
            for item in axis.items:
                found += _items(lowered.get(item[1:].lower(), "")) if item.startswith("$") else [item]
            if not found:
                raise StatementError(f"matrix {axis.name} has no value", hint=f"such as: {EXAMPLE}")
            every.append(list(dict.fromkeys(found)))
        size = 1
        for some in every:
            size *= len(some)
        if size > MOST:
            raise StatementError(f"the matrix has {size:,} combinations; at most {MOST:,} are allowed")
        return [dict(zip((axis.name for axis in self.axes), each, strict=True)) for each in product(*every)]


_ITEM = r"(?:\"[^\"]*\"|'[^']*'|[^\s,\"']+)"
_AXIS = re.compile(rf"\s*(?P<name>[A-Za-z_]\w*)\s+in\s+(?P<items>{_ITEM}(?:\s*,\s*{_ITEM})*)", re.IGNORECASE)


def read_matrix(number: int, text: str, taken: Sequence[str]) -> Matrix:
    """Return the matrix that the text after the word ``matrix`` declares.

    Args:
        taken: the names of the parameters and lets.

    Raises:
        StatementError: the text is not a matrix, or a name is taken or unknown.
    """
    axes: list[Axis] = []
    place = 0
    known = [name.lower() for name in taken]
    while text[place:].strip():
        found = _AXIS.match(text, place)
        if found is None:
            raise StatementError(
                f"'matrix {text}' can't be read; the form is `matrix NAME in VALUE,VALUE [NAME in …]`",
                hint=f"such as: {EXAMPLE}",
            )
        name, items = found["name"], _items(found["items"])
        if name.lower() in (*known, *(axis.name.lower() for axis in axes)):
            raise StatementError(f"{name} is declared twice", hint="choose another name")
        unknown = next((item for item in items if item.startswith("$") and item[1:].lower() not in known), None)
        if unknown is not None:
            raise StatementError(
                f"{unknown} is not a parameter: {', '.join(taken) or 'there are none'}",
                hint=f"declare it: `param {unknown.removeprefix('$')} : text`",
            )
        axes.append(Axis(name=name, items=tuple(dict.fromkeys(items))))
        place = found.end()
    if not axes:
        raise StatementError("matrix needs a name and values", hint=f"such as: {EXAMPLE}")
    return Matrix(number=number, axes=tuple(axes))


def _items(text: str) -> list[str]:
    """Return the parts of a text between commas outside of quotes, each stripped of blanks and of one pair of quotes."""
    cuts = [place for place, char, quoted, _ in scan(text) if char == "," and not quoted]
    pieces = [
        text[start:end].strip() for start, end in zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(text)], strict=True)
    ]
    return [unquote(piece) for piece in pieces if piece]
