"""Carry out one command line: open its session, then run the prompt or its statements.

It stands apart from cli.py, which answers ``--version`` and shell completion without the modules of a session.
"""

from __future__ import annotations

import threading

from exacell.core.formats import check_format
from exacell.language.options import CommandLine
from exacell.output.faults import bug_in_thread
from exacell.output.streams import at_prompt
from exacell.output.terminal import TerminalConsole
from exacell.session.opening import open_session, options_of
from exacell.session.signalled import quitting_as_terminated


def carry_out(line: CommandLine) -> int:
    """Open a session for a command line, run its statements (or the prompt if there are none), and return the exit code.

    Raises:
        ExacellError: the command line or the configuration is wrong; no statement was begun.
    """
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = bug_in_thread
    with quitting_as_terminated():
        return _carried_out(line)


def _carried_out(line: CommandLine) -> int:
    if line.value("format"):
        check_format(line.value("format"))
    console = TerminalConsole(quiet="quiet" in line.switches)
    if line.has_statements or not at_prompt() or "," in line.value("rack"):
        from exacell.batch import run_batch

        return run_batch(line, console)
    from exacell.prompt.app import run  # The code that runs statements is loaded when one is entered.

    session, services = open_session(options_of(line), console)
    services.more_to_come = True
    try:
        return run(session, services, console)
    finally:
        if session.recorded is not None:
            from exacell.commands.recipefiles import left_recording  # Few sessions record.

            left_recording(session, console)
        services.close()
