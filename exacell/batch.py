"""Run the statements of a command line, a file or standard input: all are checked first, then run one after the other. With
``-r a,b``, each statement is asked of several racks at once, in sessions that only read.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TextIO

from exacell.cellcli.secrets import holds_secret
from exacell.change.execute import execute
from exacell.change.leftbehind import left_behind
from exacell.core.background import Meanwhile
from exacell.core.collecting import exclude_loaded
from exacell.core.errors import ExacellError, ExitCode, StatementError
from exacell.language.argv import argv_line
from exacell.language.line import Line, parse_line, with_flags
from exacell.language.options import CommandLine
from exacell.language.registry import Effect
from exacell.language.words import split_statements
from exacell.output.console import SilentConsole
from exacell.output.faults import say_error
from exacell.output.result import Column, Result, worst
from exacell.output.streams import at_prompt
from exacell.output.terminal import TerminalConsole
from exacell.runner import Runner
from exacell.session.opening import open_session, options_of
from exacell.session.request import Request
from exacell.session.scripts import read_script, script_at
from exacell.session.services import Services
from exacell.session.signals import SessionExit
from exacell.session.state import Session

_SEEN = (
    "these arguments hold a password or a key, and every user of this host can read them: give such a statement "
    "at the prompt, with -f, or on standard input"
)


def run_batch(line: CommandLine, console: TerminalConsole) -> int:
    """Check and run the statements of a command line, and return the exit code; without statements, standard input gives them.

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
    if racks := racks_of(line):
        return ask_racks(line, racks, statements, console, shell=_whole_line(line))
    session, services = open_session(options_of(line), console)
    if line.value("ssh-config"):
        from exacell.change.here import note_config  # Few statements name one.

        note_config(session, services, line.value("ssh-config"))
    services.more_to_come = statements is None or len(statements) > 1
    services.asks_holder = not (statements is None and at_prompt())
    try:
        _collect_again()
        runner = Runner(session, services, console, flags=line.flags, header="no-header" not in line.switches)
        runner.typed = bool(line.words or line.value("execute"))
        services.run_nested = lambda text: _nested(session, services, runner, text)
        try:
            if statements is None:
                return interact(session, services, runner)
            if [text.strip().lower() for text in statements] != ["pending"]:  # It shows the same.
                for warning in left_behind(session, services, warn=True):
                    console.tell(warning, "warning")
            return runner.run_statements(statements, shell=_whole_line(line))
        except SessionExit:
            return ExitCode.INTERRUPTED if session.told_to_end else worst(runner.codes)
    finally:
        if session.recorded is not None:
            from exacell.commands.recipefiles import left_recording  # Few sessions record.

            left_recording(session, console)
        services.close()


def _collect_again() -> None:
    """Switch garbage collection on again if it was off while modules were loaded; loaded objects are excluded from it."""
    if not gc.isenabled():
        exclude_loaded()


class _WrongStatement(Exception):
    """A wrong statement on the command line or in a file, and its place."""

    def __init__(self, error: ExacellError, text: str, place: str) -> None:
        super().__init__(error.message)
        self.error, self.text, self.place = error, text, place


def _checked(line: CommandLine) -> list[str] | None:
    """Return the statements of the command line; the grammar of all of them is checked before the first one runs.

    None if there are none, so that a prompt or standard input gives them.
    """
    if not line.has_statements:
        return None
    if line.value("file") and (line.words or line.value("execute")):
        raise StatementError("-f and a statement can't be given together: leave one out")
    if line.value("execute"):
        # As in CellCLI, everything after -e belongs to it, quoted or not.
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
    """Return whether the statement was given as one line, as at the prompt, rather than as words."""
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


def interact(session: Session, services: Services, runner: Runner) -> ExitCode:
    """Run statements from the prompt on a terminal, otherwise from standard input until its end; return the exit code.

    Raises:
        SessionExit: a script contains EXIT.
    """
    if sys.stdin is None or sys.stdin.closed:
        return ExitCode.DONE
    if at_prompt():
        from exacell.prompt.app import run

        return run(session, services, runner.console)
    return runner.run_statements(_script_of(sys.stdin))


_SHOWPIECE = "run reset_cold -y"
"""The statement that the demo runs if none is given."""


def _nested(session: Session, services: Services, runner: Runner, text: str) -> ExitCode:
    """Run the statements for ``demo``: given ones, those of the prompt or of a script; without any, :data:`_SHOWPIECE`."""
    if text:
        return runner.run_statements(split_statements(text))
    before = len(runner.codes)
    code = interact(session, services, runner)
    if at_prompt() or len(runner.codes) > before:
        return code
    return runner.run_text(_SHOWPIECE)


def _script_of(stream: TextIO) -> Iterator[str]:
    for statement in read_script(iter(stream.readline, "")):
        yield statement.text


# -- several racks at once --------------------------------------------------------------------------------------------


def racks_of(line: CommandLine) -> tuple[str, ...]:
    """Return the racks of ``-r a,b``, each once; empty if it names one or no rack."""
    names = tuple(dict.fromkeys(name.strip() for name in line.value("rack").split(",") if name.strip()))
    return names if len(names) > 1 else ()


def ask_racks(
    line: CommandLine, racks: Sequence[str], statements: Sequence[str] | None, console: TerminalConsole, *, shell: bool
) -> ExitCode:
    """Run each statement on all racks at once and return the exit code; every row contains its rack.

    Args:
        shell: whether a statement is a line as at the prompt.

    Raises:
        ExacellError: there is no such rack, or a statement does more than read; nothing was sent.
    """
    if not statements:
        raise StatementError(
            "-r with several racks is for statements that read: -r a,b show health; the prompt is for one rack"
        )
    lines = [parsed for text in statements if (parsed := parse_line(text, shell=shell)) is not None]
    for parsed in lines:
        _refuse_more_than_reading(parsed, racks)
    options = options_of(line)
    asked = {rack: open_session(replace(options, rack=rack, monitor=True), SilentConsole()) for rack in racks}
    first_session, first_services = asked[racks[0]]
    for session, services in asked.values():
        session.interrupted = first_session.interrupted
        services.more_to_come = len(lines) > 1
        services.asks_holder = True
    try:
        runner = Runner(
            first_session, first_services, console, flags=line.flags, header="no-header" not in line.switches
        )
        runner.typed = True
        for rack, (session, services) in asked.items():
            for warning in left_behind(session, services, warn=True):
                console.tell(f"{rack}: {warning}", "warning")
        try:
            return worst([runner.run(each, each.text, execute=partial(_ask, asked)) for each in lines])
        except SessionExit:
            return worst(runner.codes)
    finally:
        for _, services in asked.values():
            services.close()


def _refuse_more_than_reading(line: Line, racks: Sequence[str]) -> None:
    if line.shell or line.effect is not Effect.READ or (line.call is not None and line.call.command.streams):
        what = "runs until it is stopped" if line.effect is Effect.READ and not line.shell else "does not only read"
        raise StatementError(
            f"'{line.text}' {what}, and several racks ({', '.join(racks)}) take only statements that read; "
            "nothing was sent",
            hint=f"one rack at a time: -r {racks[0]}",
        )


def _ask(asked: dict[str, tuple[Session, Services]], line: Line) -> Result:
    """Return the answers of all racks as one; a rack that could not be asked is a problem, and the rows of the others are
    kept.
    """
    asking = {rack: Meanwhile(partial(_answer, *opened, line)) for rack, opened in asked.items()}
    answers = {rack: each.result() for rack, each in asking.items()}
    codes = [answer.exit_code for answer in answers.values()]
    some = ExitCode.FAILED if set(codes) != {ExitCode.NOT_EXECUTED} else ExitCode.NOT_EXECUTED
    texts = [f"{rack}:\n{a.text.rstrip()}\n" for rack, a in answers.items() if a.text and not a.records]
    columns = max((answer.columns for answer in answers.values()), key=len)
    return Result(
        records=[{"rack": rack, **record} for rack, answer in answers.items() for record in answer.records],
        columns=[Column("rack"), *columns] if columns else (),
        text="\n".join(texts),
        raw=[(f"{rack}/{cell}", text) for rack, answer in answers.items() for cell, text in answer.raw],
        pieces=[(f"{rack}/{cell}", read) for rack, answer in answers.items() for cell, read in answer.pieces],
        named=True,
        notes=[f"{rack}: {note}" for rack, answer in answers.items() for note in answer.notes],
        problems=[f"{rack}: {problem}" for rack, answer in answers.items() for problem in answer.problems],
        exit_code=worst([some if code is ExitCode.NOT_EXECUTED else code for code in codes]),
        data=any(answer.data for answer in answers.values()),
    )


def _answer(session: Session, services: Services, line: Line) -> Result:
    console = services.console
    try:
        result = execute(session, services, Request(), line)
    except ExacellError as error:
        hint = f"; {error.hint}" if error.hint else ""
        result = Result(problems=[f"{error.message}{hint}"], exit_code=error.exit_code)
    said = list(console.said) if isinstance(console, SilentConsole) else []
    if isinstance(console, SilentConsole):
        console.said.clear()
    return replace(result, notes=(*said, *result.notes))
