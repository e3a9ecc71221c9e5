"""Make the man page, in man(7)'s language, from the registry of commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from exacell.core.errors import ExitCode
from exacell.core.version import __version__
from exacell.language.options import OPTIONS
from exacell.language.registry import COMMON_FLAGS, Command, Effect, Param

_EXIT = {
    ExitCode.DONE: "done, or nothing to do",
    ExitCode.FAILED: "some cell failed",
    ExitCode.NOT_EXECUTED: "nothing was executed: wrong usage, refused, or unreachable",
    ExitCode.CHANGES: "the plan has changes (-n --detailed-exitcode)",
    ExitCode.INTERRUPTED: "interrupted; `resume` continues",
    ExitCode.DRIFT: "drift was found",
}

_FILES = (
    ("~/.config/exacell/config.toml", "racks and settings; EXACELL_HOME is the folder for this and all other files"),
    ("~/.config/exacell/racks.d/*.toml", "one file for each rack"),
    ("~/.config/exacell/recipes/*.exa", "your own recipes"),
    ("~/.local/state/exacell", "the journal, snapshots, results of runs, history, emulated racks, crash files"),
    ("~/.cache/exacell", "names for completion, and the unpacked program where exacell is one file"),
    ("/var/tmp/exacell-CELL.lock", "who changes a rack now, for all users of this machine"),
    ("/etc/oracle/cell/network-config/cellip.ora", "the cells, if there is no configuration, on a database node"),
    ("~/cell_group", "the cells, if there is no configuration, elsewhere"),
)

_ENVIRONMENT = (
    (
        "EXACELL_RACK",
        "the rack, where neither -r nor -c nor -g names one; it comes before default_rack of the configuration",
    ),
    (
        "EXACELL_HOLD",
        "10m: keep connections for the reads of later command lines, until 10 minutes pass without one; off: keep none. It "
        "comes before hold of the rack's configuration",
    ),
    ("EXACELL_HOME", "one folder for configuration, state and cache"),
    ("XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME", "the folders above those three, where EXACELL_HOME is not set"),
    (
        "EXACELL_PROGRAM_DIR",
        "the folder that the one file unpacks itself into; without it the first that will do: the cache, /var/tmp, TMPDIR",
    ),
    ("SSH_AUTH_SOCK", "the ssh agent whose keys log in"),
    ("EXACELL_PAGER, PAGER", "what shows long answers at a terminal; less without it"),
    ("VISUAL, EDITOR", "what edit, new recipe and edit recipe open"),
    ("NO_COLOR, TERM", "no colour where NO_COLOR is set or TERM is dumb"),
    ("LANG, LC_ALL, LC_CTYPE", "whether signs outside ASCII are drawn; never sent with what exacell itself reads"),
)

EXAMPLES = (
    ("exacell demo", "try it on an emulated rack, which ends with the prompt"),
    (
        "exacell -c 'exa1cel[01-03]' -m list flashcache detail",
        "read three cells that no configuration names; -m changes nothing",
    ),
    ("exacell -r prod doctor", "check keys, ssh_config and every login, and what to type where one fails"),
    ("exacell -r lab -n resize flashcache size=288g", "show the plan of a change, and send nothing"),
    (
        "exacell -r lab -y run reset_cold size=288g",
        "a scripted benchmark reset: every cache flushed, resized and empty",
    ),
    ('exacell -r lab -o csv "list metriccurrent where name = FL_DISK_FIRST"', "data for another program"),
    (
        "exacell -r prod show health --since=yesterday",
        "for cron: what changed since the day before; exit status 0, 5 or 1",
    ),
    ("exacell -r prod resume", "continue what a kill or a lost link left"),
)
"""Examples of what to type, each with what it does; a statement of CellCLI or of exacell, with options before it."""

_EFFECT = {
    Effect.READ: "Reads.",
    Effect.LOCAL: "Changes only exacell's own state.",
    Effect.WRITE: "Changes cells or ASM: planned, confirmed, journalled, verified.",
    Effect.OPAQUE: "Sends text to be run: what exacell can't read in it needs --accept-opaque.",
}

_RUNS = "Runs other statements: their changes are planned, confirmed, journalled, verified."


def man_page(commands: Mapping[tuple[str, ...], Command], safety: str) -> str:
    """Return the whole man page.

    Args:
        safety: the text of ``help safety``.
    """
    return "\n".join(_lines(commands, safety)) + "\n"


def _lines(commands: Mapping[tuple[str, ...], Command], safety: str) -> Iterator[str]:
    yield f'.TH EXACELL 1 "" "exacell {__version__}" "User Commands"'
    yield ".ad l"
    yield ".SH NAME"
    yield r"exacell \- shell, command line and recipe runner for Exadata storage cells"
    yield ".SH SYNOPSIS"
    yield r".B exacell"
    yield r"[\fIoptions\fR] [\fIstatement\fR]"
    yield ".SH DESCRIPTION"
    yield _text(
        "Sends statements, CellCLI's and its own, to all cells of a rack. Without a statement it opens a prompt "
        "on a terminal "
        "and reads a script from standard input otherwise. Every change is planned, shown, confirmed, "
        "journalled, sent, and "
        "verified by reading back."
    )
    yield ".SH OPTIONS"
    for option in OPTIONS:
        names = ", ".join(filter(None, (f"-{option.short}" if option.short else "", f"--{option.name}")))
        value = f" \\fI{_text(option.value)}\\fR" if option.value else ""
        yield from _entry(f"\\fB{_text(names)}\\fR{value}", option.help)
    yield ".SH STATEMENTS"
    yield _text(
        "CellCLI's own (LIST, DESCRIBE, ALTER, CREATE, DROP ...) are written as on a cell and go to every "
        "selected cell; those that change something are guarded like the statements below."
    )
    groups: dict[str, list[Command]] = {}
    for found in commands.values():
        groups.setdefault(found.group, []).append(found)
    for group, found_here in groups.items():
        yield f'.SS "{_text(group[:1].upper() + group[1:])}"'
        for found in found_here:
            yield from _command(found)
    yield ".SH FLAGS OF STATEMENTS THAT CHANGE SOMETHING"
    for flag in COMMON_FLAGS:
        short = f"-{flag.short}, " if flag.short else ""
        yield from _entry(f"\\fB{_text(short + flag.shape)}\\fR", flag.help)
    yield ".SH SAFETY"
    for line in safety.strip().splitlines()[1:]:
        if line.strip():
            yield _text(line.strip())
            yield ".br"
    yield ".SH EXIT STATUS"
    for code, meaning in _EXIT.items():
        yield from _entry(f"\\fB{int(code)}\\fR", meaning)
    yield ".SH ENVIRONMENT"
    for name, meaning in _ENVIRONMENT:
        yield from _entry(f"\\fB{_text(name)}\\fR", meaning)
    yield ".SH FILES"
    for name, meaning in _FILES:
        yield from _entry(f"\\fI{_text(name)}\\fR", meaning)
    yield ".SH EXAMPLES"
    for statement, meaning in EXAMPLES:
        yield from _entry(f"\\fB{_text(statement)}\\fR", meaning)
    yield ".SH SEE ALSO"
    yield _text("exacell help, exacell help STATEMENT, exacell tutorial")


def _command(found: Command) -> Iterator[str]:
    yield ".TP"
    yield f"\\fB{_text(found.name)}\\fR {_text(found.usage[len(found.name) :].strip())}".rstrip()
    yield _text(found.summary[:1].upper() + found.summary[1:] + ".")
    if found.details:
        yield _text(found.details)
    yield _text(_RUNS if found.runs else _EFFECT[found.effect])
    rows = [*(_param(param) for param in found.params), *((flag.shape, flag.help) for flag in found.flags)]
    if rows:
        yield ".RS"
        for shape, meaning in rows:
            yield from _entry(f"\\fI{_text(shape)}\\fR", meaning)
        yield ".RE"
    yield ".IP"
    yield f"Example: \\fB{_text(found.example)}\\fR"


def _param(param: Param) -> tuple[str, str]:
    default = f" (default {param.default})" if param.default else ""
    return param.shape.strip("[]") if not param.rest else param.shape, param.help + default


def _entry(head: str, meaning: str) -> Iterator[str]:
    """Yield the lines of a list entry: its head, and its meaning below."""
    yield ".TP"
    yield head
    yield _text(meaning)


def _text(text: str) -> str:
    """Return the text, escaped so that man takes no part of it for a command."""
    safe = text.replace("\\", r"\(rs").replace("-", r"\-").replace("\u2026", "...")
    safe = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in safe)
    return re.sub(r"^(?=[.'])", r"\\&", safe, flags=re.MULTILINE)
