"""Run the prompt: read a line, run it, show its answer, until the user leaves.

prompt_toolkit has the main thread while a line is typed; statements run on it between prompts. Connections are opened and
names are read in the background, so that neither the first prompt nor typing waits for a cell.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory, Suggestion
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Always
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.renderer import CPR_Support

from exacell.change.leftbehind import left_behind
from exacell.core.errors import ExacellError, ExitCode
from exacell.output.style import wants_color
from exacell.output.terminal import TerminalConsole
from exacell.prompt.appearance import STYLE, prompt_fragments
from exacell.prompt.keys import TypingAhead, bindings
from exacell.prompt.lazy import LazyCompleter, LazyLexer, toolbar
from exacell.prompt.learner import Learner
from exacell.session.history import (
    Aliases,
    Usage,
    append_history,
    history_file,
    is_secret,
    offered_on,
    read_entries,
)
from exacell.session.opening import find_rack_quietly
from exacell.session.signals import AtPrompt, EditRequested, SessionExit

if TYPE_CHECKING:
    from exacell.language.suggestion import Known
    from exacell.prompt.background import BackgroundReads
    from exacell.prompt.check import Surroundings
    from exacell.prompt.entering import PromptRunner
    from exacell.session.given import Services, Session

_CPR_TIMEOUT = 1
"""Seconds within which a terminal must report its cursor position; one that does not gets no toolbar."""

_MENU = 6
"""Rows for the menu below the typed line."""


def run(session: Session, services: Services, console: TerminalConsole) -> ExitCode:
    """Run the prompt until the user leaves; return the process's exit code, DONE, or INTERRUPTED after a signal to end."""
    return Prompt(session, services, console).run()


class Prompt:
    """The prompt of one session."""

    def __init__(self, session: Session, services: Services, console: TerminalConsole) -> None:
        self.session, self.services = session, services
        self.console = console
        self._aliases = Aliases(session.home)
        self._usage = Usage(session.home.state_dir / "usage.json")
        self._learner = Learner(session, services)
        self._history = PrivateHistory(history_file(session.home.state_dir), self._rack_name)
        self._unkept = ""
        self._typing = TypingAhead(self._keep)
        self._pending: tuple[str, ...] = ()
        self._told: set[str] = set()
        self._edited = ""
        self._ran = False
        self.entry = self._make_session()

    @cached_property
    def runner(self) -> PromptRunner:
        """Return the runner of entered statements; it is loaded when first needed."""
        from exacell.prompt.entering import PromptRunner

        runner = PromptRunner(self.session, self.services, self.console, self._aliases)
        runner.typing = self._typing_on
        return runner

    @cached_property
    def background(self) -> BackgroundReads:
        """Return the statements that still read in the background."""
        from exacell.prompt.background import BackgroundReads

        reads = BackgroundReads(self.entry.app, self.runner, self.console)
        self.runner.on_end = reads.ended
        self.runner.before = reads.before
        return reads

    def run(self) -> ExitCode:
        """Read and run statements until Ctrl-D or EXIT, and return the exit code."""
        self.services.run_nested = self._nested
        with self._typing:
            self._greet()
            try:
                while True:
                    try:
                        self._one()
                    except KeyboardInterrupt:
                        self.console.tell("interrupted", "warning")  # Ctrl-C before or after the statement itself.
            except (EOFError, SessionExit):
                return ExitCode.INTERRUPTED if self.session.told_to_end else ExitCode.DONE
            finally:
                self._learner.end()

    def _one(self) -> None:
        """Read one line and run its statements.

        Raises:
            EOFError: the user left with Ctrl-D.
            SessionExit: the user left with EXIT.
        """
        self._learner.begin()
        if self._history.outdated:
            self._history.reload()
        self.entry.editing_mode = EditingMode.VI if self.session.settings.editing_mode == "vi" else EditingMode.EMACS
        begun, self._edited = self._edited, ""
        self._make_room(bool(begun))
        try:
            text = self.entry.prompt(default=begun, pre_run=self.background.catch_up if self._ran else None)
        except KeyboardInterrupt:
            if self._ran:
                self.background.give_up()
            return  # Ctrl-C discards the line.
        finally:
            self._settle_cpr()
        if self._interrupted_at_once():
            self.console.tell("interrupted: nothing was sent", "warning")
            return
        self._learner.busy(True)
        try:
            self._ran = True
            self._run(text)
            self._remind()
        finally:
            self._learner.busy(False)
            self._typing.hand_over()

    def _make_session(self) -> PromptSession[str]:
        color = wants_color(sys.stdout)
        session: PromptSession[str] = PromptSession(
            message=self._message,
            lexer=LazyLexer(self._around),
            completer=LazyCompleter(self._known, self._usage.count),
            history=self._history,
            auto_suggest=ShortSuggestions(),
            multiline=True,
            prompt_continuation=_continuation,
            key_bindings=bindings(),
            bottom_toolbar=self._toolbar,
            style=STYLE,
            color_depth=None if color else ColorDepth.DEPTH_1_BIT,
            reserve_space_for_menu=0,
            enable_open_in_editor=True,
            enable_suspend=True,
            include_default_pygments_style=False,
        )
        # Up and Page Up go to entries that begin with the typed text, as in fish and pgcli.
        session.default_buffer.enable_history_search = Always()
        # An answer that fills the screen stays visible until the next line is begun.
        session.default_buffer.on_text_changed += lambda buffer: self._make_room(bool(buffer.text))
        # No warning for a terminal that does not report its cursor position, such as a script's pty.
        session.app.renderer.cpr_not_supported_callback = None
        session.app.renderer.CPR_TIMEOUT = _CPR_TIMEOUT
        session.app.after_render += self._learner.prompt_shown
        return session

    def _make_room(self, typing: bool) -> None:
        """Keep rows for the menu below the line while one is typed."""
        self.entry.reserve_space_for_menu = _MENU if typing else 0

    def _nested(self, text: str) -> ExitCode:
        if not text:
            raise AtPrompt
        self.runner.may_wait_behind = False  # The caller waits for its end.
        return self.runner.run_text(text)

    def _rack_name(self) -> str:
        return self.session.rack.name if self.session.rack is not None else ""

    def _known(self) -> Known:
        session, services = self.session, self.services
        from exacell.session.completion.knowledge import knowledge

        releases = self._around().releases
        return knowledge(
            session.home,
            lambda: session.config.racks,
            session.rack,
            services.learned,
            release=releases[0] if len(releases) == 1 else "",
            aliases=lambda: self._around().aliases,
        )

    def _around(self) -> Surroundings:
        """Return the aliases and releases by which a line is judged now."""
        from exacell.prompt.check import Surroundings

        try:
            aliases = tuple(self._aliases.all().items())
        except ExacellError:
            aliases = ()  # The error is shown when a line is entered.
        session, services = self.session, self.services
        if session.rack is None:
            return Surroundings(aliases=aliases)
        selected = session.selected()
        releases = sorted({release for cell, release in services.learned.releases().items() if cell in selected})
        return Surroundings(aliases=aliases, releases=tuple(releases))

    def _settle_cpr(self) -> None:
        renderer = self.entry.app.renderer
        if renderer.cpr_support is CPR_Support.UNKNOWN and self.entry.app.output.responds_to_cpr:
            renderer.cpr_support = CPR_Support.NOT_SUPPORTED

    def _typing_on(self) -> bool:
        """Return whether the user has begun to type the next line, right after the last Enter or since."""
        begun = get_typeahead(self.entry.app.input)
        store_typeahead(self.entry.app.input, begun)
        entered = any(press.key in (Keys.ControlM, Keys.ControlJ) for press in begun)
        return not entered and (self._typing.typed() or bool(begun))

    def _interrupted_at_once(self) -> bool:
        """Return whether Ctrl-C was pressed after Enter, before the terminal was given back; the text typed before it is lost."""
        typed = get_typeahead(self.entry.app.input)
        if self._typing.interrupted():  # Comes after everything that the prompt has read.
            return True
        places = [place for place, press in enumerate(typed) if press.key is Keys.ControlC]
        store_typeahead(self.entry.app.input, typed[places[-1] + 1 :] if places else typed)
        return bool(places)

    def _message(self) -> StyleAndTextTuples:
        return list(prompt_fragments(self.session, pending=len(self._pending), done=get_app().is_done))

    def _toolbar(self) -> StyleAndTextTuples:
        buffer = get_app().current_buffer
        if self._ran and not buffer.text and self.background.sentence:
            return [("class:toolbar", f" {self.background.sentence}")]
        return list(toolbar(self.session, buffer.text, buffer.cursor_position, self._around))

    def _greet(self) -> None:
        try:
            find_rack_quietly(self.session, self.services)
        except ExacellError as error:
            self.runner.report(error)
        self._remind()

    def _remind(self) -> None:
        """Show each warning about an unfinished earlier change once; the prompt's mark stays until it is repaired."""
        try:
            self._pending = tuple(left_behind(self.session, self.services, warn=True))
        except ExacellError as error:
            self.runner.report(error)
            return
        for warning in self._pending:
            if warning not in self._told:
                self.console.tell(f"warning: {warning}", "warning")
        self._told.update(self._pending)

    def _run(self, text: str) -> None:
        from exacell.prompt.check import segments
        from exacell.prompt.entering import StillReading
        from exacell.runner import GOES_ON

        self.background.catch_up()
        if self._history.unkept != self._unkept:
            self._unkept = self._history.unkept
            if self._unkept:
                self.console.tell(f"the history can't be saved: {self._history.path}: {self._unkept}", "warning")
        self.console.read_line = lambda question: self._typing.question(lambda: self.console.read_here(question))
        self.console.lend = self._typing.lent
        try:
            found = segments(text)
            # Several statements were pasted: none may stop for a pager or stay in the background.
            self.runner.may_wait_behind = self.runner.delivery.pages = len(found) == 1
            for segment in found:
                self._usage.note(segment.text)
                code = self.runner.run_entered(segment.text, self._indent(text) if len(found) == 1 else None)
                if code not in GOES_ON and segment is not found[-1]:
                    self.console.tell("stopped: the statements after it were not run")
                    break
        except StillReading:
            reading = self.runner.reading
            assert reading is not None
            self.background.add(reading)
        except EditRequested as wanted:
            from exacell.prompt.entering import edited

            with self._typing.lent():
                self._edited = edited(wanted.text, self.session.env)
        except ExacellError as error:
            self.runner.report(error)
        finally:
            self.runner.delivery.pages = True
            self.console.read_line = None
            self.console.lend = nullcontext

    def _indent(self, text: str) -> int | None:
        """Return the column in which the entered line began on the screen; None if it does not fit on one row."""
        width = sum(len(piece) for _, piece in prompt_fragments(self.session, pending=len(self._pending)))
        fits = "\n" not in text and width + len(text) < self.entry.app.output.get_size().columns
        return width + len(text) - len(text.lstrip()) if fits else None

    def _keep(self, typed: str) -> None:
        keys: list[KeyPress] = []
        parser = Vt100Parser(keys.append)
        parser.feed(typed)
        parser.flush()
        store_typeahead(self.entry.app.input, keys)


def _continuation(width: int, line: int, wrapped: int) -> str:
    """Return the text before a further line; empty for a row that only continues a line too long for one row."""
    return "" if wrapped else "  -> "


_LONGEST = 200
"""The longest entry, in characters, that is offered in grey: a longer one would cover the screen during typing."""


class ShortSuggestions(AutoSuggestFromHistory):
    """Offers the rest of the newest entry that begins with what is typed, unless that is long."""

    def get_suggestion(self, buffer: Buffer, document: Document) -> Suggestion | None:
        """Return the text to show in grey after the cursor; None for none."""
        found = super().get_suggestion(buffer, document)
        return found if found is not None and len(found.text) <= _LONGEST else None


class PrivateHistory(History):
    """Entries in a file of mode 0600; an entry that may hold a secret is neither stored nor offered again.

    It offers the entries of the present rack, and those of other racks that change nothing.

    Args:
        rack: returns the name of the present rack, empty without one.
    """

    def __init__(self, path: Path, rack: Callable[[], str] = str) -> None:
        super().__init__()
        self.path = path
        self._rack = rack
        self._loaded_for: str | None = None
        self.unkept = ""
        """Why the newest entry could not be saved; empty if it was."""

    def load_history_strings(self) -> Iterable[str]:
        """Yield the entries, newest first."""
        self._loaded_for = self._rack()
        yield from reversed(offered_on(self._loaded_for, read_entries(self.path)))

    @property
    def outdated(self) -> bool:
        """Return whether the entries were loaded for another rack than the present one."""
        return self._loaded_for is not None and self._loaded_for != self._rack()

    def reload(self) -> None:
        """Let the entries be read again when they are next needed."""
        self._loaded, self._loaded_strings, self._loaded_for = False, [], None

    def append_string(self, string: str) -> None:
        """Add an entry unless it holds a secret."""
        if not is_secret(string):
            super().append_string(string)

    def store_string(self, string: str) -> None:
        """Write an entry to the file."""
        self.unkept = append_history(self.path, string, self._rack())
