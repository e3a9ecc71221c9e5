"""Runs statements and delivers what they answer: the part that prompt, command line and scripts share.

Policy (confirmation, journal, exit codes) is the context's; here is only where text comes from and where it goes: data
to standard output, a pipe or a file, talk and errors to standard error.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TextIO

from exacell.cellcli.fold import has_own_name
from exacell.cellcli.reply import errors
from exacell.cellcli.rows import ByBlocks
from exacell.change.execute import execute
from exacell.core.errors import (
    ExacellError,
    ExitCode,
    JournalError,
    OutputError,
    StatementError,
)
from exacell.core.formats import check_format
from exacell.language.given import with_flags
from exacell.language.line import Line, carried_by, parse_line
from exacell.language.registry import Effect
from exacell.output.apart import each_cell_apart, too_many_to_fold, wants_folding
from exacell.output.dates import with_local_dates
from exacell.output.faults import error_lines
from exacell.output.folding import MASK, brief_problems
from exacell.output.render import lines, render
from exacell.output.result import Result, worst
from exacell.output.streams import gone, told
from exacell.output.style import terminal_width, wants_color
from exacell.output.terminal import TerminalConsole
from exacell.session.partial import Recording, told_while_waiting
from exacell.session.signalled import ending_well, interruptible
from exacell.session.signals import ScriptRequested, SessionExit
from exacell.transport.base import State

if TYPE_CHECKING:
    from exacell.session.context import Context
    from exacell.transport.base import Reply


GOES_ON = frozenset((ExitCode.DONE, ExitCode.CHANGES, ExitCode.DRIFT))
"""Exit codes behind which the next statement runs."""

_DEEPEST = 8


class Runner:
    """One surface's way of running statements.

    Args:
        console: where talk and errors go.
        out: where data goes.
        flags: flags that were given once for all statements (``-y``, ``-n``, long ones); a statement's own win.
        prefix: who speaks in error lines.
        header: whether tables begin with titles.
    """

    def __init__(
        self,
        ctx: Context,
        console: TerminalConsole,
        *,
        out: TextIO | None = None,
        flags: Mapping[str, str | None] | None = None,
        prefix: str = "exacell: ",
        header: bool = True,
    ) -> None:
        self.ctx = ctx
        ctx.services.while_changing = lambda: ending_well(ctx, console)
        self.console = console
        self.out = out if out is not None else sys.stdout
        self.prefix = prefix
        self.codes: list[ExitCode] = []
        self._depth = 0
        self._flags = dict(flags or {})
        self._outer: Line | None = None
        """START, while its script runs."""
        self._header = console.header = header
        self._unread = False
        """Whether what the last statement has read found no reader."""
        self._lost_told = False
        """Whether it was told that standard output takes nothing more."""
        self._explained = False
        """Whether this session has said what stands for a cell's own name."""
        self.typed = False
        """Whether what it runs is typed, at the prompt or on a command line: ``!``, ``|`` and ``>`` are the operator's then."""
        self.pages = True
        """Whether what is longer than the screen is shown a screen at a time."""

    def run_text(self, text: str, *, shell: bool = True) -> ExitCode:
        """Parse and run one statement; errors are reported, not raised.

        Args:
            shell: whether ``!``, ``|`` and ``>`` mean the shell's things.

        Raises:
            SessionExit: the statement was ``exit``.
        """
        try:
            line = parse_line(text, shell=shell)
            if line is None:
                return ExitCode.DONE
            if self._outer is not None and not line.shell:
                line = carried_by(self._outer, line)
            if self._flags:
                line = with_flags(line, self._flags)
        except ExacellError as error:
            return self._failed(error, text)
        return self.run(line, text)

    def run(self, line: Line, text: str = "", *, execute: Callable[[Line], Result] | None = None) -> ExitCode:
        """Run a parsed line, deliver its result and return its exit code; errors are reported, not raised.

        Args:
            execute: carries the line out; the context does when it is None.

        Raises:
            SessionExit: the statement was ``exit``, the process was told to end while it changed cells, or nobody reads any
                more what is read.
        """
        began = monotonic()
        code = self._run(line, text, execute)
        if self.ctx.settings.timing == "on":
            self.console.tell(f"elapsed {monotonic() - began:.2f}s", "dim")
        if self.ctx.session.told_to_end or self._unread:
            raise SessionExit
        for said in self.ctx.services.companion(line, code):
            self.console.tell(said, "title")
        return code

    def _run(self, line: Line, text: str, execute: Callable[[Line], Result] | None) -> ExitCode:
        if not self.typed and (line.shell or line.pipe or line.redirect):
            from exacell.commands.host import pass_untyped

            try:
                line = pass_untyped(self.ctx, line, text)
            except ExacellError as error:
                return self._failed(error, text)
        if line.shell:
            return self._done(self._local(line.shell))
        newest = self._newest_change(line)
        try:
            format_name = check_format(str(line.flags.get("format") or self.ctx.settings.format))
            wants_folding(line.flags, self.ctx.settings.fold)
            if line.call is not None and line.call.command.streams:
                return self._stream(line, execute or self._execute, format_name, newest)
            if line.flags.get("diff") and format_name == "raw":
                raise StatementError("--diff compares values, and raw is the cells' own text: another format is needed")
            if line.redirect:
                _check_writable(line.redirect)
            with interruptible(self.ctx, self.console):
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
            return self._done(self._lost(error))  # It was streamed, and only read.

    def _learn(self, line: Line, answer: Result) -> None:
        """Keep the names that an answer shows, for Tab here and in shells."""
        if self.ctx.rack is not None and answer.records and line.effect is Effect.READ:
            from exacell.session.completion.learning import learn_answer  # Once all is shown.

            learn_answer(self.ctx.services.learned, line, answer)

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
        """Deliver what a line that has ended answers, and return its exit code.

        What reads and has no reader ends the program, as cat does; what it reads and can't be written is a failure. A change
        is told by its exit code, too: it stands, and what follows goes on.

        Args:
            newest: change when the line began; None when that could not be read.
            unwritten: why what it has streamed is cut off.
        """
        streamed = line.call is not None and line.call.command.streams and not (line.pipe or line.redirect)
        lost = self.console.lost if streamed else None
        try:
            folds = wants_folding(line.flags, self.ctx.settings.fold)
            self.deliver(result, format_name, pipe=pipe, redirect=redirect, folds=folds)
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
        """Tell once that standard output takes nothing more, and return what that means for the exit code."""
        if gone(error):
            self._unread = reads
            return ExitCode.DONE
        if not self._lost_told:
            self._lost_told = True
            self.console.tell(f"{self.prefix}{told(error)}", "error")
        return ExitCode.FAILED if reads else ExitCode.DONE

    def _only_reads(self, line: Line, newest: int | None) -> bool:
        """Whether all that a line that has ended did was to print."""
        if line.effect is Effect.READ or line.flags.get("dry-run"):
            return True
        keeps = line.effect is Effect.LOCAL and line.call is not None and not line.call.command.dry_runs
        if line.effect is Effect.WRITE or keeps:
            return False
        try:
            return newest == self.ctx.journal.newest_change()
        except JournalError:
            return False

    def _newest_change(self, line: Line) -> int | None:
        """Return which change is the newest when a line begins, 0 for a line that makes none; None where that can't be read."""
        try:
            return 0 if line.effect is Effect.READ else self.ctx.journal.newest_change()
        except JournalError:
            return None

    def _interrupted(self, line: Line, newest: int | None) -> str:
        """Return what is true of a statement that was interrupted twice.

        Args:
            newest: change when it began; None when that could not be read.
        """
        if line.effect is Effect.READ:
            return "interrupted: nothing was changed"
        from exacell.journal.sent import Sent, sent_since

        try:
            sent = Sent.UNDER_WAY if newest is None else sent_since(self.ctx.journal, newest)
        except JournalError:
            sent = Sent.UNDER_WAY  # For all that is known.
        if sent is Sent.NOTHING:
            # A local statement may be a recipe's run, and has its own things to leave half done.
            return "interrupted" if line.effect is Effect.LOCAL else "interrupted: nothing was sent"
        if sent is Sent.ENDED:
            return "interrupted: what was sent has ended, nothing more was started"
        return "interrupted; what was sent goes on without us"

    def _execute(self, line: Line) -> Result:
        """Carry a line out; while a reading one waits for cells, a terminal is told for which."""
        streams = line.call is not None and line.call.command.streams
        if line.effect is not Effect.READ or streams or not self.console.live or self.ctx.rack is None:
            return execute(self.ctx, line)

        at_once = self._shows_at_once(line)
        recording = Recording(self.ctx.fleet, self._show_raw if at_once else None)
        beside = self.ctx.aside(recording, same_interruption=True)
        try:
            with told_while_waiting(recording, self.console.waiting):
                result = execute(beside, line)
                return dataclasses.replace(result, raw=(), pieces=(), data=False) if at_once else result
        finally:
            self.ctx.selection.take_over(beside.selection)

    def _shows_at_once(self, line: Line) -> bool:
        """Whether the cells' own text is shown as each of them answers: on a terminal, where order means nothing."""
        form = str(line.flags.get("format") or self.ctx.settings.format)
        reads = line.cellcli is not None and not (line.pipe or line.redirect)
        return reads and form == "raw" and self.out is sys.stdout and self.out.isatty()

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
        """Run a line that writes while it goes on, into its pipe or file where it has one."""
        result, unwritten = None, None
        with interruptible(self.ctx, self.console):
            if line.pipe:
                result = self._stream_to_pipe(line, execute)
            elif line.redirect:
                try:
                    with self._opened(line.redirect) as stream, self.console.diverted(stream):
                        result = execute(line)
                except OutputError as error:
                    unwritten = error
            else:
                result = execute(line)
        if result is None:
            assert unwritten is not None
            raise unwritten
        return self._ended(line, result, format_name, newest, unwritten=unwritten)

    def _stream_to_pipe(self, line: Line, execute: Callable[[Line], Result]) -> Result:
        self.out.flush()
        with self.console.lend():
            process = subprocess.Popen(
                line.pipe, shell=True, stdin=subprocess.PIPE, stdout=_descriptor(self.out), text=True
            )
            assert process.stdin is not None
            try:
                with self.console.diverted(process.stdin):
                    return execute(line)
            except BrokenPipeError:
                return Result()  # The reader had enough, as head has.
            finally:
                with suppress(BrokenPipeError):
                    process.stdin.close()
                process.wait()

    @contextmanager
    def _opened(self, name: str) -> Iterator[TextIO]:
        """Open the file that ``>`` names, to be written.

        Raises:
            StatementError: it can't be opened.
            OutputError: it takes no more.
        """
        try:
            stream = Path(name).expanduser().open("w", encoding="utf-8")
        except OSError as error:
            raise StatementError(f"{name} can't be written: {error.strerror}") from error
        try:
            with stream:
                yield stream
        except OSError as error:
            if error.filename is not None:
                raise
            reason = (error.strerror or "it can't be written").lower()
            raise OutputError(f"{name}: {reason}; it is cut off, what was done on cells stands") from error

    def deliver(
        self, result: Result, format_name: str, *, pipe: str = "", redirect: str = "", folds: bool | None = None
    ) -> None:
        """Send the result's data where it belongs, then its notes and problems to the console.

        Args:
            folds: whether equal cells are shown once; None: on a terminal they are, in what a program reads they are not.

        Raises:
            OutputError: the file can't be written, or takes no more; once all else is told.
            OSError: standard output takes nothing more; once all else is told.
        """
        unwritten: OSError | OutputError | None = None
        to_terminal = not (pipe or redirect) and self.out.isatty()
        asked = format_name == "table" and (folds or (folds is None and to_terminal))
        unfolded = too_many_to_fold(result) if asked else ""
        whole = result if folds and not unfolded else each_cell_apart(result)
        if unfolded or folds is False:
            result = whole
        # The data and the talk go to one screen: what one of them says the other need not repeat.
        seen = format_name == "table" and to_terminal and self.console.on_terminal
        if pipe:
            self._pipe(whole, format_name, pipe)
        elif redirect:
            try:
                with self._opened(redirect) as stream:
                    render(whole, format_name, stream, header=self._header)
            except StatementError as error:
                unwritten = OutputError(f"{error.message}; what was done on cells stands")
            except OutputError as error:
                unwritten = error
        else:
            width, color = terminal_width(self.out), wants_color(self.out)
            shown = result if self.out.isatty() else whole
            shown = with_local_dates(shown) if self.console.local_dates and format_name == "table" else shown
            if not (seen and result.shown):
                try:
                    self._show(shown, format_name, width, color, explained=not seen)
                except OSError as error:
                    if error is not self.console.lost:
                        raise
                    unwritten = error
            if self.console.spooling:
                for row in lines(whole, format_name, header=self._header):
                    self.console.copy(f"{row}\n")
        anything = result.records or result.text or result.notes or result.problems
        if format_name == "table" and result.data and not anything:
            self.console.say("(none)")
        if unfolded:
            self.console.say(unfolded)
        # Who wants quiet is told why a statement failed: where no problem says so, the notes do.
        good = result.exit_code in (ExitCode.DONE, ExitCode.CHANGES, ExitCode.DRIFT)
        say = self.console.say if good or result.problems else self.console.tell
        for note in result.notes:
            say(note)
        if result.exit_code is ExitCode.NOT_EXECUTED and not (result.notes or result.problems):
            self.console.tell("nothing was executed")
        problems = [one for one in result.problems if not (seen and one in result.told)]
        for problem in brief_problems(problems) if self.console.on_terminal else problems:
            self.console.tell(problem, "error")
        if unwritten is not None:
            raise unwritten

    def _show(self, result: Result, format_name: str, width: int | None, color: bool, *, explained: bool) -> None:
        """Write a result where data goes; what ``{cell}`` means is said once below it, unless that is ``explained``."""
        masked = None
        if width is not None:
            masked = self.console.written(lambda out: self._paged(result, format_name, width, color), self.out)
        if masked is None:
            masked = self.console.written(
                lambda out: render(result, format_name, out, width=width, color=color, header=self._header), self.out
            )
        if masked and not explained and not self._explained:
            self._explained = True
            self.console.say(f"{MASK} is each cell's own name, in what you type as well")

    def _paged(self, result: Result, format_name: str, width: int, color: bool) -> bool | None:
        """Show a result that is longer than the terminal a screen at a time, and return whether ``{cell}`` is in it; None
        where it was not shown."""
        if not self.pages or self.ctx.session.told_to_end:
            return None
        from exacell.output.pager import OFF, page, wants_pager  # What programs read is never paged.

        setting = self.ctx.settings.pager
        if setting in OFF:
            return None
        found = lines(result, format_name, width=width, color=color, header=self._header)
        if isinstance(result.records, ByBlocks) or result.pieces:
            return self._paged_at_once(found, setting)
        shown = list(found)
        if not wants_pager(shown, setting, self.out):
            return None
        with self.console.lend():
            page(shown, setting, self.out)
        return any(has_own_name(row) for row in shown)

    def _paged_at_once(self, found: Iterator[str], setting: str) -> bool | None:
        """Give a pager the lines of a large answer as they are made; None where there is no program that pages."""
        from exacell.output.pager import page_by_command

        with self.console.lend():
            return False if page_by_command(found, setting, self.out) else None

    def run_file(self, path: Path, text: str = "", *, started_by: Line) -> ExitCode:
        """Run the statements of a script until one fails; SET ECHO ON prints each one first.

        Args:
            started_by: START, whose flags and ON hold for each statement that gives none of its own.

        Raises:
            SessionExit: the script said EXIT.
        """
        try:
            from exacell.session.scripts import script_at

            script = script_at(path)
        except StatementError as error:
            return self._failed(error, text)
        if self._depth >= _DEEPEST:
            return self._failed(StatementError(f"{path}: scripts start each other {_DEEPEST} deep"), text)
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
        """Run statements in order, stop behind the first that failed, and return the exit code of all together.

        Args:
            places: where each of them stands, for those of a file.

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
                    self.console.tell(f"stopped: nobody reads standard output any more: {left}")
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
        """Print an error on standard error, with the faulty part of ``text`` underlined."""
        self.console.progress(None)
        width = terminal_width(self.out)
        for number, line in enumerate(error_lines(error, text=text, prefix=self.prefix, width=width)):
            self.console.tell(line, "" if number == 1 else "error")

    def _pipe(self, result: Result, format_name: str, command: str) -> None:
        self.out.flush()
        with self.console.lend():
            process = subprocess.Popen(
                command, shell=True, stdin=subprocess.PIPE, stdout=_descriptor(self.out), text=True
            )
            assert process.stdin is not None
            try:
                with suppress(BrokenPipeError):  # The reader had enough, as head has.
                    render(result, format_name, process.stdin, header=self._header)
            finally:
                with suppress(BrokenPipeError):
                    process.stdin.close()
                process.wait()
        if process.returncode:
            self.console.say(f"{command}: exit status {process.returncode}")

    def _local(self, command: str) -> ExitCode:
        self.out.flush()
        try:
            with self.console.lend():
                status = subprocess.run(command, shell=True, stdout=_descriptor(self.out), check=False).returncode
        except KeyboardInterrupt:
            return ExitCode.INTERRUPTED
        if status:
            self.console.say(f"{command}: exit status {status}")
        return ExitCode.FAILED if status else ExitCode.DONE

    def _failed(self, error: ExacellError, text: str) -> ExitCode:
        self.report(error, text)
        return self._done(error.exit_code)

    def _done(self, code: ExitCode) -> ExitCode:
        self.codes.append(code)
        return code


def _rest(waiting: Iterator[str], statements: Iterable[str]) -> str:
    """Return how many of ``statements`` are left in ``waiting``; empty when there is none, or they come from a pipe."""
    left = sum(1 for _ in waiting) if isinstance(statements, Sequence) else 0
    return f"{left} more statement{'s were' if left > 1 else ' was'} not run" if left else ""


def _check_writable(name: str) -> None:
    """Refuse a file behind ``>`` that can't be written before anything is done for it.

    Raises:
        StatementError: a folder, a file of others, or no folder to put it in.
    """
    path = Path(name).expanduser()
    try:
        if path.is_file():
            path.open("a", encoding="utf-8").close()
        elif path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        elif not path.exists() and not os.access(path.parent, os.W_OK):
            number = errno.EACCES if path.parent.is_dir() else errno.ENOENT
            raise OSError(number, os.strerror(number))
    except OSError as error:
        raise StatementError(f"{name} can't be written: {error.strerror}") from error


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError, AttributeError):
        return None
