"""SQL*Plus's own commands, one function each, and the table that finds them by their abbreviations.

A command gets the line without its semicolon; it returns an exit status if the program must end, else None.
"""

from __future__ import annotations

from collections.abc import Callable

from exacell.emulator.basics.ora_messages import ora, sp2
from exacell.emulator.basics.program import Out
from exacell.emulator.basics.versions import banner
from exacell.emulator.sql.binds import UndeclaredError
from exacell.emulator.sql.values import Kind
from exacell.emulator.sqlplus.asking import accept, define
from exacell.emulator.sqlplus.columns import change_column
from exacell.emulator.sqlplus.format import render
from exacell.emulator.sqlplus.report import parse_breaks, parse_compute
from exacell.emulator.sqlplus.settings import set_options, split_words
from exacell.emulator.sqlplus.show import show
from exacell.emulator.sqlplus.state import SqlPlusState, Step, first_word, rest_of, stack_text

Command = Callable[[SqlPlusState, str], Step]


_MAX_SCRIPTS = 20
"""How deeply scripts may call scripts. Source: SQL*Plus User's Guide, SP2-0309."""


def find_command(text: str) -> Command | None:
    """Return the command with which a line begins; None if there is none."""
    word = first_word(text)
    if text.startswith("@"):
        return run_script
    if text.startswith("!") or word in ("HOST", "HO"):
        return _nothing
    return next((run for name, least, run in _COMMANDS if name.startswith(word) and len(word) >= least), None)


def _nothing(state: SqlPlusState, _: str) -> Step:
    """Do nothing: such a command changes only the look of a report, or waits for a person."""
    yield from ()
    return None


def numbered(text: str) -> str:
    """Return the lines of the buffer with their numbers; an asterisk marks the current line, which is the last one."""
    lines = text.split("\n")
    return "".join(f"{n:3d}{'*' if n == len(lines) else ' '} {row}\n" for n, row in enumerate(lines, 1))


def _list_buffer(state: SqlPlusState, _: str) -> Step:
    """Carry out LIST: print the lines of the buffer."""
    yield Out(numbered(state.buffer) if state.buffer else sp2(26) + "\n")
    return None


def _set(state: SqlPlusState, text: str) -> Step:
    complaints = set_options(state.settings, rest_of(text), state.asm.version)
    name = state.settings.others.get("APPINFO", "OFF")
    if state.session is not None and state.session.user is not None and name.upper() not in ("ON", "OFF"):
        state.session.user.module = name
    yield Out("".join(f"{line}\n" for line in complaints))
    return None


def _prompt(state: SqlPlusState, text: str) -> Step:
    yield Out(rest_of(text) + "\n")
    return None


def _exit(state: SqlPlusState, text: str) -> Step:
    yield from ()
    words = split_words(rest_of(text))
    if words and words[-1].upper() == "ROLLBACK" and state.session is not None:
        state.session.execute("ROLLBACK")
    return state.exit_status(words)


def _whenever(state: SqlPlusState, text: str) -> Step:
    words = split_words(rest_of(text))
    upper = [word.upper() for word in words]
    if len(words) < 2 or upper[0] not in ("SQLERROR", "OSERROR") or upper[1] not in ("EXIT", "CONTINUE"):
        yield Out(sp2(735, "WHENEVER", " ".join(words)[:10]) + "\n")
        return None
    reaction = state.on_sql_error if upper[0] == "SQLERROR" else state.on_os_error
    reaction.exit_words = words[2:] if upper[1] == "EXIT" else None
    return None


def run_script(state: SqlPlusState, text: str) -> Step:
    """Run a script: its lines are read before further input; the words after its name are &1, &2, …"""
    words = split_words(text.lstrip("@") if text.startswith("@") else rest_of(text))
    name = words[0] if words else ""
    name = name if "." in name.rpartition("/")[2] else f"{name}.{state.settings.suffix}"
    beside = text.startswith("@@") and state.folders and not name.startswith("/")
    if beside and state.read_file is not None and state.read_file(state.folders[-1] + name) is not None:
        name = state.folders[-1] + name
    found = state.read_file(name) if state.read_file is not None and words else None
    if found is None or len(state.scripts) >= _MAX_SCRIPTS:
        yield Out((sp2(310, name) if found is None else sp2(309, _MAX_SCRIPTS)) + "\n")
        return state.react(state.on_os_error)
    state.variables |= {str(number): word for number, word in enumerate(words[1:], start=1)}
    state.scripts.append(iter(found.splitlines()))
    state.folders.append(name.rpartition("/")[0] + "/" if "/" in name else "")
    return None


def _connect_command(state: SqlPlusState, text: str) -> Step:
    error = state.connect(rest_of(text))
    if error is not None:
        yield Out(f"ERROR:\n{stack_text(error)}\n\n\nWarning: You are no longer connected to ORACLE.\n")
        state.last_code = error.code
        return state.react(state.on_sql_error)
    yield Out("Connected to an idle instance.\n" if state.idle else "Connected.\n")
    return None


def _disconnect(state: SqlPlusState, _: str) -> Step:
    if not state.silent:
        yield Out(f"Disconnected from {banner(state.asm.version)}\n")
    state.leave(commit=True)
    state.session, state.idle = None, False
    return None


def _execute_command(state: SqlPlusState, text: str) -> Step:
    return (yield from state.run(f"begin {rest_of(text)}; end;"))


def _variable(state: SqlPlusState, text: str) -> Step:
    rest = rest_of(text)
    if not rest:
        yield Out(state.binds.listed() or sp2(568) + "\n")
    elif not state.binds.declare(rest):
        yield Out("Usage: VAR[IABLE] [ <variable> [ NUMBER | CHAR (n) | VARCHAR2 (n) | CLOB ] [ = value ] ]\n")
    return None


def _print(state: SqlPlusState, text: str) -> Step:
    names = [name.strip(",") for name in rest_of(text).split()] or list(state.binds.types)
    for name in names:
        try:
            relation = state.binds.relation(name)
        except UndeclaredError as undeclared:
            yield Out(sp2(552, undeclared) + "\n")
            return None
        shown = render(relation, state.settings, state.columns, state.date_format)
        yield Out(shown + ("\n" if state.settings.pagesize else ""))
    return None


def _undefine(state: SqlPlusState, text: str) -> Step:
    for name in rest_of(text).upper().split():
        if state.variables.pop(name, None) is None:
            yield Out(sp2(135, name.lower()) + "\n")
    return None


def _archive(state: SqlPlusState, text: str) -> Step:
    """Carry out ARCHIVE LOG LIST."""
    if rest_of(text).upper().split() != ["LOG", "LIST"]:
        yield Out(sp2(718) + "\n")
        return None
    if state.session is None:
        yield Out(sp2(640) + "\n")
        return None
    database, node = state.session.instance.database, state.session.instance.node
    if database is None:
        yield Out(f"{ora(15000)}\n")
        return None
    own = [group for group in database.redo if group.thread == node + 1 and group.status != "UNUSED"]
    oldest, current = (pick(group.sequence for group in own) if own else 0 for pick in (min, max))
    yield Out(
        "Database log mode\t       Archive Mode\nAutomatic archival\t       Enabled\n"
        "Archive destination\t       USE_DB_RECOVERY_FILE_DEST\n"
        f"Oldest online log sequence     {oldest}\nNext log sequence to archive   {current}\n"
        f"Current log sequence\t       {current}\n"
    )
    return None


def _startup(state: SqlPlusState, _: str) -> Step:
    """Carry out STARTUP: instances run as long as their node does."""
    if state.session is None and not state.idle:
        yield Out(sp2(640) + "\n")
    else:
        yield Out(f"{ora(1031) if state.idle else ora(1081)}\n")
    return None


def _shutdown(state: SqlPlusState, _: str) -> Step:
    """Refuse SHUTDOWN; on ASM with its own code while databases are its clients."""
    if state.session is None:
        yield Out(sp2(640) + "\n")
    else:
        yield Out(f"{ora(15097) if state.session.instance.database is None else ora(1031)}\n")
    return None


def _help(_: SqlPlusState, text: str) -> Step:
    """Carry out HELP: print the names of the commands, or that the named command exists."""
    wanted = rest_of(text).upper()
    names = [name for name, _least, _run in _COMMANDS if name.startswith(wanted)]
    if not names:
        yield Out(sp2(172) + "\n")
    else:
        yield Out("".join(f" {name}\n" for name in names) + "\n")
    return None


def _clear(state: SqlPlusState, text: str) -> Step:
    word = first_word(rest_of(text))
    stores: dict[str, tuple[int, Callable[[], None]]] = {
        "BREAKS": (3, state.report.breaks.clear),
        "BUFFER": (4, lambda: None),
        "COLUMNS": (3, state.columns.clear),
        "COMPUTES": (4, state.report.computed.clear),
        "SCREEN": (3, lambda: None),
        "SQL": (3, lambda: None),
        "TIMING": (4, lambda: None),
    }
    for name, (least, clear) in stores.items():
        if word and name.startswith(word) and len(word) >= least:
            clear()
            quiet = name in ("SCREEN", "TIMING") or not state.settings.feedback
            yield Out("" if quiet else f"{name.lower()} cleared\n")
            if name in ("BUFFER", "SQL"):
                state.buffer = ""
    return None


def _spool(state: SqlPlusState, text: str) -> Step:
    yield Out(state.spool.command(split_words(rest_of(text))))
    return None


def _break(state: SqlPlusState, text: str) -> Step:
    words = split_words(rest_of(text))
    if not words:
        actions = [f"{b.name.lower()} {'page' if b.page else f'skip {b.skip}'} nodup" for b in state.report.breaks]
        yield Out("".join(f"break on {action}\n" for action in actions) or "no break(s) defined\n")
        return None
    breaks = parse_breaks(words)
    if isinstance(breaks, str):
        yield Out(sp2(158, "BREAK", breaks.lower()) + "\n")
        return None
    state.report.breaks[:] = breaks
    return None


def _compute(state: SqlPlusState, text: str) -> Step:
    words = split_words(rest_of(text))
    found = parse_compute(words) if words else "COMPUTE"
    if isinstance(found, str):
        yield Out((sp2(158, "COMPUTE", found.lower()) if words else "no compute(s) defined") + "\n")
        return None
    functions, columns, breaks = found
    for name in breaks:
        for function, label in functions.items():
            known = state.report.computed.setdefault(name, {}).setdefault(function, {})
            known |= dict.fromkeys(columns, label)
    return None


def _column(state: SqlPlusState, text: str) -> Step:
    yield Out(change_column(state.columns, split_words(rest_of(text))))
    return None


def _describe(state: SqlPlusState, text: str) -> Step:
    if state.session is None:
        yield Out(sp2(640) + "\n")
        return None
    relation = state.session.describe(rest_of(text).split(".")[-1].strip())
    if relation is None:
        yield Out(f"ERROR:\n{ora(4043, rest_of(text))}\n\n\n")
        return None
    yield Out(f" {'Name':<41} {'Null?':<8} Type\n {'-' * 41} {'-' * 8} {'-' * 28}\n")
    for column in relation.columns:
        kind = f"VARCHAR2({column.type.width})" if column.type.kind is Kind.CHAR else column.type.kind.upper()
        yield Out(f" {column.name:<41} {'':<8} {kind}\n")
    yield Out("\n")
    return None


_COMMANDS: tuple[tuple[str, int, Command], ...] = (
    ("ACCEPT", 3, accept),
    ("ARCHIVE", 7, _archive),
    ("BREAK", 3, _break),
    ("BTITLE", 3, _nothing),
    ("CLEAR", 2, _clear),
    ("COLUMN", 3, _column),
    ("COMPUTE", 4, _compute),
    ("CONNECT", 4, _connect_command),
    ("DEFINE", 3, define),
    ("DESCRIBE", 4, _describe),
    ("DISCONNECT", 4, _disconnect),
    ("EXECUTE", 4, _execute_command),
    ("EXIT", 4, _exit),
    ("HELP", 4, _help),
    ("LIST", 1, _list_buffer),
    ("PAUSE", 3, _nothing),
    ("PRINT", 3, _print),
    ("PROMPT", 3, _prompt),
    ("QUIT", 4, _exit),
    ("REPFOOTER", 4, _nothing),
    ("REPHEADER", 4, _nothing),
    ("SET", 3, _set),
    ("SHOW", 3, show),
    ("SHUTDOWN", 4, _shutdown),
    ("SPOOL", 3, _spool),
    ("STARTUP", 7, _startup),
    ("START", 3, run_script),
    ("TIMING", 4, _nothing),
    ("TTITLE", 3, _nothing),  # asm_disk.sql uses one
    ("UNDEFINE", 5, _undefine),
    ("VARIABLE", 3, _variable),
    ("WHENEVER", 8, _whenever),
)
