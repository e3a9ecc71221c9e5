"""Read the command line: ``exacell [options] [statement…] [options]``. Pure: argv in, a frozen value out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from exacell.core.errors import StatementError
from exacell.core.formats import FORMATS
from exacell.core.values import dataclass, field
from exacell.language.words import takes_all_words


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option: ``short`` and ``long`` without hyphens; ``value`` is the name of its argument (empty: none)."""

    name: str
    short: str = ""
    value: str = ""
    help: str


OPTIONS: tuple[Option, ...] = (
    Option(name="rack", short="r", value="RACK", help="which rack; a,b: several racks, only to read"),
    Option(name="cells", short="c", value="CELLS", help="which cells: exa1cel[01-14], a,b, a!b, @group"),
    Option(name="group-file", short="g", value="FILE", help="a file with one cell on each line, as for dcli"),
    Option(name="login", short="l", value="USER", help="log in to the cells as USER"),
    Option(name="monitor", short="m", help="only read: refuse every change"),
    Option(name="dry-run", short="n", help="show the plan only"),
    Option(name="yes", short="y", help="answer yes; never accepts loss of data"),
    Option(name="format", short="o", value="FORMAT", help=" ".join(FORMATS)),
    Option(name="execute", short="e", value="STATEMENTS", help='run "statement; statement"'),
    Option(name="file", short="f", value="FILE", help="run the statements of FILE (- is standard input)"),
    Option(name="ssh-config", value="FILE", help="use this file, not ~/.ssh/config"),
    Option(name="no-header", help="tables and csv without titles"),
    Option(name="quiet", short="q", help="no notes on standard error, only problems"),
    Option(name="version", short="V", help="show the version"),
    Option(name="help", short="h", help="this page; more: 'exacell help STATEMENT'"),
)
"""Every option, in the order of ``--help``."""

_BY_SHORT = {option.short: option for option in OPTIONS if option.short}
_BY_LONG = {option.name: option for option in OPTIONS}

_STATEMENT_FLAGS = ("dry-run", "yes")
"""Options that are flags of every statement of the command line, wherever they are."""

_OF_STATEMENTS = ("dry-run", "yes", "version", "help")
"""Options that belong to the statement if they come after its first word: two flags, and the requests for help."""


@dataclass(frozen=True, kw_only=True)
class CommandLine:
    """The parsed command line.

    Attributes:
        values: option name (long) → its value; ``execute`` may hold several statements, joined with ``;``.
        switches: long names of the given options that have no value.
        flags: flags for every statement: ``-y``, ``-n`` and long options that exacell itself does not have; None without value.
        words: the words of the statement.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    switches: frozenset[str] = frozenset()
    flags: Mapping[str, str | None] = field(default_factory=dict)
    words: tuple[str, ...] = ()

    def value(self, name: str) -> str:
        """Return an option's value; empty if it was not given."""
        return self.values.get(name, "")

    @property
    def has_statements(self) -> bool:
        """Return whether the command line has statements (words, -e or a file); otherwise a prompt or standard input gives
        them.
        """
        return bool(self.words or self.value("execute") or self.value("file"))


def read_argv(argv: Sequence[str]) -> CommandLine:
    """Return the parsed ``argv`` (without the program's name).

    Options may come before or after the statement, up to ``--``. After ``dcli``, ``sh``, ``host``, ``alias`` and ``!`` all
    words belong to that command. The value of an option is the next word, or follows directly (``-rt1``) or after ``=``
    (``--rack=t1``).

    Raises:
        StatementError: an option is unknown or lacks its value, or -e comes after a statement.
    """
    reader = _Reader(list(argv))
    reader.take_before()
    words = reader.take_after()
    return CommandLine(
        values=reader.values, switches=frozenset(reader.switches), flags=reader.flags, words=tuple(words)
    )


class _Reader:
    """Takes the options out of the command line; ``rest`` holds the words that are left."""

    def __init__(self, rest: list[str]) -> None:
        self.rest = rest
        self.values: dict[str, str] = {}
        self.switches: set[str] = set()
        self.flags: dict[str, str | None] = {}
        self._ended = False

    def take_before(self) -> None:
        """Take the options before the statement."""
        while self.rest and self.rest[0].startswith("-") and self.rest[0] != "-":
            word = self.rest.pop(0)
            if word == "--":
                self._ended = True
                return
            self._take(word)

    def take_after(self) -> list[str]:
        """Return the statement's words, and take the options among and after them."""
        given = self.values.get("execute", "")
        if self._ended or takes_all_words(" ".join([given, *self.rest] if given else self.rest)):
            return self.rest
        words: list[str] = []
        if self.rest[:1] == ["cellcli"]:  # Options between cellcli and its -e belong to CellCLI.
            while self.rest and (self.rest[0] == "cellcli" or self.rest[0].startswith("-")):
                words.append(self.rest.pop(0))
                if words[-1] == "-e":
                    break
        while self.rest:
            word = self.rest.pop(0)
            if word == "--":
                return words + self.rest
            if not is_option(word):
                words.append(word)
                continue
            if _short(word) == "e" or word.partition("=")[0] == "--execute":
                raise StatementError("-e and a statement can't be given together: leave one out")
            self._take(word)
        return words

    def _take(self, word: str) -> None:
        """Take the options in one word; their values may be the next words."""
        for option, value in _split(word, self.rest, self.flags):
            if option.name in _STATEMENT_FLAGS:
                self.flags[option.name] = None
            elif not option.value:
                self.switches.add(option.name)
            elif not value.strip():
                # An empty shell variable must not mean all cells or the default rack.
                raise StatementError(f"{word} needs a value, not an empty one: {word} {option.value}")
            elif option.name == "execute" and "execute" in self.values:
                self.values["execute"] += "; " + value
            else:
                self.values[option.name] = value


def _short(word: str) -> str:
    return word[1:2] if word.startswith("-") and not word.startswith("--") else ""


def is_option(word: str) -> bool:
    """Return whether a word after the statement's first one is an option, not a word of the statement."""
    short = _BY_SHORT.get(_short(word))
    if short is not None:
        # -y and -n are flags of the statement; -yo csv is an option after one of them.
        return short.name not in _OF_STATEMENTS or (short.name in _STATEMENT_FLAGS and len(word) > 2)
    option = _BY_LONG.get(word[2:].partition("=")[0]) if word.startswith("--") else None
    return option is not None and option.name not in (*_OF_STATEMENTS, "format")  # Each statement has --format, too.


def _split(word: str, rest: list[str], flags: dict[str, str | None]) -> Iterator[tuple[Option, str]]:
    """Yield (option, value) for each option in one word; a missing value is taken from ``rest``."""
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
        option = _BY_LONG.get(name)
        if option is None:
            # It may be a flag of the following statement; the statement's grammar decides.
            flags[name] = value if equals else _next_of_flag(name, rest)
        elif option.value:
            yield option, value if equals else _next(word, option, rest)
        elif equals:
            raise StatementError(f"--{name} takes no value", hint=f"give --{name} without a value")
        else:
            yield option, ""
        return
    for place, letter in enumerate(word[1:], start=1):
        option = _BY_SHORT.get(letter)
        if option is None:
            raise StatementError(f"'-{letter}' is not an option", hint="exacell --help lists them")
        if option.value:
            value = word[place + 1 :].removeprefix("=")
            yield option, value or _next(f"-{letter}", option, rest)
            return
        yield option, ""


def _next(word: str, option: Option, rest: list[str]) -> str:
    if not rest:
        raise StatementError(f"{word} needs a value: {word} {option.value}")
    return rest.pop(0)


def _next_of_flag(name: str, rest: list[str]) -> str | None:
    """Return the next word if it is the value of a flag that every changing statement takes; None for any other flag."""
    from exacell.language.registry import COMMON_FLAGS

    takes = any(flag.name == name and flag.value is not None and not flag.optional for flag in COMMON_FLAGS)
    return rest.pop(0) if takes and rest else None


def usage() -> str:
    """Return the page of ``--help``: options and groups of statements, on one screen of 80 by 24."""
    from exacell.language.registry import commands

    lines = ["usage: exacell [options] [statement] [options]     (none: a prompt, or stdin)"]
    for option in OPTIONS:
        if option.name not in ("version", "help"):
            short = f"-{option.short}, " if option.short else "    "
            name = f"{short}--{option.name}" + (f" {option.value}" if option.value else "")
            lines.append(f"  {name:<24} {option.help}")
    verbs = {words[0] for words in commands()}
    lists = {f"{verb}s" for verb in verbs} & verbs  # plans lists what plan makes,
    opposites = {f"un{verb}" for verb in verbs} & verbs  # and unlock ends what lock begins.
    names = [
        ("[un]" if f"un{verb}" in opposites else "") + verb + ("[s]" if f"{verb}s" in lists else "")
        for verb in sorted(verbs - lists - opposites)
    ]
    from textwrap import wrap  # Only --help needs it.

    lines += wrap("exacell's: " + " ".join(names), 79, break_on_hyphens=False)
    lines.append("CellCLI: list describe alter create drop ... as on a cell, sent to all cells")
    lines.append("try: exacell demo     more: exacell help [WORD]     -h, --help   -V, --version")
    return "\n".join(lines)
