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
        details="The file lies beside your other recipes (~/.config/exacell/recipes). It is checked when you leave "
        "the editor; if something is wrong you see it and may edit again. An existing recipe is never overwritten. "
        "If you change nothing, no file is left.",
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
        summary="rewrite a recipe in the usual layout",
        details="One blank between words, parameters and conditions in columns, blocks indented by two blanks, an "
        "empty line after the header. Comments and meaning stay the same. Recipes that come with exacell are not "
        "changed.",
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
        summary="record what you type as a recipe, until record stop",
        details="Statements that end well are kept, changes and reads alike. Statements that only the prompt has, "
        "and those with -n, are not. A statement that went to some cells only, because of use, is kept with these "
        "cells. Leaving exacell ends the recording, too.",
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
        summary="end the recording and write the recipe; sizes and names become its parameters",
        details="Sizes, databases, disk groups and prefixes in exacell's own statements become parameters, with "
        "what you typed as their defaults. An existing recipe is never overwritten.",
        example="record stop",
        recipe_ok=False,
        handler="exacell.commands.recipefiles:record_stop",
    ),
)
