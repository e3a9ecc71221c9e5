"""Declarations of the commands that :mod:`exacell.commands.tutorial` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

COMMANDS = (
    Command(
        name="tutorial",
        group="help",
        effect=Effect.LOCAL,
        summary="learn exacell in ten minutes on an emulated rack: twelve steps, each checked",
        details="You type at the ordinary prompt; the tutorial looks on and says what comes next. tutorial shows the "
        "present step again, next and back move, quit pauses (tutorial goes on there, also tomorrow), restart begins "
        "anew.",
        example="tutorial",
        params=(
            Param(
                name="where",
                kind=Kind.CHOICE,
                choices=("go", "skip", "next", "back", "quit", "restart"),
                positional=True,
                default="go",
                help="go on, skip a step (next is the same), a step back, pause, or from the beginning",
            ),
        ),
        recipe_ok=False,
        handler="exacell.commands.tutorial:tutorial",
    ),
)
