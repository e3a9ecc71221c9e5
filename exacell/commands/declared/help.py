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
        "help metric FL_DISK_FIRST; help CELL-02559; help safety; help flags. help man prints the man page, help "
        "docs lists the pages of the documentation, help docs guide shows one.",
        example="help flush flashcache",
        params=(
            Param(name="topic", kind=Kind.TEXT, positional=True, rest=True, help="words of a statement, or a topic"),
        ),
        handler="exacell.commands.help:help_",
    ),
    Command(
        name="completion",
        group="help",
        effect=Effect.LOCAL,
        summary="the file that makes Tab complete exacell's words in bash, zsh or fish",
        details="bash, in ~/.bashrc: source <(exacell completion bash). zsh, after compinit in ~/.zshrc: source "
        "<(exacell completion zsh). fish: exacell completion fish > ~/.config/fish/completions/exacell.fish. Tab "
        "offers the same words as the prompt. It reads files only and never connects to anything.",
        example="completion bash",
        params=(
            Param(
                name="shell",
                kind=Kind.CHOICE,
                choices=("bash", "zsh", "fish"),
                positional=True,
                required=True,
                help="the shell that you use",
            ),
        ),
        recipe_ok=False,
        handler="exacell.commands.help:completion",
    ),
)
