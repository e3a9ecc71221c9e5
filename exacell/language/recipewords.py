"""The words that only recipes know: of the header, of blocks, and behind a statement. Pure.

Statements of recipes are commands of the registry; these are not. The reader of recipes, its layout, help and the error at
the prompt take them from here; their pages are the sections of docs/recipes.md that bear their names.
"""

from __future__ import annotations

from enum import StrEnum

from exacell.core.values import dataclass


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


_ALL = (
    RecipeWord(
        name="recipe",
        place=Place.HEADER,
        shape='recipe "what it does"',
        about="the title, which recipes and a run show",
    ),
    RecipeWord(
        name="param",
        place=Place.HEADER,
        shape='param name : kind = default "help"',
        about="a parameter of a recipe; lines take it as $name",
    ),
    RecipeWord(
        name="risk",
        place=Place.HEADER,
        shape="risk none|performance|redundancy|data",
        about="a ceiling: a plan of the recipe that risks more is refused",
    ),
    RecipeWord(
        name="needs",
        place=Place.HEADER,
        shape="needs asm, release>=19.3",
        about="what has to be there, asked before anything runs",
    ),
    RecipeWord(
        name="let",
        place=Place.HEADER,
        shape="let name = STATEMENT.COLUMN [of CELL or NAME]",
        about="a value that is read before the plan; lines take it as $name",
    ),
    RecipeWord(
        name="when",
        place=Place.BEHIND,
        shape="STATEMENT when $name = value [and $other != value]",
        about="ends a statement that only runs when parameters are so",
    ),
    RecipeWord(
        name="matrix",
        place=Place.BLOCK,
        shape="matrix name in VALUE,VALUE [name in …]",
        about="lines that are written out once for each of some values, before the plan",
    ),
    RecipeWord(
        name="finally",
        place=Place.BLOCK,
        shape="finally",
        about="lines that run at the end whatever happened before",
    ),
    RecipeWord(name="end", place=Place.END, shape="end", about="closes matrix, finally and experiment"),
)

RECIPE_WORDS = {word.name: word for word in _ALL}
"""All of them by name, in the order in which a recipe has them."""

HEADER = tuple(word.name for word in _ALL if word.place is Place.HEADER)
"""First words of the lines of a header."""

BLOCKS = tuple(word.name for word in _ALL if word.place is Place.BLOCK)
"""Words that open a block, which ``end`` closes."""
