"""The entry point of the program, and the exit code with which it ends.

Modules are imported only when they are needed, so that ``--version`` and shell completion are fast: the code for completion is
in :mod:`exacell.session.completion`, the code for statements in :mod:`exacell.commandline`.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from exacell.core.errors import ConfigError, ExitCode
from exacell.core.lazyimport import put_off, without
from exacell.core.version import __version__
from exacell.output.streams import open_standard_streams


def entry() -> NoReturn:
    """Run the program and leave with its exit code."""
    gc.disable()  # Loading creates little garbage: this saves a tenth of the time until the first prompt.
    open_standard_streams()
    put_off()
    with without("urllib.parse", "quote_from_bytes"):
        import pathlib  # noqa: F401
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal without Unicode shows escapes instead of an error.
            stream.reconfigure(errors="backslashreplace")
    if sys.argv[1:2] == ["--complete"]:
        from exacell.core.paths import Home
        from exacell.session.completion.kept import use_kept

        with suppress(ConfigError):  # Without a home directory nothing is stored.
            use_kept(Home.from_env().cache_dir)  # Only for completion; never for a process that runs commands.
    _leave(main())


def _leave(code: int) -> NoReturn:
    """End the process at once, because unloading hundreds of modules would cost a tenth of a short run."""
    threading = sys.modules.get("threading")  # If it was not imported, there is one thread.
    if threading is not None and any(
        not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()
    ):
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError:
            sys.exit(code)  # The normal end reports the error of the stream.
    os._exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; every error that a user can cause becomes one line on stderr.

    Args:
        argv: arguments without the program's name; None: those of the process.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    code: int = ExitCode.DONE
    try:
        if words[:1] == ["--complete"]:
            from exacell.prompt.shells import complete

            code = complete(words[1:], sys.stdout)
        else:
            code = _main(words)
        sys.stdout.flush()
        return code
    except (Exception, KeyboardInterrupt) as error:
        from exacell.output.faults import ended_by

        return ended_by(error, code)


def _main(words: list[str]) -> int:
    from exacell.language.options import read_argv, usage

    line = read_argv(words)
    if "version" in line.switches:
        print(f"exacell {__version__}")
        return ExitCode.DONE
    if "help" in line.switches:
        print(usage())
        return ExitCode.DONE
    from exacell.commandline import carry_out

    return carry_out(line)
