"""CellCLI's statements in carried text: behind ``-e``, in a here-document or in a .scl file. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from exacell.cellcli.statement import Change, Grant, parse
from exacell.core.errors import StatementError
from exacell.opaque.errors import UnreadError

_CLIENT = frozenset(("HELP", "REM", "REMARK", "SET", "EXIT", "QUIT"))
"""First words of statements that CellCLI itself answers and that change nothing. Source: Oracle SAGUG, CellCLI commands."""

_CHANGING = re.compile(
    r"\s*(alter|create|drop|calibrate|assign|export|import|grant|revoke|(de)?register|start|sta|spo|@)", re.IGNORECASE
)
"""How a line begins that changes something, or reads or writes a file."""


def statements_behind(words: Sequence[str]) -> tuple[str, ...]:
    """Return the statements behind ``cellcli -e``: its words are one text, in which ``;`` parts statements.

    Raises:
        UnreadError: there is none.
    """
    found = _split(" ".join(words))
    if not found:
        raise UnreadError("-e", "no statement behind it")
    return found


def statements_in(body: str) -> tuple[str, ...]:
    """Return the statements of lines that CellCLI reads: one a line, ``-`` at its end continues it, ``;`` parts several.

    Raises:
        UnreadError: a line may be read in more than one way.
    """
    found: list[str] = []
    begun = ""
    for line in body.removesuffix("\n").split("\n"):
        if begun and _CHANGING.match(line):
            raise UnreadError(line.split()[0], f"a line that continues '{begun.strip()}' and may also be a statement")
        if not begun and (comment := re.match(r"\s*(--|rem(ark)?([ \t;]|$))", line, re.IGNORECASE)):
            # Whether a comment ends at a ; or goes on behind a - is not known: what follows is judged in any case.
            found += _split(line)[1 if comment[1] == "--" else 0 :]
            continue
        if line.rstrip().endswith("-"):
            first = (line.split() or [""])[0].upper()
            if not re.search(r"(^|[ \t])-$", line) or first in _CLIENT:
                raise UnreadError("-", f"a line end that may continue the statement or not: {line.strip()}")
            begun += line[:-1] + " "
            continue
        found += _split(begun + line)
        begun = ""
    if begun:
        raise UnreadError("-", f"nothing continues '{begun.strip()}'")
    return tuple(found)


def _split(text: str) -> tuple[str, ...]:
    """Return what stands between all ``;``, quoted ones among them: a cell may part statements there."""
    return tuple(part.strip() for part in text.split(";") if part.strip())


def change_in(statement: str) -> Change | Grant | None:
    """Return what a statement changes, None when it only reads.

    Raises:
        UnreadError: it is no statement that exacell knows, or reads or writes a file.
    """
    first = statement.split()[0]
    if first.upper() in _CLIENT:
        return None
    try:
        parsed = parse(statement)
    except StatementError as error:
        raise UnreadError(first, f"no CellCLI statement that exacell reads: {error.message}", error.hint) from error
    return parsed if isinstance(parsed, (Change, Grant)) else None
