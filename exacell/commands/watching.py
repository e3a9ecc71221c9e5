"""Statements that repeat themselves: ``watch`` for any reading statement, and ``top``, a live view of the rack's load."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol, runtime_checkable

from exacell.change.execute import execute
from exacell.core.errors import ExacellError, ExitCode, StatementError
from exacell.core.units import counted
from exacell.language.line import Line, with_call_flags
from exacell.language.registry import Call, Effect
from exacell.live.appending import Appending
from exacell.live.deck import Deck
from exacell.live.loop import Reader, run_live
from exacell.live.pages import Page
from exacell.live.polling import Looking
from exacell.live.silence import Silence
from exacell.live.top import Top
from exacell.live.watching import WatchView
from exacell.output.differing import difference_of
from exacell.output.folding import each_cell_apart, wants_folding
from exacell.output.result import Column, Result, worst
from exacell.output.screen import Screen
from exacell.session.given import Services, Session
from exacell.session.recording import Recording
from exacell.session.repeating import Repeating
from exacell.session.request import Request

_LEAST = 0.2
"""Minimum number of seconds between two reads of a cell."""


@runtime_checkable
class LiveConsole(Protocol):
    """The functions of a console for statements that repeat themselves."""

    header: bool
    color: bool

    def screen(self) -> AbstractContextManager[Screen | None]:
        """Return the whole terminal; None if there is none, or the data go elsewhere."""

    @property
    def unicode(self) -> bool:
        """Return whether block characters can be shown."""

    @property
    def columns(self) -> int | None:
        """Return the width of the terminal that gets the data; None if the data go elsewhere."""

    def data(self, text: str) -> None:
        """Write data at once."""


def _console(services: Services, statement: str) -> LiveConsole:
    if isinstance(services.console, LiveConsole):
        return services.console
    raise StatementError(f"{statement} works only at the prompt, on the command line and in scripts")


def watch(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Show answers until the user leaves; return the last answer if a screen was used.

    Raises:
        StatementError: the text is not a statement, or changes something.
    """
    line = _watched(call)
    services.more_to_come = True
    every = max(call.float_arg("every", 5.0), _LEAST)
    count = call.int_arg("count") or 0
    console = _console(services, "watch")
    form = str(line.flags.get("format") or session.settings.format)
    with console.screen() as screen:
        if screen is not None and form == "table":
            return _on_screen(session, services, request, console, screen, line, every, count)
    return _appended(session, services, console, line, every, count, form)


def _watched(call: Call) -> Line:
    text = call.text_arg("statement")
    line = with_call_flags(text, call.flags)
    if line.shell or line.effect is not Effect.READ:
        raise StatementError(f"watch repeats statements that only read, and '{text}' is not one of them")
    if line.call is not None and line.call.command.streams:
        raise StatementError(f"{line.call.command.name} repeats itself: watch is not needed")
    return line


def _answer(session: Session, services: Services, request: Request, line: Line) -> Result:
    result = execute(session, services, request, line)
    if line.flags.get("diff"):
        result = difference_of(result)
    return each_cell_apart(result) if wants_folding(line.flags, session.settings.fold) is False else result


def _on_screen(
    session: Session,
    services: Services,
    request: Request,
    console: LiveConsole,
    screen: Screen,
    line: Line,
    every: float,
    count: int,
) -> Result:
    asking = Repeating(session, services, request, line, _answer)
    view = WatchView(text=line.text, every=every, color=console.color, unicode=console.unicode, most=count)
    reader = Reader(asking.read, every, late=lambda: asking.late, wake=screen.wake)
    run_live(screen, reader, view)
    asking.give_up()
    last, height = view.last, screen.size[1]
    if last is None:
        return Result()
    # The last answer fits on the screen: no pager opens after the q that left this view.
    return replace(
        last,
        notes=(*last.notes, f"watched {counted(view.count, 'time')}"),
        draw=lambda width, color, header: iter(view.last_lines(width, height - 2)),
    )


def _appended(
    session: Session, services: Services, console: LiveConsole, line: Line, every: float, count: int, form: str
) -> Result:
    folds = wants_folding(line.flags, session.settings.fold)
    frames = Appending(form, header=console.header, columns=lambda: console.columns, folds=folds)
    codes: list[ExitCode] = []
    done = 0
    while True:
        try:
            result = _answer(*_quietly(services), Request(), line)
        except ExacellError as error:
            if not done:
                raise
            result = Result(problems=(error.message,), exit_code=error.exit_code)
        done += 1
        console.data(frames.text(result))
        codes = [worst([*codes, result.exit_code])]
        for problem in result.problems:
            services.console.say(problem)
        if (count and done >= count) or session.interrupted.wait(every):
            return Result(exit_code=codes[0])


def _quietly(services: Services) -> tuple[Session, Services]:
    """Return a session for one read; the read does not change ``@failed``."""
    return services.aside(Recording(services.fleet), same_interruption=True)


def top(session: Session, services: Services, call: Call) -> Result:
    """Show the load until the user leaves; an action that the user chooses there runs as its statement."""
    services.more_to_come = True
    every = max(call.float_arg("every", 5.0), _LEAST)
    console = _console(services, "top")
    form = str(call.flags.get("format") or session.settings.format)
    view = Top(
        rack=session.need_rack().name, order=call.text_arg("sort"), cells=session.cells(), silence=Silence(),
        unicode=console.unicode,
    )  # fmt: skip

    def look(page: Page, wake: Callable[[], None]) -> Looking:
        looking = Looking(services, page.cells, lambda: page.statements, every, wake=wake)
        page.silence.late = looking.late
        return looking

    deck = Deck(view, look, every=every, color=console.color)
    while True:
        with console.screen() as screen:
            if screen is None or form != "table":
                return _top_appended(session, services, console, call, form, view)
            deck.wake, deck.wanted = screen.wake, ""
            run_live(screen, deck, deck)
            height = screen.size[1] - 1
        if not deck.wanted:
            break
        services.console.say(f"top: {deck.wanted}")
        services.run_nested(deck.wanted)
        session.interrupted.clear()  # The interruption ended that statement.
        if services.console.ask("Enter goes back to top ") is None:
            break
    # The last view fits on the screen: no pager opens after the q that left it.
    result = _table(view)
    return replace(
        result,
        draw=lambda width, color, header: iter(view.last_lines(width or 80, height, color=color)),
        told=result.problems,
    )


_TOP_COLUMNS = (
    Column("cell"),
    Column("seconds", "number"),
    Column("hitPercent", "percent", "hit%"),
    Column("readsPerSecond", "number", "reads/s"),
    Column("dirty", "size"),
    Column("used", "size"),
    Column("redoPerSecond", "number", "redo/s"),
    Column("flashWinPercent", "percent", "wins%"),
    Column("actualOutliers", "number", "outliers"),
    Column("preventedOutliers", "number", "prevented"),
    Column("cpuPercent", "number", "cpu%"),
    Column("diskPercent", "number", "disk%"),
    Column("criticalAlerts", "number", "alerts"),
)


def _table(view: Top) -> Result:
    loads = view.sorted()
    problems = tuple(f"{load.cell}: {load.problem}" for load in loads if load.problem)
    rows = [{**load.record(), "criticalAlerts": view.alerts.get(load.cell, 0)} for load in loads if not load.problem]
    if rows:
        rows.append({**view.loads.rack().record(), "criticalAlerts": sum(view.alerts.values())})
    code = ExitCode.FAILED if problems else ExitCode.DONE
    return Result(records=rows, columns=_TOP_COLUMNS, data=True, problems=problems, exit_code=code)


def _top_appended(
    session: Session, services: Services, console: LiveConsole, call: Call, form: str, view: Top
) -> Result:
    """Write a table for each collection; the first one needs two collections, so it comes after the second.

    Cells collect at about, but not exactly, the same time: a table waits for cells that are one read behind.
    """
    every, count = max(call.float_arg("every", 5.0), _LEAST), call.int_arg("count") or 0
    frames = Appending(form, header=console.header, columns=lambda: console.columns)
    code, done, told, fresh = ExitCode.DONE, 0, False, frozenset[str]()
    while True:
        answers = _quietly(services)[1].query(*view.statements, timeout=Request().read_timeout)
        moved = view.arrived(list(answers.answers.values()))
        fresh |= moved
        settled = bool(fresh) and (not moved or fresh.issuperset(answers.good))
        if settled:
            fresh = frozenset()
        result = _table(view)
        code = worst([code, result.exit_code])
        if (settled and view.loads.measured) or not answers.good:
            console.data(frames.text(_for_eyes(result, view, console)))
            done += 1
            for problem in result.problems:
                services.console.say(problem)
        elif not done and console.columns is not None and not told:
            told = True
            services.console.say("reading: the first figures come with the next metrics, in less than a minute")
        if (count and done >= count) or session.interrupted.wait(every):
            return Result(exit_code=code)


_ALL = 10_000
"""Rows of a scrolling terminal, so that each cell gets its line."""


def _for_eyes(result: Result, view: Top, console: LiveConsole) -> Result:
    """Return ``result`` drawn as on a screen, fitted to the width of a terminal that can't show a live view."""
    if console.columns is None or not result.records:
        return result
    return replace(result, draw=lambda width, color, header: iter(view.last_lines(width or 80, _ALL, color=color)))
