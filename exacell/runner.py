"""Run statements and deliver their results: the part that prompt, command line and scripts share.

The session has the rules (confirmation, journal, exit codes). This module decides only where text comes from, and
:mod:`exacell.output.delivery` where it goes.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TextIO

from exacell.cellcli.reply import errors
from exacell.cellcli.secrets import masked, without
from exacell.change.execute import execute
from exacell.core.cellset import fold
from exacell.core.errors import (
    ExacellError,
    ExitCode,
    JournalError,
    OutputError,
    StatementError,
)
from exacell.core.formats import check_format
from exacell.language.line import Line, carried_by, parse_line, with_flags
from exacell.language.registry import Effect
from exacell.output.delivery import Delivery
from exacell.output.faults import error_lines, head_of, meaning_of, shortened
from exacell.output.folding import wants_folding
from exacell.output.render import lines
from exacell.output.result import GOOD, Result, worst
from exacell.output.streams import gone, told
from exacell.output.style import terminal_width
from exacell.output.terminal import TerminalConsole
from exacell.session.given import Services, Session
from exacell.session.recording import Recording, Silence, since, told_while_waiting
from exacell.session.request import Request
from exacell.session.signalled import ending_well, interruptible
from exacell.session.signals import ScriptRequested, SessionExit
from exacell.transport.base import Reply, State

ASKING = ("recipes", "help", "session")
"""Groups of commands whose reading statements talk with the user or wait on purpose."""

GOES_ON = frozenset((ExitCode.DONE, ExitCode.CHANGES, ExitCode.DRIFT))
"""Exit codes after which the next statement runs."""

_DEEPEST = 8


class Runner:
    """Runs the statements of the prompt, of a command line or of a script.

    Args:
        console: where messages and errors go.
        out: where data goes.
        flags: flags for all statements (``-y``, ``-n``, long ones); a statement's own take precedence.
        prefix: the beginning of error lines.
        header: whether tables begin with titles.
    """

    interactive = False
    """Whether the user can type `why` after an error, so that errors are shown in few lines."""

    def __init__(
        self,
        session: Session,
        services: Services,
        console: TerminalConsole,
        *,
        out: TextIO | None = None,
        flags: Mapping[str, str | None] | None = None,
        prefix: str = "exacell: ",
        header: bool = True,
    ) -> None:
        self.session, self.services = session, services
        services.while_changing = lambda: ending_well(session, console)
        self.console = console
        self.delivery = Delivery(console, out, header=header, pager=self._pager, anew=self._only_new_files)
        self.prefix = prefix
        self.codes: list[ExitCode] = []
        self._depth = 0
        self._flags = dict(flags or {})
        self._outer: Line | None = None
        """The START statement while its script runs."""
        self._unread = False
        """Whether the output of the last reading statement had no reader."""
        self._lost_told = False
        """Whether the user was told that standard output can't be written any more."""
        self.typed = False
        """Whether its statements are typed, at the prompt or on a command line; see :mod:`exacell.opaque.here`."""

    def _pager(self) -> str:
        setting = "off" if self.session.told_to_end else self.session.settings.pager
        if setting in (self.session.config.settings.pager, "off", "on", "auto", "never"):
            return setting  # It is the operator's own configuration, or no program.
        from exacell.change.here import held
        from exacell.opaque.scan import filter_findings

        # It was set on another rack, where it was allowed.
        typed = held(self.session, Request(typed=True))
        return "auto" if typed and filter_findings(setting).unseen else setting

    def _only_new_files(self) -> bool:
        from exacell.change.here import may_replace  # Only needed if a file is written.

        return not may_replace(self.session)

    def run_text(self, text: str, *, shell: bool = True) -> ExitCode:
        """Parse and run one statement, and return its exit code; errors are shown, not raised.

        Args:
            shell: whether ``!``, ``|`` and ``>`` have their meaning for the shell.

        Raises:
            SessionExit: the statement was ``exit``.
        """
        try:
            line = parse_line(text, shell=shell)
            if line is None:
                return ExitCode.DONE
            if self._outer is not None:
                line = carried_by(self._outer, line)
            if self._flags:
                line = with_flags(line, self._flags)
        except ExacellError as error:
            return self._failed(error, text)
        return self.run(line, text)

    def run(self, line: Line, text: str = "", *, execute: Callable[[Line], Result] | None = None) -> ExitCode:
        """Run a parsed line, deliver its result and return its exit code; errors are shown, not raised.

        Args:
            execute: carries the line out; None: the session does.

        Raises:
            SessionExit: the statement was ``exit``, the process was told to end while it changed cells, or nothing reads the
                output
                of a reading statement any more.
        """
        began = monotonic()
        if line.effect is Effect.READ:  # It may continue after the prompt is back.
            self._record(line)
        code = self._run(line, text, execute)
        if line.effect is not Effect.READ and code in GOES_ON:
            self._record(line)
        if self.session.settings.timing == "on":
            self.console.tell(f"elapsed {monotonic() - began:.2f}s", "dim")
        if self.session.told_to_end or self._unread:
            raise SessionExit
        for said in self.services.companion(line, code):
            self.console.tell(said, "title")
        return code

    def _record(self, line: Line) -> None:
        """Add a line to the recipe that is being recorded, unless -n only shows it."""
        session = self.session
        if session.recorded is None or session.options.over(line.flags).get("dry-run"):
            return
        chosen = session.selected() if session.rack is not None else ()
        some = session.rack is not None and len(chosen) < len(session.rack.cells)
        session.recorded.note(line, fold(chosen) if some else "")

    def _run(self, line: Line, text: str, execute: Callable[[Line], Result] | None) -> ExitCode:
        if line.shell or line.pipe or line.redirect:
            from exacell.commands.host import pass_here

            try:
                line = pass_here(self.session, self.services, self._request(), line, text)
            except ExacellError as error:
                return self._failed(error, text)
        if line.shell:
            return self._done(self.delivery.local(line.shell))
        newest = self._newest_change(line)
        try:
            format_name = check_format(str(line.flags.get("format") or self.session.settings.format))
            wants_folding(line.flags, self.session.settings.fold)
            if line.call is not None and line.call.command.streams:
                return self._stream(line, execute or self._execute, format_name, newest)
            if line.flags.get("diff") and format_name == "raw":
                raise StatementError("--diff compares values, and raw is the cells' own text: choose another format")
            if line.redirect:
                from exacell.output.tofile import check_writable  # Few statements write a file.

                check_writable(line.redirect)
            with interruptible(self.session, self.console):
                answer = result = (execute or self._execute)(line)
            if line.flags.get("diff"):
                from exacell.output.differing import difference_of

                result = difference_of(result)
            code = self._ended(line, result, format_name, newest, pipe=line.pipe, redirect=line.redirect)
            self._learn(line, answer)
            return code
        except ScriptRequested as script:
            return self.run_file(script.path, text, started_by=line)
        except ExacellError as error:
            return self._failed(error, text)
        except KeyboardInterrupt:
            self.console.progress(None)
            self.console.tell(self._interrupted(line, newest), "warning")
            return self._done(ExitCode.INTERRUPTED)
        except OSError as error:
            if error is not self.console.lost:
                raise
            return self._done(self._lost(error))  # Its output was streamed, and it only reads.

    def _learn(self, line: Line, answer: Result) -> None:
        """Store the names in an answer, for completion here and in shells."""
        if self.session.rack is not None and answer.records and line.effect is Effect.READ:
            from exacell.session.completion.learning import learn_answer  # After everything is shown.

            learn_answer(self.services.learned, line, answer)

    def _ended(
        self,
        line: Line,
        result: Result,
        format_name: str,
        newest: int | None,
        *,
        pipe: str = "",
        redirect: str = "",
        unwritten: OutputError | None = None,
    ) -> ExitCode:
        """Deliver the result of a line that has ended, and return its exit code.

        If the output of a reading statement has no reader, the program ends, as cat does; if it can't be written, the statement
        has failed. A change has been made even if its output can't be written: its exit code shows this, and the next statements
        run.

        Args:
            newest: number of the newest change when the line began; None if it could not be read.
            unwritten: why its streamed output is incomplete.
        """
        streamed = line.call is not None and line.call.command.streams and not (line.pipe or line.redirect)
        lost = self.console.lost if streamed else None
        try:
            folds = wants_folding(line.flags, self.session.settings.fold)
            self.delivery.deliver(result, format_name, pipe=pipe, redirect=redirect, folds=folds)
        except OutputError as error:
            unwritten = error
        except OSError as error:
            if error is not self.console.lost:
                raise
            lost = error
        reads = self._only_reads(line, newest)
        if unwritten is not None:
            self.report(unwritten)
            return self._done(worst([result.exit_code, unwritten.exit_code]) if reads else result.exit_code)
        code = self._lost(lost, reads=reads) if lost is not None else ExitCode.DONE
        return self._done(worst([result.exit_code, code]))

    def _lost(self, error: OSError, *, reads: bool = True) -> ExitCode:
        """Show once that standard output can't be written any more, and return the exit code that follows."""
        if gone(error):
            self._unread = reads
            return ExitCode.DONE
        if not self._lost_told:
            self._lost_told = True
            self.console.tell(f"{self.prefix}{told(error)}", "error")
        return ExitCode.FAILED if reads else ExitCode.DONE

    def _only_reads(self, line: Line, newest: int | None) -> bool:
        """Return whether a line that has ended did nothing but print."""
        if line.effect is Effect.READ or line.flags.get("dry-run"):
            return True
        keeps = line.effect is Effect.LOCAL and line.call is not None and not line.call.command.dry_runs
        if line.effect is Effect.WRITE or keeps:
            return False
        try:
            return newest == self.services.journal.newest_change()
        except JournalError:
            return False

    def _newest_change(self, line: Line) -> int | None:
        """Return the number of the newest change when a line begins, 0 for a line that makes no change; None if it can't be
        read.
        """
        try:
            return 0 if line.effect is Effect.READ else self.services.journal.newest_change()
        except JournalError:
            return None

    def _interrupted(self, line: Line, newest: int | None) -> str:
        """Return a sentence about the state of a statement that was interrupted twice.

        Args:
            newest: number of the newest change when it began; None if it could not be read.
        """
        if line.effect is Effect.READ:
            return "interrupted: nothing was changed"
        from exacell.journal.record import Sent, sent_since

        try:
            sent = Sent.UNDER_WAY if newest is None else sent_since(self.services.journal, newest)
        except JournalError:
            sent = Sent.UNDER_WAY  # Assume the worst.
        if sent is Sent.NOTHING:
            # A local statement may be the run of a recipe, whose own message shows what is unfinished.
            return "interrupted" if line.effect is Effect.LOCAL else "interrupted: nothing was sent"
        if sent is Sent.ENDED:
            return "interrupted: the sent statements are finished; nothing more was started"
        return "interrupted; the cells finish the sent statements, but exacell no longer waits"

    def _request(self) -> Request:
        """Return the request of a line, which contains only whether the line was typed."""
        return Request(typed=self.typed)

    def _execute(self, line: Line) -> Result:
        """Carry a line out; while a reading line waits for cells, show for which."""
        streams = line.call is not None and line.call.command.streams
        if streams or self.session.rack is None:
            return execute(self.session, self.services, self._request(), line)
        if line.effect is not Effect.READ:
            silence = Silence(self.console, self.services.waiting)
            request = dataclasses.replace(self._request(), shows=self._shows(line))
            with told_while_waiting(silence.sentence, silence.tell):
                return execute(self.session, self.services, request, line)

        at_once = self._shows_at_once(line)
        recording = Recording(self.services.fleet, self._show_raw if at_once else None)
        session, services = self.services.aside(recording, same_interruption=True)
        # Statements for ASM or a database don't ask cells, but also wait.
        talks = line.call is not None and line.call.command.group in ASKING
        late = since(self.services.waiting)
        try:
            with told_while_waiting(lambda: recording.sentence() or ("" if talks else late()), self.console.waiting):
                result = execute(session, services, self._request(), line)
                return dataclasses.replace(result, raw=(), pieces=(), data=False) if at_once else result
        finally:
            self.session.selection.take_over(session.selection)

    def _shows(self, line: Line) -> Callable[[Result], None] | None:
        """Return the function that shows a recipe's answers between its messages; None if only the data are wanted."""
        form = str(line.flags.get("format") or self.session.settings.format)
        if form != "table" or line.pipe or line.redirect or not self.delivery.one_screen():
            return None
        folds = wants_folding(line.flags, self.session.settings.fold)
        return partial(self.delivery.show_at_once, folds=folds)

    def _shows_at_once(self, line: Line) -> bool:
        """Return whether each cell's own text is shown as soon as it answers: on a terminal, where the order does not matter."""
        form = str(line.flags.get("format") or self.session.settings.format)
        reads = line.cellcli is not None and not (line.pipe or line.redirect)
        return reads and form == "raw" and self.delivery.out is sys.stdout and sys.stdout.isatty()

    def _show_raw(self, reply: Reply, of: int) -> None:
        if reply.large is not None:
            self._show_large(reply, of)
        elif reply.state is State.OK and reply.stdout.strip() and not (errors(reply.stdout) or errors(reply.stderr)):
            prefix = f"{reply.target}: " if of > 1 else ""
            self.console.data("".join(f"{prefix}{row}\n" for row in reply.stdout.removesuffix("\n").split("\n")))

    def _show_large(self, reply: Reply, of: int) -> None:
        from exacell.session.largelist import lines_of, wrong_with

        if not any(wrong_with(reply, indents=False)):
            shown = Result(pieces=[(reply.target, lines_of(reply))], named=of > 1)
            for row in lines(shown, "raw"):
                self.console.data(f"{row}\n")

    def _stream(self, line: Line, execute: Callable[[Line], Result], format_name: str, newest: int | None) -> ExitCode:
        """Run a line that writes while it runs, into its pipe or file if it has one."""
        result, unwritten = None, None
        with interruptible(self.session, self.console):
            if line.pipe:
                result = Result()  # If the reader ends early.
                with self.delivery.piped(line.pipe) as process:
                    assert process.stdin is not None
                    with self.console.diverted(process.stdin):
                        result = execute(line)
            elif line.redirect:
                from exacell.output.tofile import opened

                try:
                    endless = line.call is not None and line.call.command.endless
                    with opened(line.redirect, anew=self.delivery.anew(), live=endless) as target:
                        with self.console.diverted(target.stream):
                            result = execute(line)
                        target.left = not (target.anything or result.exit_code in GOOD)
                except OutputError as error:
                    unwritten = error
            else:
                result = execute(line)
        if result is None:
            assert unwritten is not None
            raise unwritten
        return self._ended(line, result, format_name, newest, unwritten=unwritten)

    def run_file(self, path: Path, text: str = "", *, started_by: Line) -> ExitCode:
        """Run the statements of a script until one fails; SET ECHO ON prints each one first.

        Args:
            started_by: the START statement; its flags and ON apply to each statement that has none of its own.

        Raises:
            SessionExit: the script contains EXIT.
        """
        try:
            from exacell.session.scripts import script_at

            script = script_at(path)
        except StatementError as error:
            return self._failed(error, text)
        if self._depth >= _DEEPEST:
            return self._failed(
                StatementError(
                    f"{path}: scripts call each other {_DEEPEST} levels deep",
                    hint="one of them calls itself: remove that line",
                ),
                text,
            )
        self._depth += 1
        typed, self.typed = self.typed, False
        outer, self._outer = self._outer, started_by
        try:
            return self.run_statements(
                [statement.text for statement in script],
                places=[f"{path}, line {statement.number}" for statement in script],
            )
        finally:
            self._outer = outer
            self.typed = typed
            self._depth -= 1

    def run_statements(self, statements: Iterable[str], *, shell: bool = True, places: Sequence[str] = ()) -> ExitCode:
        """Run statements in order, stop after the first one that fails, and return the exit code of all together.

        Args:
            places: file and line of each statement, for those of a file.

        Raises:
            SessionExit: one of them was EXIT.
        """
        codes: list[ExitCode] = []
        waiting = iter(statements)
        for text in waiting:
            if self.console.echo:
                self.console.tell(f"exacell> {text}")
            try:
                codes.append(self.run_text(text, shell=shell))
            except SessionExit:
                left = _rest(waiting, statements)
                if self._unread and left:
                    self.console.tell(f"stopped, because nothing reads standard output any more: {left}")
                    self._done(ExitCode.INTERRUPTED)
                raise
            if codes[-1] not in GOES_ON:
                left = _rest(waiting, statements)
                where = f" at {places[len(codes) - 1]}" if places else ""
                if left or where:
                    self.console.tell(f"stopped{where}" + (f": {left}" if left else ""))
                break
        return worst(codes)

    def report(self, error: ExacellError, text: str = "") -> None:
        """Print an error on standard error, with the wrong part of ``text`` underlined."""
        self.console.progress(None)
        error = shortened(error, text) if self.interactive else error
        width = terminal_width(self.delivery.out)
        meaning, head = meaning_of(error), self.prefix + without(text, head_of(error))
        lines = error_lines(error, text=text, prefix=self.prefix, width=width, brief=self.interactive)
        for number, line in enumerate(lines):
            self.console.tell(line, "" if number == 1 else meaning, head="" if number else head)
        for reason in () if self.interactive else error.reasons:
            self.console.tell(f"  {without(text, masked(reason))}")

    def _failed(self, error: ExacellError, text: str) -> ExitCode:
        self.report(error, text)
        self.session.refused = (text, error)
        return self._done(error.exit_code)

    def _done(self, code: ExitCode) -> ExitCode:
        self.codes.append(code)
        return code


def _rest(waiting: Iterator[str], statements: Iterable[str]) -> str:
    """Return how many of ``statements`` are left in ``waiting``, as a sentence; empty if none are, or if they come from a
    pipe.
    """
    left = sum(1 for _ in waiting) if isinstance(statements, Sequence) else 0
    return f"{left} more statement{'s were' if left > 1 else ' was'} not run" if left else ""
