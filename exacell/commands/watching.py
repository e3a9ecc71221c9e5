"""Statements that go on by themselves: watch any reading statement, and a live view of the rack's load."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from exacell.errors import ExacellError, ExitCode, StatementError
from exacell.language.registry import Call, Effect, Kind, Param, command
from exacell.output.result import Column, Result, worst

if TYPE_CHECKING:
    from exacell.arrivals import Recording
    from exacell.context import Context
    from exacell.language.line import Line
    from exacell.live.top import Sample
    from exacell.output.screen import Screen

GROUP = "metrics"

_LEAST = 0.2
"""Seconds: more often than that no cell is asked."""

_ORDERS = ("worst", "hit", "reads", "dirty", "redo", "wins", "outliers", "load", "cell")


@runtime_checkable
class LiveConsole(Protocol):
    """What a surface offers to statements that go on by themselves."""

    header: bool
    color: bool

    def screen(self) -> AbstractContextManager[Screen | None]:
        """The whole terminal; None where there is none, or where the data go elsewhere."""

    @property
    def unicode(self) -> bool:
        """Whether block characters can be shown."""

    def data(self, text: str) -> None:
        """Write data at once."""


def _console(ctx: Context, statement: str) -> LiveConsole:
    if isinstance(ctx.console, LiveConsole):
        return ctx.console
    raise StatementError(f"{statement} means something only at the prompt, on the command line and in scripts")


class _Asking:
    """Makes sessions for readings in another thread, each beside ``ctx`` and without talk, which would go across the
    screen."""

    def __init__(self, ctx: Context) -> None:
        from exacell.console import SilentConsole

        self._ctx = ctx
        self._console = SilentConsole()
        self._latest: tuple[Context, Recording] | None = None
        self._told: tuple[Recording, int] | None = None

    def beside(self) -> Context:
        """Return a session for one reading."""
        from exacell.arrivals import Recording

        recording = Recording(self._ctx.fleet)
        other = self._ctx.aside(recording)
        other.console = self._console
        self._latest = other, recording
        return other

    def late(self) -> str:
        """Return for whom the last reading waits, empty for nobody."""
        return self._latest[1].sentence if self._latest is not None else ""

    def so_far(self) -> Context | None:
        """Return a session in which the cells that have answered the last reading answer the same again, at once; None
        when no more have answered than the last time."""
        if self._latest is None:
            return None
        other, recording = self._latest
        told = recording, len(recording.waiting_for)
        if not told[1] or told == self._told:
            return None
        self._told = told
        return other.aside(recording.so_far())

    def give_up(self) -> None:
        """Ask no more cells for the last reading."""
        if self._latest is not None:
            self._latest[0].interrupt()


@command(
    "watch",
    group=GROUP,
    effect=Effect.READ,
    summary="repeat a reading statement: what changed is highlighted, numbers get a line of bars",
    details="Seconds, then the statement. On a terminal one screen, on which q or Ctrl-C leaves, p pauses and j and k "
    "scroll; into a file or a pipe one answer after the other, and with -o json, jsonl or csv records with the time in "
    "'at'. count= ends it after so many answers.",
    example="watch 5 show flashcache",
    params=(
        Param(name="every", kind=Kind.DURATION, positional=True, required=True, help="seconds between two answers"),
        Param(name="count", kind=Kind.INT, help="so many answers"),
        Param(
            name="statement", kind=Kind.STATEMENT, positional=True, required=True, rest=True,
            help="a statement that only reads",
        ),
    ),
    recipe_ok=False,
    streams=True,
)  # fmt: skip
def watch(ctx: Context, call: Call) -> Result:
    """Show answers until the user leaves; return the last one where a screen was used.

    Raises:
        StatementError: the statement is none, or changes something.
    """
    line = _watched(call)
    ctx.more_to_come = True
    every = max(call.float_arg("every", 5.0), _LEAST)
    count = call.int_arg("count") or 0
    console = _console(ctx, "watch")
    form = str(line.flags.get("format") or ctx.settings.format)
    with console.screen() as screen:
        if screen is not None and form == "table":
            return _on_screen(ctx, console, screen, line, every, count)
    return _appended(ctx, console, line, every, count, form)


def _watched(call: Call) -> Line:
    from exacell.language.line import with_call_flags

    text = call.text_arg("statement")
    line = with_call_flags(text, call.flags)
    if line.shell or line.effect is not Effect.READ:
        raise StatementError(f"watch repeats statements that only read, and '{text}' is not one of them")
    if line.call is not None and line.call.command.streams:
        raise StatementError(f"{line.call.command.name} goes on by itself: watch is not needed")
    return line


def _answer(ctx: Context, line: Line) -> Result:
    result = ctx.execute(line)
    if line.flags.get("diff"):
        from exacell.output.differing import difference_of

        return difference_of(result)
    return result


def _on_screen(ctx: Context, console: LiveConsole, screen: Screen, line: Line, every: float, count: int) -> Result:
    from exacell.live.loop import Reader, run_live
    from exacell.live.watching import WatchView

    asking = _Asking(ctx)
    view = WatchView(text=line.text, every=every, color=console.color, unicode=console.unicode, most=count)
    reader = Reader(lambda: _answer(asking.beside(), line), every, late=asking.late, wake=screen.wake)
    run_live(screen, reader, view)
    asking.give_up()
    last, height = view.last, screen.size[1]
    if last is None:
        return Result()
    # What stays behind fits on the screen: no pager opens behind the q that left this view.
    return replace(
        last,
        notes=(*last.notes, f"watched {view.count} times"),
        draw=lambda width, color, header: iter(view.last_lines(width, height - 2)),
    )


def _appended(ctx: Context, console: LiveConsole, line: Line, every: float, count: int, form: str) -> Result:
    from exacell.live.appending import Appending

    frames = Appending(form, header=console.header)
    codes: list[ExitCode] = []
    done = 0
    while True:
        try:
            result = _answer(_quietly(ctx), line)
        except ExacellError as error:
            if not done:
                raise
            result = Result(problems=(error.message,), exit_code=error.exit_code)
        done += 1
        console.data(frames.text(result))
        codes = [worst([*codes, result.exit_code])]
        for problem in result.problems:
            ctx.console.say(problem)
        if (count and done >= count) or ctx.interrupted.wait(every):
            return Result(exit_code=codes[0])


def _quietly(ctx: Context) -> Context:
    """Return a session for one reading, which remembers nothing for ``@failed``."""
    from exacell.arrivals import Recording

    return ctx.aside(Recording(ctx.fleet), same_interruption=True)


@command(
    "top",
    group=GROUP,
    effect=Effect.READ,
    summary="the rack's load, live: per cell cache hits, dirty data, redo wins, outliers, CPU and disks",
    details="The worst cells first, those that do not fit in one line. Figures span the last two collections of each "
    "cell, which come once a minute. q leaves, s sorts by the next figure, p pauses. Into a file or a pipe it "
    "writes one table, or with -o jsonl or csv one record a cell, for each new collection.",
    example="top sort=dirty",
    params=(
        Param(name="every", kind=Kind.DURATION, positional=True, default="5", help="seconds between two looks"),
        Param(name="sort", kind=Kind.CHOICE, choices=_ORDERS, default="worst", help="which cells come first"),
        Param(name="count", kind=Kind.INT, help="so many tables; for files and pipes"),
    ),
    recipe_ok=False,
    streams=True,
)
def top(ctx: Context, call: Call) -> Result:
    """Show the load until the user leaves."""
    from exacell.live.top import Top

    ctx.more_to_come = True
    every = max(call.float_arg("every", 5.0), _LEAST)
    console = _console(ctx, "top")
    form = str(call.flags.get("format") or ctx.settings.format)
    view = Top(
        rack=ctx.need_rack().name,
        every=every,
        order=call.text_arg("sort"),
        cells=len(ctx.cells()),
        color=console.color,
        unicode=console.unicode,
    )
    with console.screen() as screen:
        if screen is not None and form == "table":
            from exacell.live.loop import Reader, run_live

            asking = _Asking(ctx)

            def partial() -> Sample | None:
                beside = asking.so_far()
                return None if beside is None else replace(_sample(beside), problems={})

            reader = Reader(
                lambda: _sample(asking.beside()), every, late=asking.late, wake=screen.wake, partial=partial
            )
            run_live(screen, reader, view)
            asking.give_up()
            height = screen.size[1]
            # What stays behind fits on the screen: no pager opens behind the q that left this view.
            return replace(
                _table(view), draw=lambda width, color, header: iter(view.lines(width or 80, height - 1, None))
            )
    return _top_appended(ctx, console, call, form)


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
)


def _table(view: object) -> Result:
    from exacell.live.top import Top

    assert isinstance(view, Top)
    loads = view.sorted()
    problems = tuple(f"{load.cell}: {load.problem}" for load in loads if load.problem)
    rows = [load.record() for load in loads if not load.problem]
    if rows:
        rows.append(view.loads.rack().record())
    code = ExitCode.FAILED if problems else ExitCode.DONE
    return Result(records=rows, columns=_TOP_COLUMNS, data=True, problems=problems, exit_code=code)


def _sample(ctx: Context) -> Sample:
    from exacell.live.load import STATEMENT, reading_of
    from exacell.live.top import Sample
    from exacell.plan.facts import metric_values

    answers = ctx.query(STATEMENT)
    readings = {}
    for cell, answer in answers.good.items():
        rows = answer.tables[0]
        at = max((when for _, when in metric_values(rows).values()), default=0)
        readings[cell] = reading_of(rows, at)
    problems = {cell: answer.problem for cell, answer in answers.answers.items() if answer.problem}
    return Sample(readings=readings, problems=problems)


def _top_appended(ctx: Context, console: LiveConsole, call: Call, form: str) -> Result:
    """Write a table for each collection; the first one needs two, so it comes after the second.

    Cells collect at about the same time, not at the same: a table waits for the cells that are one look behind.
    """
    from exacell.live.appending import Appending
    from exacell.live.top import Top

    every, count = max(call.float_arg("every", 5.0), _LEAST), call.int_arg("count") or 0
    view = Top(rack=ctx.need_rack().name, every=every, order=call.text_arg("sort"))
    frames = Appending(form, header=console.header)
    code, done, fresh = ExitCode.DONE, 0, frozenset[str]()
    while True:
        sample = _sample(_quietly(ctx))
        moved = view.loads.add(sample.readings, sample.problems)
        fresh |= moved
        settled = bool(fresh) and (not moved or fresh.issuperset(sample.readings))
        if settled:
            fresh = frozenset()
        result = _table(view)
        code = worst([code, result.exit_code])
        if (settled and view.loads.measured) or not sample.readings:
            console.data(frames.text(result))
            done += 1
            for problem in result.problems:
                ctx.console.say(problem)
        if (count and done >= count) or ctx.interrupted.wait(every):
            return Result(exit_code=code)
