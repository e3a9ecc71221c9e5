"""Find recipes by name or path: those that come with exacell, and the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from exacell.core.config import trusted_group
from exacell.core.errors import ConfigError, RecipeError, why_unreadable
from exacell.core.meant import ask_for
from exacell.core.packaged import packaged_files, packaged_folder
from exacell.core.paths import Home, at_home
from exacell.core.trust import refuse_untrusted
from exacell.language.recipewords import SUFFIX
from exacell.language.registry import Param
from exacell.recipes.parsing import Draft, Recipe, read_draft, recipe_error

if TYPE_CHECKING:
    from exacell.core.packaged import Place


def shipped() -> dict[str, Place]:
    """Return recipe name → file for the recipes that come with exacell."""
    return packaged_files("recipes", SUFFIX)


def recipe_files(home: Home) -> dict[str, Place]:
    """Return recipe name → file; a recipe of the user replaces a shipped one of the same name."""
    found = shipped()
    if home.recipes_dir.is_dir():
        found |= {path.stem: path for path in sorted(home.recipes_dir.glob(f"*{SUFFIX}"))}
    return found


def load_recipe(home: Home, name: str) -> Recipe:
    """Return the recipe of that name; a name that contains a slash is the path of a file.

    Raises:
        RecipeError: the recipe does not exist (names the closest), can't be read, may be written by others, or has a wrong
            header.
    """
    draft = load_draft(home, name)
    if draft.problems:
        raise recipe_error(draft.recipe.name, draft.problems)
    return draft.recipe


def load_draft(home: Home, name: str) -> Draft:
    """Return the parsed recipe of that name, with its problems; a name that contains a slash is the path of a file.

    Raises:
        RecipeError: the recipe does not exist (names the closest), can't be read, or may be written by others.
    """
    if "/" in name:
        return _recipe_at(home, at_home(name))
    files = recipe_files(home)
    stem = name.removesuffix(SUFFIX)
    path = files.get(stem) or next((p for n, p in files.items() if n.lower() == stem.lower()), None)
    if path is None:
        if (here := Path(f"{stem}{SUFFIX}")).is_file():
            raise RecipeError(f"none of your recipes is named {name}; to run a file, give its path", hint=f"./{here}")
        way = f"`recipes` lists them; `new recipe {stem}` creates it in {home.recipes_dir}"
        raise RecipeError(f"there is no recipe {name}", hint=ask_for(stem, files, limit=2) or way)
    return _read(home, path)


def own_file(home: Home, name: str) -> Path:
    """Return the path of a recipe that the user may edit: one of the user's own, or a file given by its path.

    Raises:
        RecipeError: the recipe is part of exacell.
    """
    if "/" in name:
        return at_home(name)
    path = home.recipes_dir / f"{load_draft(home, name).recipe.name}{SUFFIX}"
    if not path.is_file():
        raise RecipeError(
            f"recipe {name} is part of exacell and can't be changed",
            hint=f"copy it to {home.recipes_dir}: your copy is used in its place",
        )
    return path


def _recipe_at(home: Home, path: Path) -> Draft:
    """Return the parsed recipe in the file with this path, with its problems."""
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise RecipeError(
            f"recipe {path} {what}", hint=f"`recipes` lists yours in {home.recipes_dir} and those of exacell"
        )
    return _read(home, path)


def _read(home: Home, path: Place) -> Draft:
    if isinstance(path, Path) and path.parent != packaged_folder(
        "recipes"
    ):  # Shipped recipes are trusted like the program itself.
        try:
            refuse_untrusted(path, trusted_group(home))
        except ConfigError as error:
            raise RecipeError(f"recipe {path.stem}: {error.message}", hint=error.hint) from error
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RecipeError(f"recipe {path.stem}: {path} can't be read: {why_unreadable(error)}") from error
    return read_draft(path.stem, text, str(path))


def recipe_params(home: Home, name: str) -> tuple[Param, ...]:
    """Return a recipe's parameters for completion; empty if the recipe does not exist or is wrong."""
    try:
        return load_recipe(home, name).params
    except RecipeError:
        return ()
