"""Where recipes are kept: the shipped ones, the user's own, and those that are named by their path."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

from exacell.config import trusted_group
from exacell.core.trust import refuse_untrusted
from exacell.errors import ConfigError, RecipeError, why_unreadable
from exacell.language.registry import Param
from exacell.paths import Home
from exacell.recipes.parsing import Recipe, parse_recipe

SUFFIX = ".exa"


def shipped_folder() -> Path:
    """Return the folder of the recipes that come with exacell, in a checkout or an installation."""
    beside = Path(__file__).resolve().parents[2] / "recipes"
    if beside.is_dir():
        return beside
    return Path(sys.prefix) / "share" / "exacell" / "recipes"


def recipe_files(home: Home) -> dict[str, Path]:
    """Return recipe name → file; the user's own win over the shipped ones."""
    found: dict[str, Path] = {}
    for folder in (shipped_folder(), home.recipes_dir):
        if folder.is_dir():
            found |= {path.stem: path for path in sorted(folder.glob(f"*{SUFFIX}"))}
    return found


def load_recipe(home: Home, name: str) -> Recipe:
    """Return the recipe of that name, or in that file where the name holds a slash.

    Raises:
        RecipeError: there is none (names the closest), it can't be read, others can write it, or its header is wrong.
    """
    if "/" in name:
        return _recipe_at(home, Path(name).expanduser())
    files = recipe_files(home)
    path = files.get(name) or next((p for n, p in files.items() if n.lower() == name.lower()), None)
    if path is None:
        near = difflib.get_close_matches(name.lower(), list(files), n=2)
        known = ", ".join(sorted(files)) or "none"
        hint = f"did you mean {' or '.join(near)}?" if near else f"put it into {home.recipes_dir} as {name}{SUFFIX}"
        raise RecipeError(f"there is no recipe {name}; there are: {known}", hint=hint)
    return _read(home, path)


def _recipe_at(home: Home, path: Path) -> Recipe:
    """Return the recipe in a file that is named by its path; one with a blank in it has to be quoted."""
    if not path.is_file():
        what = "is no file" if path.exists() else "does not exist"
        raise RecipeError(
            f"recipe {path} {what}", hint=f"recipes lists those of {home.recipes_dir} and the shipped ones"
        )
    return _read(home, path)


def _read(home: Home, path: Path) -> Recipe:
    if path.parent != shipped_folder():  # That is trusted as the program is.
        try:
            refuse_untrusted(path, trusted_group(home))
        except ConfigError as error:
            raise RecipeError(f"recipe {path.stem}: {error.message}", hint=error.hint) from error
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecipeError(f"recipe {path.stem}: {path} can't be read: {why_unreadable(error)}") from error
    return parse_recipe(path.stem, text, str(path))


def recipe_params(home: Home, name: str) -> tuple[Param, ...]:
    """Return a recipe's parameters for completion; empty when there is no such recipe or it is wrong."""
    try:
        return load_recipe(home, name).params
    except RecipeError:
        return ()
