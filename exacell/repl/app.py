"""The prompt: read a line, run it, show what it says, until the user leaves.

prompt_toolkit owns the main thread while a line is typed; statements run on it between prompts. Connections open and
names arrive in the background, so that neither the first prompt nor typing waits for a cell.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app, run_in_terminal
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition, is_done, is_searching
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyBindings, KeyPress, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.renderer import CPR_Support

from exacell.commands.session import SessionExit
from exacell.context import find_rack_quietly
from exacell.errors import ExacellError, ExitCode, StatementError
from exacell.history import history_file
from exacell.language.line import Line
from exacell.language.registry import Param
from exacell.language.text import needs_more
from exacell.output.faults import sentence, squiggle, underlined
from exacell.output.result import Result
from exacell.output.style import wants_color
from exacell.output.terminal import TerminalConsole
from exacell.repl.check import segments
from exacell.repl.completer import StatementCompleter
from exacell.repl.lexer import StatementLexer
from exacell.repl.look import STYLE, prompt_fragments, toolbar_fragments
from exacell.repl.reading import PATIENCE, Reading, StillReading, may_go_on
from exacell.repl.store import PrivateHistory
from exacell.repl.typing_ahead import TypingAhead
from exacell.runner import Runner

if TYPE_CHECKING:
    from exacell.context import Context

_CPR_TIMEOUT = 1
"""Seconds in which a terminal answers where its cursor is; one that does not has no toolbar."""


def run(ctx: Context, console: TerminalConsole) -> ExitCode:
    """Talk with the user until they leave; return the process's exit code, which is 0."""
    return Prompt(ctx, console).run()


class Prompt:
    """One session at the prompt."""

    def __init__(self, ctx: Context, console: TerminalConsole) -> None:
        self.ctx = ctx
        self.console = console
        self.runner = _PromptRunner(ctx, console, prefix="")
        self.runner.on_end = self._reading_ended
        self._pending: tuple[str, ...] = ()
        self._told: set[str] = set()
        self._reading: Reading | None = None
        self.session = self._make_session()

    def run(self) -> ExitCode:
        """Read and run statements until Ctrl-D or EXIT."""
        self.ctx.run_nested = self._nested
        self._greet()
        self._begin_background()
        while True:
            try:
                text = self.session.prompt(pre_run=self._catch_up)
            except KeyboardInterrupt:
                self._give_up_reading()
                continue  # Ctrl-C drops the line.
            except EOFError:
                return ExitCode.DONE
            finally:
                self._settle_cpr()
            if self._interrupted_at_once():
                self.console.tell("interrupted: nothing was sent", "warning")
                continue
            try:
                self._finish_reading()
                self._run(text)
                self._remind()
            except SessionExit:
                return ExitCode.DONE
            except KeyboardInterrupt:
                self.console.tell("interrupted", "warning")  # Ctrl-C before or after the statement itself.

    def _make_session(self) -> PromptSession[str]:
        color = wants_color(sys.stdout)
        session: PromptSession[str] = PromptSession(
            message=self._message,
            lexer=StatementLexer(),
            completer=StatementCompleter(self.ctx.names, self._recipe_params),
            complete_in_thread=True,
            history=PrivateHistory(history_file(self.ctx.home.state_dir)),
            auto_suggest=AutoSuggestFromHistory(),
            multiline=True,
            prompt_continuation="  -> ",
            key_bindings=_bindings(),
            bottom_toolbar=self._toolbar,
            style=STYLE,
            color_depth=None if color else ColorDepth.DEPTH_1_BIT,
            editing_mode=EditingMode.VI if self.ctx.settings.edit_mode == "vi" else EditingMode.EMACS,
            reserve_space_for_menu=6,
            enable_open_in_editor=True,
            include_default_pygments_style=False,
        )
        # A terminal that does not say where its cursor is (a script's pty) is no reason for a warning.
        session.app.renderer.cpr_not_supported_callback = None
        session.app.renderer.CPR_TIMEOUT = _CPR_TIMEOUT
        return session

    def _nested(self, text: str) -> ExitCode:
        if not text:
            raise StatementError("this is a prompt already", hint="connect <rack> goes to another rack")
        return self.runner.run_text(text)

    def _recipe_params(self, name: str) -> Sequence[Param]:
        from exacell.recipes import recipe_params

        return recipe_params(self.ctx.home, name)

    def _settle_cpr(self) -> None:
        renderer = self.session.app.renderer
        if renderer.cpr_support is CPR_Support.UNKNOWN and self.session.app.output.responds_to_cpr:
            renderer.cpr_support = CPR_Support.NOT_SUPPORTED

    def _interrupted_at_once(self) -> bool:
        """Whether Ctrl-C was pressed behind Enter, before the terminal was given back; what was typed before it is lost."""
        typed = get_typeahead(self.session.app.input)
        places = [place for place, press in enumerate(typed) if press.key is Keys.ControlC]
        store_typeahead(self.session.app.input, typed[places[-1] + 1 :] if places else typed)
        return bool(places)

    def _message(self) -> StyleAndTextTuples:
        return list(prompt_fragments(self.ctx, pending=len(self._pending), done=get_app().is_done))

    def _toolbar(self) -> StyleAndTextTuples:
        if self._reading is not None and not get_app().current_buffer.text:
            return [("class:toolbar", f" waiting for: {self._reading.text.strip()}   (Ctrl-C gives it up)")]
        buffer = get_app().current_buffer
        return list(toolbar_fragments(self.ctx, buffer.text, buffer.cursor_position))

    def _greet(self) -> None:
        try:
            find_rack_quietly(self.ctx)
        except ExacellError as error:
            self.runner.report(error)
        self._remind()

    def _remind(self) -> None:
        """Say what an earlier change left behind, once each; the prompt's mark stays until it is mended."""
        try:
            self._pending = tuple(self.ctx.pending())
        except ExacellError as error:
            self.runner.report(error)
            return
        for warning in self._pending:
            if warning not in self._told:
                self.console.tell(f"warning: {warning}", "warning")
        self._told.update(self._pending)

    def _catch_up(self) -> None:
        """Deliver a result that came between two prompts."""
        if self._reading is not None and self._reading.ended:
            self._deliver_above()

    def _reading_ended(self) -> None:
        """Called from the reading's thread: show its result above the prompt that stands there."""
        app = self.session.app
        if app.is_running and app.loop is not None:
            app.loop.call_soon_threadsafe(self._deliver_above)

    def _deliver_above(self) -> None:
        if self._reading is not None and self._reading.ended:
            run_in_terminal(self._deliver_reading)

    def _deliver_reading(self) -> None:
        reading, self._reading = self._reading, None
        if reading is not None:
            self.runner.deliver_reading(reading)

    def _finish_reading(self) -> None:
        """Wait for what still reads before the next statement runs: one statement at a time, in order."""
        if self._reading is not None:
            with TypingAhead(self._keep):
                self._deliver_reading()

    def _give_up_reading(self) -> None:
        if self._reading is not None:
            reading, self._reading = self._reading, None
            reading.give_up()
            self.console.tell(f"gave up waiting for: {reading.text.strip()}", "warning")

    def _begin_background(self) -> None:
        threading.Thread(target=self._warm, name="exacell-warm", daemon=True).start()

    def _warm(self) -> None:
        try:
            self.ctx.warm()
        except ExacellError:
            return  # The first statement meets the same problem and says it where it is read.

    def _run(self, text: str) -> None:
        with TypingAhead(self._keep) as typing:
            self.console.read_line = lambda question: typing.question(lambda: self.console.read_here(question))
            self.console.lend = typing.lent
            try:
                found = segments(text)
                self.runner.may_wait_behind = len(found) == 1
                for segment in found:
                    code = self.runner.run_entered(segment.text, self._indent(text) if len(found) == 1 else None)
                    if code not in (ExitCode.DONE, ExitCode.CHANGES, ExitCode.DRIFT) and segment is not found[-1]:
                        self.console.tell("stopped: the statements behind it were not run")
                        break
            except StillReading:
                self._reading = self.runner.reading
                self.console.tell("still waiting for an answer: type on, it is shown when it comes; Ctrl-C gives it up")
            finally:
                self.console.read_line = None
                self.console.lend = nullcontext

    def _indent(self, text: str) -> int | None:
        """Return in which column the entered line began on the screen, None when it does not fit on one row."""
        width = sum(len(piece) for _, piece in prompt_fragments(self.ctx, pending=len(self._pending)))
        fits = "\n" not in text and width + len(text) < self.session.app.output.get_size().columns
        return width + len(text) - len(text.lstrip()) if fits else None

    def _keep(self, typed: str) -> None:
        keys: list[KeyPress] = []
        parser = Vt100Parser(keys.append)
        parser.feed(typed)
        parser.flush()
        store_typeahead(self.session.app.input, keys)


class _PromptRunner(Runner):
    """Reports a bad statement by marks below the line that was entered, and lets slow reads go on behind the prompt."""

    _indent: int | None = None
    may_wait_behind = False
    reading: Reading | None = None
    """The statement that was run last and may still be going on."""
    on_end: Callable[[], None] = staticmethod(lambda: None)

    def run(self, line: Line, text: str = "", *, execute: Callable[[Line], Result] | None = None) -> ExitCode:
        """Run a line as :meth:`Runner.run` does.

        Raises:
            StillReading: it reads from a slow cell and goes on; ``reading`` holds it.
        """
        if execute is not None or not self.may_wait_behind or not may_go_on(line):
            return super().run(line, text, execute=execute)
        reading = self.reading = Reading(self.ctx, line, text, self.on_end)
        return super().run(line, text, execute=lambda _: reading.outcome(PATIENCE))

    def deliver_reading(self, reading: Reading) -> ExitCode:
        """Deliver what a statement that went on behind the prompt answers, waiting for it where it has not yet."""
        return super().run(reading.line, reading.text, execute=lambda _: reading.outcome(None))

    def run_entered(self, text: str, indent: int | None) -> ExitCode:
        """Run a statement that stands on the screen ``indent`` columns in; None when marks can't stand below it."""
        self._indent = indent
        return self.run_text(text)

    def report(self, error: ExacellError, text: str = "") -> None:
        """Print an error, and marks below the entered line for a bad statement."""
        if not isinstance(error, StatementError) or error.start is None or not text:
            super().report(error)
            return
        self.console.progress(None)
        end = error.end if error.end is not None else error.start
        if self._indent is not None:
            self.console.tell(squiggle(error.start, end, indent=self._indent), "error")
        else:
            shown, marks = underlined(text, error.start, end, width=80)
            self.console.tell(shown)
            self.console.tell(marks, "error")
        self.console.tell(sentence(error), "error")


def _bindings() -> KeyBindings:
    bindings = KeyBindings()

    @Condition
    def complete_statement() -> bool:
        # An empty line ends a statement whose quote or parenthesis stays open: then the error says so.
        text = get_app().current_buffer.text
        return not needs_more(text) or text.endswith("\n")

    @bindings.add("enter", filter=complete_statement & ~is_searching & ~is_done)
    def _(event: KeyPressEvent) -> None:
        buffer: Buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is None:
            buffer.cancel_completion()
        buffer.validate_and_handle()

    return bindings
