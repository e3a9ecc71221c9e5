"""SQL as exacell sends it, and what a text of SQL or asmcmd takes from disk groups. Pure.

SQL*Plus reads lines: a line of its own words inside a statement is a command to it. So a statement is always sent on one
line, without comments, and never with a second statement behind ``;``. Source: reference asm.md section 1.

Whoever accepts that exacell can't read a text has not accepted that a disk group goes with it: what takes one by force, or
with its files, is found in text that is not read otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from exacell.core.errors import RefusedError, StatementError
from exacell.core.lookalikes import refuse_lookalikes
from exacell.core.values import dataclass
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
"""CSV is for releases from 12.2 on; older ones say SP2- to the last line and print columns, which are read, too."""

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)|(?P<text>[nN]?[qQ]'(?:\[.*?\]'|\{.*?\}'|<.*?>'|\(.*?\)'|(\S).*?\3')|'(?:[^']|'')*'|"[^"]*")""",
    re.DOTALL,
)


SLASH = "/\n"
_UNIT = re.compile(
    r"\s*(?:(?:<<\s*\w+\s*>>\s*)*(?:begin|declare)|with\s+(?:function|procedure)"
    r"|create\s+(?:or\s+replace\s+)?(?:and\s+(?:resolve|compile)\s+)?(?:(?:non)?editionable\s+)?"
    r"(?:function|procedure|package|trigger|type|library|java))\b",
    re.IGNORECASE,
)
"""What holds PL/SQL, in which ``;`` ends a part. Source: Oracle SQL*Plus User's Guide, Running PL/SQL Blocks."""

_BOUND = re.compile(
    r"\s*(alter\s+session|set(?:\s+\w+)?|savepoint|commit|rollback|lock\s+table|create\s+private\s+temporary\s+table)\b",
    re.IGNORECASE,
)
"""What lasts as long as its session or transaction. Source: Oracle SQL Language Reference, Types of SQL Statements."""


def is_unit(sql: str) -> bool:
    """Return whether a statement is PL/SQL or holds it: a block, stored code, or WITH FUNCTION."""
    return _UNIT.match(bare_of(sql)) is not None


def refuse_session_bound(sql: str) -> None:
    """Return when a statement does something that is still there when its session has ended.

    Raises:
        RefusedError: it has none; says so, and what to send in its place.
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
    """Return the statement on one line: comments gone, line ends blanks, no ``;`` and no line of ``/`` at the end; for SHOW
    PARAMETER, which is SQL*Plus's own, the query that it asks.

    Raises:
        StatementError: there is no statement, or a second one behind ``;``, or a quote is open; or a character outside of
            ASCII stands outside of quotes and comments and is no letter.
    """
    taken = {place for match in _TOKEN.finditer(sql) for place in range(*match.span())}
    refuse_lookalikes(sql, (place for place in range(len(sql)) if place not in taken), inside=True)
    text = "".join(text for text, _ in _pieces(sql)).strip()
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
"""What SHOW PARAMETER prints. Source: SQL*Plus User's Guide, SHOW; Oracle Database Reference, V$PARAMETER."""


def _pieces(sql: str) -> Iterator[tuple[str, bool]]:
    """Yield the text outside of literals and comments (False) and the literals (True); a comment becomes a blank."""
    place = 0
    for match in _TOKEN.finditer(sql):
        yield sql[place : match.start()], False
        yield (" ", False) if match["comment"] else (match[0], True)
        place = match.end()
    yield sql[place:], False


def bare_of(sql: str) -> str:
    """Return the statement with literals and quoted names blanked out."""
    return "".join(" _ " if literal else text for text, literal in _pieces(sql))


def query_script(*queries: str) -> str:
    """Return the SQL*Plus script whose answer :func:`read_rows` reads, each query's behind a mark of its own."""
    asked = "".join(f"prompt {ROWS}\n{sql};\n" for sql in queries)
    return f"{SETTINGS}{asked}prompt {END}\nexit\n"


def sent_script(sql: str) -> str:
    """Return the SQL*Plus script that runs one statement other than a query, and says at its end that it passed.

    A ``;`` ends SQL; PL/SQL is sent by a line that holds only a ``/``.
    Source: Oracle SQL*Plus User's Guide, Running PL/SQL Blocks.
    """
    return f"{PREAMBLE}{sql};\n{SLASH if is_unit(sql) else ''}prompt {END}\nexit\n"


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The answer to a query: names of the columns as printed, and a value for each; None for NULL."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]


def read_rows(text: str) -> Rows:
    """Return what SQL*Plus printed between the two markers."""
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


_NAME = r"\"?\+?([\w$#]+)\"?"
_LOSSES: Mapping[str, str] = {
    rf"\bdrop\s+diskgroup\s+{_NAME}": "it is dropped",
    rf"\balter\s+diskgroup\s+{_NAME}\s[^;]*\bdrop\s+(?:quorum\s+)?disks?\s[^;]*\bforce\b": "it loses disks by FORCE",
    rf"\balter\s+diskgroup\s+{_NAME}\s+drop\s+(?:file|directory|volume)\b": "it loses files",
    rf"\balter\s+diskgroup\s+{_NAME}[^;]*\bdismount\s+force\b": "it is dismounted by FORCE",
    rf"\balter\s+diskgroup\s+{_NAME}\s[^;]*\b(?:add|replace)\s[^;]*\bforce\b": "it takes disks that others may "
    "use, by FORCE",
    rf"\bcreate\s+diskgroup\s+{_NAME}\s[^;]*\bforce\b": "FORCE takes disks that others may use",
    rf"\bdropdg\s+(?:-\w+\s+)*{_NAME}": "it is dropped",
    rf"\bchdg\b[^;]*?\bname\s*=\s*[\\\"']+{_NAME}[^;]*\bforce\s*=\s*[\\\"']+true": "it loses disks by FORCE",
    rf"\basmcmd\b[^;\n]*?\brm\s+(?:-\w+\s+)*['\"]?\+{_NAME}": "it loses files",
    rf"\basmcmd\b[^;\n]*?\bumount\s+(?:-\w+\s+)*-f\s+(?:-\w+\s+)*{_NAME}": "it is dismounted by FORCE",
}
"""Patterns whose first group is the disk group, and what happens to it. Source: Oracle Database SQL Language Reference, ALTER,
CREATE and DROP DISKGROUP; reference asm.md."""
_TIME = r"'?\s*(\d+(?:\.\d+)?\s*[a-z]?)\b"
_CLOCKS: Mapping[str, str] = {
    rf"\balter\s+diskgroup\s+{_NAME}\s[^;]*\boffline\b[^;]*\bdrop\s+after\s+{_TIME}": "DROP AFTER {} drops its "
    "disks for good",
    rf"\basmcmd\b[^;\n]*?\boffline(?=\s[^;\n]*?-G\s*['\"]?{_NAME})[^;\n]*?\s-t\s*{_TIME}": "-t {} drops its disks for good",
    rf"\balter\s+diskgroup\s+{_NAME}\s[^;]*\bset\s+attribute\s[^;]*\b(?:disk|failgroup)_repair_time\W+{_TIME}": (
        "with a repair time of {} it loses every disk that goes offline"
    ),
    rf"\basmcmd\b[^;\n]*?\bsetattr(?=\s[^;\n]*?-G\s*['\"]?{_NAME})[^;\n]*?\b(?:disk|failgroup)_repair_time\W+{_TIME}": (
        "with a repair time of {} it loses every disk that goes offline"
    ),
}
"""Patterns whose groups are the disk group and a time after which ASM drops its disks, and what happens where that leaves no time
for any work. Source: Oracle Database SQL Language Reference, ALTER DISKGROUP; Oracle ASM Administrator's Guide, asmcmd offline,
setattr."""
_ABSENCES = (
    rf"\balter\s+diskgroup\s+{_NAME}\s[^;]*\boffline\b(?![^;]*\bdrop\s+after\b)",
    rf"\basmcmd\b[^;\n]*?\boffline(?![^;\n]*\s-t\b)\s[^;\n]*?-G\s*['\"]?{_NAME}",
)
"""Patterns whose group is a disk group that some of its disks are taken from for as long as its own clock lets them."""
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def asm_losses(text: str) -> dict[str, str]:
    """Return what would happen to which disk group (upper case); nothing where nothing looks like it.

    Literals count as well: PL/SQL executes what stands in them.
    """
    bare = _COMMENT.sub(" ", text)
    found: dict[str, str] = {}
    for form in (bare, " ".join(text.split())):
        for pattern, what in _LOSSES.items():
            for match in re.finditer(pattern, form, re.IGNORECASE):
                found.setdefault(match[1].upper(), what)
        for pattern, what in _CLOCKS.items():
            for match in re.finditer(pattern, form, re.IGNORECASE):
                seconds = seconds_of(match[2])
                if seconds is None or seconds < needed_for(""):
                    found.setdefault(match[1].upper(), what.format(match[2].strip()))
    return found


def asm_absences(text: str) -> tuple[str, ...]:
    """Return the disk groups (upper case) whose disks a text would take offline, to be dropped by the group's own clock."""
    forms = (_COMMENT.sub(" ", text), " ".join(text.split()))
    matches = (match for form in forms for each in _ABSENCES for match in re.finditer(each, form, re.IGNORECASE))
    return tuple(dict.fromkeys(match[1].upper() for match in matches))


def refuse_losses(what: str, losses: Mapping[str, str], accepted: tuple[str, ...]) -> None:
    """Return when every disk group's loss was accepted by its name.

    Raises:
        RefusedError: naming those that were not.
    """
    given = {name.upper() for name in accepted}
    missing = [name for name in losses if name not in given]
    if missing:
        said = "; ".join(f"{name}: {losses[name]}" for name in missing)
        raise RefusedError(
            f"'{what}': refused: data would be lost on {', '.join(missing)} ({said}); nothing was sent",
            hint=f"--accept-data-loss={','.join(missing)} accepts it; -y and --accept-opaque never do",
        )
