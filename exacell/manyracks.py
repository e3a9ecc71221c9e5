"""A command line for several racks at once, ``-r a,b``: each is asked by itself, in a session that only reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from exacell.change.execute import execute
from exacell.change.leftbehind import left_behind
from exacell.core.background import Meanwhile
from exacell.core.errors import ExacellError, ExitCode, StatementError
from exacell.language.line import Line, parse_line
from exacell.language.options import CommandLine
from exacell.language.registry import Effect
from exacell.output.console import SilentConsole
from exacell.output.result import Column, Result, worst
from exacell.output.terminal import TerminalConsole
from exacell.runner import Runner
from exacell.session.context import Context
from exacell.session.opening import open_context, options_of
from exacell.session.signals import SessionExit


def racks_of(line: CommandLine) -> tuple[str, ...]:
    """Return the racks that ``-r a,b`` names, each once; none where it names one or no rack."""
    names = tuple(dict.fromkeys(name.strip() for name in line.value("rack").split(",") if name.strip()))
    return names if len(names) > 1 else ()


def ask_racks(
    line: CommandLine, racks: Sequence[str], statements: Sequence[str] | None, console: TerminalConsole, *, shell: bool
) -> ExitCode:
    """Ask each statement of all racks at once and return the exit code; every row names its rack.

    Args:
        shell: whether a statement is a line as at the prompt.

    Raises:
        ExacellError: there is no such rack, or a statement does more than read; nothing was sent.
    """
    if not statements:
        raise StatementError(
            "-r with several racks asks statements that read: -r a,b show health; a prompt has one rack"
        )
    lines = [parsed for text in statements if (parsed := parse_line(text, shell=shell)) is not None]
    for parsed in lines:
        _refuse_more_than_reading(parsed, racks)
    options = options_of(line)
    contexts = {rack: open_context(replace(options, rack=rack, monitor=True), SilentConsole()) for rack in racks}
    first = contexts[racks[0]]
    for ctx in contexts.values():
        ctx.session.interrupted = first.session.interrupted
        ctx.services.more_to_come = len(lines) > 1
    try:
        runner = Runner(first, console, flags=line.flags, header="no-header" not in line.switches)
        runner.typed = True
        for rack, ctx in contexts.items():
            for warning in left_behind(ctx, warn=True):
                console.tell(f"{rack}: {warning}", "warning")
        try:
            return worst([runner.run(each, each.text, execute=partial(_ask, contexts)) for each in lines])
        except SessionExit:
            return worst(runner.codes)
    finally:
        for ctx in contexts.values():
            ctx.services.close()


def _refuse_more_than_reading(line: Line, racks: Sequence[str]) -> None:
    if line.shell or line.effect is not Effect.READ or (line.call is not None and line.call.command.streams):
        what = "goes on until it is ended" if line.effect is Effect.READ and not line.shell else "does more than read"
        raise StatementError(
            f"'{line.text}' {what}, and several racks are only read together ({', '.join(racks)}); nothing was sent",
            hint=f"one rack at a time: -r {racks[0]}",
        )


def _ask(contexts: dict[str, Context], line: Line) -> Result:
    """Return what all racks answered as one: a rack that could not be asked is a problem, the others' rows stand."""
    asking = {rack: Meanwhile(partial(_answer, ctx, line)) for rack, ctx in contexts.items()}
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


def _answer(ctx: Context, line: Line) -> Result:
    console = ctx.console
    try:
        result = execute(ctx, line)
    except ExacellError as error:
        hint = f"; {error.hint}" if error.hint else ""
        result = Result(problems=[f"{error.message}{hint}"], exit_code=error.exit_code)
    said = list(console.said) if isinstance(console, SilentConsole) else []
    if isinstance(console, SilentConsole):
        console.said.clear()
    return replace(result, notes=(*said, *result.notes))
