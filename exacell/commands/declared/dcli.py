"""Declarations of the commands that :mod:`exacell.commands.dcli` carries out."""

from __future__ import annotations

from exacell.change.dcli.offered import DCLI_OPTIONS
from exacell.language.registry import Command, Effect, Kind, Param
from exacell.language.shellwords import ACCEPT

COMMANDS = (
    Command(
        name="dcli",
        group="racks",
        effect=Effect.OPAQUE,
        summary="run dcli's command line as it is, with dcli's output, order and exit codes",
        details="All words behind dcli are its own, cut as a shell cuts them; dcli --help lists its options. --live "
        "prints lines as they arrive. CellCLI changes in the command, in -x files and in .scl scripts are guarded "
        "like typed ones. What exacell can't read is refused on production and read-only racks; elsewhere it needs "
        "--accept-opaque as the first word behind dcli, and there the guard ends. It is always journalled. A rack "
        'that is not in production may say opaque = "allow" in its configuration, for scripts that used dcli.',
        example="dcli -c exa1cel01,exa1cel02 cellcli -e list cell detail",
        params=(
            Param(
                name="words",
                kind=Kind.COMMAND,
                positional=True,
                rest=True,
                help="dcli's options and the command for the targets",
            ),
        ),
        options=DCLI_OPTIONS,
        flags=(ACCEPT,),
        recipe_ok=False,
        handler="exacell.commands.dcli:dcli",
    ),
)
