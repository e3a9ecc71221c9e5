"""Help's page about one recipe: how to run it, its parameters, and its section in the page of the library."""

from __future__ import annotations

import re
from collections.abc import Iterator

from exacell.commands.pages.found import told_of
from exacell.commands.pages.lines import columns, wrap
from exacell.core.paths import Home
from exacell.language.registry import Param
from exacell.recipes.files import load_draft, recipe_files, shipped


def recipe_page(home: Home, name: str) -> Iterator[str]:
    """Yield the lines of a recipe's page; nothing if there is no recipe of that name.

    For a recipe of the user, the comment at the beginning of its file takes the place of a section.

    Raises:
        RecipeError: its file can't be read.
    """
    place = recipe_files(home).get(name)
    if place is None:
        return
    recipe = load_draft(home, name).recipe
    needed = [param.shape for param in recipe.params if param.required]
    more = ["[name=value ...]"] if len(needed) < len(recipe.params) else []
    yield from wrap(" ".join(["run", name, *needed, *more]), indent="    ", first="")
    yield ""
    yield from wrap(f"{recipe.title or name}.")
    yield from columns([(param.name, _described(param)) for param in recipe.params])
    yield ""
    section = told_of("library", name) if shipped().get(name) == place else ""
    yield from _paragraphs(_TYPED.sub("", section) or _head(recipe.text))
    ceiling = [f"risk {recipe.risk}"] if recipe.risk else []
    needs = [f"needs {', '.join(recipe.needs)}"] if recipe.needs else []
    said = "; ".join([*ceiling, *needs, f"text: show recipe {name}"])
    yield from wrap(said[:1].upper() + said[1:])
    example = _TYPED.search(section)
    yield f"Example: {example[1] if example else ' '.join(['run', name, *needed, '-n'])}"


_TYPED = re.compile(r"^\* Typed: `(run .*)`$", re.MULTILINE)
"""The line of a section with an example."""


def _described(param: Param) -> str:
    values = [word for word in (*param.words, *param.choices) if word != param.default]
    said = [param.help, f"({', '.join(values)})" if values else "", f"= {param.default}" if param.default else ""]
    return " ".join(filter(None, said))


def _paragraphs(text: str) -> Iterator[str]:
    """Yield a section's sentences and list items, each wrapped again, without code marks."""
    for part in re.split(r"\n\s*\n|\n(?=\* )", text.replace("`", "")):
        if part.strip():
            first = "* " if part.startswith("* ") else ""
            yield from wrap(" ".join(part.removeprefix("* ").split()), indent="  " if first else "", first=first)


def _head(text: str) -> str:
    """Return the comment at the beginning of a recipe's file."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    return "\n".join(lines)
