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
        details="All words after host are the command. Commands that exacell knows as reads (date, uptime ...; help "
        "docs shell-text lists all) run at once. A change by CellCLI or of a disk group in it is always refused: "
        "type it as a statement, which is guarded. Text that exacell can't read is refused on production and "
        "read-only racks; elsewhere it needs --accept-opaque: host --accept-opaque ... or run ... --accept-opaque. "
        "It is journalled and can't be undone; -n runs nothing. A status other than 0 stops the recipe.",
        example="host 'date'",
        params=(
            Param(name="command", kind=Kind.COMMAND, positional=True, required=True, rest=True, help="for /bin/sh"),
        ),
        flags=(ACCEPT,),
        handler="exacell.commands.host:host",
    ),
)
