"""The session itself: which rack, which cells, which mode, settings; and CellCLI's client-side statements."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from exacell.cellset import fold
from exacell.config import FORMATS, Settings, load
from exacell.errors import ConfigError, StatementError
from exacell.language.registry import Call, Effect, Kind, Param, command
from exacell.output.apart import FOLDING
from exacell.output.result import Column, Result
from exacell.reach import AUTO, TRANSPORTS, transport_name
from exacell.signals import ScriptRequested, SessionExit
from exacell.units import counted
from exacell.wherecells import use_cells

if TYPE_CHECKING:
    from exacell.context import Context

GROUP = "session"

_OF_CONNECTIONS = ("timeout", "connect_timeout", "max_answer", "fanout", "transport")
"""Settings that a transport is made with: changing one opens the connections anew."""

_SETTINGS = tuple(field.name for field in fields(Settings))

_SETTABLE = tuple(name for name in _SETTINGS if name != "format")
"""What the plain ``set`` changes; ``set format`` is a statement of its own, as ``set mode`` is."""

_USUAL_VALUES = {
    "timeout": ("30s", "60s", "5m"),
    "write_timeout": ("2m", "15m", "2h"),
    "connect_timeout": ("5s", "15s"),
    "max_answer": ("500m", "2g", "10g"),
    "fanout": ("8", "32", "64"),
    "fold": FOLDING,
    "pager": ("on", "off", "less -FRX"),
    "editing_mode": ("emacs", "vi"),
    "timing": ("on", "off"),
    "patience": ("4s", "30s"),
}


@runtime_checkable
class SessionConsole(Protocol):
    """What a surface's console knows besides talk: CellCLI's ECHO, DATEFORMAT and SPOOL."""

    echo: bool
    local_dates: bool

    def spool(self, path: Path | None, *, append: bool = False) -> None:
        """Write a copy of all data to ``path`` from now on; None ends that."""

    @property
    def spooling(self) -> Path | None:
        """The file that gets a copy, None when there is none."""


def _console(ctx: Context, statement: str) -> SessionConsole:
    if isinstance(ctx.console, SessionConsole):
        return ctx.console
    raise StatementError(f"{statement} means something only at the prompt, on the command line and in scripts")


@command(
    "connect",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="make a rack the one that statements go to",
    details="Connections open on first use and stay open. A production rack starts read-only.",
    example="connect t1",
    params=(Param(name="rack", kind=Kind.RACK, positional=True, required=True, help="a rack of the configuration"),),
    recipe_ok=False,
)
def connect(ctx: Context, call: Call) -> Result:
    """Connect and say to what."""
    rack = ctx.connect(call.text_arg("rack"))
    ctx.services.warm()
    nodes = f", database nodes {fold(rack.dbnodes)}" if rack.dbnodes else ""
    mode = "read-only" if ctx.read_only else "read-write"
    return Result(notes=(f"rack {rack.name}: {counted(len(rack.cells), 'cell')} {fold(rack.cells)}{nodes}; {mode}",))


@command(
    "use",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="select the cells that statements go to",
    details="A set such as exa1cel[01-02], a,b, a!b, @group, or the end of one cell's name; @down are the cells that gave no "
    "answer when they were last asked, @failed those and the ones on which the newest change is not complete, @up and @ok "
    "the others; +set adds, not set takes away, @all ends it. where flashCacheMode=writeback takes the cells for which "
    "that holds now, where griddisk.status=inactive those that have such an object. For one statement only: on <cells> "
    "<statement>, on (where …) <statement>.",
    example="use exa1cel[01-02]",
    params=(Param(name="cells", kind=Kind.CELLSET, positional=True, required=True, rest=True, help="a set of cells"),),
    recipe_ok=False,
)
def use(ctx: Context, call: Call) -> Result:
    """Select cells and say which."""
    chosen = use_cells(ctx, call.text_arg("cells"))
    return Result(notes=(f"using {len(chosen)} of {len(ctx.need_rack().cells)} cells: {chosen}",))


@command(
    "cells",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="the rack's cells, and which of them are in use",
    details="Asks no cell; show versions or list cell do.",
    example="cells",
)
def cells(ctx: Context, call: Call) -> Result:
    """Return one record per cell of the rack."""
    rack, chosen = ctx.need_rack(), ctx.selected()
    records = [
        {
            "cell": cell,
            "inUse": cell in chosen,
            "groups": tuple(g for g, members in rack.groups.items() if cell in members),
        }
        for cell in rack.cells
    ]
    return Result(
        records=records, columns=(Column("cell"), Column("inUse", "bool"), Column("groups")), fold=True, data=True
    )


@command(
    "racks",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="the racks of the configuration",
    details="-o json tells as source which file each is written in.",
    example="racks",
)
def racks(ctx: Context, call: Call) -> Result:
    """Return one record per rack that is configured, and the current one when it was found otherwise."""
    known = dict(load(ctx.home, ctx.env).racks)
    if ctx.rack is not None:
        known.setdefault(ctx.rack.name, ctx.rack)
    records = [
        {
            "cell": None, "name": rack.name, "current": ctx.rack is not None and rack.name == ctx.rack.name,
            "cells": ",".join(rack.cells), "count": len(rack.cells), "dbnodes": ",".join(rack.dbnodes),
            "production": rack.production, "emulated": rack.emulated, "source": rack.source,
        }
        for rack in known.values()
    ]  # fmt: skip
    # Where each is written, a path, would make the table too wide for most terminals: -o json has it.
    columns = (
        Column("name"), Column("current"), Column("cells", "cells"), Column("dbnodes", "cells"), Column("production"),
        Column("emulated"),
    )  # fmt: skip
    notes = (
        () if records else ("no rack is configured: 'emulator start t1' makes one, help docs config.example shows how",)
    )
    return Result(records=records, columns=columns, fold=True, data=True, notes=notes)


@command(
    "set mode",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="read-only or read-write; enforced below every statement",
    details="rw on a production rack asks for the rack's name. After ro dcli changes nothing on hosts of other racks either.",
    example="set mode ro",
    params=(
        Param(
            name="mode", kind=Kind.CHOICE, choices=("ro", "rw"), positional=True, required=True, help="ro or rw"
        ),
    ),
    recipe_ok=False,
)  # fmt: skip
def set_mode(ctx: Context, call: Call) -> Result:
    """Switch the mode and say which it is now."""
    ctx.set_mode(read_only=call.text_arg("mode") == "ro")
    return Result(notes=("read-only" if ctx.read_only else "read-write",))


@command(
    "set format",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="how answers are shown",
    example="set format json",
    params=(
        Param(name="format", kind=Kind.CHOICE, choices=FORMATS, positional=True, required=True, help="of answers"),
    ),
    recipe_ok=False,
)  # fmt: skip
def set_format(ctx: Context, call: Call) -> Result:
    """Change the output format of the session."""
    ctx.session.settings = ctx.settings.with_value("format", call.text_arg("format"))
    return Result()


@command(
    "set transport",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="how the rack is reached: over exacell's own SSH, the system's ssh, dcli, exacli or ClusterShell",
    details="auto is what the rack's configuration says, else ssh. Each can do different things: show transports lists "
    "them, and what one cannot do is refused before anything is asked or sent. help docs transports tells when to use which.",
    example="set transport openssh",
    params=(
        Param(
            name="transport", kind=Kind.CHOICE, choices=(AUTO, *TRANSPORTS), positional=True, required=True,
            help="of statements to come",
        ),
    ),
    recipe_ok=False,
)  # fmt: skip
def set_transport(ctx: Context, call: Call) -> Result:
    """Change the transport of the session; connections open anew on the next statement."""
    from exacell.transport.capabilities import capabilities_of

    before = ctx.settings
    ctx.session.settings = ctx.settings.with_value("transport", call.text_arg("transport"))
    ctx.services.close()
    if ctx.rack is None:
        return Result(notes=(f"transport is {ctx.settings.transport}",))
    try:
        able = capabilities_of(ctx.transport)
    except ConfigError:
        ctx.session.settings = before
        raise
    beside = "" if able.nodes or not ctx.rack.asm else "; ASM's database nodes are asked over ssh beside it"
    return Result(notes=(f"transport is {able.name}: {able.fan_out}{beside}",))


@command(
    "show transports",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="the ways to reach a rack and what each can do",
    example="show transports",
)
def show_transports(ctx: Context, call: Call) -> Result:
    """Return one record per transport; ``inUse`` marks the current rack's."""
    from exacell.transport.capabilities import CLUSH, DCLI, EXACLI, OPENSSH, SSH

    used = transport_name(ctx.rack.reach, ctx.settings.transport) if ctx.rack is not None else ""
    records = [
        {
            "cell": None, "name": able.name, "inUse": able.name == used, "programs": able.programs,
            "dbnodes": able.nodes, "input": able.stdin, "live": able.streaming, "copies": able.uploads,
            "kept": able.keeps, "fanOut": able.fan_out,
        }
        for able in (SSH, OPENSSH, DCLI, EXACLI, CLUSH)
    ]  # fmt: skip
    return Result(records=records, columns=tuple(Column(name) for name in records[0] if name != "cell"), data=True)


@command(
    "set",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="change a setting for this session",
    details="timeout (of a command that reads), write_timeout (of one changing statement) and connect_timeout take "
    "seconds or 90s, 5m; max_answer is how large one cell's answer may be; fanout is the number of cells worked on at a time; "
    "editing_mode is emacs or vi; timing on says how long each statement took; patience is how long the prompt waits for "
    "slow cells before it comes back; fold is on, off or auto: whether equal cells share a row of a table, auto on a "
    "terminal alone; pager is on, off, or a command for what is "
    "longer than the screen. "
    "The configuration file keeps settings for good.",
    example="set timeout 90s",
    params=(
        Param(
            name="name", kind=Kind.CHOICE, choices=_SETTABLE, positional=True, required=True, help="of the setting"
        ),
        Param(
            name="value", kind=Kind.TEXT, positional=True, required=True, help="its new value", values_by=_USUAL_VALUES
        ),
    ),
    recipe_ok=False,
)  # fmt: skip
def set_value(ctx: Context, call: Call) -> Result:
    """Change one setting and say what it is now."""
    name = call.text_arg("name")
    ctx.session.settings = ctx.settings.with_value(name, call.text_arg("value"))
    if name in _OF_CONNECTIONS:
        ctx.services.close()
    return Result(notes=(f"{name} is {getattr(ctx.settings, name)}",))


@command(
    "set echo",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="CellCLI's: print each statement of a script before its answer",
    example="set echo on",
    params=(
        Param(name="echo", kind=Kind.CHOICE, choices=("on", "off"), positional=True, required=True, help="on or off"),
    ),
    recipe_ok=False,
)  # fmt: skip
def set_echo(ctx: Context, call: Call) -> Result:
    """Switch echoing of scripts."""
    _console(ctx, "SET ECHO").echo = call.text_arg("echo") == "on"
    return Result()


@command(
    "set dateformat",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="CellCLI's: how times are shown in tables",
    details="standard is ISO 8601 with the cell's zone; local is this host's form and zone. Other formats than table "
    "keep ISO 8601.",
    example="set dateformat standard",
    params=(
        Param(
            name="form", kind=Kind.CHOICE, choices=("standard", "local"), positional=True, required=True,
            help="standard or local",
        ),
    ),
    recipe_ok=False,
)  # fmt: skip
def set_dateformat(ctx: Context, call: Call) -> Result:
    """Switch the form of times."""
    _console(ctx, "SET DATEFORMAT").local_dates = call.text_arg("form") == "local"
    return Result()


@command(
    "show settings",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="the settings that set can change, and their values now",
    example="show settings",
)
def show_settings(ctx: Context, call: Call) -> Result:
    """Return one record per setting."""
    records = [{"cell": None, "name": name, "value": getattr(ctx.settings, name)} for name in _SETTINGS]
    records.append({"cell": None, "name": "mode", "value": "ro" if ctx.read_only else "rw"})
    if isinstance(ctx.console, SessionConsole):
        records.append({"cell": None, "name": "echo", "value": "on" if ctx.console.echo else "off"})
        form = "local" if ctx.console.local_dates else "standard"
        records.append({"cell": None, "name": "dateformat", "value": form})
    return Result(records=records, columns=(Column("name"), Column("value")), data=True)


@command(
    "refresh",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="forget what was learned about the rack, open its connections anew and learn again",
    details="At the prompt names, values and metric descriptions are learned in the background and kept on disk; they are "
    "read again when they are older than an hour.",
    example="refresh",
    recipe_ok=False,
)
def refresh(ctx: Context, call: Call) -> Result:
    """Drop connections and learned names; the configuration is read again."""
    if ctx.rack is None:
        return Result(notes=("no rack is connected",))
    used = ctx.selected()
    everything = len(used) == len(ctx.rack.cells)
    age = ctx.services.learned.age()
    ctx.services.learned.forget()
    try:
        rack = ctx.connect(ctx.rack.name)
    except ConfigError:
        # A rack that -c, cellip.ora or a group file described is in no configuration: only its connections are renewed.
        ctx.services.close()
        rack = ctx.need_rack()
    if not everything:
        use_cells(ctx, str(used))
    ctx.services.warm()
    forgotten = f"; names learned {age} are forgotten" if age else ""
    return Result(notes=(f"rack {rack.name}: connections are opened anew{forgotten}",))


def leave(ctx: Context, call: Call) -> Result:
    """Tell the surface to end.

    Raises:
        SessionExit: always.
    """
    raise SessionExit


for _name in ("exit", "quit"):
    command(_name, group=GROUP, effect=Effect.LOCAL, summary="leave", example=_name, recipe_ok=False)(leave)


@command(
    "start",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="CellCLI's: run the statements of a script file (= @path/file)",
    details="One statement a line; a last - continues it. It stops behind the first statement that fails. Flags and "
    "ON hold for each of its statements: -y answers yes, -n only plans.",
    example="start check.scl",
    params=(Param(name="file", kind=Kind.FILE, positional=True, required=True, help="a file of statements"),),
    recipe_ok=False,
    runs=True,
)
def start(ctx: Context, call: Call) -> Result:
    """Hand the file to the surface, which runs it."""
    path = Path(call.text_arg("file")).expanduser()
    if not path.is_file() and not path.suffix and path.with_suffix(".scl").is_file():
        path = path.with_suffix(".scl")
    raise ScriptRequested(path)


@command(
    "spool",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="CellCLI's: write a copy of all answers to a file; spool off ends it, spool alone tells",
    details="An existing file is replaced; create refuses that, append adds to it.",
    example="spool answers.txt append",
    params=(
        Param(name="file", kind=Kind.FILE, positional=True, words=("off",), help="the file, or off"),
        Param(
            name="how", kind=Kind.CHOICE, choices=("create", "replace", "append", "cre", "rep", "app"),
            positional=True, default="replace", help="what to do with an existing file",
        ),
    ),
    recipe_ok=False,
)  # fmt: skip
def spool(ctx: Context, call: Call) -> Result:
    """Begin or end a copy."""
    console = _console(ctx, "SPOOL")
    name, how = call.text_arg("file"), call.text_arg("how")[:3]
    if not name:
        return Result(notes=(f"spooling to {console.spooling}" if console.spooling else "not spooling",))
    if name.lower() == "off":
        console.spool(None)
        return Result()
    path = Path(name).expanduser()
    if how == "cre" and path.exists():
        raise StatementError(f"{name} exists: spool {name} append adds to it, replace overwrites it")
    try:
        console.spool(path, append=how == "app")
    except OSError as error:
        raise StatementError(f"{name} can't be written: {error.strerror}") from error
    return Result()
