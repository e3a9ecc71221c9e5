"""The ``cellcli`` program of an emulated cell: options, batches, scripts and the interactive session.

Source: reference cellcli.md 1. The output for a script on standard input without ``-n -x`` (banner and bare prompts) is not
documented; it follows captures. So does the exit status: 0 whenever ``cellcli`` ran, even if its statements failed, because no
public script relies on another.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from exacell.emulator.basics.clock import banner_time
from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.profiles import DOUBLE_DASH_XML_SINCE, EFFICIENCY
from exacell.emulator.basics.program import Ask, Event, Out, Pause, Program
from exacell.emulator.basics.schema import Release
from exacell.emulator.basics.spool import NO_FILES, FileAccess, ReadFile, Spool
from exacell.emulator.cellcli import passwords
from exacell.emulator.cellcli.dispatch import READS, execute
from exacell.emulator.cellcli.help import help_text
from exacell.emulator.faults.effects import afflicted
from exacell.emulator.grammar.admin import AdminStatement
from exacell.emulator.grammar.changing import parse
from exacell.emulator.grammar.reading import Help, SetOption
from exacell.emulator.grammar.tokens import is_comment, statements_of
from exacell.emulator.state.place import Place
from exacell.emulator.state.view import RackView
from exacell.emulator.statements.printer import Format

MONITOR = "cellmonitor"
"""The login that may only read."""
PROMPT = "CellCLI> "
CONTINUATION = "> "
MAX_SCRIPTS = 16
"""How deeply scripts may call scripts."""

PORT_UNTIL = (20,)
"""Releases before this have a port option and ``-v``. Source: reference cellcli.md 1.1."""

EFFICIENCY_UNTIL = (12, 1, 2)
"""Releases before this print an efficiency line in the banner. Source: reference cellcli.md 1.2."""

_USAGE = "Usage: cellcli [-n] [-m] [-xml] [-x] [-e command]\n"


@dataclass(frozen=True, kw_only=True)
class Options:
    """The command line's options. ``commands`` is None without ``-e``."""

    commands: str | None = None
    no_prompt: bool = False
    no_banner: bool = False
    monitor: bool = False
    xml: bool = False
    json: bool = False


def parse_options(argv: Sequence[str], release: Release) -> Options | None:
    """Return the options, or None if ``release`` does not know one of them. Everything after ``-e`` is the command."""
    switches: set[str] = set()
    names = {"-n": "n", "-x": "x", "-m": "m", "-xml": "xml"}
    if release >= DOUBLE_DASH_XML_SINCE:
        names |= {"--xml": "xml", "--json": "json"}
    commands: str | None = None
    for index, word in enumerate(argv):
        if word == "-e":
            commands = " ".join(argv[index + 1 :])
            break
        if word in names:
            switches.add(names[word])
        elif not (release < PORT_UNTIL and (word.isdecimal() or word in ("-v", "-vv", "-vvv"))):
            return None
    if (commands is not None and not commands.strip()) or {"xml", "json"} <= switches:
        return None
    return Options(
        commands=commands,
        no_prompt="n" in switches,
        no_banner="x" in switches,
        monitor="m" in switches,
        xml="xml" in switches,
        json="json" in switches,
    )


def cellcli(
    rack: RackView,
    cell: str,
    login: str,
    argv: Sequence[str],
    *,
    tty: bool,
    has_stdin: bool,
    files: FileAccess = NO_FILES,
    remote: bool = False,
) -> Program:
    """Run ``cellcli`` on a cell.

    Args:
        cell: the cell's host name.
        login: the OS user: cellmonitor may only read.
        argv: the arguments, without the program's name.
        tty: input and output are a terminal: banner, prompts and line editing.
        has_stdin: standard input may have data (a pipe, a file, a terminal).
        files: opens the files of ``START``, ``@`` and ``SPOOL``.
        remote: ExaCLI runs it from another host.

    Returns:
        A program; its exit status is 0 whenever the options were right.
    """
    if rack.spec.cellcli_start > 0:
        yield Pause(rack.spec.cellcli_start, wall=True)
    options = parse_options(argv, rack.release.number)
    if options is None:
        yield Out(_USAGE)
        return 1
    spool = Spool(files.read, files.write)
    place = Place(rack, rack.cells[cell], remote)
    session = _Session(place, login, options, tty=tty, read_file=files.read, spool=spool)
    return (yield from _copied(spool, _work(session, options, ask=tty or has_stdin)))


def _work(session: _Session, options: Options, *, ask: bool) -> Program:
    if options.commands is not None:
        yield from session.batch(options.commands)
        return 0
    return (yield from session.converse(ask=ask))


def _copied(spool: Spool, program: Program) -> Program:
    """Run a program and copy its output to the spool file."""
    answer: str | None = None
    try:
        while True:
            try:
                event = program.send(answer)
            except StopIteration as end:
                return int(end.value)
            if isinstance(event, Out):
                spool.copy(event.text)
            answer = yield event
    finally:
        program.close()


class _Session:
    """One run of cellcli on one cell."""

    def __init__(
        self,
        place: Place,
        login: str,
        options: Options,
        *,
        tty: bool,
        read_file: ReadFile | None,
        spool: Spool,
    ) -> None:
        self._place = place
        self._login = login
        self._options = options
        self._tty = tty
        self._read_file = read_file
        self._spool = spool
        self._echo = False
        self._local_dates = False
        self._read_only = options.monitor or login == MONITOR

    def converse(self, *, ask: bool) -> Program:
        """Read statements from standard input until it ends or EXIT."""
        self._place.rack.advance()
        if not self._options.no_banner:
            yield Out(self._banner())
        prompts = not self._options.no_prompt
        while ask:
            line = yield from self._logical_line(prompts=prompts)
            if line is None or _is_exit(line):
                yield Out("quitting\n\n" if self._tty and line is not None else "\n" * prompts)
                break
            yield from self.batch(line, echoed=len(PROMPT) if prompts else 0)
            if prompts and line.strip():
                yield Out("\n")
        return 0

    def _logical_line(self, *, prompts: bool) -> Generator[Event, str | None, str | None]:
        """Return the next line with its continuations; None at the end of input."""
        line = yield from self._ask(PROMPT if prompts else "")
        while line is not None and line.rstrip().endswith("-") and not is_comment(line):
            following = yield from self._ask(CONTINUATION if prompts else "")
            line = line.rstrip()[:-1].rstrip() + " " + (following or "")
            if following is None:
                break
        return line

    def _ask(self, prompt: str) -> Generator[Event, str | None, str | None]:
        if prompt and not self._tty:
            yield Out(prompt)
            prompt = ""
        return (yield Ask(prompt))

    def _secret(self, prompt: str) -> Generator[Event, str | None, str | None]:
        """Ask for a password and return it; only a terminal shows the prompt."""
        return (yield Ask(prompt if self._tty else ""))

    def _banner(self) -> str:
        release, now = self._place.rack.release, self._place.rack.now()
        lines = ["", f"CellCLI: Release {release.banner} - Production on {banner_time(now)}", "", release.copyright]
        if release.number < EFFICIENCY_UNTIL:
            lines.append(f"Cell Efficiency Ratio: {EFFICIENCY}")
        return "\n".join([*lines, "", ""])

    def batch(self, text: str, *, echoed: int = 0, depth: int = 0) -> Program:
        """Run the statements of one line; each runs even if the one before it failed.

        Args:
            echoed: width of the prompt before the line on the screen, to place the caret.
            depth: how many scripts are open.
        """
        if is_comment(text):
            return 0
        for statement in statements_of(text):
            if is_comment(statement):
                continue
            self._place.rack.advance()
            try:
                place, work = self._place, self._run(statement, depth)
                yield from afflicted(place.rack, place.cell.host, statement, work, _refused)
            except CellError as error:
                if error.position is not None:
                    yield Out(" " * (echoed + error.position) + "^\n")
                elif error.code is Code.SYNTAX:
                    yield Out("\n")
                yield Out(f"{error.line}\n")
        return 0

    def _run(self, text: str, depth: int) -> Program:
        words = text.split(None, 1)
        verb, rest = words[0].upper(), words[1].strip() if len(words) > 1 else ""
        if verb.startswith("@") or verb in ("START", "STA"):
            name = text.strip()[1:].strip() if verb.startswith("@") else rest
            yield from self._script(name.strip("'\""), depth)
            return 0
        if verb in ("SPOOL", "SPO"):
            yield Out(self._spool.command(rest.rstrip("; ").split()))
            return 0
        statement = parse(text, self._place.rack.release.number)
        if self._read_only and not isinstance(statement, READS):
            monitor_only = self._login != MONITOR
            raise CellError(Code.MONITOR_MODE) if monitor_only else CellError(Code.NOT_ALLOWED, login=self._login)
        if isinstance(statement, Help):
            yield Out(help_text(statement.topic, self._place.rack.release.number))
        elif isinstance(statement, SetOption):
            self._set(statement)
        else:
            if isinstance(statement, AdminStatement) and statement.verb == "CALIBRATE" and self._login != "root":
                raise CellError(Code.NOT_ALLOWED, login=self._login)
            statement = yield from passwords.typed(statement, self._secret)
            look = Format(xml=self._options.xml, json=self._options.json, local_dates=self._local_dates)
            yield from execute(self._place, statement, look)
        return 0

    def _set(self, statement: SetOption) -> None:
        if statement.option == "ECHO":
            self._echo = statement.value == "ON"
        else:
            self._local_dates = statement.value == "LOCAL"

    def _script(self, name: str, depth: int) -> Program:
        """Run a script file: one statement a line, ``-`` continues, ECHO prints each before its output."""
        text = self._read_file(name) if self._read_file is not None and name and depth < MAX_SCRIPTS else None
        if text is None:
            raise CellError(Code.NO_FILE, name=name)
        pending = ""
        for line in text.splitlines():
            pending += line.rstrip()
            if pending.endswith("-") and not is_comment(pending):
                pending = pending[:-1].rstrip() + " "
                continue
            statement, pending = pending, ""
            if _is_exit(statement):
                break
            if self._echo and statement:
                yield Out(f"{statement}\n")
            yield from self.batch(statement, depth=depth + 1)
        return 0


def _refused(line: str) -> Program:
    yield Out(f"{line}\n")
    return 0


def _is_exit(line: str) -> bool:
    return line.strip().rstrip(";").strip().upper() in ("EXIT", "QUIT")
