"""Declarations of the commands that :mod:`exacell.commands.hold` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

COMMANDS = (
    Command(
        name="hold",
        group="racks",
        effect=Effect.LOCAL,
        summary="keep connections open for the reads of later command lines, so that a script is as quick as the prompt",
        details="`hold on` starts a process of yours, the holder: it logs in to the rack's cells as reads do and keeps a CellCLI "
        "open on each. Later command lines have it read; whatever changes anything opens its own connections. `hold off` ends "
        "it, and so do its idle minutes, a change of the configuration, ssh_config or known_hosts, and another version of "
        'exacell. hold = "10m" in the rack\'s configuration, or EXACELL_HOLD=10m in the environment, has the first read '
        "start it. If the holder does not answer at once, a command line connects by itself. help docs transports has more.",
        example="hold status",
        params=(
            Param(
                name="what",
                kind=Kind.CHOICE,
                choices=("on", "off", "status"),
                default="status",
                positional=True,
                help="start it, end it, or show how it stands",
            ),
            Param(
                name="idle", kind=Kind.DURATION, positional=True, help="on: end after so much time without a read (10m)"
            ),
        ),
        recipe_ok=False,
        handler="exacell.commands.hold:hold",
    ),
)
