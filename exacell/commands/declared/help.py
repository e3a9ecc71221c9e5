"""Declarations of the commands that :mod:`exacell.commands.help` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

COMMANDS = (
    Command(
        name="help",
        group="help",
        effect=Effect.LOCAL,
        summary="statements, objects, attributes and metrics explained",
        details="help flush flashcache; help list griddisk; help griddisk; help attribute griddisk asmModeStatus; "
        "help metric FL_DISK_FIRST; help CELL-02559; help safety; help flags; help man prints the man page; help docs "
        "lists the pages of the documentation, help docs reliability shows one.",
        example="help flush flashcache",
        params=(
            Param(name="topic", kind=Kind.TEXT, positional=True, rest=True, help="words of a statement, or a topic"),
        ),
        handler="exacell.commands.help:help_",
    ),
)
