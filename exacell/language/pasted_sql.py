"""Find the right statement for SQL that was pasted as a statement. Pure."""

from __future__ import annotations

import re

from exacell.care.sqltext import is_unit, one_line
from exacell.core.errors import StatementError
from exacell.core.sqllexer import Kind, Piece, pieces_of
from exacell.plan.asmchange import NewGroup, outline_of, read_asm_change
from exacell.plan.dbchange import quoted

_MADE = re.compile(
    r"\s+(?:(?:external|normal|high|flex|extended)\s+redundancy\b|(?=(?:quorum\s+|regular\s+)?(?:failgroup|disk)\s))",
    re.IGNORECASE,
)
"""Text that follows the name in CREATE DISKGROUP, but in no statement of exacell."""

_CONTENTS = frozenset(("FORCE", "INCLUDING", "EXCLUDING"))
"""Text that follows the name in DROP DISKGROUP, but in no statement of exacell."""

_OF_ASM = re.compile(
    r"(?:select|with|desc(?:ribe)?|alter\s+system)\s(?=.*(?:asm_|diskgroup))",
    re.IGNORECASE | re.DOTALL,
)
"""SQL for ASM instances that is no statement about a disk group, outside of literals."""

_OTHER = re.compile(
    r"""select\s|with\s+\w+\s+as\b|desc(?:ribe)?\s+(?:g?v\$|x\$|dba_|all_)\w
    |(?:alter|drop|create)\s+(?:(?:pluggable|bigfile|temporary|undo|unique|bitmap|public|global\s+temporary|or\s+replace)\s+)*
        (?:system|session|database|tablespace|table|index|view|sequence|synonym|(?:restore\s+point))\s
    |(?:alter|create)\s+user\s+\S+\s+(?:identified|default|quota|account)\s|drop\s+user\s+\S+\s+cascade\b
    |insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|merge\s+into\s|truncate\s+table\s|comment\s+on\s|explain\s+plan\s
    |(?:grant|revoke)\s+(?!privilege\b|role\b)[^;]*\b(?:to|from)\s|call\s+[\w.$#"]+\s*\(|(?P<exec>exec(?:ute)?\s)(?!immediate\b)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Beginnings of SQL that no statement of exacell or CellCLI has. Source: Oracle SQL Language Reference."""

_DISKS = re.compile(r"o/\*/(?P<prefix>[\w.-]+?)_?\*")
_SESSION = re.compile(r"alter\s+session\s", re.IGNORECASE)


def sql_error(text: str) -> StatementError | None:
    """Return the error that shows how to run pasted SQL in exacell; None if ``text`` is not SQL.

    Source: Oracle Automatic Storage Management Administrator's Guide, CREATE DISKGROUP.
    """
    made = _made(text)
    if made:
        own = _own_create(text)
        hint = f"type: {own}" if own else "create diskgroup NAME prefix=p redundancy=normal; help create diskgroup"
        return StatementError(
            "this is SQL; exacell's own `create diskgroup` checks the number of disks first",
            start=0,
            end=made,
            hint=hint,
        )
    if not _is_sql(text):
        return None
    end = len(text.split(None, 2)[0])
    try:
        hint = _way(text)
    except StatementError as error:
        return StatementError(error.message, start=0, end=end, hint=error.hint or "send one after the other")
    return StatementError("this is SQL: write `sql` before it", start=0, end=end, hint=hint)


def sql_goes_on(text: str) -> bool:
    """Return whether ``text`` is unfinished SQL, pasted in several lines: no ``;`` or ``/`` yet, or for PL/SQL no last END."""
    begun = without_comments(text).strip()
    if is_block(begun):
        return not _ENDED.search(begun) or len(_BEGINS.findall(begun)) > len(_ENDS.findall(begun))
    return bool(_is_statement(begun) or _made(begun)) and not begun.endswith((";", "/"))


def without_comments(text: str) -> str:
    """Return pasted SQL with blanks in place of ``-- …`` comments, which would swallow the next line once lines are joined;
    other text is unchanged.
    """
    if "--" not in text or not _is_sql(text.lstrip()):
        return text
    return "".join(
        " " * len(piece.text) if piece.kind is Kind.COMMENT and piece.text.startswith("--") else piece.text
        for piece in pieces_of(text)
    )


_ENDED = re.compile(r"(?:\bend(?:\s+(?!if\b|loop\b|case\b)[\w$#]+)?\s*;|;\s*\n\s*/)\Z", re.IGNORECASE)
_BEGINS = re.compile(r"\b(?:begin|(?<!end )case)\b", re.IGNORECASE)
_ENDS = re.compile(r"\bend\b(?!\s+(?:if|loop)\b)", re.IGNORECASE)


def is_block(text: str) -> bool:
    """Return whether ``text`` is PL/SQL, in which ``;`` ends a part of the statement."""
    return is_unit(text) and re.search(r"[;\n]", text) is not None


def _is_sql(text: str) -> bool:
    return _is_statement(text) or is_block(text)


def _is_statement(text: str) -> bool:
    return _of_group(text) or _OTHER.match(text) is not None


def _of_group(text: str) -> bool:
    """Return whether ``text`` is ALTER DISKGROUP, or DROP DISKGROUP with words that exacell's own statement does not have."""
    group = outline_of(text)
    return group is not None and (
        group.verb == "ALTER" or (group.verb == "DROP" and not _CONTENTS.isdisjoint(group.clause[:1]))
    )


def _made(text: str) -> int:
    """Return the place up to which ``text`` begins as SQL's CREATE DISKGROUP; 0 if it does not."""
    group = outline_of(text)
    found = _MADE.match(group.after) if group is not None and group.verb == "CREATE" else None
    return 0 if group is None or found is None else len(text) - len(group.after) + found.end()


def _way(text: str) -> str:
    """Return the statement that sends the SQL as a whole, with its literals unchanged.

    Raises:
        StatementError: ``text`` is more than one statement, or has an open quote.
    """
    pieces = [Piece(Kind.BLANK, " ") if piece.kind is Kind.BLANK else piece for piece in pieces_of(one_line(text))]
    line = "".join(piece.text for piece in pieces)
    words = "".join("''" if piece.kind is Kind.TEXT else piece.text for piece in pieces)
    if _SESSION.match(line):
        block = f"begin execute immediate '{line.replace(chr(39), chr(39) * 2)}'; end;"
        why = (
            "sql opens a new session for each statement, so add the statements that need this after the first "
            "; in the same block"
        )
        return f"type: sql db=NAME {_quoted(block)}; {why}"
    called = _OTHER.match(line)
    if called is not None and called["exec"]:
        line = f"begin {line[called.end() :]}; end;"
    elif is_block(line):
        line += ";"
    return f"type: sql {'asm' if _of_group(words) or _OF_ASM.match(words) else 'db=NAME'} {_quoted(line)}"


def _quoted(text: str) -> str:
    """Return a text in double quotes; if it contains double quotes, as :func:`quoted` writes it."""
    return quoted(text) if '"' in text else f'"{text}"'


def _own_create(text: str) -> str:
    """Return the exacell statement that creates the same disk group; empty if there is none."""
    group = outline_of(text)
    if group is None:
        return ""
    after = group.after.rstrip(" \t\r\n;/").replace("'O/", "'o/")
    made = read_asm_change(f"create diskgroup X{after}")  # exacell's own statement checks the name.
    disks = _DISKS.fullmatch(made.search) if isinstance(made, NewGroup) else None
    if not isinstance(made, NewGroup) or disks is None:
        return ""
    found = {key: value.strip() for key, value in made.attributes if value.strip()}
    if found.get("cell.smart_scan_capable", "").upper() == "TRUE":
        del found["cell.smart_scan_capable"]  # exacell always sets it.
    words = [f"create diskgroup {group.written} prefix={disks['prefix']} redundancy={made.redundancy}"]
    plain = re.compile(r"[\w.+-]+")
    words += [f"{key}={value if plain.fullmatch(value) else _quoted(value)}" for key, value in found.items()]
    return " ".join(words)
