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
        details="All words after dcli are dcli's own, split as a shell splits them; dcli --help lists its options. "
        "--live prints lines as they arrive. CellCLI changes in the command, in -x files and in .scl scripts are "
        "guarded like typed ones. Text that exacell can't read is refused on production and read-only racks. "
        "Elsewhere it needs --accept-opaque as the first word after dcli; exacell can't guard such text. It is "
        'always journalled. For scripts that used dcli, a rack that is not in production may have opaque = "allow" '
        "in its configuration.",
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
