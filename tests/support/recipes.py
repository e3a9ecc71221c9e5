"""Recipes for tests, read whole or not at all."""

from __future__ import annotations

from exacell.recipes.parsing import Recipe, read_draft, recipe_error


def parse_recipe(name: str, text: str, path: str = "") -> Recipe:
    """Return the recipe that ``text`` is. Its statements are checked by :func:`exacell.recipes.checker.check_recipe`.

    Raises:
        RecipeError: header lines or blocks are wrong; names the first line, and how many problems there are.
    """
    draft = read_draft(name, text, path)
    if draft.problems:
        raise recipe_error(name, draft.problems)
    return draft.recipe
