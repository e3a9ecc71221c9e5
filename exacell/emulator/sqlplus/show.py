"""SHOW of SQL*Plus: one option, all options, parameters, memory, the user.

Source: Oracle SQL*Plus User's Guide, SHOW; the wording of each option follows published sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from exacell.emulator.basics.ora_messages import sp2
from exacell.emulator.basics.program import Out
from exacell.emulator.database.db_rows import parameters
from exacell.emulator.database.session_rows import memory
from exacell.emulator.plsql.stored_code import shown_errors
from exacell.emulator.sql.scope import Relation, ResultColumn
from exacell.emulator.sql.values import char
from exacell.emulator.sqlplus.format import render
from exacell.emulator.sqlplus.settings import Settings, option_name, split_words
from exacell.emulator.sqlplus.state import SqlPlusState, Step, rest_of

_CONTAINER_RULE = "-" * 30


def _switch(value: bool) -> str:
    return "ON" if value else "OFF"


def _mark(value: str) -> str:
    return f'"{value}" (hex {ord(value):02x})' if value else "OFF"


def _feedback(settings: Settings) -> str:
    if settings.only_count:
        return "feedback ONLY"
    return f"FEEDBACK ON for {settings.feedback} or more rows" if settings.feedback else "feedback OFF"


_OWN: Mapping[str, Callable[[Settings], str]] = MappingProxyType(
    {
        "COLSEP": lambda s: f'colsep "{s.colsep}"',
        "CONCAT": lambda s: f"concat {_mark(s.concat)}",
        "DEFINE": lambda s: f"define {_mark(s.define)}",
        "ESCAPE": lambda s: f"escape {_mark(s.escape)}",
        "FEEDBACK": _feedback,
        "HEADING": lambda s: f"heading {_switch(s.heading)}",
        "HEADSEP": lambda s: f"headsep {_mark(s.headsep)}",
        "LINESIZE": lambda s: f"linesize {s.linesize}",
        "NEWPAGE": lambda s: f"newpage {'NONE' if s.newpage is None else s.newpage}",
        "NULL": lambda s: f'null "{s.null}"',
        "NUMWIDTH": lambda s: f"numwidth {s.numwidth}",
        "PAGESIZE": lambda s: f"pagesize {s.pagesize}",
        "SQLBLANKLINES": lambda s: f"sqlblanklines {_switch(s.sqlblanklines)}",
        "SQLPROMPT": lambda s: f'sqlprompt "{s.sqlprompt}"',
        "SQLTERMINATOR": lambda s: f"sqlterminator {_mark(s.terminator)}",
        "SUFFIX": lambda s: f'suffix "{s.suffix}"',
        "TAB": lambda s: f"tab {_switch(s.tab)}",
        "TERMOUT": lambda s: f"termout {_switch(s.termout)}",
        "TIMING": lambda s: f"timing {_switch(s.timing)}",
        "TRIMOUT": lambda s: f"trimout {_switch(s.trimout)}",
        "UNDERLINE": lambda s: f"underline {_mark(s.underline)}",
        "VERIFY": lambda s: f"verify {_switch(s.verify)}",
        "WRAP": lambda s: f"wrap : lines will be {'wrapped' if s.wrap else 'truncated'}",
    }
)
"""How SHOW prints the options that have an effect."""

_DEFAULTS: Mapping[str, str] = MappingProxyType(
    {
        "APPINFO": 'appinfo is OFF and set to "SQL*Plus"',
        "ARRAYSIZE": "arraysize {15}",
        "AUTOCOMMIT": "autocommit {OFF}",
        "AUTOPRINT": "autoprint {OFF}",
        "AUTORECOVERY": "autorecovery {OFF}",
        "AUTOTRACE": "autotrace {OFF}",
        "BLOCKTERMINATOR": 'blockterminator "." (hex 2e)',
        "CMDSEP": "cmdsep {OFF}",
        "COPYCOMMIT": "copycommit {0}",
        "COPYTYPECHECK": "copytypecheck is {ON}",
        "DESCRIBE": "describe DEPTH 1 LINENUM OFF INDENT ON",
        "ECHO": "echo {OFF}",
        "EDITFILE": 'editfile "{afiedt.buf}"',
        "EMBEDDED": "embedded {OFF}",
        "ERRORLOGGING": "errorlogging is {OFF}",
        "EXITCOMMIT": "exitcommit {ON}",
        "FLAGGER": "flagger {OFF}",
        "FLUSH": "flush {ON}",
        "INSTANCE": 'instance "{local}"',
        "LOBOFFSET": "loboffset {1}",
        "LOGSOURCE": 'logsource "{}"',
        "LONG": "long {80}",
        "LONGCHUNKSIZE": "longchunksize {80}",
        "NUMFORMAT": 'numformat "{}"',
        "PAUSE": "PAUSE is {OFF}",
        "RECSEP": "recsep {WRAP}",
        "RECSEPCHAR": 'recsepchar "{ }" (hex 20)',
        "SERVEROUTPUT": "serveroutput {OFF}",
        "SHIFTINOUT": "shiftinout {INVISIBLE}",
        "SHOWMODE": "showmode {OFF}",
        "SPACE": "space {1}",
        "SQLCASE": "sqlcase {MIXED}",
        "SQLCONTINUE": 'sqlcontinue "{> }"',
        "SQLNUMBER": "sqlnumber {ON}",
        "SQLPLUSCOMPATIBILITY": "sqlpluscompatibility {19.0.0}",
        "SQLPREFIX": 'sqlprefix "{#}" (hex 23)',
        "TIME": "time {OFF}",
        "TRIMSPOOL": "trimspool {OFF}",
        "XQUERY": 'xquery BASEURI "" CONTEXT "" NODE DEFAULT ORDERING DEFAULT',
    }
)
"""How SHOW prints the other options; a text in braces is replaced by the value that was set, else by the default."""


def _other(settings: Settings, name: str) -> str:
    text = _DEFAULTS[name]
    before, brace, rest = text.partition("{")
    if not brace:
        return text
    default, _, after = rest.partition("}")
    value = settings.others.get(name, default)
    if name == "SERVEROUTPUT" and value.upper() == "ON":
        return f"serveroutput ON SIZE UNLIMITED FORMAT {settings.others.get('SERVEROUTPUT FORMAT', 'WORD_WRAPPED')}"
    return f"{before}{value.upper() if value.lower() in ('on', 'off') else value}{after}"


def _session_line(state: SqlPlusState, name: str) -> str | None:
    """Return the line of SHOW for things that are not options; None for other names."""
    facts = {
        "SQLCODE": f"sqlcode {state.last_code}",
        "RELEASE": f"release {state.variables['_SQLPLUS_RELEASE']}",
        "LNO": "lno 0",
        "PNO": "pno 0",
        "SPOOL": f"spool {_switch(state.spool.running)}",
        "USER": f'USER is "{"SYS" if state.session else ""}"',
    }
    return facts.get(name)


def _all(state: SqlPlusState) -> str:
    lines = [show(state.settings) for show in _OWN.values()]
    lines += [_other(state.settings, name) for name in _DEFAULTS]
    lines += [
        line for name in ("SQLCODE", "RELEASE", "LNO", "PNO", "SPOOL", "USER") if (line := _session_line(state, name))
    ]
    return "".join(f"{line}\n" for line in sorted(lines, key=str.upper))


def show(state: SqlPlusState, text: str) -> Step:
    """Carry out SHOW with the words after it: one or more options, or other things that can be shown."""
    words = split_words(rest_of(text))
    if not words:
        yield Out(sp2(158, "SHOW", "") + "\n")
    while words:
        word = words.pop(0).upper()
        if word.startswith(("PARAM", "SPPARAM")):
            yield Out(_parameters(state, words.pop(0).lower() if words else ""))
        elif word.startswith("ERR") and "ERRORS".startswith(word):
            database = state.session.instance.database if state.session is not None else None
            yield Out(shown_errors(database, words))
            words.clear()
        else:
            yield Out(_one(state, word))
    return None


def _one(state: SqlPlusState, word: str) -> str:
    if word == "ALL":
        return _all(state)
    if word == "SGA":
        return _memory(state)
    if word in ("CON_NAME", "CON_ID", "PDBS", "EDITION"):
        return _container(state, word)
    told = _session_line(state, {"REL": "RELEASE", "SPOO": "SPOOL"}.get(word, word))
    if told is not None:
        return told + "\n"
    name = option_name(word) or ""
    if name in _OWN:
        return _OWN[name](state.settings) + "\n"
    return _other(state.settings, name) + "\n" if name in _DEFAULTS else sp2(158, "SHOW", word.lower()) + "\n"


def _parameters(state: SqlPlusState, wanted: str) -> str:
    if state.session is None:
        return sp2(640) + "\n"
    kinds = {1: "boolean", 2: "string", 3: "integer", 6: "big integer"}
    values = parameters(state.session.instance).items()
    rows = tuple((name, kinds[kind], value) for name, (kind, value) in values if wanted in name)
    columns = (("NAME", 36), ("TYPE", 11), ("VALUE", 30))
    relation = Relation(tuple(ResultColumn(name, char(width)) for name, width in columns), rows)
    return render(relation, state.settings, {}, state.date_format)


def _memory(state: SqlPlusState) -> str:
    if state.session is None:
        return sp2(640) + "\n"
    parts = {str(row["NAME"]): int(str(row["VALUE"])) for row in memory(state.session.instance)}
    sizes = {"Total System Global Area": sum(parts.values()), **parts}
    return "\n" + "".join(f"{name:<24} {size:>10} bytes\n" for name, size in sizes.items())


def _container(state: SqlPlusState, word: str) -> str:
    if state.session is None:
        return sp2(640) + "\n"
    if word == "PDBS":
        return sp2(382) + "\n"
    database = state.session.instance.database
    name = database.name if database is not None else "+ASM"
    value = {"CON_NAME": name, "CON_ID": "0", "EDITION": "ORA$BASE"}[word]
    return f"\n{word}\n{_CONTAINER_RULE}\n{value}\n"
