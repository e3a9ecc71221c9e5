"""SQL*Plus's own commands, one function each, and the table that finds them by their abbreviations.

A command gets the line without its semicolon and gives an exit status when the program is to end, else None.
"""

from __future__ import annotations

from collections.abc import Callable

from exacell.emulator.db_rows import banner, parameters
from exacell.emulator.ora_messages import ora, sp2
from exacell.emulator.program import Out
from exacell.emulator.session_rows import memory
from exacell.emulator.sql_scope import Relation, ResultColumn
from exacell.emulator.sql_values import Kind, char
from exacell.emulator.sqlplus_binds import UndeclaredError
from exacell.emulator.sqlplus_format import ColumnFormat, column_option, is_picture, render
from exacell.emulator.sqlplus_report import parse_breaks, parse_compute
from exacell.emulator.sqlplus_settings import set_options, split_words
from exacell.emulator.sqlplus_state import SqlPlusState, Step, first_word, rest_of, stack_text
from exacell.emulator.sqlplus_titles import changed

Command = Callable[[SqlPlusState, str], Step]


_MAX_SCRIPTS = 20
"""How deep scripts may start scripts. Source: SQL*Plus User's Guide, SP2-0309."""


def find_command(text: str) -> Command | None:
    """Return the command that a line begins with; None when there is none."""
    word = first_word(text)
    if text.startswith("@"):
        return run_script
    if text.startswith("!") or word in ("HOST", "HO"):
        return _nothing
    return next((run for name, least, run in _COMMANDS if name.startswith(word) and len(word) >= least), None)


def _nothing(state: SqlPlusState, _: str) -> Step:
    yield from ()
    return None


def _set(state: SqlPlusState, text: str) -> Step:
    complaints = set_options(state.settings, rest_of(text), state.asm.version)
    yield Out("".join(f"{line}\n" for line in complaints))
    return None


def _prompt(state: SqlPlusState, text: str) -> Step:
    yield Out(rest_of(text) + "\n")
    return None


def _exit(state: SqlPlusState, text: str) -> Step:
    yield from ()
    return state.exit_status(split_words(rest_of(text)))


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
    """Run a script: its lines are read before what comes next; words behind its name are &1, &2, …"""
    words = split_words(text.lstrip("@") if text.startswith("@") else rest_of(text))
    name = words[0] if words else ""
    name = name if "." in name.rpartition("/")[2] else f"{name}.sql"
    found = state.read_file(name) if state.read_file is not None and words else None
    if found is None or len(state.scripts) >= _MAX_SCRIPTS:
        yield Out((sp2(310, name) if found is None else sp2(309, _MAX_SCRIPTS)) + "\n")
        return state.react(state.on_os_error)
    state.variables |= {str(number): word for number, word in enumerate(words[1:], start=1)}
    state.scripts.append(iter(found.splitlines()))
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


def _list(state: SqlPlusState, _: str) -> Step:
    lines = state.buffer.split("\n") if state.buffer else []
    rows = [f"{n:3d}{'*' if n == len(lines) else ' '} {row}\n" for n, row in enumerate(lines, 1)]
    yield Out("".join(rows) or sp2(26) + "\n")
    return None


def _define(state: SqlPlusState, text: str) -> Step:
    name, equal, value = rest_of(text).partition("=")
    name = name.strip().upper()
    if equal:
        words = split_words(value)
        if not words:
            yield Out(sp2(137) + "\n")
            return None
        state.variables[name] = value.strip() if len(words) > 1 else words[0]
        return None
    for known, stored in state.variables.items():
        if not name or known == name:
            yield Out(f'DEFINE {known:<15} = "{stored}" (CHAR)\n')
    if name and name not in state.variables:
        yield Out(sp2(135, name.lower()) + "\n")
    return None


def _undefine(state: SqlPlusState, text: str) -> Step:
    for name in rest_of(text).upper().split():
        if state.variables.pop(name, None) is None:
            yield Out(sp2(135, name.lower()) + "\n")
    return None


def _accept(state: SqlPlusState, text: str) -> Step:
    words = split_words(rest_of(text))
    if not words:
        yield Out(sp2(3, text[:10]) + "\n")
        return None
    upper = [word.upper() for word in words]
    prompt = words[upper.index("PROMPT") + 1] if "PROMPT" in upper[:-1] else ""
    value = yield from state.read(prompt, always=True)
    state.variables[upper[0]] = value or ""
    return None


def _clear(state: SqlPlusState, text: str) -> Step:
    word = first_word(rest_of(text))
    stores: dict[str, tuple[int, Callable[[], None]]] = {
        "BREAKS": (3, state.report.breaks.clear),
        "BUFFER": (4, lambda: None),
        "COLUMNS": (3, state.columns.clear),
        "COMPUTES": (4, state.report.computed.clear),
        "SQL": (3, lambda: None),
    }
    for name, (least, clear) in stores.items():
        if word and name.startswith(word) and len(word) >= least:
            clear()
            yield Out(f"{'sql' if name == 'SQL' else name.lower()} cleared\n" if state.settings.feedback else "")
            if name in ("BUFFER", "SQL"):
                state.buffer = ""
    return None


def _spool(state: SqlPlusState, text: str) -> Step:
    yield Out(state.spool.command(split_words(rest_of(text))))
    return None


def _top_title(state: SqlPlusState, text: str) -> Step:
    yield from ()
    state.titles.top = changed(state.titles.top, rest_of(text))
    return None


def _bottom_title(state: SqlPlusState, text: str) -> Step:
    yield from ()
    state.titles.bottom = changed(state.titles.bottom, rest_of(text))
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
    words = split_words(rest_of(text))
    if not words:
        return None
    name = words.pop(0).upper()
    chosen = state.columns.get(name, ColumnFormat())
    fields = {
        "format": chosen.format,
        "heading": chosen.heading,
        "hidden": chosen.hidden,
        "new_value": chosen.new_value,
    }
    while words:
        given = words.pop(0)
        option = column_option(given)
        if option == "FORMAT" and words:
            fields["format"] = words.pop(0)
            if not is_picture(str(fields["format"])):
                yield Out(sp2(246, fields["format"]) + "\n")
                return None
        elif option == "HEADING" and words:
            fields["heading"] = words.pop(0)
        elif option == "NEW_VALUE" and words:
            fields["new_value"] = words.pop(0).upper()
        elif option == "NOPRINT":
            fields["hidden"] = True
        elif option == "PRINT":
            fields["hidden"] = False
        elif option in ("CLEAR", "OFF"):
            state.columns.pop(name, None)
            return None
        elif option in ("JUSTIFY", "NULL", "ALIAS", "OLD_VALUE", "ENTMAP", "LIKE") and words:
            words.pop(0)
        elif option not in ("ON", "WRAPPED", "TRUNCATED", "WORD_WRAPPED", "FOLD_AFTER", "FOLD_BEFORE", "NEWLINE"):
            yield Out(sp2(158, "COLUMN", given.lower()) + "\n")
            return None
    state.columns[name] = ColumnFormat(
        format=_text_or_none(fields["format"]),
        heading=_text_or_none(fields["heading"]),
        hidden=bool(fields["hidden"]),
        new_value=_text_or_none(fields["new_value"]),
    )
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


def _show_command(state: SqlPlusState, text: str) -> Step:
    words = split_words(rest_of(text))
    word = words[0].upper() if words else ""
    if word.startswith(("PARAM", "SPPARAM", "SGA")) and state.session is None:
        yield Out(sp2(640) + "\n")
    elif word.startswith(("PARAM", "SPPARAM")) and state.session is not None:
        wanted = words[1].lower() if len(words) > 1 else ""
        kinds = {1: "boolean", 2: "string", 3: "integer"}
        values = parameters(state.session.instance).items()
        rows = tuple((name, kinds[kind], value) for name, (kind, value) in values if wanted in name)
        columns = (("NAME", 36), ("TYPE", 11), ("VALUE", 30))
        relation = Relation(tuple(ResultColumn(name, char(width)) for name, width in columns), rows)
        yield Out(render(relation, state.settings, {}, state.date_format))
    elif word == "SGA" and state.session is not None:
        parts = {str(row["NAME"]): int(str(row["VALUE"])) for row in memory(state.session.instance)}
        sizes = {"Total System Global Area": sum(parts.values()), **parts}
        yield Out("\n" + "".join(f"{name:<24} {size:>10} bytes\n" for name, size in sizes.items()))
    elif len(word) >= 3 and "ERRORS".startswith(word):
        yield Out("No errors.\n")
    elif word == "USER":
        yield Out('USER is "SYS"\n' if state.session else 'USER is ""\n')
    elif word in ("SQLCODE", "RELEASE"):
        value = str(state.last_code) if word == "SQLCODE" else state.variables["_SQLPLUS_RELEASE"]
        yield Out(f"{word.lower()} {value}\n")
    elif hasattr(state.settings, word.lower()) and word != "OTHERS":
        value = getattr(state.settings, word.lower())
        yield Out(f"{word.lower()} {'ON' if value is True else 'OFF' if value is False else value}\n")
    else:
        yield Out(sp2(158, "SHOW", word.lower()) + "\n")
    return None


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


_COMMANDS: tuple[tuple[str, int, Command], ...] = (
    ("ACCEPT", 3, _accept),
    ("BREAK", 3, _break),
    ("BTITLE", 3, _bottom_title),
    ("CLEAR", 2, _clear),
    ("COLUMN", 3, _column),
    ("COMPUTE", 4, _compute),
    ("CONNECT", 4, _connect_command),
    ("DEFINE", 3, _define),
    ("DESCRIBE", 4, _describe),
    ("DISCONNECT", 4, _disconnect),
    ("EXECUTE", 4, _execute_command),
    ("EXIT", 4, _exit),
    ("LIST", 1, _list),
    ("PAUSE", 3, _nothing),
    ("PRINT", 3, _print),
    ("PROMPT", 3, _prompt),
    ("QUIT", 4, _exit),
    ("SET", 3, _set),
    ("SHOW", 3, _show_command),
    ("SPOOL", 3, _spool),
    ("START", 3, run_script),
    ("TIMING", 4, _nothing),
    ("TTITLE", 3, _top_title),
    ("UNDEFINE", 5, _undefine),
    ("VARIABLE", 3, _variable),
    ("WHENEVER", 8, _whenever),
)
