"""Declarations of the commands that :mod:`exacell.commands.tutorial` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

COMMANDS = (
    Command(
        name="tutorial",
        group="help",
        effect=Effect.LOCAL,
        summary="learn exacell in ten minutes on an emulated rack: twelve steps, each checked",
        details="You type at the ordinary prompt; the tutorial watches and explains the next step. tutorial shows "
        "the present step again, next and back move, quit pauses; after quit, tutorial continues at that step, also "
        "tomorrow. restart starts again with step 1.",
        example="tutorial",
        params=(
            Param(
                name="where",
                kind=Kind.CHOICE,
                choices=("go", "skip", "next", "back", "quit", "restart"),
                positional=True,
                default="go",
                help="go: continue; skip or next: the next step; back: a step back; quit: pause; restart: from step 1",
            ),
        ),
        recipe_ok=False,
        handler="exacell.commands.tutorial:tutorial",
    ),
)
