"""dcli's command line, over the connections that are open already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.dcli.offered import DCLI_OPTIONS
from exacell.language.registry import Call, Effect, Kind, Param, command
from exacell.language.shellwords import ACCEPT, stray_flag
from exacell.output.result import Result

if TYPE_CHECKING:
    from exacell.context import Context


@command(
    "dcli",
    group="racks",
    effect=Effect.OPAQUE,
    summary="run dcli's command line as it is, with dcli's output, order and exit codes",
    details="All words behind dcli are its own, cut as a shell cuts them; dcli --help lists its options. --live prints "
    "lines as they arrive. CellCLI changes in the command, in -x files and in .scl scripts are guarded like typed ones. "
    "What exacell can't read is refused on production and read-only racks; elsewhere it needs --accept-opaque as the first "
    "word behind dcli, and there the guard ends. It is always journalled. A rack that is not in production may say opaque = "
    '"allow" in its configuration, for scripts that used dcli.',
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
)
def dcli(ctx: Context, call: Call) -> Result:
    """Return the exit code; what dcli prints is written as dcli would, records where a machine format is asked for."""
    import shlex
    from dataclasses import replace

    from exacell.dcli.run import run_dcli
    from exacell.errors import StatementError

    text = call.text_arg("words")
    try:
        argv = shlex.split(text)
    except ValueError as error:
        raise StatementError(f"dcli: the words can't be cut as a shell would: {error}") from error
    if argv[:1] == [f"--{ACCEPT.name}"]:
        argv, call = argv[1:], replace(call, flags={**call.flags, "accept-opaque": True})
    ended = argv[:1] == ["--"]
    argv = argv[1:] if ended else argv
    stray = "" if ended else stray_flag(argv)
    if stray:
        raise StatementError(
            f"dcli: {stray} stands among dcli's words, where it is the command's own; nothing was sent",
            hint=f"exacell {stray} dcli … for exacell's flag; dcli -- … where the command means it",
        )
    return run_dcli(ctx, argv, call)
