"""The words that only recipes have: in the header, for blocks, and after a statement. Pure.

Statements of recipes are commands of the registry; these words are not. The parser of recipes, its layout, help and the error
at the prompt take them from here; each word's help page is the section of docs/recipes.md with its name.
"""

from __future__ import annotations

from enum import StrEnum

from exacell.core.values import dataclass

SUFFIX = ".exa"
"""Ending of the file name of a recipe."""


class Place(StrEnum):
    """The part of a recipe in which a word is used."""

    HEADER = "header"
    BLOCK = "block"
    AFTER = "after a statement"
    END = "end of a block"


@dataclass(frozen=True, kw_only=True)
class RecipeWord:
    """A word of recipes.

    Attributes:
        place: where it is used.
        shape: how a line with it is written.
        about: what it does, as a phrase.
        nested: for a block: the advice if it is inside another block of its kind.
    """

    name: str
    place: Place
    shape: str
    about: str
    nested: str = ""


_ALL = tuple(
    RecipeWord(name=name, place=place, shape=shape, about=about, nested="".join(nested))
    for name, place, shape, about, *nested in (
        ("recipe", Place.HEADER, 'recipe "what it does"', "the title, shown by `recipes` and by a run"),
        (
            "param",
            Place.HEADER,
            'param name : kind = default "help"',
            "a parameter of a recipe; its value is $name",
        ),
        (
            "risk",
            Place.HEADER,
            "risk none|performance|redundancy|data",
            "the highest risk allowed: a plan of the recipe that risks more is refused",
        ),
        ("needs", Place.HEADER, "needs asm, release>=19.3", "what the recipe needs, checked before anything runs"),
        (
            "let",
            Place.HEADER,
            "let name = STATEMENT.COLUMN [of CELL or NAME]",
            "a value that is read before the plan; its value is $name",
        ),
        (
            "when",
            Place.AFTER,
            "STATEMENT when $name = value [and $other != value]",
            "at the end of a statement: run it only if parameters have these values",
        ),
        (
            "matrix",
            Place.BLOCK,
            "matrix name in VALUE,VALUE [name in …]",
            "lines that are repeated once for each of some values, before the plan",
            "`matrix x in 1,2 y in a,b` repeats the lines for all pairs",
        ),
        (
            "rolling",
            Place.BLOCK,
            "[on CELLS] rolling [N]",
            "lines that run on N cells at a time, wave after wave, with a gate before each wave",
            "remove one of the two",
        ),
        ("finally", Place.BLOCK, "finally", "lines that always run at the end, also after an error"),
        ("end", Place.END, "end", "ends matrix, rolling, finally and experiment"),
    )
)

RECIPE_WORDS = {word.name: word for word in _ALL}
"""All words by name, in the order in which a recipe has them."""

HEADER = tuple(word.name for word in _ALL if word.place is Place.HEADER)
"""First words of the lines of a header."""

BLOCKS = tuple(word.name for word in _ALL if word.place is Place.BLOCK)
"""Words that open a block, which ``end`` closes."""
