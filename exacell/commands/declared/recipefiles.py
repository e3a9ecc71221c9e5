"""Declarations of the commands that :mod:`exacell.commands.recipefiles` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "recipes"

COMMANDS = (
    Command(
        name="new recipe",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="write a recipe in $EDITOR; it begins with a commented template",
        details="It lies beside your other recipes (~/.config/exacell/recipes) and is checked when you leave the editor; "
        "what is wrong is told, and you may edit again. One that is there already is never written over. A template "
        "that is left as it is leaves nothing.",
        example="new recipe weekly",
        params=(
            Param(name="name", kind=Kind.NAME, positional=True, required=True, help="of the recipe, without .exa"),
        ),
        recipe_ok=False,
        handler="exacell.commands.recipefiles:new",
    ),
    Command(
        name="fmt recipe",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="set a recipe in the usual layout",
        details="One blank between words, parameters and conditions in columns, blocks two blanks deeper, an empty line "
        "behind the header. Comments stay, and so does what it says. A recipe that comes with exacell is not written.",
        example="fmt recipe ./weekly.exa --check",
        params=(Param(name="name", kind=Kind.RECIPE, positional=True, required=True, help="the recipe"),),
        flags=(Flag(name="check", help="write nothing: show what would change; exit 3 when something would"),),
        recipe_ok=False,
        handler="exacell.commands.recipefiles:fmt",
    ),
    Command(
        name="record start",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="make a recipe of what is typed from now on, until record stop",
        details="What ends well is kept, changes and readings alike; what only a prompt can do is not, and -n is not. "
        "A statement that goes to some cells only, by use, is kept with them. Leaving exacell stops it, too.",
        example="record start weekly",
        params=(
            Param(name="name", kind=Kind.NAME, positional=True, required=True, help="of the recipe, without .exa"),
        ),
        recipe_ok=False,
        handler="exacell.commands.recipefiles:record_start",
    ),
    Command(
        name="record stop",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="write the recipe of what was typed since record start; sizes and names become its parameters",
        details="Sizes, databases, disk groups and prefixes of exacell's own statements become parameters whose defaults are "
        "what was typed. A recipe that is there is never written over.",
        example="record stop",
        recipe_ok=False,
        handler="exacell.commands.recipefiles:record_stop",
    ),
)
