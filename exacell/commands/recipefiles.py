"""Commands for recipe files: create one from a template or from typed statements, and format one."""

from __future__ import annotations

import difflib
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from textwrap import wrap

from exacell.core.errors import ExitCode, RecipeError, StatementError, why_unreadable
from exacell.core.paths import ensure_dir, replace_file
from exacell.core.units import counted
from exacell.language.recipewords import RECIPE_WORDS, SUFFIX, Place
from exacell.language.registry import Call
from exacell.output.console import Console
from exacell.output.result import Result
from exacell.recipes.checker import problems_of, remarks_of
from exacell.recipes.files import load_draft, own_file, shipped
from exacell.recipes.layout import laid_out
from exacell.recipes.recorded import Recorded, recipe_of
from exacell.session.services import Services
from exacell.session.state import Session


def fmt(session: Session, call: Call) -> Result:
    """Return a note about the file that was formatted; with ``--check``, a diff of the changes.

    Raises:
        RecipeError: there is no such recipe, it is part of exacell, or it can't be written.
    """
    draft = load_draft(session.home, call.text_arg("name"))
    name, text = draft.recipe.name, draft.recipe.text
    new = laid_out(text)
    if new == text:
        return Result(notes=[f"recipe {name} already has the usual layout"])
    changes = difflib.unified_diff(text.splitlines(), new.splitlines(), draft.recipe.path, "as usual", lineterm="", n=1)
    if call.flag("check"):
        return Result(text="\n".join(changes), exit_code=ExitCode.CHANGES)
    changed = sum(line.startswith("+") for line in changes) - 1
    path = own_file(session.home, call.text_arg("name"))
    try:
        mode = path.stat().st_mode
        replace_file(path, new)
        path.chmod(mode)
    except OSError as error:
        raise RecipeError(f"recipe {name}: {path} can't be written: {why_unreadable(error)}") from error
    return Result(notes=[f"recipe {name}: {counted(changed, 'line')} formatted"])


def new(session: Session, services: Services, call: Call) -> Result:
    """Return a note about the new recipe, which the user wrote in the editor, starting from a template.

    Raises:
        RecipeError: there is already one of that name, or no terminal for an editor.
        StatementError: the editor failed; the file stays as it is.
    """
    name = call.text_arg("name").removesuffix(SUFFIX)
    path = session.home.recipes_dir / f"{name}{SUFFIX}"
    begun = template(name, path)
    _make(name, path, begun)
    try:
        return _edited(session, services, name, path, begun)
    finally:
        with suppress(OSError, UnicodeDecodeError):
            if path.read_text(encoding="utf-8").strip() in ("", begun.strip()):
                path.unlink()


def _make(name: str, path: Path, text: str) -> None:
    """Write a recipe's file, which must not exist.

    Raises:
        RecipeError: it exists, or can't be written.
    """
    try:
        ensure_dir(path.parent)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise _there_is(name, path) from error
    except OSError as error:
        raise RecipeError(f"recipe {name}: {path} can't be written: {why_unreadable(error)}") from error


def _there_is(name: str, path: Path) -> RecipeError:
    return RecipeError(
        f"there is a recipe {name}: {path}",
        hint=f"edit that file, then type `check recipe {name}`; or choose another name for a new one",
    )


def record_start(session: Session, call: Call) -> Result:
    """Start to record typed statements for a recipe, and return a note.

    Raises:
        RecipeError: there is already a recipe of that name, or one is being recorded.
    """
    name = call.text_arg("name").removesuffix(SUFFIX)
    path = session.home.recipes_dir / f"{name}{SUFFIX}"
    if session.recorded is not None:
        raise RecipeError(f"recipe {session.recorded.name} is being recorded", hint="type `record stop` to end it")
    if path.exists():
        raise _there_is(name, path)
    session.recorded = Recorded(name=name)
    return Result(notes=[f"from now on your statements become the recipe {name}; `record stop` writes it"])


def record_stop(session: Session) -> Result:
    """Write the recorded statements as a recipe, and return a note.

    Raises:
        RecipeError: nothing is being recorded, or the file can't be written; the recorded statements are kept.
    """
    recorded = session.recorded
    if recorded is None:
        raise RecipeError("nothing is being recorded", hint="type `record start NAME` to begin")
    name, path = recorded.name, session.home.recipes_dir / f"{recorded.name}{SUFFIX}"
    if not recorded.lines:
        session.recorded = None
        return Result(notes=[f"you typed no statement for a recipe, so there is no recipe {name}"])
    rack = session.rack.name if session.rack is not None else "no rack"
    text = recipe_of(recorded.lines, f"{name}, as typed on {rack}")
    _make(name, path, text)
    session.recorded = None
    draft = load_draft(session.home, str(path))
    found = problems_of(draft)
    count = counted(len(draft.recipe.lines), "statement")
    takes = " ".join(param.shape for param in draft.recipe.params)
    return Result(
        notes=[f"recipe {name}: {count}" + (f", takes {takes}" if takes else "") + f"; `show recipe {name}` shows it"],
        problems=[f"line {each.number}: {each.message}" for each in found],
    )


def left_recording(session: Session, console: Console) -> None:
    """Write the recipe that is still being recorded when a session ends, and show a note, so that nothing is lost."""
    try:
        done = record_stop(session)
        said = [*done.notes, *done.problems]
    except RecipeError as error:
        said = [f"the recording was not kept: {error.message}"]
    for text in said:
        console.say(text)


def _edited(session: Session, services: Services, name: str, path: Path, begun: str) -> Result:
    """Return a note about a new recipe's file, which stays as the editor left it."""
    while True:
        try:
            opened = services.console.edit(path, session.env)
        except StatementError as error:
            with suppress(OSError, UnicodeDecodeError):
                if path.read_text(encoding="utf-8").strip() not in ("", begun.strip()):
                    raise StatementError(
                        error.message, hint=f"{path} is kept as you left it: type `check recipe {name}`"
                    ) from error
            raise
        if not opened:
            raise RecipeError(
                "`new recipe` opens $EDITOR, which needs a terminal",
                hint=f"write {path} with any editor, then type `check recipe {name}`",
            )
        draft = load_draft(session.home, str(path)) if path.exists() else None
        if draft is None or draft.recipe.text.strip() in ("", begun.strip()):
            return Result(notes=[f"nothing was written, so there is no recipe {name}"])
        found = problems_of(draft)
        if not found:
            over = " instead of the one that comes with exacell" if name in shipped() else ""
            count = counted(len(draft.recipe.lines), "statement")
            said = f"recipe {name}{over}: {count}, well-formed; `run {name} -n` shows what it would do"
            return Result(notes=[*remarks_of(draft.recipe), said])
        for each in found:
            services.console.say(f"line {each.number}: {each.message}" + (f"; {each.hint}" if each.hint else ""))
        if not services.console.confirm("edit it again?"):
            return Result(
                problems=[
                    f"recipe {name}: {counted(len(found), 'problem')}; {path} is kept but can't run like this; "
                    f"edit it, then type `check recipe {name}`"
                ],
                exit_code=ExitCode.NOT_EXECUTED,
            )


def template(name: str, path: Path) -> str:
    """Return the template for a new recipe: the words of recipes in comments, and one statement."""
    own = [word for word in RECIPE_WORDS.values() if word.name != "recipe"]
    header = [_explained(word.shape, word.about) for word in own if word.place is Place.HEADER]
    body = [_explained(word.shape, word.about) for word in own if word.place is not Place.HEADER]
    return "\n".join(
        (
            *_comment(f"`help recipe` explains every word. If you change something, it is checked and kept as {path}."),
            'recipe "what it does"',
            "# More words of the header, if you need them:",
            *chain(*header),
            "",
            "# Then statements, one on each line, as at the prompt. Only in recipes:",
            *chain(*body),
            "",
            "check all flashcache.status = normal",
            "",
        )
    )


_WIDE = 78
"""The width of a template: an editor at 80 columns shows it whole."""

_SHAPE = 24
"""The column in which the explanation of a word begins."""


_wrap = partial(wrap, width=_WIDE, break_long_words=False, break_on_hyphens=False)


def _comment(text: str) -> list[str]:
    return _wrap(text, initial_indent="# ", subsequent_indent="# ")


def _explained(shape: str, about: str) -> list[str]:
    """Return a word of recipes with its explanation beside or below it."""
    if len(shape) < _SHAPE:
        below = f"# {'':<{_SHAPE}}"
        return _wrap(about, initial_indent=f"# {shape:<{_SHAPE}}", subsequent_indent=below)
    return [f"# {shape}", *_wrap(about, initial_indent="#   ", subsequent_indent="#   ")]
