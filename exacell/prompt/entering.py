"""Run the statements entered at the prompt: expand short forms, let slow reads continue in the background, mark errors
below the line, and open the user's editor for EDIT."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from exacell.cellcli.secrets import without
from exacell.change.execute import execute
from exacell.core.cellset import CellSet
from exacell.core.config import load
from exacell.core.errors import (
    ConfigError,
    ExacellError,
    ExitCode,
    StatementError,
)
from exacell.core.racks import NoRackError, way_to_a_rack
from exacell.language.line import Line
from exacell.language.registry import Effect
from exacell.language.shorthand import expand_alias, understood
from exacell.language.words import split_statements
from exacell.output.editor import open_editor
from exacell.output.faults import brief_sentence, head_of, meaning_of, shortened, squiggle, underlined
from exacell.output.result import Result
from exacell.output.terminal import TerminalConsole
from exacell.prompt.appearance import AGAIN
from exacell.runner import ASKING, GOES_ON, Runner
from exacell.session.given import Services, Session
from exacell.session.history import Aliases
from exacell.session.recording import TELL_EVERY, Recording, since
from exacell.session.request import Request
from exacell.session.signals import EditRequested

AT_LEAST = 0.4
"""The least wait for a result, in seconds, even if the user types on."""

_LOOK = 0.05


class StillReading(Exception):
    """Raised when the statement is still reading; its result comes later."""


def may_go_on(line: Line) -> bool:
    """Return whether a statement may continue in the background: it reads from cells and asks no question."""
    if line.shell or line.effect is not Effect.READ:
        return False
    if line.call is None:
        return True
    return line.call.command.group not in ASKING and not line.call.command.streams


class Reading:
    """One statement that runs in its own thread; the thread that has the terminal delivers its result.

    Args:
        on_end: called from the statement's thread when there is a result or an error.
    """

    def __init__(self, session: Session, services: Services, line: Line, text: str, on_end: Callable[[], None]) -> None:
        self.line = line
        self.text = text
        self.overtaken = False
        """Whether a later statement has asked cells; that statement then decides which cells are ``@down``."""
        self._session, self._services = session, services
        self._own: Session | None = None
        self._recording: Recording | None = None
        self._on_end = on_end
        self._result: Result | None = None
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="exacell-reading", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._recording = Recording(self._services.fleet)
            session, services = self._services.aside(self._recording)
            self._own = session
            self._result = execute(session, services, Request(), self.line)
        except BaseException as error:
            # Kept and raised again in the thread that delivers the result.
            self._error = error
        self._ended.set()
        self._on_end()

    @property
    def ended(self) -> bool:
        """Return whether there is a result or an error to deliver."""
        return self._ended.is_set()

    @property
    def waiting_for(self) -> CellSet:
        """Return the cells that have not answered yet; if there are none, the other hosts whose answer is awaited."""
        late = self._recording.waiting_for if self._recording is not None else CellSet()
        return late if len(late) else self._services.awaited - CellSet(self._session.need_rack().cells)

    @property
    def for_others(self) -> str:
        """Return the statement for the cells that have answered; empty if no cell has, or if the line names its cells."""
        cells = CellSet(self._session.cells()) if self._session.rack is not None else CellSet()
        late = self.waiting_for & cells
        others = cells - late
        return f"on {others} {self.text.strip()}" if len(late) and len(others) and not self.line.on else ""

    @property
    def waited(self) -> float:
        """Return the seconds since it began."""
        return time.monotonic() - self._began

    def outcome(
        self,
        patience: float | None,
        *,
        typing: Callable[[], bool] = bool,
        tell: Callable[[str | None], None] = lambda text: None,
    ) -> Result:
        """Return the result, after a wait of at most ``patience`` seconds (None: no limit).

        Args:
            typing: returns whether the user has begun to type; the wait then ends early, so that the text typed is visible.
            tell: called now and then with a line about the cells waited for, and with None at the end.

        Raises:
            StillReading: there is no result yet.
            KeyboardInterrupt: Ctrl-C was pressed twice; the connections were closed to end the statement.
            ExacellError: the statement failed.
        """
        began = told = time.monotonic()
        late = since(self._services.waiting)
        try:
            while not self._ended.wait(_LOOK):
                now = time.monotonic()
                if patience is not None and (now - began >= patience or (now - began >= AT_LEAST and typing())):
                    raise StillReading
                if now - told >= TELL_EVERY and self._recording is not None:
                    tell(self._recording.sentence() or late() or None)
                    told = now
        except KeyboardInterrupt:
            self.give_up()
            raise
        finally:
            tell(None)
        if self._own is not None and not self.overtaken:
            self._session.selection.take_over(self._own.selection)
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def give_up(self) -> None:
        """End the statement by closing the connections it waits on; the next use opens new ones."""
        if self._own is not None:
            self._own.interrupted.set()
        self._session.interrupted.set()
        self._services.close()


class PromptRunner(Runner):
    """Marks the error of a bad statement below the entered line, and lets slow reads continue in the background."""

    interactive = True

    def __init__(self, session: Session, services: Services, console: TerminalConsole, aliases: Aliases) -> None:
        super().__init__(session, services, console, prefix="")
        self.typed = True
        self._aliases = aliases
        self._indent: int | None = None
        self._entered = False
        self._last = ""
        self.may_wait_behind = False
        self.reading: Reading | None = None
        """The statement that was run last; it may still be reading."""
        self.before: Callable[[Line], None] = lambda line: None
        """Called with each line before it is run."""
        self.on_end: Callable[[], None] = lambda: None
        self.typing: Callable[[], bool] = bool
        """Returns whether the user has begun to type the next line."""

    def run(self, line: Line, text: str = "", *, execute: Callable[[Line], Result] | None = None) -> ExitCode:
        """Run a line as :meth:`Runner.run` does.

        Raises:
            StillReading: it reads from a slow cell and continues; ``reading`` holds it.
        """
        carry_out = execute or self._execute
        if execute is None:
            self.before(line)
        if execute is None and self.may_wait_behind and may_go_on(line):
            reading = self.reading = Reading(self.session, self.services, line, text, self.on_end)

            def carry_out(line: Line) -> Result:
                return reading.outcome(self.session.settings.patience, typing=self.typing, tell=self.console.waiting)

        return super().run(line, text, execute=carry_out)

    def deliver_reading(self, reading: Reading) -> ExitCode:
        """Deliver the answer of a statement in the background, and wait for it if it has not come yet."""
        self.delivery.pages = False  # A prompt is below, in which the user may be typing.
        try:
            return self.run(
                reading.line, reading.text, execute=lambda _: reading.outcome(None, tell=self.console.waiting)
            )
        finally:
            self.delivery.pages = True

    def run_entered(self, text: str, indent: int | None) -> ExitCode:
        """Run a statement that is on the screen, ``indent`` columns in; None if marks can't be shown below it.

        An alias or a shortened word is first replaced, and the full statement is shown.

        Raises:
            EditRequested: the statement was EDIT.
        """
        self._indent = indent
        if text.strip().rstrip("; ") == AGAIN:
            if not self._last:
                return self._failed(
                    StatementError("there is no earlier statement to run again", hint="type the statement"), ""
                )
            self.console.tell(f"= {self._last}", "dim")
            text, self._indent = self._last, None
        self._last = text
        try:
            became, _ = understood(text, self._aliases.all())
        except ExacellError as error:
            return self._failed(error, text)
        if became == text:
            return self._run_one(text)
        self.console.tell(f"= {became}", "dim")
        self._indent = None
        code = ExitCode.DONE
        # An alias comes from its file; a shortened word counts as typed by the operator.
        typed, self.typed = self.typed, expand_alias(text, self._aliases.all()) == text
        try:
            for statement in split_statements(became):
                code = self._run_one(statement)
                if code not in GOES_ON:
                    break
        finally:
            self.typed = typed
        return code

    def run_file(self, path: Path, text: str = "", *, started_by: Line) -> ExitCode:
        """Run a script as :meth:`Runner.run_file` does; its errors get no marks below the entered line."""
        self._indent = None
        return super().run_file(path, text, started_by=started_by)

    def _run_one(self, text: str) -> ExitCode:
        self._entered = True
        try:
            return self.run_text(text)
        finally:
            self._entered = False

    def _racks(self) -> list[str]:
        """Return the names of the racks configured now."""
        try:
            return list(load(self.session.home, self.session.env).racks)
        except ConfigError:
            return list(self.session.config.racks)

    def report(self, error: ExacellError, text: str = "") -> None:
        """Print an error, and marks below the entered line for a bad statement.

        Raises:
            EditRequested: the statement was EDIT, which only the caller that has the terminal can carry out.
        """
        if isinstance(error, EditRequested) and self._entered:
            raise error
        if isinstance(error, NoRackError):
            error = ConfigError("no rack is chosen", hint=way_to_a_rack(self._racks()))
        if not isinstance(error, StatementError) or error.start is None or not text:
            super().report(shortened(error, text))
            return
        self.console.progress(None)
        end = error.end if error.end is not None else error.start
        if self._indent is not None:
            self.console.tell(squiggle(error.start, end, indent=self._indent), meaning_of(error))
        else:
            shown, marks = underlined(text, error.start, end, width=80)
            self.console.tell(shown)
            self.console.tell(marks, meaning_of(error))
        error = shortened(error, text)
        self.console.tell(without(text, brief_sentence(error)), meaning_of(error), head=without(text, head_of(error)))


def edited(text: str, env: Mapping[str, str]) -> str:
    """Return the text saved in $VISUAL or $EDITOR (else vi), which starts with ``text``; without blank lines at its end.

    Only the file's owner can read it, and it is removed afterwards.

    Raises:
        StatementError: the editor can't be started, or ended with an error; its text is then discarded.
    """
    descriptor, name = tempfile.mkstemp(prefix="exacell-", suffix=".scl", text=True)
    path = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text + "\n" if text else "")
        open_editor(path, env)
        return path.read_text(encoding="utf-8").rstrip()
    except (OSError, ValueError) as error:
        raise StatementError(f"the edited file can't be read: {error}", hint="save it as UTF-8 text") from error
    finally:
        path.unlink(missing_ok=True)
