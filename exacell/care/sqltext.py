"""Prepare SQL for sending, and find out which disk groups a text of SQL or asmcmd would destroy. Pure.

SQL*Plus reads lines: a line inside a statement that is one of its own commands is carried out as a command. So a statement is
always sent on one line, without comments, and never with a second statement after ``;``. Source: reference asm.md section 1.

A user who accepts opaque work has not thereby accepted the loss of a disk group: a statement that takes a disk group by force,
or with its files, is found even in text that is otherwise not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from exacell.core.errors import RefusedError, StatementError
from exacell.core.lookalikes import refuse_lookalikes
from exacell.core.sqllexer import Kind, pieces_of
from exacell.core.values import dataclass
from exacell.plan.asmchange import Outline, outlines_in
from exacell.plan.asmfacts import END, PREAMBLE
from exacell.plan.planners.clock import needed_for, seconds_of

ROWS = "__EXACELL_ROWS__"

SETTINGS = """\
whenever oserror exit failure
whenever sqlerror exit failure
set define off echo off feedback off verify off heading on pagesize 50000
set linesize 32767 trimout on tab off wrap off newpage none
set numwidth 40 long 4000 longchunksize 4000 sqlblanklines on
set markup csv on
"""
"""CSV needs release 12.2 or later; older ones answer SP2- to the last line and print columns, which can be read, too."""

SLASH = "/\n"
_UNIT = re.compile(
    r"\s*(?:(?:<<\s*\w+\s*>>\s*)*(?:begin|declare)|with\s+(?:function|procedure)"
    r"|create\s+(?:or\s+replace\s+)?(?:and\s+(?:resolve|compile)\s+)?(?:(?:non)?editionable\s+)?"
    r"(?:function|procedure|package|trigger|type|library|java))\b",
    re.IGNORECASE,
)
"""Beginning of a statement with PL/SQL, in which ``;`` ends a part. Source: Oracle SQL*Plus User's Guide, Running PL/SQL
Blocks.
"""

_BOUND = re.compile(
    r"\s*(alter\s+session|set(?:\s+\w+)?|savepoint|commit|rollback|lock\s+table|create\s+private\s+temporary\s+table)\b",
    re.IGNORECASE,
)
"""Statements whose effect ends with the session or transaction. Source: Oracle SQL Language Reference, Types of SQL
Statements.
"""


def is_unit(sql: str) -> bool:
    """Return whether a statement is PL/SQL or contains it: a block, stored code, or WITH FUNCTION."""
    return _UNIT.match(bare_of(sql)) is not None


def refuse_session_bound(sql: str) -> None:
    """Raise RefusedError if a statement has no effect after its session has ended.

    Raises:
        RefusedError: it has no effect then; the hint shows what to send instead.
    """
    found = _BOUND.match(bare_of(sql))
    if found is None:
        return
    what = " ".join(found[1].lower().split())
    raise RefusedError(
        f"{what} lasts only for its session, and sql opens a new session for each statement, so it would have "
        "no effect; nothing was sent",
        hint="send it in one block with the statements that need it: begin execute immediate 'alter session "
        "...'; ...; end;"
        if what == "alter session"
        else "send it in one block with the statements that need it: begin ... end;",
    )


def one_line(sql: str) -> str:
    """Return the statement on one line: without comments, with blanks for line ends, and without a ``;`` or a line of ``/`` at
    the end. SHOW PARAMETER, a command of SQL*Plus, becomes the query that it stands for.

    Raises:
        StatementError: there is no statement, or a second one after ``;``; a quote is open; or a non-ASCII character that is
            not a
            letter is outside of quotes and comments.
    """
    places: list[int] = []
    at = 0
    for piece in pieces_of(sql):
        if not piece.literal and piece.kind is not Kind.COMMENT:
            places += range(at, at + len(piece.text))
        at += len(piece.text)
    refuse_lookalikes(sql, places, inside=True)
    text = "".join(" " if piece.kind is Kind.COMMENT else piece.text for piece in pieces_of(sql)).strip()
    ended = re.sub(r"(?:(?<=;)\s*|\n\s*)/\Z", "", text) if is_unit(text) else re.sub(r"(?<![;\s])\s*\n\s*/\Z", "", text)
    line = ended.replace("\n", " ").strip()
    while line.endswith(";"):
        line = line[:-1].rstrip()
    if not line or line == "/":
        raise StatementError("the SQL is empty", hint="such as: sql asm 'select name, state from v$asm_diskgroup'")
    bare = bare_of(line)
    if ";" in bare and not is_unit(line):
        raise StatementError("one statement at a time: there is more after ;")
    if "'" in bare:
        raise StatementError("a quote is open in the SQL", hint="close it; a ' inside a text is written twice")
    shown = _SHOWS.fullmatch(line)
    return line if shown is None else _PARAMETERS.format((shown[1] or "").lower())


_SHOWS = re.compile(r"sho(?:w)?\s+parameters?(?:\s+([A-Za-z0-9_$#]+))?", re.IGNORECASE)
_PARAMETERS = (
    "select name, decode(type, 1, 'boolean', 2, 'string', 3, 'integer', 4, 'file', 6, 'big integer', 'unknown') type, "
    "display_value value from v$parameter where name like '%{}%' order by name"
)
"""The query for SHOW PARAMETER. Source: SQL*Plus User's Guide, SHOW; Oracle Database Reference, V$PARAMETER."""


def bare_of(sql: str) -> str:
    """Return the statement with literals and quoted names replaced by ``_``, and comments by blanks."""
    return "".join(
        " _ " if piece.literal else " " if piece.kind is Kind.COMMENT else piece.text for piece in pieces_of(sql)
    )


def query_script(*queries: str) -> str:
    """Return the SQL*Plus script for queries; each query's answer follows a marker, for :func:`read_rows`."""
    asked = "".join(f"prompt {ROWS}\n{sql};\n" for sql in queries)
    return f"{SETTINGS}{asked}prompt {END}\nexit\n"


def sent_script(sql: str) -> str:
    """Return the SQL*Plus script that runs one statement other than a query, and prints a marker at its end if it succeeded.

    A ``;`` ends SQL; PL/SQL is sent by a line that contains only a ``/``. Source: Oracle SQL*Plus User's Guide, Running PL/SQL
    Blocks.
    """
    return f"{PREAMBLE}{sql};\n{SLASH if is_unit(sql) else ''}prompt {END}\nexit\n"


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The answer to a query: the names of the columns as printed, and a value for each column; None for NULL."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]


def read_rows(text: str) -> Rows:
    """Return the rows that SQL*Plus printed between the two markers."""
    body = text.partition(ROWS)[2].partition(END)[0].strip("\n")
    if not body.strip():
        return Rows(columns=(), rows=())
    lines = body.splitlines()
    if len(lines) > 1 and re.fullmatch(r"-+( -+)*", lines[1].strip()):
        return _columns(lines)
    return _csv(body)


def _csv(body: str) -> Rows:
    records: list[list[str | int | float | None]] = [[]]
    for match in re.finditer(r'(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n|$)', body):
        if match[0] == "" and match.start() == len(body) and not records[-1]:
            break
        quoted, plain, end = match.groups()
        records[-1].append((quoted.replace('""', '"') or None) if quoted is not None else _number(plain))
        if end == "\n":
            records.append([])
        elif not end:
            break
    full = [record for record in records if record != [None] and record]
    return _rows([str(name) for name in full[0]], full[1:])


def _columns(lines: Sequence[str]) -> Rows:
    places = [match.span() for match in re.finditer(r"-+", lines[1])]

    def cut(line: str) -> list[str]:
        return [line[start:end].strip() for start, end in places]

    names = cut(lines[0])
    body = [line for line in lines[2:] if line.strip() and line not in (lines[0], lines[1])]
    return _rows(names, [[_number(field) for field in cut(line)] for line in body])


def _rows(names: Sequence[str], rows: Sequence[Sequence[str | int | float | None]]) -> Rows:
    unique: list[str] = []
    for name in names:
        unique.append(name if name not in unique else f"{name}_{len(unique) + 1}")
    width = len(unique)
    return Rows(columns=tuple(unique), rows=tuple((*row, *(None,) * width)[:width] for row in map(tuple, rows)))


def _number(text: str) -> str | int | float | None:
    text = text.strip()
    if not text:
        return None
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"-?\d*\.\d+(E[+-]?\d+)?|-?\d+(\.\d+)?E[+-]?\d+", text, re.IGNORECASE):
        return float(text)
    return text


_NAME = r"\"?\+?(?P<group>[\w$#]+)\"?"

_ANY = ""
"""Instead of a verb of SQL: the pattern is searched in the whole text, for asmcmd and its like, and names the disk group."""

_LOSSES: Sequence[tuple[str, str, str]] = (
    ("DROP", "", "it is dropped"),
    ("ALTER", r"\s[^;]*\bdrop\s+(?:quorum\s+)?disks?\s[^;]*\bforce\b", "it loses disks by FORCE"),
    ("ALTER", r"\s+drop\s+(?:file|directory|volume)\b", "it loses files"),
    ("ALTER", r"[^;]*\bdismount\s+force\b", "it is dismounted by FORCE"),
    ("ALTER", r"\s[^;]*\b(?:add|replace)\s[^;]*\bforce\b", "it takes disks that others may use, by FORCE"),
    ("CREATE", r"\s[^;]*\bforce\b", "FORCE takes disks that others may use"),
    (_ANY, rf"\bdropdg\s+(?:-\w+\s+)*{_NAME}", "it is dropped"),
    (
        _ANY,
        rf"\bchdg\b[^;]*?\bname\s*=\s*[\\\"']+{_NAME}[^;]*\bforce\s*=\s*[\\\"']+true",
        "it loses disks by FORCE",
    ),
    (_ANY, rf"\basmcmd\b[^;\n]*?\brm\s+(?:-\w+\s+)*['\"]?\+{_NAME}", "it loses files"),
    (
        _ANY,
        rf"\basmcmd\b[^;\n]*?\bumount\s+(?:-\w+\s+)*-f\s+(?:-\w+\s+)*{_NAME}",
        "it is dismounted by FORCE",
    ),
)
"""(verb, what follows the disk group's name, what happens to the group). Source: Oracle Database SQL Language Reference, ALTER,
CREATE and DROP DISKGROUP; reference asm.md.
"""
_TIME = r"'?\s*(?P<time>\d+(?:\.\d+)?\s*[a-z]?)\b"
_REPAIR = rf"\b(?:disk|failgroup)_repair_time\W+{_TIME}"
_CLOCKS: Sequence[tuple[str, str, str]] = (
    (
        "ALTER",
        rf"\s[^;]*\boffline\b[^;]*\bdrop\s+after\s+{_TIME}",
        "DROP AFTER {} drops its disks for good",
    ),
    (
        _ANY,
        rf"\basmcmd\b[^;\n]*?\boffline(?=\s[^;\n]*?-G\s*['\"]?{_NAME})[^;\n]*?\s-t\s*{_TIME}",
        "-t {} drops its disks for good",
    ),
    (
        "ALTER",
        rf"\s[^;]*\bset\s+attribute\s[^;]*{_REPAIR}",
        "with a repair time of {} it loses every disk that goes offline",
    ),
    (
        _ANY,
        rf"\basmcmd\b[^;\n]*?\bsetattr(?=\s[^;\n]*?-G\s*['\"]?{_NAME})[^;\n]*?{_REPAIR}",
        "with a repair time of {} it loses every disk that goes offline",
    ),
)
"""The same for a time after which ASM drops the group's disks, and what happens if that time is too short for any work. Source:
Oracle Database SQL Language Reference, ALTER DISKGROUP; Oracle ASM Administrator's Guide, asmcmd offline, setattr.
"""
_ABSENCES: Sequence[tuple[str, str]] = (
    ("ALTER", r"\s[^;]*\boffline\b(?![^;]*\bdrop\s+after\b)"),
    (_ANY, rf"\basmcmd\b[^;\n]*?\boffline(?![^;\n]*\s-t\b)\s[^;\n]*?-G\s*['\"]?{_NAME}"),
)
"""Statements that take disks of a group offline without a time after which ASM drops them, so that the group's own clock
counts."""
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def asm_losses(text: str) -> dict[str, str]:
    """Return disk group (upper case) → the loss that a text would cause; empty if nothing looks like a loss.

    Literals are searched, too, because PL/SQL can execute their text.
    """
    found: dict[str, str] = {}
    for form in _forms(text):
        outlines = tuple(outlines_in(form))
        for verb, pattern, what in _LOSSES:
            for group, _ in _matches(form, outlines, verb, pattern):
                found.setdefault(group, what)
        for verb, pattern, what in _CLOCKS:
            for group, match in _matches(form, outlines, verb, pattern):
                seconds = seconds_of(match["time"])
                if seconds is None or seconds < needed_for(""):
                    found.setdefault(group, what.format(match["time"].strip()))
    return found


def asm_absences(text: str) -> tuple[str, ...]:
    """Return the disk groups (upper case) whose disks a text would take offline without giving a time after which they are
    dropped.
    """
    found: dict[str, None] = {}
    for form in _forms(text):
        outlines = tuple(outlines_in(form))
        for verb, pattern in _ABSENCES:
            found |= dict.fromkeys(group for group, _ in _matches(form, outlines, verb, pattern))
    return tuple(found)


def _forms(text: str) -> tuple[str, str]:
    """Return the text without comments, and with them on one line: a part that looks like a comment may not be one in a shell."""
    return _COMMENT.sub(" ", text), " ".join(text.split())


def _matches(form: str, outlines: Sequence[Outline], verb: str, pattern: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield (disk group, match) for each place of the text where the pattern is found after a statement with this verb."""
    if verb == _ANY:
        yield from ((match["group"].upper(), match) for match in re.finditer(pattern, form, re.IGNORECASE))
        return
    for outline in outlines:
        match = re.match(pattern, outline.tail, re.IGNORECASE) if outline.verb == verb else None
        if match is not None:
            yield outline.group, match


def refuse_losses(what: str, losses: Mapping[str, str], accepted: tuple[str, ...]) -> None:
    """Raise RefusedError unless the loss of every disk group was accepted by its name.

    Raises:
        RefusedError: names the disk groups that were not accepted.
    """
    given = {name.upper() for name in accepted}
    missing = [name for name in losses if name not in given]
    if missing:
        said = "; ".join(f"{name}: {losses[name]}" for name in missing)
        raise RefusedError(
            f"'{what}': refused: data would be lost on {', '.join(missing)} ({said}); nothing was sent",
            hint=f"--accept-data-loss={','.join(missing)} accepts it; -y and --accept-opaque never do",
        )
