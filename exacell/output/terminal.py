"""Show messages of a surface on standard error, and ask questions if somebody can answer: on a terminal or a pipe."""

from __future__ import annotations

import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from math import inf
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import IO, TYPE_CHECKING, TextIO, TypeVar

from exacell.cellcli.secrets import masked
from exacell.output.streams import gone, let_go
from exacell.output.style import (
    draws,
    paint,
    painted_lines,
    printable,
    readable,
    takes_unicode,
    terminal_height,
    terminal_width,
    wants_color,
)

if TYPE_CHECKING:
    from exacell.output.console import Progress
    from exacell.output.progress import ProgressLog
    from exacell.output.screen import Screen
    from exacell.plan.model import Plan

T = TypeVar("T")

_FALLBACK_WIDTH = 80

WAIT_TOLD_AFTER, WAIT_TOLD_EVERY = 10.0, 60.0
"""Seconds from the first report of a wait until a log shows it, and between two messages about it in a log."""

TICK = 1.0
"""Seconds between two updates of the clock in a display without news."""


class TerminalConsole:
    """Implements :class:`exacell.output.console.Console` on the process's standard streams.

    Args:
        quiet: leave out messages that are neither plan, question nor problem.
        read_line: shows a question and reads one answer; None asks on standard input, and only if that and
            standard error are terminals.
    """

    def __init__(
        self,
        *,
        err: TextIO | None = None,
        stdin: TextIO | None = None,
        quiet: bool = False,
        read_line: Callable[[str], str | None] | None = None,
    ) -> None:
        self._err = err if err is not None else sys.stderr
        self._stdin = stdin if stdin is not None else sys.stdin
        self._quiet = quiet
        self.read_line = read_line
        self.echo = False
        self.ending = False
        """Whether the program was told to end, so that no more questions are asked."""
        self.local_dates = False
        self.lend: Callable[[], AbstractContextManager[object]] = nullcontext
        """Gives the terminal back to a local command while it runs, if a prompt has changed its modes."""
        self.header = True
        """Whether tables and the like begin with titles."""
        self._spool: tuple[Path, TextIO] | None = None
        self._sink: IO[str] | None = None
        self._sink_lost: OSError | None = None
        self._unhindered = False
        self.lost: OSError | None = None
        """The error after which standard output could not be written any more; None for none."""
        self._screen: Screen | None = None
        self._lent = 0
        """How many programs use the terminal now."""
        self._held: list[tuple[str, str, str]] = []
        self.color = wants_color(self._err)
        self.live = draws(self._err)
        """Whether lines can be drawn over, so that waits are shown in place."""
        self._drawn: list[int] = []
        """Lengths of the lines that are erased next."""
        self._shown: Progress | None = None
        self._began, self._news = 0.0, 0.0
        """When the stage shown began, and when its progress last changed, in seconds of the monotonic clock."""
        self._ticking: threading.Event | None = None
        """Set to end the thread that updates the clock of the display."""
        self._progress_log: ProgressLog | None = None
        self._wait_told: float | None = None
        """When a wait is shown next if it can't be drawn in place, in seconds of the monotonic clock."""
        self.spoke = monotonic()
        """When anything was last shown, in seconds of the monotonic clock; infinity while a question is open."""
        self._lock = threading.RLock()

    def say(self, text: str) -> None:
        """Print a message of one line on standard error, unless quiet."""
        if not self._quiet:
            self.tell(text)

    def tell(self, text: str, meaning: str = "", *, head: str = "") -> None:
        """Print a line even if quiet, coloured by ``meaning`` (see style.paint), wrapped between words to the terminal's width,
        and with passwords masked.

        Args:
            head: the beginning of ``text``, if only that is to be coloured.
        """
        text, head = masked(text), masked(head)
        with self._lock:
            if self._elsewhere:
                self._held.append((text, meaning, head))
                return
            drawn = self._shown if self._drawn else None
            self._erase()
            width = terminal_width(self._err)
            for line in painted_lines(printable(text), meaning, width, head=printable(head), color=self.color):
                self._write(line + "\n")
            if drawn is not None:
                self._draw(drawn)

    def data(self, text: str) -> None:
        """Write data to standard output at once, and to the spool file; control characters never reach a terminal.

        Raises:
            OSError: standard output can't be written any more. Not raised while cells are changed: :attr:`lost` holds it then.
        """
        with self._lock:
            self._erase()
            self.spoke = max(self.spoke, monotonic())
            try:
                if self._sink is not None:
                    self._divert(self._sink, text)
                else:
                    self.written(lambda out: out.write(printable(text) if out.isatty() else text))
            except OSError:
                if not self._unhindered:
                    raise
            if self._sink is None:
                self.copy(text)

    def _divert(self, sink: IO[str], text: str) -> None:
        if self._sink_lost is not None:
            return
        try:
            sink.write(text)
            sink.flush()
        except OSError as error:
            let_go(sink)
            self._sink_lost = error
            raise

    def written(self, write: Callable[[TextIO], T], out: TextIO | None = None) -> T:
        """Call ``write``, which writes data to standard output or to ``out``, and return its result.

        Raises:
            OSError: the stream can't be written any more, now or since an earlier call.
        """
        if self.lost is not None:
            raise self.lost
        out = out if out is not None else sys.stdout
        try:
            made = write(out)
            out.flush()
        except OSError as error:
            let_go(out)
            self.lost = error
            raise
        return made

    @contextmanager
    def diverted(self, sink: IO[str]) -> Iterator[None]:
        """Write data to ``sink``, which is not a terminal, while it is entered.

        Raises:
            OSError: at the end, if ``sink`` could not be written while cells were changed; not if only its reader had ended.
        """
        self._sink, self._sink_lost = sink, None
        try:
            yield
        finally:
            self._sink = None
        if self._sink_lost is not None and not gone(self._sink_lost):
            raise self._sink_lost

    @contextmanager
    def unhindered(self) -> Iterator[None]:
        """Inside the block, data that can't be written stops nothing, because cells are being changed. If standard output could
        not be written, :attr:`lost` holds the error."""
        before, self._unhindered = self._unhindered, True
        try:
            yield
        finally:
            self._unhindered = before

    @property
    def unicode(self) -> bool:
        """Return whether standard output takes block characters."""
        return takes_unicode(sys.stdout)

    @property
    def columns(self) -> int | None:
        """Return the width of the terminal that gets the data; None if the data go elsewhere."""
        return terminal_width(sys.stdout) if self._sink is None else None

    @contextmanager
    def screen(self) -> Iterator[Screen | None]:
        """Yield the whole terminal as a screen; None if there is no terminal or the data go elsewhere.

        Messages are held back meanwhile and shown afterwards.
        """
        from exacell.output.screen import Screen, fits_screen

        if self._sink is not None or not fits_screen(sys.stdout, self._stdin):
            yield None
            return
        with self._lock:
            self._erase()
        try:
            with Screen(sys.stdout, self._stdin) as screen:
                self._screen = screen
                yield screen
        finally:
            self._screen = None
            self._tell_held()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """While entered, another program (an editor or a pager) has the terminal, and exacell draws nothing on it.

        Messages that would go to that terminal are held back and shown afterwards.
        """
        with self._lock:
            self._erase()
            self._lent += 1
        try:
            with self.lend():
                yield
        finally:
            with self._lock:
                self._lent -= 1
                self.spoke = monotonic()
            self._tell_held()

    @property
    def _elsewhere(self) -> bool:
        """Return whether a screen or another program has the terminal to which messages go."""
        return self._screen is not None or (self._lent > 0 and not self._err.closed and self._err.isatty())

    def _tell_held(self) -> None:
        """Show the messages held back, unless the terminal is still in use."""
        if not self._elsewhere:
            held, self._held = self._held, []
            for text, meaning, head in held:
                self.tell(text, meaning, head=head)

    def show_plan(self, plan: Plan, *, brief: bool = False) -> None:
        """Show a plan, equal targets once, on standard error; ``brief``: on one screen if a terminal asks about it."""
        from exacell.output.plans import without_secrets

        said = without_secrets(plan)
        width = terminal_width(self._err)
        with self._lock:
            self._erase()
            if brief and width is not None and self.can_ask:
                from exacell.output.briefplan import brief_lines
                from exacell.output.draw import Look

                look = Look(width, self.color, takes_unicode(self._err))
                lines = brief_lines(said, look, height=terminal_height())
            else:
                from exacell.output.plans import plan_lines

                lines = list(plan_lines(said, width=width, color=self.color))
            for line in lines:
                self._write(line + "\n")

    @property
    def can_ask(self) -> bool:
        """Return whether somebody can answer a question."""
        if self.ending:
            return False
        if self.read_line is not None:
            return True
        return self._stdin is not None and not self._stdin.closed and self._stdin.isatty() and self._err.isatty()

    @property
    def on_terminal(self) -> bool:
        """Return whether messages go to a terminal."""
        return self._err.isatty()

    def confirm(self, question: str, details: Callable[[], None] | None = None) -> bool | None:
        """Ask yes or no, with no as default; None if nobody can answer. The answer d shows the details and asks again."""
        while True:
            answer = self.ask(f"{question.rstrip()} [{'y/N/d' if details else 'y/N'}] ")
            word = (answer or "").strip().lower()
            if word in ("?", "h", "help"):
                self.say("y starts it, Enter or n does not" + (", d shows all of it" if details is not None else ""))
            elif details is None or word not in ("d", "details"):
                return None if answer is None else word in ("y", "yes")
            else:
                details()

    def ask(self, question: str) -> str | None:
        """Ask for a line of text; None if nobody can answer or the input has ended."""
        if not self.can_ask:
            return None
        with self._lock:
            self._erase()
        shown = question if question.endswith(" ") else question + " "
        self.spoke = inf
        try:
            return self.read_line(shown) if self.read_line is not None else self.read_here(shown)
        finally:
            self.spoke = monotonic()

    def edit(self, path: Path, env: Mapping[str, str]) -> bool:
        """Open a file in the user's editor and wait for its end; return False if there is no terminal for one.

        Raises:
            StatementError: the editor can't be started, or ended with an error.
        """
        from exacell.output.editor import open_editor

        if not self.can_ask:
            return False
        with self.lent():
            open_editor(path, env)
        return True

    def read_here(self, question: str) -> str | None:
        """Show a question and read one line from standard input; empty if Ctrl-C was pressed.

        None at the end of input, also if the terminal was closed, or if the program is asked to end meanwhile.
        """
        self._write(printable(question))
        line = ""
        try:
            with interrupting(lambda: self._write(printable(question))), suppress(OSError):
                await_line(self._stdin, lambda: self.ending)
                line = "" if self.ending else self._stdin.readline()
        except KeyboardInterrupt:
            self._write("\n")
            return ""
        if not line:
            self._write("\n")
            return None
        return line.rstrip("\r\n")

    @property
    def spooling(self) -> Path | None:
        """Return the path of the file that gets a copy of all data; None if there is none."""
        return self._spool[0] if self._spool else None

    def spool(self, path: Path | None, *, append: bool = False, anew: bool = False) -> None:
        """Write a copy of all data to ``path`` from now on; with ``anew`` it must be a new file. None ends the copy.

        Raises:
            OSError: the file can't be opened.
        """
        if self._spool is not None:
            self._spool[1].close()
            self._spool = None
        if path is not None:
            self._spool = (path, path.open("x" if anew else "a" if append else "w", encoding="utf-8"))

    def copy(self, data: str) -> None:
        """Write data to the spool file, if there is one; if that fails, the file is closed and a message reports it."""
        if self._spool is None:
            return
        path, stream = self._spool
        try:
            stream.write(data)
            stream.flush()
        except OSError as error:
            let_go(stream)
            self.spool(None)
            reason = (error.strerror or "it can't be written").lower()
            self.tell(f"{path}: {reason}; it is not complete, and spooling has ended", "error")

    def progress(self, progress: Progress | None) -> None:
        """Show the progress of a plan: in place on a terminal, else one line when a stage begins and for each failure."""
        with self._lock:
            if self._quiet:
                return
            if progress is None:
                self._erase()
                self._shown = self._progress_log = None
                if self._ticking is not None:
                    self._ticking.set()
                    self._ticking = None
                return
            progress = replace(progress, states={target: masked(state) for target, state in progress.states.items()})
            if self._elsewhere:
                return
            if self.live:
                self._erase()
                shown, self._news = self._shown, monotonic()
                if shown is None or (shown.number, shown.stage) != (progress.number, progress.stage):
                    self._began = self._news
                self._draw(progress)
                if self._ticking is None:
                    self._ticking = threading.Event()
                    threading.Thread(
                        target=self._tick, args=(self._ticking,), name="exacell-clock", daemon=True
                    ).start()
            else:
                self._log(progress)

    def _tick(self, ended: threading.Event) -> None:
        """Redraw the display each second for its clock, unless it was removed for a question or data."""
        while not ended.wait(TICK):
            with self._lock:
                if self._err.closed:
                    return
                if self._shown is not None and self._drawn and not ended.is_set() and not self._elsewhere:
                    self._erase()
                    self._draw(self._shown)

    def waiting(self, text: str | None) -> None:
        """Show one line about a wait in place, until anything else is shown; None removes it.

        If lines can't be drawn over, it is written after the wait has lasted a while, and again each minute; never if quiet.
        """
        with self._lock:
            if self._quiet or self._elsewhere or self._shown is not None:
                return
            if text and self.spoke == inf:
                return  # A question is open, and its answer is typed on this line.
            if not self.live:
                self._log_wait(text)
                return
            self._erase()
            if text:
                width = terminal_width(self._err) or _FALLBACK_WIDTH
                self._write(paint(printable(text)[: width - 1], "dim", color=self.color) + "\n")
                self._drawn = [min(len(printable(text)), width - 1)]

    def _log_wait(self, text: str | None) -> None:
        if text is None:
            self._wait_told = None
            return
        now = monotonic()
        self._wait_told = now + WAIT_TOLD_AFTER if self._wait_told is None else self._wait_told
        if now >= self._wait_told:
            self._wait_told = now + WAIT_TOLD_EVERY
            self._write(printable(masked(text)) + "\n")

    def _log(self, progress: Progress) -> None:
        from exacell.output.progress import ProgressLog

        self._progress_log = self._progress_log or ProgressLog()
        for line in self._progress_log.lines(progress, monotonic()):
            self._write(printable(line) + "\n")

    def _draw(self, progress: Progress) -> None:
        from exacell.output.progress import progress_lines

        width = terminal_width(self._err) or _FALLBACK_WIDTH
        height = terminal_height() - 1 if self._err.isatty() else None
        now = monotonic()
        left = (progress.eta or 0.0) - (now - self._news)
        told = replace(progress, eta=left if left > 0 else None, waited=now - self._began)
        lines = list(progress_lines(told, width, height, unicode=takes_unicode(self._err)))
        self._write("".join(self._painted(line) + "\n" for line in lines))
        self._drawn, self._shown = [len(line) for line in lines], progress

    def _painted(self, line: str) -> str:
        """Return a line of progress in the colour of its state."""
        words = (
            ("  failed", "error"),
            ("  waiting", "warning"),
            ("  done", "good"),
            ("  proven", "good"),
            ("[", "title"),
        )
        return paint(
            line, next((m for word, m in words if word in line or line.startswith(word)), "dim"), color=self.color
        )

    def _erase(self) -> None:
        if self._drawn:
            # If the terminal has become narrower, it has wrapped the lines.
            width = terminal_width(self._err) or _FALLBACK_WIDTH
            rows = sum(max(-(-length // width), 1) for length in self._drawn)
            self._write(f"\x1b[{rows}A\r\x1b[J")
            self._drawn = []

    def _write(self, text: str) -> None:
        """Write a message to standard error; if it can't be written, it is lost, and the work continues."""
        self.spoke = max(self.spoke, monotonic())
        try:
            self._err.write(readable(text, self._err))
            self._err.flush()
        except OSError as error:
            if gone(error):
                let_go(self._err)


_LOOK = 0.2
"""Seconds between two checks for an answer."""


@contextmanager
def interrupting(again: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C interrupt the reading of an answer, even while a statement handles it in another way.

    ``again`` is called when the program continues after Ctrl-Z, because the shell has written below the question meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    continued = signal.getsignal(signal.SIGCONT)

    def on_continue(number: int, frame: FrameType | None) -> None:
        if callable(continued):
            continued(number, frame)
        again()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCONT, on_continue)
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, continued)
        signal.signal(signal.SIGINT, before)


def await_line(stream: TextIO, over: Callable[[], bool]) -> None:
    """Wait until a terminal has a line to read or ``over`` returns True; other streams are not waited for.

    A signal that another thread received is handled between two checks; inside a read, its handler would run only after the read.
    """
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    while stream.isatty() and not over() and not select.select([descriptor], [], [], _LOOK)[0]:
        continue
