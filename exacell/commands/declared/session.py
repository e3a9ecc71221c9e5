"""Declarations of the commands that :mod:`exacell.commands.session` carries out."""

from __future__ import annotations

from dataclasses import fields

from exacell.core.config import AUTO, TRANSPORTS, Settings
from exacell.core.formats import FOLDING, FORMATS
from exacell.language.registry import Command, Effect, Kind, Param

GROUP = "session"

SETTINGS = tuple(field.name for field in fields(Settings))

_SETTABLE = tuple(name for name in SETTINGS if name != "format")
"""Settings of the plain ``set``; ``set format`` is a separate statement, like ``set mode``."""

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

HISTORY_SHOWN = 30

COMMANDS = (
    Command(
        name="connect",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="choose the rack that statements go to",
        details="Connections open on first use and stay open. A production rack starts read-only.",
        example="connect t1",
        params=(
            Param(name="rack", kind=Kind.RACK, positional=True, required=True, help="a rack of the configuration"),
        ),
        recipe_ok=False,
        handler="exacell.commands.session:connect",
    ),
    Command(
        name="use",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="select the cells that statements go to",
        details="A set is exa1cel[01-02], a,b, a!b, @group, or the end of one cell's name. @down are the cells that "
        "did not answer when they were last asked; @failed are those and the cells on which the newest change is "
        "not complete; @up and @ok are the others. +set adds cells, not set takes cells away, @all selects all. "
        "where flashCacheMode=writeback selects cells on which this is true now, where "
        "griddisk.status=inactive those that have such an object. For one statement only: on <cells> <statement>, "
        "on (where …) <statement>.",
        example="use exa1cel[01-02]",
        params=(
            Param(name="cells", kind=Kind.CELLSET, positional=True, required=True, rest=True, help="a set of cells"),
        ),
        recipe_ok=False,
        handler="exacell.commands.session:use",
    ),
    Command(
        name="cells",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="the rack's cells, and which of them are in use",
        details="Only lists names; show versions and list cell ask the cells.",
        example="cells",
        handler="exacell.commands.session:cells",
    ),
    Command(
        name="racks",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="the racks of the configuration",
        details="In -o json, source is the file in which a rack is written.",
        example="racks",
        handler="exacell.commands.session:racks",
    ),
    Command(
        name="set mode",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="read-only or read-write; enforced below every statement",
        details="On a production rack rw asks for the rack's name. On another rack it asks for that name too, once "
        "a cell or host there is known to belong to the production rack. After ro dcli changes nothing on hosts of "
        "other racks either.",
        example="set mode ro",
        params=(
            Param(name="mode", kind=Kind.CHOICE, choices=("ro", "rw"), positional=True, required=True, help="ro or rw"),
        ),
        recipe_ok=False,
        handler="exacell.commands.session:set_mode",
    ),
    Command(
        name="set format",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="how answers are shown",
        example="set format json",
        params=(
            Param(name="format", kind=Kind.CHOICE, choices=FORMATS, positional=True, required=True, help="of answers"),
        ),
        recipe_ok=False,
        handler="exacell.commands.session:set_format",
    ),
    Command(
        name="set transport",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="how the rack is reached: over exacell's own SSH, the system's ssh, dcli, exacli or ClusterShell",
        details="auto takes the way from the rack's configuration, else ssh. show transports lists what each way "
        "can do; what it can't do is refused before you are asked and before anything is sent. help docs transports "
        "explains when to use which.",
        example="set transport openssh",
        params=(
            Param(
                name="transport",
                kind=Kind.CHOICE,
                choices=(AUTO, *TRANSPORTS),
                positional=True,
                required=True,
                help="how the next statements reach the rack",
            ),
        ),
        recipe_ok=False,
        handler="exacell.commands.session:set_transport",
    ),
    Command(
        name="show transports",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="the ways to reach a rack and what each can do",
        example="show transports",
        handler="exacell.commands.session:show_transports",
    ),
    Command(
        name="set",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="change a setting for this session",
        details="timeout (for a command that reads), write_timeout (for one changing statement) and connect_timeout "
        "take seconds or 90s, 5m. max_answer is the largest answer of one cell. fanout is the number of cells asked "
        "at a time. editing_mode is emacs or vi. timing on shows how long each statement took. patience is how long "
        "the prompt waits for slow cells before it comes back. fold is on, off or auto: whether equal cells share a "
        "row of a table; auto means only on a terminal. pager is on, off, or a command for output longer than the "
        "screen: in a file of statements, with -m and on production only one that "
        "exacell reads as a filter. To keep a setting, write it into the configuration file.",
        example="set timeout 90s",
        params=(
            Param(
                name="name", kind=Kind.CHOICE, choices=_SETTABLE, positional=True, required=True, help="of the setting"
            ),
            Param(
                name="value",
                kind=Kind.TEXT,
                positional=True,
                required=True,
                help="its new value",
                values_by=_USUAL_VALUES,
            ),
        ),
        recipe_ok=False,
        handler="exacell.commands.session:set_value",
    ),
    Command(
        name="set echo",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="CellCLI's: print each statement of a script before its answer",
        example="set echo on",
        params=(
            Param(
                name="echo", kind=Kind.CHOICE, choices=("on", "off"), positional=True, required=True, help="on or off"
            ),
        ),
        recipe_ok=False,
        handler="exacell.commands.session:set_echo",
    ),
    Command(
        name="set dateformat",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="CellCLI's: how times are shown in tables",
        details="standard is ISO 8601 with the cell's zone; local is this host's form and zone. Formats other than "
        "table keep ISO 8601.",
        example="set dateformat standard",
        params=(
            Param(
                name="form",
                kind=Kind.CHOICE,
                choices=("standard", "local"),
                positional=True,
                required=True,
                help="standard or local",
            ),
        ),
        recipe_ok=False,
        handler="exacell.commands.session:set_dateformat",
    ),
    Command(
        name="show settings",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="the settings that set can change, and their values now",
        example="show settings",
        handler="exacell.commands.session:show_settings",
    ),
    Command(
        name="why",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="the last refusal or error in full: every reason, and everything that can be typed instead",
        details="At the prompt a refusal takes at most three lines. why shows what did not fit.",
        example="why",
        recipe_ok=False,
        handler="exacell.commands.session:why",
    ),
    Command(
        name="refresh",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="forget what was learned about the rack, open new connections and learn again",
        details="At the prompt names, values and metric descriptions are learned in the background and kept on "
        "disk; after an hour they are read again. On a production rack all hosts are asked for their identity, so "
        "that exacell knows them under any name.",
        example="refresh",
        recipe_ok=False,
        handler="exacell.commands.session:refresh",
    ),
    *(
        Command(
            name=name,
            group=GROUP,
            effect=Effect.LOCAL,
            summary="leave",
            example=name,
            recipe_ok=False,
            handler="exacell.commands.session:leave",
        )
        for name in ("exit", "quit")
    ),
    Command(
        name="start",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="CellCLI's: run the statements of a script file (= @path/file)",
        details="One statement a line; a - at the end of a line continues it. It stops after the first statement "
        "that fails. Flags and ON count for each statement: -y answers yes, -n only plans.",
        example="start check.scl",
        params=(Param(name="file", kind=Kind.FILE, positional=True, required=True, help="a file of statements"),),
        recipe_ok=False,
        runs=True,
        handler="exacell.commands.session:start",
    ),
    Command(
        name="spool",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="CellCLI's: write a copy of all answers to a file; spool off ends it, spool alone shows the file",
        details="An existing file is replaced. create refuses to replace it; append adds to it.",
        example="spool answers.txt append",
        params=(
            Param(name="file", kind=Kind.FILE, positional=True, words=("off",), help="the file, or off"),
            Param(
                name="how",
                kind=Kind.CHOICE,
                choices=("create", "replace", "append", "cre", "rep", "app"),
                positional=True,
                default="replace",
                help="what to do with an existing file",
            ),
        ),
        recipe_ok=False,
        handler="exacell.commands.session:spool",
    ),
    Command(
        name="history",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="the statements entered at the prompt, oldest first",
        details="Those typed on this rack, and without a rack; rack=NAME shows another rack's, rack=all all of "
        "them. Kept on disk, readable by you alone; statements with passwords or keys are not kept.",
        example="history last=10",
        params=(
            Param(name="last", kind=Kind.INT, default=str(HISTORY_SHOWN), help="how many"),
            Param(name="rack", kind=Kind.RACK, words=("all",), help="where they were entered"),
            Param(name="word", kind=Kind.TEXT, positional=True, help="only those that contain it"),
        ),
        recipe_ok=False,
        handler="exacell.commands.session:history",
    ),
    Command(
        name="alias",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="a short word for a statement at the prompt; alias alone lists them",
        details="$1 to $9 are the words after the alias, ${1:-word} has a default, $* is all of them; other words "
        "are added at the end. The definition takes the whole line, also ';' and '|'. Aliases work at the prompt "
        "only, not in scripts and recipes.",
        example="alias fd list griddisk attributes name,size where name like ${1:-.*}",
        params=(
            Param(name="definition", kind=Kind.COMMAND, positional=True, rest=True, help="a name and its statement"),
        ),
        recipe_ok=False,
        handler="exacell.commands.session:alias",
    ),
    Command(
        name="unalias",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="remove an alias",
        example="unalias fd",
        params=(Param(name="name", kind=Kind.ALIAS, positional=True, required=True, help="of the alias"),),
        recipe_ok=False,
        handler="exacell.commands.session:unalias",
    ),
    Command(
        name="edit",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="write a statement in $EDITOR: the last one, or the one of that number in history",
        details="The text that you save appears at the next prompt, where Enter runs it. Ctrl-X Ctrl-E (v in vi's "
        "navigation mode) does the same with the line that you are typing.",
        example="edit 12",
        params=(Param(name="number", kind=Kind.INT, positional=True, help="as history shows it"),),
        recipe_ok=False,
        handler="exacell.commands.session:edit",
    ),
)
