"""Deliver the answers of statements: data to standard output, a pipe or a file, through a pager if longer than the screen;
notes and problems to the console."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from exacell.cellcli.fold import has_own_name
from exacell.cellcli.rows import ByBlocks
from exacell.core.errors import ExitCode, OutputError, StatementError
from exacell.core.localshell import need_shell
from exacell.output.folding import MASK, brief_problems, each_cell_apart, too_many_to_fold
from exacell.output.render import lines, render, with_local_dates
from exacell.output.result import GOOD, Result, answered
from exacell.output.style import terminal_width, wants_color
from exacell.output.terminal import TerminalConsole

if TYPE_CHECKING:
    from subprocess import Popen


class Delivery:
    """The destination of one surface's answers.

    Args:
        console: gets messages and errors.
        out: gets the data; None means standard output.
        header: whether tables begin with titles.
        pager: returns the value of ``set pager``.
        anew: returns whether the file after ``>`` must be a new one.
    """

    def __init__(
        self,
        console: TerminalConsole,
        out: TextIO | None,
        *,
        header: bool,
        pager: Callable[[], str],
        anew: Callable[[], bool] = bool,
    ) -> None:
        self.console = console
        self.out = out if out is not None else sys.stdout
        self.header = console.header = header
        self.pages = True
        """Whether text longer than the screen goes through a pager."""
        self._pager = pager
        self.anew = anew
        self._explained = False
        """Whether this session has explained the placeholder for a cell's own name."""

    def deliver(
        self, result: Result, format_name: str, *, pipe: str = "", redirect: str = "", folds: bool | None = None
    ) -> None:
        """Send the result's data where it belongs, then its notes and problems to the console.

        Args:
            folds: whether equal cells are shown once; None means only on a terminal.

        Raises:
            OutputError: the file can't be written, or not completely; raised after all other output.
            OSError: standard output can't be written any more; raised after all other output.
        """
        unwritten: OSError | OutputError | None = None
        to_terminal = not (pipe or redirect) and self.out.isatty()
        asked = format_name == "table" and (folds or (folds is None and to_terminal))
        unfolded = too_many_to_fold(result) if asked else ""
        whole = result if folds and not unfolded else each_cell_apart(result)
        if unfolded or folds is False:
            result = whole
        # Data and messages go to the same screen, so that neither repeats the other.
        seen = format_name == "table" and not (pipe or redirect) and self.one_screen()
        if pipe:
            with self.piped(pipe) as process:
                assert process.stdin is not None
                render(whole, format_name, process.stdin, header=self.header)
            if process.returncode:
                self.console.say(f"{pipe}: exit status {process.returncode}")
        elif redirect:
            unwritten = self._write(whole, format_name, redirect)
        else:
            unwritten = self._to_out(result, whole, format_name, seen)
        self._talk(result, format_name, unfolded, seen)
        if unwritten is not None:
            raise unwritten

    def _write(self, whole: Result, format_name: str, redirect: str) -> OutputError | None:
        """Write a result into a file, unless it is only a failure; return the error if not all could be written."""
        if not answered(whole):
            return None
        from exacell.output.tofile import opened  # Few statements write a file.

        try:
            with opened(redirect, anew=self.anew()) as target:
                render(whole, format_name, target.stream, header=self.header)
        except StatementError as error:
            return OutputError(f"{error.message}; changes on cells are not affected")
        except OutputError as error:
            return error
        return None

    def _to_out(self, result: Result, whole: Result, format_name: str, seen: bool) -> OSError | None:
        """Show a result on standard output and copy it into the spool; return the error if it can't be written any more."""
        unwritten: OSError | None = None
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
            for row in lines(whole, format_name, header=self.header):
                self.console.copy(f"{row}\n")
        return unwritten

    def _talk(self, result: Result, format_name: str, unfolded: str, seen: bool) -> None:
        """Show a result's messages: "(none)" if it has no data, then its notes and problems."""
        anything = result.records or result.text or result.raw or result.notes or result.problems
        if format_name == "table" and result.data and not anything:
            self.console.say("(none)")
        if unfolded:
            self.console.say(unfolded)
        # With --quiet the reason for a failure is still shown: the problems, or the notes if there are no problems.
        good = result.exit_code in GOOD
        say = self.console.say if good or result.problems else self.console.tell
        for note in result.notes:
            say(note)
        if result.exit_code is ExitCode.NOT_EXECUTED and not (result.notes or result.problems):
            self.console.tell("nothing was executed")
        problems = [one for one in result.problems if not (seen and one in result.told)]
        for problem in brief_problems(problems) if self.console.on_terminal else problems:
            self.console.tell(problem, "error")

    def one_screen(self) -> bool:
        """Return whether data and messages go to the same terminal."""
        return self.out.isatty() and self.console.on_terminal

    def show_at_once(self, result: Result, *, folds: bool | None) -> None:
        """Show a part of an answer at once, without a pager, so that the rest is not delayed.

        If standard output can't be written any more, that is reported at the end of the answer.
        """
        if result.problems and not (result.records or result.text or result.raw):
            return
        self.console.progress(None)
        pages, self.pages = self.pages, False
        try:
            self.deliver(replace(result, notes=(), problems=(), exit_code=ExitCode.DONE), "table", folds=folds)
        except OSError as error:
            if error is not self.console.lost:
                raise
        finally:
            self.pages = pages

    def _show(self, result: Result, format_name: str, width: int | None, color: bool, *, explained: bool) -> None:
        """Write a result to standard output; unless ``explained``, one message after it explains ``{cell}``."""
        masked = None
        if width is not None:
            masked = self.console.written(lambda out: self._paged(result, format_name, width, color), self.out)
        if masked is None:
            masked = self.console.written(
                lambda out: render(result, format_name, out, width=width, color=color, header=self.header), self.out
            )
        if masked and not explained and not self._explained:
            self._explained = True
            self.console.say(
                f"{MASK} stands for each cell's own name; you can type it, too: `list griddisk DATA_CD_00_{MASK}`"
            )

    def _paged(self, result: Result, format_name: str, width: int, color: bool) -> bool | None:
        """Show a result that is longer than the terminal in a pager, and return whether ``{cell}`` is in it; None if it was not
        shown."""
        from exacell.output.pager import OFF, page, wants_pager  # Output for programs never goes through a pager.

        setting = self._pager()
        if not self.pages or setting in OFF:
            return None
        found = lines(result, format_name, width=width, color=color, header=self.header)
        if isinstance(result.records, ByBlocks) or result.pieces:  # A large answer reaches the pager while it is made.
            with self.console.lent():
                return False if page(found, setting, self.out) else None
        shown = list(found)
        if not wants_pager(shown, setting, self.out):
            return None
        with self.console.lent():
            return any(has_own_name(row) for row in shown) if page(shown, setting, self.out) else None

    @contextmanager
    def piped(self, command: str) -> Iterator[Popen[str]]:
        """Start a command of the local shell to write to, and wait for its end; it may stop reading early, as head does.

        Raises:
            RefusedError: this machine has no shell.
        """
        import subprocess  # Only for | and !.

        need_shell(f"| {command}")
        with self._lent():
            # If no programs may be started, less must not start any either. Source: less(1), SECURITY.
            env = {**os.environ, "LESSSECURE": "1"} if self.anew() else None
            process = subprocess.Popen(
                command, shell=True, stdin=subprocess.PIPE, stdout=_descriptor(self.out), text=True, env=env
            )
            assert process.stdin is not None
            try:
                with suppress(BrokenPipeError):
                    yield process
            finally:
                with suppress(BrokenPipeError):
                    process.stdin.close()
                process.wait()

    def local(self, command: str) -> ExitCode:
        """Run a command of the local shell on the terminal; return DONE, FAILED or INTERRUPTED.

        Raises:
            RefusedError: this machine has no shell.
        """
        import subprocess

        need_shell(command)
        try:
            with self._lent():
                status = subprocess.run(command, shell=True, stdout=_descriptor(self.out), check=False).returncode
        except KeyboardInterrupt:
            return ExitCode.INTERRUPTED
        if status:
            self.console.say(f"{command}: exit status {status}")
        return ExitCode.FAILED if status else ExitCode.DONE

    @contextmanager
    def _lent(self) -> Iterator[None]:
        """Let another program write to standard output."""
        self.out.flush()
        with self.console.lent():
            yield


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError, AttributeError):
        return None
