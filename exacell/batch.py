"""Statements that a command line, a file or standard input gives: all checked, then run one after the other."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from exacell.cellcli.secrets import holds_secret
from exacell.change.leftbehind import left_behind
from exacell.core.errors import ExacellError, ExitCode, StatementError
from exacell.language.argv import argv_line
from exacell.language.line import parse_line, with_flags
from exacell.language.options import CommandLine
from exacell.language.words import split_statements
from exacell.output.faults import say_error
from exacell.output.result import worst
from exacell.output.streams import at_prompt
from exacell.output.terminal import TerminalConsole
from exacell.runner import Runner
from exacell.session.context import Context
from exacell.session.opening import open_context, options_of
from exacell.session.scripts import read_script, script_at
from exacell.session.signals import SessionExit

_SEEN = (
    "all users of this host can read the arguments of a process, and these hold a password or a key: give such a statement "
    "at the prompt, with -f, or on standard input"
)


def run_batch(line: CommandLine, console: TerminalConsole) -> int:
    """Check the statements of a command line, run them, and return the exit code; standard input gives them where it has none.

    Raises:
        ExacellError: the command line or the configuration is wrong; no statement was begun.
    """
    try:
        statements = _checked(line)
    except _WrongStatement as wrong:
        say_error(wrong.error, text=wrong.text, place=wrong.place)
        return wrong.error.exit_code
    if statements and not line.value("file") and any(holds_secret(text) for text in statements):
        console.tell(_SEEN, "warning")
    ctx = open_context(options_of(line), console)
    ctx.services.more_to_come = statements is None or len(statements) > 1
    try:
        gc.enable()
        runner = Runner(ctx, console, flags=line.flags, header="no-header" not in line.switches)
        runner.typed = bool(line.words or line.value("execute"))
        ctx.services.run_nested = lambda text: _nested(ctx, runner, text)
        try:
            if statements is None:
                return interact(ctx, runner)
            if [text.strip().lower() for text in statements] != ["pending"]:  # Which says the same.
                for warning in left_behind(ctx, warn=True):
                    console.tell(warning, "warning")
            return runner.run_statements(statements, shell=_whole_line(line))
        except SessionExit:
            return ExitCode.INTERRUPTED if ctx.session.told_to_end else worst(runner.codes)
    finally:
        ctx.services.close()


class _WrongStatement(Exception):
    """A statement that was given on the command line or in a file, and where it is wrong."""

    def __init__(self, error: ExacellError, text: str, place: str) -> None:
        super().__init__(error.message)
        self.error, self.text, self.place = error, text, place


def _checked(line: CommandLine) -> list[str] | None:
    """Return the statements of the command line, all checked by grammar before the first one runs.

    None when there are none, so that a prompt or standard input gives them.
    """
    if not line.has_statements:
        return None
    if line.value("file") and (line.words or line.value("execute")):
        raise StatementError("-f and a statement were both given: one of them is the statement")
    if line.value("execute"):
        # As for CellCLI, what follows -e belongs to it, quoted or not.
        found = split_statements(" ".join((line.value("execute"), *line.words)))
    elif line.words:
        text = argv_line(line.words)
        found = split_statements(text) if _whole_line(line) else [text]
    elif line.value("file") and line.value("file") != "-":
        return _checked_file(line.value("file"), line)
    else:
        return None
    for text in found:
        _check(text, line, "")
    return found


def _whole_line(line: CommandLine) -> bool:
    """Whether the statement was given as a line, as at the prompt, rather than as words."""
    return not line.words or bool(line.value("execute")) or any(blank in line.words[0].strip() for blank in " \t\n")


def _checked_file(name: str, line: CommandLine) -> list[str]:
    script = script_at(Path(name))
    for statement in script:
        _check(statement.text, line, f"{name}, line {statement.number}: ")
    return [statement.text for statement in script]


def _check(text: str, line: CommandLine, place: str) -> None:
    try:
        parsed = parse_line(text, shell=_whole_line(line))
        if parsed is not None:
            with_flags(parsed, line.flags)
    except ExacellError as error:
        raise _WrongStatement(error, text, place) from error


def interact(ctx: Context, runner: Runner) -> ExitCode:
    """Take statements from the prompt on a terminal, else from standard input until it ends; return the exit code.

    Raises:
        SessionExit: a script said EXIT.
    """
    if sys.stdin is None or sys.stdin.closed:
        return ExitCode.DONE
    if at_prompt():
        from exacell.prompt.app import run

        return run(ctx, runner.console)
    return runner.run_statements(_script_of(sys.stdin))


_SHOWPIECE = "run reset_cold -y"
"""What the demo shows when nobody gives it a statement."""


def _nested(ctx: Context, runner: Runner, text: str) -> ExitCode:
    """Run what stands behind ``demo``: a statement, the prompt, a script; the showpiece when there is none of them."""
    if text:
        return runner.run_statements(split_statements(text))
    before = len(runner.codes)
    code = interact(ctx, runner)
    if at_prompt() or len(runner.codes) > before:
        return code
    return runner.run_text(_SHOWPIECE)


def _script_of(stream: TextIO) -> Iterator[str]:
    for statement in read_script(iter(stream.readline, "")):
        yield statement.text
