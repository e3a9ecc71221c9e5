"""The command line: options, one statement or a script, and the exit code. The prompt is in :mod:`exacell.repl`.

Nothing heavy is imported before it is needed, so that ``--version`` and shell completion start at once.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn, TextIO

from exacell.change.leftbehind import left_behind
from exacell.errors import ExacellError, ExitCode, StatementError
from exacell.late import put_off, without
from exacell.output.streams import let_go, lost, open_standard_streams, told

if TYPE_CHECKING:
    import threading

    from exacell.context import Context, Options
    from exacell.options import CommandLine
    from exacell.runner import Runner

_BUG = 70
"""Exit status of a mistake in exacell itself. Source: sysexits.h, EX_SOFTWARE."""


def entry() -> NoReturn:
    """Run the program and leave with its exit code."""
    gc.disable()  # Loading makes no garbage worth looking for: a tenth of the time until the first prompt.
    open_standard_streams()
    put_off()
    with without("urllib.parse", "quote_from_bytes"):
        import pathlib  # noqa: F401
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that knows no Unicode gets escapes, never a crash.
            stream.reconfigure(errors="backslashreplace")
    if sys.argv[1:2] == ["--complete"]:
        from exacell.completion.kept_commands import use_kept
        from exacell.paths import Home

        use_kept(Home.from_env().cache_dir)  # A process that only completes; never where commands are to run.
    _leave(main())


def _leave(code: int) -> NoReturn:
    """End the process at once: taking hundreds of modules apart first would cost a tenth of a short run."""
    import atexit

    threading = sys.modules.get("threading")  # Where nobody has imported it there is one thread.
    if threading is not None and any(
        not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()
    ):
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError:
            sys.exit(code)  # The usual way out says what became of the stream.
    os._exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; everything that a user can cause ends in one line on stderr.

    Args:
        argv: without the program's name; None takes the process's own.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if words[:1] == ["--complete"]:
            from exacell.completion.shells import complete

            code = complete(words[1:], sys.stdout)
        else:
            code = _main(words)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader went away: head has seen enough. Nothing more may be written at exit either.
        let_go(sys.stdout)
        return ExitCode.DONE
    except ExacellError as error:
        _say_error(error)
        return error.exit_code
    except KeyboardInterrupt:
        _say("exacell: interrupted")
        return ExitCode.INTERRUPTED
    except OSError as error:
        return _output_lost(error) if lost(error) else _bug(error)
    except Exception as error:
        return _bug(error)


def _output_lost(error: OSError) -> ExitCode:
    """Say in one line that standard output takes no more; what was buffered for it is given up."""
    let_go(sys.stdout)
    _say(f"exacell: {told(error)}")
    return ExitCode.FAILED


def _main(words: list[str]) -> int:
    from exacell.options import read_argv, usage

    line = read_argv(words)
    if "version" in line.switches:
        from exacell.version import __version__

        print(f"exacell {__version__}")
        return ExitCode.DONE
    if "help" in line.switches:
        print(usage())
        return ExitCode.DONE
    return _run(line)


_SEEN = (
    "all users of this host can read the arguments of a process, and these hold a password or a key: give such a statement "
    "at the prompt, with -f, or on standard input"
)


def _run(line: CommandLine) -> int:
    import threading

    from exacell.cellcli.secrets import holds_secret
    from exacell.opening import open_context
    from exacell.output.terminal import TerminalConsole
    from exacell.signals import SessionExit

    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = _bug_in_thread
    if line.value("format"):
        from exacell.output.render import check_format

        check_format(line.value("format"))
    console = TerminalConsole(quiet="quiet" in line.switches)
    try:
        statements = _checked(line)
    except _WrongStatement as wrong:
        _say_error(wrong.error, text=wrong.text, place=wrong.place)
        return wrong.error.exit_code
    if statements and not line.value("file") and any(holds_secret(text) for text in statements):
        console.tell(_SEEN, "warning")
    ctx = open_context(options_of(line), console)
    ctx.services.more_to_come = statements is None or len(statements) > 1
    try:
        if statements is None and _at_prompt():
            from exacell.repl.app import run

            return run(ctx, console)
        from exacell.output.result import worst
        from exacell.runner import Runner

        gc.enable()
        runner = Runner(ctx, console, flags=line.flags, header="no-header" not in line.switches)
        runner.typed = bool(line.words or line.value("execute"))
        ctx.services.run_nested = lambda text: _nested(ctx, runner, text)
        try:
            if statements is None:
                return interact(ctx, runner)
            if [text.strip().lower() for text in statements] != ["pending"]:  # Which says the same.
                for warning in left_behind(ctx):
                    console.tell(warning, "warning")
            return runner.run_statements(statements, shell=_whole_line(line))
        except SessionExit:
            return ExitCode.INTERRUPTED if ctx.session.told_to_end else worst(runner.codes)
    finally:
        ctx.services.close()


def _at_prompt() -> bool:
    """Whether somebody sits at a terminal at both ends."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty() and sys.stdout.isatty()


def options_of(line: CommandLine) -> Options:
    """Return the context's options that a command line asks for."""
    from exacell.context import Options

    return Options(
        rack=line.value("rack"),
        cells=line.value("cells"),
        group_file=line.value("group-file"),
        login=line.value("login"),
        monitor="monitor" in line.switches,
        format=line.value("format").lower(),
        ssh_config=line.value("ssh-config"),
        quiet="quiet" in line.switches,
    )


class _WrongStatement(Exception):
    """A statement that was given on the command line or in a file, and where it is wrong."""

    def __init__(self, error: ExacellError, text: str, place: str) -> None:
        super().__init__(error.message)
        self.error, self.text, self.place = error, text, place


def _checked(line: CommandLine) -> list[str] | None:
    """Return the statements of the command line, all checked by grammar before the first one runs.

    None when there are none, so that a prompt or standard input gives them.
    """
    if not (line.words or line.value("execute") or line.value("file")):
        return None
    from exacell.language.argv import argv_line
    from exacell.language.text import split_statements

    if line.value("file") and (line.words or line.value("execute")):
        raise StatementError("-f and a statement were both given: one of them is the statement")
    if line.value("execute"):
        # As for CellCLI, what follows -e belongs to it, quoted or not.
        found = split_statements(" ".join((line.value("execute"), *line.words)))
    elif line.words:
        text = argv_line(line.words)
        found = split_statements(text) if _whole_line(line) else [text]
    elif line.value("file") and line.value("file") != "-":
        return _checked_file(line.value("file"), line)
    else:
        return None
    for text in found:
        _check(text, line, "")
    return found


def _whole_line(line: CommandLine) -> bool:
    """Whether the statement was given as a line, as at the prompt, rather than as words."""
    return not line.words or bool(line.value("execute")) or any(blank in line.words[0].strip() for blank in " \t\n")


def _checked_file(name: str, line: CommandLine) -> list[str]:
    from pathlib import Path

    from exacell.scripts import script_at

    script = script_at(Path(name))
    for statement in script:
        _check(statement.text, line, f"{name}, line {statement.number}: ")
    return [statement.text for statement in script]


def _check(text: str, line: CommandLine, place: str) -> None:
    from exacell.language.given import with_flags
    from exacell.language.line import parse_line

    try:
        parsed = parse_line(text, shell=_whole_line(line))
        if parsed is not None:
            with_flags(parsed, line.flags)
    except ExacellError as error:
        raise _WrongStatement(error, text, place) from error


def interact(ctx: Context, runner: Runner) -> ExitCode:
    """Take statements from the prompt on a terminal, else from standard input until it ends; return the exit code.

    Raises:
        SessionExit: a script said EXIT.
    """
    if sys.stdin is None or sys.stdin.closed:
        return ExitCode.DONE
    if _at_prompt():
        from exacell.repl.app import run

        return run(ctx, runner.console)
    return runner.run_statements(_script_of(sys.stdin))


_SHOWPIECE = "run reset_cold -y"
"""What the demo shows when nobody gives it a statement."""


def _nested(ctx: Context, runner: Runner, text: str) -> ExitCode:
    """Run what stands behind ``demo``: a statement, the prompt, a script; the showpiece when there is none of them."""
    from exacell.language.text import split_statements

    if text:
        return runner.run_statements(split_statements(text))
    before = len(runner.codes)
    code = interact(ctx, runner)
    if _at_prompt() or len(runner.codes) > before:
        return code
    return runner.run_text(_SHOWPIECE)


def _script_of(stream: TextIO) -> Iterator[str]:
    from exacell.scripts import read_script

    for statement in read_script(iter(stream.readline, "")):
        yield statement.text


def _say_error(error: ExacellError, *, text: str = "", place: str = "") -> None:
    from exacell.output.faults import error_lines
    from exacell.output.style import paint, terminal_width, wants_color, wrapped

    width, color = terminal_width(sys.stderr), wants_color(sys.stderr)
    said, *below = error_lines(error, text=text, prefix=f"exacell: {place}", width=width)
    for line in wrapped(said, width):
        _say(paint(line, "error", color=color))
    for line in below:
        _say(line if line.strip(" ^") else paint(line, "error", color=color))


def _say(line: str) -> None:
    """Print a line on standard error, which may be a terminal that was closed."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        let_go(sys.stderr)


def _bug_in_thread(said: threading.ExceptHookArgs) -> None:
    """Say it of a mistake that ended a thread, or what a thread did for one connection; everything else goes on."""
    if said.exc_value is not None and said.exc_type is not SystemExit:
        _bug(said.exc_value)


def _bug(error: BaseException) -> int:
    """Say in one line that exacell itself is wrong, and keep the traceback in a file."""
    import tempfile
    import time
    import traceback
    from pathlib import Path

    from exacell.cellcli.secrets import masked
    from exacell.paths import Home, ensure_dir, replace_file

    name = time.strftime("crash-%Y%m%d-%H%M%S.txt")
    trace = masked("".join(traceback.format_exception(error)))
    try:
        path = ensure_dir(Home.from_env().state_dir) / name
        replace_file(path, trace)
    except OSError:
        descriptor, fallback = tempfile.mkstemp(prefix="exacell-", suffix=".txt", text=True)
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(trace)
        path = Path(fallback)
    _say(f"exacell: a mistake in exacell itself: {type(error).__name__}: {masked(str(error))}; details in {path}")
    return _BUG
