"""Procedures and functions that a database stores: CREATE, DROP, and how blocks and queries find them.

Source: Oracle Database PL/SQL Language Reference, CREATE PROCEDURE, CREATE FUNCTION. A routine is stored as text and compiled
again for each block or query that may call it. Simplified: no packages, types and triggers; a schema name is ignored.
"""

from __future__ import annotations

import re
from dataclasses import replace

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.database.session import Outcome, SqlSession
from exacell.emulator.plsql.check import check_block
from exacell.emulator.plsql.packages import Output
from exacell.emulator.plsql.run import Runner, declare_stored
from exacell.emulator.plsql.syntax import parse_block
from exacell.emulator.plsql.values import Frame
from exacell.emulator.sql.binds import Binds
from exacell.emulator.sql.scope import Relation
from exacell.emulator.sql.syntax import parse_query
from exacell.emulator.storage.databases import Database, StoredRoutine

_NAME = r"(?:\"?[A-Za-z][\w$#]*\"?\s*\.\s*)?\"?([A-Za-z][\w$#]*)\"?"
_CREATE = re.compile(
    r"\s*create\s+(or\s+replace\s+)?(?:(?:non)?editionable\s+)?(procedure|function)\s+" + _NAME, re.IGNORECASE
)
_DROP = re.compile(r"\s*drop\s+(procedure|function)\s+" + _NAME + r"\s*", re.IGNORECASE)
_CLAUSES = re.compile(
    r"\b(?:authid\s+(?:current_user|definer)|deterministic|parallel_enable|result_cache|pipelined)\b(?=[^;]*?\b(?:is|as)\b)",
    re.IGNORECASE,
)
_BEFORE = "DECLARE "


def is_routine(text: str) -> bool:
    """Return whether a statement creates or drops a procedure or a function."""
    return _CREATE.match(text) is not None or _DROP.fullmatch(text) is not None


def change_routines(text: str, session: SqlSession) -> Outcome:
    """Carry out CREATE or DROP of a procedure or function.

    Raises:
        OraError: ORA-01109 on ASM, ORA-00955, ORA-04043. A routine that does not compile is stored, with a message about its
            errors.
    """
    database = session.instance.database
    if database is None:
        raise OraError(ora(1109))
    if dropped := _DROP.fullmatch(text):
        name = dropped[2].upper()
        if name not in database.routines or database.routines[name].kind != dropped[1].upper():
            raise OraError(ora(4043, name))
        del database.routines[name]
        return Outcome(message=f"{dropped[1].capitalize()} dropped.")
    match = _CREATE.match(text)
    assert match is not None
    kind, name = match[2].upper(), match[3].upper()
    before = database.routines.get(name)
    if before is not None and (not match[1] or before.kind != kind):
        raise OraError(ora(955))
    source = f"{kind} {name}{_CLAUSES.sub('', text[match.end() :])}".rstrip().rstrip("/").rstrip()
    routine = StoredRoutine(kind=kind, source=source if source.endswith(";") else f"{source};")
    errors = _errors(routine, session)
    database.routines[name] = replace(routine, errors=errors)
    if errors:
        return Outcome(message=f"Warning: {kind.capitalize()} created with compilation errors.")
    return Outcome(message=f"{kind.capitalize()} created.")


def _errors(routine: StoredRoutine, session: SqlSession) -> list[str]:
    """Return the lines of SHOW ERRORS for a routine: line, column and error."""
    text = f"{_BEFORE}{routine.source}\nBEGIN NULL; END;"
    try:
        block = parse_block(text)
        machine = Runner(text, Binds(), session, Output())
        check_block(text, block, machine.scene, declare_stored(machine.scene, session))
    except OraError as error:
        return _told(str(error.stack[0]) + "".join(f"\n{line}" for line in error.stack[1:]))
    return []


def _told(text: str) -> list[str]:
    found: list[str] = []
    place = ""
    for line in text.split("\n"):
        match = re.match(r"ORA-06550: line ([0-9]+), column ([0-9]+):", line)
        if match:
            shift = len(_BEFORE) if match[1] == "1" else 0
            place = f"{match[1]}/{int(match[2]) - shift}"
        elif line:
            found.append(f"{place:<8} {line}")
    return found


def shown_errors(database: Database | None, words: list[str]) -> str:
    """Return the output of SHOW ERRORS, for the named routine or for the last one that has errors."""
    name = words[-1].upper() if words else ""
    routines = database.routines if database is not None else {}
    wrong = [known for known, routine in routines.items() if routine.errors and name in ("", known)]
    if not wrong:
        return "No errors.\n"
    routine = routines[wrong[-1]]
    lines = "".join(f"{line}\n" for line in routine.errors)
    return f"Errors for {routine.kind} {wrong[-1]}:\n\nLINE/COL ERROR\n{'-' * 8} {'-' * 65}\n{lines}"


def calls_routine(text: str, database: Database | None) -> bool:
    """Return whether a query may call a function of the database."""
    names = [name for name, routine in (database.routines if database else {}).items() if routine.kind == "FUNCTION"]
    upper = text.upper()
    return any(re.search(rf"\b{re.escape(name)}\b", upper) for name in names)


def query_with_routines(text: str, session: SqlSession, binds: Binds) -> Relation:
    """Return the rows of a query that calls functions of the database.

    Raises:
        OraError: the query does not compile, or a function raises an error.
    """
    machine = Runner(text, binds, session, Output())
    frame = declare_stored(machine.scene, session)
    return machine.scene.prepared(parse_query(text), frame or Frame(None)).run(None)
