"""The one registry of exacell's own commands.

Each command is declared once, as a value in a module of ``exacell/commands/declared/``: name, parameters, flags, what it
changes, help, an example, and which function carries it out. These modules import only the types of declarations, so that
parsing, completing or explaining a line does not load the code that carries commands out. The argv parser, the prompt's
completer, ``help``, the recipe checker, the man page and the files in ``completions/`` are derived from here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache, cached_property
from typing import Any, overload

from exacell.core.formats import FORMATS
from exacell.core.values import dataclass, field

Value = str | int | float | bool | tuple[str, ...] | None
Handler = Callable[..., Any]
"""The function that carries a command out; its arguments and result are defined in higher layers."""


class Effect(StrEnum):
    """What a command may change."""

    READ = "read"
    """Nothing; it may ask cells."""
    LOCAL = "local"
    """Only exacell's own state: settings, snapshots, emulated racks."""
    WRITE = "write"
    """Cells or ASM: planned, confirmed, journalled, verified."""
    OPAQUE = "opaque"
    """It carries text that exacell can't read: refused or accepted by name."""


class Kind(StrEnum):
    """The kind of a parameter's value; it decides how the value is parsed and, by default, completed."""

    TEXT = "text"
    NAME = "name"
    SIZE = "size"
    INT = "int"
    NUMBER = "number"
    DURATION = "duration"
    BOOL = "bool"
    CHOICE = "choice"
    CELLSET = "cellset"
    CELL = "cell"
    DB = "db"
    DIRECTIVE = "directive"
    DISKGROUP = "diskgroup"
    PREFIX = "prefix"
    RACK = "rack"
    RECIPE = "recipe"
    RUN = "run"
    SNAPSHOT = "snapshot"
    MEASURED = "measured"
    METRIC = "metric"
    GRIDDISK = "griddisk"
    CELLDISK = "celldisk"
    PHYSICALDISK = "physicaldisk"
    LUN = "lun"
    ALERT = "alert"
    PLAN = "plan"
    BASELINE = "baseline"
    CHANGE = "change"
    ASM = "asm"
    IORM = "iorm"
    SETTING = "setting"
    ALIAS = "alias"
    FILE = "file"
    KEPT = "kept"
    NAMES = "names"
    STATEMENT = "statement"
    FACT = "fact"
    UNTIL = "until"
    LIST = "list"
    COMMAND = "command"


TIMES = ("today", "yesterday", "1h", "12h", "7d")
"""Examples of a time in the past."""


class NamesOf(Sequence[str]):
    """The names in a table of a higher layer, which is imported when they are first needed.

    Args:
        table: the table, a mapping with names as keys, as ``module:name``.
    """

    def __init__(self, table: str) -> None:
        self._table = table

    @cached_property
    def _names(self) -> tuple[str, ...]:
        module, _, name = self._table.partition(":")
        return tuple(getattr(importlib.import_module(module), name))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamesOf) and self._table == other._table

    def __hash__(self) -> int:
        return hash(self._table)

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._names[index]


@dataclass(frozen=True, kw_only=True)
class Param:
    """One parameter of a command.

    Attributes:
        name: as written in ``name=value``; positional ones are named in messages only.
        kind: how the value is read.
        help: a phrase; units and limits in it.
        positional: given as a bare word at its place instead of as ``name=value``.
        rest: takes all remaining words unchanged (``sql asm "…"``, ``dcli …``); only the last parameter may.
        many: takes all remaining bare words; its value is a tuple. Only the last positional parameter may.
        choices: the allowed words of a CHOICE (one that ends in a colon may be followed by any text); for NAMES, words to offer.
            :class:`NamesOf` takes them from a table.
        words: words accepted besides the kind, such as ``keep`` or ``all``.
        values_by: word before this parameter → values to offer.
        examples: values to offer among many others.
        default: the value when it is not given; shown in help. None with ``required=False`` means absent.
    """

    name: str
    kind: Kind = Kind.TEXT
    help: str
    required: bool = False
    positional: bool = False
    rest: bool = False
    many: bool = False
    choices: Sequence[str] = ()
    words: tuple[str, ...] = ()
    values_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    examples: tuple[str, ...] = ()
    default: str | None = None

    @property
    def shape(self) -> str:
        """Return the parameter as help and usage lines write it: ``size=<size>``, ``[media=flash|hard]``, ``NAME``."""
        values = "|".join((*self.choices, *self.words)) if self.choices or self.words else ""
        if self.kind is not Kind.CHOICE:
            values = f"<{self.kind}>" + (f"|{values}" if values else "")
        text = (
            (self.name.upper() if not values or self.kind is not Kind.CHOICE else values)
            if self.positional
            else (f"{self.name}={values}")
        )
        if self.rest or self.many:
            text += " …"
        return text if self.required else f"[{text}]"


@dataclass(frozen=True, kw_only=True)
class Flag:
    """A ``--flag`` or ``--flag=value`` of a statement.

    Attributes:
        value: the kind of its value; None if it takes no value.
        optional: whether the value may be left out; a value must then be attached with ``=``.
        choices, words, examples: values, as for a Param.
    """

    name: str
    help: str
    value: Kind | None = None
    short: str = ""
    optional: bool = False
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def shape(self) -> str:
        """Return the flag as help and usage lines write it: ``--rolling[=<int>]``, ``--on-error=stop|continue``."""
        if self.value is None:
            return f"--{self.name}"
        words = "|".join((*self.choices, *self.words))
        value = words if self.choices else f"<{self.value}>" + (f"|{words}" if words else "")
        return f"--{self.name}[={value}]" if self.optional else f"--{self.name}={value}"

    def param(self, kind: Kind) -> Param:
        """Return a parameter that reads the flag's value."""
        return Param(
            name="--" + self.name,
            kind=kind,
            help=self.help,
            choices=self.choices,
            words=self.words,
            examples=self.examples,
        )


COMMON_FLAGS: tuple[Flag, ...] = (
    Flag(name="yes", short="y", help="answer yes to the plan; never accepts loss of data"),
    Flag(name="dry-run", short="n", help="show the plan, send nothing"),
    Flag(name="detailed-exitcode", help="with -n: exit 3 when the plan has changes, 0 when it has none"),
    Flag(
        name="accept-data-loss",
        value=Kind.NAMES,
        help="accept the data loss that the plan shows: give the names of cells, disk groups or grid disks in it",
    ),
    Flag(name="reason", value=Kind.TEXT, help="the reason, for the journal"),
    Flag(name="ticket", value=Kind.TEXT, help="the ticket of the change, for the journal"),
    Flag(
        name="confirm-within",
        value=Kind.DURATION,
        examples=("10m", "30m", "1h"),
        help="undo the change after this time unless somebody types `confirm`; refused if it can't be undone",
    ),
    Flag(
        name="rolling",
        value=Kind.INT,
        optional=True,
        help="so many cells at a time (default 1), with a gate before each wave",
    ),
    Flag(name="no-rolling", help="all cells together, also on a production rack; refused if disks go offline"),
    Flag(name="canary", value=Kind.CELL, help="this cell first and alone, then a gate, then the others"),
    Flag(
        name="pause",
        value=Kind.DURATION,
        words=("ask",),
        help="between two waves: wait this long, or ask whether to continue",
    ),
    Flag(
        name="not-after",
        value=Kind.TEXT,
        help="for rolling changes: start no wave after this time (05:00, '2026-11-25 05:00'); `resume` does the rest",
    ),
    Flag(
        name="on-error",
        value=Kind.CHOICE,
        choices=("stop", "continue"),
        help="when a step of a wave failed: start no further wave (stop, the default), or continue",
    ),
    Flag(
        name="timeout",
        value=Kind.DURATION,
        help="for a change: how long to wait for a gate to open (2h); for reads: how long to wait for each cell",
    ),
    Flag(name="format", short="o", value=Kind.NAME, choices=FORMATS, help="output format for this statement"),
    Flag(name="fold", help="equal cells share one row, also when the output is not a terminal"),
    Flag(name="no-fold", help="each cell has its own rows, also on a terminal"),
    Flag(name="diff", help="for reads: show only what differs between cells"),
)


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command as declared.

    Attributes:
        name: the words that select it, lower case: ``flush flashcache``.
        open_keys: any ``key=value`` is accepted besides ``params`` (recipe parameters, disk group attributes).
        offers: the open keys that completion offers; their values are not checked.
        options: for a command that parses its words itself, the options before its other words; completion offers them.
        recipe_ok: whether it is allowed in a recipe.
        streams: whether it writes while it runs; it may use the whole terminal.
        endless: whether it runs until the user ends it.
        runs: whether it runs other statements, which may change cells even if its own effect is READ or LOCAL.
        asks: whether it may ask cells or hosts; False for a read of what exacell itself has kept.
        hosts: whether ON may also name hosts that are not cells.
        needs_hosts: whether it is for hosts only, so that ON is required.
        on_after: whether ON may also follow its name; none of its own words can then be ``on``.
        dry_runs: whether -n carries it out; False for a command that stores, replaces or waits: for such a command -n only
            shows its name.
        handler: the function that carries it out, as ``module:function``; see :func:`handler_of`.
    """

    name: str
    group: str
    effect: Effect
    summary: str
    details: str = ""
    example: str
    params: tuple[Param, ...] = ()
    flags: tuple[Flag, ...] = ()
    open_keys: bool = False
    offers: tuple[Param, ...] = ()
    options: tuple[Flag, ...] = ()
    recipe_ok: bool = True
    streams: bool = False
    endless: bool = False
    runs: bool = False
    asks: bool = True
    hosts: bool = False
    needs_hosts: bool = False
    on_after: bool = False
    dry_runs: bool = True
    handler: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Return the words of the name: ``("flush", "flashcache")``."""
        return tuple(self.name.split())

    @property
    def usage(self) -> str:
        """Return the command's usage in one line; a parameter that takes all remaining words comes last."""
        parts = [self.name, *(["[on <cells>]"] if self.on_after else [])]
        parts += [p.shape for p in self.params if p.positional and not p.rest]
        parts += [p.shape for p in self.params if not p.positional]
        if self.open_keys:
            parts.append("[key=value …]")
        if not self.options:  # Otherwise its words are its own, and exacell's flags come before its name.
            parts += [f"[{flag.shape}]" for flag in self.flags]
        return " ".join([*parts, *(p.shape for p in self.params if p.rest)])

    @property
    def takes_flags(self) -> bool:
        """Return whether flags may be among its words; otherwise its last parameter takes all remaining words, including
        flags.
        """
        last = self.params[-1] if self.params else None
        return last is None or not last.rest or last.kind not in (Kind.STATEMENT, Kind.COMMAND)

    @property
    def may_change(self) -> bool:
        """Return whether it may change cells or ASM, itself or through the statements that it runs."""
        return self.runs or self.effect in (Effect.WRITE, Effect.OPAQUE)

    def param(self, name: str) -> Param | None:
        """Return the parameter of that name (upper and lower case are equal); None if there is none."""
        return next((p for p in self.params if p.name.lower() == name.lower()), None)

    @property
    def positionals(self) -> tuple[Param, ...]:
        """Return the positional parameters, in order."""
        return tuple(p for p in self.params if p.positional)


@dataclass(frozen=True, kw_only=True)
class Call:
    """A command with its checked arguments, ready to run.

    Attributes:
        args: a value for every parameter that was given or has a default, by parameter name.
        extra: for commands with open keys, the keys that are not parameters, with their values; both as written.
        flags: by flag name; True for flags without a value.
        text: the statement as the user wrote it.
    """

    command: Command
    args: Mapping[str, Value] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, Value] = field(default_factory=dict)
    text: str = ""

    def text_arg(self, name: str, default: str = "") -> str:
        """Return a text argument; ``default`` if it was not given."""
        value = self.args.get(name)
        return default if value is None else str(value)

    def own_format(self, asked: str) -> str:
        """Return the format that a command with its own formats writes: the one given with the statement, which is nearer, else
        the one asked for in front of all statements (``exacell -o csv …``) if the command has it, else its default.
        """
        param, given = self.command.param("format"), self.text_arg("format")
        if given or param is None:
            return given
        return asked if asked in param.choices else str(param.default or "")

    def texts_arg(self, name: str) -> tuple[str, ...]:
        """Return the texts of an argument that takes many words; empty if it was not given."""
        value = self.args.get(name)
        return tuple(map(str, value)) if isinstance(value, tuple) else ()

    def int_arg(self, name: str) -> int | None:
        """Return a size (bytes) or int argument; None if it was not given or is one of the parameter's extra words."""
        value = self.args.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def float_arg(self, name: str, default: float) -> float:
        """Return a number or duration argument (seconds); ``default`` if it was not given."""
        value = self.args.get(name)
        return float(value) if isinstance(value, (int, float)) else default

    def flag(self, name: str) -> bool:
        """Return whether a flag without a value was given."""
        return bool(self.flags.get(name))

    def flag_text(self, name: str) -> str:
        """Return a flag's value as text; empty if it was not given."""
        value = self.flags.get(name)
        return "" if value is None or isinstance(value, bool) else str(value)


MODULES = (
    "session",
    "cells",
    "flashcache",
    "memorycache",
    "contents",
    "griddisk",
    "diskgroup",
    "iorm",
    "care",
    "carework",
    "metrics",
    "metricvalues",
    "measuring",
    "experiments",
    "importing",
    "comparing",
    "watching",
    "journal",
    "change",
    "drift",
    "recipes",
    "keeping",
    "recipefiles",
    "emulator",
    "dcli",
    "opaque",
    "host",
    "hosts",
    "hostsettings",
    "hostfacts",
    "hold",
    "fetching",
    "doctor",
    "help",
    "tutorial",
)
"""The modules under exacell.commands.declared, in the order in which help lists their groups."""


_ADOPTED: dict[tuple[str, ...], Command] = {}
"""Commands taken from a stored list; empty if they are imported."""


def adopt(ready: Iterable[Command]) -> None:
    """Use commands from a stored list instead of importing their modules; for processes that only complete words."""
    _ADOPTED.update({found.words: found for found in ready})


def commands() -> Mapping[tuple[str, ...], Command]:
    """Return all commands by their words, importing their declarations on first use."""
    return _ADOPTED or _declared()


@cache
def _declared() -> Mapping[tuple[str, ...], Command]:
    """Return the commands of all modules, in their order.

    Raises:
        ValueError: two commands have the same words; a mistake of the programmer.
    """
    found: dict[tuple[str, ...], Command] = {}
    for module in MODULES:
        for command in importlib.import_module(f"exacell.commands.declared.{module}").COMMANDS:
            if command.words in found:
                raise ValueError(f"command '{command.name}' is declared twice")
            found[command.words] = command
    return found


def handler_of(command: Command) -> Handler:
    """Return the function that carries a command out; its module is imported.

    The function takes the arguments that :func:`wanted_by` names, returns the result, and raises ExacellError for every error
    that a user can cause.
    """
    module, _, name = command.handler.partition(":")
    handler: Handler = getattr(importlib.import_module(module), name)
    return handler


def wanted_by(handler: Handler) -> tuple[str, ...]:
    """Return the names of a handler's parameters: those of ``session``, ``services``, ``request`` and ``call`` that it needs."""
    code = handler.__code__
    return code.co_varnames[: code.co_argcount]
