"""The words that only recipes know: of the header, of blocks, and behind a statement. Pure.

Statements of recipes are commands of the registry; these are not. The reader of recipes, its layout, help and the error at
the prompt take them from here; their pages are the sections of docs/recipes.md that bear their names.
"""

from __future__ import annotations

from enum import StrEnum

from exacell.core.values import dataclass

SUFFIX = ".exa"
"""How the name of a recipe's file ends."""


class Place(StrEnum):
    """Where in a recipe a word stands."""

    HEADER = "header"
    BLOCK = "block"
    BEHIND = "behind a statement"
    END = "end of a block"


@dataclass(frozen=True, kw_only=True)
class RecipeWord:
    """A word, where it stands, how a line with it is written, and what it does as a phrase."""

    name: str
    place: Place
    shape: str
    about: str


_ALL = tuple(
    RecipeWord(name=name, place=place, shape=shape, about=about)
    for name, place, shape, about in (
        ("recipe", Place.HEADER, 'recipe "what it does"', "the title, which recipes and a run show"),
        (
            "param",
            Place.HEADER,
            'param name : kind = default "help"',
            "a parameter of a recipe; lines take it as $name",
        ),
        (
            "risk",
            Place.HEADER,
            "risk none|performance|redundancy|data",
            "a ceiling: a plan of the recipe that risks more is refused",
        ),
        ("needs", Place.HEADER, "needs asm, release>=19.3", "what has to be there, asked before anything runs"),
        (
            "let",
            Place.HEADER,
            "let name = STATEMENT.COLUMN [of CELL or NAME]",
            "a value that is read before the plan; lines take it as $name",
        ),
        (
            "when",
            Place.BEHIND,
            "STATEMENT when $name = value [and $other != value]",
            "ends a statement that only runs when parameters are so",
        ),
        (
            "matrix",
            Place.BLOCK,
            "matrix name in VALUE,VALUE [name in …]",
            "lines that are written out once for each of some values, before the plan",
        ),
        (
            "rolling",
            Place.BLOCK,
            "[on CELLS] rolling [N]",
            "lines that N cells at a time go through, wave after wave, with a gate before each",
        ),
        ("finally", Place.BLOCK, "finally", "lines that run at the end whatever happened before"),
        ("end", Place.END, "end", "closes matrix, rolling, finally and experiment"),
    )
)

RECIPE_WORDS = {word.name: word for word in _ALL}
"""All of them by name, in the order in which a recipe has them."""

HEADER = tuple(word.name for word in _ALL if word.place is Place.HEADER)
"""First words of the lines of a header."""

BLOCKS = tuple(word.name for word in _ALL if word.place is Place.BLOCK)
"""Words that open a block, which ``end`` closes."""
