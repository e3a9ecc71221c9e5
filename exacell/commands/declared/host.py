"""Declarations of the commands that :mod:`exacell.commands.host` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param
from exacell.language.shellwords import ACCEPT

COMMANDS = (
    Command(
        name="host",
        group="recipes",
        effect=Effect.OPAQUE,
        summary="run a command on this machine, such as the load of a measurement",
        details="All words behind host are the command. What exacell reads as showing something (date, uptime ...; "
        "help docs shell-text lists all) runs at once. A change by CellCLI or of a disk group that is found in it is "
        "always refused: typed as a statement it is guarded. What it can't read is refused on production and "
        "read-only racks, elsewhere it needs --accept-opaque: host --accept-opaque ... or run ... --accept-opaque. It "
        "is journalled and not undone; -n runs nothing. A status other than 0 stops the recipe.",
        example="host 'date'",
        params=(
            Param(name="command", kind=Kind.COMMAND, positional=True, required=True, rest=True, help="for /bin/sh"),
        ),
        flags=(ACCEPT,),
        handler="exacell.commands.host:host",
    ),
)
